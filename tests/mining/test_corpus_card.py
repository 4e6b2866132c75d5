"""The card of a mined corpus: its counts are those of the rows."""

from __future__ import annotations

from pathlib import Path

from mtbias.mining.corpus_card import CardFacts, card_path, corpus_card
from mtbias.mining.find_filters import MinedRow

FACTS = CardFacts(
    counts={"sentences read": 100, "sentences parsed": 9}, left_out={"too far apart": 3}, signature="mine|data:abc"
)


def _row(words: int, gender: str, stereotype: int, pattern: tuple[str, int | None], confidence: float) -> MinedRow:
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


def test_counts_by_everything() -> None:
    lines = corpus_card(Path("x/ward.tsv"), iter(ROWS), FACTS).splitlines()
    assert lines[0] == "# ward.tsv"
    for line in (
        "- Rows: 3",
        "- Personal names: as in the texts",
        "- Precision: not measured here; mean confidence 0.75",
        "- Signature: `mine|data:abc`",
        "| object | 11 | 2 | 66.7 | 0.62 |",
        "| own |  | 1 | 33.3 | 1.00 |",
        "| Female | 2 | 0 | 0 | 2 |",
        "| Male | 0 | 1 | 0 | 1 |",
        "| ward | 3 |",
        "| profession (1 in all) | rows |",
        "| nurse | 3 |",
        "| shortest | 5 |",
        "| median | 7 |",
        "| longest | 9 |",
        "| sentences read | 100 |",
        "| left out: too far apart | 3 |",
        "mtbias eval --model opus-mt --lang de --dataset bug --data ward.tsv",
    ):
        assert line in lines, line


def test_licence_and_masking_are_as_stated() -> None:
    facts = CardFacts(counts={}, left_out={}, signature="s", licence="CC BY | 4.0", masked=True)
    text = corpus_card(Path("ward.tsv"), [], facts)
    assert "- Licence of the texts: CC BY \\| 4.0\n- Personal names: masked\n" in text
    assert "- Rows: 0\n" in text
    assert "--data 'ward 1.tsv' --out check.html" in corpus_card(Path("ward 1.tsv"), [], facts)
    assert "mean confidence –\n" in text
    assert "not stated" in corpus_card(Path("ward.tsv"), ROWS, FACTS)


def test_the_card_stands_beside_the_corpus() -> None:
    assert card_path(Path("x/ward.tsv")) == Path("x/ward.md")
