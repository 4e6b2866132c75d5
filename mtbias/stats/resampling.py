"""The bootstrap, and what intervals and tests rest on: proportions, McNemar and Holm, correlation,
quadruples.

Two kinds of input. A table of counts holds everything that a metric knows about a corpus, so the
corpus is resampled by resampling the table: drawing n rows with replacement and counting them is
one draw of a multinomial distribution over the cells. The result is the nonparametric bootstrap
over rows, exactly, at a cost that does not depend on n. Where the unit is larger than a row (a
document, a quadruple) or what it adds is not a count (a weight), a matrix ``[n_units, k]`` has what
each unit adds to the sums that the metric is computed from.

Written by hand because no library resamples a table of counts: `scipy.stats.bootstrap` draws and
recounts all n rows each time, and in another order of random numbers than the published intervals
rest on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import product
from math import hypot, sqrt
from statistics import NormalDist
from sys import float_info

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtbias.stats.results import (
    ALPHA,
    LEVEL,
    Bools,
    Counts,
    Estimate,
    Floats,
    Interval,
    Rng,
    Tables,
    number,
    percent,
)


def bootstrap_counts(
    counts: Counts,
    statistic: Callable[[Counts], Floats],
    n_resamples: int,
    rng: Rng,
) -> Floats:
    """Values of `statistic` over `n_resamples` bootstrap resamples of the rows behind a table of
    counts.

    Each resample is a draw from Multinomial(n, counts / n), n = sum of all cells. All cells are
    exchangeable rows: rows are drawn independently, whatever sentence or pair they come from.

    Args:
        counts: additive integer counts of any shape, none negative.
        statistic: maps resamples ``[R, *counts.shape]`` to an array whose first axis is R; NaN
            where it is undefined. Called with chunks of the resamples (all at once where they are
            few): what it gives for one must not depend on the others.
        n_resamples: 0 or more.
        rng: the same state gives the same values (with the same release of numpy).

    Edge cases: a table without rows has only empty resamples, so `statistic` sees zeros.

    Source: Efron and Tibshirani, *An Introduction to the Bootstrap* (1993), chapters 6 and 13.
    """
    table = np.asarray(counts, dtype=np.int64)
    cells = table.ravel()
    n = int(cells.sum())
    # Only occupied cells can be drawn; the largest first, because the draw stops when all n rows
    # are placed.
    occupied = np.flatnonzero(cells)
    occupied = occupied[np.argsort(-cells[occupied], kind="stable")]
    values = []
    # The multinomial draws one resample after the other, so the values do not depend on the size of
    # the chunks.
    for start, stop in (
        chunks(n_resamples, cells.size, _CELLS_OF_TABLES) if n_resamples else [(0, 0)]
    ):
        resamples = np.zeros((stop - start, cells.size), dtype=np.int64)
        if n and n_resamples:
            resamples[:, occupied] = rng.multinomial(n, cells[occupied] / n, size=stop - start)
        values.append(statistic(resamples.reshape(stop - start, *table.shape)))
    return values[0] if len(values) == 1 else np.concatenate(values)


def bootstrap_units(
    a: NDArray[np.generic],
    statistic: Callable[[Floats], Floats],
    n_resamples: int,
    rng: Rng,
) -> Floats:
    """Values of `statistic` over `n_resamples` bootstrap resamples of units.

    n units are drawn with replacement from the n there are, and what they add is summed. Two
    systems or two conditions in the columns of the same unit are thereby resampled in pairs.

    Args:
        a: ``[n_units, k]``: what each unit adds to k sums.
        statistic: maps sums ``[R, k]`` to values ``[R]`` (or ``[R, m]``: several at once), NaN
            where undefined. Called with chunks of the resamples.
        n_resamples: 0 or more.
        rng: as in `bootstrap_counts`.

    Edge cases: without units all sums are zero.

    Source: Efron and Tibshirani (1993), chapters 6 and 10 (paired units).
    """
    units = np.asarray(a, dtype=np.float64)
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

    Quantiles are interpolated linearly between order statistics. Undefined replicates (NaN) are
    dropped.

    Edge cases: None without replicates, or where more than half of them are undefined: a
    statistic that mostly does not exist has no interval. Replicates that are all equal give an
    interval of width 0 (the percentile bootstrap knows no other value); do not read that as
    certainty.

    Source: Efron and Tibshirani (1993), section 13.3.
    """
    defined = replicates[~np.isnan(replicates)]
    if defined.size == 0 or 2 * defined.size < replicates.size:
        return None
    low, high = np.quantile(defined, ((1 - level) / 2, (1 + level) / 2))
    return float(low), float(high)


