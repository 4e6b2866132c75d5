"""Every listed occupation has a rendering for a woman and one for a man in each language's table of nouns."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.align.entity_words import KnownTranslations
from mtbias.language.grammar import NounKind
from mtbias.language.installed import get_language
from mtbias.plugin import Language
from tests.language.test_installed import BUILT_IN

OCCUPATIONS = [
    word
    for line in (Path(__file__).with_name("occupations.txt")).read_text(encoding="utf-8").splitlines()
    if (word := line.partition("#")[0].strip())
]
FOR_BOTH = frozenset((NounKind.COMMON, NounKind.GENERIC, NounKind.FIXED))
PAIR = frozenset((NounKind.MASCULINE, NounKind.FEMININE))


def kinds(language: Language, forms: frozenset[str]) -> frozenset[NounKind]:
    """The kinds of all nouns with one of `forms`, alone or as the first word of a compound."""
    alone = (reading.kind for form in forms for reading in language.nouns.get(form, ()))
    compounds = (reading.kind for form in forms for _, reading in language.phrases.get(form, ()))
    return frozenset((*alone, *compounds))


def test_the_list_is_whole() -> None:
    assert len(OCCUPATIONS) == len(set(OCCUPATIONS)) > 750
    assert {"ceo", "undergraduate", "phlebotomist", "sewing machine operator"} <= set(OCCUPATIONS)


@pytest.mark.parametrize("code", BUILT_IN)
def test_every_occupation_is_known_for_women_and_men(code: str) -> None:
    language = get_language(code)
    translations = KnownTranslations(language)
    missing, one_sided = [], []
    for word in OCCUPATIONS:
        found = kinds(language, translations.of(word))
        if not found:
            missing.append(word)
        elif not (found & FOR_BOTH or found >= PAIR):
            one_sided.append(word)
    assert missing == []
    assert one_sided == []


def test_a_word_that_no_table_has_is_missing() -> None:
    for code in BUILT_IN:
        assert not KnownTranslations(get_language(code)).of("flibbertigibbet")


def test_a_noun_for_women_alone_is_one_sided() -> None:
    german = get_language("de")
    assert kinds(german, KnownTranslations(german).of("ballerina")) == {NounKind.FEMININE}
