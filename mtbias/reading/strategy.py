"""What a translation does with the person's gender: one gender, both with the sign that joins them,
or a neutral word.

It follows from the call: the evidence of one that names both genders has the sign, and the head of
one that shows no gender is looked up in the language's ``[neutral_nouns]``.
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
    """What the translation does, by the call on it, which found a word that renders the person.

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
    ending, found = language.neutral_noun(form)
    # An office in the person's place, or something that is none.
    if call.reason is Reason.NO_PERSON:
        return found if found is Strategy.COLLECTIVE else None
    # By itself such a word says nothing of an occupation: *Lehrperson*, *persona encargada*, but
    # *persona*.
    alone = found is Strategy.COMPOUND and any(base == ending for _, base in language.bases(form))
    # No participle is of fixed gender, and every collective: es *agente* ends like *gente*.
    fixed = "fixed_gender_noun" in rules
    other = found is (Strategy.PARTICIPLE if fixed else Strategy.COLLECTIVE)
    return Strategy.EPICENE if other or (alone and not _has_complement(call, words)) else found


def _for_both(call: GenderCall, text: str) -> Strategy:
    """The strategy of a neutral call: the sign in the word, or how the two forms are written."""
    said = next(e for e in call.evidence if e.gender is Gender.NEUTRAL)
    if said.rule == "neutral_ending":
        return Strategy.ENDING
    if not call.both_forms:  # de "das Vorsitzende"
        return Strategy.EPICENE
    if said.rule in ("both_nouns", "both_sexes"):
        return Strategy.PAIR
    spelling = said.rule == "spelling_for_both"
    # The table's expression may reach beyond the word as `Language.tokens` cuts it (he עובד/ת).
    sign = _SIGN.search(
        text[call.target[0].start :].split(maxsplit=1)[0] if spelling else said.word
    )
    if sign:
        return _SIGNS[sign[1]]
    return Strategy.CAPITAL if spelling else Strategy.PAIR


def _has_complement(call: GenderCall, words: Sequence[SentenceWord]) -> bool:
    """An adjective, participle, noun, preposition or relative clause stands right behind the head,
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
    relative = any("Rel" in value for value in feature_values(behind.tagged, "PronType"))
    participle = "Part" in feature_values(behind.content, "VerbForm")
    return relative or (behind.joined and (participle or not _COMPLEMENT.isdisjoint(behind.tags)))
