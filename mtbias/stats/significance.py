"""Tests of differences: paired randomisation, McNemar's, and Holm's correction for several tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from mtbias.stats.resampling import as_units, bootstrap_units, chunks, percentile_interval
from mtbias.stats.results import Difference, Floats, minus, number


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
    first, second = as_units(a), as_units(b)
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
    # Sums in another order differ in their last digits: what is equal in exact arithmetic must stay a hit.
    least = observed - 1e-9 * max(observed, float(np.abs(statistic(sums[None, :]))[0]))
    change = (second - first)[(first != second).any(axis=1)]
    m = len(change)
    exact = m < 63 and 2**m <= n_resamples
    hits = 0
    for start, stop in chunks(2**m if exact else n_resamples, m):
        if exact:
            swapped = np.arange(start, stop)[:, None] >> np.arange(m) & 1
        else:
            swapped = rng.integers(0, 2, size=(stop - start, m), dtype=np.int8)
        values = differences(sums + swapped.astype(np.float64) @ change)
        hits += int((np.isnan(values) | (values >= least)).sum())
    return hits / 2**m if exact else (hits + 1) / (n_resamples + 1)


def compare_units(
    one: Floats,
    other: Floats,
    numbers: Callable[[Floats], Mapping[str, Floats]],
    names: Iterable[str],
    n_resamples: int,
    rng: Callable[[], np.random.Generator],
    intervals: np.random.Generator | None = None,
) -> dict[str, Difference]:
    """Two systems on the same units: first − second for each of `names`, with the p of `randomisation_test`.

    Args:
        one: ``[n_units, k]``: what each unit adds to k sums under the first system.
        other: the same under the second; row i is the same unit.
        numbers: maps sums ``[R, k]`` to numbers by name, each ``[R]``, NaN where undefined.
        names: the numbers to compare.
        n_resamples: of each test and interval; with 0 there is neither.
        rng: gives the source of randomness for each test in turn: the same one, or one of its own for each.
        intervals: the source of randomness of the paired bootstrap, whose resamples all numbers share; None for no
            intervals.
    """
    of_one, of_other = (numbers(units.sum(axis=0)[None, :]) for units in (one, other))
    names, width, found = list(names), one.shape[1], {}
    for name in names:
        first, second = number(of_one[name][0]), number(of_other[name][0])
        p = randomisation_test(one, other, lambda sums, name=name: numbers(sums)[name], n_resamples, rng())  # type: ignore[misc]
        found[name] = Difference(first, second, minus(first, second), p=number(p))
    if intervals is None:
        return found

    def differences(sums: Floats) -> Floats:
        first, second = numbers(sums[:, :width]), numbers(sums[:, width:])
        return np.stack([first[name] - second[name] for name in names], axis=-1)

    drawn = bootstrap_units(np.hstack([one, other]), differences, n_resamples, intervals)
    return {
        name: replace(of, interval=None if of.difference is None else percentile_interval(column))
        for (name, of), column in zip(found.items(), drawn.T, strict=True)
    }


def mcnemar(b: int, c: int) -> float:
    """McNemar's exact two-sided test: p = ``min(1, 2·P(X <= min(b, c)))``, X ~ Binomial(b + c, 1/2).

    In `b` pairs only the first is correct, in `c` only the second.

    Edge cases: 1 where no pair differs.

    Raises:
        ValueError: a negative number.

    Source: McNemar (1947); the exact form as in Agresti, *Categorical Data Analysis* (2013), section 11.1.
    """
    if b < 0 or c < 0:
        raise ValueError(f"expected numbers of pairs of 0 or more, got {b} and {c}")
    from scipy.stats import binomtest

    return 1.0 if b == c == 0 else float(binomtest(b, b + c).pvalue)


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
