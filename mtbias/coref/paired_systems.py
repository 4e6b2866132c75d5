"""Two systems on one data set: paired differences of its numbers, by rows or by occupations.

A data set gives for each system what every unit (a sentence, a line of counterparts, an occupation) adds to the sums
that its numbers are made of. The two are paired unit by unit: intervals by the paired bootstrap, p by paired
approximate randomisation. Drawn over rows, they say what other sentences about these occupations would have given;
over occupations, each with all its rows, what other occupations would have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from mtbias.errors import DataError
from mtbias.stats.paired import PairedUnits, compare
from mtbias.stats.resampling import bootstrap_units, estimate
from mtbias.stats.results import Difference, Estimate, Floats, enough

Draw = Literal["rows", "occupations"]
"""What is drawn and exchanged as a whole."""


@dataclass(frozen=True, slots=True, eq=False)
class NumberUnits:
    """What the numbers of one system on one data set rest on."""

    sums: Floats
    """``[n_units, k]``: what each unit adds to k sums."""
    occupations: tuple[str, ...]
    """The occupation of each unit; where a data set has none, the unit's id."""
    numbers: Callable[[Floats], Mapping[str, Floats]]
    """Maps sums ``[R, k]`` to numbers by name, each ``[R]``, NaN where undefined."""

    def drawn(self, over: Draw) -> Floats:
        """What each unit that is drawn as a whole adds, ``[n, k]``."""
        if over == "rows":
            return self.sums
        places = {name: place for place, name in enumerate(dict.fromkeys(self.occupations))}
        together = np.zeros((len(places), self.sums.shape[1]))
        np.add.at(together, [places[name] for name in self.occupations], self.sums)
        return together


def intervals_over(units: NumberUnits, over: Draw, resamples: int, seed: int) -> dict[str, Estimate]:
    """The numbers of one system, each with the number of units drawn (`n`) and its percentile interval over them.

    Edge cases: no intervals with fewer than `mtbias.stats.results.MIN_ROWS` units.
    """
    drawn = units.drawn(over)
    return estimate(
        drawn.sum(axis=0)[None],
        lambda sums: dict(units.numbers(sums)),
        partial(bootstrap_units, drawn, n_resamples=resamples, rng=np.random.default_rng(seed)),
        n=dict.fromkeys(units.numbers(drawn[:1]), len(drawn)),
        intervals=None if enough(len(drawn)) else (),
    )


def compare_systems(
    first: NumberUnits, second: NumberUnits, over: Draw, resamples: int, seed: int
) -> dict[str, Difference]:
    """First − second for each number, with the paired interval and p; each test has the same random numbers.

    Args:
        first: of one system.
        second: of another, on the same units in the same order.
        over: what is drawn, and exchanged between the two.
        resamples: of each interval and test; 0: neither.
        seed: of the random numbers.

    Edge cases: no intervals with fewer than `mtbias.stats.results.MIN_ROWS` units; p is exact where they are few.

    Raises:
        DataError: the units are not the same.
    """
    if first.occupations != second.occupations or first.sums.shape != second.sums.shape:
        raise DataError("expected two systems on the same rows, got other rows; score both on the same files")
    one, other = first.drawn(over), second.drawn(over)
    wide = enough(len(one))
    return compare(
        PairedUnits(one, other),
        first.numbers,
        list(first.numbers(one[:1])),
        resamples,
        bootstrap=np.random.default_rng(seed),
        test=np.random.default_rng(seed),
        intervals=lambda _: wide,
    )
