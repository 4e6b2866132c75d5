"""Two systems on the same sentences: counting pairs of calls, and what the difference of two numbers may be due to.

A table of pairs has the axes stereotype (pro, anti, none) × gold (male, female, neutral) × call of the first system ×
call of the second (each male, female, neutral, none), shape ``[3, 3, 4, 4]``, ``int64``. Summed over its last axis it
is the first system's table of counts (`mtbias.metrics.call_counts`), over the one before, the second's. Tables add up.

Rows may have weights. Then there is a table for each kind of rows of one weight, ``[L, 3, 3, 4, 4]``, with the weights
``[L]``: all that is computed here is computed from such levels, and the plain case is one level of weight 1. The
bootstrap draws within each level, so that every resample has as many rows of every kind and the weights still
balance it; with one level that is the bootstrap over all rows. The unit is the row, a sentence. Both the bootstrap and
the randomisation draw counts, so their cost does not depend on the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from mtbias.metrics.bias import MIN_ROWS, rate_replicates
from mtbias.metrics.call_counts import CALLS, SHAPE, Counts, Row, cells
from mtbias.stats.resampling import bootstrap_counts, percentile_interval
from mtbias.stats.results import Interval
from mtbias.stats.significance import mcnemar

Floats = NDArray[np.float64]

NUMBERS = ("accuracy", "delta_g", "delta_s")
"""The numbers that are compared: in per cent, as in `mtbias.metrics.bias.Numbers`."""

PAIR_SHAPE = (*SHAPE, len(CALLS))

_PLACES = (0, 3, 4)
"""Where `NUMBERS` stand among the replicates of `mtbias.metrics.bias`."""
_ONE: Floats = np.ones(1)
_CHUNK = 1 << 11
"""Rearrangements whose numbers are computed at once."""


@dataclass(frozen=True, slots=True)
class McNemar:
    """Sentences by whether either system has the gender right; no verdict is wrong."""

    both: int
    first_only: int
    second_only: int
    neither: int
    p: float
    """Exact, two-sided: `mtbias.stats.resampling.mcnemar` of `first_only` and `second_only`."""


# --- Counting ---------------------------------------------------------------------------------------------------------


def count_pairs(first: Iterable[Row], second: Iterable[Row]) -> Counts:
    """Count the rows of two systems, in one order, into a table of pairs ``[3, 3, 4, 4]``.

    Raises:
        ValueError: they differ in length, or in gold gender or stereotype of a row.
    """
    table: Counts = tabulate_pairs(pair_cells(cells(first), cells(second)))[0]
    return table


def pair_cells(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """The cell of the flattened table of pairs in which each row counts, from the cells of both systems' tables.

    Raises:
        ValueError: as `count_pairs`.
    """
    if len(first) != len(second):
        raise ValueError(f"expected as many rows of both systems, got {len(first)} and {len(second)}")
    if (first // len(CALLS) != second // len(CALLS)).any():
        raise ValueError("expected rows of equal gold gender and stereotype, got two that differ")
    joined: Counts = first * len(CALLS) + second % len(CALLS)
    return joined


def tabulate(row_cells: NDArray[np.int64], levels: NDArray[np.int64] | None = None, n_levels: int = 1) -> Counts:
    """A table of counts for each level of weight, ``[n_levels, 3, 3, 4]``; no `levels`: all rows are of the first."""
    return _levels(row_cells, levels, n_levels, SHAPE)


def tabulate_pairs(row_cells: NDArray[np.int64], levels: NDArray[np.int64] | None = None, n_levels: int = 1) -> Counts:
    """The same for pairs, ``[n_levels, 3, 3, 4, 4]``; the cells are those of `pair_cells`."""
    return _levels(row_cells, levels, n_levels, PAIR_SHAPE)


def _levels(
    row_cells: NDArray[np.int64], levels: NDArray[np.int64] | None, n_levels: int, shape: tuple[int, ...]
) -> Counts:
    size = prod(shape)
    places = row_cells if levels is None else row_cells + size * levels
    tables: Counts = np.bincount(places, minlength=n_levels * size).reshape(n_levels, *shape)
    return tables


def count_mcnemar(pairs: Counts) -> McNemar:
    """McNemar's table of correct and wrong, with its exact p, from a table of pairs ``[3, 3, 4, 4]``."""
    by_gold = pairs.sum(axis=0)
    n, both, first, second = int(by_gold.sum()), 0, 0, 0
    for g, of_gold in enumerate(by_gold):
        both += int(of_gold[g, g])
        first += int(of_gold[g].sum())
        second += int(of_gold[:, g].sum())
    only_first, only_second = first - both, second - both
    return McNemar(both, only_first, only_second, n - first - only_second, mcnemar(only_first, only_second))


