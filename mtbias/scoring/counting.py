"""From records to counts, from counts to numbers with their intervals: what every measure that
counts has in common.

A measure says in a `Counting` which table its records are counted into and how numbers follow from
a table; groups, breakdowns, intervals and `metrics.json` are made here, and
`mtbias.scoring.comparison` compares systems by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from math import isclose, prod
from operator import and_
from typing import Any

import numpy as np

from mtbias.scoring.definitions import ALL_ROWS, WHOLE, WITH_CALL, Number
from mtbias.stats.paired import WeightedTables
from mtbias.stats.resampling import bootstrap_units, percentile_interval, wilson_percent
from mtbias.stats.results import (
    Bools,
    Counts,
    Estimate,
    Floats,
    Interval,
    Tables,
    enough,
    number,
    rounded,
    source,
)
from mtbias.types import JsonDict, JsonObject, frozen


@dataclass(frozen=True, eq=False)
class Counting:
    """How a measure counts its records and computes its numbers."""

    numbers: tuple[Number, ...]
    """What it reports of every group of records, in the order of `metrics.json`."""
    axes: Mapping[str, tuple[str | None, ...]]
    """The axes of a table of counts, with the name of each place; a table is additive.

    The last axis is the outcome, what the system's translation was found to be; those before are
    given with the sentence.
    """
    place: Callable[[Any], tuple[int, ...]]
    """Where a record counts: an index for each axis."""
    rates: Callable[[Tables], Mapping[str, Floats]]
    """The numbers by key, of tables ``[..., *axes]``: each of shape ``[...]``, NaN where undefined.

    Sums of weights are computed with as numbers of records are.
    """
    classes: Callable[[Counts], Mapping[str, int]]
    """The rows of a table in each class that a number rests on: ``n``, those with a call
    (key ``decided``) where it has such, and others."""
    breakdowns: Mapping[str, Callable[[Any], str | None]]
    """Properties by which records are grouped: name (``domain``), and a record's group; None where
    the corpus does not say it. A property that it says of no record makes no groups."""
    entity: Callable[[Any], str] | None = None
    """What a record is about, where records about one thing resemble each other: intervals are over
    these too."""
    entity_kind: Callable[[Floats], Counts] | None = None
    """The kinds of entities whose numbers a corpus fixes, from the tables of entities ``[n,
    *axes]``: a number each."""
    stratified: bool = False
    """Whether resamples draw within each place of the first axis, where a corpus fixes how many
    records it has."""
    shown: tuple[str, ...] = ()
    """Attributes of a record that lists of sentences name."""
    more: Callable[[Counts], JsonObject] = field(default=lambda _: {})
    """Further plain values of a group in `metrics.json`."""
    right: Bools = field(default_factory=lambda: np.zeros(1, dtype=bool))
    """Which cells of a table hold records that the system got right, of the table's shape; by
    default none."""
    given: int | None = None
    """How many axes, from the first, are given with a sentence; by default all but the last.
    (MT-GenEval counts by whether the sentence's counterpart is right, too, which differs from
    system to system.)"""
    units: Units | None = None
    """Where records depend on each other within units, how systems are compared by these; by
    default a unit is a record."""
    beside: tuple[Number, ...] = ()
    """Numbers of all records that do not follow from a table, where the measure computes them
    (`Group.beside`)."""

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Places of each axis."""
        return tuple(map(len, self.axes.values()))

    @cached_property
    def with_interval(self) -> tuple[Number, ...]:
        """The numbers that have intervals."""
        return tuple(each for each in self.numbers if each.interval)

    @cached_property
    def compared(self) -> tuple[Number, ...]:
        """The numbers in which systems are compared."""
        return tuple(each for each in self.numbers if each.compared)

    def outcome(self, record: Any) -> str | None:  # noqa: ANN401 - a record of the measure
        """What the system's translation was found to be; None where nothing was."""
        return tuple(self.axes.values())[-1][self.place(record)[-1]]

    def cells(self, records: Iterable[Any]) -> Counts:
        """The cell of the flattened table in which each record counts, in their order."""
        places = np.array([self.place(record) for record in records], dtype=np.int64).reshape(
            -1, len(self.shape)
        )
        return np.asarray(np.ravel_multi_index(tuple(places.T), self.shape), dtype=np.int64)

    def tabulate(self, row_cells: Counts) -> Counts:
        """The table of counts of rows in these cells."""
        table: Counts = np.bincount(row_cells, minlength=prod(self.shape)).reshape(self.shape)
        return table

    def tabulate_by(self, row_cells: Counts, groups: Iterable[str]) -> dict[str, Counts]:
        """The table of counts of each group, as they first come: `groups` has that of every row."""
        number_of: dict[str, int] = {}
        of_row = np.array(
            [number_of.setdefault(group, len(number_of)) for group in groups], dtype=np.int64
        )
        size = prod(self.shape)
        tables: Counts = np.bincount(of_row * size + row_cells, minlength=len(number_of) * size)
        return dict(zip(number_of, tables.reshape(-1, *self.shape), strict=True))

    def levels(self, *tables: Counts, weights: Floats | None = None) -> WeightedTables:
        """Tables of counts of rows, one for each of `weights`, as intervals resample them."""
        return WeightedTables(
            np.array(tables), np.ones(1) if weights is None else weights, self.stratified
        )

    def estimates(
        self,
        tables: WeightedTables,
        numbers: Sequence[Number],
        n_resamples: int,
        rng: np.random.Generator,
    ) -> dict[str, Estimate]:
        """`numbers` of the rows of a table by key, with 95 % intervals over rows, each made as its
        number declares.

        Wilson's for single shares. Percentile bootstrap for the others: rows are resampled
        independently, all classes together, so the numbers of rows of each class vary from resample
        to resample as they would in another corpus of the same kind (but see `stratified`).

        Edge cases: without resamples there are no intervals at all. A share of no rows has none. In
        the bootstrap, undefined replicates are dropped. There is no interval if more than half are
        undefined, or if a class of rows that the number rests on has fewer than `MIN_ROWS` rows.

        Raises:
            ValueError: a number is declared to be a share of a class of rows and is not.
        """
        rates, classes = self.rates(tables.total()), self.classes(tables.rows())
        drawn = any(each.interval == "bootstrap" for each in numbers)
        replicates = self.rates(tables.resampled_tables(n_resamples, rng)) if drawn else {}
        estimates = {}
        for each in numbers:
            value, rows = number(rates[each.key][0]), [classes[name] for name in each.rests_on]
            interval = None
            if each.interval == "bootstrap" and enough(rows):
                interval = percentile_interval(replicates[each.key])
            elif each.interval == "wilson" and n_resamples:
                interval = _wilson(each.key, value, rows[0])
            estimates[each.key] = Estimate(value, interval, rows[0] if len(rows) == 1 else None)
        return estimates

    def group(self, table: Counts, n_resamples: int, seed: int) -> Group:
        """The numbers of a table, with intervals; the same table has the same intervals, whatever
        other groups are.
        """
        table.setflags(write=False)
        rng = source(seed)
        return Group(
            table,
            self.classes(table),
            self.estimates(self.levels(table), self.numbers, n_resamples, rng),
            self,
        )


