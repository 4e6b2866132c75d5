"""Two systems on the same sentences: counting pairs of outcomes, and what the difference of two numbers may be due to.

A table of pairs has the axes of a measure's table of counts (`mtbias.scoring.counting`; for gender calls stereotype ×
gold × call) and one more, the outcome of the second system: for gender calls ``[3, 3, 4, 4]``, ``int64``. Summed over
its last axis it is the first system's table of counts, over the one before, the second's. Tables add up.

Rows may have weights. Then there is a table for each kind of rows of one weight, with these levels as the first axis,
``[L, …]``, and the weights ``[L]``: all that is computed here is computed from such levels, and the plain case is one
level of weight 1. The bootstrap draws within each level, so that every resample has as many rows of every kind and the
weights still balance it; with one level that is the bootstrap over all rows. The unit is the row, a sentence. Both the
bootstrap and the randomisation draw counts, so their cost does not depend on the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from mtbias.scoring.counting import Counting, Counts
from mtbias.stats.resampling import bootstrap_counts, percentile_interval
from mtbias.stats.results import Floats, Interval, enough
from mtbias.stats.significance import mcnemar

_CHUNK = 1 << 11
"""Rearrangements whose numbers are computed at once."""


@dataclass(frozen=True, slots=True)
class McNemar:
    """Sentences by whether either system is right; no call is wrong."""

    both: int
    first_only: int
    second_only: int
    neither: int
    p: float
    """Exact, two-sided: `mtbias.stats.significance.mcnemar` of `first_only` and `second_only`."""


def pair_cells(counting: Counting, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """The cell of the flattened table of pairs in which each row counts, from the cells of both systems' tables.

    Raises:
        ValueError: they differ in length, or in what is given with a row (gold gender, stereotype).
    """
    outcomes = counting.shape[-1]
    if len(first) != len(second):
        raise ValueError(f"expected as many rows of both systems, got {len(first)} and {len(second)}")
    if (first // outcomes != second // outcomes).any():
        raise ValueError("expected rows of equal gold gender and stereotype, got two that differ")
    joined: Counts = first * outcomes + second % outcomes
    return joined


def pair_shape(counting: Counting) -> tuple[int, ...]:
    """The shape of a table of pairs."""
    return (*counting.shape, counting.shape[-1])


def tabulate(
    row_cells: NDArray[np.int64],
    shape: tuple[int, ...],
    levels: NDArray[np.int64] | None = None,
    n_levels: int = 1,
) -> Counts:
    """A table for each level of weight, ``[n_levels, *shape]``; without `levels` all rows are of the first."""
    size = prod(shape)
    places = row_cells if levels is None else row_cells + size * levels
    tables: Counts = np.bincount(places, minlength=n_levels * size).reshape(n_levels, *shape)
    return tables


def count_mcnemar(counting: Counting, pairs: Counts) -> McNemar:
    """McNemar's table of right and wrong, with its exact p, from a table of pairs."""
    right = np.asarray(counting.right, dtype=np.int64)
    n, both = int(pairs.sum()), int((pairs * right[..., :, None] * right[..., None, :]).sum())
    first, second = (int((pairs.sum(axis=axis) * right).sum()) for axis in (-1, -2))
    only_first, only_second = first - both, second - both
    return McNemar(both, only_first, only_second, n - first - only_second, mcnemar(only_first, only_second))


def count_differing(pairs: Counts) -> int:
    """Rows on which the two outcomes differ; a call and none are different."""
    return int(pairs.sum() - np.trace(pairs, axis1=-2, axis2=-1).sum())


def compute_numbers(counting: Counting, tables: Counts, weights: Floats) -> Floats:
    """The compared numbers of rows of one system in levels of weight: one value each, NaN where undefined.

    The definitions are the measure's, with the sum of the rows' weights for their number.
    """
    numbers: Floats = counting.values(np.tensordot(weights, tables, axes=1)[None], counting.compared)[0]
    return numbers


