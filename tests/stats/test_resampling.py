"""The bootstrap and intervals: against published values, by-hand values, and resampling one by
one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from mtbias.stats.resampling import (
    bootstrap_counts,
    bootstrap_units,
    estimate,
    percentile_interval,
    wilson_percent,
    wilson_percent_of_units,
)
from mtbias.stats.results import Estimate, Floats, p_text, rounded


def _rng(seed: int = 1) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998), Table I, method 3 (score method without
        # continuity correction).
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_values_of_newcombe(
    successes: int, n: int, low: float, high: float
) -> None:
    interval = wilson_percent(successes, n)
    assert interval is not None
    assert interval == pytest.approx((100 * low, 100 * high), abs=5e-3)


def test_wilson_at_the_ends_is_exact_and_without_rows_undefined() -> None:
    nothing, everything = wilson_percent(0, 7), wilson_percent(7, 7)
    assert nothing is not None
    assert everything is not None
    assert nothing[0] == 0.0
    assert everything[1] == 100.0
    # By symmetry of the formula in p and 1 − p.
    assert nothing[1] == pytest.approx(100 - everything[0])
    assert wilson_percent(0, 0) is None


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_contains_the_proportion(pair: tuple[int, int]) -> None:
    interval = wilson_percent(*pair)
    assert interval is not None
    assert 0 <= interval[0] <= 100 * pair[0] / pair[1] <= interval[1] <= 100


def test_wilson_of_units_with_one_thing_each_is_wilson() -> None:
    # Kinds of units: one thing with the property, one without.
    found = wilson_percent_of_units(np.array([1.0, 0.0]), np.ones(2), np.array([7, 13]))
    assert found == pytest.approx(wilson_percent(7, 20))
    assert wilson_percent_of_units(np.array([1.0]), np.ones(1), np.array([16])) == pytest.approx(
        wilson_percent(16, 16)
    )
    assert wilson_percent_of_units(np.ones(2), np.zeros(2), np.array([3, 4])) is None


def test_wilson_of_units_counts_what_goes_together_less() -> None:
    parts, wholes = np.array([2.0, 0.0, 1.0]), np.full(3, 2.0)
    # Pairs that always go together: each unit is one thing, at the ends too.
    assert wilson_percent_of_units(parts, wholes, np.array([7, 13, 0])) == pytest.approx(
        wilson_percent(7, 20)
    )
    assert wilson_percent_of_units(parts, wholes, np.array([0, 20, 0])) == pytest.approx(
        wilson_percent(0, 20)
    )
    # Pairs of which one always has the property: no more than all 40 things, although the share
    # never varies.
    assert wilson_percent_of_units(parts, wholes, np.array([0, 0, 20])) == pytest.approx(
        wilson_percent(20, 40)
    )


def test_percentile_interval_by_hand() -> None:
    # 0, 1, …, 100: quantile q lies at position 100·q of the order statistics, so 2.5 % is 2.5 and
    # 97.5 % is 97.5.
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
    # Standard error of a 2.5 % quantile of a normal: √(0.025·0.975/B) / 0.0584 standard deviations,
    # 0.030 for B = 8000; of the difference of two, 0.042; five of them, 0.21.
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
    first, again, other = (
        bootstrap_counts(counts, _mean_of_values, 100, _rng(seed)) for seed in (5, 5, 6)
    )
    assert (first == again).all()
    assert (first != other).any()


def test_bootstrap_of_counts_in_chunks_draws_the_same_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = np.array([[7, 0, 5], [1, 30, 2]])
    sizes: list[int] = []

    def shares(resamples: NDArray[np.int64]) -> Floats:
        sizes.append(len(resamples))
        found: Floats = resamples[:, 0, :] / resamples.sum(axis=(1, 2))[:, None]
        return found

    whole = bootstrap_counts(counts, shares, 100, np.random.default_rng(3))
    monkeypatch.setattr(
        "mtbias.stats.resampling._CELLS_OF_TABLES", 45
    )  # 7 tables of 6 cells, and 2 at the end
    chunked = bootstrap_counts(counts, shares, 100, np.random.default_rng(3))
    assert sizes == [100, *[7] * 14, 2]
    assert chunked.tobytes() == whole.tobytes()


def test_bootstrap_of_nothing() -> None:
    empty = bootstrap_counts(
        np.zeros((2, 2), dtype=np.int64), lambda tables: tables.sum(axis=(1, 2)) * 1.0, 3, _rng()
    )
    assert empty.tolist() == [0.0, 0.0, 0.0]
    assert bootstrap_counts(np.ones((2, 3), dtype=np.int64), _mean_of_values, 0, _rng()).shape == (
        0,
    )


def _ratio(sums: Floats) -> Floats:
    """First sum over second; NaN where the second is 0."""
    ratio: Floats = np.divide(
        sums[:, 0], sums[:, 1], out=np.full(len(sums), nan), where=sums[:, 1] != 0
    )
    return ratio


def test_bootstrap_of_units_is_resampling_them_one_by_one() -> None:
    rng = _rng(2)
    units = np.column_stack((rng.integers(0, 4, 60), rng.integers(1, 6, 60))).astype(np.float64)
    naive = np.array(
        [_ratio(units[rng.integers(0, 60, 60)].sum(axis=0)[None, :])[0] for _ in range(8000)]
    )
    ours = bootstrap_units(units, _ratio, 8000, _rng(3))
    # As above: standard errors of a mean, a standard deviation, a 2.5 % quantile over 8,000
    # replicates; five of them.
    assert ours.mean() == pytest.approx(naive.mean(), abs=5 * np.sqrt(2 / 8000) * naive.std())
    assert ours.std() == pytest.approx(naive.std(), rel=5 / np.sqrt(8000))
    assert percentile_interval(ours) == pytest.approx(
        percentile_interval(naive), abs=0.21 * naive.std()
    )


def test_bootstrap_of_units_keeps_what_is_paired_together_and_chunks_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Both columns of each unit are equal, so every resample's two sums are equal; n units are drawn
    # each time.
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
    assert (
        bootstrap_units(np.ones((4, 2)), lambda sums: sums / 4, 5, _rng()).tolist()
        == [[1.0, 1.0]] * 5
    )
    assert bootstrap_units(np.ones((4, 2)), lambda sums: sums / 4, 0, _rng()).shape == (0, 2)


def test_several_numbers_with_their_intervals_denominators_and_p() -> None:
    # Four units add (1, 1), (1, 1), (0, 1), (0, 1): a ratio of 1/2, and its distance from 1/2,
    # which is 0.
    units = np.array([[1.0, 1], [1, 1], [0, 1], [0, 1]])

    def numbers(sums: Floats) -> dict[str, Floats]:
        ratio = _ratio(sums)
        return {"ratio": ratio, "distance": ratio - 0.5, "undefined": np.full(len(sums), nan)}

    resample = partial(bootstrap_units, units, n_resamples=4000, rng=_rng())
    whole, chosen = units.sum(axis=0)[None], ["ratio", "undefined"]
    found = estimate(
        whole, numbers, resample, n={"ratio": 4}, intervals=chosen, tested=["distance"]
    )
    assert list(found) == ["ratio", "distance", "undefined"]
    assert (found["ratio"].value, found["ratio"].n, found["ratio"].p) == (0.5, 4, None)
    # Of four draws none is right, or all are, with probability 1/16 each: more than the 2.5 %
    # beyond either end.
    assert found["ratio"].interval == (0.0, 1.0)
    # Nobody asked for its interval. At most 2 of 4 are drawn right with probability 1/16 + 4/16 +
    # 6/16.
    assert (found["distance"].value, found["distance"].interval, found["distance"].n) == (
        0.0,
        None,
        None,
    )
    assert found["distance"].p_one_sided == pytest.approx(
        11 / 16, abs=5 * (11 / 16 * 5 / 16 / 4000) ** 0.5
    )
    # At least 2 are with the same probability, so the two-sided p is at its largest.
    assert found["distance"].p == 1
    assert found["undefined"] == Estimate(None)
    none = estimate(whole, numbers, partial(resample, n_resamples=0), n={}, tested=["distance"])
    assert (none["ratio"].interval, none["distance"].p) == (None, None)


def test_two_sided_p_is_twice_the_smaller_tail_with_one_resample_more() -> None:
    # Of ten resamples the number is below 0 in one, 0 in one and above in eight; undefined once: it
    # counts as both.
    values = np.array([-1.0, 0.0, *range(1, 8), nan])

    def drawn(statistic: Callable[[Floats], Floats]) -> Floats:
        return statistic(values[:, None])

    found = estimate(np.ones((1, 1)), lambda sums: {"x": sums[:, 0]}, drawn, n={}, tested=["x"])[
        "x"
    ]
    assert (found.p_one_sided, found.p) == ((3 + 1) / 11, 2 * (3 + 1) / 11)


def test_a_p_of_resamples_is_never_0() -> None:
    # All of 200 resamples are above 0: the least that they can tell is 1 of 201.
    def drawn(statistic: Callable[[Floats], Floats]) -> Floats:
        return statistic(np.ones((200, 1)))

    found = estimate(np.ones((1, 1)), lambda sums: {"x": sums[:, 0]}, drawn, n={}, tested=["x"])[
        "x"
    ]
    assert (found.p_one_sided, found.p) == (1 / 201, 2 / 201)


def test_p_values_in_files_and_in_print_are_never_0() -> None:
    # Six decimals would make 0 of 0.00000034; the share beside it is no p-value, and is 0 to six
    # decimals.
    content = {"p": 3.4e-7, "share": 3.4e-7, "tests": [{"p_holm": 0.25, "p_one_sided": None}]}
    assert rounded(content) == {
        "p": 3.4e-7,
        "share": 0.0,
        "tests": [{"p_holm": 0.25, "p_one_sided": None}],
    }
    assert rounded({"p": 0.123456789}) == {"p": 0.123457}
    # The least p of 10,000 resamples, 1 / 10,001, is below what four decimals show.
    texts = [p_text(p, 4) for p in (1 / 10_001, 0.0001, 0.00051, None)]
    assert texts == ["<0.0001", "0.0001", "0.0005", "–"]
    assert [p_text(p) for p in (0.00099, 0.001, 0.0406)] == ["<0.001", "0.001", "0.041"]


def test_intervals_of_several_numbers_are_those_of_each() -> None:
    counts = np.array([[40, 3, 25], [30, 5, 100]])
    found = estimate(
        counts[None],
        lambda tables: {"twice": 2 * _mean_of_values(tables), "once": _mean_of_values(tables)},
        partial(bootstrap_counts, counts, n_resamples=50, rng=_rng(4)),
        n={},
    )
    alone = percentile_interval(bootstrap_counts(counts, _mean_of_values, 50, _rng(4)))
    assert found["once"].interval == alone