def count_differing(pairs: Counts) -> int:
    """Rows on which the two calls differ; a verdict and none are different calls."""
    return int(pairs.sum() - np.trace(pairs, axis1=-2, axis2=-1).sum())


# --- Computing --------------------------------------------------------------------------------------------------------


def compute_numbers(tables: Counts, weights: Floats = _ONE) -> Floats:
    """`NUMBERS` of rows of one system in levels of weight, ``[L, 3, 3, 4]``: shape ``[3]``, NaN where undefined.

    The definitions are those of `mtbias.metrics.bias.compute`, with the sum of the rows' weights for their number.
    """
    numbers: Floats = _numbers(np.tensordot(weights, tables, axes=1)[None])[0]
    return numbers


def compute_differences(pairs: Counts, weights: Floats = _ONE) -> Floats:
    """First − second of `NUMBERS`, from pairs in levels of weight ``[L, 3, 3, 4, 4]``: shape ``[3]``."""
    first, second = pairs.sum(axis=-1), pairs.sum(axis=-2)
    return compute_numbers(first, weights) - compute_numbers(second, weights)


def bootstrap_numbers(tables: Counts, weights: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """`NUMBERS` over bootstrap resamples of the rows, drawn within the levels; shape ``[n_resamples, 3]``."""
    return _bootstrap(tables, weights, n_resamples, rng, (np.eye(prod(SHAPE)),))


def bootstrap_differences(pairs: Counts, weights: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """First − second of `NUMBERS` over paired bootstrap resamples: a row is drawn with the calls of both systems.

    Rows are drawn within their levels, and each has its level's weight: weights are not solved again for a resample.

    Returns: shape ``[n_resamples, 3]``; NaN where undefined.

    Source: Efron and Tibshirani (1993), chapters 8 and 13; Koehn, EMNLP 2004, for paired systems.
    """
    index = np.arange(prod(PAIR_SHAPE))
    n = len(CALLS)
    first, second = (np.zeros((len(index), prod(SHAPE))) for _ in range(2))
    first[index, index // n] = 1
    second[index, index // n // n * n + index % n] = 1
    return _bootstrap(pairs, weights, n_resamples, rng, (first, second))


def _bootstrap(
    tables: Counts, weights: Floats, n_resamples: int, rng: np.random.Generator, systems: Sequence[Floats]
) -> Floats:
    """Numbers of the first of `systems` less those of the second, where there is one."""
    sums = [np.zeros((n_resamples, prod(SHAPE))) for _ in systems]
    for weight, table in zip(weights, tables.reshape(len(tables), -1), strict=True):
        occupied = np.flatnonzero(table)
        drawn = bootstrap_counts(table[occupied], lambda resamples: resamples.astype(np.float64), n_resamples, rng)
        for n, system in enumerate(systems):
            sums[n] += weight * (drawn @ system[occupied])
    numbers = [_numbers(total.reshape(-1, *SHAPE)) for total in sums]
    return numbers[0] - numbers[1] if len(numbers) > 1 else numbers[0]


def randomisation_pvalues(pairs: Counts, weights: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Two-sided paired randomisation tests of the differences in `NUMBERS`: their p, shape ``[3]``.

    The test is `mtbias.stats.resampling.randomisation_test`: if it makes no difference which system made which of a
    row's two calls, swapping them in any rows is as likely as not; p counts the swaps that make a difference at least
    as large as the observed one. Here it is drawn from the counts: of the m rows of one weight, stereotype and gold
    gender on which one system says a and the other b, the first system has a in k of them with k ~ Binomial(m, 1/2),
    independently of all others. Where the ks have at most `n_resamples` combinations, these are all looked at with
    their probabilities, and p is exact; else p = (hits + 1) / (n_resamples + 1).

    Args:
        pairs: rows in levels of weight, ``[L, 3, 3, 4, 4]``.
        weights: of the levels, ``[L]``.
        n_resamples: how many rearrangements.
        rng: the source of randomness; not used where p is exact.

    Returns: p in (0, 1]; NaN where the observed difference is undefined, and everywhere without rearrangements. A
        rearrangement whose difference is undefined is a hit. Differences that are equal within 1e-9 of their size
        count as equal.

    Source: Noreen (1989); Yeh, COLING 2000.
    """
    if n_resamples < 1:
        return np.full(len(NUMBERS), np.nan)
    # The group of rows in which the systems say a and b, in either order; `step` is what one swap does to the first.
    total = np.tensordot(weights, pairs.sum(axis=-1) + pairs.sum(axis=-2), axes=1)
    start, steps, sizes = _groups(pairs, weights)
    observed_first = np.tensordot(weights, pairs.sum(axis=-1), axes=1)

    def differences(firsts: Floats) -> Floats:
        return np.abs(_numbers(firsts) - _numbers(total - firsts))

    observed = differences(observed_first[None])[0]
    least = observed - 1e-9 * np.maximum(observed, np.abs(_numbers(observed_first[None])[0]))
    hits, whole = np.zeros(len(NUMBERS)), 0.0
    exact = prod(size + 1 for size in sizes) <= n_resamples
    drawn = _all_swaps(sizes) if exact else _drawn_swaps(sizes, n_resamples, rng)
    for swaps, probabilities in drawn:
        firsts = start + (swaps @ steps).reshape(-1, *SHAPE)
        values = differences(firsts)
        hits += probabilities @ (np.isnan(values) | (values >= least))
        whole += probabilities.sum()
    found = np.minimum(hits, 1) if exact else (hits + 1) / (whole + 1)
    p: Floats = np.where(np.isnan(observed), np.nan, found)
    return p


def _groups(pairs: Counts, weights: Floats) -> tuple[Floats, Floats, list[int]]:
    """The first system's weighted table with all that differ at b; what moving one row to a adds; rows a group."""
    start = np.tensordot(weights, np.einsum("lsgcc->lsgc", pairs), axes=1).astype(np.float64)
    steps, sizes = [], []
    for a, b in combinations(range(len(CALLS)), 2):
        rows = pairs[..., a, b] + pairs[..., b, a]
        start[..., b] += np.tensordot(weights, rows, axes=1)
        for level, s, g in np.argwhere(rows):
            step = np.zeros(SHAPE)
            step[s, g, a], step[s, g, b] = weights[level], -weights[level]
            steps.append(step.ravel())
            sizes.append(int(rows[level, s, g]))
    return start, np.array(steps).reshape(len(steps), prod(SHAPE)), sizes


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


def intervals(replicates: Floats, tables: Counts) -> tuple[Interval | None, ...]:
    """The 95 % percentile intervals of `NUMBERS` from their replicates ``[R, 3]``.

    Edge cases: as `mtbias.metrics.bias.intervals`: None where a class of rows that the number compares has fewer than
    `MIN_ROWS` rows of weight above 0. `tables`, ``[L, 3, 3, …]``, are those of the levels of weight above 0.
    """
    by = tables.sum(axis=(0, *range(3, tables.ndim)))
    behind = (by.sum(), by.sum(axis=0)[:2].min(), by.sum(axis=1)[:2].min())
    return tuple(
        percentile_interval(column) if rows >= MIN_ROWS else None
        for column, rows in zip(replicates.T, behind, strict=True)
    )


def _numbers(tables: Counts | Floats) -> Floats:
    """`NUMBERS` of tables ``[B, 3, 3, 4]``: shape ``[B, 3]``."""
    return rate_replicates(tables)[:, _PLACES]  # type: ignore[arg-type]  # sums of weights are divided as counts are
