"""The whole person: whether every word that agrees with a person of the source is in the person's
gender.

A person's call is ``right`` if all words that show a gender show the right one, ``wrong`` if none
does, ``mixed`` if some do. If no word shows a gender, there is no call but a reason.

Source: our own definition.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from enum import StrEnum
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from mtbias.english.mentions import MentionKind
from mtbias.files.strict_json import EXACT
from mtbias.scoring.counting import Counting
from mtbias.scoring.definitions import declared
from mtbias.stats.results import Counts, Floats, Tables, percent
from mtbias.types import Evidence, Gender, JsonObject, Span, frozen


class Outcome(StrEnum):
    """What the words of one person show together."""

    RIGHT = "right"
    """All of them the person's gender."""
    MIXED = "mixed"
    """Some of them."""
    WRONG = "wrong"
    """None of them."""


class Unjudged(StrEnum):
    """Why a person has no call."""

    UNTRANSLATED = "untranslated"
    """There is no translation, or an empty one."""
    NO_GENDER = "no gold gender"
    """The source tells neither a man nor a woman."""
    NO_PERSON = "no person"
    """No word of the source was found that is the person of the corpus."""
    NOT_CUT = "not cut"
    """It is not certain which part of the translation renders the sentence."""
    NOTHING_SHOWN = "nothing shown"
    """Words render the person, and none of them shows a gender."""
    UNALIGNED = "unaligned"
    """No word was found that renders any mention of the person."""


@frozen
class PersonWord:
    """A word of the translation that shows the person's gender."""

    __pydantic_config__: ClassVar = EXACT

    word: str
    span: Span
    """Characters of the translation."""
    gender: Gender
    right: bool
    """It is the person's."""
    rule: str
    """Name of the rule of the reading (`mtbias.reading.rules`)."""
    shows: str
    """What the form shows: ``Gender=Fem``, ``-trice``, ``m.nom.sg``, a lemma."""
    source: str
    """What says so (`mtbias.types.Evidence`)."""


def person_word(piece: Evidence, gender: Gender, gold: Gender) -> PersonWord:
    """The word of a piece of evidence that shows `gender`, of a person whose gender is `gold`."""
    right = gender is gold
    return PersonWord(piece.word, piece.span, gender, right, piece.rule, piece.shows, piece.source)


@frozen
class ReadMention:
    """One place at which the source names the person, with what renders it."""

    __pydantic_config__: ClassVar = EXACT

    kind: MentionKind
    mention: str
    """Its head word as in the source."""
    source_span: Span
    """Characters of the source."""
    target: tuple[Span, ...]
    """Characters of the translation that render it, the head first; empty where none were found."""
    words: tuple[PersonWord, ...]
    """Those that show a gender; a word that another mention before it has is not there again."""
    reason: str | None
    """Why none shows one; None where one does, or an earlier mention has the words."""


@frozen
class PersonRecord:
    """A line of `calls.jsonl`: a person of the source, and the words of the translation that agree
    with that person.
    """

    __pydantic_config__: ClassVar = EXACT

    id: str
    row: int
    source: str
    translation: str | None
    entity: str
    gold: Gender | None
    domain: str
    outcome: Outcome | None
    reason: Unjudged | None
    """Why there is no call."""
    mentions: tuple[ReadMention, ...]
    """The chain, in the order of the source."""

    def __post_init__(self) -> None:
        if (self.outcome is None) == (self.reason is None):
            raise ValueError("a person has either a call or a reason for having none")

    @property
    def words(self) -> list[PersonWord]:
        """The words that show a gender, in the order of the translation."""
        words = chain.from_iterable(mention.words for mention in self.mentions)
        return sorted(words, key=lambda word: word.span)

    def to_json(self) -> JsonObject:
        """The object of the line."""
        return asdict(self)


def outcome_of(words: Iterable[PersonWord]) -> Outcome | None:
    """What words show together; None if there are none."""
    shown = {word.right for word in words}
    if not shown:
        return None
    if len(shown) > 1:
        return Outcome.MIXED
    return Outcome.RIGHT if shown == {True} else Outcome.WRONG


NUMBERS = declared("whole_person")
OTHER = "other"
"""Gold gender of neither a man nor a woman, or none."""
GOLDS = (Gender.MALE, Gender.FEMALE, OTHER)
OUTCOMES = (*Outcome, *Unjudged)
_OF_PERSONS, _MEN, _WOMEN = slice(0, 2), 0, 1
_JUDGED = slice(0, len(Outcome))
_RIGHT, _MIXED, _WRONG = range(len(Outcome))


def _gold(record: Any) -> str:  # noqa: ANN401 - a record of the measure
    return record.gold if record.gold in GOLDS else OTHER


def _outcome_or_reason(record: Any) -> str:  # noqa: ANN401
    return str(record.outcome or record.reason)


def person_rates(tables: Tables) -> dict[str, Floats]:
    """The numbers of tables ``[..., 3, 9]`` (gold × call, or why there is none), each ``[...]``,
    NaN where undefined; per cent.

    - decided_percent = persons with a call / men and women of the source
    - all_right = right / persons with a call; all_right_male and all_right_female the same of
      men and of women; gap = all_right_male − all_right_female, in points
    - mixed, wrong: of persons with a call
    """
    persons = tables[..., _OF_PERSONS, :]
    judged = persons[..., _JUDGED].sum(axis=-1)
    whole = judged.sum(axis=-1)
    outcomes = persons.sum(axis=-2)
    men = percent(persons[..., _MEN, _RIGHT], judged[..., _MEN])
    women = percent(persons[..., _WOMEN, _RIGHT], judged[..., _WOMEN])
    return {
        "decided_percent": percent(whole, persons.sum(axis=(-1, -2))),
        "all_right": percent(outcomes[..., _RIGHT], whole),
        "all_right_male": men,
        "all_right_female": women,
        "gap": men - women,
        "mixed": percent(outcomes[..., _MIXED], whole),
        "wrong": percent(outcomes[..., _WRONG], whole),
    }


def _classes(table: Counts) -> dict[str, int]:
    judged = table[_OF_PERSONS, _JUDGED]
    return {
        "n": int(table.sum()),
        "decided": int(judged.sum()),
        "persons": int(table[_OF_PERSONS].sum()),
        "judged_male": int(judged[_MEN].sum()),
        "judged_female": int(judged[_WOMEN].sum()),
    }


COUNTING = Counting(
    numbers=NUMBERS,
    axes={"gold": GOLDS, "outcome": OUTCOMES},
    place=lambda record: (GOLDS.index(_gold(record)), OUTCOMES.index(_outcome_or_reason(record))),
    rates=person_rates,
    classes=_classes,
    right=np.broadcast_to(np.arange(len(OUTCOMES)) == _RIGHT, (len(GOLDS), len(OUTCOMES))),
    breakdowns={"gold": _gold, "domain": lambda record: record.domain},
    shown=("entity", "gold"),
)
