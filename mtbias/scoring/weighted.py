"""Weights that make the sentences of two groups alike, and ΔG and ΔS of the weighted sentences.

Masculine and feminine sentences, pro- and anti-stereotypical ones may differ in more than gender:
in length, in pronouns, in the distance to the pronoun, in domain. Where such a property makes a
sentence harder, ΔG and ΔS differ from 0 by that alone. `mtbias.stats.balance` finds the most even
weights under which both groups have every property equally often; with them the sums of the weights
of sentences take the place of their numbers in F1 and accuracy.

Source: Kocijan, Camburu and Lukasiewicz, "The Gap on GAP" (2020).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mtbias.errors import DataError
from mtbias.stats.balance import Balance, balance
from mtbias.stats.results import Counts, Floats, rounded
from mtbias.types import Described, Gender, JsonDict, Stereotype

MANY_PRONOUNS = 4
"""Sentences with this many pronouns or more are one class."""
FEW_DISTANCES = 4
"""Up to so many different distances are a class each; more are cut at their quartiles."""


def _pronoun_class(row: Described) -> str | None:
    if row.pronouns is None:
        return None
    return str(row.pronouns) if row.pronouns < MANY_PRONOUNS else f"{MANY_PRONOUNS} or more"


_PROPERTIES: Mapping[str, Callable[[Sequence[Described]], list[str | None]]] = {
    "pronouns": lambda rows: [_pronoun_class(row) for row in rows],
    "distance": lambda rows: _binned([row.distance for row in rows], FEW_DISTANCES),
    "length": lambda rows: _binned([len(row.source.split()) for row in rows], 0),
    "domain": lambda rows: [row.domain for row in rows],
    "stereotype": lambda rows: [str(row.stereotype) for row in rows],
}
PROPERTIES = tuple(name for name in _PROPERTIES if name != "stereotype")
"""What sentences are balanced over where nothing else is asked for; see `properties_of`."""
ALL_PROPERTIES = tuple(_PROPERTIES)
"""The properties, and the stereotype: the groups of ΔG can be balanced over it; those of ΔS are
stereotypes."""

_LARGEST = 5
"""The number of largest weights that are listed."""

WEIGHTED = ("delta_g", "delta_s")
"""The numbers that can be weighted."""

_GROUPS: Mapping[str, tuple[str, Callable[[Described], Hashable], tuple[Hashable, Hashable]]] = {
    "delta_g": ("gold gender", lambda row: row.gold, (Gender.MALE, Gender.FEMALE)),
    "delta_s": ("stereotype", lambda row: row.stereotype, (Stereotype.PRO, Stereotype.ANTI)),
}


@dataclass(frozen=True, slots=True, eq=False)
class Weighting:
    """The weights of one number's two groups, and how well they balance."""

    number: str
    """``delta_g`` (groups: gold male, female) or ``delta_s`` (pro, anti)."""
    properties: tuple[str, ...]
    """The properties that were balanced, of `ALL_PROPERTIES`."""
    constant: tuple[str, ...]
    """Those that were looked at and do not differ between sentences, or that no sentence has:
    nothing to balance."""
    balance: Balance
    """Of the sentences of the two groups, over their classes: ``domain=winobias``, …"""
    largest: tuple[tuple[str, float], ...]
    """Ids with the largest weights, the largest first; the mean weight is 1."""
    weights: Floats
    """A weight for every sentence of the corpus, in its order; 1 for those in neither group."""
    kinds: Counts
    """The kind of every sentence: its group and its classes of the properties, 0 for those in
    neither group. Sentences of a kind have one weight, and the intervals resample them apart from
    others."""

    def to_json(self) -> JsonDict:
        """A plain value without the weights of all sentences; floats rounded to 6 decimals."""
        content: JsonDict = {
            "number": self.number,
            "properties": self.properties,
            "constant": self.constant,
            "groups": self.balance.groups,
            "sizes": self.balance.sizes,
            "effective_sizes": self.balance.effective_sizes,
            "kinds": int(self.kinds.max()),
            "weight_0": self.balance.n_zero,
            "balanced": self.balance.balanced,
            "one_sided": self.balance.one_sided,
            "largest": [{"id": id_, "weight": weight} for id_, weight in self.largest],
        }
        return rounded(content)


