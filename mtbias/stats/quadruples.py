"""Quadruples: two sentences of one gender and their two counterparts of the other; what their patterns add to ΔI.

The places of a quadruple: 0 a sentence, 1 its control (of the same gender, with another small change), 2 and 3 their
counterparts of the other gender. With f = 1 where a sentence is right, else 0, a pair is *inconsistent* where
|f_i − f_j| = 1. I_within is the share of inconsistent pairs within a gender (0-1, 2-3), I_across that of pairs across
genders, and ΔI = I_across − I_within: how much more the gender matters than another small change does.

Source: Xie, Kocijan, Lukasiewicz and Camburu, *Counter-GAP* (EACL 2023), section 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np
from numpy.typing import NDArray

from mtbias.stats.results import Floats, percent

RIGHT, WRONG, NO_CALL = range(3)
"""What the answer to a sentence can be, where a system may give none: statuses of `all_patterns`."""

Pairs = tuple[tuple[int, int], ...]
"""Pairs of places."""

FIRST, SECOND = (0, 1), (2, 3)
"""The pair within the gender of place 0, and within the other."""
MATCHED: Pairs = ((0, 2), (1, 3))
"""Each sentence with its own counterpart: the pairs across genders where these differ in gender alone."""
CROSSED: Pairs = tuple(product(FIRST, SECOND))
"""Each sentence of one gender with each of the other: where both counterparts are as like it (other people's names)."""


def all_patterns(statuses: int, places: int = 4) -> NDArray[np.int64]:
    """All patterns of so many `statuses` at so many `places`: ``[statuses**places, places]``.

    Row k has the digits of k in base `statuses`, so that a pattern's row is its number (`pattern_number`).
    """
    return np.array(list(product(range(statuses), repeat=places)), dtype=np.int64)


def pattern_number(pattern: Iterable[int], statuses: int) -> int:
    """The row of `pattern` in `all_patterns`."""
    number = 0
    for status in pattern:
        number = statuses * number + status
    return number


def inconsistent(right: NDArray[np.bool_], pairs: Pairs) -> NDArray[np.int64]:
    """In how many of `pairs` exactly one of the two is right: ``[n]`` of whether each place is, ``[n, places]``."""
    return sum((right[:, i] != right[:, j] for i, j in pairs), np.zeros(len(right), dtype=np.int64))


def inconsistency(across: Floats, within: Floats, n: Floats, pairs: Pairs) -> tuple[Floats, Floats, Floats]:
    """I_across, I_within and ΔI of `n` quadruples, in per cent; ΔI in [−100, 100], NaN where `n` is 0.

    I_across = Σ across / (len(pairs)·n), I_within = Σ within / 2n, ΔI = I_across − I_within.

    Args:
        across: how many of `pairs` are inconsistent, summed over quadruples; any shape.
        within: how many of the two pairs within genders are, likewise.
        n: quadruples.
        pairs: the pairs across genders of each: `MATCHED` or `CROSSED`.
    """
    # Not one share minus the other: where the sums balance, ΔI must be exactly 0, since p counts the resamples up to 0.
    delta = percent(2 / len(pairs) * across - within, 2 * n)
    return percent(across, len(pairs) * n), percent(within, 2 * n), delta
