"""The weighting program: by hand, against the program in its published form, and at its limits."""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from mtbias.errors import DataError
from mtbias.stats.balance import Balance, balance, balance_pairs, objective

Columns = dict[str, list[Hashable]]


def test_by_hand() -> None:
    # Women: x, x, y; men: x, y; the weights sum to 5, so to 2.5 a group. With s on x in either
    # group, women's weights are s/2, s/2, 2.5−s, men's s, 2.5−s. Σ max over pairs: s/2 + 2·max(s/2,
    # 2.5−s) + max(s, 2.5−s). Between 1.25 and 5/3 that is 5 − s/2, above 5/3 it is 2.5·s, below
    # 1.25 it is 7.5 − 2.5·s: least at 5/3, where it is 25/6.
    found = balance(["f", "f", "f", "m", "m"], {"kind": ["x", "x", "y", "x", "y"]})
    assert found.weights == pytest.approx([5 / 6, 5 / 6, 5 / 6, 5 / 3, 5 / 6], abs=1e-9)
    assert found.objective == pytest.approx(25 / 6)
    assert found.gap <= 1e-9
    assert (found.groups, found.sizes, found.n_cells, found.n_zero) == (("f", "m"), (3, 2), 4, 0)
    assert (found.balanced, found.one_sided) == (("kind=x", "kind=y"), ())
    # Kish: f has three equal weights; m has (25/4) / (25/9 + 25/36) = 9/5; together 25 / (75/36 +
    # 125/36) = 9/2.
    assert found.effective_sizes == pytest.approx((3, 1.8))
    assert found.effective_size == pytest.approx(4.5)
    assert [place for place, _ in found.largest(1)] == [3]
    # Theorem 2.1: f has equal weights, so no set of right answers changes its accuracy. Of m the
    # mean is 5/4: a system that is right on x alone has 1/2 unweighted and (5/3) / (5/2) = 2/3.
    assert found.noise_bounds == pytest.approx((0, 100 / 6))


def test_the_noise_bound_is_the_largest_change_of_all_sets_of_right_answers() -> None:
    """Over all 2^7 and 2^5 sets, by the definition."""
    kinds = ["x", "x", "x", "y", "y", "z", "z", "x", "y", "y", "z", "z"]
    long = [True, False, True, False, True, False, False, True, True, False, True, False]
    found = balance(["f"] * 7 + ["m"] * 5, {"kind": kinds, "long": long})
    assert max(found.noise_bounds) > 1
    for side, bound in zip((False, True), found.noise_bounds, strict=True):
        weights = found.weights[found.is_second == side]
        changes = []
        for right in product([False, True], repeat=len(weights)):
            weighted = weights[list(right)].sum() / weights.sum()
            changes.append(abs(weighted - sum(right) / len(weights)))
        assert bound == pytest.approx(100 * max(changes))


def test_more_groups_are_balanced_in_pairs() -> None:
    # The example above between two other groups: each pair is that of its examples alone.
    groups, kinds = ["f", "n", "f", "f", "m", "m"], ["x", "x", "x", "y", "x", "y"]
    found = balance_pairs(groups, {"kind": kinds})
    assert list(found) == [("f", "m"), ("f", "n"), ("m", "n")]
    assert found["f", "m"].weights == pytest.approx([5 / 6, 5 / 6, 5 / 6, 5 / 3, 5 / 6], abs=1e-9)
    # n has an x alone, so y has no weight: of f two x and of n one share 4 equally.
    assert found["f", "n"].weights == pytest.approx([1, 2, 1, 0])
    assert found["f", "n"].one_sided == ("kind=y",)


def test_groups_that_are_alike_keep_their_weights() -> None:
    kinds = ["x", "y", "y", None]
    found = balance(
        ["f"] * 4 + ["m"] * 4, {"kind": kinds * 2, "long": [True, False, True, False] * 2}
    )
    assert found.weights == pytest.approx(np.ones(8))
    assert found.objective == pytest.approx(12)  # 6 pairs a group
    assert found.balanced == ("kind=x", "kind=y", "not long", "long")


