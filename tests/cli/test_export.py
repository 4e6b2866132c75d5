"""`mtbias export`: what any system can translate, and `mtbias score` takes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.corpora import load_corpus
from mtbias.corpora.corpus import source_lines
from mtbias.demo import demo_file
from mtbias.errors import DataError

ROWS = 32
LANG = ["--lang", "de", "--stanza-dir", "mtbias:demo"]
KEPT = (
    "n",
    "decided",
    "reasons",
    "evidence",
    "overall",
    "by_domain",
    "by_entity",
    "by_pronouns",
    "by_stereotype",
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus, the first rows of the demo's, and a cache."""
    folder = tmp_path_factory.mktemp("export")
    lines = demo_file().read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "corpus.tsv").write_text("".join(lines[: ROWS + 1]), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def corpus(home: Path) -> list[str]:
    return [
        "--dataset",
        "demo",
        "--data",
        str(home / "corpus.tsv"),
        "--cache-dir",
        str(home / "cache"),
    ]


@pytest.fixture(scope="module")
def translate(home: Path, corpus: list[str]) -> Callable[[str], str]:
    """The demo's model as a system that takes a sentence and gives its translation."""
    out = home / "run"
    assert (
        main(
            [
                "eval",
                "--model",
                "demo",
                *LANG,
                *corpus,
                "--beams",
                "1",
                "--offline",
                "--out",
                str(out),
            ]
        )
        == 0
    )
    lines = (out / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    known = {call["source"]: call["translation"] for call in map(json.loads, lines)}
    return known.__getitem__


def _translated(exported: Path, form: str, translate: Callable[[str], str]) -> str:
    """What a user makes of the file."""
    lines = exported.read_text(encoding="utf-8").splitlines()
    if form == "text":
        return "".join(f"{translate(line)}\n" for line in lines)
    if form == "tsv":
        assert lines[0] == "id\tsource"
        rows = [
            f"{line}\t{translate(line.split(chr(9))[1])}\n" for line in lines[:0:-1]
        ]  # in another order
        return "id\tsource\ttarget\n" + "".join(rows)
    records = [json.loads(line) for line in lines]
    if form == "wmt":  # what an organiser's collector writes, of other suites too
        answers = [(row["doc_id"], translate(row["src_text"])) for row in records]
        other = ("WMT26_###_edu_###_ces_Latn_###_deu_Latn_###_edu00733", "Arbeitet mit dem Text.")
        return "".join(
            json.dumps({"doc_id": doc_id, "hypothesis": text, "metadata": {}}) + "\n"
            for doc_id, text in [other, *answers]
        )
    return "".join(
        json.dumps({**record, "target": translate(record["source"])}) + "\n" for record in records
    )


@pytest.mark.parametrize(
    ("form", "suffix"),
    [("text", ".txt"), ("tsv", ".tsv"), ("jsonl", ".jsonl"), ("wmt", ".wmt.jsonl")],
)
def test_export_translate_score_gives_the_numbers_of_eval(
    home: Path, corpus: list[str], translate: Callable[[str], str], capsys: pytest.CaptureFixture[str],
    form: str, suffix: str,
) -> None:  # fmt: skip
    exported, translated = home / f"source{suffix}", home / f"target{suffix}"
    capsys.readouterr()
    lang = ["--lang", "de"] if form == "wmt" else []
    assert main(["export", *corpus, "--format", form, *lang, "--out", str(exported)]) == 0
    assert capsys.readouterr() == ("", f"mtbias: {exported}: {ROWS} sentences of demo\n")
    translated.write_text(_translated(exported, form, translate), encoding="utf-8")
    assert main(["score", "--translations", str(translated), *LANG, *corpus, "--json"]) == 0
    scored = json.loads(capsys.readouterr().out)
    evaluated = json.loads((home / "run" / "metrics.json").read_text(encoding="utf-8"))
    assert {key: scored[key] for key in KEPT} == {key: evaluated[key] for key in KEPT}


def test_what_a_suite_needs(corpus: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for options, says in (
        (["--format", "wmt"], "--lang: expected the target language with --format wmt, got none"),
        (["--prompt", "plain"], "--prompt: expected --format wmt with it, got text"),
        (["--format", "wmt", "--lang", "de", "--prompt", "few-shot"], "as WMT asks, got few-shot"),
    ):
        assert main(["export", *corpus, *options]) == 2
        out, err = capsys.readouterr()
        assert (out, says in err) == ("", True)


def test_without_a_file_it_is_printed(
    home: Path, corpus: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    for options in ([], ["--out", "-"]):
        assert main(["export", *corpus, *options]) == 0
        out, _ = capfd.readouterr()
        assert len(out.splitlines()) == ROWS
        assert out.startswith("The pilot talked with his colleagues yesterday.\n")


@pytest.mark.parametrize("end", ["\v", "\x85", "\u2028"])
def test_a_sentence_with_a_line_break_is_refused_or_written_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], end: str
) -> None:
    data = tmp_path / "own.jsonl"
    source = f"The cook{end}left her post."
    record = {"id": "a", "source": source, "gender": "female", "entity": "cook"}
    data.write_text(json.dumps(record) + "\n", encoding="utf-8")
    own = ["export", "--dataset", "custom", "--data", str(data)]
    for form in ("text", "tsv"):
        assert main([*own, "--format", form]) == 1
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert err.startswith(f"mtbias: {data}: sentence 'a': expected a sentence in one line")
        assert err.endswith("; use --format jsonl\n")
    assert main([*own, "--format", "jsonl"]) == 0
    assert json.loads(capsys.readouterr().out) == {"id": "a", "source": source}


@pytest.mark.parametrize("source", ["", "One.\nTwo.", "One.\rTwo.", "One.\n"])
def test_a_source_that_no_reader_of_corpora_lets_through_is_refused_too(source: str) -> None:
    corpus = load_corpus("demo", None)
    changed = replace(corpus, instances=(replace(corpus.instances[0], source=source),))
    with pytest.raises(
        DataError, match=r"sentence 'demo-0001': expected a sentence in one line, got"
    ):
        list(source_lines(changed, "text"))


def test_a_tab_is_refused_in_a_table_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "own.jsonl"
    record = {"id": "a", "source": "The cook\tleft her post.", "gender": "female", "entity": "cook"}
    data.write_text(json.dumps(record) + "\n", encoding="utf-8")
    own = ["export", "--dataset", "custom", "--data", str(data)]
    assert main([*own, "--format", "tsv"]) == 1
    assert "expected a sentence in one line without tabs" in capsys.readouterr().err
    assert main(own) == 0


def test_a_corpus_that_is_not_here_names_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "--cache-dir", str(tmp_path)]) == 1
    assert capsys.readouterr().err.endswith("run: mtbias fetch --dataset winomt\n")
