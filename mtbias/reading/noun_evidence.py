"""The evidence of the head noun's own form: by the plugin's nouns for people, then by endings that
mark gender, and for other words by the tagger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mtbias.language.grammar import NounKind, NounReading
from mtbias.reading import phrase_evidence
from mtbias.reading.rules import rule
from mtbias.reading.syntax import NounPhrase
from mtbias.reading.words import tagged_gender
from mtbias.types import Evidence, Gender, Span


def noun_evidence(phrase: NounPhrase, *, foreign: bool) -> tuple[Evidence, NounKind | None]:
    """The evidence of the head's own form, and its kind of noun where the plugin knows it.

    An ending goes before the tagger: it reads cs *skláře*, a man's accusative, as a feminine, and
    gives he *מרכב* "chassis" for *mover* the gender that the endings' table knows to be fixed.

    Args:
        phrase: that of the entity.
        foreign: the noun was not translated: it says nothing by itself, whatever the tagger makes
            of it (de *den Chief*, *dem Cleaner*).
    """
    word = phrase.words[phrase.head]
    if word.readings:
        return known_noun(word.text, word.span, phrase_evidence.fitting_readings(phrase))
    if foreign:
        return _evidence("foreign_word", word.text, word.span, None, "form"), NounKind.COMMON
    if word.facts.ending and (word.tags & {"NOUN", "PROPN", "ADJ", "VERB"} or not word.tags):
        ending, kind = word.facts.ending
        name, shows = RULE_OF_KIND[kind], f"-{ending}"
        return _evidence(name, word.text, word.span, kind.gender, "form", shows), kind
    nouns = [w for w in word.content if w.upos in ("NOUN", "PROPN", "ADJ")]
    gender, feature = tagged_gender(nouns or word.content)
    shows = feature or "no gender"
    return _evidence("noun_by_tagger", word.text, word.span, gender, "tagger", shows), None


def known_noun(form: str, span: Span, readings: Sequence[NounReading]) -> tuple[Evidence, NounKind]:
    """The evidence of a form by the plugin's readings of it. With several readings it is silent
    unless they agree.
    """
    kind = _one_kind(frozenset(reading.kind for reading in readings))
    lemmas = ", ".join(sorted({reading.lemma for reading in readings}))
    name = RULE_OF_KIND[kind]
    return _evidence(name, form, span, kind.gender, "lexicon", lemmas), kind


def _one_kind(kinds: frozenset[NounKind]) -> NounKind:
    telling = frozenset(kind for kind in kinds if kind.is_personal)
    telling = telling or kinds - {NounKind.THING}
    if form_of_two_nouns(telling):
        return NounKind.GENERIC
    return min(telling) if len(telling) == 1 else NounKind.COMMON


@rule()
def form_of_two_nouns(kinds: frozenset[NounKind]) -> bool:
    """A form of two nouns, one of which is a man's alone, is one that is used of women, too (he
    *בעלים* "owner"): feminine agreement may still overrule it.
    """
    return kinds == {NounKind.GENERIC, NounKind.MASCULINE}


def _evidence(
    name: str, word: str, span: Span, gender: Gender | None, source: str, shows: str = ""
) -> Evidence:
    return Evidence(name, "noun", word, span, gender, source, shows)


RULE_OF_KIND: Mapping[NounKind, str] = {
    NounKind.MASCULINE: "masculine_noun",
    NounKind.FEMININE: "feminine_noun",
    NounKind.COMMON: "common_noun",
    NounKind.GENERIC: "generic_masculine",
    NounKind.FIXED: "fixed_gender_noun",
    NounKind.THING: "noun_for_thing",
    NounKind.INCLUSIVE: "spelling_for_both",
}
"""Kind of noun → the rule of its evidence."""
