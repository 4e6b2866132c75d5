"""Intervals and tests: against published values, by-hand values, scipy, and resampling one by one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import isnan, nan

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from mtbias.stats.correlation import spearman
from mtbias.stats.resampling import bootstrap_counts, bootstrap_units, percentile_interval, wilson_interval
from mtbias.stats.significance import holm, mcnemar, randomisation_test

Floats = NDArray[np.float64]


def _rng(seed: int = 1) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998), Table I, method 3 (score method without continuity correction).
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_values_of_newcombe(successes: int, n: int, low: float, high: float) -> None:
    interval = wilson_interval(successes, n)
    assert interval is not None
    assert interval == pytest.approx((low, high), abs=5e-5)


def test_wilson_at_the_ends_is_exact_and_without_rows_undefined() -> None:
    nothing, everything = wilson_interval(0, 7), wilson_interval(7, 7)
    assert nothing is not None
    assert everything is not None
    assert nothing[0] == 0.0
    assert everything[1] == 1.0
    # By symmetry of the formula in p and 1 − p.
    assert nothing[1] == pytest.approx(1 - everything[0])
    assert wilson_interval(0, 0) is None


@pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3)])
def test_wilson_refuses_what_is_no_proportion(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match=f"between 0 and n = {n}, got {successes}"):
        wilson_interval(successes, n)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_contains_the_proportion(pair: tuple[int, int]) -> None:
    interval = wilson_interval(*pair)
    assert interval is not None
    assert 0 <= interval[0] <= pair[0] / pair[1] <= interval[1] <= 1


def test_percentile_interval_by_hand() -> None:
    # 0, 1, …, 100: quantile q lies at position 100·q of the order statistics, so 2.5 % is 2.5 and 97.5 % is 97.5.
    assert percentile_interval(np.arange(101.0)) == pytest.approx((2.5, 97.5))
    assert percentile_interval(np.arange(101.0), level=0.9) == pytest.approx((5.0, 95.0))


def test_percentile_interval_drops_what_is_undefined() -> None:
    nan = np.nan
    # Half undefined: still an interval, of the other half.
    assert percentile_interval(np.array([nan, 3.0, nan, 3.0])) == (3.0, 3.0)
    # More than half undefined, all undefined, nothing at all: none.
    assert percentile_interval(np.array([nan, 3.0, nan])) is None
    assert percentile_interval(np.array([nan])) is None
    assert percentile_interval(np.array([])) is None


def _mean_of_values(tables: NDArray[np.int64]) -> NDArray[np.float64]:
    """Mean of a variable with values 0, 1, 2, …, one for each cell of the tables [B, 2, 3]."""
    cells = tables.reshape(-1, 6)
    mean: NDArray[np.float64] = cells @ np.arange(cells.shape[1]) / cells.sum(axis=1)
    return mean


def test_bootstrap_of_counts_is_the_bootstrap_of_rows() -> None:
    counts = np.array([[40, 0, 25], [30, 5, 100]])
    rows = np.repeat(np.arange(6), counts.ravel())
    n, resamples = len(rows), 8000
    rng = _rng(2)
    naive = np.array([rows[rng.integers(0, n, n)].mean() for _ in range(resamples)])
    ours = bootstrap_counts(counts, _mean_of_values, resamples, _rng(3))
    # The standard error of a mean over rows is known: σ/√n, with σ of the population of rows.
    error = rows.std() / np.sqrt(n)
    assert ours.shape == (resamples,)
    assert ours.mean() == pytest.approx(rows.mean(), abs=5 * error / np.sqrt(resamples))
    assert ours.std() == pytest.approx(error, rel=5 / np.sqrt(2 * resamples))
    # Standard error of a 2.5 % quantile of a normal: √(0.025·0.975/B) / 0.0584 standard deviations, 0.030 for B = 8000;
    # of the difference of two, 0.042; five of them, 0.21.
    low, high = percentile_interval(ours) or (np.nan, np.nan)
    naive_low, naive_high = percentile_interval(naive) or (np.nan, np.nan)
    assert (low, high) == pytest.approx((naive_low, naive_high), abs=0.21 * error)


def test_bootstrap_draws_n_rows_from_occupied_cells_only() -> None:
    counts = np.array([[3, 0], [0, 9]])
    seen: list[NDArray[np.int64]] = []

    def statistic(tables: NDArray[np.int64]) -> NDArray[np.float64]:
        seen.append(tables)
        return tables[:, 0, 0].astype(np.float64)

    bootstrap_counts(counts, statistic, 50, _rng())
    assert seen[0].shape == (50, 2, 2)
    assert (seen[0].sum(axis=(1, 2)) == 12).all()
    assert not seen[0][:, 0, 1].any()
    assert not seen[0][:, 1, 0].any()


def test_bootstrap_is_decided_by_the_state_of_the_generator() -> None:
    counts = np.array([[40, 3, 25], [30, 5, 100]])
    first, again, other = (bootstrap_counts(counts, _mean_of_values, 100, _rng(seed)) for seed in (5, 5, 6))
    assert (first == again).all()
    assert (first != other).any()


def test_bootstrap_of_nothing() -> None:
    empty = bootstrap_counts(np.zeros((2, 2), dtype=np.int64), lambda tables: tables.sum(axis=(1, 2)) * 1.0, 3, _rng())
    assert empty.tolist() == [0.0, 0.0, 0.0]
    assert bootstrap_counts(np.ones((2, 3), dtype=np.int64), _mean_of_values, 0, _rng()).shape == (0,)


def test_bootstrap_refuses_negative_numbers() -> None:
    with pytest.raises(ValueError, match="got a negative count"):
        bootstrap_counts(np.array([1, -1]), _mean_of_values, 10, _rng())
    with pytest.raises(ValueError, match="0 or more resamples, got -1"):
        bootstrap_counts(np.array([1, 1]), _mean_of_values, -1, _rng())


def _ratio(sums: Floats) -> Floats:
    """First sum over second; NaN where the second is 0."""
    ratio: Floats = np.divide(sums[:, 0], sums[:, 1], out=np.full(len(sums), nan), where=sums[:, 1] != 0)
    return ratio


def test_bootstrap_of_units_is_resampling_them_one_by_one() -> None:
    rng = _rng(2)
    units = np.column_stack((rng.integers(0, 4, 60), rng.integers(1, 6, 60))).astype(np.float64)
    naive = np.array([_ratio(units[rng.integers(0, 60, 60)].sum(axis=0)[None, :])[0] for _ in range(8000)])
    ours = bootstrap_units(units, _ratio, 8000, _rng(3))
    # As above: standard errors of a mean, a standard deviation, a 2.5 % quantile over 8,000 replicates; five of them.
    assert ours.mean() == pytest.approx(naive.mean(), abs=5 * np.sqrt(2 / 8000) * naive.std())
    assert ours.std() == pytest.approx(naive.std(), rel=5 / np.sqrt(8000))
    assert percentile_interval(ours) == pytest.approx(percentile_interval(naive), abs=0.21 * naive.std())


def test_bootstrap_of_units_keeps_what_is_paired_together_and_chunks_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Both columns of each unit are equal, so every resample's two sums are equal; n units are drawn each time.
    units = np.column_stack((np.arange(7.0), np.arange(7.0), np.ones(7)))
    seen: list[Floats] = []

    def statistic(sums: Floats) -> Floats:
        if len(sums):
            seen.append(sums)
        values: Floats = sums[:, 0]
        return values

    whole = bootstrap_units(units, statistic, 50, _rng())
    assert len(seen) == 1
    monkeypatch.setattr("mtbias.stats.resampling._CELLS", 70)  # 10 resamples of 7 units at a time
    parts = bootstrap_units(units, statistic, 50, _rng())
    assert [len(sums) for sums in seen] == [50, 10, 10, 10, 10, 10]
    assert (whole == parts).all()
    assert (seen[0][:, 0] == seen[0][:, 1]).all()
    assert (seen[0][:, 2] == 7).all()
    assert len(set(whole.tolist())) > 1


def test_bootstrap_of_no_units_and_no_resamples() -> None:
    assert np.isnan(bootstrap_units(np.zeros((0, 2)), _ratio, 3, _rng())).all()
    assert bootstrap_units(np.ones((4, 2)), _ratio, 0, _rng()).shape == (0,)
    # Several values at once.
    assert bootstrap_units(np.ones((4, 2)), lambda sums: sums / 4, 5, _rng()).tolist() == [[1.0, 1.0]] * 5
    assert bootstrap_units(np.ones((4, 2)), lambda sums: sums / 4, 0, _rng()).shape == (0, 2)
    with pytest.raises(ValueError, match=r"\[n_units, k\], got shape \(3,\)"):
        bootstrap_units(np.ones(3), _ratio, 1, _rng())
    with pytest.raises(ValueError, match="0 or more resamples, got -1"):
        bootstrap_units(np.ones((3, 2)), _ratio, -1, _rng())


def _mean(n: int) -> Callable[[Floats], Floats]:
    def statistic(sums: Floats) -> Floats:
        mean: Floats = sums[:, 0] / n
        return mean

    return statistic


def test_randomisation_by_hand() -> None:
    # Three units; a is correct on all, b on none: |1 − 0| = 1. Of the 8 arrangements only "swap none" and "swap all"
    # give a difference of 1 (the others ±1/3), so p = 2/8.
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
        return abs(float(statistic(x.sum(axis=0)[None, :])[0] - statistic(y.sum(axis=0)[None, :])[0]))

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
    sampled = randomisation_test(a, b, _ratio, 2000, _rng(5))  # 2**11 = 2048 arrangements: too many for 2000
    assert sampled != exact
    # Standard error of a share over 2000 draws; five of them.
    assert sampled == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / 2000))
    assert randomisation_test(a, b, _ratio, 2000, _rng(5)) == sampled


def test_randomisation_of_correctness_is_mcnemar() -> None:
    # With a difference of two proportions of right answers, the exact test over swaps is McNemar's exact test: 3 units
    # only a has right, 8 only b, 5 both.
    a = np.array([1] * 3 + [0] * 8 + [1] * 5)[:, None]
    b = np.array([0] * 3 + [1] * 8 + [1] * 5)[:, None]
    assert randomisation_test(a, b, _mean(16), 2**11, _rng()) == pytest.approx(mcnemar(3, 8), rel=1e-12)


def test_randomisation_never_gives_0_and_an_undefined_resample_counts_against_the_difference() -> None:
    a, b = np.ones((100, 1)), np.zeros((100, 1))
    assert randomisation_test(a, b, _mean(100), 999, _rng()) == 1 / 1000
    # Sums of b are (1, 0): its ratio is undefined, so there is no difference to test.
    assert isnan(randomisation_test(np.array([[1, 1]]), np.array([[1, 0]]), _ratio, 100, _rng()))
    # a: (1 + 1) / (1 + 1) = 1, b: 5 / 2; swapping the second unit only gives a = 6 / 1, b = 1 / 3; the first only,
    # the mirror of it: both larger than 3/2. All four arrangements are hits.
    a, b = np.array([[1, 1], [1, 1]]), np.array([[0, 2], [5, 0]])
    assert randomisation_test(a, b, _ratio, 4, _rng()) == 1.0
    # a: 2/2, b: 1/3; swapping the first gives a = 0/0... undefined on one side: a hit each, with its mirror.
    a, b = np.array([[2, 2], [0, 0]]), np.array([[0, 0], [1, 3]])
    assert randomisation_test(a, b, _ratio, 4, _rng()) == 1.0


def test_randomisation_refuses_what_is_not_paired() -> None:
    with pytest.raises(ValueError, match=r"one shape, got \(2, 1\) and \(3, 1\)"):
        randomisation_test(np.ones((2, 1)), np.ones((3, 1)), _ratio, 10, _rng())
    with pytest.raises(ValueError, match="0 or more resamples, got -2"):
        randomisation_test(np.ones((2, 1)), np.ones((2, 1)), _ratio, -2, _rng())


@pytest.mark.parametrize(("b", "c"), [(0, 0), (0, 1), (1, 0), (5, 5), (3, 10), (10, 3), (40, 90), (400, 300), (0, 60)])
def test_mcnemar_is_scipys_binomial_test(b: int, c: int) -> None:
    expected = scipy.stats.binomtest(b, b + c).pvalue if b + c else 1.0
    assert mcnemar(b, c) == pytest.approx(expected, rel=1e-10)


def test_mcnemar_by_hand() -> None:
    # P(X <= 1), X ~ Binomial(5, 1/2): (1 + 5) / 32; twice that.
    assert mcnemar(1, 4) == pytest.approx(0.375, rel=1e-15)
    with pytest.raises(ValueError, match="of 0 or more, got -1 and 2"):
        mcnemar(-1, 2)


def test_holm_by_hand() -> None:
    # Ascending: .005·4 = .02, .01·3 = .03, .03·2 = .06, .04·1 = .04 → .06 (never below the one before).
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
    with pytest.raises(ValueError, match="within 0 and 1"):
        holm([0.5, nan])


def test_spearman_by_hand() -> None:
    # Without ties ρ = 1 − 6·Σd²/(n(n²−1)): d = (−2, 1, 1), 1 − 6·6/24 = −0.5.
    assert spearman([1, 2, 3], [3, 1, 2]) == pytest.approx(-0.5)
    # Ranks (2.5, 1, 2.5, 4) and (1, 2, 3, 4) about 2.5: Σab = 0 + 0.75 + 0 + 2.25, Σa² = 4.5, Σb² = 5.
    assert spearman([2, 1, 2, 4], [1, 2, 3, 4]) == pytest.approx(3 / (4.5 * 5) ** 0.5)
    assert np.isnan([spearman([1, 2], [7, 7]), spearman([1], [1]), spearman([], [])]).all()
    both = spearman([[1, 2, 3], [1, 2, 3]], [[3, 1, 2], [1, 2, 3]])
    assert both == pytest.approx([-0.5, 1])
    with pytest.raises(ValueError, match="got 2 and 1 values"):
        spearman([1, 2], [1])
    with pytest.raises(ValueError, match="NaN"):
        spearman([1, nan], [1, 2])


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 9)), min_size=2, max_size=40))
def test_spearman_is_scipys(pairs: list[tuple[int, int]]) -> None:
    x, y = ([float(pair[i]) for pair in pairs] for i in range(2))
    if len(set(x)) > 1 and len(set(y)) > 1:
        assert spearman(x, y) == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
    else:
        assert np.isnan(spearman(x, y))
