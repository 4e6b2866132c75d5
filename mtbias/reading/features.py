"""The second reader: the gender that Stanza's ``Gender`` features alone show of the person's noun
phrase.

The word that renders the person is the first reader's (`mtbias.reading.decision`), and so is the
answer whether it names one. The gender is that of the head's feature, and of the features of the
determiners and adjectives beside it that differ from it in neither case nor number. Tables of
forms, predicates and pronouns are not used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from mtbias.language.definition import Language
from mtbias.reading.syntax import syntax_of
from mtbias.reading.words import GLUED, MODIFIER, NOMINAL, feature_values, tagged_gender
from mtbias.types import Analysis, Evidence, Gender, GenderCall, Reason, Span, Token, Word

FEATURES = "stanza/1"
"""Name of the reader in a run's identity; another number where it reads otherwise."""
STANZA = "stanza"
"""Source of its evidence."""
_NOBODY = (Reason.UNTRANSLATED, Reason.UNALIGNED, Reason.NO_PERSON, Reason.COPIED)
"""Reasons that leave no person to be read."""


def read_features(call: GenderCall, analysis: Analysis, language: Language) -> GenderCall:
    """The second reader's call at the head of the first reader's.

    A feature of both genders (``Gender=Fem,Masc``) is not evidence, nor is neuter, which is not a
    person's gender. Evidence of both genders is ambiguous; without evidence there is no call.

    Args:
        call: the first reader's, whose head is read.
        analysis: the translation's morphology.
        language: says on which side of a noun its adjectives are.
    """
    if call.reason in _NOBODY or not call.target:
        return call
    evidence = tuple(_evidence(call, analysis.tokens, language))
    genders = {piece.gender for piece in evidence if piece.gender}
    if len(genders) == 1:
        return GenderCall(call.id, genders.pop(), None, call.target, evidence)
    reason = Reason.AMBIGUOUS if genders else Reason.NO_MORPHOLOGY
    return GenderCall(call.id, None, reason, call.target, evidence)


def with_features(call: GenderCall, analysis: Analysis, language: Language) -> GenderCall:
    """The first reader's call, and beside it the gender that the second one calls."""
    return replace(call, stanza_gender=read_features(call, analysis, language).gender)


def _evidence(call: GenderCall, tokens: Sequence[Token], language: Language) -> Iterator[Evidence]:
    """The evidence of the head, then of its determiners and adjectives: before it, nearest first,
    and after it.
    """
    places = [n for n, token in enumerate(tokens) if token.span.overlaps(call.target[0])]
    if not places:
        return
    first, last = places[0], places[-1]
    words = list(chain.from_iterable(tokens[n].words for n in places))
    content = [word for word in words if word.upos not in GLUED]
    head = [word for word in content if word.upos in NOMINAL] or content
    yield _piece("noun", [tokens[n] for n in places], head)
    # it "dell'insegnante" may be one token: its article is in it. Hebrew's and Arabic's shows no
    # gender.
    articles = [word for word in words if word.upos == "DET" and word.feat("Gender")]
    beside = [(tokens[first], articles)]
    beside += [(token, _modifiers(token)) for token in _before(tokens, first)]
    if syntax_of(language).attributes_follow:
        beside += [(token, list(token.words)) for token in _after(tokens, last)]
    for token, modifiers in beside:
        if modifiers and all(_agree(modifiers, head, feature) for feature in ("Case", "Number")):
            kind = "determiner" if {w.upos for w in modifiers} == {"DET"} else "adjective"
            yield _piece(kind, [token], modifiers)


def _modifiers(token: Token) -> list[Word]:
    return [word for word in token.words if word.upos in MODIFIER]


def _before(tokens: Sequence[Token], head: int) -> Iterator[Token]:
    """The determiners, adjectives and numerals before the head, nearest first; no adjective before
    a determiner.
    """
    determiner = False
    for token in reversed(tokens[:head]):
        tags = {word.upos for word in token.words}
        if not tags - {"ADP"} or not tags <= MODIFIER | {"ADP"}:
            return
        if determiner and "DET" not in tags:
            return
        yield token
        determiner = "DET" in tags
        if "ADP" in tags:  # a contraction opens its phrase: es "al médico"
            return


def _after(tokens: Sequence[Token], head: int) -> Iterator[Token]:
    """The adjectives and determiners right after the head."""
    for token in tokens[head + 1 :]:
        if not {word.upos for word in token.words} <= {"ADJ", "DET"}:
            return
        yield token


def _agree(left: Iterable[Word], right: Iterable[Word], feature: str) -> bool:
    """Both show the feature and share a value, or one of them does not show it."""
    mine, its = feature_values(left, feature), feature_values(right, feature)
    return not (mine and its) or not mine.isdisjoint(its)


def _piece(kind: str, tokens: Sequence[Token], words: Iterable[Word]) -> Evidence:
    gender, feature = tagged_gender(words)
    shown = None if gender is Gender.NEUTRAL else gender
    text = " ".join(token.text for token in tokens)
    span = Span(tokens[0].span.start, tokens[-1].span.end)
    return Evidence("features_alone", kind, text, span, shown, STANZA, feature or "no gender")
