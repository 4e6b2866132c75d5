"""Which occupations a language's table of nouns does not know, or knows for one gender alone.

The list (``occupations.txt``) has the entities of WinoMT and Winogender, the professions of BUG and the occupations of
ISCO-08.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

from mtbias.align.entity_words import KnownTranslations
from mtbias.language.definition import Language
from mtbias.language.grammar import NounKind

_FOR_BOTH = frozenset((NounKind.COMMON, NounKind.GENERIC, NounKind.FIXED))
_PAIR = frozenset((NounKind.MASCULINE, NounKind.FEMININE))


@dataclass(frozen=True, slots=True)
class OccupationCoverage:
    """How far a table of nouns knows the occupations."""

    all: int
    missing: tuple[str, ...]
    """Occupations without any noun."""
    one_sided: tuple[str, ...]
    """Those with nouns for men alone or for women alone."""


@cache
def occupations() -> tuple[str, ...]:
    """The occupations, English, in the order of their sources."""
    text = resources.files("mtbias.new_language").joinpath("occupations.txt").read_text(encoding="utf-8")
    return tuple(word for line in text.splitlines() if (word := line.partition("#")[0].strip()))


def occupation_coverage(language: Language) -> OccupationCoverage:
    """What `language` knows of the occupations, each as a phrase or by its head, as in a sentence."""
    translations = KnownTranslations(language)
    kinds = {word: kinds_of(language, translations.of(word)) for word in occupations()}
    return OccupationCoverage(
        all=len(kinds),
        missing=tuple(word for word, found in kinds.items() if not found),
        one_sided=tuple(word for word, k in kinds.items() if k and not (k & _FOR_BOTH or k >= _PAIR)),
    )


def kinds_of(language: Language, forms: frozenset[str]) -> frozenset[NounKind]:
    """The kinds of all nouns with one of `forms`, alone or as the first word of a compound."""
    alone = (reading.kind for form in forms for reading in language.nouns.get(form, ()))
    compounds = (reading.kind for form in forms for _, reading in language.phrases.get(form, ()))
    return frozenset((*alone, *compounds))
