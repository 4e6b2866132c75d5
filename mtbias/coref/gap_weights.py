"""Weights that take away what two groups of examples differ in: of any table's rows, and of GAP's women and men.

Of GAP, the properties of "The Gap on GAP" (Kocijan, Camburu and Lukasiewicz 2020): N, how many names the text has, and
D, which place the antecedent has among them by distance from the pronoun. Only examples with an antecedent among the
candidates have weight. The solver is `mtbias.stats.balance.balance`.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from mtbias.coref.gap_data import (
    GapFile,
    GapInstance,
    NameSpans,
    files_in,
    gender_of,
    nearest_first,
    rank_of_antecedent,
    read_instances,
    read_name_spans,
)
from mtbias.errors import DataError, UsageError
from mtbias.files.reading import Table, TextFile, parse_json_by_id, read_table, read_text
from mtbias.files.writing import signature_line
from mtbias.stats.balance import Balance, balance, objective
from mtbias.stats.results import Floats
from mtbias.types import Gender

Property = Literal["names", "distance"]

PROPERTIES: tuple[Property, ...] = get_args(Property)

MOST_NAMES, MOST_DISTANCE = 15, 4
"""What W_t keeps: at most 15 names, and no antecedent that is the fifth name or a later one."""


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


@dataclass(frozen=True, slots=True)
class GapProperties:
    """What the weights balance, of one example with an antecedent among its candidates."""

    id: str
    gender: Gender
    antecedent: Literal["a", "b"]
    names: int
    """N: the names in the text."""
    distance: int | None
    """D: the antecedent's place among the names by distance from the pronoun, from 1; None where no name touches it."""

    @property
    def is_trimmed(self) -> bool:
        """Whether W_t leaves the example out."""
        return self.names > MOST_NAMES or (self.distance is not None and self.distance > MOST_DISTANCE)


@dataclass(frozen=True, slots=True, eq=False)
class GapWeights(NamedWeights):
    """Weights of GAP's examples; a file has ``<id>a`` and ``<id>b``: the antecedent's weight, 0 for everything else."""

    examples: tuple[GapProperties, ...]
    """The examples that the weights are solved for, in the order of the data."""
    n_without_antecedent: int
    n_trimmed: int


@dataclass(frozen=True, slots=True)
class PropertySpread:
    """A property of the examples of one gender."""

    mean: float
    deviation: float
    """Standard deviation of the population."""
    n: int


def confounders(data: GapFile, spans: NameSpans) -> dict[str, dict[str, PropertySpread]]:
    """What women's and men's examples differ in (section 3.3 of the paper), by property and gender.

    ``names``: names in a text, of all texts; ``distance``: the antecedent's place among them, of the texts in which a
    name touches it. Without such a text there is no entry.

    Raises:
        DataError: as `properties`.
    """
    values: dict[str, dict[str, list[int]]] = {"names": {}, "distance": {}}
    for instance in data.instances:
        values["names"].setdefault(gender_of(instance, data.path).value, []).append(len(spans.of[instance.id]))
    for example in properties(data, spans):
        if example.distance is not None:
            values["distance"].setdefault(example.gender.value, []).append(example.distance)
    return {
        name: {
            gender: PropertySpread(float(np.mean(of)), float(np.std(of)), len(of))
            for gender, of in sorted(genders.items())
        }
        for name, genders in values.items()
    }


def properties(data: GapFile, spans: NameSpans) -> tuple[GapProperties, ...]:
    """N and D of the examples that have an antecedent among their candidates.

    Raises:
        DataError: a pronoun without gender; an example whose candidates are both TRUE.
    """
    examples = []
    for instance in data.instances:
        if antecedent := antecedent_of(instance, data.path):
            gender, ordered = gender_of(instance, data.path), nearest_first(instance, spans.of[instance.id])
            rank = rank_of_antecedent(instance, ordered)
            examples.append(GapProperties(instance.id, gender, antecedent, len(ordered), rank))
    return tuple(examples)


def antecedent_of(instance: GapInstance, path: Path) -> Literal["a", "b"] | None:
    """Which candidate the pronoun means.

    Raises:
        DataError: both.
    """
    if instance.a_coref and instance.b_coref:
        message = f"{instance.id}: both candidates are TRUE; the weighted scores expect one antecedent at most"
        raise DataError(message, path=path)
    return "a" if instance.a_coref else "b" if instance.b_coref else None


