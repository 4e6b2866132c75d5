"""The randomisation test of one statistic, as tests of two packages use it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mtbias.stats.paired import PairedUnits, randomisation_pvalues
from mtbias.stats.results import Floats


def randomisation_test(
    a: Floats,
    b: Floats,
    statistic: Callable[[Floats], Floats],
    n_resamples: int,
    rng: np.random.Generator,
) -> float:
    """The p of one statistic of units."""
    return float(
        randomisation_pvalues(
            PairedUnits(a, b), lambda sums: statistic(sums)[:, None], n_resamples, rng
        )[0]
    )
