"""Cases of which the slow tests run a sample, always the same, and `make test-exhaustive` the
others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from zlib import crc32

import pytest


def sampled(cases: Iterable[tuple[str, Any]], *, one_in: int = 5) -> list[Any]:
    """Parameters of (id, value): one of `one_in` as it is, by a hash of its id; the others marked
    `exhaustive`.

    A case that is added or goes moves no other one into the sample or out of it.
    """
    return [
        pytest.param(
            value,
            id=name,
            marks=() if crc32(name.encode()) % one_in == 0 else pytest.mark.exhaustive,
        )
        for name, value in cases
    ]


def crossed(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    """Parameters of (one of `first`, one of `second`): each with the other's first one, the other
    pairs exhaustive."""
    return [
        pytest.param(one, other, marks=() if 0 in (i, j) else pytest.mark.exhaustive)
        for i, one in enumerate(first)
        for j, other in enumerate(second)
    ]