@dataclass(frozen=True, eq=False)
class Units:
    """Units of records: drawn, and exchanged between systems, as a whole."""

    name: str
    """Of several of them: ``pairs``."""
    join: Callable[[Sequence[Any]], Sequence[Any]]
    """The units of records, in the order in which they begin."""
    counting: Counting
    """How they are counted; its numbers are those of the records."""


@dataclass(frozen=True, eq=False)
class Group:
    """A set of records: its table of counts, the rows of each class, and its numbers."""

    counts: Counts
    """Read-only."""
    classes: Mapping[str, int]
    numbers: Mapping[str, Estimate]
    counting: Counting = field(repr=False)
    over_entities: EntityIntervals | None = None
    """Of all records, where the measure says what they are about."""
    beside: Mapping[str, Estimate] = field(default_factory=dict)
    """Of all records, those of `Counting.beside` that were computed."""

    def __getitem__(self, key: str) -> Estimate:
        """The number called `key`."""
        return self.beside[key] if key in self.beside else self.numbers[key]

    @property
    def n(self) -> int:
        """All rows."""
        return self.classes[ALL_ROWS]

    @property
    def decided(self) -> int:
        """Rows with a call."""
        return self.classes[WITH_CALL]

    def plain(self) -> JsonDict:
        """The group as in `metrics.json`, but unrounded."""
        return {
            **{name: rows for name, rows in self.classes.items() if name in WHOLE},
            **{key: estimate.value for key, estimate in self.numbers.items()},
            **self.counting.more(self.counts),
            **{key: estimate.value for key, estimate in self.beside.items()},
            "ci": {
                **{
                    each.key: self.numbers[each.key].interval
                    for each in self.counting.with_interval
                },
                **{key: estimate.interval for key, estimate in self.beside.items()},
            },
            **({} if self.over_entities is None else {"ci_entities": self.over_entities.intervals}),
            "denominators": {
                name: rows for name, rows in self.classes.items() if name not in WHOLE
            },
            "confusion": self.counts.tolist(),
        }

    def to_json(self) -> JsonDict:
        """The group as in `metrics.json`: per cent, rounded to 6 decimals, null if undefined."""
        return rounded(self.plain())


def _wilson(key: str, share: float | None, n: int) -> Interval | None:
    """Wilson's interval of a share of n rows, in per cent."""
    if share is None:
        return None
    rows = share * n / 100
    if not isclose(rows, round(rows), abs_tol=1e-6):
        raise ValueError(
            f"{key}: expected a share of {n} rows for Wilson's interval, got {share} %; "
            "declare another"
        )
    return wilson_percent(round(rows), n)