_POINT = 1e-9
"""An interval that is narrower is a point: its ends differ by rounding."""


def with_width(ends: Interval | None) -> Interval | None:
    """An interval that is more than a point; None for others, which would be read as certainty."""
    return ends if ends is not None and ends[1] - ends[0] > _POINT else None


def estimate(
    whole: Tables,
    numbers: Callable[[Tables], Mapping[str, Floats]],
    resample: Callable[[Callable[[Tables], Floats]], Floats],
    *,
    n: Mapping[str, float],
    intervals: Collection[str] | None = None,
    tested: Collection[str] = (),
) -> dict[str, Estimate]:
    """Several numbers of the same rows, each with its denominator and its percentile interval.

    Args:
        whole: what all rows together add to, as `numbers` takes it: a resample of its own, ``[1,
            …]``.
        numbers: maps resamples ``[R, …]`` to numbers by name, each ``[R]``, NaN where undefined.
        resample: gives the replicates of a statistic: `bootstrap_counts` or `bootstrap_units` with
            all but that.
        n: the denominators by name; a number without one is not in it.
        intervals: the names of those that get an interval, by default all
            (`mtbias.stats.results.enough` says whether rows suffice).
        tested: the names of those that get a one-sided p, (k + 1) / (R + 1) with k the resamples in
            which the number is 0 or less, or undefined; and a two-sided one, min(1, 2·(m + 1) / (R
            + 1)), with m the fewer of the resamples in which it is 0 or less and of those in which
            it is 0 or more (undefined counts as both). No p is 0, which no sample of resamples can
            tell.
    """
    point = numbers(whole)
    replicates = resample(lambda sums: np.stack(list(numbers(sums).values()), axis=-1))
    estimates = {}
    for (name, value), column in zip(point.items(), replicates.T, strict=True):
        interval = percentile_interval(column) if intervals is None or name in intervals else None
        p = two_sided = None
        if name in tested and len(column):
            not_above, not_below = int((~(column > 0)).sum()), int((~(column < 0)).sum())
            p = (not_above + 1) / (len(column) + 1)
            two_sided = min(1.0, 2 * (min(not_above, not_below) + 1) / (len(column) + 1))
        estimates[name] = Estimate(number(value[0]), interval, n.get(name), two_sided, p)
    return estimates


def wilson_percent(successes: float, n: float) -> Interval | None:
    """Wilson's score interval for a proportion, in per cent, both ends in [0, 100]; `n` may be an
    effective number.

    With p = successes / n and z the (1+`LEVEL`)/2 quantile of the normal distribution:
    (p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n).

    Edge cases: None where n is 0; the lower end is exactly 0 where nothing succeeded, the upper 100
    where everything did.

    Source: Wilson (1927); Newcombe, *Statistics in Medicine* 17 (1998), method 3.
    """
    # By hand: scipy has it too, but importing scipy.stats takes longer than most commands.
    if n == 0:
        return None
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    share = successes / n
    scale = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    return (0.0 if successes == 0 else 100 * (centre - half)), (
        100.0 if successes == n else 100 * (centre + half)
    )