def bootstrap_numbers(
    counting: Counting, tables: Counts, weights: Floats, n_resamples: int, rng: np.random.Generator
) -> Floats:
    """The compared numbers over bootstrap resamples of the rows, drawn within the levels: ``[n_resamples, k]``."""
    return _bootstrap(counting, tables, weights, n_resamples, rng, (np.eye(prod(counting.shape)),))


def bootstrap_differences(
    counting: Counting, pairs: Counts, weights: Floats, n_resamples: int, rng: np.random.Generator
) -> Floats:
    """First − second of the compared numbers over paired bootstrap resamples: rows are drawn with both outcomes.

    Rows are drawn within their levels, and each has its level's weight: weights are not solved again for a resample.

    Returns: shape ``[n_resamples, k]``; NaN where undefined.

    Source: Efron and Tibshirani (1993), chapters 8 and 13; Koehn, EMNLP 2004, for paired systems.
    """
    index, n = np.arange(prod(pair_shape(counting))), counting.shape[-1]
    first, second = (np.zeros((len(index), prod(counting.shape))) for _ in range(2))
    first[index, index // n] = 1
    second[index, index // n // n * n + index % n] = 1
    return _bootstrap(counting, pairs, weights, n_resamples, rng, (first, second))


def _bootstrap(
    counting: Counting,
    tables: Counts,
    weights: Floats,
    n_resamples: int,
    rng: np.random.Generator,
    systems: Sequence[Floats],
) -> Floats:
    """Numbers of the first of `systems` less those of the second, where there is one."""
    sums = [np.zeros((n_resamples, prod(counting.shape))) for _ in systems]
    for weight, table in zip(weights, tables.reshape(len(tables), -1), strict=True):
        for occupied in _drawn_together(counting, np.flatnonzero(table), table.size):
            drawn = bootstrap_counts(table[occupied], lambda resamples: resamples.astype(np.float64), n_resamples, rng)
            for n, system in enumerate(systems):
                sums[n] += weight * (drawn @ system[occupied])
    first, *second = (counting.values(total.reshape(-1, *counting.shape), counting.compared) for total in sums)
    return first - second[0] if second else first


def _drawn_together(counting: Counting, occupied: NDArray[np.intp], size: int) -> list[NDArray[np.intp]]:
    """Cells of a flattened table by what resamples are drawn within: places of the first axis, or all of it."""
    if not counting.stratified:
        return [occupied]
    place = occupied // (size // counting.shape[0])
    return [occupied[place == n] for n in np.unique(place)]


def randomisation_pvalues(
    counting: Counting, pairs: Counts, weights: Floats, n_resamples: int, rng: np.random.Generator
) -> Floats:
    """Two-sided paired randomisation tests of the differences in the compared numbers: their p, shape ``[k]``.

    The test is `mtbias.stats.resampling.randomisation_test`: if it makes no difference which system made which of a
    row's two calls, swapping them in any rows is as likely as not; p counts the swaps that make a difference at least
    as large as the observed one. Here it is drawn from the counts: of the m rows of one weight, stereotype and gold
    gender on which one system says a and the other b, the first system has a in k of them with k ~ Binomial(m, 1/2),
    independently of all others (and so for any measure's classes and outcomes). Where the ks have at most `n_resamples`
    combinations, these are all looked at with their probabilities, and p is exact; else p = (hits + 1) / (n_resamples +
    1).

    `n_resamples` are rearrangements; `rng` is not used where p is exact.

    Returns: p in (0, 1]; NaN where the observed difference is undefined, and everywhere without rearrangements. A
        rearrangement whose difference is undefined is a hit. Differences that are equal within 1e-9 of their size
        count as equal.

    Source: Noreen (1989); Yeh, COLING 2000.
    """
    if n_resamples < 1:
        return np.full(len(counting.compared), np.nan)
    # The group of rows in which the systems say a and b, in either order; `step` is what one swap does to the first.
    total = np.tensordot(weights, pairs.sum(axis=-1) + pairs.sum(axis=-2), axes=1)
    start, steps, sizes = _groups(counting, pairs, weights)
    observed_first = np.tensordot(weights, pairs.sum(axis=-1), axes=1)

    def numbers(tables: Floats) -> Floats:
        return counting.values(tables, counting.compared)

    def differences(firsts: Floats) -> Floats:
        return np.abs(numbers(firsts) - numbers(total - firsts))

    observed = differences(observed_first[None])[0]
    least = observed - 1e-9 * np.maximum(observed, np.abs(numbers(observed_first[None])[0]))
    hits, whole = np.zeros(len(counting.compared)), 0.0
    exact = prod(size + 1 for size in sizes) <= n_resamples
    drawn = _all_swaps(sizes) if exact else _drawn_swaps(sizes, n_resamples, rng)
    for swaps, probabilities in drawn:
        values = differences(start + (swaps @ steps).reshape(-1, *counting.shape))
        hits += probabilities @ (np.isnan(values) | (values >= least))
        whole += probabilities.sum()
    found = np.minimum(hits, 1) if exact else (hits + 1) / (whole + 1)
    p: Floats = np.where(np.isnan(observed), np.nan, found)
    return p


def _groups(counting: Counting, pairs: Counts, weights: Floats) -> tuple[Floats, Floats, list[int]]:
    """The first system's weighted table with all that differ at b; what moving one row to a adds; rows a group."""
    start = np.tensordot(weights, np.einsum("...cc->...c", pairs), axes=1).astype(np.float64)
    steps, sizes = [], []
    for a, b in combinations(range(counting.shape[-1]), 2):
        rows = pairs[..., a, b] + pairs[..., b, a]
        start[..., b] += np.tensordot(weights, rows, axes=1)
        for level, *given in np.argwhere(rows):
            step = np.zeros(counting.shape)
            step[(*given, a)], step[(*given, b)] = weights[level], -weights[level]
            steps.append(step.ravel())
            sizes.append(int(rows[(level, *given)]))
    return start, np.array(steps).reshape(len(steps), prod(counting.shape)), sizes


def _all_swaps(sizes: Sequence[int]) -> Iterable[tuple[Floats, Floats]]:
    """Every combination of ks, with its probability."""
    combinations_of_ks = list(product(*(range(size + 1) for size in sizes)))
    ks = np.array(combinations_of_ks, dtype=np.float64).reshape(len(combinations_of_ks), len(sizes))
    chances = [np.array([comb(size, k) / 2**size for k in range(size + 1)]) for size in sizes]
    probabilities = np.ones(len(ks))
    for column, chance in zip(ks.T, chances, strict=True):
        probabilities *= chance[column.astype(np.int64)]
    yield ks, probabilities


def _drawn_swaps(sizes: Sequence[int], n_resamples: int, rng: np.random.Generator) -> Iterable[tuple[Floats, Floats]]:
    for start in range(0, n_resamples, _CHUNK):
        n = min(_CHUNK, n_resamples - start)
        yield rng.binomial(sizes, 0.5, size=(n, len(sizes))).astype(np.float64), np.ones(n)


def intervals(counting: Counting, replicates: Floats, tables: Counts) -> list[Interval | None]:
    """The 95 % percentile intervals of the compared numbers from their replicates ``[R, k]``.

    Edge cases: as `Counting.intervals`: None where a class of rows that the number rests on has fewer than `MIN_ROWS`
    rows of weight above 0. `tables` are those of the levels of weight above 0, of one system or of pairs.
    """
    rows = tables.sum(axis=0)
    systems = [rows] if rows.ndim == len(counting.shape) else [rows.sum(axis=axis) for axis in (-1, -2)]
    classes = [counting.classes(system) for system in systems]
    return [
        percentile_interval(column) if enough([of[name] for of in classes for name in each.rests_on]) else None
        for each, column in zip(counting.compared, replicates.T, strict=True)
    ]
