"""Two systems' calls as one table: counts by hand, laws, agreement with the tests of `mtbias.stats.resampling`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mtbias.scoring.bias import (
    CALLS,
    GENDER_COUNTING,
    GOLDS,
    SHAPE,
    STEREOTYPES,
    Row,
    compute,
    count,
)
from mtbias.stats import paired
from mtbias.stats.paired import PairedTables, WeightedTables, pair_cells, tabulate
from mtbias.stats.resampling import bootstrap_units, mcnemar, percentile_interval
from mtbias.stats.results import Counts, Floats
from mtbias.types import Gender, Stereotype
from tests.scoring.compared_runs import ANTI, NONE, NUMBERS, PRO, F, M, N, generator, record_of
from tests.stats.randomisation import randomisation_test

ONE = np.ones(1)
PAIR_SHAPE = (*SHAPE, SHAPE[-1])

pair_tables = hnp.arrays(np.int64, PAIR_SHAPE, elements=st.integers(0, 3))

# gold, stereotype, first call, second call. The first is right in rows 0, 1, 4, 5, 7; the second in
# 0, 2, 4, 6.
ROWS = [
    (M, PRO, M, M),
    (M, ANTI, M, F),
    (F, PRO, M, F),
    (F, ANTI, M, M),
    (F, PRO, F, F),
    (F, ANTI, F, None),
    (M, ANTI, None, M),
    (N, NONE, N, None),
]

FIRST: list[Row] = [(gold, kind, a) for gold, kind, a, _ in ROWS]
SECOND: list[Row] = [(gold, kind, b) for gold, kind, _, b in ROWS]


def count_pairs(first: Sequence[Row], second: Sequence[Row]) -> Counts:
    """The table of pairs of two systems' rows."""
    cells = [
        GENDER_COUNTING.cells(record_of(n, *row) for n, row in enumerate(rows))
        for rows in (first, second)
    ]
    table: Counts = tabulate(pair_cells(cells[0], cells[1], SHAPE[-1]), PAIR_SHAPE)[0]
    return table


def values(sums: Floats) -> Floats:
    rates = GENDER_COUNTING.rates(sums)
    return np.stack([rates[each.key] for each in GENDER_COUNTING.compared], axis=-1)


def compute_numbers(tables: Counts, weights: Floats = ONE) -> Floats:
    numbers: Floats = values(WeightedTables(tables, weights).total())[0]
    return numbers


def compute_differences(pairs: Counts, weights: Floats = ONE) -> Floats:
    return compute_numbers(pairs.sum(axis=-1), weights) - compute_numbers(
        pairs.sum(axis=-2), weights
    )


def randomisation_pvalues(
    pairs: Counts, weights: Floats, n_resamples: int, rng: np.random.Generator
) -> Floats:
    return paired.randomisation_pvalues(PairedTables(pairs, weights), values, n_resamples, rng)


