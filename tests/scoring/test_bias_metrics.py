"""Counts and numbers: by hand, against scikit-learn on any counts, and laws that must hold."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

from mtbias.scoring.bias import (
    CALLS,
    GENDER_COUNTING,
    GOLDS,
    SHAPE,
    STEREOTYPES,
    Row,
    accuracy_bounds,
    classes,
    compute,
    count,
)
from mtbias.stats.resampling import percentile_interval
from mtbias.stats.results import MIN_ROWS, Counts
from mtbias.types import Gender, Stereotype

M, F, N = GOLDS
PRO, ANTI, NONE = STEREOTYPES

tables = hnp.arrays(np.int64, SHAPE, elements=st.integers(0, 12))
rows = st.lists(
    st.tuples(st.sampled_from(GOLDS), st.sampled_from(STEREOTYPES), st.sampled_from(CALLS)),
    max_size=40,
)


def _rows_of(counts: Counts) -> list[Row]:
    return [
        (GOLDS[g], STEREOTYPES[s], CALLS[c])
        for s, g, c in np.ndindex(SHAPE)
        for _ in range(int(counts[s, g, c]))
    ]


def _numbers(counts: Counts) -> SimpleNamespace:
    """Numbers, classes and bounds of a table, as attributes."""
    return SimpleNamespace(**compute(counts), **classes(counts), **accuracy_bounds(counts))


def _intervals(counts: Counts, n_resamples: int, rng: np.random.Generator) -> SimpleNamespace:
    found = GENDER_COUNTING.estimates(
        GENDER_COUNTING.levels(counts), GENDER_COUNTING.numbers, n_resamples, rng
    )
    return SimpleNamespace(**{key: each.interval for key, each in found.items()})


def _rng(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


# ----- counts


def test_count_places_each_row_in_its_cell() -> None:
    counts = count([(M, PRO, M), (M, PRO, M), (F, ANTI, None), (N, NONE, N), (F, PRO, M)])
    expected = np.zeros(SHAPE, dtype=np.int64)
    expected[0, 0, 0] = 2  # pro, male, called male
    expected[1, 1, 3] = 1  # anti, female, no call
    expected[2, 2, 2] = 1  # none, neutral, called neutral
    expected[0, 1, 0] = 1  # pro, female, called male
    assert counts.dtype == np.int64
    assert (counts == expected).all()


def test_count_of_no_rows_is_zero() -> None:
    assert count([]).shape == SHAPE
    assert not count([]).any()


@given(rows, rows)
def test_counts_add_up(first: list[Row], second: list[Row]) -> None:
    assert (count(first) + count(second) == count(first + second)).all()


@given(tables)
def test_counting_inverts_listing(counts: Counts) -> None:
    assert (count(_rows_of(counts)) == counts).all()


# ----- numbers, by hand

# gold   | called male  female  neutral  none | stereotype
# male   |        3        1       0       1  | pro
# female |        1        2       0       0  | pro
# male   |        2        0       0       0  | anti
# female |        3        1       0       1  | anti
# neutral|        1        0       1       0  | none
_HAND = np.zeros(SHAPE, dtype=np.int64)
_HAND[0, 0] = [3, 1, 0, 1]
_HAND[0, 1] = [1, 2, 0, 0]
_HAND[1, 0] = [2, 0, 0, 0]
_HAND[1, 1] = [3, 1, 0, 1]
_HAND[2, 2] = [1, 0, 1, 0]


def test_numbers_by_hand() -> None:
    numbers = _numbers(_HAND)
    # n = 5 + 3 + 2 + 5 + 2 = 17; without a call 2, so 15 decided; correct 3 + 2 + 2 + 1 + 1 = 9.
    assert (numbers.n, numbers.decided) == (17, 15)
    assert (numbers.male, numbers.female, numbers.neutral) == (7, 8, 2)
    assert (numbers.pro, numbers.anti) == (8, 7)
    # Called male 3 + 1 + 2 + 3 + 1 = 10, of which 5 are male; called female 1 + 2 + 1 = 4, of which
    # 3 are female.
    assert (numbers.called_male, numbers.called_female) == (10, 4)
    assert numbers.decided_percent == pytest.approx(100 * 15 / 17)
    assert numbers.accuracy == pytest.approx(100 * 9 / 17)
    assert numbers.accuracy_bounds == pytest.approx((100 * 9 / 17, 100 * 9 / 15))
    assert numbers.precision_male == pytest.approx(50.0)  # 5 / 10
    assert numbers.recall_male == pytest.approx(100 * 5 / 7)
    assert numbers.f1_male == pytest.approx(100 * 10 / 17)  # 2·5 / (10 + 7)
    assert numbers.precision_female == pytest.approx(75.0)  # 3 / 4
    assert numbers.recall_female == pytest.approx(100 * 3 / 8)
    assert numbers.f1_female == pytest.approx(50.0)  # 2·3 / (4 + 8)
    assert numbers.delta_g == pytest.approx(1000 / 17 - 50)
    # pro: (3 + 2) / 8, anti: (2 + 1) / 7.
    assert numbers.accuracy_pro == pytest.approx(62.5)
    assert numbers.accuracy_anti == pytest.approx(300 / 7)
    assert numbers.delta_s == pytest.approx(62.5 - 300 / 7)
    # pro: F1 male 2·3 / (4 + 5) = 6/9, female 2·2 / (3 + 3) = 4/6, mean 2/3;
    # anti: F1 male 2·2 / (5 + 2) = 4/7, female 2·1 / (1 + 5) = 1/3, mean 19/42. 2/3 − 19/42 = 9/42
    # = 3/14.
    assert numbers.delta_s_macro_f1 == pytest.approx(300 / 14)


def test_a_row_without_a_call_lowers_recall_and_accuracy_but_not_precision() -> None:
    before = _numbers(count([(M, PRO, M), (F, PRO, F)]))
    after = _numbers(count([(M, PRO, M), (F, PRO, F), (M, PRO, None)]))
    assert before.precision_male == after.precision_male == 100.0
    assert (before.recall_male, after.recall_male) == (100.0, 50.0)
    assert after.accuracy == pytest.approx(200 / 3)
    assert after.accuracy_bounds == pytest.approx((200 / 3, 100.0))


def test_neutral_gold_counts_in_accuracy_and_in_precision() -> None:
    # Of two rows called male one is neutral: precision 1/2, recall 1/1, F1 = 2/(2 + 1). The neutral
    # row is wrong.
    numbers = _numbers(count([(M, NONE, M), (N, NONE, M)]))
    assert numbers.accuracy == 50.0
    assert numbers.precision_male == 50.0
    assert numbers.f1_male == pytest.approx(200 / 3)


def test_no_rows_leave_everything_undefined() -> None:
    numbers = _numbers(count([]))
    assert numbers.n == numbers.decided == 0
    assert (
        numbers.accuracy
        is numbers.f1_male
        is numbers.delta_g
        is numbers.delta_s
        is numbers.decided_percent
        is None
    )
    assert numbers.accuracy_bounds == (None, None)


def test_nothing_decided_is_wrong_throughout_but_has_no_second_bound() -> None:
    numbers = _numbers(count([(M, PRO, None), (F, ANTI, None)]))
    assert numbers.accuracy_bounds == (0.0, None)
    assert numbers.precision_male is None  # nothing was called male
    assert numbers.f1_male == 0.0  # 2·0 / (0 + 1): rows of gold male exist
    assert numbers.delta_g == 0.0
    assert numbers.delta_s == 0.0


def test_what_needs_an_absent_class_is_undefined() -> None:
    numbers = _numbers(count([(M, PRO, M), (M, NONE, M)]))
    assert numbers.f1_female is None  # no female gold, nothing called female
    assert numbers.delta_g is None
    assert numbers.accuracy_anti is numbers.delta_s is numbers.delta_s_macro_f1 is None
    # A false "female" does not define F1(female): there is nobody to find, and its recall is 0 / 0.
    numbers = _numbers(count([(M, PRO, M), (M, NONE, F)]))
    assert numbers.recall_female is numbers.f1_female is numbers.delta_g is None
    assert numbers.precision_female == 0.0


# ----- numbers, against scikit-learn


def _same(ours: float | None, theirs: float, denominator: int) -> None:
    if denominator == 0:
        assert ours is None
    else:
        assert ours == pytest.approx(100 * theirs)


@given(tables)
def test_numbers_agree_with_scikit_learn(counts: Counts) -> None:
    if not counts.sum():
        return
    gold = [row[0] for row in _rows_of(counts)]
    called = ["none" if row[2] is None else row[2].value for row in _rows_of(counts)]
    numbers = _numbers(counts)
    precision, recall, f1, support = precision_recall_fscore_support(
        gold, called, labels=["male", "female"], average=None, zero_division=0.0
    )
    for i, gender in enumerate(("male", "female")):
        calls, golds = called.count(gender), int(support[i])
        _same(getattr(numbers, f"precision_{gender}"), precision[i], calls)
        _same(getattr(numbers, f"recall_{gender}"), recall[i], golds)
        _same(getattr(numbers, f"f1_{gender}"), f1[i], golds)
    assert numbers.accuracy == pytest.approx(100 * accuracy_score(gold, called))


@given(tables)
def test_stereotype_differences_are_those_of_the_parts(counts: Counts) -> None:
    parts: list[SimpleNamespace] = []
    for s in (0, 1):
        part = np.zeros_like(counts)
        part[s] = counts[s]
        parts.append(_numbers(part))
    pro, anti = parts
    numbers = _numbers(counts)
    if pro.accuracy is None or anti.accuracy is None:
        assert numbers.delta_s is None
    else:
        assert numbers.delta_s == pytest.approx(pro.accuracy - anti.accuracy)
    scores = [pro.f1_male, pro.f1_female, anti.f1_male, anti.f1_female]
    if None in scores:
        assert numbers.delta_s_macro_f1 is None
    else:
        a, b, c, d = (score for score in scores if score is not None)
        assert numbers.delta_s_macro_f1 == pytest.approx((a + b) / 2 - (c + d) / 2)


# ----- laws


@given(tables)
def test_swapping_the_genders_turns_delta_g_round(counts: Counts) -> None:
    swapped = counts[:, [1, 0, 2], :][:, :, [1, 0, 2, 3]]
    before, after = _numbers(counts), _numbers(swapped)
    if before.delta_g is None:
        assert after.delta_g is None
    else:
        assert after.delta_g == pytest.approx(-before.delta_g)
    assert after.accuracy == before.accuracy
    assert (after.f1_male, after.f1_female) == (before.f1_female, before.f1_male)


@given(tables)
def test_swapping_the_stereotypes_turns_delta_s_round(counts: Counts) -> None:
    before, after = _numbers(counts), _numbers(counts[[1, 0, 2]])
    if before.delta_s is None:
        assert after.delta_s is None
    else:
        assert after.delta_s == -before.delta_s
    assert after.delta_g == before.delta_g


@given(tables)
def test_ranges_and_bounds(counts: Counts) -> None:
    numbers = _numbers(counts)
    if numbers.accuracy is not None:
        low, high = numbers.accuracy_bounds
        assert low == numbers.accuracy
        assert high is None or low <= high <= 100
    for value in (
        numbers.f1_male,
        numbers.f1_female,
        numbers.precision_male,
        numbers.recall_female,
    ):
        assert value is None or 0 <= value <= 100
    for difference in (numbers.delta_g, numbers.delta_s, numbers.delta_s_macro_f1):
        assert difference is None or -100 <= difference <= 100


@given(tables, st.integers(2, 5))
def test_a_corpus_that_is_repeated_has_the_same_rates(counts: Counts, times: int) -> None:
    once, often = _numbers(counts), _numbers(times * counts)
    assert often.n == times * once.n
    if once.accuracy is not None:
        assert often.accuracy == pytest.approx(once.accuracy)
    if once.delta_g is not None:
        assert often.delta_g == pytest.approx(once.delta_g)


# ----- intervals


def test_intervals_agree_with_a_bootstrap_over_rows() -> None:
    counts = np.zeros(SHAPE, dtype=np.int64)
    counts[0, 0], counts[0, 1] = [60, 5, 0, 4], [14, 40, 1, 3]
    counts[1, 0], counts[1, 1] = [30, 9, 0, 6], [25, 22, 0, 5]
    counts[2, 0], counts[2, 1], counts[2, 2] = [20, 3, 1, 1], [8, 12, 0, 2], [3, 3, 4, 1]
    corpus = np.repeat(np.arange(counts.size), counts.ravel())
    resamples, rng = 3000, _rng(11)
    naive: dict[str, list[float]] = {
        "accuracy": [],
        "f1_male": [],
        "delta_g": [],
        "delta_s": [],
        "delta_s_macro_f1": [],
    }
    for _ in range(resamples):
        drawn = corpus[rng.integers(0, len(corpus), len(corpus))]
        numbers = _numbers(np.bincount(drawn, minlength=counts.size).reshape(SHAPE))
        for name, values in naive.items():
            values.append(getattr(numbers, name))
    ours = _intervals(counts, resamples, _rng(12))
    for name, values in naive.items():
        expected = percentile_interval(np.array(values))
        # Monte-Carlo error: derived in stats/test_resampling.py; for B = 3000, 5 errors are 0.34
        # standard deviations.
        assert getattr(ours, name) == pytest.approx(expected, abs=0.34 * float(np.std(values))), (
            name
        )


def test_intervals_contain_the_number_and_depend_on_the_generator_only() -> None:
    counts = 20 * _HAND
    numbers, first = _numbers(counts), _intervals(counts, 500, _rng(1))
    assert first == _intervals(counts, 500, _rng(1)) != _intervals(counts, 500, _rng(2))
    for name, interval in vars(first).items():
        assert interval is not None
        assert interval[0] < getattr(numbers, name) < interval[1]


def test_an_interval_needs_enough_rows_of_each_class_it_compares() -> None:
    few = MIN_ROWS - 1
    everyone = [(M, PRO, M), (M, ANTI, F)] * MIN_ROWS + [(F, PRO, F)] * few
    found = _intervals(count(everyone), 200, _rng(1))
    assert found.accuracy is not None
    assert found.f1_male is not None
    assert found.delta_s is not None
    assert found.f1_female is found.delta_g is None
    enough = _intervals(count([*everyone, (F, PRO, M)]), 200, _rng(1))
    assert enough.f1_female is not None
    assert enough.delta_g is not None
    # Wilson's interval needs no minimum: scipy.stats.binomtest(9, 9) has [70.085, 100].
    lone = vars(_intervals(count([(M, PRO, M)] * few), 200, _rng(1)))
    assert {key for key, interval in lone.items() if interval is not None} == {
        "decided_percent", "accuracy", "precision_male", "recall_male", "accuracy_pro",
    }  # fmt: skip
    assert lone["accuracy"] == pytest.approx((70.085, 100.0), abs=1e-3)


def test_without_resamples_there_are_no_intervals() -> None:
    assert set(vars(_intervals(20 * _HAND, 0, _rng(1))).values()) == {None}


def test_an_interval_of_what_is_undefined_in_most_resamples_is_none() -> None:
    # Macro-F1 of the pro rows needs a female gold or call among them: there is one such row in 31,
    # absent from a resample with probability (1 − 1/31)^31 = 0.36: defined in most. Without it,
    # never.
    pro = [(M, PRO, M)] * MIN_ROWS
    anti = [(M, ANTI, M), (F, ANTI, F)] * MIN_ROWS
    assert _intervals(count([*pro, *anti, (F, PRO, F)]), 300, _rng(1)).delta_s_macro_f1 is not None
    assert _intervals(count([*pro, *anti]), 300, _rng(1)).delta_s_macro_f1 is None


def test_genders_and_stereotypes_are_all_on_the_axes() -> None:
    assert set(GOLDS) == set(Gender)
    assert set(STEREOTYPES) == set(Stereotype)
    assert set(CALLS) == {*Gender, None}
