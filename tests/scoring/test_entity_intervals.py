"""Intervals over entities: against drawing by hand, what they ask, when there are none."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from mtbias.scoring.bias import (
    CALLS,
    GENDER_COUNTING,
    GOLDS,
    STEREOTYPES,
    count,
    stereotyped_gender,
)
from mtbias.scoring.counting import MIN_ENTITIES, EntityIntervals, entity_intervals
from mtbias.scoring.definitions import Number
from mtbias.stats.results import Counts
from mtbias.types import Gender, Stereotype

M, F, N = GOLDS
PRO, ANTI, NONE = STEREOTYPES
SIZE = 36
Row = tuple[str, Gender, Stereotype, Gender | None]


def _cell(gold: Gender, stereotype: Stereotype, call: Gender | None) -> int:
    return STEREOTYPES.index(stereotype) * 12 + GOLDS.index(gold) * 4 + CALLS.index(call)


def _counts(rows: list[Row]) -> dict[str, Counts]:
    return GENDER_COUNTING.tabulate_by(
        np.array([_cell(*row[1:]) for row in rows]), [row[0] for row in rows]
    )


def _intervals(rows: list[Row], n_resamples: int = 4000, seed: int = 0) -> EntityIntervals:
    return entity_intervals(
        GENDER_COUNTING, [_counts(rows)], GENDER_COUNTING.with_interval, n_resamples, seed
    )


def _always_right_or_wrong(n: int, right: int, times: int) -> list[Row]:
    """`n` entities of which `right` are always right; each has so many men and as many women, no
    stereotype."""
    return [
        (f"e{k}", gold, NONE, gold if k < right else None)
        for k in range(n)
        for gold in (M, F)
        for _ in range(times)
    ]


def test_counts_of_entities_add_up_to_the_table() -> None:
    rows: list[Row] = [("a", M, PRO, M), ("b", F, ANTI, None), ("a", M, PRO, F)]
    counts = _counts(rows)
    assert list(counts) == ["a", "b"]
    a, b = (table.ravel() for table in counts.values())
    assert a[_cell(M, PRO, M)] == a[_cell(M, PRO, F)] == b[_cell(F, ANTI, None)] == 1
    assert (counts["a"] + counts["b"] == count(row[1:] for row in rows)).all()


@pytest.mark.parametrize("times", [1, 50])
def test_more_sentences_about_the_same_entities_change_nothing(times: int) -> None:
    # 100 entities, 40 always right: the share of right ones among 100 drawn is Binomial(100, 0.4) /
    # 100, whose 2.5 and
    # 97.5 % quantiles are 31 and 50 (scipy.stats.binom.ppf), however many sentences each has.
    found = _intervals(_always_right_or_wrong(100, 40, times))
    assert found.n == 100
    assert found.intervals is not None
    assert found.intervals["accuracy"] == pytest.approx((31, 50), abs=1)


def test_it_is_the_bootstrap_of_entities_drawn_by_hand() -> None:
    # Drawn another way: lists of entities, whose rows are put together and counted each time.
    rng = np.random.Generator(np.random.PCG64(3))
    kinds = list(product((M, F), (PRO, ANTI), (M, F, None)))
    rows: list[Row] = []
    for entity in range(30):
        chosen = rng.choice(
            len(kinds), size=int(rng.integers(5, 20)), p=rng.dirichlet(np.ones(len(kinds)))
        )
        rows += [(f"e{entity}", *kinds[k]) for k in chosen]
    counting = replace(GENDER_COUNTING, entity_kind=None)
    numbers = counting.compared
    found = entity_intervals(counting, [_counts(rows)], numbers, 4000, 1).intervals
    assert found is not None
    by_entity: dict[str, list[Row]] = {}
    for row in rows:
        by_entity.setdefault(row[0], []).append(row)
    values = []
    for _ in range(1000):
        drawn = [row for name in rng.choice(list(by_entity), size=30) for row in by_entity[name]]
        table = np.bincount([_cell(*row[1:]) for row in drawn], minlength=SIZE).reshape(3, 3, 4)
        values.append([float(counting.rates(table)[each.key]) for each in numbers])
    # The standard error of a 2.5 % quantile of 1,000 is about 8 % of a standard deviation; allowed
    # is 0.3 of it.
    replicates = np.array(values)
    for each, column in zip(numbers, replicates.T, strict=True):
        assert found[each.key] == pytest.approx(
            tuple(np.nanquantile(column, (0.025, 0.975))), abs=0.3 * np.nanstd(column)
        )


def test_entities_are_drawn_within_the_gender_that_the_stereotype_gives_them() -> None:
    # 10 occupations of men, 10 of women; all calls are male. Pro rows are right for men's
    # occupations alone, anti rows for women's: with ten of each in every draw ΔS is 50 − 50 = 0
    # always.
    rows: list[Row] = []
    for k in range(20):
        his = k < 10
        rows += [(f"e{k}", M, PRO if his else ANTI, M), (f"e{k}", F, ANTI if his else PRO, M)] * 5
    found = _intervals(rows).intervals
    assert found is not None
    assert found["delta_s"] == (0.0, 0.0)
    kinds = stereotyped_gender(np.array(list(_counts(rows).values()), dtype=float))
    assert kinds.tolist() == [1] * 10 + [-1] * 10
    # With nine of men, too few for a kind of their own, all are drawn together, and the mixture
    # varies.
    fewer = _intervals([row for row in rows if row[0] != "e0"]).intervals
    assert fewer is not None
    assert fewer["delta_s"] is not None
    assert fewer["delta_s"][0] < -20 < 20 < fewer["delta_s"][1]


def test_with_few_entities_there_are_none_and_a_reason() -> None:
    few = _intervals(_always_right_or_wrong(MIN_ENTITIES - 1, 3, 5))
    assert (few.n, few.intervals, few.reason) == (9, None, "expected 10 entities or more, got 9")
    assert _intervals(_always_right_or_wrong(20, 3, 5), n_resamples=0).intervals is None
    # Twenty entities, of which nine have women: an accuracy has an interval, the recall of women
    # none.
    rows: list[Row] = [(f"e{k}", M, NONE, M) for k in range(20)] + [
        (f"e{k}", F, NONE, None) for k in range(9)
    ]
    found = _intervals(rows).intervals
    assert found is not None
    assert found["accuracy"] is not None
    assert found["recall_female"] is found["delta_g"] is None


def test_the_difference_of_two_systems_draws_the_same_entities() -> None:
    # The second system is right where the first is and on one entity more, of 20: the difference is
    # 5 points times how often that entity is drawn, Binomial(20, 1/20), whose 2.5 and 97.5 %
    # quantiles are 0 and 3.
    both = [_counts(_always_right_or_wrong(20, right, 2)) for right in (10, 11)]
    found = entity_intervals(GENDER_COUNTING, both, GENDER_COUNTING.compared, 2000, 0).intervals
    assert found is not None
    assert found["accuracy"] == pytest.approx((-15.0, 0.0))


def test_the_same_seed_gives_the_same_intervals() -> None:
    rows = _always_right_or_wrong(30, 12, 3)
    assert _intervals(rows, 50, seed=4) == _intervals(rows, 50, seed=4)
    assert _intervals(rows, 50, seed=4) != _intervals(rows, 50, seed=5)


def test_an_interval_is_declared_as_what_it_is() -> None:
    with pytest.raises(
        ValueError, match="x: expected one class of rows for Wilson's interval, got male, female"
    ):
        Number(key="x", label="X", interval="wilson", rests_on=("male", "female"))
    # F1 is no share of the rows of a class: 2·3/(5 + 5) of 5 rows is 3, but 2·3/(6 + 5) of 5 is
    # 2.73.
    wrong = replace(
        GENDER_COUNTING,
        numbers=(Number(key="f1_male", label="F", interval="wilson", rests_on=("male",)),),
    )
    table = count([(M, PRO, M)] * 3 + [(M, PRO, F)] * 2 + [(F, PRO, M)] * 3)
    with pytest.raises(
        ValueError, match="f1_male: expected a share of 5 rows for Wilson's interval"
    ):
        wrong.group(table, 10, 0)


def test_a_measure_may_have_shares_alone() -> None:
    number = Number(key="accuracy", label="A", interval="wilson")
    shares = replace(GENDER_COUNTING, numbers=(number,))
    found = shares.group(count([(M, PRO, M)] * 10), 10, 0)
    assert found["accuracy"].interval == pytest.approx(
        (72.247, 100.0), abs=1e-3
    )  # scipy.stats.binomtest(10, 10)


def test_shares_draw_nothing() -> None:
    counts = np.full(GENDER_COUNTING.shape, 5)
    share = next(number for number in GENDER_COUNTING.numbers if number.interval == "wilson")
    rng = np.random.default_rng(1)
    found = GENDER_COUNTING.estimates(GENDER_COUNTING.levels(counts), [share], 100, rng)
    assert found[share.key].interval is not None
    assert rng.bit_generator.state == np.random.default_rng(1).bit_generator.state
