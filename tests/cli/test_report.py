"""`mtbias report`: a page, tables and plots from the folders of finished runs."""

from __future__ import annotations

import csv
from importlib.util import find_spec
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.runs.call_records import CallRecord
from mtbias.runs.run_folder import RunFolder
from mtbias.scoring.scores import score
from mtbias.types import Evidence, Gender, GenderCall, Json, Reason, Span, Stereotype, Translation

M, F = Gender.MALE, Gender.FEMALE


def _run(path: Path, system: str = "opus", lang: str = "de", right: int = 8) -> str:
    """A finished run of 12 sentences, of which the first `right` are right."""
    identity: dict[str, Json] = {
        "dataset": "winomt", "data": {"en.txt": "00ff"}, "language": lang, "system": system, "aligner": "agree/1",
        "stanza": {"version": "1"}, "plugin": f"{lang}/1", "mtbias": "0.1.0", "seed": 0,
    }  # fmt: skip
    records = []
    for row in range(12):
        gold = (M, F)[row % 2]
        called = gold if row < right else (F, M)[row % 2]
        call = GenderCall(
            f"r{row}",
            called,
            None,
            (Span(4, 10),),
            (Evidence("feminine_noun", "noun", "Köchin", Span(4, 10), called, "lexicon"),),
        )
        if row == 11:
            call = GenderCall(f"r{row}", None, Reason.NO_MORPHOLOGY)
        entity = ("cook", "guest", "nurse")[row // 2 % 3]
        records.append(
            CallRecord(
                row,
                f"The {entity} ate.",
                "Die Köchin aß.",
                entity,
                gold,
                Stereotype.PRO,
                "home",
                1,
                call,
            )
        )
    with RunFolder(path).open_or_create(identity) as folder:
        folder.write_translations(
            [Translation(record.id, record.translation) for record in records]
        )
        folder.write_calls(record.to_json() for record in records)
        scores = score(records, n_resamples=20)
        folder.write_metrics(
            scores.to_json(signature=f"system:{system}", fingerprint=folder.manifest.fingerprint)
        )
    return str(path)


def test_a_page_of_several_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [_run(tmp_path / "a"), _run(tmp_path / "b", "online"), _run(tmp_path / "c", lang="he")]
    page = tmp_path / "out.html"
    assert main(["report", *runs, "--out", str(page)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith(f"Report: {page} (")
    text = page.read_text(encoding="utf-8")
    assert (  # the two of one language are alike: by their names
        "<h1>online, opus, de and opus, he: gender in translations from English into German (de) and Hebrew (he)</h1>"
    ) in text
    assert '"dir": "rtl", "lang": "he", "name": "opus, he"' in text
    assert "Shares of women: U.S. Bureau of Labor Statistics" in text


def test_names_of_ones_own_and_shares_of_women(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [_run(tmp_path / "a"), _run(tmp_path / "b")]
    women = tmp_path / "women.csv"
    women.write_text("occupation,share\nnurse,0.9\ncook,0.4\n", encoding="utf-8")
    page = tmp_path / "out.html"
    arguments = ["--name", "one", "--name", "two", "--women", str(women), "--out", str(page)]
    assert main(["report", *runs, *arguments]) == 0
    text = page.read_text(encoding="utf-8")
    assert "<h1>one and two: gender in translations from English into German (de)</h1>" in text
    assert "Shares of women: women.csv, column share." in text
    assert main(["report", *runs, "--out", str(page)]) == 1
    assert (
        "got 2 of 'opus' in de; leave one out, or give each run a name" in capsys.readouterr().err
    )


def test_tables_go_to_standard_output_or_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [_run(tmp_path / "a"), _run(tmp_path / "b", "online", right=4)]
    assert main(["report", *runs, "--format", "csv"]) == 0
    rows = [
        row
        for row in csv.DictReader(capsys.readouterr().out.splitlines())
        if row["breakdown"] == "overall"
    ]
    # 8 of 12 and 4 of 12 are right.
    assert [(row["system"], row["n"], row["accuracy"]) for row in rows] == [
        ("opus", "12", "66.666667"), ("online", "12", "33.333333"),
    ]  # fmt: skip
    assert main(["report", *runs, "--format", "markdown", "--name", "x", "--name", "y"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("| Language | System | n |")
    assert out.count("| x |") == out.count("| y |") == 1
    table = tmp_path / "t.tex"
    assert main(["report", *runs, "--format", "latex", "--out", str(table)]) == 0
    assert capsys.readouterr().out == f"Table: {table}\n"
    assert r"\bottomrule" in table.read_text(encoding="utf-8")


def test_a_table_may_have_one_system_on_two_corpora_and_a_page_asks_for_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [_run(tmp_path / "a"), _run(tmp_path / "b", right=4)]
    assert main(["report", *runs, "--format", "csv"]) == 0
    rows = [
        row
        for row in csv.DictReader(capsys.readouterr().out.splitlines())
        if row["breakdown"] == "overall"
    ]
    assert [(row["system"], row["accuracy"]) for row in rows] == [
        ("opus", "66.666667"),
        ("opus", "33.333333"),
    ]
    assert main(["report", *runs, "--out", str(tmp_path / "page.html")]) == 1
    assert "--name" in capsys.readouterr().err


def test_plots(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, folder = _run(tmp_path / "a"), tmp_path / "new" / "plots"
    assert main(["report", run, "--plots", str(folder)]) == 0
    plots = ("overall", "by_domain", "by_pronouns", "by_stereotype", "entities-1-opus")
    names = [f"{plot}.svg" for plot in plots]
    assert {path.name for path in folder.iterdir()} == set(names)
    assert set(capsys.readouterr().out.splitlines()) == {f"Plot: {folder / name}" for name in names}


def test_plots_as_png(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["report", _run(tmp_path / "a"), "--plots", str(tmp_path / "plots"), "--plot-format"]
    if find_spec("resvg_py") is None:
        assert main([*command, "png"]) == 1
        assert "PNG plots need resvg: pip install 'mtbias[plots]'" in capsys.readouterr().err
        assert not (tmp_path / "plots").exists()
        return
    assert main([*command, "png"]) == main([*command, "svg"]) == 0
    sizes = {}
    for path in sorted((tmp_path / "plots").glob("*.png")):
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG")
        sizes[path] = int.from_bytes(content[16:20]), int.from_bytes(content[20:24])
    assert len(sizes) == 5
    for path, (width, height) in sizes.items():  # two pixels for each of the SVG
        svg = path.with_suffix(".svg").read_text(encoding="utf-8")
        assert f'viewBox="0 0 {width / 2:g} {height / 2:g}"' in svg


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected --out FILE.html for the page"),
        (
            ["--name", "a", "--name", "b", "--out", "x.html"],
            "--name: expected a name for each of 1 runs, got 2",
        ),
        (
            ["--women", "w.csv", "--format", "csv"],
            "--women: expected the page or --plots DIR, got --format csv",
        ),
        (
            ["--women-column", "share", "--out", "x.html"],
            "--women-column without --women FILE: expected percent or winobias, got share",
        ),
    ],
)
def test_options_that_do_not_go_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["report", str(tmp_path / "none"), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_what_is_no_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path), "--out", str(tmp_path / "x.html")]) == 1
    assert "run `mtbias eval` or `mtbias score`" in capsys.readouterr().err
    assert not (tmp_path / "x.html").exists()
