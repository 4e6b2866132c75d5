"""What each number of machine translation is: declared once, read by tables, pages, plots,
comparison and correction.

A new number is a table in ``data/numbers.toml`` and a line in the function that computes it
(`mtbias.scoring.bias`, `mtbias.scoring.consistency`); a measure of one's own makes a `Number` of
each (`mtbias.scoring.measure`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence, Sized
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Literal, Protocol, TypeVar

from mtbias.types import JsonDict, frozen

IntervalMethod = Literal["wilson", "bootstrap"]
"""How the 95 % interval of a number is made: Wilson's score interval of a single share, or the
percentile bootstrap."""

ALL_ROWS, WITH_CALL = WHOLE = ("n", "decided")
"""The classes of rows at the head of a group: all, and those with a call if the measure has
calls."""


class Unit(StrEnum):
    """In what a number is given."""

    PERCENT = "per cent"
    POINTS = "points"
    """A difference of two percentages."""
    OWN = "units of the score"
    """Of the scale that the user's scores have."""


class Best(StrEnum):
    """Where a number is best."""

    HIGH = "high"
    """At 100."""
    ZERO = "zero"
    """At 0, as a difference (the further away on either side, the more unequal) or a share of
    errors."""
    EVEN = "even"
    """At 50, for the share of one gender: more and less are equally unequal."""
    OPEN = "open"
    """Nowhere: no value is better than another, and systems are not ranked in it."""

    @property
    def at(self) -> float | None:
        """The best value; None if there is none."""
        return {Best.HIGH: 100.0, Best.ZERO: 0.0, Best.EVEN: 50.0}.get(self)


