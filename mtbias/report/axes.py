"""The axes of plots: from values to places on the paper."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple


class Scale(NamedTuple):
    """A value axis: from `low` to `high` with a tick at every `step`; all three fit each other."""

    low: float
    high: float
    step: float

    @classmethod
    def around(cls, values: Iterable[float]) -> Scale:
        """An axis for all the values, with 0 and at most 9 ticks."""
        ends = [0.0, *values]
        low, high = min(ends), max(ends)
        if low == high:
            low, high = -10.0, 10.0
        for step in (1, 2, 5, 10, 20, 25, 50):
            axis = cls(math.floor(low / step) * step, math.ceil(high / step) * step, step)
            if len(axis.ticks) <= 9:
                break
        return axis

    @property
    def ticks(self) -> list[float]:
        """The values of the ticks, ascending."""
        return [self.low + i * self.step for i in range(round((self.high - self.low) / self.step) + 1)]

    def share(self, value: float) -> float:
        """How far along the axis `value` stands, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)


class Frame(NamedTuple):
    """The rectangle in which points are drawn, in pixels, with its value axis upwards."""

    left: float
    right: float
    top: float
    height: float
    axis: Scale

    @property
    def foot(self) -> float:
        """The y of the lowest value."""
        return self.top + self.height

    def y(self, value: float) -> float:
        """Where a value stands."""
        return self.top + self.height * (1 - self.axis.share(value))
