"""Intervals and tests that the metrics share: bootstrap, randomisation, McNemar, Holm, Wilson, rank correlation.

Two kinds of input. A table of counts holds everything that a metric knows about a corpus, so the corpus is resampled by
resampling the table: drawing n rows with replacement and counting them is one draw of a multinomial
distribution over the cells. The result is the nonparametric bootstrap over rows, exactly, at a cost that does
not depend on n. Where the unit is larger than a row (a document, a quadruple) or what it adds is no count (a weight),
a matrix ``[n_units, k]`` has what each unit adds to the sums that the metric is computed from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isnan, nan, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

Interval = tuple[float, float]
"""Lower and upper end, in the unit of what they enclose."""

LEVEL = 0.95
"""Coverage of every interval that mtbias prints."""

N_RESAMPLES = 2000
"""Resamples where nobody says how many."""


def bootstrap_counts(
    counts: NDArray[np.int64],
    statistic: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    n_resamples: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Values of `statistic` over `n_resamples` bootstrap resamples of the rows behind a table of counts.

    Each resample is a draw from Multinomial(n, counts / n), n = sum of all cells. All cells are exchangeable rows:
    rows are drawn independently, whatever sentence or pair they come from.

    Args:
        counts: additive integer counts of any shape, none negative.
        statistic: gets all resamples at once, shape ``[n_resamples, *counts.shape]``, and gives an array whose first
            axis is `n_resamples`; NaN where it is undefined.
        n_resamples: how many resamples, 0 or more.
        rng: the source of randomness; the same state gives the same values (with the same release of numpy).

    Edge cases: a table without rows has only empty resamples, so `statistic` sees zeros.

    Raises:
        ValueError: a negative count, or a negative number of resamples.

    Source: Efron and Tibshirani, *An Introduction to the Bootstrap* (1993), chapters 6 and 13.
    """
    table = np.asarray(counts, dtype=np.int64)
    if n_resamples < 0:
        raise ValueError(f"expected 0 or more resamples, got {n_resamples}")
    if (table < 0).any():
        raise ValueError("expected counts of 0 or more, got a negative count")
    cells = table.ravel()
    resamples = np.zeros((n_resamples, cells.size), dtype=np.int64)
    n = int(cells.sum())
    if n and n_resamples:
        # Only occupied cells can be drawn; the largest first, because the draw stops when all n rows are placed.
        occupied = np.flatnonzero(cells)
        occupied = occupied[np.argsort(-cells[occupied], kind="stable")]
        resamples[:, occupied] = rng.multinomial(n, cells[occupied] / n, size=n_resamples)
    return statistic(resamples.reshape(n_resamples, *table.shape))


def bootstrap_units(
    a: NDArray[np.generic],
    statistic: Callable[[Floats], Floats],
    n_resamples: int,
    rng: np.random.Generator,
) -> Floats:
    """Values of `statistic` over `n_resamples` bootstrap resamples of units.

    n units are drawn with replacement from the n there are, and what they add is summed. Two systems or two
    conditions in the columns of the same unit are thereby resampled in pairs.

    Args:
        a: ``[n_units, k]``: what each unit adds to k sums.
        statistic: maps sums ``[R, k]`` to values ``[R]`` (or ``[R, m]``: several at once), NaN where undefined. Called
            with chunks of the resamples.
        n_resamples: how many resamples, 0 or more.
        rng: the source of randomness; the same state gives the same values (with the same release of numpy).

    Edge cases: without units all sums are zero.

    Raises:
        ValueError: `a` is not two-dimensional; a negative number of resamples.

    Source: Efron and Tibshirani (1993), chapters 6 and 10 (paired units).
    """
    units = _units(a)
    if n_resamples < 0:
        raise ValueError(f"expected 0 or more resamples, got {n_resamples}")
    n = len(units)
    values = [statistic(np.empty((0, units.shape[1])))]
    for start, stop in _chunks(n_resamples, n):
        size = stop - start
        drawn = rng.integers(0, n, size=(size, n)) if n else np.empty((size, 0), dtype=np.int64)
        drawn += n * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        values.append(statistic(times.astype(np.float64) @ units))
    return np.concatenate(values)