def _unit_tables(rows: Sequence[Row]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([count([row]).ravel() for row in rows], dtype=np.float64)


def _statistic(number: str) -> Any:
    def of(sums: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        tables = np.rint(sums).astype(np.int64).reshape(-1, *SHAPE)
        return np.array([compute_numbers(table[None])[NUMBERS.index(number)] for table in tables])

    return of


def test_pairs_are_counted_with_both_margins() -> None:
    pairs = count_pairs(FIRST, SECOND)
    assert pairs.shape == (3, 3, 4, 4)
    assert (pairs.sum(axis=-1) == count(FIRST)).all()
    assert (pairs.sum(axis=-2) == count(SECOND)).all()
    assert pairs[1, 0, 0, 1] == 1  # row 1: anti, male, called male and female
    assert pairs[1, 1, 1, 3] == 1  # row 5: anti, female, called female and not at all


def test_mcnemar_and_differing_by_hand() -> None:
    table = PairedTables(count_pairs(FIRST, SECOND)[None]).mcnemar(GENDER_COUNTING.right)
    # Both right: rows 0, 4. Only the first: 1, 5, 7. Only the second: 2, 6. Neither: 3.
    assert (table.both, table.first_only, table.second_only, table.neither) == (2, 3, 2, 1)
    assert table.p == 1.0  # 2·P(X <= 2), X ~ Binomial(5, 1/2), is 2·16/32
    assert (
        PairedTables(count_pairs(FIRST, SECOND)[None]).differing() == 5
    )  # all but rows 0, 3 (both wrong alike) and 4


def test_differences_by_hand() -> None:
    accuracy, delta_g, delta_s = compute_differences(count_pairs(FIRST, SECOND)[None])
    assert accuracy == pytest.approx(100 * (5 - 4) / 8)
    # F1 = 2·TP / (called + gold). First: male 2·2/(4+3), female 2·2/(2+4). Second: male 2·2/(3+3),
    # female 2·2/(3+4).
    assert delta_g == pytest.approx(100 * ((4 / 7 - 4 / 6) - (4 / 6 - 4 / 7)))
    # First: pro 2 of 3, anti 2 of 4. Second: pro 3 of 3, anti 1 of 4.
    assert delta_s == pytest.approx(100 * ((2 / 3 - 2 / 4) - (1 - 1 / 4)))


@given(pair_tables)
def test_differences_are_those_of_the_numbers_of_each_system(pairs: Counts) -> None:
    first, second = compute(pairs.sum(axis=-1)), compute(pairs.sum(axis=-2))
    for name, value in zip(NUMBERS, compute_differences(pairs[None]), strict=True):
        a, b = first[name], second[name]
        expected = np.nan if a is None or b is None else a - b
        assert value == pytest.approx(expected, nan_ok=True)


@given(pair_tables)
def test_exchanging_the_systems_turns_the_sign(pairs: Counts) -> None:
    there, back = (
        compute_differences(pairs[None]),
        compute_differences(pairs.swapaxes(-1, -2)[None]),
    )
    assert there == pytest.approx(-back, nan_ok=True)


def test_weights_of_two_are_rows_twice() -> None:
    rng = generator(1)
    levels = rng.integers(0, 5, (2, *PAIR_SHAPE))
    twice = (levels[0] + 2 * levels[1])[None]
    assert compute_differences(levels, np.array([1.0, 2.0])) == pytest.approx(
        compute_differences(twice)
    )


def test_intervals_of_one_system_are_those_of_its_scores() -> None:
    table = generator(2).integers(0, 40, SHAPE)
    replicates = values(WeightedTables(table[None]).resampled_tables(300, generator()))
    theirs = GENDER_COUNTING.estimates(
        GENDER_COUNTING.levels(table), GENDER_COUNTING.numbers, 300, generator()
    )
    _, *ours = map(percentile_interval, replicates.T)
    assert ours == [
        theirs[name].interval for name in NUMBERS[1:]
    ]  # the accuracy's is Wilson's, as of one system


def test_the_paired_bootstrap_is_the_bootstrap_over_rows() -> None:
    # The same distribution drawn in two ways: counts of cells, and rows. With 4,000 resamples the
    # standard error of an estimated standard deviation is 1.1 % of it, and that of the 0.025
    # quantile about 4.3 % (at the normal's density
    # 0.058: √(0.025·0.975/4000)/0.058 = 0.043 standard deviations); we allow over four times as
    # much.
    pairs = generator(3).integers(0, 12, PAIR_SHAPE)
    cells = np.argwhere(pairs)
    rows = np.repeat(cells, pairs[tuple(cells.T)], axis=0)
    units = np.zeros((len(rows), 2, *SHAPE))
    units[np.arange(len(rows)), 0, rows[:, 0], rows[:, 1], rows[:, 2]] = 1
    units[np.arange(len(rows)), 1, rows[:, 0], rows[:, 1], rows[:, 3]] = 1

    def statistic(sums: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        tables = np.rint(sums).astype(np.int64).reshape(len(sums), 2, *SHAPE)
        return values(tables[:, 0]) - values(tables[:, 1])

    by_rows = bootstrap_units(units.reshape(len(rows), -1), statistic, 4000, generator(4))
    first, second = map(values, PairedTables(pairs[None]).resampled(4000, generator(5)))
    by_counts = first - second
    spread = by_rows.std(axis=0)
    assert by_counts.std(axis=0) == pytest.approx(spread, rel=0.07)
    for q in (0.025, 0.5, 0.975):
        apart = np.abs(np.quantile(by_counts, q, axis=0) - np.quantile(by_rows, q, axis=0))
        assert (apart < 0.25 * spread).all()


@pytest.mark.parametrize("number", NUMBERS)
def test_the_exact_p_is_that_of_rows(number: str) -> None:
    # Five rows differ: 2**5 arrangements of rows, all counted by `randomisation_test`; from counts,
    # the same p.
    by_rows = randomisation_test(
        _unit_tables(FIRST), _unit_tables(SECOND), _statistic(number), 64, generator()
    )
    by_counts = randomisation_pvalues(count_pairs(FIRST, SECOND)[None], ONE, 64, generator())
    assert by_counts[NUMBERS.index(number)] == by_rows


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(GOLDS),
            st.sampled_from(STEREOTYPES),
            st.sampled_from(CALLS),
            st.sampled_from(CALLS),
        ),
        min_size=1,
        max_size=7,
    )
)
def test_the_exact_p_of_any_rows_is_that_of_rows(
    rows: list[tuple[Gender, Stereotype, Gender, Gender]],
) -> None:
    first: list[Row] = [(gold, kind, a) for gold, kind, a, _ in rows]
    second: list[Row] = [(gold, kind, b) for gold, kind, _, b in rows]
    ours = randomisation_pvalues(count_pairs(first, second)[None], ONE, 128, generator())
    theirs = [
        randomisation_test(
            _unit_tables(first), _unit_tables(second), _statistic(number), 128, generator()
        )
        for number in NUMBERS
    ]
    assert ours == pytest.approx(theirs, nan_ok=True)


