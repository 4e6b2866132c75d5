"""`mtbias corpora check`: the page, the precision, the corpus without the rows that are wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.corpora import load_corpus
from mtbias.mining.checked_rows import read_corpus
from tests.mining.mined_files import write_mined

Printed = pytest.CaptureFixture[str]


def _check(*options: object) -> int:
    return main(["corpora", "check", *map(str, options)])


def _judgements(folder: Path, *said: str) -> Path:
    rows = read_corpus(folder / "ward.tsv").rows
    path = folder / "v.tsv"
    lines = [f"{row.key}\t{judgement}" for row, judgement in zip(rows, said, strict=True)]
    path.write_text("\n".join(["key\tjudgement", *lines, ""]), encoding="utf-8")
    return path


def test_the_page_has_as_many_rows_as_are_asked_for(tmp_path: Path, capsys: Printed) -> None:
    data, page = write_mined(tmp_path / "ward.tsv"), tmp_path / "check.html"
    assert _check("--data", data, "--out", page, "--rows", 3, "--seed", 1) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"3 of 5 rows, drawn at random\nPage: {page}\nSignature: check|data:")
    assert "|rows:3|seed:1|" in out
    assert page.read_text(encoding="utf-8").count('"key":') == 3


def test_the_precision_and_the_rest_of_the_corpus(tmp_path: Path, capsys: Printed) -> None:
    data = write_mined(tmp_path / "ward.tsv")
    said = _judgements(tmp_path, "right", "right", "right", "wrong", "unsure")
    rest = tmp_path / "rest.tsv"
    assert _check("--data", data, "--judgements", said, "--out", rest) == 0
    out = capsys.readouterr().out
    assert "all       3      1       1       75.0   [30.1, 95.4]             0.74\n" in out
    assert "Were all unsure rows wrong: 60.0 [23.1, 88.2]\n" in out
    assert f"File: {rest} (4 of 5 rows)\n" in out
    lines = data.read_text(encoding="utf-8").splitlines()
    assert rest.read_text(encoding="utf-8").splitlines() == [*lines[:4], lines[5]]
    assert len(load_corpus("bug", rest).instances) == 4
    assert _check("--data", data, "--judgements", said, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["precision"], found["wrong"], found["by_pattern"][1]["name"]) == (75.0, 1, "object")
    assert not {"out", "written"} & set(found)


@pytest.mark.parametrize("out", [[], ["--out", "rows.tsv"]])
def test_without_judgements_the_output_is_a_page(out: list[str], tmp_path: Path, capsys: Printed) -> None:
    assert _check("--data", write_mined(tmp_path / "ward.tsv"), *out) == 2
    assert "--out: expected a page that ends in .html, got" in capsys.readouterr().err


@pytest.mark.parametrize("over", ["ward.tsv", "v.tsv"])
def test_no_file_that_is_read_is_written_over(over: str, tmp_path: Path, capsys: Printed) -> None:
    data = write_mined(tmp_path / "ward.tsv")
    said = _judgements(tmp_path, "right", "right", "right", "wrong", "unsure")
    before = (tmp_path / over).read_bytes()
    (tmp_path / "link.tsv").symlink_to(over)
    for out in (over, "link.tsv"):
        assert _check("--data", data, "--judgements", said, "--out", tmp_path / out) == 2
        assert "--out: expected another file than those that are read, got" in capsys.readouterr().err
    assert (tmp_path / over).read_bytes() == before


def test_another_table_is_an_error_that_names_the_columns(tmp_path: Path, capsys: Printed) -> None:
    data = tmp_path / "own.tsv"
    data.write_text("source\tgender\nThe cook left.\tmale\n", encoding="utf-8")
    assert _check("--data", data, "--out", tmp_path / "c.html") == 1
    assert "own.tsv:1: expected the column 'sentence_text', 'profession'" in capsys.readouterr().err


def test_a_negative_seed_is_wrong_usage(tmp_path: Path, capsys: Printed) -> None:
    data = write_mined(tmp_path / "ward.tsv")
    assert _check("--data", data, "--out", tmp_path / "c.html", "--seed=-1") == 2
    assert "--seed" in capsys.readouterr().err
