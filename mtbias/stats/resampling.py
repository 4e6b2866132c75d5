"""The bootstrap, and intervals from it and for proportions.

Two kinds of input. A table of counts holds everything that a metric knows about a corpus, so the corpus is resampled by
resampling the table: drawing n rows with replacement and counting them is one draw of a multinomial
distribution over the cells. The result is the nonparametric bootstrap over rows, exactly, at a cost that does
not depend on n. Where the unit is larger than a row (a document, a quadruple) or what it adds is no count (a weight),
a matrix ``[n_units, k]`` has what each unit adds to the sums that the metric is computed from.

Written by hand because no library resamples a table of counts: `scipy.stats.bootstrap` draws and recounts all n rows
each time, and in another order of random numbers than the published intervals rest on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtbias.stats.results import LEVEL, Estimate, Floats, Interval, number


def bootstrap_counts(
    counts: NDArray[np.int64],
    statistic: Callable[[NDArray[np.int64]], Floats],
    n_resamples: int,
    rng: np.random.Generator,
) -> Floats:
    """Values of `statistic` over `n_resamples` bootstrap resamples of the rows behind a table of counts.

    Each resample is a draw from Multinomial(n, counts / n), n = sum of all cells. All cells are exchangeable rows:
    rows are drawn independently, whatever sentence or pair they come from.

    Args:
        counts: additive integer counts of any shape, none negative.
        statistic: maps resamples ``[R, *counts.shape]`` to an array whose first axis is R; NaN where it is undefined.
            Called with chunks of the resamples (all at once where they are few): what it gives for one must not
            depend on the others.
        n_resamples: 0 or more.
        rng: the same state gives the same values (with the same release of numpy).

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
    n = int(cells.sum())
    # Only occupied cells can be drawn; the largest first, because the draw stops when all n rows are placed.
    occupied = np.flatnonzero(cells)
    occupied = occupied[np.argsort(-cells[occupied], kind="stable")]
    values = []
    # The multinomial draws one resample after the other, so the values do not depend on the size of the chunks.
    for start, stop in chunks(n_resamples, cells.size, _CELLS_OF_TABLES) if n_resamples else [(0, 0)]:
        resamples = np.zeros((stop - start, cells.size), dtype=np.int64)
        if n and n_resamples:
            resamples[:, occupied] = rng.multinomial(n, cells[occupied] / n, size=stop - start)
        values.append(statistic(resamples.reshape(stop - start, *table.shape)))
    return values[0] if len(values) == 1 else np.concatenate(values)


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
        n_resamples: 0 or more.
        rng: as in `bootstrap_counts`.

    Edge cases: without units all sums are zero.

    Raises:
        ValueError: `a` is not two-dimensional; a negative number of resamples.

    Source: Efron and Tibshirani (1993), chapters 6 and 10 (paired units).
    """
    units = as_units(a)
    if n_resamples < 0:
        raise ValueError(f"expected 0 or more resamples, got {n_resamples}")
    n = len(units)
    values = [statistic(np.empty((0, units.shape[1])))]
    for start, stop in chunks(n_resamples, n):
        size = stop - start
        drawn = rng.integers(0, n, size=(size, n)) if n else np.empty((size, 0), dtype=np.int64)
        drawn += n * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        values.append(statistic(times.astype(np.float64) @ units))
    return np.concatenate(values)


def percentile_interval(replicates: Floats, level: float = LEVEL) -> Interval | None:
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


def estimate(
    whole: NDArray[Any],
    numbers: Callable[[NDArray[Any]], Mapping[str, Floats]],
    resample: Callable[[Callable[[NDArray[Any]], Floats]], Floats],
    *,
    n: Mapping[str, float],
    intervals: Collection[str] | None = None,
    tested: Collection[str] = (),
) -> dict[str, Estimate]:
    """Several numbers of the same rows, each with its denominator and its percentile interval.

    Args:
        whole: what all rows together add to, as `numbers` takes it: a resample of its own, ``[1, …]``.
        numbers: maps resamples ``[R, …]`` to numbers by name, each ``[R]``, NaN where undefined.
        resample: gives the replicates of a statistic: `bootstrap_counts` or `bootstrap_units` with all but that.
        n: the denominators by name; a number without one is not in it.
        intervals: the names of those that get an interval, by default all (`mtbias.stats.results.enough` says whether
            rows suffice).
        tested: the names of those that get a p, the share of resamples in which the number is 0 or less, or undefined;
            and a two-sided one, min(1, 2·(m + 1) / (R + 1)), with m the fewer of the resamples in which it is 0 or
            less and of those in which it is 0 or more (undefined counts as both).
    """
    point = numbers(whole)
    replicates = resample(lambda sums: np.stack(list(numbers(sums).values()), axis=-1))
    found = {}
    for (name, value), column in zip(point.items(), replicates.T, strict=True):
        interval = percentile_interval(column) if intervals is None or name in intervals else None
        p = two_sided = None
        if name in tested and len(column):
            p = float((~(column > 0)).mean())
            fewer = min(int((~(column > 0)).sum()), int((~(column < 0)).sum()))
            two_sided = min(1.0, 2 * (fewer + 1) / (len(column) + 1))
        found[name] = Estimate(number(value[0]), interval, n.get(name), p, two_sided)
    return found


def wilson_percent(successes: float, n: float, level: float = LEVEL) -> Interval | None:
    """Wilson's score interval for a proportion, in per cent, both ends in [0, 100]; `n` may be an effective number.

    With p = successes / n and z the (1+level)/2 quantile of the normal distribution:
    (p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n).

    Edge cases: None where n is 0; the lower end is exactly 0 where nothing succeeded, the upper 100 where everything
    did.

    Raises:
        ValueError: successes not within 0 and n.

    Source: Wilson (1927); Newcombe, *Statistics in Medicine* 17 (1998), method 3.
    """
    # By hand: scipy has it too, but importing scipy.stats takes longer than most commands.
    if not 0 <= successes <= n:
        raise ValueError(f"expected successes between 0 and n = {n}, got {successes}")
    if n == 0:
        return None
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    scale = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    return (0.0 if successes == 0 else 100 * (centre - half)), (100.0 if successes == n else 100 * (centre + half))


def wilson_percent_of_units(parts: Floats, wholes: Floats, times: NDArray[np.int64]) -> Interval | None:
    """Wilson's interval of a share of things that come in units: pairs of a quadruple, which are not independent.

    The share is p = Σ t·part / Σ t·whole. The effective number of things is that of independent ones which would have
    the variance of this share, n' = p(1 − p) / v with v = Σ t·(part − p·whole)² / (Σ t·whole)², at most Σ t·whole;
    where p is 0 or 1, v says nothing, and every unit counts as one thing. Where each unit has one thing, n' is their
    number: the interval is `wilson_percent` of them.

    Args:
        parts: how many things with the property a unit of each kind has, ``[k]``.
        wholes: how many things it has, ``[k]``.
        times: how many units of each kind there are, ``[k]``.

    Edge cases: None without things.

    Source: Kish, *Survey Sampling* (1965), for the effective number; Franco, Little, Louis and Slud, *Journal of Survey
    Statistics and Methodology* 7 (2019), for Wilson's interval with it.
    """
    total = float(times @ wholes)
    if total == 0:
        return None
    share = float(times @ parts) / total
    spread = float(times @ (parts - share * wholes) ** 2)
    if share in {0, 1}:
        effective = float(times @ (wholes > 0))
    else:
        effective = min(total, share * (1 - share) * total**2 / spread) if spread > 0 else total
    return wilson_percent(share * effective, effective)


_CELLS = 1 << 21
"""How many random numbers are drawn at once: 16 MiB of integers."""
_CELLS_OF_TABLES = 1 << 24
"""How many cells of resampled tables are in memory at once: 128 MiB."""


def chunks(n_resamples: int, n_units: int, cells: int | None = None) -> Iterator[tuple[int, int]]:
    """Bounds of the chunks in which resamples are drawn; that of `bootstrap_units` draws other numbers in others."""
    size = max(1, (cells or _CELLS) // max(1, n_units))
    for start in range(0, n_resamples, size):
        yield start, min(start + size, n_resamples)


def as_units(a: NDArray[np.generic]) -> Floats:
    """`a` as floats ``[n_units, k]``; `ValueError` for any other shape."""
    units = np.asarray(a, dtype=np.float64)
    if units.ndim != 2:
        raise ValueError(f"expected an array [n_units, k], got shape {units.shape}")
    return units