def test_the_p_of_the_accuracy_is_mcnemars() -> None:
    # The difference in accuracy depends on the b and c rows that one system alone has right, and
    # after swapping b is Binomial(b + c, 1/2): the randomisation test is McNemar's exact test.
    pairs = np.zeros(PAIR_SHAPE, dtype=np.int64)
    pairs[0, 0, 0, 1], pairs[0, 0, 1, 0], pairs[1, 1, 1, 1] = (
        60,
        40,
        50,
    )  # men of whom one system alone is right
    p = randomisation_pvalues(pairs[None], ONE, 2000, generator())[
        0
    ]  # k of 100 rows: 101 combinations, all counted
    assert p == pytest.approx(mcnemar(60, 40), abs=1e-12)
    # 30 women whom only the first has right, 30 men whom only the second has: b = 90, c = 70.
    # 101·31·31 combinations are more than 40,000: drawn. The standard error of p (0.13) is
    # √(0.13·0.87/40,000) = 0.0017; we allow four.
    pairs[0, 1, 1, 0], pairs[1, 0, 1, 0] = 30, 30
    drawn = randomisation_pvalues(pairs[None], ONE, 40_000, generator())[0]
    assert drawn == pytest.approx(mcnemar(90, 70), abs=0.007)


def test_equal_calls_have_p_1_and_nothing_drawn_has_none() -> None:
    pairs = count_pairs(FIRST, FIRST)[None]
    assert list(randomisation_pvalues(pairs, ONE, 100, generator())) == [1, 1, 1]
    assert np.isnan(randomisation_pvalues(pairs, ONE, 0, generator())).all()


def test_an_undefined_number_has_no_p() -> None:
    only_men: list[Row] = [(M, NONE, M)] * 5
    accuracy, delta_g, delta_s = randomisation_pvalues(
        count_pairs(only_men, only_men)[None], ONE, 100, generator()
    )
    assert accuracy == 1
    assert np.isnan([delta_g, delta_s]).all()