@frozen
class Number:
    """One number of a group of rows, as `metrics.json` has it."""

    key: str
    """Its name in `metrics.json` and in data frames."""
    label: str
    """Its name for people."""
    short: str = ""
    """The label where there is little room; by default `label`."""
    unit: Unit = Unit.PERCENT
    decimals: int = 1
    """With which it is shown."""
    rests_on: tuple[str, ...] = ("n",)
    """The classes of rows that it rests on, of those that a group counts.

    They are keys at the head of a group (`WHOLE`) or of ``denominators``. Its denominator,
    if there is one; a bootstrap interval needs `MIN_ROWS` rows in each.
    """
    best: Best = Best.HIGH
    about: str = ""
    """One sentence for readers."""
    reading: str = ""
    """What a page says below its value, for numbers without `above` and `below`.

    A format string over its group (``{accuracy_bounds[1]}``).
    """
    above: str = ""
    """What an interval above 0 says, for numbers that are best at 0."""
    below: str = ""
    interval: IntervalMethod | None = None
    """How its interval is made, which `metrics.json` has under ``ci``; None: it has none.

    ``wilson`` for a share of the rows of one class (of `rests_on`): it holds for few rows and at 0
    and 100 %, where the bootstrap collapses to a point. ``bootstrap`` for everything that is not a
    single share: F1, differences.
    """
    coverage: bool = False
    """Whether it is the share of rows that have a result at all: it is shown beside n."""
    headline: bool = False
    """Whether it is shown in tables of papers, in plots, at the head of a page, and with its
    interval in all tables."""
    whole: bool = False
    """Whether only all rows together have it: tables and plots of groups leave it out."""
    listed: bool = False
    """Whether long lists of groups (entities) have it; where no number is listed they have those of
    the headline."""
    compared: bool = False
    """Whether systems are compared in it."""
    corrected: bool = False
    """Whether it is corrected for the errors of the evaluator."""
    place: str = ""
    """Of a number over pairs: the part of ``consistency`` in `metrics.json` that has it."""
    name: str = ""
    """And its name there; by default `key`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "short", self.short or self.label)
        object.__setattr__(self, "name", self.name or self.key)
        if self.interval == "wilson" and len(self.rests_on) != 1:
            classes = ", ".join(self.rests_on)
            raise ValueError(
                f"{self.key}: expected one class of rows for Wilson's interval, got {classes}; "
                'declare interval="bootstrap"'
            )


class _Rated(Protocol):
    @property
    def key(self) -> str: ...
    @property
    def best(self) -> Best: ...


_N = TypeVar("_N", bound=_Rated)


CALLED = "decided_percent"
"""Key of the share of rows that have a call, in every measure that has such a share."""


def decisive(numbers: Iterable[_N]) -> _N | None:
    """In which of `numbers` one system is better than another: accuracy, else the first that is
    best when high; None where nothing is. More calls alone make no system better.
    """
    high = [number for number in numbers if number.best is Best.HIGH and number.key != CALLED]
    return next((number for number in high if number.key == "accuracy"), high[0] if high else None)


@frozen
class Breakdown:
    """A property by which `metrics.json` groups the rows."""

    key: str
    """Its name there: ``by_domain``."""
    label: str = ""
    """Its name for people; by default that of the key."""
    short: str = ""
    """The label as the head of a column; by default `label`."""
    long: bool = False
    """Whether it has too many groups for a terminal: a page has a list to sort, with few
    numbers."""

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "label", self.label or self.key.removeprefix("by_").replace("_", " ")
        )
        object.__setattr__(self, "short", self.short or self.label)


BY_ENTITY = "by_entity"
"""The breakdown by what a sentence is about."""
BREAKDOWNS = (
    Breakdown("by_domain"),
    Breakdown("by_pronouns", "pronouns in the source", "pronouns"),
    Breakdown("by_corpus_pronouns", "pronouns as the corpus counts them", "the corpus's pronouns"),
    Breakdown("by_stereotype"),
    Breakdown(BY_ENTITY, long=True),
)

_LONG = 40
"""A breakdown that is declared nowhere is long where it has more groups than this."""


def breakdowns(*runs: Mapping[str, Sized]) -> list[Breakdown]:
    """The breakdowns that any run has with groups: `BREAKDOWNS` first, others as they come.

    `runs` are the groups of each run by breakdown (`mtbias.scoring.metrics_records.RunMetrics.by`).
    """
    sizes: dict[str, int] = {}
    for by in runs:
        for key, groups in by.items():
            if groups:
                sizes[key] = len(groups)
    declared = [breakdown for breakdown in BREAKDOWNS if breakdown.key in sizes]
    known = {breakdown.key for breakdown in declared}
    others = [key for key in sizes if key not in known]
    return [*declared, *(Breakdown(key, long=sizes[key] > _LONG) for key in others)]


CLASSES = {"male": "men", "female": "women", "pro": "with the stereotype", "anti": "against it"}
"""The classes of rows that numbers rest on, for people; others have their names."""


@cache
def _tables() -> Mapping[str, list[JsonDict]]:
    return tomllib.loads(
        resources.files("mtbias.scoring")
        .joinpath("data", "numbers.toml")
        .read_text(encoding="utf-8")
    )


def declared(measure: str) -> tuple[Number, ...]:
    """The numbers that ``data/numbers.toml`` declares for a measure, in the order in which
    `metrics.json` has them.
    """
    return tuple(map(_declaration, _tables()[measure]))


def _declaration(row: JsonDict) -> Number:
    """The number of a table of ``data/numbers.toml``."""
    unit = Unit(row.get("unit", Unit.PERCENT))
    best = Best(row.get("best", Best.HIGH))
    rests_on = tuple(row.get("rests_on", ["n"]))
    return Number(**{**row, "unit": unit, "best": best, "rests_on": rests_on})


def named(numbers: Sequence[Number], key: str) -> Number:
    """The number called `key`.

    Raises:
        KeyError: there is none.
    """
    return {number.key: number for number in numbers}[key]


GENDER_NUMBERS = declared("gender")
"""The gender of an entity by morphology: the numbers of every group, in the order in which
`metrics.json` has them."""
ACCURACY, DELTA_G, DELTA_S = (
    named(GENDER_NUMBERS, key) for key in ("accuracy", "delta_g", "delta_s")
)

CONSISTENCY = declared("consistency")
"""Consistency over pairs of sentences that differ in gender alone
(`mtbias.scoring.consistency`)."""
DELTA_I = named(CONSISTENCY, "delta_i")


def interval_methods(numbers: Sequence[Number]) -> dict[str, IntervalMethod]:
    """How the interval of each number is made, by key; numbers without intervals are not in it."""
    return {number.key: number.interval for number in numbers if number.interval is not None}
