"""The strategy of a translation with the person's gender: one gender, both with the sign that joins
them, or a neutral word.

It follows from the call: where that names both genders, its evidence has the sign; where it shows
none, the head is looked up in the language's ``[neutral_nouns]``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mtbias.language.definition import Language
from mtbias.reading.words import SentenceWord, feature_values
from mtbias.types import Gender, GenderCall, Reason, Strategy

_SIGNS = {
    "/": Strategy.SLASH,
    "(": Strategy.BRACKETS,
    "*": Strategy.STAR,
    ":": Strategy.COLON,
    "_": Strategy.GAP,
    **dict.fromkeys("·•.-", Strategy.POINT),
}
_SIGN = re.compile(r"(?<=\w)[\s-]*?([/(*:_·•.]|-(?=\w))[\s-]*(?=\w)")
_COMPLEMENT = frozenset(("ADJ", "ADP", "NOUN"))


def strategy(
    call: GenderCall, words: Sequence[SentenceWord], text: str, language: Language
) -> Strategy | None:
    """The translation's strategy by the call on it, whose target renders the person.

    Args:
        call: that of the policy.
        words: those of the translation.
        text: the translation.
        language: its tables.
    """
    if call.gender is Gender.NEUTRAL:
        return _for_both(call, text)
    if call.gender is not None:
        return Strategy(call.gender)
    rules = {piece.rule for piece in call.evidence}
    if call.reason is Reason.AMBIGUOUS or "foreign_word" in rules:
        return None
    form = language.fold(text[slice(*call.target[0])])
    ending, kind = language.neutral_noun(form)
    # An office in the person's place, or something that is none.
    if call.reason is Reason.NO_PERSON:
        return kind if kind is Strategy.COLLECTIVE else None
    # No participle is of fixed gender, and every collective is: es *agente* ends like *gente*.
    fixed = "fixed_gender_noun" in rules
    if kind is (Strategy.PARTICIPLE if fixed else Strategy.COLLECTIVE):
        return Strategy.EPICENE
    # By itself such a word says nothing of an occupation: *Lehrperson*, *persona encargada*, but
    # *persona*.
    alone = any(base == ending for _, base in language.bases(form))
    if kind is Strategy.COMPOUND and alone and not _has_complement(call, words):
        return Strategy.EPICENE
    return kind


def _for_both(call: GenderCall, text: str) -> Strategy:
    """The strategy of a neutral call: the sign in the word, or how the two forms are written."""
    neutral = next(piece for piece in call.evidence if piece.gender is Gender.NEUTRAL)
    if neutral.rule == "neutral_ending":
        return Strategy.ENDING
    if not call.both_forms:  # de "das Vorsitzende"
        return Strategy.EPICENE
    if neutral.rule in ("both_nouns", "both_sexes"):
        return Strategy.PAIR
    written = neutral.word
    spelling = neutral.rule == "spelling_for_both"
    if spelling:
        # The table's expression may reach beyond the word as `Language.tokens` cuts it (he עובד/ת).
        written = text[call.target[0].start :].split(maxsplit=1)[0]
    sign = _SIGN.search(written)
    if sign:
        return _SIGNS[sign[1]]
    return Strategy.CAPITAL if spelling else Strategy.PAIR


def _has_complement(call: GenderCall, words: Sequence[SentenceWord]) -> bool:
    """An adjective, participle, noun, preposition or relative clause directly follows the head,
    or before it an adjective that renders the entity with it (ru *должностное лицо* for
    *official*).
    """
    head = next((n for n, w in enumerate(words) if w.span == call.target[0]), None)
    if head is None:
        return False
    if head and "ADJ" in words[head - 1].tags and words[head - 1].span in call.target:
        return True
    behind = words[head + 1] if head + 1 < len(words) else None
    if behind is None:
        return False
    if any("Rel" in value for value in feature_values(behind.tagged, "PronType")):
        return True
    participle = "Part" in feature_values(behind.content, "VerbForm")
    return behind.joined and (participle or not _COMPLEMENT.isdisjoint(behind.tags))
