"""What is kept of translated sentences, and how the translations of a corpus are put together from it; shards."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from mtbias.errors import UsageError
from mtbias.translate.system import Store, Translated
from mtbias.types import SourceSentence, Translation

EXAMPLES = 5
"""How many sentences are named under each mark."""

MARKS = ("empty", "source_cut", "cut", "repetitive", "redone")
"""What is counted among the outputs of a checkpoint."""


@dataclass(frozen=True, slots=True)
class Output:
    """The translation of one sentence, and what was noticed."""

    text: str
    source_cut: bool = False
    """The source was longer than the model can read."""
    cut: bool = False
    """The translation reached the maximum length."""
    repetitive: bool = False
    """The translation fell into repetition."""
    redone: bool = False
    """Its scores were not finite in half precision; this is what fp32 gave."""

    @property
    def empty(self) -> bool:
        """There is no text."""
        return not self.text.strip()


def kept_outputs(store: Store, part: int, size: int) -> list[Output] | None:
    """The outputs of a part of `size` sentences, or None where it is not there or not whole."""
    records = store.get(part)
    return None if records is None or len(records) != size else [Output(**record) for record in records]


def collect(
    store: Store, parts: Sequence[Sequence[str]], instances: Sequence[SourceSentence], marks: Sequence[str] = MARKS
) -> Translated | int:
    """The translations of `instances`, or how many of `parts`, the sources of each, `store` lacks."""
    outputs: dict[str, Output] = {}
    missing = 0
    for part, sources in enumerate(parts):
        found = kept_outputs(store, part, len(sources))
        if found is None:
            store.drop(part)  # damaged for this process, so that it is missing for all
            missing += 1
        else:
            outputs |= dict(zip(sources, found, strict=True))
    if missing:
        return missing
    rows = [(instance.id, outputs[instance.source]) for instance in instances]
    marked = {mark: [id_ for id_, output in rows if getattr(output, mark)] for mark in marks}
    return Translated(
        [Translation(id_, None, "empty") if o.empty else Translation(id_, o.text.strip()) for id_, o in rows],
        {
            "form": "generated",
            **{mark: len(ids) for mark, ids in marked.items()},
            "examples": {mark: ids[:EXAMPLES] for mark, ids in marked.items() if ids},
        },
    )


# Shards: parts of the work that several processes translate, on whatever machines.

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
