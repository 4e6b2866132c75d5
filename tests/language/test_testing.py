"""The contract test for languages: sound ones pass, every breach is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import pytest

from mtbias.errors import PluginError
from mtbias.language.installed import get_language
from mtbias.plugin import (
    Agreement,
    Language,
    NounKind,
    NounReading,
    SpeakerRules,
    Strategy,
    SurfaceToken,
    VerbRules,
)
from mtbias.reading import gender_pairs
from mtbias.reading.gender_pairs import count, pair_outcomes
from mtbias.testing import check_language, contract_problems
from mtbias.types import Span
from scripts.labelled import SHIPPED

BUILT_IN = SHIPPED
MASCULINE = (NounReading("lehrer", NounKind.MASCULINE, ()),)
TOY = Language(
    code="xh",
    name="Toy",
    family="germanic",
    case=True,
    determiners={"der": (Agreement("m", "nom", "sg"),), "die": (Agreement("f", "nom", "sg"),)},
    nouns={"lehrer": MASCULINE, "lehrerin": (NounReading("lehrerin", NounKind.FEMININE, ()),)},
    glossary={"teacher": frozenset(("lehrer", "lehrerin"))},
    align_endings=("erin", "er"),
)


@pytest.mark.parametrize(
    "nouns", [8, pytest.param(gender_pairs._NOUNS, marks=pytest.mark.exhaustive)]
)
@pytest.mark.parametrize("code", BUILT_IN)
def test_every_built_in_language_keeps_the_contract_and_calls_men_and_women_alike(
    code: str, nouns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gender_pairs, "_NOUNS", nouns)
    language = get_language(code)
    outcomes = pair_outcomes(language)
    assert contract_problems(language, outcomes) == []
    counts = count(outcomes)
    assert counts["male"] == counts["female"] == counts["pairs"] >= 400


def test_a_small_language_keeps_the_contract() -> None:
    check_language(TOY)


BREACHES: Mapping[str, tuple[dict[str, Any], str]] = {
    "code of three letters": ({"code": "deu"}, "one of ISO 639-3 that Stanza knows; got 'deu'"),
    "code that is none": ({"code": "xx"}, "got 'xx'"),
    "name": ({"name": " "}, "has no name"),
    "order of verbs": ({"verbs": VerbRules(order="before")}, "must be after or both; got 'before'"),
    "regular expression": ({"inclusive": "(in"}, "inclusive is not a regular expression"),
    "no nouns": ({"nouns": {}, "glossary": {}}, "there are no nouns"),
    "no glossary": ({"glossary": {}}, "no English translations"),
    "noun of two words": (
        {"nouns": {**TOY.nouns, "der arzt": MASCULINE}},
        "is cut into ['der', 'arzt']",
    ),
    "determiner of two words": (
        {"determiners": {"all die": (Agreement("f", "nom", "sg"),)}},
        "'all die' is not one token before a noun",
    ),
    "title of two words": ({"names": {"gnä frau": "f"}}, "[names]: 'gnä frau' is not one word"),
    "preposition": (
        {"prepositions": {"mit": frozenset(("dativ",))}},
        "'mit' must govern one of acc, dat",
    ),
    "min_stem": ({"min_stem": 0}, "must be at least 1; got 0"),
    "silent determiner": (
        {"silent_determiners": {"lehrer": frozenset(("das",))}},
        "'das' is not among the determiners",
    ),
    "neutral ending of one gender": (
        {"neutral_endings": {"@s": frozenset(("os",))}},
        "[neutral_endings]: '@s' must stand for two endings or more; got ['os']",
    ),
    "neutral noun that is none": (
        {"neutral_nouns": {"kraft": Strategy.COMPOUND, "lehrer": Strategy.EPICENE}},
        "[neutral_nouns]: no noun that shows no gender ends in 'lehrer', so that no text contains it",
    ),
    "speaker without a pronoun": (
        {"speaker": SpeakerRules(bare_past=True)},
        "[speaker]: there are no pronouns",
    ),
    "speaker's word of no gender": (
        {
            "speaker": SpeakerRules(
                pronouns=frozenset(("ich",)), words={"selbst": Agreement("n", "*", "sg")}
            )
        },
        "[speaker.words]: 'selbst' must be m or f; got 'n'",
    ),
    "speaker's verb of two words": (
        {"speaker": SpeakerRules(pronouns=frozenset(("ich",)), verbs=frozenset(("bin ich",)))},
        "[speaker.verbs]: 'bin ich' is not one word",
    ),
    "words that mean a woman alone": (
        {"sex_adjectives": {"weibliche": "f"}},
        "[sex_adjectives] has words for f alone",
    ),
    # A verb ends the noun's phrase: the word for a woman is never read.
    "a rule for men alone": (
        {
            "family": "semitic",
            "case": False,
            "sex_adjectives": {"mas": "m", "fem": "f"},
            "verbs": VerbRules(words={"fem": Agreement("f", "*", "sg")}),
        },
        "against its form: 'lehrerin mas' is called male, 'lehrer fem' is called male",
    ),
    "endings that are too short": (
        {"noun_endings": dict.fromkeys("lehrin", NounKind.MASCULINE)},
        "every made-up word is a noun or has a noun's ending",
    ),
}


@pytest.mark.parametrize("name", BREACHES)
def test_every_breach_is_named(name: str) -> None:
    change, message = BREACHES[name]
    with pytest.raises(AssertionError) as caught:
        check_language(replace(TOY, **change))
    assert message in str(caught.value)


class Default(Language):
    """A plugin that knows an answer to everything: every word is masculine."""

    def noun(self, form: str) -> tuple[NounReading, ...]:
        return super().noun(form) or MASCULINE


class Lossy(Language):
    """A plugin whose tokens lose the first letter."""

    def tokens(self, text: str) -> list[SurfaceToken]:
        return [
            SurfaceToken(Span(s.start + 1, s.end), t[1:], f[1:])
            for s, t, f in super().tokens(text)
            if t[1:]
        ]


class Reversed(Language):
    """A plugin whose tokens stand in another order."""

    def tokens(self, text: str) -> list[SurfaceToken]:
        return super().tokens(text)[::-1]


class Empty(Language):
    """A plugin that stems to nothing."""

    def stem(self, form: str) -> str:
        return ""


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Default, "every made-up word is a noun"),
        (Lossy, "is in no token"),
        (Reversed, "overlaps what is before it"),
        (Empty, "leaves nothing"),
    ],
)
def test_overridden_methods_are_held_to_it_too(kind: type[Language], message: str) -> None:
    language = kind(**{field.name: getattr(TOY, field.name) for field in fields(TOY) if field.init})
    with pytest.raises(AssertionError, match=message):
        check_language(language)


def test_the_message_lists_twenty_places_and_counts_the_rest() -> None:
    unfolded = {f"Noun{n}": MASCULINE for n in range(30)}
    with pytest.raises(AssertionError) as caught:
        check_language(replace(TOY, nouns={**TOY.nouns, **unfolded}))
    text = str(caught.value)
    assert text.startswith("language 'xh' breaks the contract in ")
    assert text.count("\n  nouns: ") <= 20
    assert "more" in text
    assert "README" in text


def test_something_else_is_refused() -> None:
    with pytest.raises(PluginError, match=r"expected a mtbias\.plugin\.Language, got str"):
        check_language("de")  # type: ignore[arg-type]
