"""What the corpus readers share: pronouns; the place of an entity."""

from __future__ import annotations

import pytest

from mtbias.corpora import count_pronouns
from mtbias.corpora.entity_place import core, find_phrase, locate, phrase_at, tokens, words
from mtbias.types import Span


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (
            "He said she's sure that his doctor'll call him, himself.",
            5,
        ),  # He, she's, his, him, himself
        ("SHE’LL ask her, hers or herself; he'd not.", 5),  # SHE’LL, her, hers, herself, he'd
        ("his/her, (s)he, 'he' he-man", 5),  # his, her, he in (s)he, 'he', he of he-man
        ("The theory there: Hebrew heroes, sheriffs, shelves, Hershey, this, whim.", 0),
        ("they them their theirs it its", 0),
        (
            "h\u00e9 he\u0301 he_1 2he",
            0,
        ),  # an accent, composed or not, an underscore, a digit: other words
        ("", 0),
    ],
)
def test_pronouns(text: str, count: int) -> None:
    assert count_pronouns(text) == count


def test_core_leaves_out_punctuation_and_possessive() -> None:
    text = '("the doctor\'s," x-ray ... O’s'
    parts = [text[slice(*core(text, span))] for span in tokens(text)]
    # A token of punctuation alone stays as it is.
    assert parts == ["the", "doctor", "x-ray", "...", "O"]


def test_the_head_is_the_last_word_of_the_phrase() -> None:
    text = "The construction worker, a Construction worker."
    spans = tokens(text)
    assert find_phrase(text, spans, words("construction worker")) == [1, 4]
    assert phrase_at(text, spans, words("Worker"), 5)
    assert not phrase_at(text, spans, words("worker"), 99)
    found = locate(text, spans, 4, "construction worker")
    assert found is not None
    assert text[slice(*found.head)] == "worker"
    assert found.head == Span(40, 46)
    assert (found.index, found.how) == (4, "as given")


def test_a_wrong_index_is_corrected_to_the_nearest_occurrence() -> None:
    text = "friend of a friend of a friend"  # tokens 0, 3 and 6
    spans = tokens(text)
    assert [locate(text, spans, i, "friend").index for i in range(9)] == [0, 0, 3, 3, 3, 6, 6, 6, 6]  # type: ignore[union-attr]
    assert [locate(text, spans, i, "friend").how for i in (0, 1)] == ["as given", "nearest"]  # type: ignore[union-attr]
    only = locate(text, spans, 0, "of a friend of")
    assert only is not None
    assert (only.index, only.how) == (1, "corrected")
    assert locate(text, spans, 0, "doctor") is None
    assert locate(text, spans, 0, "") is None
