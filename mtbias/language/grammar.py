"""The values in which a language is described: kinds of nouns, what forms agree with, the rules of
its predicates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import StrEnum
from functools import lru_cache
from itertools import product
from os.path import commonprefix
from typing import NamedTuple

from mtbias.types import Gender, Span, frozen

CASES = frozenset(("nom", "gen", "dat", "acc", "ins", "loc", "voc"))


class NounKind(StrEnum):
    """The kinds of nouns for a person, by the gender that the form shows."""

    MASCULINE = "m"
    FEMININE = "f"
    COMMON = "common"
    """One form for both; only an article, an adjective or the predicate tells."""
    GENERIC = "generic"
    """Masculine in form and used of women too: feminine agreement overrules it."""
    INCLUSIVE = "inclusive"
    """A form written so as to mean both genders (de *Lehrer*in*): it says neutral."""
    FIXED = "fixed"
    """A noun whose grammatical gender says nothing about the person (*persona*, *Person*,
    *жертва*)."""
    THING = "thing"
    """A rendering that names no person (es *motor* for *mover*, de *Bäckerei* for *baker*)."""

    @property
    def is_personal(self) -> bool:
        """Its grammatical gender, or that of what agrees with it, is the person's."""
        return self not in (NounKind.FIXED, NounKind.THING)

    @property
    def gender(self) -> Gender | None:
        """The gender that the form tells by itself."""
        return _TOLD.get(self)


_TOLD = {
    NounKind.MASCULINE: Gender.MALE,
    NounKind.GENERIC: Gender.MALE,
    NounKind.FEMININE: Gender.FEMALE,
    NounKind.INCLUSIVE: Gender.NEUTRAL,
}


class Agreement(NamedTuple):
    """The gender, case and number that a form may have; ``*`` is any value. A form mostly allows
    several.
    """

    gender: str
    case: str
    number: str


ANY = Agreement("*", "*", "*")


def meet(left: Iterable[Agreement], right: Iterable[Agreement]) -> list[Agreement]:
    """The agreements that both sides allow, each once."""
    return list(_met(tuple(left), tuple(right)))


@lru_cache(maxsize=1 << 14)  # the forms of a corpus come again and again
def _met(left: tuple[Agreement, ...], right: tuple[Agreement, ...]) -> tuple[Agreement, ...]:
    met: dict[Agreement, None] = {}
    for one, other in product(left, right):
        values = tuple(map(_shared, one, other))
        if "" not in values:
            met[Agreement(*values)] = None
    return tuple(met)


def _shared(one: str, other: str) -> str:
    """The value that two values of an agreement allow; empty if there is none."""
    if other == "*":
        return one
    return other if one in ("*", other) else ""


class NounReading(NamedTuple):
    """One reading of a form found in the plugin's table of nouns for people."""

    lemma: str
    kind: NounKind
    agreements: tuple[Agreement, ...]
    """The agreement of the form's ending; empty where the table has none."""


class SurfaceToken(NamedTuple):
    """A word of a text as `Language.tokens` cuts it, elided articles split off."""

    span: Span
    text: str
    form: str
    """`text` folded for look-ups: lower case, marks deleted, variant letters unified."""


@frozen
class WordFacts:
    """All that a language says of one surface form, whatever is around it; see
    `Language.facts`.
    """

    text: str
    """The surface form."""
    form: str
    """`text` folded for look-ups."""
    bases: frozenset[str]
    """`form`, and what is left of it where a written-on article or preposition is cut."""
    readings: tuple[NounReading, ...]
    """Readings in the table of nouns for people; empty where the form is not in it."""
    dictionary_forms: frozenset[str]
    """`bases` and the folded lemmas of `readings`: what the glossary may know the word by."""
    names_person: bool
    """One of `readings` is a noun for a person whose gender is not fixed."""
    ending: tuple[str, NounKind] | None
    """The ending of a noun for people that the form has, with what it says."""
    ends_like_person: bool
    """It ends like a noun for people whose gender is not fixed, and is not in the table."""
    adjective: tuple[Agreement, ...]
    """The agreements of the form's ending if it is an adjective; empty where the table has none."""


@frozen
class VerbRules:
    """How a predicate shows the gender of its subject."""

    order: str = "after"
    skip: frozenset[str] = frozenset()
    copulas: frozenset[str] = frozenset()
    endings: tuple[tuple[str, Agreement], ...] = ()
    """Ending of a finite verb → the gender and number of its subject, longest first."""
    words: Mapping[str, Agreement] = field(default_factory=dict)
    """Whole finite verbs, looked up before the endings."""
    feminine: str = ""
    """Regular expression that a form must match for the tagger's feminine to be believed; empty
    believes it always."""
    invariant: str = ""
    """Regular expression for participles that agree with nothing (fr *-ant*)."""
    oblique: frozenset[str] = frozenset()
    """Words that mark what follows as no subject (he *את*), beside what the tagger calls a
    preposition."""
    short: Mapping[str, Agreement] = field(default_factory=dict)
    """Predicative forms that need no copula (ru *готова*)."""
    auxiliaries: frozenset[str] = frozenset()
    """Forms that may come right before a copula (fr *a été*)."""
    reflexives: frozenset[str] = frozenset()
    reflexive_copulas: frozenset[str] = frozenset()
    """Forms that are copulas only behind one of `reflexives` (es *se sentía cansada*)."""

    def ending(self, form: str) -> tuple[str, Agreement] | None:
        """The longest of `endings` that a folded form has, with what it shows."""
        return next((each for each in self.endings if form.endswith(each[0])), None)


@frozen
class SpeakerRules:
    """How a sentence in the first person shows the gender of who speaks."""

    pronouns: frozenset[str] = frozenset()
    """"I"."""
    verbs: frozenset[str] = frozenset()
    """Forms of the first person singular, beside what the tagger reads as one (cs *jsem*,
    *abych*)."""
    copulas: frozenset[str] = frozenset()
    """Forms that join an adjective or participle to the speaker, beside those of `VerbRules`; where
    nouns show no case they are of the first person alone (es *soy*)."""
    reflexive_copulas: frozenset[str] = frozenset()
    """Forms that do so only behind one of `VerbRules.reflexives` (es *me siento*)."""
    bare_predicate: bool = False
    """The present has no copula (ru *я рада*, he *אני עייפה*)."""
    bare_past: bool = False
    """Past tenses show no person: a clause without a subject may continue about the speaker (ru
    *пришла и увидела*)."""
    accusative: str = ""
    """Regular expression for feminine nouns in an accusative that is not a nominative (ru *-у*,
    *-ю*)."""
    silent: str = ""
    """Regular expression for forms that are written alike for both genders, whatever the tagger
    reads (he *רוצה*)."""
    words: Mapping[str, Agreement] = field(default_factory=dict)
    """Words that agree with the subject wherever they occur in its clause (cs *ráda*, ru
    *сама*)."""


def shared_beginning(*words: str) -> str:
    """The letters with which all `words` begin."""
    return commonprefix(words)  # noqa: RUF071 - of letters, not of paths
