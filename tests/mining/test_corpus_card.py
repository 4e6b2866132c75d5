"""The card of a mined corpus: its counts are those of the rows."""

from __future__ import annotations

from pathlib import Path

from mtbias.mining.mined_rows import MinedRow
from mtbias.mining.mining_run import RowCounts


def _row(
    words: int, gender: str, stereotype: int, pattern: tuple[str, int | None], confidence: float
) -> MinedRow:
    tokens = ("The", "nurse", *["w"] * (words - 2))
    return MinedRow(
        sentence_text=" ".join(tokens), profession="Nurse", g="her", profession_first_index=1,
        g_first_index=2, predicted_gender=gender, stereotype=stereotype, distance=1, num_of_pronouns=1, corpus="ward",
        data_index=pattern[1], pattern=pattern[0], confidence=confidence, file="a.txt", offset=0,
    )  # fmt: skip


ROWS = [
    _row(5, "Female", 1, ("object", 11), 0.5),
    _row(7, "Female", 1, ("object", 11), 0.75),
    _row(9, "Male", -1, ("own", None), 1.0),
]


def card(corpus: str, rows: list[MinedRow], licence: str | None = None) -> str:
    counts = RowCounts()
    assert list(counts.counted(rows)) == rows
    counted = {"sentences read": 100, "sentences parsed": 9, "left out: too far apart": 3}
    return counts.card(Path(corpus), counted, "mine|data:abc", licence)


def test_counts_by_everything() -> None:
    lines = card("x/ward.tsv", ROWS).splitlines()
    assert lines[0] == "# ward.tsv"
    for line in (
        "- Rows: 3",
        "- Precision: not measured here; mean confidence 0.75",
        "- Signature: `mine|data:abc`",
        "| object | 2 |",
        "| own | 1 |",
        "| Female, pro-stereotypical | 2 |",
        "| Male, anti-stereotypical | 1 |",
        "| ward | 3 |",
        "| profession (1 in all) | rows |",
        "| nurse | 3 |",
        "| 1 to 10 | 3 |",
        "| sentences read | 100 |",
        "| left out: too far apart | 3 |",
        "mtbias eval --model opus-mt --lang de --dataset bug --data ward.tsv",
    ):
        assert line in lines, line


def test_the_licence_is_as_stated() -> None:
    text = card("ward.tsv", [], "CC BY | 4.0")
    assert "- Licence of the texts: CC BY \\| 4.0\n" in text
    assert "- Rows: 0\n" in text
    assert "--data 'ward 1.tsv' --out check.html" in card("ward 1.tsv", [])
    assert "mean confidence –\n" in text
    assert "not stated" in card("ward.tsv", ROWS)
