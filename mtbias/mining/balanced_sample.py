"""BUG's balanced part: as many rows of either gender and of either stereotype, drawn at random.

The authors take all n rows with a feminine pronoun and a feminine stereotype, and draw n from each of the other three
quarters without a seed. Here n is the size of the smallest quarter, whichever it is (their program does not check),
the draw has a seed, and the gender is what the row says, whatever the case of its pronoun (theirs compares in lower
case, so that rows with *He*, *She*, *His*, *Her* at the beginning of a sentence never enter).

Source: Levy, Lazar and Stanovsky, Findings of EMNLP 2021; src/evaluations/Analyze.py of github.com/SLAB-NLP/BUG.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mtbias.errors import DataError
from mtbias.types import Gender, Stereotype

Quarter = tuple[Gender, Stereotype]

QUARTERS: tuple[Quarter, ...] = tuple(
    (gender, side) for gender in (Gender.FEMALE, Gender.MALE) for side in (Stereotype.PRO, Stereotype.ANTI)
)


@dataclass(frozen=True, slots=True)
class BalancedPart:
    """Rows of which each quarter has as many."""

    chosen: tuple[int, ...]
    """Their positions, in the corpus's order."""
    n: int
    """Rows of each quarter: as many as the smallest has."""
    sizes: Mapping[Quarter, int]
    """Rows that each quarter had."""


def balanced_part(rows: Sequence[tuple[Gender | None, Stereotype]], seed: int) -> BalancedPart:
    """The balanced part of a corpus, given each row's gender and stereotype; rows in no quarter are passed over.

    The same rows in the same order and the same `seed` give the same sample (with the same release of numpy).

    Raises:
        DataError: a quarter has no row; the message has the number of each.
    """
    places: dict[Quarter, list[int]] = {quarter: [] for quarter in QUARTERS}
    for n, (gender, side) in enumerate(rows):
        if gender is not None and (gender, side) in places:
            places[gender, side].append(n)
    sizes = {quarter: len(found) for quarter, found in places.items()}
    n = min(sizes.values())
    if n == 0:
        counted = ", ".join(f"{gender} {side} {size}" for (gender, side), size in sizes.items())
        raise DataError(f"expected rows of both genders with both stereotypes, got {counted}: nothing is balanced")
    rng = np.random.default_rng(seed)
    drawn = [place for found in places.values() for place in rng.choice(found, n, replace=False).tolist()]
    return BalancedPart(tuple(sorted(drawn)), n, sizes)
