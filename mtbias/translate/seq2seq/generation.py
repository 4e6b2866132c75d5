"""The generation loop: batches by plan, halved where memory runs out, searched again where scores
are not finite, and stored.

On a GPU a step of the decoder takes the same time for one row as for thousands, and one translation
that loops would hold its batch until the most new tokens. So a batch is searched in two stages:
sentences that are not done at `Decoding.first_stop` are searched again, to their limit, together
with those of other batches.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from mtbias.errors import ModelError
from mtbias.translate.outputs import Output
from mtbias.translate.seq2seq.batches import Batch
from mtbias.translate.seq2seq.codec import Codec, Encoded
from mtbias.translate.seq2seq.decoding import Decoding
from mtbias.translate.seq2seq.engine import Bounds, Engine, Generated, Halving, OutOfMemory
from mtbias.translate.system import Store
from mtbias.translate.text_language import is_repetitive

POOLED = 8
"""Batches that share a second stage on a GPU; a killed run loses no more than these. With 1 % of
translations that loop, BUG takes 56 % of the steps of one stage
(`scripts/experiments/count_steps.py`)."""


class SearchedBatch(NamedTuple):
    """A batch whose search is over."""

    batch: Batch
    sentences: Sequence[Encoded]
    results: list[tuple[Generated, bool]]
    """The result of each sentence, and whether it was redone in fp32."""


@dataclass
class Generation:
    """Translates a list of sentences by a plan."""

    codec: Codec
    load: Callable[[], Engine]
    """Gives the engine; called for the first batch, so that a run without new batches needs no
    weights."""
    decoding: Decoding
    pooled: int = 0
    """Batches that share a second stage; 0 for a single stage, in which every batch is searched to
    its end."""
    halving: Halving = field(default_factory=Halving)
    in_second_stage: int = 0
    """Sentences of the second stage."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while threads add to counts, and while the weights in fp32 are loaded."""

    @cached_property
    def engine(self) -> Engine:
        """The engine, loaded."""
        return self.load()

    def batches(
        self, encoded: Sequence[Encoded], plan: Sequence[Batch], store: Store
    ) -> Generator[tuple[int, Sequence[Output]]]:
        """The number of each batch of `plan` with its outputs, which are kept in `store`.

        As many batches are generated at the same time as the engine's concurrency. A caller that
        stops before the end closes the generator (`contextlib.closing`), which ends its threads.

        Raises:
            ModelError: a single sentence does not fit into memory.
        """
        size = self.pooled or 1
        groups = [plan[first : first + size] for first in range(0, len(plan), size)]
        if not groups or self.engine.concurrency == 1:
            yield from self._one_at_a_time(encoded, groups, store)
            return
        pool = ThreadPoolExecutor(self.engine.concurrency, thread_name_prefix="mtbias-batch")
        try:
            futures = deque(pool.submit(self._group, encoded, group, store) for group in groups)
            while futures:
                yield from futures.popleft().result()  # popped, so that it is not held any longer
        finally:
            # After an error or a signal, nobody waits for the batches in progress.
            with self.engine.abandon():
                pool.shutdown(cancel_futures=True)

    def _one_at_a_time(
        self, encoded: Sequence[Encoded], groups: Iterable[Sequence[Batch]], store: Store
    ) -> Generator[tuple[int, Sequence[Output]]]:
        """See `batches`. A thread decodes and keeps the texts of a batch while the next one is
        generated, so that a GPU does not wait.
        """
        with ThreadPoolExecutor(1, thread_name_prefix="mtbias-finish") as finisher:
            finishing: deque[Future[tuple[int, list[Output]]]] = deque()
            for group in groups:
                for searched in self._searched(encoded, group):
                    finishing.append(finisher.submit(self._finish, searched, store))
                    while len(finishing) > 1:
                        yield finishing.popleft().result()
            while finishing:
                yield finishing.popleft().result()

    def _group(
        self, encoded: Sequence[Encoded], batches: Sequence[Batch], store: Store
    ) -> list[tuple[int, list[Output]]]:
        """Generate batches one after the other and keep them."""
        return [self._finish(searched, store) for searched in self._searched(encoded, batches)]

    def _searched(
        self, encoded: Sequence[Encoded], batches: Sequence[Batch]
    ) -> Iterator[SearchedBatch]:
        """Search batches one after the other, then all of their second stage together."""
        unfinished: list[SearchedBatch] = []
        for batch in batches:
            sentences = [encoded[n] for n in batch.rows]
            longest = max(len(sentence.ids) for sentence in sentences)
            stop = self.decoding.first_stop(longest) if self.pooled else None
            searched = SearchedBatch(batch, sentences, self._batch(sentences, batch.limit, stop))
            if all(result.done for result, _ in searched.results):
                yield searched
            else:
                unfinished.append(searched)
        self._second_stage(unfinished)
        yield from unfinished

    def _second_stage(self, unfinished: Sequence[SearchedBatch]) -> None:
        """Search the sentences again that are not done, to the limit, and replace their results."""
        places: dict[int, list[tuple[Encoded, list[tuple[Generated, bool]], int]]] = {}
        for batch, sentences, results in unfinished:
            for n, (result, _) in enumerate(results):
                if not result.done:
                    places.setdefault(batch.limit, []).append((sentences[n], results, n))

        # As many as fitted into memory before.
        most = max((len(batch.rows) for batch, *_ in unfinished), default=0)
        for limit, of_limit in places.items():
            with self._lock:
                self.in_second_stage += len(of_limit)
            for first in range(0, len(of_limit), most):
                some = of_limit[first : first + most]
                again = self._batch([sentence for sentence, *_ in some], limit)
                for (_, results, n), new_result in zip(some, again, strict=True):
                    results[n] = new_result

    def _batch(
        self, sentences: Sequence[Encoded], limit: int, stop: int | None = None
    ) -> list[tuple[Generated, bool]]:
        """Generate one batch, in parts if memory is short; gives results and whether each was
        redone.
        """
        bounds = Bounds(self.decoding, limit, self.codec.forced, stop)

        def area(some: Sequence[Encoded]) -> int:
            return len(some) * (max(len(s.ids) for s in some) + min(limit, stop or limit))

        def generate(some: Sequence[Encoded]) -> list[tuple[Generated, bool]]:
            generated = self.engine.generate([sentence.ids for sentence in some], bounds)
            results = []
            for sentence, result in zip(some, generated, strict=True):
                redo = result.done and not result.finite
                results.append((self._exactly(sentence, bounds) if redo else result, redo))
            return results

        return self.halving.run(sentences, area, generate, self._too_long)

    def _exactly(self, sentence: Encoded, bounds: Bounds) -> Generated:
        """The translation of one sentence by the weights in fp32."""
        with self._lock:
            exact = self.engine.exact()
        try:
            (again,) = exact.generate([sentence.ids], replace(bounds, stop=None))
        except OutOfMemory as error:
            raise self._too_long(sentence, str(error)) from None
        if not again.finite:
            raise ModelError(
                f"{self.codec.folder}: scores are not finite even in fp32; "
                "the weights are damaged or untrained"
            )
        return again

    def _too_long(self, sentence: Encoded, lacking: str) -> ModelError:
        return ModelError(
            f"one sentence of {len(sentence.ids)} tokens with {self.decoding.beams} beams "
            f"does not fit into memory ({lacking}); "
            "use fewer --beams, another --dtype, or --device cpu"
        )

    def _finish(self, searched: SearchedBatch, store: Store) -> tuple[int, list[Output]]:
        """Decode the texts of a batch and keep them; gives its number and its outputs."""
        batch, sentences, results = searched
        texts = self.codec.decode([result.ids for result, _ in results])
        outputs = []
        for text, sentence, (result, redone) in zip(texts, sentences, results, strict=True):
            output = Output(
                text,
                source_cut=sentence.cut,
                cut=result.cut,
                repetitive=is_repetitive(text),
                redone=redone,
            )
            outputs.append(output)
        store.put(batch.index, [asdict(output) for output in outputs])
        return batch.index, outputs
