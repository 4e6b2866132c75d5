"""From records to counts, from counts to numbers with their intervals: what every measure that counts has in common.

A measure says in a `Counting` which table its records are counted into and how numbers follow from a table; groups,
breakdowns, intervals and `metrics.json` are made here, and `mtbias.scoring.comparison` compares systems by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isclose, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mtbias import __version__
from mtbias.errors import DataError
from mtbias.scoring.definitions import WHOLE, Number, interval_methods, keys
from mtbias.scoring.entity_intervals import EntityIntervals, entity_intervals
from mtbias.stats.resampling import bootstrap_counts, percentile_interval, wilson_percent
from mtbias.stats.results import LEVEL, MIN_ROWS, N_RESAMPLES, Estimate, Floats, Interval, enough, number, rounded

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = 1
"""Version of the shape of `metrics.json`."""

Counts = NDArray[np.int64]
"""A table of counts; with leading axes in front where many tables are computed at once."""


@dataclass(frozen=True, eq=False)
class Counting:
    """How a measure counts its records and computes its numbers."""

    numbers: tuple[Number, ...]
    """What it reports of every group of records, in the order of `metrics.json`."""
    axes: Mapping[str, tuple[str | None, ...]]
    """The axes of a table of counts, with the name of each place; a table is additive.

    The last axis is the outcome, what the system's translation was found to be; those before are given with the
    sentence.
    """
    place: Callable[[Any], tuple[int, ...]]
    """Where a record counts: an index for each axis."""
    rates: Callable[[NDArray[Any]], Mapping[str, Floats]]
    """The numbers by key, of tables ``[..., *axes]``: each of shape ``[...]``, NaN where undefined.

    Sums of weights are computed with as numbers of records are.
    """
    classes: Callable[[Counts], Mapping[str, int]]
    """The rows of a table in each class that a number rests on: ``n``, those with a call (key ``decided``) where it has
    such, and others."""
    right: NDArray[np.bool_]
    """Which cells of a table hold records that the system got right: of the table's shape."""
    breakdowns: Mapping[str, Callable[[Any], str]]
    """Properties by which records are grouped: name (``domain``), and a record's group."""
    entity: Callable[[Any], str] | None = None
    """What a record is about, where records about one thing resemble each other: intervals are over these too."""
    entity_kind: Callable[[Floats], NDArray[np.int64]] | None = None
    """The kinds of entities whose numbers a corpus fixes, from the tables of entities ``[n, *axes]``: a number each."""
    stratified: bool = False
    """Whether resamples draw within each place of the first axis, where a corpus fixes how many records it has."""
    shown: tuple[str, ...] = ()
    """Attributes of a record that lists of sentences name."""
    more: Callable[[Counts], Mapping[str, Any]] = field(default=lambda _: {})
    """Further plain values of a group in `metrics.json`."""
    given: int | None = None
    """How many axes, from the first, are given with a sentence; by default all but the last. (MT-GenEval counts by
    whether the sentence's counterpart is right, too, which differs from system to system.)"""
    units: Units | None = None
    """Where records depend on each other within units, how systems are compared by these; by default a unit is a
    record."""
    beside: tuple[Number, ...] = ()
    """Numbers of all records that do not follow from a table, where the measure computes them (`Group.beside`)."""

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

    def cells(self, records: Iterable[Any]) -> NDArray[np.int64]:
        """The cell of the flattened table in which each record counts, in their order."""
        places = np.array([self.place(record) for record in records], dtype=np.int64).reshape(-1, len(self.shape))
        return np.asarray(np.ravel_multi_index(tuple(places.T), self.shape), dtype=np.int64)

    def tabulate(self, row_cells: NDArray[np.int64]) -> Counts:
        """The table of counts of rows in these cells."""
        table: Counts = np.bincount(row_cells, minlength=prod(self.shape)).reshape(self.shape)
        return table

    def tabulate_by(self, row_cells: NDArray[np.int64], groups: Iterable[str]) -> dict[str, Counts]:
        """The table of counts of each group, as they first come: `groups` has that of every row."""
        number_of: dict[str, int] = {}
        of_row = np.array([number_of.setdefault(group, len(number_of)) for group in groups], dtype=np.int64)
        size = prod(self.shape)
        tables: Counts = np.bincount(of_row * size + row_cells, minlength=len(number_of) * size)
        return dict(zip(number_of, tables.reshape(-1, *self.shape), strict=True))

    def values(self, tables: NDArray[Any], numbers: Sequence[Number]) -> Floats:
        """`numbers` of tables ``[B, *axes]``: shape ``[B, len(numbers)]``, NaN where undefined."""
        if not numbers:
            return np.empty((len(tables), 0))
        rates = self.rates(tables)
        return np.stack([rates[each.key] for each in numbers], axis=-1)

    def intervals(self, table: Counts, n_resamples: int, rng: np.random.Generator) -> dict[str, Interval | None]:
        """95 % intervals over the rows behind a table of counts, by key: each made as its number declares.

        Wilson's for single shares. Percentile bootstrap for the others: rows are resampled independently, all classes
        together, so the numbers of rows of each class vary from resample to resample as they would in another corpus
        of the same kind (but see `stratified`).

        Edge cases: without resamples there are no intervals at all. A share of no rows has none. In the bootstrap,
        undefined replicates are dropped, and where more than half are undefined there is no interval; nor is there one
        where a class of rows that the number rests on has fewer than `MIN_ROWS` rows.

        Raises:
            ValueError: a number is declared to be a share of a class of rows and is none.
        """
        if not n_resamples:
            return dict.fromkeys(each.key for each in self.with_interval)
        classes, numbers = self.classes(table), [each for each in self.numbers if each.interval == "bootstrap"]
        if self.stratified:
            parts = [bootstrap_counts(part, lambda drawn: drawn.astype(float), n_resamples, rng) for part in table]
            replicates = self.values(np.stack(parts, axis=1), numbers)
        else:
            replicates = bootstrap_counts(table, lambda tables: self.values(tables, numbers), n_resamples, rng)
        ends = {
            each.key: percentile_interval(column) if enough([classes[name] for name in each.rests_on]) else None
            for each, column in zip(numbers, replicates.T, strict=True)
        }
        rates = self.rates(table)
        for each in self.with_interval:
            if each.interval == "wilson":
                ends[each.key] = _wilson(each.key, number(rates[each.key]), classes[each.rests_on[0]])
        return ends

    def group(self, table: Counts, n_resamples: int, seed: int) -> Group:
        """The numbers of a table, with intervals; the same table has the same intervals, whatever other groups are.

        Raises:
            ValueError: another shape.
        """
        if table.shape != self.shape:
            raise ValueError(f"expected a table of counts of shape {self.shape}, got {table.shape}")
        table.setflags(write=False)
        rates, classes = self.rates(table), self.classes(table)
        ends = self.intervals(table, n_resamples, np.random.Generator(np.random.PCG64(seed)))
        numbers = {}
        for each in self.numbers:
            n = classes[each.rests_on[0]] if len(each.rests_on) == 1 else None
            numbers[each.key] = Estimate(number(rates[each.key]), ends.get(each.key), n)
        return Group(table, classes, numbers, self)


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
        return self.classes["n"]

    @property
    def decided(self) -> int:
        """Rows with a call."""
        return self.classes["decided"]

    def plain(self) -> dict[str, Any]:
        """The group as it stands in `metrics.json`, unrounded."""
        return {
            **{name: rows for name, rows in self.classes.items() if name in WHOLE},
            **{key: found.value for key, found in self.numbers.items()},
            **self.counting.more(self.counts),
            **{key: found.value for key, found in self.beside.items()},
            "ci": {
                **{each.key: self.numbers[each.key].interval for each in self.counting.with_interval},
                **{key: found.interval for key, found in self.beside.items()},
            },
            **({} if self.over_entities is None else {"ci_entities": self.over_entities.intervals}),
            "denominators": {name: rows for name, rows in self.classes.items() if name not in WHOLE},
            "confusion": self.counts.tolist(),
        }

    def to_json(self) -> dict[str, Any]:
        """The group as it stands in `metrics.json`; per cent, rounded to 6 decimals, null where undefined."""
        return {key: rounded(value) for key, value in self.plain().items()}


