"""The word-embedding association test (WEAT), with one list of targets and with two.

Sources: Caliskan, Bryson and Narayanan, *Semantics derived automatically from language corpora contain human-like
biases* (Science 2017), for the test; Dawkins, *SoWinoBias* (GeBNLP 2021), for one list of targets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np
from numpy.typing import NDArray

from mtbias.errors import DataError
from mtbias.stats.results import Floats

_CHUNK = 1 << 14
_TIE = 1e-12
"""Values closer than this count as equal: the sums of two partitions differ by rounding alone."""


@dataclass(frozen=True, slots=True)
class Weat:
    """The association of one list of targets with two lists of attributes."""

    s: float
    """mean over targets of mean cos(t, A1) − mean cos(t, A2); [−2, 2], above 0 where they are closer to A1."""
    p: float
    """One-sided, of the partitions of A1 ∪ A2 (`_share_above`)."""
    partitions: int
    exact: bool
    """All partitions were counted; else so many random ones."""


@dataclass(frozen=True, slots=True)
class TwoTargetWeat:
    """Whether the first targets are closer to the first attributes than the second targets are."""

    difference: float
    """mean over X of s(x) − mean over Y of s(y), s(w) = mean cos(w, A1) − mean cos(w, A2); [−4, 4]."""
    d: float | None
    """Effect size: the difference over the sample standard deviation of s over X ∪ Y; None where that is 0."""
    p: float
    """One-sided, of the partitions of X ∪ Y (`_share_above`)."""
    partitions: int
    exact: bool


def weat(
    targets: Floats, attributes_1: Floats, attributes_2: Floats, *, partitions: int, rng: np.random.Generator
) -> Weat:
    """The test with one list of targets: S and p.

    S is linear: with c(a) the mean over targets of cos(t, a), S = mean c(A1) − mean c(A2); so a partition is a choice
    of |A1| numbers of |A1| + |A2|. All of them are counted where they are at most `partitions`, else so many are drawn
    with `rng`.

    Raises:
        DataError: one of the lists is empty, or `partitions` is 0.
    """
    _check(targets, attributes_1, attributes_2, partitions=partitions)
    closeness = (np.concatenate([attributes_1, attributes_2]) @ targets.T).mean(axis=1)
    return Weat(*_share_above(closeness, len(attributes_1), partitions, rng))


def weat_two_targets(
    targets_1: Floats,
    targets_2: Floats,
    attributes_1: Floats,
    attributes_2: Floats,
    *,
    partitions: int,
    rng: np.random.Generator,
) -> TwoTargetWeat:
    """The test of Caliskan et al.: effect size d and p.

    The statistic of the permutation test is the difference of means; with lists of equal length, as theirs are, it
    orders partitions as their difference of sums does. The deviation in d divides by n − 1.

    Raises:
        DataError: one of the lists is empty, or `partitions` is 0.
    """
    _check(targets_1, targets_2, attributes_1, attributes_2, partitions=partitions)
    targets = np.concatenate([targets_1, targets_2])
    association = (targets @ attributes_1.T).mean(axis=1) - (targets @ attributes_2.T).mean(axis=1)
    difference, p, done, exact = _share_above(association, len(targets_1), partitions, rng)
    deviation = float(association.std(ddof=1))
    return TwoTargetWeat(difference, difference / deviation if deviation > _TIE else None, p, done, exact)


def _check(*lists: Floats, partitions: int) -> None:
    if not (all(map(len, lists)) and partitions):
        raise DataError("expected a word or more in every list of WEAT, and one partition or more, got less")


def _share_above(values: Floats, n1: int, partitions: int, rng: np.random.Generator) -> tuple[float, float, int, bool]:
    """The difference of means of the first `n1` values and the others; its p; of how many partitions; whether of all.

    p is the share of partitions whose difference is larger, strictly. Where they are drawn, the observed one is added
    to both counts, (hits + 1) / (drawn + 1), since a p of 0 cannot be known from a sample (Phipson and Smyth 2010).
    """
    n, total = len(values), float(values.sum())

    def differences(chosen: NDArray[np.int64]) -> Floats:
        sums = values[chosen].sum(axis=1)
        return np.asarray(sums / n1 - (total - sums) / (n - n1))

    observed = float(differences(np.arange(n1)[None])[0])
    exact = comb(n, n1) <= partitions
    hits = done = 0
    for chosen in _all(n, n1) if exact else _drawn(n, n1, partitions, rng):
        hits += int((differences(chosen) > observed + _TIE).sum())
        done += len(chosen)
    return observed, hits / done if exact else (hits + 1) / (done + 1), done, exact


def _all(n: int, k: int) -> Iterator[NDArray[np.int64]]:
    subsets = combinations(range(n), k)
    while chunk := list(islice(subsets, _CHUNK)):
        yield np.array(chunk, dtype=np.int64)


def _drawn(n: int, k: int, times: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    for start in range(0, times, _CHUNK):
        size = min(_CHUNK, times - start)
        yield rng.permuted(np.tile(np.arange(n), (size, 1)), axis=1)[:, :k]
