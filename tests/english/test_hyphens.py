"""Words of an English sentence and the parts of a hyphenated one."""

from __future__ import annotations

import pytest

from mtbias.english.words import hyphenated_parts


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("colonel-in-chief", ("", "colonel", "in-chief")),
        ("groom-to-be", ("", "groom", "to-be")),
        ("jack-of-all-trades", ("", "jack", "of-all-trades")),
        ("flight-attendant", ("flight", "attendant", "")),
        ("great-grand-mother", ("great-grand", "mother", "")),
        # "in" stands first: no preposition inside.
        ("in-patient", ("in", "patient", "")),
        ("doctor", ("", "doctor", "")),
    ],
)
def test_the_head_of_a_hyphenated_word(word: str, parts: tuple[str, str, str]) -> None:
    assert hyphenated_parts(word) == parts
