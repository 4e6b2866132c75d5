"""Weights for GAP that take away what its women's and men's examples differ in, and the files they come in.

The properties of "The Gap on GAP" (Kocijan, Camburu and Lukasiewicz 2020): N, how many names the text has, and D, which
place the antecedent has among them by distance from the pronoun. Only examples with an antecedent among the
candidates have weight. The solver is `mtbias.stats.balance.balance`.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from mtbias.coref.gap_instances import GapFile, GapInstance, gender_of
from mtbias.coref.gap_spans import NameSpans, nearest_first, rank_of_antecedent
from mtbias.coref.named_weights import NamedWeights, weight_of
from mtbias.errors import DataError
from mtbias.files.reading import parse_json_by_id, read_text
from mtbias.stats.balance import balance
from mtbias.stats.results import Floats
from mtbias.types import Gender

Property = Literal["names", "distance"]

PROPERTIES: tuple[Property, ...] = get_args(Property)

MOST_NAMES, MOST_DISTANCE = 15, 4
"""What W_t keeps: at most 15 names, and no antecedent that is the fifth name or a later one."""


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
    found: dict[str, dict[str, list[int]]] = {"names": {}, "distance": {}}
    for instance in data.instances:
        found["names"].setdefault(gender_of(instance, data.path).value, []).append(len(spans.of[instance.id]))
    for example in properties(data, spans):
        if example.distance is not None:
            found["distance"].setdefault(example.gender.value, []).append(example.distance)
    return {
        name: {
            gender: PropertySpread(float(np.mean(of)), float(np.std(of)), len(of))
            for gender, of in sorted(genders.items())
        }
        for name, genders in found.items()
    }


def properties(data: GapFile, spans: NameSpans) -> tuple[GapProperties, ...]:
    """N and D of the examples that have an antecedent among their candidates.

    Raises:
        DataError: a pronoun without gender; an example whose candidates are both TRUE.
    """
    found = []
    for instance in data.instances:
        if antecedent := antecedent_of(instance, data.path):
            gender, ordered = gender_of(instance, data.path), nearest_first(instance, spans.of[instance.id])
            rank = rank_of_antecedent(instance, ordered)
            found.append(GapProperties(instance.id, gender, antecedent, len(ordered), rank))
    return tuple(found)


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
