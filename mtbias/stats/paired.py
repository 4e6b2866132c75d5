"""Two systems on the same units: paired differences of numbers, how sure they are, and tests of
them.

A unit is drawn by the bootstrap, and exchanged between the systems by the test, as a whole. Two
kinds of input have what units add: a table of counts of pairs of outcomes, where a unit is a row
and the cost does not depend on their number (`PairedTables`); and a matrix with a line for each
unit, whatever it adds (`PairedUnits`). All else is one piece of code for both, `compare` and
`randomisation_pvalues`, with Holm's correction in `corrected`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, product
from math import comb, prod
from typing import Any, Literal, TypeAlias

import numpy as np

from mtbias.errors import DataError
from mtbias.stats.resampling import (
    bootstrap_counts,
    bootstrap_units,
    chunks,
    estimate,
    holm,
    mcnemar,
    percentile_interval,
    wilson_percent,
    with_width,
)
from mtbias.stats.results import (
    Bools,
    Counts,
    Difference,
    Estimate,
    Floats,
    Rng,
    enough,
    minus,
    number,
    source,
)
from mtbias.types import frozen

_CHUNK = 1 << 11
"""Rearrangements whose numbers are computed at once."""

Draw = Literal["rows", "occupations"]
"""What is drawn and exchanged as a whole: units, or those of an occupation together
(`NumberUnits.groups`)."""

Arrangements = Iterator[tuple[Floats, Floats]]
"""Sums of the first system after exchanges, ``[R, …]``, with their weights ``[R]``."""


@dataclass(frozen=True, slots=True, eq=False)
class PairedUnits:
    """Sums of units: row i of both is the same unit."""

    first: Floats
    """``[n_units, k]``: what each unit adds to k sums under the first system."""
    second: Floats

    def sums(self) -> tuple[Floats, Floats]:
        """The sums of both over all units, each ``[1, …]``."""
        return self.first.sum(axis=0)[None], self.second.sum(axis=0)[None]

    def resampled(self, n_resamples: int, rng: Rng) -> tuple[Floats, Floats]:
        """The sums of both over bootstrap resamples of units, drawn with both: each ``[n_resamples,
        …]``.
        """
        drawn = bootstrap_units(
            np.hstack([self.first, self.second]), lambda sums: sums, n_resamples, rng
        )
        first, second = np.split(drawn, 2, axis=-1)
        return first, second

    def exchanged(self, n_resamples: int, rng: Rng) -> tuple[bool, Arrangements]:
        """All arrangements, with their probabilities, where they are at most `n_resamples` (then
        True), else so many draws, each of weight 1; units whose two rows are equal change nothing
        and are passed over.
        """
        first, second = self.first, self.second
        change = (second - first)[(first != second).any(axis=1)]
        m = len(change)
        exact = m < 63 and 2**m <= n_resamples

        def arrangements() -> Arrangements:
            for start, stop in chunks(2**m if exact else n_resamples, m):
                if exact:
                    swapped = np.arange(start, stop)[:, None] >> np.arange(m) & 1
                else:
                    swapped = rng.integers(0, 2, size=(stop - start, m), dtype=np.int8)
                weights = np.full(stop - start, 2.0**-m if exact else 1.0)
                yield first.sum(axis=0) + swapped.astype(np.float64) @ change, weights

        return exact, arrangements()


@dataclass(frozen=True, slots=True, eq=False)
class WeightedTables:
    """A table of counts of rows for each level of weight; without weights there is one level.

    The bootstrap draws within each level, so that every resample has as many rows of every kind and
    the weights still balance it; with one level that is the bootstrap over all rows.
    """

    tables: Counts
    """``[L, *shape]``; the last axis of a shape is the outcome."""
    weights: Floats = field(default_factory=lambda: np.ones(1))
    """``[L]``."""
    stratified: bool = False
    """Whether resamples draw within each place of the first axis of a table, too."""

    def total(self, tables: Counts | None = None) -> Floats:
        """The weighted sum of all levels, ``[1, *shape]``."""
        total: Floats = np.tensordot(
            self.weights, self.tables if tables is None else tables, axes=1
        )[None]
        return total.astype(np.float64, copy=False)

    def rows(self) -> Counts:
        """The rows of weight above 0, of all levels."""
        rows: Counts = self.tables[self.weights > 0].sum(axis=0)
        return rows

    def resampled_tables(self, n_resamples: int, rng: Rng) -> Floats:
        """The weighted tables of bootstrap resamples, ``[n_resamples, *shape]``."""

        def drawn(rows: Counts) -> Floats:
            return bootstrap_counts(
                rows, lambda tables: tables.astype(np.float64), n_resamples, rng
            )

        total = np.zeros((n_resamples, *self.tables.shape[1:]))
        for weight, table in zip(self.weights, self.tables, strict=True):
            total += weight * (
                np.stack(list(map(drawn, table)), axis=1) if self.stratified else drawn(table)
            )
        return total


@frozen
class McNemar:
    """Rows by whether either system is right."""

    both: int
    first_only: int
    second_only: int
    neither: int
    p: float
    """Exact, two-sided: `mtbias.stats.resampling.mcnemar` of `first_only` and `second_only`."""


@dataclass(frozen=True, slots=True, eq=False)
class PairedTables(WeightedTables):
    """Tables of pairs of outcomes: the axes of one system's tables, and the outcome of the second
    system as one more.

    Summed over its last axis a table is the first system's, over the one before, the second's.
    """

    def sums(self) -> tuple[Floats, Floats]:
        """See `PairedUnits`."""
        return self.total(self.tables.sum(axis=-1)), self.total(self.tables.sum(axis=-2))

    def resampled(self, n_resamples: int, rng: Rng) -> tuple[Floats, Floats]:
        """See `PairedUnits`; each row keeps its level's weight: weights are not solved again for a
        resample.

        Source: Efron and Tibshirani (1993), chapters 8 and 13; Koehn, EMNLP 2004, for paired
        systems.
        """
        drawn = self.resampled_tables(n_resamples, rng)
        return drawn.sum(axis=-1), drawn.sum(axis=-2)

    def exchanged(self, n_resamples: int, rng: Rng) -> tuple[bool, Arrangements]:
        """See `PairedUnits`.

        Of the m rows of one weight and class on which one system says a and the other b, the first
        system has a in k of them with k ~ Binomial(m, 1/2), independently of all others.
        """
        start = self.total(np.einsum("...cc->...c", self.tables))[0]
        steps, sizes = [], []
        for a, b in combinations(range(self.tables.shape[-1]), 2):
            rows = self.tables[..., a, b] + self.tables[..., b, a]
            start[..., b] += np.tensordot(self.weights, rows, axes=1)
            for level, *statuses in np.argwhere(rows):
                step = np.zeros(start.shape)
                step[(*statuses, a)], step[(*statuses, b)] = (
                    self.weights[level],
                    -self.weights[level],
                )
                steps.append(step.ravel())
                sizes.append(int(rows[(level, *statuses)]))
        exact = prod(size + 1 for size in sizes) <= n_resamples
        moves = np.array(steps).reshape(len(steps), start.size)
        swaps = _all_swaps(sizes) if exact else _drawn_swaps(sizes, n_resamples, rng)
        return exact, (
            (start + (ks @ moves).reshape(-1, *start.shape), weights) for ks, weights in swaps
        )

    def differing(self) -> int:
        """Rows on which the two outcomes differ; an outcome and none are different."""
        rows = self.tables.sum(axis=0)
        return int(rows.sum() - np.trace(rows, axis1=-2, axis2=-1).sum())

    def mcnemar(self, right: Bools) -> McNemar:
        """Rows by whether either system is right, given the cells of one system's table that
        are.
        """
        rows, cells = self.tables.sum(axis=0), np.asarray(right, dtype=np.int64)
        n, both = int(rows.sum()), int((rows * cells[..., :, None] * cells[..., None, :]).sum())
        first, second = (int((rows.sum(axis=axis) * cells).sum()) for axis in (-1, -2))
        only_first, only_second = first - both, second - both
        return McNemar(
            both, only_first, only_second, n - first - only_second, mcnemar(only_first, only_second)
        )


Paired: TypeAlias = PairedUnits | PairedTables
"""What two systems add to the sums from which numbers are computed."""


def tabulate(
    row_cells: Counts, shape: Sequence[int], levels: Counts | None = None, n_levels: int = 1
) -> Counts:
    """The tables of `WeightedTables` from the cell of each row; without `levels` all rows are of
    the first.
    """
    places = row_cells if levels is None else row_cells + prod(shape) * levels
    tables: Counts = np.bincount(places, minlength=n_levels * prod(shape)).reshape(n_levels, *shape)
    return tables


def pair_cells(first: Counts, second: Counts, outcomes: int) -> Counts:
    """The cell of the flattened table of pairs in which each row counts, from the cells of both
    systems' tables.

    Their rows are the same, equal in all but the outcome.
    """
    joined: Counts = first * outcomes + second % outcomes
    return joined


def compare(
    paired: Paired,
    numbers: Callable[[Floats], Mapping[str, Floats]],
    names: Sequence[str],
    n_resamples: int,
    *,
    bootstrap: Rng,
    test: Rng,
    intervals: Callable[[str], bool] = lambda _: True,
) -> dict[str, Difference]:
    """First − second for each of `names`, with the paired percentile bootstrap and the p of
    `randomisation_pvalues`.

    Args:
        paired: the two systems.
        numbers: maps sums ``[R, …]`` to numbers by name, each ``[R]``, NaN where undefined.
        names: the numbers to compare.
        n_resamples: of the bootstrap and of the test; with 0 there is neither interval nor p.
        bootstrap: its source of randomness; all numbers share the resamples.
        test: that of the test; may be the same generator, which the bootstrap uses first.
        intervals: whether a number has rows enough for an interval.
    """

    def values(sums: Floats) -> Floats:
        plain = numbers(sums)
        return np.stack([plain[name] for name in names], axis=-1)

    of_first, of_second = (values(sums)[0] for sums in paired.sums())
    drawn_first, drawn_second = (values(sums) for sums in paired.resampled(n_resamples, bootstrap))
    pvalues = randomisation_pvalues(paired, values, n_resamples, test)
    differences = {}
    for name, a, b, drawn, p in zip(
        names,
        map(number, of_first),
        map(number, of_second),
        (drawn_first - drawn_second).T,
        pvalues,
        strict=True,
    ):
        between = minus(a, b)
        interval = percentile_interval(drawn) if between is not None and intervals(name) else None
        differences[name] = Difference(a, b, between, interval, number(p))
    return differences


def randomisation_pvalues(
    paired: Paired, values: Callable[[Floats], Floats], n_resamples: int, rng: Rng
) -> Floats:
    """Two-sided paired randomisation tests on ``|value(first) − value(second)|`` of k numbers:
    their p, ``[k]``.

    If it makes no difference which of the two systems produced a unit's outcome, exchanging the
    outcomes of any units is as likely as not. A hit is an arrangement whose difference is at least
    as large as the observed one. Where there are at most `n_resamples` arrangements, all are looked
    at, and p is the probability of the hits; else so many are drawn, and p = (hits + 1) /
    (n_resamples + 1).

    Args:
        paired: the two systems.
        values: maps sums ``[R, …]`` to numbers ``[R, k]``, NaN where undefined; called with chunks
            of the arrangements.
        n_resamples: 0 or more.
        rng: not used where p is exact.

    Returns: p in (0, 1]; NaN where the observed difference is undefined, and everywhere without
        resamples. An arrangement whose difference is undefined is a hit, which can only make p
        larger. Differences equal within 1e-9 of their size count as equal.

    Source: Noreen (1989); Yeh, COLING 2000.
    """
    first, second = paired.sums()
    total = first + second

    def differences(firsts: Floats) -> Floats:
        return np.abs(values(firsts) - values(total - firsts))

    observed = differences(first)[0]
    if n_resamples < 1 or np.isnan(observed).all():
        return np.full(len(observed), np.nan)
    # Sums in another order differ in their last digits: what is equal in exact arithmetic must stay
    # a hit.
    least = observed - 1e-9 * np.maximum(observed, np.abs(values(first)[0]))
    exact, arrangements = paired.exchanged(n_resamples, rng)
    hits, whole = np.zeros(len(observed)), 0.0
    for firsts, weights in arrangements:
        drawn = differences(firsts)
        hits += weights @ (np.isnan(drawn) | (drawn >= least))
        whole += weights.sum()
    p: Floats = np.where(
        np.isnan(observed), np.nan, np.minimum(hits, 1) if exact else (hits + 1) / (whole + 1)
    )
    return p


@dataclass(frozen=True, slots=True, eq=False)
class NumberUnits:
    """What numbers of one system rest on: what each unit adds to the sums that they are made of.

    Drawn over rows, units say what other rows of these groups would have given; over groups
    (occupations), each with all its rows, what other groups would have.
    """

    sums: Floats
    """``[n_units, k]``: what each unit adds to k sums."""
    groups: Sequence[str]
    """The group of each unit, such as its occupation; without groups, the unit's id."""
    numbers: Callable[[Floats], Mapping[str, Floats]]
    """Maps sums ``[R, k]`` to numbers by name, each ``[R]``, NaN where undefined."""
    compared: Collection[str] = ()
    """The numbers that systems are compared in; none named: all."""
    shares: Collection[str] = ()
    """The numbers that are shares, in per cent, of things that units have."""
    one_cell: bool = False
    """Whether each unit counts in one cell: resamples draw the table of them, which is the same and
    takes less time."""

    @classmethod
    def of_cells(
        cls,
        places: Sequence[Sequence[int]],
        shape: Sequence[int],
        groups: Sequence[str],
        numbers: Callable[..., Any],
    ) -> NumberUnits:
        """Units that each count in the cell at one of `places`, an index of a table of that
        `shape`.

        `numbers` maps tables ``[R, *shape]``.
        """
        of_axes = np.array(places, dtype=np.int64).reshape(-1, len(shape)).T
        sums = np.zeros((len(places), prod(shape)))
        sums[np.arange(len(places)), np.ravel_multi_index(tuple(of_axes), shape)] = 1
        return cls(sums, groups, lambda sums: numbers(sums.reshape(-1, *shape)), one_cell=True)

    def drawn(self, over: Draw) -> NumberUnits:
        """The units that are drawn as a whole."""
        if over == "rows":
            return self
        names = tuple(dict.fromkeys(self.groups))
        places = {name: place for place, name in enumerate(names)}
        together = np.zeros((len(names), self.sums.shape[1]))
        np.add.at(together, [places[name] for name in self.groups], self.sums)
        return replace(self, sums=together, groups=names, one_cell=False)

    def estimates(
        self,
        resamples: int,
        rng: Rng,
        *,
        n: Mapping[str, float] | None = None,
        intervals: Collection[str] | None = None,
        tested: Collection[str] = (),
    ) -> dict[str, Estimate]:
        """The numbers with percentile intervals over units; `n` (default: units) as in `estimate`.

        Where the bootstrap knows a single value, or units are fewer than `MIN_ROWS`, numbers have
        no interval; but `shares` have Wilson's, of as many things as there are units that have
        some, and at most n.
        """
        whole = self.sums.sum(axis=0)
        resample = (
            partial(bootstrap_counts, whole.astype(np.int64))
            if self.one_cell
            else partial(bootstrap_units, self.sums)
        )
        denominators = dict.fromkeys(self.numbers(whole[None]), len(self.sums)) if n is None else n
        estimates = estimate(
            whole[None],
            lambda sums: dict(self.numbers(sums)),
            partial(resample, n_resamples=resamples, rng=rng),
            n=denominators,
            intervals=intervals if enough(len(self.sums)) else (),
            tested=tested,
        )
        if not resamples:
            return estimates
        for name, one in estimates.items():
            estimates[name] = replace(one, interval=with_width(one.interval))
        of_units = self.numbers(self.sums)
        for name in self.shares:
            units = int((~np.isnan(of_units[name])).sum())
            if estimates[name].interval is None or not enough(units):
                estimates[name] = _with_wilson(estimates[name], units)
        return estimates

    def over(self, over: Draw, resamples: int, seed: int) -> dict[str, Estimate]:
        """The numbers with intervals over what is drawn."""
        return self.drawn(over).estimates(resamples, source(seed))

    def minus(
        self, other: NumberUnits, over: Draw, resamples: int, seed: int
    ) -> dict[str, Difference]:
        """First (this system) − `other` for each compared number, with the paired interval and p.

        Args:
            other: of another system, on the same units in the same order.
            over: what is drawn, and exchanged between the two.
            resamples: of each interval and test; 0: neither.
            seed: of the random numbers; each test has the same.

        Edge cases: no intervals with fewer than `mtbias.stats.results.MIN_ROWS` units; p is exact
        where they are few.

        Raises:
            DataError: the units are not the same.
        """
        if self.groups != other.groups or self.sums.shape != other.sums.shape:
            raise DataError(
                "expected two systems on the same rows, got other rows; "
                "score both on the same files"
            )
        ours, theirs = self.drawn(over).sums, other.drawn(over).sums
        wide = enough(len(ours))
        return compare(
            PairedUnits(ours, theirs),
            self.numbers,
            list(self.compared or self.numbers(ours[:1])),
            resamples,
            bootstrap=source(seed),
            test=source(seed),
            intervals=lambda _: wide,
        )