def weigh(
    rows: Sequence[Described], number: str, properties: Sequence[str] | None = None
) -> Weighting | None:
    """The weights that balance the two groups of `number` over `properties`.

    Args:
        rows: the sentences of a corpus. Those in neither group (gold neutral for ΔG, no stereotype
            for ΔS) are not
            weighed: their weight is 1, which is also the mean of the others'.
        number: ``delta_g`` or ``delta_s``.
        properties: of `ALL_PROPERTIES`; None: all of `PROPERTIES` that differ between sentences of
            the groups. Quartiles are those of both groups together.

    Edge cases: None where a group has no sentence: the number is undefined. Without anything to
    balance all weights
        are 1, and the weighted number is the plain one.

    Raises:
        DataError: an unknown property; one that no sentence of the groups has; no weights balance
            all.
    """
    what, group_of, (first, second) = _GROUPS[number]
    places = [n for n, row in enumerate(rows) if group_of(row) in {first, second}]
    chosen = [rows[n] for n in places]
    groups = [str(group_of(row)) for row in chosen]
    if len(set(groups)) < 2:
        return None
    columns = properties_of(chosen, PROPERTIES if properties is None else properties)
    for name, column in columns.items():
        if properties is not None and set(column) == {None}:
            raise DataError(
                f"expected sentences with a {name}, got none in this corpus; leave {name} out"
            )
    varying = {name: column for name, column in columns.items() if len(set(column)) > 1}
    try:
        solved = balance(groups, varying)
    except DataError as error:
        names = ", ".join(varying)
        raise DataError(f"sentences cannot be balanced by {what} over {names}: {error}") from error
    weights, kinds = np.ones(len(rows)), np.zeros(len(rows), dtype=np.int64)
    weights[places] = solved.weights
    kind_of = list(zip(solved.is_second.tolist(), *varying.values(), strict=True))
    number_of = {kind: n for n, kind in enumerate(dict.fromkeys(kind_of), start=1)}
    kinds[places] = [number_of[kind] for kind in kind_of]
    return Weighting(
        number=number,
        properties=tuple(varying),
        constant=tuple(name for name in columns if name not in varying),
        balance=solved,
        largest=tuple((chosen[n].id, weight) for n, weight in solved.largest(_LARGEST)),
        weights=weights,
        kinds=kinds,
    )


def properties_of(
    rows: Sequence[Described], names: Sequence[str] = PROPERTIES
) -> dict[str, list[str | None]]:
    """The class of every sentence in each of the properties; None where it has none.

    - ``pronouns``: gendered pronouns of the source: 0, 1, 2, 3, "4 or more".
    - ``distance``: words between entity and pronoun where the corpus tells it: a class each where
      at most four values occur, else quartiles.
    - ``length``: words of the source (separated by white space), in quartiles.
    - ``domain``: the sub-corpus.
    - ``stereotype``: pro, anti, none.

    Quartiles have the smallest values at which 25, 50 and 75 per cent of the sentences are reached
    as their upper ends.

    Raises:
        DataError: an unknown property.
    """
    for name in names:
        if name not in _PROPERTIES:
            raise DataError(f"expected properties among {', '.join(_PROPERTIES)}, got {name!r}")
    return {name: _PROPERTIES[name](rows) for name in names}


def _binned(values: Sequence[int | None], few: int) -> list[str | None]:
    """Classes of whole numbers, named by their ends."""
    known = sorted({value for value in values if value is not None})
    if len(known) <= few:
        return [None if value is None else str(value) for value in values]
    present = np.array([value for value in values if value is not None])
    uppers = sorted(
        {*np.quantile(present, (0.25, 0.5, 0.75), method="inverted_cdf").tolist(), known[-1]}
    )
    # A class begins at the first known value above the upper end of the one before.
    lowers = [known[0], *(known[bisect_right(known, upper)] for upper in uppers[:-1])]
    names = [
        str(lo) if lo == up else f"{lo} to {up}" for lo, up in zip(lowers, uppers, strict=True)
    ]
    return [
        None if value is None else names[int(np.searchsorted(uppers, value))] for value in values
    ]
