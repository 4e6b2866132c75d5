"""Confidence and masking on sentences that Stanza parsed."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.mining.english_parser import EnglishParser
from mtbias.mining.find_filters import MinedRow, MiningOptions, rows_of
from mtbias.mining.matcher import find
from mtbias.mining.occupations import Occupations, Workers
from mtbias.mining.patterns import read_patterns
from mtbias.morphology.stanza_models import PARSER, find_package

TABLE = Occupations({"doctor": Workers(60, 40), "nurse": Workers(10, 90)}, sha256="")


@pytest.fixture(scope="module")
def parser(stanza_dir: Path) -> EnglishParser:
    return EnglishParser(find_package("en", stanza_dir, PARSER), "cpu")


def mined(parser: EnglishParser, text: str, options: MiningOptions) -> list[MinedRow]:
    rows: list[MinedRow] = []
    for found in parser.parse([text], lambda _: True).found:
        finds = find(found.parsed, read_patterns(), TABLE.words)
        made, _ = rows_of(found.parsed, finds, TABLE, options, corpus="ward", file="ward.txt", offset=found.offset)
        rows += made
    return rows


def test_another_person_lowers_the_confidence(parser: EnglishParser) -> None:
    (alone,) = mined(parser, "The doctor said that she was tired.", MiningOptions())
    (owned,) = mined(parser, "Her doctor said that she was tired.", MiningOptions())
    assert (alone.g, owned.g) == ("she", "she")
    assert owned.confidence < 0.5 < alone.confidence
    assert mined(parser, "Her doctor said that she was tired.", MiningOptions(min_confidence=0.5)) == []


def test_names_are_masked_and_the_row_stays_true(parser: EnglishParser) -> None:
    text = "In Boston Mr. Smith told us that the nurse had lost her keys at Mary Jones's house."
    (plain,) = mined(parser, text, MiningOptions())
    (row,) = mined(parser, text, MiningOptions(mask_names=True))
    assert not {"Boston", "Smith", "Mary", "Jones"} & set(row.tokens)
    assert "Mr." in row.tokens
    assert (row.tokens[row.profession_first_index], row.tokens[row.g_first_index]) == ("nurse", "her")
    assert (row.confidence, row.stereotype) == (plain.confidence, 1)
