"""`mtbias corpora check`: the page, and the precision."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.mining.corpus_check import read_corpus
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
    assert re.search(r"^rows +5\nleft out +0\ndrawn +3\n", out, re.MULTILINE)
    assert f"Out: {page}\nSignature: check|data:" in out
    assert "|rows:3|seed:1|" in out
    assert page.read_text(encoding="utf-8").count('"id":') == 3


def test_the_precision(tmp_path: Path, capsys: Printed) -> None:
    data = write_mined(tmp_path / "ward.tsv")
    said = _judgements(tmp_path, "right", "right", "right", "wrong", "unsure")
    assert _check("--data", data, "--judgements", said) == 0
    out = capsys.readouterr().out
    assert re.search(r"^all +3 +1 +1 +75\.00 +\[30\.06, 95\.44\]", out, re.MULTILINE)
    assert re.search(r"^by gender +right +wrong", out, re.MULTILINE)
    assert _check("--data", data, "--judgements", said, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["together"]["precision"], printed["together"]["wrong"]) == (75.0, 1)
    assert printed["by_pattern"][1]["name"] == "object"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "expected one of --out, for the page, and --judgements"),
        (
            ["--out", "c.html", "--judgements", "v.tsv"],
            "expected one of --out, for the page, and --judgements",
        ),
        (["--out", "rows.tsv"], "--out: expected a page that ends in .html, got 'rows.tsv'"),
        (["--out", "c.html", "--seed=-1"], "--seed"),
    ],
)
def test_wrong_usage(options: list[str], message: str, tmp_path: Path, capsys: Printed) -> None:
    assert _check("--data", write_mined(tmp_path / "ward.tsv"), *options) == 2
    assert message in capsys.readouterr().err


def test_another_table_is_an_error_that_names_the_columns(tmp_path: Path, capsys: Printed) -> None:
    data = tmp_path / "own.tsv"
    data.write_text("source\tgender\nThe cook left.\tmale\n", encoding="utf-8")
    assert _check("--data", data, "--out", tmp_path / "c.html") == 1
    assert "own.tsv:1: expected the column 'sentence_text', 'profession'" in capsys.readouterr().err
