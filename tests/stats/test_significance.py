"""Tests of differences: by hand, against scipy, and over all arrangements one by one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import isnan, nan

import numpy as np
import pytest
import scipy.stats

from mtbias.stats.paired import PairedUnits, compare
from mtbias.stats.resampling import holm, mcnemar
from mtbias.stats.results import Floats, percent
from tests.stats.randomisation import randomisation_test


def _rng(seed: int = 1) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def _ratio(sums: Floats) -> Floats:
    """First sum over second; NaN where the second is 0."""
    ratio: Floats = np.divide(
        sums[:, 0], sums[:, 1], out=np.full(len(sums), nan), where=sums[:, 1] != 0
    )
    return ratio


def _mean(n: int) -> Callable[[Floats], Floats]:
    def statistic(sums: Floats) -> Floats:
        mean: Floats = sums[:, 0] / n
        return mean

    return statistic


def test_randomisation_by_hand() -> None:
    # Three units; a is correct on all, b on none: |1 − 0| = 1. Of the 8 arrangements only "swap
    # none" and "swap all" give a difference of 1 (the others ±1/3), so p = 2/8.
    a, b = np.ones((3, 1)), np.zeros((3, 1))
    assert randomisation_test(a, b, _mean(3), 1000, _rng()) == 0.25
    # A fourth unit with equal rows changes nothing; no difference at all gives 1.
    more_a, more_b = np.ones((4, 1)), np.array([[0], [0], [0], [1]])
    assert randomisation_test(more_a, more_b, _mean(4), 8, _rng()) == 0.25
    assert randomisation_test(a, a, _mean(3), 1000, _rng()) == 1.0
    assert np.isnan(randomisation_test(a, b, _mean(3), 0, _rng()))  # no rearrangement was looked at


def _brute_force(a: Floats, b: Floats, statistic: Callable[[Floats], Floats]) -> float:
    """p over all arrangements, one by one, none left out."""

    def difference(x: Floats, y: Floats) -> float:
        return abs(
            float(statistic(x.sum(axis=0)[None, :])[0] - statistic(y.sum(axis=0)[None, :])[0])
        )

    observed = difference(a, b)
    hits = 0
    for swaps in product((False, True), repeat=len(a)):
        swap = np.array(swaps)[:, None]
        hits += difference(np.where(swap, b, a), np.where(swap, a, b)) >= observed - 1e-9
    return hits / float(2 ** len(a))


@pytest.mark.parametrize("seed", range(5))
def test_randomisation_counts_all_arrangements_where_they_are_few(seed: int) -> None:
    rng = _rng(seed)
    a, b = (rng.integers(1, 4, size=(9, 2)).astype(np.float64) for _ in range(2))
    assert randomisation_test(a, b, _ratio, 512, rng) == pytest.approx(_brute_force(a, b, _ratio))


def test_randomisation_by_sampling_comes_near_the_exact_value() -> None:
    rng = _rng(4)
    a, b = (rng.integers(low, low + 4, size=(11, 2)).astype(np.float64) for low in (1, 5))
    exact = _brute_force(a, b, _ratio)
    sampled = randomisation_test(
        a, b, _ratio, 2000, _rng(5)
    )  # 2**11 = 2048 arrangements: too many for 2000
    assert sampled != exact
    # Standard error of a share over 2000 draws; five of them.
    assert sampled == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / 2000))
    assert randomisation_test(a, b, _ratio, 2000, _rng(5)) == sampled


def test_randomisation_of_correctness_is_mcnemar() -> None:
    # With a difference of two proportions of right answers, the exact test over swaps is McNemar's
    # exact test: 3 units only a has right, 8 only b, 5 both.
    a = np.array([1] * 3 + [0] * 8 + [1] * 5)[:, None]
    b = np.array([0] * 3 + [1] * 8 + [1] * 5)[:, None]
    assert randomisation_test(a, b, _mean(16), 2**11, _rng()) == pytest.approx(
        mcnemar(3, 8), rel=1e-12
    )


def test_randomisation_never_gives_0_and_an_undefined_resample_counts_against_the_difference() -> (
    None
):
    a, b = np.ones((100, 1)), np.zeros((100, 1))
    assert randomisation_test(a, b, _mean(100), 999, _rng()) == 1 / 1000
    # Sums of b are (1, 0): its ratio is undefined, so there is no difference to test.
    assert isnan(randomisation_test(np.array([[1, 1]]), np.array([[1, 0]]), _ratio, 100, _rng()))
    # a: (1 + 1) / (1 + 1) = 1, b: 5 / 2; swapping the second unit only gives a = 6 / 1, b = 1 / 3;
    # the first only, the mirror of it: both larger than 3/2. All four arrangements are hits.
    a, b = np.array([[1, 1], [1, 1]]), np.array([[0, 2], [5, 0]])
    assert randomisation_test(a, b, _ratio, 4, _rng()) == 1.0
    # a: 2/2, b: 1/3; swapping the first gives a = 0/0... undefined on one side: a hit each, with
    # its mirror.
    a, b = np.array([[2, 2], [0, 0]]), np.array([[0, 0], [1, 3]])
    assert randomisation_test(a, b, _ratio, 4, _rng()) == 1.0


@pytest.mark.parametrize(
    ("b", "c"), [(0, 0), (0, 1), (1, 0), (5, 5), (3, 10), (10, 3), (40, 90), (400, 300), (0, 60)]
)
def test_mcnemar_is_scipys_binomial_test(b: int, c: int) -> None:
    expected = scipy.stats.binomtest(b, b + c).pvalue if b + c else 1.0
    assert mcnemar(b, c) == pytest.approx(expected, rel=1e-10)


def test_mcnemar_by_hand() -> None:
    # P(X <= 1), X ~ Binomial(5, 1/2): (1 + 5) / 32; twice that.
    assert mcnemar(1, 4) == pytest.approx(0.375, rel=1e-15)
    # 2 · 2^-2000 is below the least number that a computer has, and not 0.
    assert 0 < mcnemar(0, 2000) < 1e-300


def test_holm_by_hand() -> None:
    # Ascending: .005·4 = .02, .01·3 = .03, .03·2 = .06, .04·1 = .04 → .06 (never below the one
    # before).
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_two_systems_in_several_numbers() -> None:
    # Three units; the first system is right on all, the second on none: 100 against 0 per cent, p =
    # 2/8 as above.
    one, other = (
        np.column_stack((np.ones(3), np.ones(3))),
        np.column_stack((np.zeros(3), np.ones(3))),
    )

    def numbers(sums: Floats) -> dict[str, Floats]:
        return {
            "right": percent(sums[:, 0], sums[:, 1]),
            "of none": percent(sums[:, 1], sums[:, 0]),
        }

    paired = PairedUnits(one, other)
    found = compare(
        paired,
        numbers,
        ["right", "of none"],
        100,
        bootstrap=_rng(),
        test=_rng(),
        intervals=lambda _: False,
    )
    assert (found["right"].first, found["right"].second, found["right"].difference) == (
        100.0,
        0.0,
        100.0,
    )
    assert (found["right"].p, found["right"].p_holm, found["right"].interval) == (0.25, None, None)
    # Nothing is right under the second: its number is undefined, and so is the difference.
    lost = found["of none"]
    assert (lost.first, lost.second, lost.difference, lost.p) == (100.0, None, None, None)
    assert compare(paired, numbers, ["right"], 0, bootstrap=_rng(), test=_rng())["right"].p is None


def test_every_number_is_tested_with_the_same_arrangements() -> None:
    rng = _rng(3)
    one, other = (rng.integers(0, 3, size=(30, 1)).astype(np.float64) for _ in range(2))
    numbers: Callable[[Floats], dict[str, Floats]] = lambda sums: {  # noqa: E731
        "a": sums[:, 0],
        "b": 2 * sums[:, 0],
    }
    found = compare(
        PairedUnits(one, other), numbers, ["a", "b"], 500, bootstrap=_rng(), test=_rng(8)
    )
    assert (
        found["a"].p
        == found["b"].p
        == randomisation_test(one, other, lambda sums: sums[:, 0], 500, _rng(8))
    )