def randomisation_test(
    a: NDArray[np.generic],
    b: NDArray[np.generic],
    statistic: Callable[[Floats], Floats],
    n_resamples: int,
    rng: np.random.Generator,
) -> float:
    """The two-sided randomisation test on ``|statistic(Σa) − statistic(Σb)|`` of two paired conditions: its p.

    If it makes no difference which of the two produced a unit's row, swapping the rows of any units between `a` and
    `b` is as likely as not. Each unit is swapped with probability 1/2 in each of `n_resamples` resamples, and
    p = (hits + 1) / (n_resamples + 1), where a hit is a difference at least as large as the observed one. Units whose
    two rows are equal change nothing and are passed over; where the remaining m have 2**m <= `n_resamples`
    arrangements, all are counted and p = hits / 2**m exactly (the observed one is among them).

    Args:
        a: ``[n_units, k]``: what each unit adds to k sums under the first system.
        b: the same under the second; row i is the same unit.
        statistic: maps sums ``[R, k]`` to values ``[R]``, NaN where undefined. Called with chunks of the resamples.
        n_resamples: how many resamples, 0 or more.
        rng: the source of randomness; not used where all arrangements are counted.

    Returns: p in (0, 1]; NaN where the observed difference is undefined, or without resamples. A resample whose
        difference is undefined is a hit, which can only make p larger. Differences equal within 1e-9 of their size
        count as equal.

    Raises:
        ValueError: shapes that differ or are not two-dimensional; a negative number of resamples.

    Source: Noreen (1989); Yeh, COLING 2000.
    """
    first, second = _units(a), _units(b)
    if first.shape != second.shape:
        raise ValueError(f"expected two arrays of one shape, got {first.shape} and {second.shape}")
    if n_resamples < 0:
        raise ValueError(f"expected 0 or more resamples, got {n_resamples}")
    sums, total = first.sum(axis=0), first.sum(axis=0) + second.sum(axis=0)

    def differences(firsts: Floats) -> Floats:
        return np.abs(statistic(firsts) - statistic(total - firsts))

    observed = float(differences(sums[None, :])[0])
    if isnan(observed) or n_resamples < 1:
        return nan
    least = observed - 1e-9 * max(observed, float(np.abs(statistic(sums[None, :]))[0]))
    change = (second - first)[(first != second).any(axis=1)]
    m = len(change)
    exact = m < 63 and 2**m <= n_resamples
    hits = 0
    for start, stop in _chunks(2**m if exact else n_resamples, m):
        if exact:
            swapped = np.arange(start, stop)[:, None] >> np.arange(m) & 1
        else:
            swapped = rng.integers(0, 2, size=(stop - start, m), dtype=np.int8)
        values = differences(sums + swapped.astype(np.float64) @ change)
        hits += int((np.isnan(values) | (values >= least)).sum())
    return hits / 2**m if exact else (hits + 1) / (n_resamples + 1)


def mcnemar(b: int, c: int) -> float:
    """McNemar's exact two-sided test: p = ``min(1, 2·P(X <= min(b, c)))``, X ~ Binomial(b + c, 1/2).

    Args:
        b: pairs where only the first is correct.
        c: pairs where only the second is.

    Edge cases: 1 where no pair differs.

    Raises:
        ValueError: a negative number.

    Source: McNemar (1947); the exact form as in Agresti, *Categorical Data Analysis* (2013), section 11.1.
    """
    if b < 0 or c < 0:
        raise ValueError(f"expected numbers of pairs of 0 or more, got {b} and {c}")
    if b == c:
        return 1.0
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(float(min(b, c)), b + c, 0.5)))


