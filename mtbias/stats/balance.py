"""Weights that balance two groups of examples over properties: a linear program, solved over cells
of like examples.

A score that differs between two groups (sentences about women and about men, say) may differ
because the groups differ in other ways: more names in the sentence, longer distances. Each example
i gets a weight w(i) >= 0 such that

    Σ w = n,   Σ w over group A = Σ w over group B,
    and for each property S: Σ w over A∩S = Σ w over B∩S,

and among all such weights those are taken that are as even as possible within the groups: they
minimise Σ max(w(i), w(j)) over the pairs i < j of one group. Properties may overlap in any way.

Examples of one group with the same properties are exchangeable and the objective is convex, so some
optimum is constant on these cells. For weights of cells the objective is the Lovász extension of
F(S) = number of pairs of the group with a member in S: the least Σ α(S)·F(S) over all ways of
writing w = Σ α(S)·1(S) with α >= 0. That program has a row for each property and a column for each
set of cells; only columns that can still improve the solution are made (sorting the cells by their
price finds them). The dual prices bound the optimum from below, so the solution comes with a
certificate. It needs neither a variable for each pair of examples, as the program in its published
form does, nor one for each pair of cells.

Written by hand on scipy's HiGHS because no modelling library makes columns on demand: the published
program, which they could state, has a variable for each pair and is out of reach beyond some
hundred examples.

Source: Kocijan, Camburu and Lukasiewicz, "The Gap on GAP" (2020): the program; Lovász (1983): the
extension.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np

from mtbias.errors import DataError, MtbiasError
from mtbias.stats.results import Bools, Counts, Floats, Tables

_SURE = 1e-9
"""Relative duality gap at which the solution counts as optimal."""
_ACCEPTED = 1e-7
"""The same where no set improves it any more: below this it is rounding."""
_ROUNDS = 2000
_COLUMNS_A_ROUND = 30


@dataclass(frozen=True, slots=True, eq=False)
class Balance:
    """Weights of examples, and how well they balance the groups."""

    weights: Floats
    """A weight for each example, in their order, 0 or more; they sum to the number of examples."""
    groups: tuple[str, str]
    is_second: Bools
    """For each example whether it is of the second group."""
    objective: float
    """Σ max(w(i), w(j)) over the pairs of one group; the evener the weights, the smaller."""
    gap: float
    """How far the objective may be above the true minimum, relative to it; at most 1e-7."""
    n_cells: int
    """Cells: examples of one group with the same properties."""
    balanced: tuple[str, ...]
    """The properties over which the groups are balanced, each with examples of both groups."""
    one_sided: tuple[str, ...]
    """Properties that only one group has (left): nothing can balance their examples, so they have
    weight 0."""

    @property
    def n_zero(self) -> int:
        """The number of examples with weight 0, which do not count."""
        return int((self.weights == 0).sum())

    @property
    def sizes(self) -> tuple[int, int]:
        """Examples of the first and of the second group."""
        second = int(self.is_second.sum())
        return len(self.is_second) - second, second

    @property
    def effective_sizes(self) -> tuple[float, float]:
        """Kish's effective sample size of either group, (Σw)² / Σw²: so many equally weighted
        examples say as much.
        """
        first, second = (_effective(self.weights[self.is_second == side]) for side in (False, True))
        return first, second

    @property
    def effective_size(self) -> float:
        """The value for all examples together."""
        return _effective(self.weights)

    @property
    def noise_bounds(self) -> tuple[float, float]:
        """By how much the weights can change the accuracy on either group, whatever the right
        answers are: the largest |weighted accuracy − accuracy| over all sets C of right answers,
        in points, from 0 (equal weights) to below 100.

        For group A it is 100 · max over C of |Σ (w(i) − λ) over C∩A| / Σ w over A, with λ the
        group's mean weight. The differences sum to 0 over A, so the worst C are the examples above
        λ and, as far on the other side, those below it.

        Source: "The Gap on GAP", theorem 2.1 and appendix A; λ = n / (2|A|) there. The program
        minimises the sum of such bounds over all sizes of C, this is the largest of them.
        """
        first, second = (
            _noise_bound(self.weights[self.is_second == side]) for side in (False, True)
        )
        return first, second

    def largest(self, k: int = 10) -> list[tuple[int, float]]:
        """The `k` largest weights with their examples' positions, the largest first, ties in order
        of position.
        """
        order = np.argsort(-self.weights, kind="stable")[:k]
        return [(int(i), float(self.weights[i])) for i in order]


def balance(groups: Sequence[Hashable], properties: Mapping[str, Sequence[Hashable]]) -> Balance:
    """Weights that balance two groups over `properties`, as even as possible; see the module.

    Args:
        groups: the group of each example; two different values; the first in order is the first
            group.
        properties: columns as long as `groups`. True and False mark a property and its absence; the
            other values of a column, which can be put in order, make a property each,
            ``column=value``. None and NaN: in none of them.

    Edge cases: the examples of a property that only one group has get weight 0, which may leave
    another property without examples of one group, and so on. Where the optimum is not unique, one
    of the optima is given, always the same (with the same release of scipy).

    Raises:
        DataError: not exactly two groups, or an example without one; numbers with a fraction, which
            are to be cut into bins first; no weights can balance all properties at once (the
            message names them).
    """
    names, second = _two_groups(groups)
    cells, members, sets = _cells(second, properties)
    weighted, one = _one_sided(cells, members)
    alone = tuple(name for name, is_alone in zip(sets, one, strict=True) if is_alone)
    if not weighted.any():
        raise DataError(
            f"every example has a property that only one group has ({', '.join(alone)}); "
            "leave some out"
        )
    used: Bools = np.any(members & weighted, axis=1)
    balanced = tuple(name for name, is_used in zip(sets, used, strict=True) if is_used)
    solved, gap = _solve(_Master(cells, members[used], weighted), balanced)
    weights = solved[cells.of_example]
    return Balance(
        weights=weights,
        groups=names,
        is_second=second,
        objective=objective(weights, second),
        gap=gap,
        n_cells=len(cells.sizes),
        balanced=balanced,
        one_sided=alone,
    )


def balance_pairs(
    groups: Sequence[Hashable], properties: Mapping[str, Sequence[Hashable]]
) -> dict[tuple[str, str], Balance]:
    """`balance` of each two of more groups, over the examples of these two, in the order of the
    data.

    Source: "The Gap on GAP", section 2, for more than two classes: every pair is observed on its
    own.

    Raises:
        DataError: as `balance`, of any pair.
    """
    labels = np.array(groups, dtype=str)
    balances = {}
    for pair in combinations(map(str, np.unique(labels)), 2):
        places = np.flatnonzero(np.isin(labels, pair)).tolist()
        columns = {}
        for name, column in properties.items():
            columns[name] = [column[n] for n in places]
        balances[pair] = balance(labels[places].tolist(), columns)
    return balances


def objective(weights: Sequence[float] | Floats, groups: Sequence[Hashable] | Tables) -> float:
    """Σ max(w(i), w(j)) over the pairs of examples of one group.

    Sorted in ascending order, the r-th weight of a group is the larger one in r − 1 pairs.
    """
    values, labels = np.asarray(weights, dtype=np.float64), np.asarray(groups)
    ordered = (np.sort(values[labels == label]) for label in np.unique(labels))
    return float(sum(part @ np.arange(len(part)) for part in ordered))


def _effective(weights: Floats) -> float:
    return float(weights.sum() ** 2 / (weights @ weights)) if weights.any() else 0.0


def _noise_bound(weights: Floats) -> float:
    above = np.maximum(weights - weights.mean(), 0).sum()
    return float(100 * above / weights.sum())


# --- Examples to cells ---


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    sizes: Floats
    is_second: Bools
    of_example: Counts


def _two_groups(groups: Sequence[Hashable]) -> tuple[tuple[str, str], Bools]:
    import pandas as pd

    if (missing := pd.Series([*groups], dtype=object).isna()).any():
        raise DataError(
            f"expected a group for each example, got none for example {missing.argmax()}; "
            "leave it out"
        )
    names, second = np.unique(np.array(groups, dtype=str), return_inverse=True)
    if len(names) != 2:
        listing = ", ".join(names[:5]) or "none"
        raise DataError(
            f"expected two groups, got {len(names)} ({listing}{', …' if len(names) > 5 else ''})"
        )
    return (str(names[0]), str(names[1])), second == 1


def _codes(name: str, column: Sequence[Hashable]) -> tuple[Counts, list[str]]:
    """The number of each example's property, −1 for none, and the properties' names."""
    import pandas as pd

    codes, values = pd.factorize(pd.Series([*column], dtype=object), sort=True)
    for value in values:
        if isinstance(value, float | np.floating) and not value.is_integer():
            raise DataError(
                f"{name}: expected categories, or true and false, got {value}; "
                "cut it into bins first"
            )
    if all(isinstance(value, bool | np.bool_) for value in values):
        return codes, [name if value else f"not {name}" for value in values]
    return codes, [f"{name}={value}" for value in values]


def _cells(
    second: Bools, properties: Mapping[str, Sequence[Hashable]]
) -> tuple[_Cells, Bools, list[str]]:
    """The cells; which cell has which property ``[n_properties, n_cells]``; the properties'
    names.
    """
    columns, names = [second.astype(np.int64)], []
    for name, column in properties.items():
        codes, values = _codes(name, column)
        columns.append(codes)
        names.append(values)
    keys, of_example, sizes = np.unique(
        np.column_stack(columns), axis=0, return_inverse=True, return_counts=True
    )
    rows = []
    for place, values in enumerate(names, 1):
        rows += [keys[:, place] == code for code in range(len(values))]
    members = np.array(rows, dtype=bool).reshape(len(rows), len(keys))
    cells = _Cells(sizes.astype(np.float64), keys[:, 0] == 1, of_example.reshape(-1))
    return cells, members, [*chain.from_iterable(names)]


def _one_sided(cells: _Cells, members: Bools) -> tuple[Bools, Bools]:
    """Which cells may have weight, and which properties are one-sided.

    Cells that must be 0 may leave another property one-sided, so this repeats until nothing
    changes.
    """
    weighted = np.ones(len(cells.sizes), dtype=bool)
    one = np.zeros(len(members), dtype=bool)
    while True:
        first, second = (
            (members & weighted & (cells.is_second == side)).any(axis=1) for side in (False, True)
        )
        if not (new := first != second).any():
            return weighted, one
        one |= new
        weighted &= ~members[new].any(axis=0)


# --- The program ---


class _Master:
    """The program over the sets made so far. All weights are shares: the shares of the cells sum to
    1.

    A column is a set of cells of one group, scaled to mass 1: the cells that come first in some
    order.
    """

    def __init__(self, cells: _Cells, members: Bools, weighted: Bools) -> None:
        self.share = cells.sizes / cells.sizes.sum()
        first, second = (np.where(cells.is_second == side, self.share, 0) for side in (False, True))
        self.rows = np.vstack([first, second, members * (first - second)])
        self.rhs = np.zeros(len(self.rows))
        self.rhs[:2] = 0.5
        self.groups = tuple(
            np.flatnonzero(weighted & (cells.is_second == side)) for side in (False, True)
        )
        self._mass = first.sum(), second.sum()
        self._half = 0.5 / cells.sizes.sum()
        self._columns: list[Floats] = []
        self._costs: list[Floats] = []
        self.sets: list[tuple[Counts, int]] = []
        self.mass: Floats = np.empty(0)
        """What the solution gives to each set."""

    def cost(self, side: int, mass: Floats) -> Floats:
        """F of sets of that mass, a unit of mass: of N examples, k have k·N − k(k+1)/2 pairs with
        one of them.
        """
        cost: Floats = self._mass[side] - mass / 2 - self._half
        return cost

    def add(self, side: int, order: Counts, lengths: Counts) -> None:
        """Add the sets of the first so many cells of `order`."""
        mass = np.cumsum(self.share[order])[lengths - 1]
        self._columns.append(np.cumsum(self.rows[:, order], axis=1)[:, lengths - 1] / mass)
        self._costs.append(self.cost(side, mass))
        self.sets.extend((order, int(length)) for length in lengths)

    def solve(self) -> tuple[float, Floats]:
        """The optimum over the sets made so far, and the prices of the rows."""
        solution = _linprog(
            np.concatenate(self._costs), A_eq=np.hstack(self._columns), b_eq=self.rhs
        )
        if solution is None:
            raise MtbiasError(
                "the linear program lost its solution to rounding; please report this"
            )
        self.mass = solution.x
        return float(solution.fun), solution.eqlin.marginals

    def price(self, prices: Floats, worth: float) -> float:
        """Add sets that improve on the solution with `prices` by more than `worth`.

        Returns: a lower bound of the optimum: each group has mass 1/2 to give to its sets.
        """
        bound = float(self.rhs @ prices)
        for side, group in enumerate(self.groups):
            value = prices @ self.rows[:, group]
            place = np.argsort(-value / self.share[group], kind="stable")
            order, mass = group[place], np.cumsum(self.share[group[place]])
            reduced = self.cost(side, mass) - np.cumsum(value[place]) / mass
            bound += 0.5 * float(reduced.min())
            if len(useful := np.flatnonzero(reduced < -worth)):
                self.add(side, order, useful[:: 1 + len(useful) // _COLUMNS_A_ROUND] + 1)
        return bound

    def weights(self) -> Floats:
        """Of cells, for an example each: their mean over all examples is 1. For what `solve` found
        last.
        """
        weights = np.zeros(len(self.share))
        for mass, (order, length) in zip(
            self.mass, self.sets, strict=False
        ):  # sets added since have none
            if mass > 1e-12:  # less is rounding
                weights[order[:length]] += mass / self.share[order[:length]].sum()
        return weights


def _solve(master: _Master, names: Sequence[str]) -> tuple[Floats, float]:
    """The cells' weights, and the relative duality gap."""
    start = _start(master, names)
    for side, group in enumerate(master.groups):
        order = group[np.argsort(-start[group], kind="stable")]
        master.add(
            side, order, np.flatnonzero(np.append(np.diff(start[order]) < 0, values=True)) + 1
        )
    bound = -np.inf
    for _ in range(_ROUNDS):
        value, prices = master.solve()
        known = len(master.sets)
        bound = max(bound, master.price(prices, _SURE * value))
        gap = (
            max(0.0, (value - bound) / value) if value > 0 else 0.0
        )  # 0: groups of one example have no pairs
        if gap <= _SURE or len(master.sets) == known:
            break
    if gap > _ACCEPTED:
        raise MtbiasError(
            f"the linear program stopped {gap:.1e} (relative) from its bound; please report this"
        )
    return master.weights(), gap


