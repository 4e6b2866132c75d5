"""Weak and strong endings: without a determiner a noun declined like an adjective shows its gender."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from mtbias.language.installed import get_language
from mtbias.types import Gender, GenderCall

Call = Callable[..., GenderCall]
M, F = Gender.MALE, Gender.FEMALE
GERMAN = get_language("de")


@pytest.mark.parametrize(
    ("sentence", "number", "expected"),
    [
        ("Sie|PRON wurde|AUX *Vorsitzende|NOUN", "sg", F),
        ("Er|PRON wurde|AUX *Vorsitzender|NOUN", "sg", M),
        # behind a determiner the ending is weak
        ("Der|DET *Vorsitzende|NOUN kam|VERB", "sg", M),
        ("Die|DET *Vorsitzende|NOUN kam|VERB", "sg", F),
        # several, of any gender: no woman
        ("*Angestellte|NOUN protestierten|VERB", "pl", None),
        # the English does not tell how many
        ("*Angestellte|NOUN protestierten|VERB", None, None),
    ],
)
def test_strong_endings(call: Call, sentence: str, number: str | None, expected: Gender | None) -> None:
    assert call(GERMAN, sentence, number=number).gender is expected


def test_without_the_rule_the_ending_leaves_it_open(call: Call) -> None:
    sentence = "Als|SCONJ *Vorsitzende|NOUN sprach|VERB"
    assert call(GERMAN, sentence).gender is F
    assert call(replace(GERMAN, weak=()), sentence).gender is None


def test_between_an_article_and_a_noun_for_people_stands_its_adjective(call: Call) -> None:
    # it "l'esperta pediatra": *esperta* is in the table of nouns too, and the tagger reads a noun.
    found = call(get_language("it"), "Ringraziò|VERB l'|DET ~esperta|NOUN|Gender=Fem *pediatra|NOUN")
    assert found.gender is F


def test_a_finite_verb_is_no_adjective_between_an_article_and_its_noun(call: Call) -> None:
    # cs tu is "here" too: "kéž bych tu měl přítele" ("if only I had a friend here").
    wish = "Kéž|PART bych|AUX tu|ADV měl|VERB|Gender=Masc,VerbForm=Part *přítele|NOUN|Gender=Masc,Case=Acc"
    assert call(get_language("cs"), wish).gender is M
    assert call(get_language("cs"), "Viděl|VERB tu|DET mladou|ADJ|Gender=Fem,Case=Acc *účetní|NOUN").gender is F
