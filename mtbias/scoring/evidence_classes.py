"""What kinds of evidence a call rests on: where the noun is in the table of nouns for people, and where not."""

from __future__ import annotations

from enum import StrEnum

from mtbias.decide import FIXED_GENDER, GENERIC
from mtbias.types import Evidence, Gender, GenderCall


class EvidenceClass(StrEnum):
    """What a call rests on: the first evidence that says what was called, and whether the table has the noun."""

    NOUN = "noun in the table"
    """The noun's form, as the language's table of nouns for people has it."""
    GENERIC = "masculine noun in the table, also used of women"
    """Such a noun, with nothing feminine beside it."""
    AGREEMENT = "what agrees with a noun in the table"
    """An article, contraction, title, name, adjective or verb, where the noun itself is silent or yields."""
    BOTH = "both forms"
    """The translation names both genders: neutral."""
    ENDING = "ending of a noun outside the table"
    """An ending of nouns for people."""
    TAGGER = "tagger, noun outside the table"
    """The tagger's gender of the noun, at this place or over the corpus."""
    AGREEMENT_OUTSIDE = "what agrees with a noun outside the table"
    """As `AGREEMENT`, where the table does not have the noun."""


OUTSIDE = (EvidenceClass.ENDING, EvidenceClass.TAGGER, EvidenceClass.AGREEMENT_OUTSIDE)
"""The classes of calls on words that the table does not have."""


def evidence_class(call: GenderCall) -> EvidenceClass | None:
    """The class of a call; None where nothing was called.

    Edge cases: a call without evidence rests on nothing that the table has.
    """
    if call.gender is None:
        return None
    if call.gender is Gender.NEUTRAL:
        return EvidenceClass.BOTH
    first = next((piece for piece in call.evidence if piece.gender is call.gender), None)
    in_table = any(piece.kind == "noun" and piece.source == "lexicon" for piece in call.evidence)
    if first is None or first.kind != "noun":
        return EvidenceClass.AGREEMENT if in_table else EvidenceClass.AGREEMENT_OUTSIDE
    if in_table:
        return EvidenceClass.GENERIC if _generic(first) else EvidenceClass.NOUN
    return EvidenceClass.ENDING if first.source == "form" else EvidenceClass.TAGGER


def _generic(noun: Evidence) -> bool:
    """The table says that the masculine form is used of women, too."""
    return noun.source == "lexicon" and noun.detail.startswith(GENERIC)


def withheld(call: GenderCall) -> bool:
    """No call because the head is a noun of fixed grammatical gender."""
    return call.gender is None and any(piece.detail.startswith(FIXED_GENDER) for piece in call.evidence)