def test_a_property_of_one_group_gets_no_weight_and_may_take_others_with_it() -> None:
    # Only f has y, so f's second example is 0; that leaves nobody in f who has b, so m's second is
    # 0 as well.
    found = balance(
        ["f", "f", "m", "m"], {"kind": ["x", "y", "x", "x"], "other": ["a", "b", "a", "b"]}
    )
    assert found.weights == pytest.approx([2, 0, 2, 0])
    assert found.one_sided == ("kind=y", "other=b")
    assert found.balanced == ("kind=x", "other=a")
    assert found.n_zero == 2


def test_where_nothing_is_left_the_message_names_the_properties() -> None:
    with pytest.raises(DataError, match=r"only one group has \(kind=x, kind=y\); leave some out"):
        balance(["f", "m"], {"kind": ["x", "y"]})


def test_properties_that_cannot_be_balanced_together_are_named() -> None:
    # f has p and q in one example, m in two: m's total is twice that of either, f's is not.
    with pytest.raises(DataError, match=r"in conflict are some of p, q\. Leave one out") as error:
        balance(["f", "m", "m"], {"p": [True, True, None], "q": [True, None, True]})
    assert "no weights balance all properties at once" in str(error.value)


def test_one_example_a_group_has_no_pairs() -> None:
    found = balance([1, 2], {"kind": ["x", "x"]})
    assert (found.weights.tolist(), found.objective, found.gap) == ([1, 1], 0, 0)
    assert found.groups == ("1", "2")


def test_without_properties_the_groups_themselves_are_balanced() -> None:
    found = balance(["f", "m", "m", "m"], {})
    assert found.weights == pytest.approx([2, 2 / 3, 2 / 3, 2 / 3])


def test_the_objective_by_hand() -> None:
    # In f the larger ones of the pairs are 3, 3 and 2; in m it is 5.
    assert objective([3, 5, 1, 4, 2], ["f", "m", "f", "m", "f"]) == 13
    assert objective([], []) == 0


def _example(seed: int) -> tuple[list[str], Columns]:
    """A small problem: categories with gaps, properties that overlap, a few values only."""
    draw = random.Random(seed)
    n = draw.randint(4, 26)
    groups = ["f", "m", *(draw.choice("fm") for _ in range(n - 2))]
    columns: Columns = {"size": [draw.choice([1, 2, 3, None]) for _ in groups]}
    for name in ("p", "q")[: draw.randint(0, 2)]:
        columns[name] = [draw.random() < 0.6 for _ in groups]
    return groups, columns


def _sets(columns: Columns) -> list[NDArray[np.bool_]]:
    """Who has which property: every value of every column but None."""
    return [
        np.array([value == wanted and value is not None for value in column])
        for column in columns.values()
        for wanted in set(column) - {None}
    ]


def _published(groups: Sequence[str], columns: Columns) -> float | None:
    """The optimum of the program with a variable for each example and each pair; None where it has
    no solution."""
    n = len(groups)
    pairs = [pair for pair in combinations(range(n), 2) if groups[pair[0]] == groups[pair[1]]]
    above = np.zeros((2 * len(pairs), n + len(pairs)))
    for k, (i, j) in enumerate(pairs):
        above[2 * k, i] = above[2 * k + 1, j] = 1  # w(i) − m <= 0, w(j) − m <= 0
        above[2 * k, n + k] = above[2 * k + 1, n + k] = -1
    sign = np.array([1.0 if group == "f" else -1.0 for group in groups])
    equal = np.vstack([np.ones(n), sign, *(sign * members for members in _sets(columns))])
    found = linprog(
        np.append(np.zeros(n), np.ones(len(pairs))),
        A_ub=above if pairs else None,
        b_ub=np.zeros(2 * len(pairs)) if pairs else None,
        A_eq=np.hstack([equal, np.zeros((len(equal), len(pairs)))]),
        b_eq=np.append(n, np.zeros(len(equal) - 1)),
        method="highs-ds",
    )
    assert found.status in {0, 2}, found.message
    return float(found.fun) if found.status == 0 else None


