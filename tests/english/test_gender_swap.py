"""What `mtbias.english.gender_swap` has beyond the tests of the coreference module, which came
first."""

from __future__ import annotations

import pytest

from mtbias.english.gender_swap import (
    gendered_words,
    her_is_object,
    tells_gender,
    tokenize,
    word_gender,
)
from mtbias.types import Gender


@pytest.mark.parametrize("word", ["fisherman", "clergymen", "gentlewoman", "airwomen", "man"])
def test_words_of_people_that_end_in_man_tell_a_gender(word: str) -> None:
    assert tells_gender(word)


@pytest.mark.parametrize("word", ["human", "specimen", "Coleman", "German", "manner", "doctor"])
def test_other_words_do_not(word: str) -> None:
    assert not tells_gender(word)


@pytest.mark.parametrize(
    "word", ["widower", "Mr.", "Sir", "salesmen", "bridegroom", "clergyman", "him", "Brother"]
)
def test_a_word_tells_a_man(word: str) -> None:
    assert word_gender(word) is Gender.MALE


@pytest.mark.parametrize("word", ["widow", "Mrs", "Dame", "nun", "granny", "chairwomen", "hers"])
def test_a_word_tells_a_woman(word: str) -> None:
    assert word_gender(word) is Gender.FEMALE


@pytest.mark.parametrize("word", ["doctor", "mr", "human", "Coleman", "their"])
def test_a_word_tells_nothing(word: str) -> None:
    assert word_gender(word) is None


@pytest.mark.parametrize(
    ("text", "is_object", "guess"),
    [
        ("in her later years", False, True),
        ("they saw her later .", True, True),
        ("damaged by her past record", False, True),
        ("they walked her past the door", True, True),
        ("in her years", False, False),
        ("they saw her .", True, False),
        ("they made her rely solely on them", True, False),  # a verb in -ly
        ("they made her painfully aware", False, True),
    ],
)
def test_object_or_possessive(text: str, is_object: bool, guess: bool) -> None:
    tokens = [token.text for token in tokenize(text)]
    assert her_is_object(tokens, tokens.index("her")) == (is_object, guess)


def test_pronouns_swap_with_the_one_of_the_same_role() -> None:
    # him and her are objects, his and hers stand alone; his and her have two roles and are left to
    # the words around
    swaps = {
        "he": "she",
        "himself": "herself",
        "him": "her",
        "hers": "his",
        "she": "he",
        "herself": "himself",
    }
    assert {word: gendered_words().swaps[word] for word in swaps} == swaps
    assert not {"his", "her"} & set(gendered_words().swaps)
