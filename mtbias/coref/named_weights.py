"""Weights of examples with the examples' names: solved for the rows of a table, and compared with other weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from mtbias.errors import DataError
from mtbias.files.reading import Table, TextFile, parse_json_by_id, read_text
from mtbias.stats.balance import Balance, balance, objective


@dataclass(frozen=True, slots=True, eq=False)
class NamedWeights:
    """Weights with the names of their examples."""

    balance: Balance
    keys: Sequence[str]
    """Under what name each weight stands in a file."""
    ids: Sequence[str]
    """What each example is called for people."""
    weights: Mapping[str, float]
    """What a file of them holds."""

    def to_json(self) -> dict[str, Any]:
        """Plain values, numbers unrounded."""
        of = self.balance
        return {
            "n": len(of.weights),
            "groups": {
                name: {"n": size, "effective_size": effective}
                for name, size, effective in zip(of.groups, of.sizes, of.effective_sizes, strict=True)
            },
            "effective_size": of.effective_size,
            "objective": of.objective,
            "gap": of.gap,
            "n_cells": of.n_cells,
            "balanced": of.balanced,
            "one_sided": of.one_sided,
            "n_zero": of.n_zero,
            "largest": [{"key": self.keys[i], "weight": weight} for i, weight in of.largest()],
        }


def solve_table_weights(table: Table, group: str, properties: Sequence[str], id_: str | None = None) -> NamedWeights:
    """Weights that balance the two groups of a table's rows (`mtbias.stats.balance.balance`), which a column names.

    Of the columns `properties`, those of true and false (in any case) mark a property, others have categories; an empty
    cell is in none. The names of rows stand in the column `id_`, by default they are their numbers from 0.

    Raises:
        DataError: a column is not there; a row without group; a name twice; what `balance` raises.
    """
    table.require(group, *properties, *([] if id_ is None else [id_]))
    for record in table.records:
        if not record.get(group):
            raise record.error(f"no group under {group!r}")
    groups = [record.get(group) for record in table.records]
    try:
        solved = balance(groups, {column: _values(table, column) for column in properties})
    except DataError as error:
        raise table.file.error(str(error)) from None
    keys = [str(record.row) if id_ is None else record.get(id_) for record in table.records]
    if len(set(keys)) != len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise table.file.error(f"{twice!r} stands twice under {id_!r}; ids must differ")
    return NamedWeights(solved, keys, keys, dict(zip(keys, map(float, solved.weights), strict=True)))


def _values(table: Table, column: str) -> list[str | bool | None]:
    """True and false where the column has nothing else; text otherwise; None for an empty cell."""
    texts = [record.get(column) for record in table.records]
    truths = {"true": True, "false": False}
    if all(not text or text.lower() in truths for text in texts):
        return [truths.get(text.lower()) for text in texts]
    return [text or None for text in texts]


@dataclass(frozen=True, slots=True)
class OtherWeights:
    """How far other weights of the same examples are."""

    file: str
    objective: float
    relative: float
    """(its objective − ours) / ours."""
    largest: float
    """Largest absolute difference of two weights."""
    largest_id: str


def compare_weights(ours: NamedWeights, path: Path) -> OtherWeights:
    """Compare with the JSON file at `path`, ``{"KEY": 0.85, …}``; other keys in it are passed over.

    Raises:
        DataError: not such JSON; one of our examples has no weight there, or a negative or infinite one.
    """
    file = read_text(path)
    content = parse_json_by_id(file)
    other = [weight_of(content, key, file) for key in ours.keys]
    solved = ours.balance
    theirs = objective(other, solved.is_second)
    differences = [abs(a - b) for a, b in zip(other, solved.weights, strict=True)]
    at = max(range(len(differences)), key=differences.__getitem__)
    relative = theirs / solved.objective - 1 if solved.objective else 0.0
    return OtherWeights(str(path), theirs, relative, float(differences[at]), ours.ids[at])


def weight_of(content: Mapping[str, object], key: str, file: TextFile) -> float:
    """The weight under `key` of the JSON that `file` is; `DataError` where there is none, or no number of 0 or more."""
    if key not in content:
        raise file.error(f"expected a weight for {key!r}, got {len(content)} other keys")
    weight = content[key]
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not isfinite(weight) or weight < 0:
        raise file.error(f"{key}: expected a number of 0 or more, got {weight!r:.60}")
    return float(weight)
