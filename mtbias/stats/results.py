"""One vocabulary of results for translation and coreference: a number with what it rests on, a
difference of two.

A number is None where it is undefined, never zero; rounding comes last, where a value is written or
shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtbias.types import frozen

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
"""Whole numbers: counts; with leading axes in front where many tables are computed at once."""
Bools = NDArray[np.bool_]
Tables = NDArray[Any]
"""Tables of counts, or of sums of weights, with which numbers are computed alike."""

Rng = np.random.Generator
"""A source of randomness."""

Interval = tuple[float, float]
"""Lower and upper end, in the unit of what they enclose."""

LEVEL = 0.95
"""Coverage of every interval that mtbias prints."""

N_RESAMPLES = 2000
"""Resamples where nobody names a number."""

MIN_ROWS = 10
"""An interval needs at least this many rows in every class of rows that its number compares.

With fewer, the percentile bootstrap is far too narrow: one row gives an interval of width 0.
"""

ALPHA = 0.05
"""A difference is called significant where its p, corrected for the number of tests, is below
this."""

DECIMALS = 6
"""Of numbers that are written to files."""


@frozen
class Estimate:
    """One number with what it rests on, unrounded; None where undefined."""

    value: float | None
    interval: Interval | None = None
    """Of coverage `LEVEL`; None if the number has none."""
    n: float | None = None
    """Its denominator, where one number says it; the sum of weights where rows are weighted."""
    p: float | None = None
    """Two-sided, of the test that the measure defines for this number, where it defines one."""
    p_one_sided: float | None = None
    """Of the one-sided test of the measure's paper, where it has one."""


@frozen
class Difference:
    """One number of two systems on the same units; None where undefined."""

    first: float | None
    second: float | None
    difference: float | None
    """first − second."""
    interval: Interval | None = None
    """Of coverage `LEVEL`, paired bootstrap over units."""
    p: float | None = None
    """Two-sided, paired randomisation over units."""
    p_holm: float | None = None
    """`p` corrected by Holm for the tests that were made together; None where it was not
    corrected."""

    @property
    def significant(self) -> bool:
        """Whether the corrected p is below `ALPHA`."""
        return self.p_holm is not None and self.p_holm < ALPHA


def percent(part: ArrayLike, whole: ArrayLike) -> Floats:
    """100 · part / whole, element by element; NaN where `whole` is not above 0."""
    parts, wholes = np.asarray(part), np.asarray(whole)
    share = np.full(np.broadcast_shapes(parts.shape, wholes.shape), np.nan)
    np.divide(100 * parts, wholes, out=share, where=wholes > 0)
    return share


def percent_of(part: float, whole: float) -> float | None:
    """100 · part / whole; None where `whole` is 0."""
    return 100 * part / whole if whole else None


def source(seed: int | Sequence[int]) -> Rng:
    """The source of randomness of a seed; the same wherever it is asked for."""
    return Rng(np.random.PCG64(seed))


def number(value: float | Floats) -> float | None:
    """A value of an array as a plain number; None for NaN."""
    plain = float(value)
    return None if isnan(plain) else plain


def minus(first: float | None, second: float | None) -> float | None:
    """First − second; None where either is undefined."""
    return None if first is None or second is None else first - second


def enough(rows: int | Sequence[int]) -> bool:
    """Whether every class of rows has the `MIN_ROWS` that an interval needs."""
    return min(rows if isinstance(rows, Sequence) else [rows]) >= MIN_ROWS


T = TypeVar("T")


_P_VALUES = frozenset({"p", "p_holm", "p_one_sided"})
"""What p-values are called in files."""


def rounded(value: T) -> T:
    """The value as files have it: floats rounded to `DECIMALS` (−0.0 as 0.0) and tuples as lists,
    at any depth; all else unchanged.

    Rounded at the very end, so that the same run gives the same bytes. A p-value above 0 never
    becomes 0: one that is too small for `DECIMALS` keeps its first two digits.
    """
    result: Any = value
    if isinstance(value, float):
        result = round(value, DECIMALS) + 0.0
    elif isinstance(value, dict):
        result = {
            key: _rounded_p(part) if key in _P_VALUES and isinstance(part, float) else rounded(part)
            for key, part in value.items()
        }
    elif isinstance(value, list | tuple):
        result = [rounded(part) for part in value]
    return cast(T, result)


def _rounded_p(p: float) -> float:
    return rounded(p) or float(f"{p:.1e}")


UNDEFINED = "–"
"""How a number is written that is undefined."""


def number_text(value: float | None, decimals: int = 1) -> str:
    """A number with so many decimals, one as in the papers of translation, without the sign of a
    zero; "–" for None.
    """
    return UNDEFINED if value is None else f"{round(value, decimals) + 0.0:.{decimals}f}"


def interval_text(ends: Sequence[float] | None, decimals: int = 1) -> str:
    """``[lower, upper]``; "–" for None."""
    return (
        UNDEFINED
        if ends is None
        else f"[{number_text(ends[0], decimals)}, {number_text(ends[1], decimals)}]"
    )


def estimate_text(value: float | None, ends: Sequence[float] | None, decimals: int = 1) -> str:
    """A number with its interval, where it has one: ``24.8 [22.4, 27.3]``."""
    text = number_text(value, decimals)
    return text if value is None or ends is None else f"{text} {interval_text(ends, decimals)}"


def p_text(p: float | None, decimals: int = 3) -> str:
    """A p-value, never as 0: ``<0.001`` below the least that `decimals` can show; "–" for None."""
    if p is None:
        return UNDEFINED
    least = 10**-decimals
    return f"<{least:.{decimals}f}" if p < least else f"{p:.{decimals}f}"
