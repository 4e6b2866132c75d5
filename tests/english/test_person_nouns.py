"""The list of English nouns for persons is that of the tables, and tells persons from things."""

from __future__ import annotations

import pytest

from mtbias.english.person_nouns import may_name_person
from scripts import person_nouns


def test_the_list_is_made_from_the_tables() -> None:
    written = person_nouns.FILE.read_text(encoding="utf-8").split()
    assert written == person_nouns.person_nouns(), "python scripts/person_nouns.py writes it"


@pytest.mark.parametrize(
    "entity",
    ["baritone", "baritones", "the Baritone", "mezzo-soprano", "women", "secretary", "katepano"],
)
def test_these_may_name_a_person(entity: str) -> None:
    assert may_name_person(entity)


@pytest.mark.parametrize("entity", ["family", "families", "party", "tendency", "development", ""])
def test_these_do_not(entity: str) -> None:
    assert not may_name_person(entity)
