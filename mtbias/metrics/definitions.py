"""What each number of machine translation is: declared once, read by tables, pages, plots, comparison and correction.

A new number is a line here and a line in the function that computes it (`mtbias.metrics.bias`,
`mtbias.metrics.consistency`); a measure of one's own declares its numbers in the same way (`mtbias.metrics.measure`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Unit(StrEnum):
    """In what a number is given."""

    PERCENT = "per cent"
    POINTS = "points"
    """A difference of two percentages."""


class Best(StrEnum):
    """Where a number is best."""

    HIGH = "high"
    """At 100."""
    ZERO = "zero"
    """At 0: the further away on either side, the more unequal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One number of a group of rows, as `metrics.json` has it."""

    key: str
    """Its name in `metrics.json` and in data frames."""
    label: str
    """Its name for people."""
    short: str = ""
    """The same where there is little room; by default `label`."""
    unit: Unit = Unit.PERCENT
    rests_on: tuple[str, ...] = ("n",)
    """The classes of rows that it rests on, of those that a group counts (``n``, or a key of ``denominators``).

    Its denominator, where there is one; an interval needs `MIN_ROWS` rows in each.
    """
    best: Best = Best.HIGH
    about: str = ""
    """One sentence for readers."""
    formula: str = ""
    """How it follows from other numbers, in their labels."""
    above: str = ""
    """What an interval above 0 says, for numbers that are best at 0."""
    below: str = ""
    interval: bool = False
    """Whether it has a bootstrap interval, which `metrics.json` has under ``ci``."""
    headline: bool = False
    """Whether it stands in tables of papers and at the head of a page."""
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


GENDER: tuple[Number, ...] = (
    Number(key="decided_percent", label="With a call", short="decided", about="Sentences whose translation shows one."),
    Number(
        key="accuracy", label="Accuracy", short="accuracy", interval=True, headline=True, compared=True, corrected=True,
        about="Per cent of all sentences; no call counts as wrong.",
    ),
    Number(key="precision_male", label="Precision, male", rests_on=("called_male",)),
    Number(key="recall_male", label="Recall, male", rests_on=("male",)),
    Number(key="f1_male", label="F1 male", short="F1 m", rests_on=("male",), interval=True),
    Number(key="precision_female", label="Precision, female", rests_on=("called_female",)),
    Number(key="recall_female", label="Recall, female", rests_on=("female",)),
    Number(key="f1_female", label="F1 female", short="F1 f", rests_on=("female",), interval=True),
    Number(
        key="delta_g", label="ΔG", unit=Unit.POINTS, rests_on=("male", "female"), best=Best.ZERO, interval=True,
        headline=True, compared=True, corrected=True, formula="F1 male - F1 female",
        about="F1 male minus F1 female, in points; 0 is even.", above="better for men", below="better for women",
    ),
    Number(key="accuracy_pro", label="Accuracy, stereotype fits", rests_on=("pro",)),
    Number(key="accuracy_anti", label="Accuracy, stereotype broken", rests_on=("anti",)),
    Number(
        key="delta_s", label="ΔS", unit=Unit.POINTS, rests_on=("pro", "anti"), best=Best.ZERO, interval=True,
        headline=True, compared=True, corrected=True, formula="accuracy pro stereotype - anti",
        about="Accuracy where the stereotype fits minus where it does not, in points; 0 is even.",
        above="better with the stereotype", below="better against it",
    ),
    Number(
        key="delta_s_macro_f1", label="ΔS, macro-F1", unit=Unit.POINTS, rests_on=("pro", "anti"), best=Best.ZERO,
        interval=True, formula="the same with the mean of both F1",
    ),
)  # fmt: skip
"""The gender of an entity by morphology: the numbers of every group, in the order in which `metrics.json` has them."""

CONSISTENCY: tuple[Number, ...] = (
    Number(
        key="across", label="I_across", place="across", name="inconsistent", best=Best.ZERO, interval=True,
        compared=True, about="Right for one gender only.",
    ),
    Number(key="male_only", label="man only", place="across", interval=True, best=Best.ZERO,
           about="Right for the man, not for the woman."),
    Number(key="female_only", label="woman only", place="across", interval=True, best=Best.ZERO,
           about="Right for the woman, not for the man."),
    Number(key="both_right", label="both", place="across", about="Right for both."),
    Number(key="neither_right", label="neither", place="across", best=Best.ZERO, about="Right for neither."),
    Number(
        key="within", label="I_within", place="within", name="inconsistent", best=Best.ZERO, interval=True,
        about="Right for one of two of the same gender.",
    ),
    Number(
        key="delta_i", label="ΔI", unit=Unit.POINTS, place="delta_i", best=Best.ZERO, interval=True, compared=True,
        formula="across - within", about="Across minus within, over quadruples.",
    ),
)  # fmt: skip
"""Consistency over pairs of sentences that differ in gender alone (`mtbias.metrics.consistency`)."""


def keys(numbers: Sequence[Number], **wanted: bool) -> tuple[str, ...]:
    """The keys of those of `numbers` whose properties (``interval=True``, ``compared=True``…) are as wanted."""
    return tuple(n.key for n in numbers if all(getattr(n, name) is value for name, value in wanted.items()))


def named(numbers: Sequence[Number], key: str) -> Number:
    """The number called `key`.

    Raises:
        KeyError: there is none.
    """
    for found in numbers:
        if found.key == key:
            return found
    raise KeyError(key)
