"""Intervals over entities: how a number would vary with other entities (occupations), not with other sentences.

A corpus made of templates has many sentences about few occupations, and sentences about one occupation resemble each
other. Drawing sentences asks what other sentences about *these* occupations would have given; whoever speaks about
occupations at large asks for entities to be drawn, each with all its sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mtbias.stats.resampling import bootstrap_units, percentile_interval
from mtbias.stats.results import Floats, Interval

if TYPE_CHECKING:
    from mtbias.scoring.counting import Counting, Counts
    from mtbias.scoring.definitions import Number

MIN_ENTITIES = 10
"""An interval over entities needs so many with rows of every class that its number rests on."""

QUESTIONS = "over sentences: other sentences about these entities; over entities: other entities (occupations)"
"""Which question either interval answers."""


@dataclass(frozen=True, slots=True)
class EntityIntervals:
    """The intervals of the numbers of a set of rows over its entities."""

    n: int
    """Entities."""
    intervals: Mapping[str, Interval | None] | None
    """By key of the number; None where there are too few entities, or where no intervals were asked for."""
    reason: str | None
    """Why there are none."""

    def facts(self) -> dict[str, Any]:
        """How they were made, as JSON has it."""
        method = "percentile bootstrap over entities"
        return {"method": method, "entities": self.n, "min_entities": MIN_ENTITIES, "reason": self.reason}


def entity_rng(seed: int) -> np.random.Generator:
    """The source of randomness of the draws of entities: a stream of its own, so that no other draw depends on it."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(1,))))


def entity_intervals(
    counting: Counting,
    systems: Sequence[Mapping[str, Counts]],
    numbers: Sequence[Number],
    n_resamples: int,
    seed: int,
) -> EntityIntervals:
    """95 % percentile intervals of `numbers` over entities, drawn with replacement with all their rows.

    Args:
        counting: the measure.
        systems: the tables of one system by entity (`Counting.tabulate_by`); or those of two, of the same entities in
            the same order, for the differences first − second with both systems' calls on the drawn entities.
        numbers: those wanted.
        n_resamples: of the entities; with 0 there are no intervals.
        seed: of the draws; see `entity_rng`.

    Entities are drawn within their kinds (`Counting.entity_kind`), as many of each as there are: WinoMT has twenty
    occupations that the stereotype gives to men and twenty that it gives to women by design, and with another mixture
    of the two ΔS would be another question. Where a kind has fewer than `MIN_ENTITIES`, all are drawn together.

    Edge cases: with fewer than `MIN_ENTITIES` entities there is no interval, and a reason; none for a number that rests
        on a class with rows of fewer entities than that. Undefined resamples are dropped (`percentile_interval`).

    Source: Davison and Hinkley, *Bootstrap Methods and their Application* (1997), sections 3.2 and 3.8; Field and
    Welsh, *Journal of the Royal Statistical Society B* 69 (2007): the cluster bootstrap.
    """
    n = len(systems[0])
    if not n_resamples:
        return EntityIntervals(n, None, "no resamples")
    if n < MIN_ENTITIES:
        return EntityIntervals(n, None, f"expected {MIN_ENTITIES} entities or more, got {n}")
    # Side by side, a line for each entity; classes and kinds of entities are the same in all systems.
    tables_of = [np.array([table.ravel() for table in tables.values()], dtype=np.float64) for tables in systems]
    counts, kinds = np.hstack(tables_of), _kinds(counting, tables_of[0])
    occupied, rng = np.flatnonzero(counts.any(axis=0)), entity_rng(seed)
    tables = np.zeros((n_resamples, counts.shape[1]))
    for kind in np.unique(kinds):
        tables[:, occupied] += bootstrap_units(counts[kinds == kind][:, occupied], lambda sums: sums, n_resamples, rng)
    first, *second = (
        counting.values(part.reshape(-1, *counting.shape), numbers) for part in np.split(tables, len(systems), axis=1)
    )
    replicates = first - second[0] if second else first
    entities = [_entities_by_class(counting, tables) for tables in tables_of]
    return EntityIntervals(
        n,
        {
            each.key: percentile_interval(column)
            if min(of[name] for of in entities for name in each.rests_on) >= MIN_ENTITIES
            else None
            for each, column in zip(numbers, replicates.T, strict=True)
        },
        None,
    )


def _kinds(counting: Counting, counts: Floats) -> NDArray[np.int64]:
    """The kind of each entity, as a number; all the same where a kind has too few."""
    if counting.entity_kind is None:
        return np.zeros(len(counts), dtype=np.int64)
    kinds = counting.entity_kind(counts.reshape(-1, *counting.shape))
    _, sizes = np.unique(kinds, return_counts=True)
    return kinds if sizes.min() >= MIN_ENTITIES else np.zeros_like(kinds)


def _entities_by_class(counting: Counting, counts: Floats) -> dict[str, int]:
    """How many entities have rows of each class: classes are sums of cells, so each cell is asked once."""
    entities: dict[str, NDArray[np.bool_]] = {}
    for cell in np.flatnonzero(counts.any(axis=0)):
        table = np.zeros(counting.shape, dtype=np.int64)
        table.flat[cell] = 1
        for name, rows in counting.classes(table).items():
            found = entities.setdefault(name, np.zeros(len(counts), dtype=np.bool_))
            if rows:
                found |= counts[:, cell] > 0
    return {name: int(found.sum()) for name, found in entities.items()}
