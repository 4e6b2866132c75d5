"""Paired comparison: counts by hand, laws, agreement with the tests of `mtbias.stats.resampling`,
what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import binomtest

from mtbias.errors import DataError
from mtbias.runs.call_records import CallRecord
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
from mtbias.scoring.comparable_runs import differing_rows
from mtbias.scoring.comparison import Comparison, compare_runs
from mtbias.scoring.counting import Counting
from mtbias.scoring.definitions import GENDER_NUMBERS
from mtbias.scoring.scores import score
from mtbias.stats import paired
from mtbias.stats.paired import PairedTables, PairedUnits, WeightedTables, pair_cells, tabulate
from mtbias.stats.resampling import bootstrap_units, holm, mcnemar, percentile_interval
from mtbias.stats.results import MIN_ROWS, Counts, Floats
from mtbias.types import Gender, GenderCall, Reason, Stereotype

M, F, N = GOLDS
PRO, ANTI, NONE = STEREOTYPES
ONE = np.ones(1)
NUMBERS = tuple(each.key for each in GENDER_NUMBERS if each.compared)
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


def randomisation_test(
    a: Floats,
    b: Floats,
    statistic: Callable[[Floats], Floats],
    n_resamples: int,
    rng: np.random.Generator,
) -> float:
    """The p of one statistic of units."""
    units = PairedUnits(a, b)
    return float(
        paired.randomisation_pvalues(
            units, lambda sums: statistic(sums)[:, None], n_resamples, rng
        )[0]
    )


def _rng(seed: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def count_pairs(first: Sequence[Row], second: Sequence[Row]) -> Counts:
    """The table of pairs of two systems' rows."""
    cells = [
        GENDER_COUNTING.cells(_record(n, *row) for n, row in enumerate(rows))
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


def _record(n: int, gold: Gender | None, kind: Stereotype, call: Gender | None) -> CallRecord:
    made = GenderCall(f"r{n}", call, None if call else Reason.UNALIGNED)
    return CallRecord(n, f"Sentence {n}.", f"Satz {n}.", "cook", gold, kind, "own", 1, made)


def _unit_tables(rows: Sequence[Row]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([count([row]).ravel() for row in rows], dtype=np.float64)


def _statistic(number: str) -> Any:
    def of(sums: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        tables = np.rint(sums).astype(np.int64).reshape(-1, *SHAPE)
        return np.array([compute_numbers(table[None])[NUMBERS.index(number)] for table in tables])

    return of


# ----- counts


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


# ----- numbers


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
    rng = _rng(1)
    levels = rng.integers(0, 5, (2, *PAIR_SHAPE))
    twice = (levels[0] + 2 * levels[1])[None]
    assert compute_differences(levels, np.array([1.0, 2.0])) == pytest.approx(
        compute_differences(twice)
    )


# ----- intervals


def test_intervals_of_one_system_are_those_of_its_scores() -> None:
    table = _rng(2).integers(0, 40, SHAPE)
    replicates = values(WeightedTables(table[None]).resampled_tables(300, _rng()))
    theirs = GENDER_COUNTING.estimates(
        GENDER_COUNTING.levels(table), GENDER_COUNTING.numbers, 300, _rng()
    )
    _, *ours = map(percentile_interval, replicates.T)
    assert ours == [
        theirs[name].interval for name in NUMBERS[1:]
    ]  # the accuracy's is Wilson's, as of one system


def test_the_interval_of_a_systems_accuracy_is_wilsons(compared: Comparison) -> None:
    share = compared.systems[0].plain["accuracy"]
    assert share.value is not None
    theirs = binomtest(round(2 * share.value), 200).proportion_ci(method="wilson")
    assert share.interval == pytest.approx((100 * theirs.low, 100 * theirs.high))
    assert compared.to_json()["interval_methods"]["systems"]["accuracy"] == "wilson"
    assert set(compared.to_json()["interval_methods"]["pairs"].values()) == {"bootstrap"}


def test_the_paired_bootstrap_is_the_bootstrap_over_rows() -> None:
    # The same distribution drawn in two ways: counts of cells, and rows. With 4,000 resamples the
    # standard error of an estimated standard deviation is 1.1 % of it, and that of the 0.025
    # quantile about 4.3 % (at the normal's density
    # 0.058: √(0.025·0.975/4000)/0.058 = 0.043 standard deviations); we allow over four times as
    # much.
    pairs = _rng(3).integers(0, 12, PAIR_SHAPE)
    cells = np.argwhere(pairs)
    rows = np.repeat(cells, pairs[tuple(cells.T)], axis=0)
    units = np.zeros((len(rows), 2, *SHAPE))
    units[np.arange(len(rows)), 0, rows[:, 0], rows[:, 1], rows[:, 2]] = 1
    units[np.arange(len(rows)), 1, rows[:, 0], rows[:, 1], rows[:, 3]] = 1

    def statistic(sums: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        tables = np.rint(sums).astype(np.int64).reshape(len(sums), 2, *SHAPE)
        return values(tables[:, 0]) - values(tables[:, 1])

    by_rows = bootstrap_units(units.reshape(len(rows), -1), statistic, 4000, _rng(4))
    first, second = map(values, PairedTables(pairs[None]).resampled(4000, _rng(5)))
    by_counts = first - second
    spread = by_rows.std(axis=0)
    assert by_counts.std(axis=0) == pytest.approx(spread, rel=0.07)
    for q in (0.025, 0.5, 0.975):
        apart = np.abs(np.quantile(by_counts, q, axis=0) - np.quantile(by_rows, q, axis=0))
        assert (apart < 0.25 * spread).all()


def test_there_is_no_interval_of_too_few_rows() -> None:
    # pro men, and one anti woman less than an interval needs
    golds = [(M, PRO)] * MIN_ROWS + [(F, ANTI)] * (MIN_ROWS - 1)
    one, other = (
        replace(
            _run(name, "de"),
            calls=[_record(n, gold, kind, M) for n, (gold, kind) in enumerate(golds)],
        )
        for name in "ab"
    )
    ends = {
        key: d.interval
        for key, d in compare_runs([one, other], n_resamples=50).pairs[0].plain.items()
    }
    assert ends["accuracy"] is not None
    assert (ends["delta_g"], ends["delta_s"]) == (None, None)


# ----- tests


@pytest.mark.parametrize("number", NUMBERS)
def test_the_exact_p_is_that_of_rows(number: str) -> None:
    # Five rows differ: 2**5 arrangements of rows, all counted by `randomisation_test`; from counts,
    # the same p.
    by_rows = randomisation_test(
        _unit_tables(FIRST), _unit_tables(SECOND), _statistic(number), 64, _rng()
    )
    by_counts = randomisation_pvalues(count_pairs(FIRST, SECOND)[None], ONE, 64, _rng())
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
    ours = randomisation_pvalues(count_pairs(first, second)[None], ONE, 128, _rng())
    theirs = [
        randomisation_test(
            _unit_tables(first), _unit_tables(second), _statistic(number), 128, _rng()
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
    p = randomisation_pvalues(pairs[None], ONE, 2000, _rng())[
        0
    ]  # k of 100 rows: 101 combinations, all counted
    assert p == pytest.approx(mcnemar(60, 40), abs=1e-12)
    # 30 women whom only the first has right, 30 men whom only the second has: b = 90, c = 70.
    # 101·31·31 combinations are more than 40,000: drawn. The standard error of p (0.13) is
    # √(0.13·0.87/40,000) = 0.0017; we allow four.
    pairs[0, 1, 1, 0], pairs[1, 0, 1, 0] = 30, 30
    drawn = randomisation_pvalues(pairs[None], ONE, 40_000, _rng())[0]
    assert drawn == pytest.approx(mcnemar(90, 70), abs=0.007)


def test_equal_calls_have_p_1_and_nothing_drawn_has_none() -> None:
    pairs = count_pairs(FIRST, FIRST)[None]
    assert list(randomisation_pvalues(pairs, ONE, 100, _rng())) == [1, 1, 1]
    assert np.isnan(randomisation_pvalues(pairs, ONE, 0, _rng())).all()


def test_an_undefined_number_has_no_p() -> None:
    only_men: list[Row] = [(M, NONE, M)] * 5
    accuracy, delta_g, delta_s = randomisation_pvalues(
        count_pairs(only_men, only_men)[None], ONE, 100, _rng()
    )
    assert accuracy == 1
    assert np.isnan([delta_g, delta_s]).all()


# ----- runs


@dataclass(frozen=True)
class Run:
    system: str
    lang: str
    calls: Sequence[CallRecord]
    fingerprint: str
    corpus: tuple[str, Mapping[str, str]] = ("own", {"own.tsv": "aa" * 32})
    evaluator: Mapping[str, Any] = field(
        default_factory=lambda: {"aligner": "agree/1", "plugin": "de/1"}
    )
    counting: Counting = GENDER_COUNTING
    metrics: Mapping[str, Any] = field(default_factory=dict)
    unknown: None = None
    source_lang: str = "en"

    @property
    def known(self) -> Run:
        return self


def _run(system: str, lang: str, *, seed: int = 0, right: float = 0.7, n: int = 200) -> Run:
    rng = _rng(seed)
    records = []
    for row in range(n):
        gold, kind = (M, F)[row % 2], (PRO, ANTI)[row // 2 % 2]
        call = (
            gold
            if rng.random() < right
            else (F if gold is M else M)
            if rng.random() < 0.8
            else None
        )
        records.append(_record(row, gold, kind, call))
    return Run(system, lang, records, f"{system}-{lang}-{seed}-{right}".ljust(16, "0"))


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return [
        _run("a", "de", seed=1), _run("b", "de", seed=2, right=0.9), _run("c", "de", seed=3), _run("a", "es", seed=4),
        _run("b", "es", seed=5), _run("only", "it", seed=6),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def compared(runs: list[Run]) -> Comparison:
    return compare_runs(runs, n_resamples=500)


def test_all_pairs_of_a_language_are_compared_and_no_others(compared: Comparison) -> None:
    named = [(pair.lang, pair.first, pair.second) for pair in compared.pairs]
    assert named == [("de", "a", "b"), ("de", "a", "c"), ("de", "b", "c"), ("es", "a", "b")]
    assert [system.lang for system in compared.systems] == ["de", "de", "de", "es", "es", "it"]
    assert compared.rows == {
        "n": 200, "male": 100, "female": 100, "pro": 100, "anti": 100, "pairs": 0, "quadruples": 0,
    }  # fmt: skip


def _found(system: str, men: int, women: int) -> Run:
    """Of 100 men and 100 women, so many are found; the others are called the other gender."""
    rows = [(M, F)[n % 2] for n in range(200)]
    right = (men, women)
    calls = [gold if n // 2 < right[n % 2] else (F, M)[n % 2] for n, gold in enumerate(rows)]
    records = [
        _record(n, gold, PRO, call) for n, (gold, call) in enumerate(zip(rows, calls, strict=True))
    ]
    return Run(system, "de", records, system)


def _said(*runs: Run, n_resamples: int = 500) -> list[tuple[str, str]]:
    return [(each.rule, each.text) for each in compare_runs(runs, n_resamples=n_resamples).finding]


def test_the_finding_names_the_better_system_by_how_much_and_for_whom() -> None:
    first, second = _found("a", 90, 20), _found("b", 92, 60)
    genders, shared, better, differs = _said(first, second)
    # a is right for 90 of 100 men and 20 of 100 women, b for 92 and 60.
    gaps = "from 92 % of the men and 60 % of the women (b) to 90 % of the men and 20 % of the women (a)"
    more = "Both systems are right for a greater share of the men than of the women"
    assert genders == ("genders", f"{more}: {gaps}.")
    same = "Both systems make the same error here: a woman, the cook, becomes a man."
    assert shared == ("shared", same)
    start = "b is better than a: accuracy 76.0 against 55.0 %, a difference of 21.0 ["
    counted = "men 92 of 100 right against 90, women 60 of 100 right against 20"
    assert (better[0], better[1][: len(start)]) == ("better", start)
    assert better[1].endswith(f"] points; mostly for women ({counted}).")
    # F1 of 90 men and 20 women: 2·90/270 = 66.7 and 2·20/130 = 30.8; of 92 and 60: 2·92/232 = 79.3
    # and 2·60/168 = 71.4.
    assert differs[0] == "bias_differs"
    assert differs[1].startswith(
        "a and b differ: ΔG (F1 male minus F1 female) 35.9 against 7.9, a difference of 28.0 ["
    )
    again = dict(_said(second, first))["better"]
    assert (again.startswith(start), again.endswith(f"; mostly for women ({counted}).")) == (
        True,
        True,
    )
    both = dict(_said(first, _found("c", 100, 35)))["better"]
    assert both.endswith(
        "points (men 100 of 100 right against 90, women 35 of 100 right against 20)."
    )


def test_the_finding_of_three_systems_names_the_gaps_between_men_and_women() -> None:
    systems = _found("a", 90, 20), _found("b", 92, 60), _found("c", 50, 70)
    said = _said(*systems)
    # a is right for 90 of 100 men and 20 of 100 women, c for 50 and 70.
    gaps = "from 50 % of the men and 70 % of the women (c) to 90 % of the men and 20 % of the women (a)"
    more = "2 of 3 systems are right for a greater share of the men than of the women"
    assert said[0] == ("genders", f"{more}: {gaps}.")
    # Of three systems the first two by accuracy are compared: b 76, c 60, a 55.
    (better,) = [text for rule, text in said if rule == "better"]
    assert better.startswith("b is better than c: accuracy 76.0 against 60.0 %")
    assert better.endswith(
        "; for men alone (men 92 of 100 right against 50, women 60 of 100 right against 70)."
    )
    women = [Run(name, "de", [_record(n, F, PRO, F) for n in range(20)], name) for name in "abc"]
    assert "genders" not in dict(_said(*women))


def test_the_finding_turns_round_where_women_are_found_more_often() -> None:
    said = dict(_said(_found("a", 40, 90), _found("b", 50, 80), _found("c", 60, 62)))
    # 60 and 62 of 100: Wilson [50.2, 69.1] and [52.2, 70.9] overlap.
    assert said["genders"] == (
        "All 3 systems are right for a greater share of the women than of the men: from 60 % of the men and 62 % of "
        "the women (c) to 40 % of the men and 90 % of the women (a); within chance: c."
    )
    assert (
        said["shared"]
        == "All 3 systems make the same error here: a man, the cook, becomes a woman."
    )


def test_an_error_is_shared_by_more_than_half_of_the_systems() -> None:
    def run(name: str, *wrong: int) -> Run:
        records = [_record(n, (M, F)[n % 2], PRO, (M, F)[n % 2]) for n in range(40)]
        called = {n: replace(records[n].call, gender=M) for n in wrong}
        return Run(name, "de", [replace(r, call=called.get(r.row, r.call)) for r in records], name)

    two_of_three = compare_runs([run("a", 1, 3), run("b", 3), run("c", 5)], n_resamples=0).finding
    (shared,) = [said for said in two_of_three if said.rule == "shared"]
    assert (
        shared.text == "2 of 3 systems make the same error here: a woman, the cook, becomes a man."
    )
    assert shared.quote is not None
    assert (shared.quote.id, shared.quote.gold, shared.quote.call) == ("r3", "female", "male")
    one_of_two = compare_runs([run("a", 1), run("b", 3)], n_resamples=0).finding
    assert "shared" not in {said.rule for said in one_of_two}


def test_a_difference_that_is_not_significant_is_within_chance() -> None:
    text = dict(_said(_found("a", 90, 20), _found("b", 91, 20)))["better"]
    start = "Within chance: no clear difference between b and a, accuracy 55.5 against 55.0 %, a difference of 0.5 ["
    assert text.startswith(start)
    text = dict(_said(_found("a", 90, 20), _found("b", 91, 20), n_resamples=0))["better"]
    assert (
        text
        == "Whether b and a differ was not tested: accuracy 55.5 against 55.0 %, a difference of 0.5 points."
    )


def test_the_finding_names_languages_where_there_are_several(compared: Comparison) -> None:
    said_of_pairs = [each.text for each in compared.finding if each.rule == "better"]
    # A line for each language: of three systems the first two by accuracy.
    assert [text.partition(":")[0] for text in said_of_pairs] == ["German", "Spanish"]
    decided = [text.rpartition("; ")[2].partition(": accuracy")[0] for text in said_of_pairs]
    assert decided == ["b is better than c", "b is better than a"]
    assert all(": right for women from " in text for text in said_of_pairs)
    first = compared.finding[0].text
    assert first.startswith("3 of 6 runs (4 systems, 3 languages) are right for a greater share of")
    assert "German)" in first
    assert compared.to_json()["finding"] == [each.to_json() for each in compared.finding]


@pytest.mark.parametrize("number", NUMBERS)
def test_holms_family_is_all_tests_of_a_number(compared: Comparison, number: str) -> None:
    found = [pair.plain[number] for pair in compared.pairs]
    raw = [d.p for d in found if d.p is not None]
    assert len(raw) == compared.tests == 4
    assert [d.p_holm for d in found] == holm(raw)
    assert all(d.significant == (d.p_holm is not None and d.p_holm < 0.05) for d in found)


def test_a_difference_is_that_of_the_systems_and_lies_in_its_interval(compared: Comparison) -> None:
    systems = {(s.lang, s.system): s for s in compared.systems}
    for pair in compared.pairs:
        for number, d in pair.plain.items():
            a, b = (
                systems[pair.lang, name].plain[number].value for name in (pair.first, pair.second)
            )
            assert (d.first, d.second) == (a, b)
            assert a is not None
            assert b is not None
            assert d.interval is not None
            assert d.difference == pytest.approx(a - b)
            assert d.interval[0] <= a - b <= d.interval[1]


def test_intervals_over_entities_are_those_of_metrics_json(runs: list[Run]) -> None:
    # The same rows about twenty occupations instead of one.
    def spread(run: Run) -> Run:
        return replace(
            run, calls=[replace(row, entity=f"e{n % 20}") for n, row in enumerate(run.calls)]
        )

    two = [spread(run) for run in runs[:2]]
    compared = compare_runs(two, n_resamples=300)
    scores = score(two[0].calls, n_resamples=300).overall.over_entities
    assert scores is not None
    assert scores.intervals is not None
    assert compared.systems[0].over_entities is not None
    assert compared.systems[0].over_entities.intervals == {
        key: scores.intervals[key] for key in NUMBERS
    }
    over = compared.pairs[0].over_entities
    assert over is not None
    for key, d in compared.pairs[0].plain.items():
        ends = over.interval_of(key)
        assert ends is not None
        assert d.difference is not None
        assert ends[0] <= d.difference <= ends[1]
    # One occupation alone is too few, and nothing else changes.
    alone = compare_runs(runs[:2], n_resamples=300)
    assert alone.over_entities is not None
    assert alone.over_entities.reason == "expected 10 entities or more, got 1"
    assert alone.pairs[0].plain == compared.pairs[0].plain


def test_a_pair_does_not_depend_on_the_others_but_for_holm(
    runs: list[Run], compared: Comparison
) -> None:
    alone = compare_runs(runs[:2], n_resamples=500).pairs[0]
    within = compared.pairs[0]
    for number in NUMBERS:
        assert replace(alone.plain[number], p_holm=None) == replace(
            within.plain[number], p_holm=None
        )
    assert alone.mcnemar == within.mcnemar


def test_calls_are_joined_by_id(runs: list[Run]) -> None:
    turned = replace(runs[1], calls=runs[1].calls[::-1])
    assert (
        compare_runs([runs[0], turned], n_resamples=50).pairs
        == compare_runs(runs[:2], n_resamples=50).pairs
    )


def test_the_same_seed_gives_the_same_bytes(runs: list[Run]) -> None:
    first, again, other = (
        json.dumps(compare_runs(runs[:2], n_resamples=60, seed=seed).to_json(), allow_nan=False)
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_json_and_frame_have_every_number(compared: Comparison) -> None:
    content = compared.to_json()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert content["pairs"][0]["plain"]["delta_g"]["p"] == round(
        compared.pairs[0].plain["delta_g"].p or 0, 6
    )
    assert content["pairs"][0]["mcnemar"]["both"] == compared.pairs[0].mcnemar.both
    assert content["p"] == {
        "method": "paired randomisation over sentences",
        "correction": "Holm",
        "tests": 4,
    }
    frame = compared.to_frame()
    assert len(frame) == 3 * (6 + 4)
    assert list(frame["minus"].notna()) == [True] * 3 * 4 + [False] * 3 * 6  # differences first
    row = frame[(frame["system"] == "a") & (frame["minus"] == "b") & (frame["lang"] == "es")].iloc[
        0
    ]
    assert row["value"] == round(compared.pairs[3].plain["accuracy"].difference or 0, 6)


def test_without_resamples_there_are_values_alone(runs: list[Run]) -> None:
    (pair,) = compare_runs(runs[:2], n_resamples=0).pairs
    assert all(d.difference is not None for d in pair.plain.values())
    assert [(d.interval, d.p, d.p_holm, d.significant) for d in pair.plain.values()] == [
        (None, None, None, False)
    ] * 3


def test_it_says_when_no_test_can_be_significant(runs: list[Run]) -> None:
    # The smallest p of 39 rearrangements is 1/40, and twice that is 0.05; of 40, 2/41.
    two = [*runs[:2], *runs[3:5]]
    assert compare_runs(two, n_resamples=39).too_few_resamples
    assert not compare_runs(two, n_resamples=40).too_few_resamples


def test_systems_of_one_name_are_told_apart(runs: list[Run]) -> None:
    same = [runs[0], replace(_run("a", "de", seed=9), fingerprint="feedbeef00000000")]
    assert [s.system for s in compare_runs(same, n_resamples=0).systems][1] == "a#feedbeef"


def test_rows_on_which_calls_differ(runs: list[Run], compared: Comparison) -> None:
    rows = list(differing_rows(runs))
    for pair in compared.pairs:
        here = [
            row
            for row in rows
            if (row["lang"], row["first"], row["second"]) == (pair.lang, pair.first, pair.second)
        ]
        assert len(here) == pair.differing > 0
        assert all(row["first_call"] is not row["second_call"] for row in here)
    assert rows[0]["source"] == f"Sentence {str(rows[0]['id'])[1:]}."


# ----- what is refused


def _changed_evaluator(run: Run) -> Run:
    return replace(run, evaluator={**run.evaluator, "aligner": "agree/2"})


def test_runs_that_cannot_be_compared_are_refused(runs: list[Run]) -> None:
    a, b = runs[:2]
    changed = replace(b.calls[0], gold=F if b.calls[0].gold is M else M)
    cases: list[tuple[list[Run], str]] = [
        ([], "got none"),
        ([a, a], "got a in de with the fingerprint .* twice"),
        ([a, runs[3]], "two runs or more in a language, got one in de, es"),
        (
            [a, replace(b, corpus=("other", a.corpus[1]))],
            r"got own \(a in de\) and other \(b in de\)",
        ),
        (
            [a, replace(b, corpus=("own", {"own.tsv": "bb" * 32}))],
            r"own.tsv has the SHA-256 aaaaaaaaaaaa… in a in de and bbbbbbbbbbbb… in b in de",
        ),
        (
            [a, replace(b, corpus=("own", {**a.corpus[1], "more": "cc"}))],
            r"more has the SHA-256 \(absent\)",
        ),
        ([a, replace(b, calls=b.calls[1:])], "got 'r0' in a in de and not in b in de"),
        (
            [a, replace(b, calls=[*b.calls, _record(999, M, PRO, M)])],
            "got 'r999' in b in de and not in a in de",
        ),
        (
            [a, replace(b, calls=[changed, *b.calls[1:]])],
            "another source, or other stereotype or gold, in b in de",
        ),
        ([a, _changed_evaluator(b)], "one evaluator, got aligner agree/1 in a and agree/2 in b"),
    ]
    for given_runs, message in cases:
        with pytest.raises(DataError, match=message):
            compare_runs(given_runs, n_resamples=0)


def test_different_evaluators_are_allowed_by_request_and_named(runs: list[Run]) -> None:
    two = [runs[0], _changed_evaluator(runs[1])]
    found = compare_runs(two, n_resamples=0, different_evaluators=True)
    assert found.evaluators == {"de": ("aligner agree/1 in a and agree/2 in b",)}
    assert "different-evaluators:de" in found.signature


def test_evaluators_of_different_languages_may_differ(runs: list[Run]) -> None:
    spanish = [
        replace(run, evaluator={"aligner": "agree/1", "plugin": "es/1"}) for run in runs[3:5]
    ]
    assert compare_runs([*runs[:2], *spanish], n_resamples=0).evaluators == {}


def test_systems_are_compared_in_consistency_where_the_corpus_has_pairs() -> None:
    # 20 pairs of a man's and a woman's sentence. The first system calls everybody male: right for
    # one only in all pairs, 100 %. The second is right in the first 15 pairs and calls everybody
    # male in the last 5: 25 %.
    def paired_run(system: str, right: int) -> Run:
        records = []
        for row in range(40):
            gold = (M, F)[row % 2]
            record = _record(row, gold, PRO, gold if row < 2 * right else M)
            records.append(replace(record, pair=f"r{row + 1 - 2 * (row % 2)}"))
        return Run(system, "de", records, system.ljust(16, "0"))

    two = [paired_run("all-male", 0), paired_run("better", 15)]
    compared = compare_runs(two, n_resamples=500)
    assert (compared.rows["pairs"], compared.rows["quadruples"]) == (20, 0)
    found = compared.pairs[0].consistency
    assert list(found) == ["across"]  # no quadruples, so no ΔI
    across = found["across"]
    assert (across.first, across.second, across.difference) == (100, 25, 75)
    assert across.interval is not None
    assert across.interval[0] <= 75 <= across.interval[1]
    # 15 pairs differ: of 2**15 exchanges only two are as extreme.
    assert across.p == 1 / 501
    assert across.p_holm == across.p
    assert across.significant
    assert compared.to_json()["pairs"][0]["consistency"]["across"]["difference"] == 75
    assert [row["value"] for row in compared.table() if row["number"] == "across"] == [75]
    without = (
        compare_runs([paired_run("all-male", 0), paired_run("better", 15)], n_resamples=0)
        .pairs[0]
        .consistency["across"]
    )
    assert (without.difference, without.interval, without.p, without.p_holm) == (
        75,
        None,
        None,
        None,
    )