def holm(pvalues: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given: rejecting those of at most α keeps the family's error at α.

    With p(1) <= … <= p(m): adjusted p(i) = min(1, max over j <= i of (m − j + 1)·p(j)).

    Raises:
        ValueError: a value outside [0, 1].

    Source: Holm, *Scandinavian Journal of Statistics* 6 (1979).
    """
    if not all(0 <= p <= 1 for p in pvalues):
        raise ValueError(f"expected p-values within 0 and 1, got {list(pvalues)}")
    adjusted = [0.0] * len(pvalues)
    largest = 0.0
    for place, index in enumerate(sorted(range(len(pvalues)), key=lambda i: pvalues[i])):
        largest = max(largest, min(1.0, (len(pvalues) - place) * pvalues[index]))
        adjusted[index] = largest
    return adjusted


def average_ranks(values: NDArray[np.generic] | Sequence[float]) -> Floats:
    """Ranks from 1, in ascending order; equal values share the mean of their ranks.

    Raises:
        ValueError: a value that is NaN has no rank.

    """
    array = np.asarray(values, dtype=np.float64)
    if np.isnan(array).any():
        raise ValueError("expected values that can be ranked, got NaN")
    _, place, times = np.unique(array, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(times) - (times - 1) / 2)[place]
    return ranks


def spearman(x: NDArray[np.generic] | Sequence[float], y: NDArray[np.generic] | Sequence[float]) -> float | None:
    """Spearman's ρ: Pearson's correlation of the average ranks of paired values; [−1, 1].

    Edge cases: None with fewer than two pairs, or where all values of `x` or all of `y` are equal.

    Raises:
        ValueError: lengths that differ; NaN.

    Source: Kendall and Gibbons, *Rank Correlation Methods* (1990), chapter 3 (ties).
    """
    if len(x) != len(y):
        raise ValueError(f"expected pairs, got {len(x)} and {len(y)} values")
    rank_x, rank_y = average_ranks(x), average_ranks(y)
    middle = (len(x) + 1) / 2
    rank_x, rank_y = rank_x - middle, rank_y - middle
    spread = float((rank_x @ rank_x) * (rank_y @ rank_y))
    return float(rank_x @ rank_y) / sqrt(spread) if spread else None


def percentile_interval(replicates: NDArray[np.float64], level: float = LEVEL) -> Interval | None:
    """The percentile interval of bootstrap replicates: their (1−level)/2 and (1+level)/2 quantiles.

    Quantiles are interpolated linearly between order statistics. Undefined replicates (NaN) are dropped.

    Edge cases: None where there are no replicates, or more than half of them are undefined: a statistic that mostly
    does not exist has no interval. Replicates that are all equal give an interval of width 0 (the percentile
    bootstrap knows no other value); do not read that as certainty.

    Source: Efron and Tibshirani (1993), section 13.3.
    """
    defined = replicates[~np.isnan(replicates)]
    if defined.size == 0 or 2 * defined.size < replicates.size:
        return None
    low, high = np.quantile(defined, ((1 - level) / 2, (1 + level) / 2))
    return float(low), float(high)


def wilson_interval(successes: int, n: int, level: float = LEVEL) -> Interval | None:
    """Wilson's score interval for a proportion, both ends in [0, 1].

    With p = successes / n and z the (1+level)/2 quantile of the normal distribution:
    (p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n).

    Edge cases: None where n is 0; the lower end is exactly 0 where nothing succeeded, the upper 1 where everything did.

    Raises:
        ValueError: successes not within 0 and n.

    Source: Wilson (1927); Newcombe, *Statistics in Medicine* 17 (1998), method 3.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"expected successes between 0 and n = {n}, got {successes}")
    if n == 0:
        return None
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    scale = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    return (0.0 if successes == 0 else centre - half), (1.0 if successes == n else centre + half)


_CELLS = 1 << 21
"""How many random numbers are drawn at once: 16 MiB of integers."""


def _chunks(n_resamples: int, n_units: int) -> Iterator[tuple[int, int]]:
    """Bounds of the chunks in which resamples are drawn; the stream of random numbers depends on them."""
    size = max(1, _CELLS // max(1, n_units))
    for start in range(0, n_resamples, size):
        yield start, min(start + size, n_resamples)


def _units(a: NDArray[np.generic]) -> Floats:
    units = np.asarray(a, dtype=np.float64)
    if units.ndim != 2:
        raise ValueError(f"expected an array [n_units, k], got shape {units.shape}")
    return units