def _with_wilson(share: Estimate, units: int) -> Estimate:
    """A share in per cent, of things that so many units have, with Wilson's interval."""
    if share.value is None:
        return share
    things = units if share.n is None else min(units, share.n)
    return replace(share, interval=wilson_percent(share.value / 100 * things, things))


def corrected(
    comparisons: Iterable[Mapping[str, Difference]], *, together: bool = False
) -> list[dict[str, Difference]]:
    """The differences with p corrected by Holm.

    Args:
        comparisons: of several pairs of systems, or parts of a corpus; a number without a p is
            not a test.
        together: whether all tests are one family; by default those of one number are.
    """
    with_holm = [dict(differences) for differences in comparisons]
    families: dict[str, list[tuple[dict[str, Difference], str, float]]] = {}
    for differences in with_holm:
        for name, d in differences.items():
            if d.p is not None:
                families.setdefault("" if together else name, []).append((differences, name, d.p))
    for family in families.values():
        for (differences, name, _), p in zip(family, holm([p for *_, p in family]), strict=True):
            differences[name] = replace(differences[name], p_holm=p)
    return with_holm


def _all_swaps(sizes: Sequence[int]) -> Arrangements:
    """Every combination of ks, with its probability."""
    ks = list(product(*(range(size + 1) for size in sizes)))
    chances = product(*map(_binomial_chances, sizes))
    yield (
        np.array(ks, dtype=np.float64).reshape(len(ks), len(sizes)),
        np.array(list(map(prod, chances)), np.float64),
    )


def _binomial_chances(n: int) -> list[float]:
    """The probability of each k from 0 to n, of n fair coins."""
    return [comb(n, k) / 2**n for k in range(n + 1)]


def _drawn_swaps(sizes: Sequence[int], n_resamples: int, rng: Rng) -> Arrangements:
    for start in range(0, n_resamples, _CHUNK):
        n = min(_CHUNK, n_resamples - start)
        yield rng.binomial(sizes, 0.5, size=(n, len(sizes))).astype(np.float64), np.ones(n)
