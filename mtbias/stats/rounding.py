"""Numbers as they are written to files: rounded at the very end, so that the same run gives the same bytes."""

from __future__ import annotations

DECIMALS = 6


def rounded(value: object) -> object:
    """Floats to 6 decimals (−0.0 as 0.0), tuples as lists, through any nesting; everything else as it is."""
    if isinstance(value, float):
        return round(value, DECIMALS) + 0.0
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(part) for part in value]
    return value
