"""Shards: parts of a batch plan that several processes translate, on whatever machines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from mtbias.errors import UsageError
from mtbias.translate.seq2seq.batch_plan import Batch

_WRITTEN = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` of `of`, counted from 1; written ``2/8``.

    Whatever `of` is, every batch is in exactly one shard, and batches themselves do not depend on it: so neither do
    translations.
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

    def has(self, index: int) -> bool:
        """Whether batch `index` (from 0) of a plan is in this shard: ``index mod of = number - 1``."""
        return index % self.of == self.number - 1


def batches_of(plan: Sequence[Batch], shard: Shard) -> tuple[Batch, ...]:
    """The batches of a shard. Plans begin with the longest sentences, so by taking turns shards have like work."""
    return tuple(batch for batch in plan if shard.has(batch.index))
