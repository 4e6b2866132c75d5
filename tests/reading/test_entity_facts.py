"""What the English sentence says of the entity: its head, its number, what stands before and behind it."""

from __future__ import annotations

import pytest

from mtbias.align import Pair
from mtbias.align.sentence_pairs import index_pairs
from mtbias.english.words import singulars
from mtbias.language.source import ENGLISH
from mtbias.language.split_texts import SplitTexts
from mtbias.reading.sentence_pair import source_facts
from mtbias.types import Gender, Instance, Span, Stereotype
from tests.reading.toy_alignment import LANGUAGE, alignment_of, pair, scores


def test_the_head_of_an_entity_of_two_words_is_its_last() -> None:
    cases = [
        pair("The construction worker slept.", "construction worker", "Der Maurer schlief."),
        pair(
            "The doctor saw a worker.", "construction worker", "", "worker"
        ),  # only its head stands there
        pair("Construction workers slept.", "construction worker", "", "workers"),
        Pair("x", "The doctor slept.", ""),  # only helps the statistics
        Pair("x", "… slept", "", Span(0, 1), "…"),  # a head that is no word
    ]
    # the=0 construction=1 worker=2; the=0 doctor=1 saw=2 a=3 worker=4; construction=0 workers=1
    assert index_pairs(cases, SplitTexts(LANGUAGE)).heads == (
        (1, 2),
        (4, 4),
        (0, 1),
        (-1, -1),
        (-1, -1),
    )


def test_a_pair_of_an_instance() -> None:
    instance = Instance(
        "i-1", 0, "The cook ate.", Span(4, 8), "cook", Gender.MALE, Stereotype.NONE, "winobias", 0
    )
    assert Pair.from_instance(instance, "Der Koch aß.") == Pair(
        "i-1", "The cook ate.", "Der Koch aß.", Span(4, 8), "cook"
    )


@pytest.mark.parametrize(
    ("word", "some"),
    [
        ("nurse", {"nurse"}),
        ("nurses", {"nurses", "nurse"}),
        ("coaches", {"coach"}),
        ("ladies", {"lady"}),
        ("wives", {"wife"}),
        ("thieves", {"thief"}),
        ("relatives", {"relative"}),
        ("alumnae", {"alumna"}),
        ("salesmen", {"salesman"}),
        ("children", {"child"}),
        ("people", {"person"}),
    ],
)
def test_singulars(word: str, some: set[str]) -> None:
    assert some <= set(singulars(word))


def test_a_word_in_ss_is_no_plural() -> None:
    assert singulars("boss") == ("boss",)


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("nurse", "sg"), ("nurses", "pl"), ("boss", "sg"), ("bosses", "pl"), ("children", "pl"), ("women", "pl"),
        ("people", "pl"), ("police", "pl"), ("policemen", "pl"), ("virus", "sg"), ("analysis", "sg"), ("human", "sg"),
    ],
)  # fmt: skip
def test_the_number_of_the_english_form(word: str, number: str) -> None:
    case = Pair("x", word.upper(), "", Span(0, len(word)), word)
    assert source_facts(case, ENGLISH).number == number


def test_without_a_head_there_is_no_number() -> None:
    assert source_facts(Pair("x", "nurses", ""), ENGLISH).number is None


def test_numerals_and_others_are_no_nouns() -> None:
    given = scores(0.1, 0.9, 0.1)
    two = alignment_of(pair("the two met", "two", "die beiden kamen"), given)
    assert two.source.quantifier
    doctor = alignment_of(pair("the doctor came", "doctor", "der Arzt kam"), given)
    assert not doctor.source.quantifier


@pytest.mark.parametrize(
    ("source", "entity", "place"),
    [
        ("the gay people left", "people", 1),
        ("the people left", "people", 1),
        ("the construction worker left", "construction worker", 1),
        ("Gay, people left", "people", 1),
        ("people left", "people", 0),
        ("men and people left", "people", 2),
        ("the house of people", "people", 3),
    ],
)
def test_what_qualifies_a_single_word_does_not_speak_against_it(
    source: str, entity: str, place: int
) -> None:
    assert index_pairs([pair(source, entity, "x")], SplitTexts(LANGUAGE)).from_qualifier == (place,)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("We met secretary Korth.", True),
        ("The secretary left", False),
        ("We met the secretary", False),
    ],
)
def test_a_name_behind_the_entity(source: str, expected: bool) -> None:
    assert source_facts(pair(source, "secretary", ""), ENGLISH).before_name is expected
