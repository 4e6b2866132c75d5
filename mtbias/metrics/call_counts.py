"""Counting: rows with a gold gender, a stereotype and a call become one additive table of integers.

A table has the axes stereotype (pro, anti, none) × gold (male, female, neutral) × call (male, female, neutral, none),
shape ``[3, 3, 4]``, ``int64``. Adding the tables of two corpora is the table of both. The last column of the call
axis holds the rows without a verdict. Everything in `mtbias.metrics.bias` is computed from such a table alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mtbias.types import Gender, Stereotype

Counts = NDArray[np.int64]
"""A table of counts, ``[3, 3, 4]``; with leading axes in front where many tables are computed at once."""

STEREOTYPES: tuple[Stereotype, ...] = (Stereotype.PRO, Stereotype.ANTI, Stereotype.NONE)
GOLDS: tuple[Gender, ...] = (Gender.MALE, Gender.FEMALE, Gender.NEUTRAL)
CALLS: tuple[Gender | None, ...] = (*GOLDS, None)

SHAPE = (len(STEREOTYPES), len(GOLDS), len(CALLS))
_SIZE = len(STEREOTYPES) * len(GOLDS) * len(CALLS)

Row = tuple[Gender, Stereotype, Gender | None]
"""Gold gender, stereotype, and the gender that was called (None: no verdict)."""

_CELL: dict[Row, int] = {
    (gold, stereotype, call): (s * len(GOLDS) + g) * len(CALLS) + c
    for s, stereotype in enumerate(STEREOTYPES)
    for g, gold in enumerate(GOLDS)
    for c, call in enumerate(CALLS)
}

Key = TypeVar("Key", bound=Hashable)


def count(rows: Iterable[Row]) -> Counts:
    """Count rows of (gold gender, stereotype, called gender or None) into a table of shape ``[3, 3, 4]``.

    Edge cases: no rows give a table of zeros.
    """
    return _tabulate(cells(rows))


def cells(rows: Iterable[Row]) -> NDArray[np.int64]:
    """The cell of the flattened table in which each row counts, in the rows' order."""
    return np.fromiter((_CELL[row] for row in rows), dtype=np.int64)


def count_by(row_cells: NDArray[np.int64], keys: Sequence[Key]) -> dict[Key, Counts]:
    """One table per distinct key, in the order in which the keys first occur; the tables add up to the whole.

    `row_cells` (from `cells`) and `keys` belong together row by row.

    Raises:
        ValueError: they differ in length.
    """
    if len(row_cells) != len(keys):
        raise ValueError(f"expected one key for each of {len(row_cells)} rows, got {len(keys)} keys")
    number: dict[Key, int] = {}
    groups = np.fromiter((number.setdefault(key, len(number)) for key in keys), dtype=np.int64, count=len(keys))
    tables = np.bincount(groups * _SIZE + row_cells, minlength=len(number) * _SIZE).reshape(-1, *SHAPE)
    return {key: tables[i].astype(np.int64, copy=True) for key, i in number.items()}


def _tabulate(row_cells: NDArray[np.int64]) -> Counts:
    return np.bincount(row_cells, minlength=_SIZE).reshape(SHAPE).astype(np.int64, copy=False)
