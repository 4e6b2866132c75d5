"""Ranks as ranges of places, from relations that are given by hand."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtbias.scoring.definitions import Best
from mtbias.scoring.ranking import Rank, Relation, distance, ranks, relation


@pytest.mark.parametrize(
    ("best", "first", "second", "p_holm", "expected"),
    [
        (Best.HIGH, 70.0, 60.0, 0.04, Relation.FIRST),
        (Best.HIGH, 60.0, 70.0, 0.04, Relation.SECOND),
        (Best.HIGH, 70.0, 60.0, 0.05, Relation.TIE),  # significant is below 0.05
        (Best.HIGH, 70.0, 60.0, None, Relation.NOT_TESTED),
        (Best.HIGH, None, 60.0, 0.01, Relation.NOT_TESTED),
        (Best.ZERO, -2.0, -9.0, 0.01, Relation.FIRST),  # 2 from 0 against 9
        (Best.ZERO, -2.0, 9.0, 0.01, Relation.DIFFERENT),  # of |−2| and |9| there is no test
        (Best.EVEN, 80.0, 55.0, 0.01, Relation.SECOND),  # 30 from 50 against 5
        (Best.OPEN, 80.0, 55.0, 0.01, Relation.DIFFERENT),
    ],
)
def test_what_two_values_and_a_test_say(
    best: Best, first: float | None, second: float | None, p_holm: float | None, expected: Relation
) -> None:
    assert relation(best, first, second, p_holm) is expected


def test_the_nearest_to_the_best_value_stands_first() -> None:
    assert [distance(best, 40.0) for best in (Best.HIGH, Best.ZERO, Best.EVEN)] == [60, 40, 10]
    assert distance(Best.OPEN, 40.0) == distance(Best.HIGH, None) == inf


def test_a_pair_may_be_given_in_either_order() -> None:
    # b is better than a and c, which tie: b is first, the others share the places 2 and 3.
    p_holm = {("a", "b"): 0.01, ("b", "c"): 0.02, ("c", "a"): 0.4}
    found = ranks(Best.HIGH, {"a": 60.0, "b": 70.0, "c": 61.0}, p_holm)
    assert found == {"a": Rank(2, 3, 0), "b": Rank(1, 1, 0), "c": Rank(2, 3, 0)}


def test_what_was_not_tested_leaves_every_place_open() -> None:
    # a is better than b; b and c differ on either side of 0; of a and c nothing is known. The
    # number is not defined in d, which has no rank and counts in none.
    values = {"a": 2.0, "b": 9.0, "c": -4.0, "d": None}
    found = ranks(Best.ZERO, values, {("a", "b"): 0.01, ("b", "c"): 0.01, ("a", "d"): None})
    assert found == {"a": Rank(1, 2, 1), "b": Rank(2, 3, 0, 1), "c": Rank(1, 3, 1, 1)}
    assert [rank.text for rank in found.values()] == [
        "1–2, 1 not tested",
        "2–3, 1 on the other side of the best value",
        "1–3, 1 not tested, 1 on the other side of the best value",
    ]
    assert ranks(Best.HIGH, {"a": 70.0}, {})["a"].text == "1"


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_where_all_differ_or_are_equal_places_are_those_of_the_values(values: list[int]) -> None:
    # Equal values tie, others differ: the places of a value are those that it would take in a sort.
    p_holm = {}
    for one, first in enumerate(values):
        for other, second in enumerate(values[:one]):
            p_holm[one, other] = 1.0 if first == second else 0.0
    ordered = sorted(values, reverse=True)
    for one, rank in ranks(Best.HIGH, dict(enumerate(values)), p_holm).items():
        low = 1 + ordered.index(values[one])
        assert rank == Rank(low, low + ordered.count(values[one]) - 1, 0)
