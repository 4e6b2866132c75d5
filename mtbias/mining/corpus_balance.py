"""What the sentences of men and of women differ in besides gender, and samples of a corpus in which they do not.

Weights that take such differences out are `mtbias.scoring.weighted.weigh`'s for ``delta_g``, the same with which
``mtbias compare --weighted`` computes; here is the other way, exact matching: a sample that has as many sentences of
men as of women in every cell of like sentences, the classes of all properties together. It needs no weights to be
carried along, and costs the sentences that have no partner.

Source: Stuart, *Statistical Science* 25 (2010), for exact matching and for standardised differences, whose denominator
is that before balancing, so that before and after can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from mtbias.errors import DataError
from mtbias.scoring.sentence_protocols import Described
from mtbias.scoring.weighted import properties_of
from mtbias.stats.results import Floats, rounded
from mtbias.types import Gender

GENDERS = (Gender.MALE, Gender.FEMALE)
"""The two groups, in the order in which their values stand."""

_NUMBERS: Mapping[str, Callable[[Described], int | None]] = {
    "pronouns": lambda row: row.pronouns,
    "distance": lambda row: row.distance,
    "length": lambda row: len(row.source.split()),
}
_CLASSES: Mapping[str, Callable[[Described], str]] = {
    "domain": lambda row: row.domain,
    "stereotype": lambda row: str(row.stereotype),
}

Pair = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Confounder:
    """One property of the sentences of either gender: the mean of a number, or the share of a class."""

    property: str
    level: str | None
    """The class; None of a number, whose mean is given."""
    before: Pair
    """Male, female: mean, or share from 0 to 1; None without sentences that have the property."""
    after: Pair
    """The same with the weights, or in the sample."""
    standardised: Pair
    """(male − female) / √((s² of male + s² of female) / 2) before and after, s² of the sentences before; None where
    none of them differ."""

    def to_json(self) -> dict[str, Any]:
        """A plain value, numbers rounded to 6 decimals."""
        names = ("property", "level", "before", "after", "standardised")
        return {name: rounded(getattr(self, name)) for name in names}


def confounders(
    rows: Sequence[Described], after: Sequence[float] | Floats, properties: Sequence[str]
) -> list[Confounder]:
    """What sentences of men and of women differ in, as they are and with the weights `after` (0 and 1 of a sample).

    Args:
        rows: sentences; those that are neither male nor female are passed over.
        after: a weight of 0 or more for each.
        properties: of `mtbias.scoring.weighted.ALL_PROPERTIES`. Numbers that no sentence has are left out.
    """
    found = []
    for name in properties:
        if name in _NUMBERS:
            values = [_NUMBERS[name](row) for row in rows]
            if any(value is not None for value in values):
                found.append(_confounder(name, None, rows, values, after))
            continue
        classes = [_CLASSES[name](row) for row in rows]
        shown = {row_class for row, row_class in zip(rows, classes, strict=True) if row.gold in GENDERS}
        found += [
            _confounder(name, level, rows, [int(one == level) for one in classes], after) for level in sorted(shown)
        ]
    return found


def _confounder(
    name: str,
    level: str | None,
    rows: Sequence[Described],
    values: Sequence[int | None],
    after: Sequence[float] | Floats,
) -> Confounder:
    means: list[Pair] = []
    for weights in (np.ones(len(rows)), np.asarray(after, dtype=np.float64)):
        male, female = (_mean(*_of(gender, rows, values, weights)) for gender in GENDERS)
        means.append((male, female))
    variances = [np.var(_of(gender, rows, values, np.ones(len(rows)))[0] or [0.0]) for gender in GENDERS]
    scale = sqrt(float(sum(variances)) / 2)
    before, then = (
        None if male is None or female is None or scale == 0 else (male - female) / scale for male, female in means
    )
    return Confounder(name, level, means[0], means[1], (before, then))


def _of(
    gender: Gender, rows: Sequence[Described], values: Sequence[int | None], weights: Floats
) -> tuple[list[float], list[float]]:
    """Values and weights of the sentences of a gender that have a value."""
    kept = [
        (float(value), float(weight))
        for row, value, weight in zip(rows, values, weights, strict=True)
        if row.gold is gender and value is not None
    ]
    return [value for value, _ in kept], [weight for _, weight in kept]


def _mean(values: Sequence[float], weights: Sequence[float]) -> float | None:
    return float(np.average(values, weights=weights)) if sum(weights) > 0 else None


@dataclass(frozen=True, slots=True)
class MatchedSample:
    """A sample that has as many sentences of men as of women in every cell."""

    chosen: tuple[int, ...]
    """Their positions, in the corpus's order."""
    n_cells: int
    """Cells that have a sentence."""
    n_matched: int
    """Those of them that have sentences of both genders; the others have none in the sample."""


def matched_sample(rows: Sequence[Described], properties: Sequence[str], seed: int) -> MatchedSample:
    """The largest sample with as many sentences of men as of women in every cell of `properties`, drawn at random.

    A cell has the sentences with the same classes in all properties (`mtbias.scoring.weighted.properties_of`); of the
    gender with more of them, as many are drawn as the other has. Quartiles are those of both genders together.

    Raises:
        DataError: no cell has sentences of both genders; a property that no sentence has.
    """
    places = [n for n, row in enumerate(rows) if row.gold in GENDERS]
    columns = properties_of([rows[n] for n in places], properties)
    for name, column in columns.items():
        if all(value is None for value in column):
            raise DataError(f"expected sentences with a {name}, got none in this corpus; leave {name} out")
    cells: dict[tuple[str | None, ...], tuple[list[int], list[int]]] = {}
    classes = zip(*columns.values(), strict=True) if columns else [()] * len(places)
    for place, cell in zip(places, classes, strict=True):
        cells.setdefault(cell, ([], []))[rows[place].gold is Gender.FEMALE].append(place)
    rng = np.random.default_rng(seed)
    chosen: list[int] = []
    matched = 0
    for sides in cells.values():
        n = min(map(len, sides))
        matched += n > 0
        for side in sides:
            chosen += side if len(side) == n else sorted(rng.choice(side, n, replace=False).tolist())
    if not chosen:
        raise DataError(
            f"no sentence of a man is like one of a woman in {', '.join(properties)}; ask for fewer properties"
        )
    return MatchedSample(tuple(sorted(chosen)), len(cells), matched)