MIN_ENTITIES = 10
"""An interval over entities needs so many with rows of every class that its number rests on."""

QUESTIONS = (
    "over sentences: other sentences about these entities; "
    "over entities: other entities (occupations)"
)
"""Which question either interval answers."""


@frozen
class EntityIntervals:
    """The intervals of the numbers of a set of rows over its entities."""

    n: int
    """Entities."""
    intervals: Mapping[str, Interval | None] | None
    """By key of the number; None where there are too few entities, or where no intervals were asked
    for."""
    reason: str | None
    """Why there are none."""

    def interval_of(self, key: str) -> Interval | None:
        """The interval of a number; None where it has none."""
        return (self.intervals or {}).get(key)

    def facts(self) -> JsonDict:
        """How they were made, as JSON has it."""
        method = "percentile bootstrap over entities"
        return {
            "method": method,
            "entities": self.n,
            "min_entities": MIN_ENTITIES,
            "reason": self.reason,
        }


def entity_rng(seed: int) -> np.random.Generator:
    """The source of randomness of the draws of entities: a stream of its own, so that no other draw
    depends on it.
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(1,))))


def entity_intervals(
    counting: Counting,
    systems: Sequence[Mapping[str, Counts]],
    numbers: Sequence[Number],
    n_resamples: int,
    seed: int,
) -> EntityIntervals:
    """95 % percentile intervals of `numbers` over entities, drawn with replacement with all their
    rows.

    Args:
        counting: the measure.
        systems: the tables of one system by entity (`Counting.tabulate_by`); or those of two, of
            the same entities in the same order, for the differences first − second with both
            systems' calls on the drawn entities.
        numbers: those to compute.
        n_resamples: of the entities; 0: no intervals.
        seed: of the draws; see `entity_rng`.

    Entities are drawn within their kinds (`Counting.entity_kind`), as many of each as there are:
    WinoMT has twenty occupations that the stereotype gives to men and twenty that it gives to women
    by design, and ΔS would mean something else with another mixture of the two. Where a kind has
    fewer than `MIN_ENTITIES`, all are drawn together.

    Edge cases: with fewer than `MIN_ENTITIES` entities there is no interval, and a reason; nor is
    there one for a number that rests on a class with rows of fewer entities than that. Undefined
    resamples are dropped (`percentile_interval`).

    Source: Davison and Hinkley, *Bootstrap Methods and their Application* (1997), sections 3.2 and
    3.8; Field and Welsh, *Journal of the Royal Statistical Society B* 69 (2007): the cluster
    bootstrap.
    """
    n = len(systems[0])
    if not n_resamples:
        return EntityIntervals(n, None, "no resamples")
    if n < MIN_ENTITIES:
        return EntityIntervals(n, None, f"expected {MIN_ENTITIES} entities or more, got {n}")
    # Side by side, a line for each entity; classes and kinds of entities are the same in all
    # systems.
    tables_of = [
        np.array([*tables.values()], dtype=np.float64).reshape(n, -1) for tables in systems
    ]
    counts, kinds = np.hstack(tables_of), _kinds(counting, tables_of[0])
    occupied, rng = np.flatnonzero(counts.any(axis=0)), entity_rng(seed)
    tables = np.zeros((n_resamples, counts.shape[1]))
    for kind in np.unique(kinds):
        tables[:, occupied] += bootstrap_units(
            counts[kinds == kind][:, occupied], lambda sums: sums, n_resamples, rng
        )
    drawn = [
        counting.rates(part.reshape(-1, *counting.shape))
        for part in np.split(tables, len(systems), axis=1)
    ]
    fewest = _fewest_entities(counting, systems)
    ends: dict[str, Interval | None] = {}
    for each in numbers:
        replicates, *second = (rates[each.key] for rates in drawn)
        if second:
            replicates = replicates - second[0]
        few = min(fewest[name] for name in each.rests_on) < MIN_ENTITIES
        ends[each.key] = None if few else percentile_interval(replicates)
    return EntityIntervals(n, ends, None)


def _fewest_entities(counting: Counting, systems: Sequence[Mapping[str, Counts]]) -> Counter[str]:
    """How many entities have rows of each class, in the system that has fewest."""
    counters = []
    for tables in systems:
        occupied: Counter[str] = Counter()
        for table in tables.values():
            occupied.update(name for name, rows in counting.classes(table).items() if rows)
        counters.append(occupied)
    return reduce(and_, counters)


def _kinds(counting: Counting, counts: Floats) -> Counts:
    """The kind of each entity, as a number; all the same where a kind has too few."""
    if counting.entity_kind is None:
        return np.zeros(len(counts), dtype=np.int64)
    kinds = counting.entity_kind(counts.reshape(-1, *counting.shape))
    _, sizes = np.unique(kinds, return_counts=True)
    return kinds if sizes.min() >= MIN_ENTITIES else np.zeros_like(kinds)
