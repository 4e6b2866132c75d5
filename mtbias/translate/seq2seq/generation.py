"""The generation loop: batches by plan, halved where memory runs out, redone where scores are not finite, kept."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from mtbias.errors import ModelError
from mtbias.translate.outputs import Output, kept_outputs
from mtbias.translate.repetition import is_repetitive
from mtbias.translate.seq2seq.batch_plan import Batch
from mtbias.translate.seq2seq.beam_search import Decoding
from mtbias.translate.seq2seq.codec import Codec, Encoded
from mtbias.translate.seq2seq.engine import Engine, Generated, OutOfMemory
from mtbias.translate.system import Store

T = TypeVar("T")

_AHEAD = 4
"""Batches that may wait to be decoded and written while the next one is generated."""


class _InTurn(Executor):
    """Does the work at once, in the caller's own thread: for one batch at a time."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:  # noqa: ANN401
        """See `Executor`."""
        done: Future[T] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


@contextmanager
def _workers(engine: Engine) -> Iterator[Executor]:
    """Threads that generate batches at the same time."""
    if engine.concurrency == 1:
        yield _InTurn()
        return
    pool = ThreadPoolExecutor(max_workers=engine.concurrency, thread_name_prefix="mtbias-batch")
    try:
        yield pool
    finally:
        with engine.abandon():  # where an error or a signal ends it, nobody waits for what is being generated
            pool.shutdown(cancel_futures=True)


@dataclass
class Generation:
    """Translating a list of sentences by a plan."""

    codec: Codec
    load: Callable[[], Engine]
    """Gives the engine; called when the first batch is generated, so that a run that only resumes needs no weights."""
    decoding: Decoding
    halved: int = 0
    """Times that a batch ran out of memory and was halved."""
    resumed: int = 0
    """Sentences that the store had."""
    generated: int = 0
    """Sentences translated now."""
    _ceiling: int | None = None
    """Smallest sentences × tokens that ran out of memory: later batches stay below."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while threads share what they noticed, and while the weights in fp32 are loaded."""

    @cached_property
    def engine(self) -> Engine:
        """The engine, loaded."""
        return self.load()

    def batches(
        self, encoded: Sequence[Encoded], plan: Sequence[Batch], store: Store
    ) -> Generator[tuple[Batch, Sequence[Output]]]:
        """Each batch of `plan`, which may be a part of the whole, with its outputs, once they are in `store`.

        While a batch is generated, the one before is decoded and kept by another thread; and where the engine has
        concurrency, so many batches are generated at the same time. Whoever stops before the end closes the generator
        (`contextlib.closing`), which ends its threads.

        Raises:
            ModelError: a single sentence does not fit into memory.
        """
        waiting: deque[tuple[Batch, Future[Future[list[Output]]]]] = deque()
        workers: Executor | None = None
        with ExitStack() as stack:
            decoder = stack.enter_context(ThreadPoolExecutor(max_workers=1, thread_name_prefix="mtbias-decode"))
            for batch in plan:
                kept = kept_outputs(store, batch.index, len(batch.rows))
                if kept is not None:
                    self.resumed += len(kept)
                    yield batch, kept
                    continue
                if workers is None:
                    workers = stack.enter_context(_workers(self.engine))
                waiting.append((batch, workers.submit(self._one, encoded, batch, store, decoder)))
                while len(waiting) > self.engine.concurrency - 1 + _AHEAD:
                    yield self._end(*waiting.popleft())
            while waiting:
                yield self._end(*waiting.popleft())

    def _one(self, encoded: Sequence[Encoded], batch: Batch, store: Store, decoder: Executor) -> Future[list[Output]]:
        """Generate a batch, and leave it to `decoder` to decode and keep it."""
        sentences = [encoded[n] for n in batch.rows]
        return decoder.submit(self._finish, batch, sentences, self._batch(sentences, batch.limit), store)

    def _end(self, batch: Batch, begun: Future[Future[list[Output]]]) -> tuple[Batch, list[Output]]:
        """Wait for a batch."""
        outputs = begun.result().result()
        self.generated += len(outputs)
        return batch, outputs

    def _batch(self, sentences: Sequence[Encoded], limit: int) -> list[tuple[Generated, bool]]:
        """Generate one batch, in parts where memory asks for it; with each result whether it was redone."""
        area = len(sentences) * (max(len(s.ids) for s in sentences) + limit)
        if self._ceiling is not None and area >= self._ceiling and len(sentences) > 1:
            return self._halves(sentences, limit)
        forced = self.codec.forced
        try:
            found = self.engine.generate([s.ids for s in sentences], decoding=self.decoding, limit=limit, forced=forced)
        except OutOfMemory as error:
            if len(sentences) == 1:
                raise ModelError(
                    f"one sentence of {len(sentences[0].ids)} tokens with {self.decoding.beams} beams does not fit "
                    f"into memory ({error}); use fewer --beams, another --dtype, or --device cpu"
                ) from error
            with self._lock:
                self.halved += 1
                self._ceiling = min(area, self._ceiling or area)
            return self._halves(sentences, limit)
        results = [(one, False) for one in found]
        for n, one in enumerate(found):
            if not one.finite:
                with self._lock:
                    exact = self.engine.exact()
                (again,) = exact.generate([sentences[n].ids], decoding=self.decoding, limit=limit, forced=forced)
                if not again.finite:
                    raise ModelError(
                        f"{self.codec.folder}: scores are not finite even in fp32; the weights are damaged or untrained"
                    )
                results[n] = (again, True)
        return results

    def _halves(self, sentences: Sequence[Encoded], limit: int) -> list[tuple[Generated, bool]]:
        middle = (len(sentences) + 1) // 2
        return [*self._batch(sentences[:middle], limit), *self._batch(sentences[middle:], limit)]

    def _finish(
        self,
        batch: Batch,
        sentences: Sequence[Encoded],
        generated: Sequence[tuple[Generated, bool]],
        store: Store,
    ) -> list[Output]:
        texts = self.codec.decode([one.ids for one, _ in generated])
        outputs = [
            Output(text, source_cut=sentence.cut, cut=one.cut, repetitive=is_repetitive(text), redone=redone)
            for text, sentence, (one, redone) in zip(texts, sentences, generated, strict=True)
        ]
        store.put(batch.index, [asdict(output) for output in outputs])
        return outputs