def solve_gap_weights(
    data: GapFile, spans: NameSpans, *, over: Collection[Property] = PROPERTIES, trimmed: bool = False
) -> GapWeights:
    """The weights W of "The Gap on GAP" for GAP-like data, `over` both properties; over one of them W_num and W_dist.

    `trimmed`, W_t: without the examples that have more than `MOST_NAMES` names or an antecedent beyond place
    `MOST_DISTANCE`.

    Raises:
        DataError: as `properties` and `mtbias.stats.balance.balance`.
    """
    everything = properties(data, spans)
    examples = tuple(example for example in everything if not (trimmed and example.is_trimmed))
    columns: dict[str, list[Hashable]] = {
        "names": [e.names for e in examples],
        "distance": [e.distance for e in examples],
    }
    solved = balance([e.gender.value for e in examples], {name: columns[name] for name in PROPERTIES if name in over})
    weights = {instance.id + side: 0.0 for instance in data.instances for side in "ab"}
    keys = [e.id + e.antecedent for e in examples]
    weights.update(zip(keys, map(float, solved.weights), strict=True))
    return GapWeights(
        balance=solved,
        keys=keys,
        ids=[f"{e.id} (N {e.names}, D {e.distance or 'none'})" for e in examples],
        weights=weights,
        examples=examples,
        n_without_antecedent=len(data.instances) - len(everything),
        n_trimmed=len(everything) - len(examples),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Weighed:
    """Weights with what is to be said of them."""

    weights: NamedWeights
    signature: str
    notes: Sequence[str] = ()
    confounders: Mapping[str, Mapping[str, PropertySpread]] = field(default_factory=dict)
    """What the genders of GAP differ in (`confounders`)."""


def weigh_gap(data: Path, name_spans: Path | None, over: Collection[Property], *, trimmed: bool) -> Weighed:
    """`solve_gap_weights` of a file of GAP or its folder; `over` nothing means over both properties.

    Raises:
        DataError: what the readers and the solver raise.
        UsageError: no names.
    """
    data, name_spans = files_in(data, name_spans)
    if name_spans is None:
        raise UsageError("--name-spans is missing; see --help")
    file = read_instances(data)
    spans = read_name_spans(name_spans, file)
    chosen = [name for name in PROPERTIES if not over or name in over]
    solved = solve_gap_weights(file, spans, over=chosen, trimmed=trimmed)
    notes = [f"{solved.n_without_antecedent} examples without antecedent among the candidates have weight 0"]
    if trimmed:
        notes.append(f"{solved.n_trimmed} examples with too many names or too far an antecedent have weight 0")
    if spans.unknown:
        notes.append(f"{spans.unknown} texts of {name_spans} are not in the data")
    files = {"data": {data.name: file.sha256}, "names": {name_spans.name: spans.sha256}}
    options = {"tokens": "regex-as-spacy2", "over": "+".join(chosen), "trimmed": "yes" if trimmed else "no"}
    signature = signature_line("coref:gap-weights", files, {**options, "objective": "pair-maxima"})
    return Weighed(solved, signature, notes, confounders(file, spans))


def weigh_table(path: Path, group: str, properties: Sequence[str] | None, id_: str | None) -> Weighed:
    """`solve_table_weights` of the table at `path`, over all other columns where no `properties` are named.

    Raises:
        DataError: what the reader and the solver raise.
    """
    table = read_table(path)
    chosen = properties or [column for column in table.columns if column and column not in {group, id_}]
    solved = solve_table_weights(table, group, chosen, id_)
    options = {"group": group, "over": "+".join(chosen), "objective": "pair-maxima"}
    return Weighed(solved, signature_line("coref:gap-weights", {"table": {path.name: table.file.sha256}}, options))


def read_gap_weights(path: Path, data: GapFile) -> tuple[Floats, str]:
    """Read a JSON file of weights, ``{"test-1a": 0.0, "test-1b": 0.85, …}``.

    Returns: the weight of each example's antecedent, in the order of `data` (0 without one), and the file's SHA-256.

    Raises:
        DataError: not such JSON; a candidate of `data` without weight, or a key that is none of its candidates; a
            weight that is negative or infinite; a weight above 0 for a candidate that is FALSE.
    """
    file = read_text(path)
    content = parse_json_by_id(file)
    weights = np.zeros(len(data.instances))
    for row, instance in enumerate(data.instances):
        antecedent = antecedent_of(instance, data.path)
        for side in "ab":
            weight = weight_of(content, instance.id + side, file)
            if side == antecedent:
                weights[row] = weight
            elif weight:
                # Such a weight would sum with the others and never be found: another file's, most likely.
                raise file.error(f"{instance.id + side}: weight {weight} for a candidate that is FALSE in {data.path}")
    if len(content) != 2 * len(data.instances):
        known = {instance.id + side for instance in data.instances for side in "ab"}
        other = next(key for key in content if key not in known)
        raise file.error(f"{other!r} is no candidate of {data.path}")
    return weights, file.sha256
