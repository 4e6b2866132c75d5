"""What data sets of stereotypes share: what a pronoun is linked to, and a number where the stereotype fits or not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from mtbias.stats.results import Difference, Interval, minus
from mtbias.types import Stereotype

CONDITIONS = (Stereotype.PRO, Stereotype.ANTI)
"""The stereotype fits, or it does not."""


class Link(StrEnum):
    """With whom the pronoun shares a cluster, of the person it means and the others."""

    RIGHT = "right"
    """With the right one alone."""
    WRONG = "wrong"
    """With others alone."""
    BOTH = "both"
    NONE = "none"
    """With nobody; or the pronoun is in no cluster."""


def link_to(*, right: bool, wrong: bool) -> Link:
    """What it is to be linked to the right person, or not, and to a wrong one, or not."""
    return Link.BOTH if right and wrong else Link.RIGHT if right else Link.WRONG if wrong else Link.NONE


@dataclass(frozen=True, slots=True)
class ProAnti(Difference):
    """One number in per cent where the stereotype fits (`first`) and where it does not (`second`)."""

    @property
    def average(self) -> float | None:
        """Mean of the two; None where either is undefined."""
        return None if self.first is None or self.second is None else (self.first + self.second) / 2

    @property
    def absolute(self) -> float | None:
        """The difference without its sign, as papers print it."""
        return None if self.difference is None else abs(self.difference)

    def to_json(self) -> dict[str, Any]:
        """Plain values, numbers unrounded."""
        return {
            "pro": self.first,
            "anti": self.second,
            "average": self.average,
            "absolute_difference": self.absolute,
            "difference": self.difference,
            "p": self.p,
            "interval": self.interval,
        }


def pro_against_anti(
    pro: float | None, anti: float | None, interval: Interval | None = None, p: float | None = None
) -> ProAnti:
    """The two with their difference; without either of them there is neither interval nor p."""
    difference = minus(pro, anti)
    return ProAnti(pro, anti, difference, *((None, None) if difference is None else (interval, p)))