def interval_of_sum(parts: Sequence[tuple[float, Interval]]) -> Interval:
    """The interval of Σ e, of independent estimates e with the intervals [l, u].

    Σ e − √Σ (e − l)², Σ e + √Σ (u − e)². It needs no random numbers, and with Wilson's intervals it
    holds for few rows and for a share of 0, where a bootstrap gives a point.

    Source: Zou, Huang and Zhang, *Computational Statistics & Data Analysis* 53 (2009): linear
    functions of binomial proportions (MOVER); of a difference of two it is Newcombe's method 10
    (*Statistics in Medicine* 17, 1998).
    """
    total = sum(e for e, _ in parts)
    down = hypot(*(e - low for e, (low, _) in parts))
    up = hypot(*(e - high for e, (_, high) in parts))
    return total - down, total + up


def wilson_percent_of_units(parts: Floats, wholes: Floats, times: Counts) -> Interval | None:
    """Wilson's interval of a share of things that come in units: pairs of a quadruple, which are
    not independent.

    The share is p = Σ t·part / Σ t·whole. The effective number of things is that of independent
    ones which would have the variance of this share, n' = p(1 − p) / v with v = Σ t·(part −
    p·whole)² / (Σ t·whole)², at most Σ t·whole; where p is 0 or 1, v says nothing, and every unit
    counts as one thing. Where each unit has one thing, n' is their
    number: the interval is `wilson_percent` of them.

    Args:
        parts: how many things with the property a unit of each kind has, ``[k]``.
        wholes: how many things it has, ``[k]``.
        times: how many units of each kind there are, ``[k]``.

    Edge cases: None without things.

    Source: Kish, *Survey Sampling* (1965), for the effective number; Franco, Little, Louis and
    Slud, *Journal of Survey Statistics and Methodology* 7 (2019), for Wilson's interval with it.
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
    """Bounds of the chunks in which resamples are drawn; that of `bootstrap_units` draws other
    numbers in others.
    """
    size = max(1, (cells or _CELLS) // max(1, n_units))
    for start in range(0, n_resamples, size):
        yield start, min(start + size, n_resamples)


# McNemar's test, and Holm's correction for several tests.


def mcnemar(b: int, c: int) -> float:
    """McNemar's exact two-sided test: p = ``min(1, 2·P(X <= min(b, c)))``, X ~ Binomial(b + c,
    1/2).

    In `b` pairs only the first is correct, in `c` only the second.

    Edge cases: 1 where no pair differs; the least positive number where p is below it (some 1,000
    pairs that all differ one way).

    Source: McNemar (1947); the exact form as in Agresti, *Categorical Data Analysis* (2013),
    section 11.1.
    """
    from scipy.special import bdtr

    return min(1.0, max(2 * float(bdtr(min(b, c), b + c, 0.5)), float_info.min))


def holm(pvalues: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given: rejecting those of at most α keeps the family's
    error at α.

    With p(1) <= … <= p(m): adjusted p(i) = min(1, max over j <= i of (m − j + 1)·p(j)).

    Source: Holm, *Scandinavian Journal of Statistics* 6 (1979).
    """
    order, m = np.argsort(pvalues, kind="stable"), len(pvalues)
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(
        np.maximum.accumulate(np.arange(m, 0, -1) * np.take(pvalues, order)), 1
    )
    return [float(p) for p in adjusted]


def too_few_resamples(tests: int, resamples: int) -> bool:
    """Whether so many resamples are too few for so many tests: even the smallest p that they give,
    1 / (resamples + 1), is not below `ALPHA` after Holm's correction.
    """
    return tests >= ALPHA * (resamples + 1)


# Rank correlation, of many samples at once.


def spearman(x: ArrayLike, y: ArrayLike) -> Floats:
    """Spearman's ρ: Pearson's correlation of the ranks of paired values, ties sharing their mean
    rank; [−1, 1].

    Both have shape ``[..., n]``: one sample of n values, or many (bootstrap resamples).

    Returns: shape ``[...]``; NaN with fewer than two pairs, or where all values of `x` or all of
    `y` are equal.

    Source: Kendall and Gibbons, *Rank Correlation Methods* (1990), chapter 3 (ties).
    """
    one, other = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    middle = (one.shape[-1] + 1) / 2
    first, second = (_ranks(values) - middle for values in (one, other))
    spread = (first * first).sum(axis=-1) * (second * second).sum(axis=-1)
    rho = np.full(spread.shape, np.nan)
    np.divide((first * second).sum(axis=-1), np.sqrt(spread), out=rho, where=spread > 0)
    return rho


