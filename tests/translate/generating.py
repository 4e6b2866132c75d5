"""The generation loop run to its end, with a store in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing

from mtbias.translate.outputs import Output
from mtbias.translate.seq2seq.batches import Batch
from mtbias.translate.seq2seq.codec import Encoded
from mtbias.translate.seq2seq.generation import Generation
from mtbias.translate.system import MemoryStore


def run(
    generation: Generation,
    encoded: Sequence[Encoded],
    plan: Sequence[Batch],
    store: MemoryStore | None = None,
    seen: Callable[[Batch], object] | None = None,
) -> list[Output]:
    """The outputs of all sentences, in their order; `seen` is called with each batch that has
    ended."""
    found: dict[int, Output] = {}
    with closing(generation.batches(encoded, plan, store or MemoryStore())) as finished:
        by_number = {batch.index: batch for batch in plan}
        for number, outputs in finished:
            batch = by_number[number]
            if seen is not None:
                seen(batch)
            found |= dict(zip(batch.rows, outputs, strict=True))
    return [found[n] for n in range(len(encoded))]
