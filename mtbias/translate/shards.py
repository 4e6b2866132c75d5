"""Shards: parts of the work that several processes translate, on whatever machines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from mtbias.errors import UsageError

_WRITTEN = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` of `of`, counted from 1; written ``2/8``.

    Whatever `of` is, every part of a plan is in exactly one shard, and parts themselves do not depend on it: so neither
    do translations. Plans begin with the longest sentences, so by taking turns shards have about equal work.
    """

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise UsageError(f"shard {self.number}/{self.of}: expected a number from 1 to {self.of}")

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``2/8``.

        Raises:
            UsageError: it is something else.
        """
        match = _WRITTEN.fullmatch(text)
        if match is None:
            raise UsageError(f"shard: expected K/N, like 2/8, got {text!r}")
        return cls(int(match[1]), int(match[2]))

    def parts(self, count: int) -> range:
        """The numbers (from 0) of those of `count` parts that are in this shard."""
        return range(self.number - 1, count, self.of)