def _start(master: _Master, names: Sequence[str]) -> Floats:
    """Weights that fulfil all constraints, as near to 1 as may be (in the sum of absolute
    differences).
    """
    free = np.sort(np.concatenate(master.groups))
    rows, n = master.rows[:, free], len(free)
    solution = _linprog(  # of 1 + more − less, where less is at most 1
        np.tile(master.share[free], 2),
        A_eq=np.hstack([rows, -rows]),
        b_eq=master.rhs - rows.sum(axis=1),
        bounds=[(0, None)] * n + [(0, 1)] * n,
    )
    if solution is None:
        message = (
            f"no weights balance all properties at once, in conflict are some of {', '.join(names)}"
        )
        raise DataError(f"{message}. Leave one out, or put rare values together")
    weights = np.zeros(len(master.share))
    weights[free] = np.maximum(1 + solution.x[:n] - solution.x[n:], 0)
    return weights


def _linprog(costs: Floats, **program: Any) -> Any:  # noqa: ANN401 - scipy's result has no type
    """HiGHS's solution with tight tolerances; None where nothing fulfils the constraints."""
    from scipy.optimize import linprog

    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    solution = linprog(costs, method="highs", options=tight, **program)
    if solution.status not in {0, 2}:
        raise MtbiasError(f"the linear program could not be solved: {solution.message}")
    return solution if solution.status == 0 else None
