"""Plain-text tables of anything: a header, rows, columns of equal width."""

from __future__ import annotations

from collections.abc import Sequence

UNDEFINED = "–"


def number(value: float | None, decimals: int = 2) -> str:
    """A number with so many decimals, without the sign of a zero; "–" for None."""
    if value is None:
        return UNDEFINED
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def interval(ends: tuple[float, float] | None, decimals: int = 2) -> str:
    """``[lower, upper]``; "–" for None."""
    return UNDEFINED if ends is None else f"[{number(ends[0], decimals)}, {number(ends[1], decimals)}]"


def columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table: the first column flush left, the others flush right, two blanks between; ends in a newline.

    Raises:
        ValueError: rows of unequal length.
    """
    table = [list(header), *(list(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(
            f"{cell:{'<' if n == 0 else '>'}{width}}" for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in table
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"
