"""`mtbias corpora balance`: weights, samples in the corpus's own columns or in those of one's own, what is said."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from mtbias.cli import main
from mtbias.corpora import load_corpus
from mtbias.files.reading import read_table
from mtbias.scoring.weighted import weigh
from tests.mining.mined_files import Row, write_mined

Printed = pytest.CaptureFixture[str]


def _balance(*options: object) -> int:
    return main(["corpora", "balance", *map(str, options)])


@pytest.fixture
def mined(tmp_path: Path) -> Path:
    """Men: four sentences of six words, two of seven; women: one and three."""
    short, long = "The nurse lost {} keys .", "The nurse lost {} keys again ."
    of: list[tuple[str, str, int]] = [(short, "Male", 4), (long, "Male", 2), (short, "Female", 1), (long, "Female", 3)]
    rows: list[Row] = []
    for text, gender, n in of:
        pronoun = "his" if gender == "Male" else "her"
        for at in range(n):
            side = (-1, 1)[at % 2] * (-1 if gender == "Male" else 1)
            rows.append((text.format(pronoun), "nurse", pronoun, gender, side, "object", 0.9))
    return write_mined(tmp_path / "ward.tsv", rows)


def test_a_sample_of_a_mined_corpus_is_rows_of_it(mined: Path, tmp_path: Path, capsys: Printed) -> None:
    # Of six words there are 4 and 1, of seven 2 and 3: 1 + 1 + 2 + 2 rows.
    out = tmp_path / "sample.tsv"
    assert _balance("--dataset", "bug", "--data", mined, "--sample", out, "--seed", 3) == 0
    said = capsys.readouterr().out
    assert f"File: {out}\nSignature: balance|data:" in said
    assert "|groups:male+female|method:sample|over:length|seed:3|" in said
    lines = mined.read_text(encoding="utf-8").splitlines()
    kept = out.read_text(encoding="utf-8").splitlines()
    assert kept[0] == lines[0]
    assert set(kept) <= set(lines)
    sample = load_corpus("bug", out).instances
    assert Counter((row.gold, len(row.source.split())) for row in sample) == {
        ("male", 6): 1, ("female", 6): 1, ("male", 7): 2, ("female", 7): 2,
    }  # fmt: skip


def test_weights_are_those_of_compare(mined: Path, tmp_path: Path, capsys: Printed) -> None:
    out = tmp_path / "weights.tsv"
    assert _balance("--dataset", "bug", "--data", mined, "--weights", out, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    rows = load_corpus("bug", mined).instances
    weighting = weigh(rows, "delta_g")
    assert weighting is not None
    written = {record.get("id"): record.number("weight") for record in read_table(out).records}
    assert written == pytest.approx(dict(zip((row.id for row in rows), weighting.weights, strict=True)))
    assert sum(written.values()) == pytest.approx(10)
    # Before: men (4·6 + 2·7) / 6 words, women (6 + 3·7) / 4; s² = 2/9 and 3/16.
    (length,) = found["confounders"]
    assert length["before"] == pytest.approx([38 / 6, 27 / 4], abs=1e-6)
    assert length["standardised"][0] == pytest.approx((38 / 6 - 27 / 4) / ((2 / 9 + 3 / 16) / 2) ** 0.5, abs=1e-6)
    assert length["after"][0] == pytest.approx(length["after"][1])
    assert (found["male"], found["female"], found["over"]) == (6, 4, ["length"])


def test_quarters_are_bugs_balanced_part(mined: Path, tmp_path: Path, capsys: Printed) -> None:
    # Men: 3 pro, 3 anti; women: 1 pro, 3 anti: one row of each.
    out = tmp_path / "quarters.csv"
    assert _balance("--dataset", "bug", "--data", mined, "--sample", out, "--quarters", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["quarters"] == {"female pro": 1, "female anti": 3, "male pro": 3, "male anti": 3}
    sample = load_corpus("bug", out).instances
    assert Counter((row.gold, row.stereotype) for row in sample) == {
        (gender, side): 1 for gender in ("male", "female") for side in ("pro", "anti")
    }


def test_a_sample_of_another_corpus_has_the_columns_of_ones_own(tmp_path: Path, capsys: Printed) -> None:
    # The demo's sentences are linked in pairs: a link out of the sample would be refused when it is read.
    out = tmp_path / "sample.jsonl"
    assert _balance("--dataset", "demo", "--sample", out, "--over", "length", "--over", "stereotype") == 0
    sample = load_corpus("custom", out).instances
    demo = {row.id: row for row in load_corpus("demo", None).instances}
    assert all(demo[row.id].source == row.source for row in sample)
    counted = Counter((row.stereotype, row.gold) for row in sample)
    assert all(counted[side, "male"] == counted[side, "female"] for side in ("pro", "anti", "none"))
    assert "stereotype: pro" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "expected one of --weights and --sample"),
        (["--weights", "w.tsv", "--quarters"], "--quarters goes with --sample, and not with --over"),
        (["--sample", "s.csv"], "--sample: expected a name that ends in .jsonl, .ndjson, .tab, .tsv, got 's.csv'"),
        (["--weights", "w.tsv", "--dataset", "mt-geneval"], "--dataset: expected the same sentences for all languages"),
    ],
)
def test_wrong_usage(options: list[str], message: str, capsys: Printed) -> None:
    assert _balance(*(["--dataset", "demo"] if "--dataset" not in options else []), *options) == 2
    assert message in capsys.readouterr().err


def test_what_the_corpus_does_not_have_cannot_be_balanced(tmp_path: Path, capsys: Printed) -> None:
    out = tmp_path / "w.tsv"
    assert _balance("--dataset", "demo", "--weights", out, "--over", "distance") == 1
    assert "expected sentences with a distance, got none in this corpus; leave distance out" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("option", ["--sample", "--weights"])
def test_the_corpus_is_not_written_over(option: str, mined: Path, capsys: Printed) -> None:
    before = mined.read_bytes()
    assert _balance("--dataset", "bug", "--data", mined, option, mined, "--over", "length") == 2
    assert f"{option}: expected another file than those that are read, got" in capsys.readouterr().err
    assert mined.read_bytes() == before
