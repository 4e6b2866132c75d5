"""`mtbias corpora balance`: samples in the corpus's own columns or in those of one's own, what is
said."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.corpora import load_corpus
from tests.mining.mined_files import Row, write_mined

Printed = pytest.CaptureFixture[str]


def _balance(*options: object) -> int:
    return main(["corpora", "balance", *map(str, options)])


@pytest.fixture
def mined(tmp_path: Path) -> Path:
    """Men: four sentences of six words, two of seven; women: one and three."""
    short, long = "The nurse lost {} keys .", "The nurse lost {} keys again ."
    of: list[tuple[str, str, int]] = [
        (short, "Male", 4),
        (long, "Male", 2),
        (short, "Female", 1),
        (long, "Female", 3),
    ]
    rows: list[Row] = []
    for text, gender, n in of:
        pronoun = "his" if gender == "Male" else "her"
        for at in range(n):
            side = (-1, 1)[at % 2] * (-1 if gender == "Male" else 1)
            rows.append((text.format(pronoun), "nurse", pronoun, gender, side, "object", 0.9))
    return write_mined(tmp_path / "ward.tsv", rows)


def test_a_sample_of_a_mined_corpus_is_rows_of_it(
    mined: Path, tmp_path: Path, capsys: Printed
) -> None:
    # Of six words there are 4 and 1, of seven 2 and 3: 1 + 1 + 2 + 2 rows.
    out = tmp_path / "sample.tsv"
    assert _balance("--dataset", "bug", "--data", mined, "--out", out, "--seed", 3) == 0
    said = capsys.readouterr().out
    assert f"Out: {out}\nSignature: balance|data:" in said
    assert "|groups:male+female|method:sample|over:length|seed:3|" in said
    lines = mined.read_text(encoding="utf-8").splitlines()
    kept = out.read_text(encoding="utf-8").splitlines()
    assert kept[0] == lines[0]
    assert set(kept) <= set(lines)
    sample = load_corpus("bug", out).instances
    assert Counter((row.gold, len(row.source.split())) for row in sample) == {
        ("male", 6): 1, ("female", 6): 1, ("male", 7): 2, ("female", 7): 2,
    }  # fmt: skip


def test_what_the_sample_was_drawn_from(mined: Path, tmp_path: Path, capsys: Printed) -> None:
    out = tmp_path / "sample.tsv"
    assert _balance("--dataset", "bug", "--data", mined, "--out", out, "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["sentences"] == {
        "in the corpus": 10, "male": 6, "female": 4, "cells of like sentences": 2, "with both genders": 2,
        "in the sample": 6,
    }  # fmt: skip


def test_quarters_are_bugs_balanced_part(mined: Path, tmp_path: Path, capsys: Printed) -> None:
    # Men: 3 pro, 3 anti; women: 1 pro, 3 anti: one row of each.
    out = tmp_path / "quarters.csv"
    assert _balance("--dataset", "bug", "--data", mined, "--out", out, "--quarters", "--json") == 0
    drawn = json.loads(capsys.readouterr().out)["sentences"]
    quarters = ("female pro", "female anti", "male pro", "male anti")
    assert [drawn[f"before, {quarter}"] for quarter in quarters] == [1, 3, 3, 3]
    sample = load_corpus("bug", out).instances
    assert Counter((row.gold, row.stereotype) for row in sample) == {
        (gender, side): 1 for gender in ("male", "female") for side in ("pro", "anti")
    }


def test_a_sample_of_another_corpus_has_the_columns_of_ones_own(tmp_path: Path) -> None:
    # The demo's sentences are linked in pairs: a link out of the sample would be refused when it is
    # read.
    out = tmp_path / "sample.jsonl"
    assert (
        _balance("--dataset", "demo", "--out", out, "--over", "length", "--over", "stereotype") == 0
    )
    sample = load_corpus("custom", out).instances
    demo = {row.id: row for row in load_corpus("demo", None).instances}
    assert all(demo[row.id].source == row.source for row in sample)
    counted = Counter((row.stereotype, row.gold) for row in sample)
    assert all(counted[side, "male"] == counted[side, "female"] for side in ("pro", "anti", "none"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--out", "s.tsv", "--quarters", "--over", "length"],
            "--quarters and --over exclude each other",
        ),
        (
            ["--out", "s.xlsx"],
            "--out: expected a name that ends in .csv, .jsonl, .ndjson, .tab, .tsv, got 's.xlsx'",
        ),
        (
            ["--out", "s.tsv", "--dataset", "mt-geneval"],
            "--dataset: expected the same sentences for all languages",
        ),
        (
            ["--out", "s.tsv", "--dataset", "gest", "--data", "gest.csv"],
            "--dataset: expected sentences with an entity",
        ),
    ],
)
def test_wrong_usage(
    options: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Printed,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gest.csv").write_text("sentence,stereotype\nI slept.,1\n", encoding="utf-8")
    assert _balance(*(["--dataset", "demo"] if "--dataset" not in options else []), *options) == 2
    assert message in capsys.readouterr().err


def test_what_the_corpus_does_not_have_cannot_be_balanced(tmp_path: Path, capsys: Printed) -> None:
    out = tmp_path / "w.tsv"
    assert _balance("--dataset", "demo", "--out", out, "--over", "distance") == 1
    assert (
        "expected sentences with a distance, got none in this corpus; leave distance out"
        in capsys.readouterr().err
    )
    assert not out.exists()


def test_the_corpus_is_not_written_over(mined: Path, capsys: Printed) -> None:
    before = mined.read_bytes()
    assert _balance("--dataset", "bug", "--data", mined, "--out", mined, "--over", "length") == 2
    assert "--out: expected another file than those that are read, got" in capsys.readouterr().err
    assert mined.read_bytes() == before