def _ranks(values: Floats) -> Floats:
    """The ranks of values along the last axis, from 1; equal ones share their mean rank."""
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    places = np.broadcast_to(np.arange(values.shape[-1]), values.shape)
    begins = np.ones(values.shape, bool)
    begins[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    ends = np.ones(values.shape, bool)
    ends[..., :-1] = begins[..., 1:]
    first = np.maximum.accumulate(np.where(begins, places, 0), axis=-1)
    after = np.where(ends, places, values.shape[-1])
    last = np.minimum.accumulate(after[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=-1)
    return ranks


# Quadruples: two sentences of one gender and their two counterparts of the other; what their
# patterns add to ΔI.
#
# The places of a quadruple: 0 a sentence, 1 its control (of the same gender, with another small
# change), 2 and 3 their counterparts of the other gender. With f = 1 where a sentence is right,
# else 0, a pair is *inconsistent* where |f_i − f_j| = 1. I_within is the share of inconsistent
# pairs within a gender (0-1, 2-3), I_across that of pairs across genders, and ΔI = I_across −
# I_within: how much more the gender matters than another small change does.
#
# Source: Xie, Kocijan, Lukasiewicz and Camburu, *Counter-GAP* (EACL 2023), section 4.

RIGHT, WRONG, NO_CALL = range(3)
"""What the answer to a sentence can be, where a system may give none: statuses of
`all_patterns`."""

Pairs = tuple[tuple[int, int], ...]
"""Pairs of places."""

FIRST, SECOND = (0, 1), (2, 3)
"""The pair within the gender of place 0, and within the other."""
MATCHED: Pairs = ((0, 2), (1, 3))
"""Each sentence with its own counterpart: the pairs across genders where these differ in gender
alone."""
CROSSED: Pairs = tuple(product(FIRST, SECOND))
"""Each sentence of one gender with each of the other: where both counterparts are as like it (other
people's names)."""


def all_patterns(statuses: int, places: int = 4) -> Counts:
    """All patterns of so many `statuses` at so many `places`: ``[statuses**places, places]``.

    Row k has the digits of k in base `statuses`, so that a pattern's row is its number
    (`pattern_number`).
    """
    return np.array(list(product(range(statuses), repeat=places)), dtype=np.int64)


def pattern_number(pattern: Iterable[int], statuses: int) -> int:
    """The row of `pattern` in `all_patterns`."""
    return reduce(lambda number, status: statuses * number + status, pattern, 0)


def inconsistent(right: Bools, pairs: Pairs) -> Counts:
    """In how many of `pairs` exactly one of the two is right: ``[n]`` of whether each place is,
    ``[n, places]``.
    """
    return sum((right[:, i] != right[:, j] for i, j in pairs), np.zeros(len(right), dtype=np.int64))


def inconsistency(
    across: Floats, within: Floats, n: Floats, pairs: Pairs
) -> tuple[Floats, Floats, Floats]:
    """I_across, I_within and ΔI of `n` quadruples, in per cent; ΔI in [−100, 100], NaN where `n` is
    0.

    I_across = Σ across / (len(pairs)·n), I_within = Σ within / 2n, ΔI = I_across − I_within.

    Args:
        across: how many of `pairs` are inconsistent, summed over quadruples; any shape.
        within: how many of the two pairs within genders are, likewise.
        n: quadruples.
        pairs: the pairs across genders of each: `MATCHED` or `CROSSED`.
    """
    # Not one share minus the other: where the sums balance, ΔI must be exactly 0, since p counts
    # the resamples up to 0.
    delta = percent(2 / len(pairs) * across - within, 2 * n)
    return percent(across, len(pairs) * n), percent(within, 2 * n), delta
