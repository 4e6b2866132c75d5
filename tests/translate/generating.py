"""The generation loop run to its end, with a store in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from mtbias.translate.seq2seq.batch_plan import Batch
from mtbias.translate.seq2seq.codec import Encoded
from mtbias.translate.seq2seq.generation import Generation, Output


@dataclass
class Kept:
    """Batches kept in a dictionary."""

    batches: dict[int, Sequence[Output]] = field(default_factory=dict)

    def get(self, index: int) -> Sequence[Output] | None:
        return self.batches.get(index)

    def put(self, index: int, outputs: Sequence[Output]) -> None:
        self.batches[index] = outputs


def run(
    generation: Generation,
    encoded: Sequence[Encoded],
    plan: Sequence[Batch],
    store: Kept | None = None,
    seen: Callable[[Batch], object] | None = None,
) -> list[Output]:
    """The outputs of all sentences, in their order; `seen` is called with each batch that has ended."""
    found: dict[int, Output] = {}
    with closing(generation.batches(encoded, plan, store or Kept())) as finished:
        for batch, outputs in finished:
            if seen is not None:
                seen(batch)
            found |= dict(zip(batch.rows, outputs, strict=True))
    return [found[n] for n in range(len(encoded))]
