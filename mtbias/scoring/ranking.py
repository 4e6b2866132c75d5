"""The rank of systems by one number: those that paired tests could not tell apart are tied.

All tests of one number among the systems that are ranked together are a family for Holm's
correction. A system's rank is a range of places: one below all that are significantly better, above
all that are significantly worse; those that tie with it, or were never tested against it, are
somewhere in between. Intervals do not determine ranks: those of two systems may overlap although
the systems differ, and of many systems some will lie apart by chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from enum import StrEnum
from itertools import combinations
from math import inf
from typing import NamedTuple, TypeVar

from mtbias.scoring.definitions import Best
from mtbias.stats.results import ALPHA

S = TypeVar("S", bound=Hashable)


class Relation(StrEnum):
    """What is known of two systems in one number."""

    FIRST = "first better"
    SECOND = "second better"
    TIE = "tie"
    """Tested, and not significantly different."""
    NOT_TESTED = "not tested"
    DIFFERENT = "different"
    """Significantly, but which is better was not tested: one lies above and the other below the
    best value (ΔG above and below 0), or there is none."""


_TURNED = {Relation.FIRST: Relation.SECOND, Relation.SECOND: Relation.FIRST}


class Rank(NamedTuple):
    """Places that a system may have: from ``low`` to ``high``, both counted."""

    low: int
    high: int
    not_tested: int
    """The number of systems that it was not tested against."""
    other_side: int = 0
    """Systems that differ significantly but lie on the other side of the best value: which is
    better was not tested."""

    @property
    def text(self) -> str:
        """``1–2, 1 not tested``: with how many it is not ordered, and why."""
        places = f"{self.low}" if self.low == self.high else f"{self.low}–{self.high}"
        unordered = {
            "not tested": self.not_tested,
            "on the other side of the best value": self.other_side,
        }
        return ", ".join([places, *(f"{n} {why}" for why, n in unordered.items() if n)])


def distance(best: Best, value: float | None) -> float:
    """How far a value is from the best one: systems are listed by it, the nearest first.

    Infinite where the value is undefined or none is best, so that these come last.
    """
    return inf if value is None or best.at is None else abs(value - best.at)


def relation(
    best: Best, first: float | None, second: float | None, p_holm: float | None
) -> Relation:
    """What the values of two systems and the corrected p of their difference say.

    Args:
        best: where the number is best.
        first: the value of the first system; None where undefined.
        second: that of the second.
        p_holm: of the paired test, corrected over its family; None where nothing was tested.
    """
    if p_holm is None or first is None or second is None:
        return Relation.NOT_TESTED
    if p_holm >= ALPHA:
        return Relation.TIE
    if best.at is None or (first - best.at) * (second - best.at) < 0:
        return Relation.DIFFERENT
    nearer_first = distance(best, first) < distance(best, second)
    return Relation.FIRST if nearer_first else Relation.SECOND


def ranks(
    best: Best, values: Mapping[S, float | None], p_holm: Mapping[tuple[S, S], float | None]
) -> dict[S, Rank]:
    """The rank of each system among those in which the number is defined.

    Args:
        best: where the number is best.
        values: by system; one without a value has no rank, and counts in nobody's.
        p_holm: the corrected p of each pair that was tested, in one order or the other.
    """
    defined = [system for system, value in values.items() if value is not None]
    seen: Counter[tuple[S, Relation]] = Counter()
    for first, second in combinations(defined, 2):
        p = p_holm.get((first, second), p_holm.get((second, first)))
        known = relation(best, values[first], values[second], p)
        seen.update(((first, known), (second, _TURNED.get(known, known))))
    return {
        one: Rank(
            1 + seen[one, Relation.SECOND],
            len(defined) - seen[one, Relation.FIRST],
            seen[one, Relation.NOT_TESTED],
            seen[one, Relation.DIFFERENT],
        )
        for one in defined
    }
