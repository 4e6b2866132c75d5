"""`mtbias corpora counterfactual`: the file, what is said about it, and a run over it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.corpora import load_corpus
from mtbias.corpora.counterfactual_pairs import SWAP

ROWS = """\
id\tsource\tgender\tentity\tstereotype
1\tThe doctor lost his keys .\tmale\tdoctor\tpro
2\tMy nurse said they gave her flowers .\tfemale\tnurse\tpro
3\tThe judge and his wife slept .\tmale\tjudge\tnone
4\tThe clerk slept .\tmale\tclerk\tnone
"""


def _make(folder: Path, *options: str, out: str = "made.tsv") -> int:
    (folder / "own.tsv").write_text(ROWS, encoding="utf-8")
    data = ["--dataset", "custom", "--data", str(folder / "own.tsv"), "--out", str(folder / out)]
    return main(["corpora", "counterfactual", *data, *options])


@pytest.mark.parametrize("out", ["made.tsv", "made.csv", "made.jsonl"])
def test_the_file_and_what_is_said(
    out: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _make(tmp_path, "--controls", out=out) == 0
    said = capsys.readouterr().out
    numbers = {
        line.rsplit(maxsplit=1)[0].strip(): line.split()[-1]
        for line in said.split("\n\n")[0].splitlines()
        if line[-1:].isdigit()
    }
    assert numbers == {
        "sentences": "4",
        "swapped": "2",
        "with controls": "1",
        "without control: no the, a, an, this or these right before the entity": "1",
        "left out: other words that tell a gender": "1",
        "left out: no gendered pronoun": "1",
        "ambiguous": "1",
        "written": "6",
    }
    assert "ambiguous: 2: said they gave her flowers .\n" in said
    assert f"Out: {tmp_path / out}\nSignature: counterfactual|data:" in said
    assert "|dataset:custom|controls:yes|mtbias:" in said
    read = load_corpus("custom", tmp_path / out).instances
    assert [i.id for i in read] == ["1", "1-control", "1-swap", "1-swap-control", "2", "2-swap"]
    assert read[2].source == "The doctor lost her keys ."


def test_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _make(tmp_path, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["left_out"] == {"other words that tell a gender": 1, "no gendered pronoun": 1}
    assert (report["swapped"], report["with_controls"], report["written"]) == (2, 0, 4)
    assert report["examples"]["no gendered pronoun"] == ["4"]
    assert "|controls:no|" in report["signature"]


def test_another_suffix_is_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _make(tmp_path, out="made.xlsx") == 2
    assert (
        "expected a name that ends in .csv, .jsonl, .ndjson, .tab, .tsv, got"
        in capsys.readouterr().err
    )
    assert not (tmp_path / "made.xlsx").exists()


def test_a_corpus_of_which_nothing_can_be_swapped_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    only = tmp_path / "only.tsv"
    only.write_text("source\tgender\tentity\nThe clerk slept .\tmale\tclerk\n", encoding="utf-8")
    out = tmp_path / "made.tsv"
    assert (
        main(
            [
                "corpora",
                "counterfactual",
                "--dataset",
                "custom",
                "--data",
                str(only),
                "--out",
                str(out),
            ]
        )
        == 1
    )
    assert (
        "only.tsv: no sentence of the corpus can be swapped: no gendered pronoun (1)"
        in capsys.readouterr().err
    )
    assert not out.exists()


def test_the_demo_needs_no_data_and_its_women_are_the_twins_it_has(tmp_path: Path) -> None:
    out = tmp_path / "made.tsv"
    assert main(["corpora", "counterfactual", "--dataset", "demo", "--out", str(out)]) == 0
    demo = {i.id: i for i in load_corpus("demo", None).instances}
    made = load_corpus("custom", out).instances
    assert len(made) == len(demo) == 512
    for i in made:
        if i.id.endswith(SWAP):
            assert i.source == demo[demo[i.id.removesuffix(SWAP)].pair or ""].source