def flat_row(group: Mapping[str, Any], numbers: Sequence[Number]) -> dict[str, Any]:
    """A group of `metrics.json` with one value for each name, as a row of a table has it.

    Classes of rows are ``n_…`` (but ``called_…``), intervals ``…_low`` and ``…_high``, those over entities
    ``…_low_entities`` and ``…_high_entities``, bounds ``…_low_bound`` and ``…_high_bound``.

    Raises:
        KeyError: the group lacks a number.
    """
    classes = group.get("denominators", {})
    row = {name: group[name] for name in WHOLE if name in group}
    row |= {name if name.startswith("called_") else f"n_{name}": rows for name, rows in classes.items()}
    row |= {each.key: group[each.key] for each in numbers}
    for key in (key for key in group if key.endswith("_bounds")):
        name = key.removesuffix("bounds")
        row[f"{name}low_bound"], row[f"{name}high_bound"] = group[key]
    for key in keys(numbers, interval=True):
        row[f"{key}_low"], row[f"{key}_high"] = group["ci"].get(key) or (None, None)
    for key, ends in (group.get("ci_entities") or {}).items():
        row[f"{key}_low_entities"], row[f"{key}_high_entities"] = ends or (None, None)
    return row


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of a corpus. The tables of every breakdown add up to the table of `overall`."""

    overall: Group
    by: Mapping[str, Mapping[str, Group]]
    """Groups by breakdown (``domain``) and name: in the order of their axis where they are one, else numbers in numeric
    order, then names in alphabetical order."""
    n_resamples: int
    seed: int

    def to_json(self, *, signature: str | None = None, fingerprint: str | None = None) -> dict[str, Any]:
        """The content of `metrics.json`; the same scores give the same value, key order included."""
        return {
            "schema": SCHEMA,
            "mtbias": __version__,
            "signature": signature,
            "fingerprint": fingerprint,
            **{name: rows for name, rows in self.overall.classes.items() if name in WHOLE},
            **self.facts(),
            "intervals": {
                "method": "percentile bootstrap over rows",
                "level": rounded(100 * LEVEL),
                "resamples": self.n_resamples,
                "seed": self.seed,
                "min_rows": MIN_ROWS,
            },
            "interval_methods": dict(interval_methods([*self.overall.counting.numbers, *self._beside()])),
            **({} if self.overall.over_entities is None else {"entity_intervals": self.overall.over_entities.facts()}),
            "confusion_axes": {name: list(places) for name, places in self.overall.counting.axes.items()},
            "overall": self.overall.to_json(),
            **{
                f"by_{name}": {key: group.to_json() for key, group in groups.items()}
                for name, groups in self.by.items()
            },
            **self.further(),
        }

    def _beside(self) -> list[Number]:
        return [each for each in self.overall.counting.beside if each.key in self.overall.beside]

    def facts(self) -> dict[str, Any]:
        """What a measure counts beside its numbers; nothing by itself."""
        return {}

    def further(self) -> dict[str, Any]:
        """What a measure computes beside its groups; nothing by itself."""
        return {}

    def to_frame(self) -> pd.DataFrame:
        """One row per group: columns `breakdown`, `group`, classes, numbers (per cent, unrounded), `…_low`, `…_high`.

        The first row is the whole corpus (`breakdown` "overall", `group` ""). Undefined numbers are NaN.
        """
        import pandas as pd

        groups = [("overall", "", self.overall)]
        groups += [(f"by_{name}", key, group) for name, part in self.by.items() for key, group in part.items()]
        numbers, rows = self.overall.counting.numbers, []
        for name, key, group in groups:
            row = {"breakdown": name, "group": key, **flat_row(group.plain(), numbers)}
            rows.append({column: float("nan") if value is None else value for column, value in row.items()})
        return pd.DataFrame(rows)


def score_groups(
    records: Sequence[Any], counting: Counting, *, n_resamples: int = N_RESAMPLES, seed: int = 0
) -> tuple[Group, dict[str, dict[str, Group]]]:
    """The numbers of all records, and of the groups of each breakdown.

    The bootstrap starts from `seed` for every group; with 0 resamples there are no intervals.

    Raises:
        DataError: there are no records.
    """
    if not records:
        raise DataError("expected instances to score, got none: look at the corpus and at what was filtered out")
    row_cells, by = counting.cells(records), {}
    for name, of in counting.breakdowns.items():
        tables = counting.tabulate_by(row_cells, map(of, records))
        by[name] = {
            key: counting.group(tables[key].copy(), n_resamples, seed)
            for key in sorted(tables, key=_order(counting.axes.get(name, ())))
        }
    overall = counting.group(counting.tabulate(row_cells), n_resamples, seed)
    if counting.entity is not None:
        tables = counting.tabulate_by(row_cells, map(counting.entity, records))
        over = entity_intervals(counting, [tables], counting.with_interval, n_resamples, seed)
        overall = replace(overall, over_entities=over)
    return overall, by


def _wilson(key: str, share: float | None, n: int) -> Interval | None:
    """Wilson's interval of a share of n rows, in per cent."""
    if share is None:
        return None
    rows = share * n / 100
    if not isclose(rows, round(rows), abs_tol=1e-6):
        raise ValueError(f"{key}: expected a share of {n} rows for Wilson's interval, got {share} %; declare another")
    return wilson_percent(round(rows), n)


def _order(places: Sequence[str | None]) -> Callable[[str], tuple[int, int, str]]:
    """Places of an axis in their order, then numbers in numeric order, then everything else alphabetically."""

    def order(key: str) -> tuple[int, int, str]:
        if key in places:
            return 0, places.index(key), key
        return (1, int(key), key) if key.isdecimal() and key.isascii() else (2, 0, key)

    return order