def _check(found: Balance, groups: Sequence[str], columns: Columns) -> None:
    """The constraints hold, and examples of one cell have one weight."""
    weights, sign = found.weights, np.array([1 if group == "f" else -1 for group in groups])
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(len(groups))
    assert weights @ sign == pytest.approx(0, abs=1e-6)
    for members in _sets(columns):
        assert weights[members] @ sign[members] == pytest.approx(0, abs=1e-6)
    by_cell: dict[tuple[Hashable, ...], set[float]] = {}
    for key, weight in zip(
        zip(groups, *columns.values(), strict=True), weights.tolist(), strict=True
    ):
        by_cell.setdefault(key, set()).add(weight)
    assert all(len(values) == 1 for values in by_cell.values())
    assert len(by_cell) == found.n_cells


@pytest.mark.parametrize("seed", range(60))
def test_the_optimum_is_that_of_the_published_program(seed: int) -> None:
    groups, columns = _example(seed)
    expected = _published(groups, columns)
    if expected is None:
        with pytest.raises(DataError, match=r"only one group has|in conflict"):
            balance(groups, columns)
        return
    found = balance(groups, columns)
    assert found.objective == pytest.approx(expected, rel=1e-7, abs=1e-7)
    assert objective(found.weights, groups) == found.objective
    _check(found, groups, columns)


def test_the_order_of_examples_does_not_matter() -> None:
    groups, columns = _example(3)
    order = random.Random(1).sample(range(len(groups)), len(groups))
    one = balance(groups, columns)
    other = balance(
        [groups[i] for i in order],
        {name: [column[i] for i in order] for name, column in columns.items()},
    )
    assert other.weights.tolist() == one.weights[order].tolist()


@pytest.mark.slow
def test_a_hundred_thousand_examples() -> None:
    # Two groups of unlike size whose shares differ in every property; about 400 cells, and a few
    # rare values.
    rng = np.random.default_rng(0)
    female = rng.random(100_000) < 0.3
    columns: Columns = {
        "pronouns": rng.poisson(np.where(female, 1.5, 1.3)).clip(0, 7).tolist(),
        "distance": rng.geometric(np.where(female, 0.3, 0.35)).clip(1, 15).tolist(),
        "long": (rng.random(100_000) < np.where(female, 0.5, 0.45)).tolist(),
    }
    groups = ["f" if f else "m" for f in female]
    found = balance(groups, columns)  # a variable for each pair would need 2.9 billion
    assert found.gap <= 1e-9
    assert found.n_cells == 400
    _check(found, groups, columns)


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (["f", "f"], r"expected two groups, got 1 \(f\)"),
        ([], r"expected two groups, got 0 \(none\)"),
        (["f", "m", "n"], r"expected two groups, got 3 \(f, m, n\)"),
        (list("abcdefg"), r"got 7 \(a, b, c, d, e, …\)"),
    ],
)
def test_there_must_be_two_groups(groups: list[Hashable], said: str) -> None:
    with pytest.raises(DataError, match=said):
        balance(groups, {})


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_each_example_must_have_a_group(missing: Hashable) -> None:
    with pytest.raises(
        DataError, match="expected a group for each example, got none for example 1; leave it out"
    ):
        balance(["f", missing, "m"], {})


def test_missing_values_are_in_no_property() -> None:
    groups, kinds = ["f", "f", "f", "m", "m"], [1, 1, None, 1, None]
    expected = balance(groups, {"kind": kinds})
    found = balance(groups, {"kind": [1.0, 1.0, float("nan"), 1.0, float("nan")]})
    assert found.weights.tolist() == expected.weights.tolist()
    assert (expected.balanced, found.balanced) == (("kind=1",), ("kind=1.0",))


def test_numbers_with_a_fraction_must_be_cut_into_bins() -> None:
    with pytest.raises(
        DataError,
        match=r"length: expected categories, or true and false, got 1\.5; cut it into bins",
    ):
        balance(["f", "m"], {"length": [1.5, 2.0]})
