"""The agreements of forms: gender, case and number, several of each for most forms, and those that
forms share.
"""

from __future__ import annotations

from collections.abc import Iterable

from mtbias.language.grammar import ANY, Agreement, NounKind, NounReading
from mtbias.types import Gender

PERSONAL = (Gender.MALE, Gender.FEMALE)
GENDER_OF_LETTER = {"m": Gender.MALE, "f": Gender.FEMALE, "n": Gender.NEUTRAL}
_OPEN = ("nom", "voc", "dat", "ins", "loc", "*")


def reading_agreements(reading: NounReading) -> list[Agreement]:
    """The agreements of one reading of a noun.

    Feminine agreement with a masculine form that is also used of women (наша врач, с новой врачом)
    is never read on a genitive or accusative: uk *бухгалтера* is an accusative, so the *догану*
    before it, which ends like a feminine adjective, cannot belong to it.
    """
    allowed = reading.agreements or (ANY,)
    if reading.kind is NounKind.GENERIC:
        return [Agreement("*" if a.case in _OPEN else "m", a.case, a.number) for a in allowed]
    gender = {NounKind.MASCULINE: "m", NounKind.FEMININE: "f"}.get(reading.kind, "*")
    return [Agreement(gender if a.gender == "*" else a.gender, a.case, a.number) for a in allowed]


def only_gender(allowed: Iterable[Agreement]) -> Gender | None:
    """The one gender of a person that `allowed` leaves; neuter counts only where it is alone:
    de *dem* is masculine or neuter, and a person is rarely neuter.
    """
    letters = {a.gender for a in allowed}
    if "*" in letters:
        return None
    if len(letters) > 1:
        letters -= {"n"}
    return GENDER_OF_LETTER[letters.pop()] if len(letters) == 1 else None


def listed(allowed: Iterable[Agreement]) -> str:
    """Agreements for a reader: ``f.dat.sg m.nom.sg``."""
    return " ".join(sorted({".".join(a) for a in allowed}))


def fits(allowed: str, read: str | None) -> bool:
    """Whether a case or number that a form allows is the one that was read, or none was."""
    return read is None or allowed in ("*", read)
