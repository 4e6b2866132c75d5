"""Confidence on sentences that Stanza parsed."""

from __future__ import annotations

from mtbias.mining.mined_rows import MinedRow, MiningOptions, Occupations, rows_of
from mtbias.mining.patterns import find, read_patterns
from mtbias.morphology.english_parser import EnglishParser
from mtbias.types import Gender

TABLE = Occupations({"doctor": Gender.MALE, "nurse": Gender.FEMALE}, sha256="")


def mined(parser: EnglishParser, text: str, options: MiningOptions) -> list[MinedRow]:
    rows: list[MinedRow] = []
    for each in parser.parse([text], lambda _: True).parsed:
        finds = find(each.parsed, read_patterns(), TABLE.majority)
        made, _ = rows_of(
            each.parsed, finds, TABLE, options, corpus="ward", file="ward.txt", offset=each.offset
        )
        rows += made
    return rows


def test_another_person_lowers_the_confidence(parser: EnglishParser) -> None:
    (alone,) = mined(parser, "The doctor said that she was tired.", MiningOptions())
    (owned,) = mined(parser, "Her doctor said that she was tired.", MiningOptions())
    assert (alone.g, owned.g) == ("she", "she")
    assert owned.confidence < 0.5 < alone.confidence
    assert (
        mined(parser, "Her doctor said that she was tired.", MiningOptions(min_confidence=0.5))
        == []
    )
