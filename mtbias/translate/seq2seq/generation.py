"""The generation loop: batches by plan, halved where memory runs out, redone where scores are not finite, kept.

On a GPU a step of the decoder takes the same time for one row as for thousands, and one translation that loops would
hold its batch at the most new tokens. There a batch is searched in two stages: sentences that are not done at
`Decoding.first_stop` are given up, and searched again, to their limit, together with those of other batches.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from mtbias.errors import ModelError
from mtbias.translate.outputs import Output
from mtbias.translate.seq2seq.codec import Codec, Encoded
from mtbias.translate.seq2seq.engine import Batch, Decoding, Engine, Generated, Halving, OutOfMemory
from mtbias.translate.system import Store
from mtbias.translate.text_language import is_repetitive

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
    pooled: int = 0
    """Batches whose second stages are one; 0: no stages, every batch is searched to its end."""
    halving: Halving = field(default_factory=Halving)
    in_second_stage: int = 0
    """Sentences of the second stage."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while threads share what they noticed, and while the weights in fp32 are loaded."""

    @cached_property
    def engine(self) -> Engine:
        """The engine, loaded."""
        return self.load()

    def batches(
        self, encoded: Sequence[Encoded], plan: Sequence[Batch], store: Store
    ) -> Generator[tuple[int, Sequence[Output]]]:
        """The number of each batch of `plan`, which may be a part of the whole, with its outputs, kept in `store`.

        While a batch is generated, the one before is decoded and kept by another thread; and where the engine has
        concurrency, so many batches are generated at the same time. Whoever stops before the end closes the generator
        (`contextlib.closing`), which ends its threads.

        Raises:
            ModelError: a single sentence does not fit into memory.
        """
        waiting: deque[tuple[list[Batch], Future[list[Future[list[Output]]]]]] = deque()
        group: list[Batch] = []
        workers: Executor | None = None
        with ExitStack() as stack:
            decoder = stack.enter_context(ThreadPoolExecutor(max_workers=1, thread_name_prefix="mtbias-decode"))
            for batch in plan:
                if workers is None:
                    workers = stack.enter_context(_workers(self.engine))
                group.append(batch)
                if len(group) >= self.pooled:
                    waiting.append((group, workers.submit(self._group, encoded, group, store, decoder)))
                    group = []
                while len(waiting) > self.engine.concurrency - 1 + _AHEAD:
                    yield from self._end(*waiting.popleft())
            if group and workers is not None:
                waiting.append((group, workers.submit(self._group, encoded, group, store, decoder)))
            while waiting:
                yield from self._end(*waiting.popleft())

    def _group(
        self, encoded: Sequence[Encoded], batches: Sequence[Batch], store: Store, decoder: Executor
    ) -> list[Future[list[Output]]]:
        """Generate batches one after the other, and what their first stages left together; `decoder` keeps them."""
        finishing: dict[int, Future[list[Output]]] = {}
        left: list[tuple[Batch, list[Encoded], list[tuple[Generated, bool]]]] = []
        for batch in batches:
            sentences = [encoded[n] for n in batch.rows]
            stop = self.decoding.first_stop(max(len(s.ids) for s in sentences)) if self.pooled else None
            found = self._batch(sentences, batch.limit, stop)
            if all(one.done for one, _ in found):
                finishing[batch.index] = decoder.submit(self._finish, batch, sentences, found, store)
            else:
                left.append((batch, sentences, found))
        self._second_stage(left)
        for batch, sentences, found in left:
            finishing[batch.index] = decoder.submit(self._finish, batch, sentences, found, store)
        return [finishing[batch.index] for batch in batches]

    def _second_stage(self, left: Sequence[tuple[Batch, list[Encoded], list[tuple[Generated, bool]]]]) -> None:
        """Search what is not done in `left` again, to the limit, and put the results in their places."""
        places: dict[int, list[tuple[Encoded, list[tuple[Generated, bool]], int]]] = {}
        for batch, sentences, found in left:
            for n, (one, _) in enumerate(found):
                if not one.done:
                    places.setdefault(batch.limit, []).append((sentences[n], found, n))
        most = max((len(batch.rows) for batch, *_ in left), default=0)  # so many fitted into memory
        for limit, each in places.items():
            with self._lock:
                self.in_second_stage += len(each)
            for first in range(0, len(each), most):
                some = each[first : first + most]
                again = self._batch([sentence for sentence, *_ in some], limit)
                for (_, found, n), result in zip(some, again, strict=True):
                    found[n] = result

    def _end(
        self, batches: Sequence[Batch], begun: Future[list[Future[list[Output]]]]
    ) -> Iterator[tuple[int, list[Output]]]:
        """Wait for batches that were generated together."""
        for batch, finishing in zip(batches, begun.result(), strict=True):
            yield batch.index, finishing.result()

    def _batch(self, sentences: Sequence[Encoded], limit: int, stop: int | None = None) -> list[tuple[Generated, bool]]:
        """Generate one batch, in parts where memory asks for it; with each result whether it was redone."""
        asked: dict[str, Any] = {"decoding": self.decoding, "limit": limit, "forced": self.codec.forced}

        def area(some: Sequence[Encoded]) -> int:
            return len(some) * (max(len(s.ids) for s in some) + min(limit, stop or limit))

        def generate(some: Sequence[Encoded]) -> list[tuple[Generated, bool]]:
            found = self.engine.generate([s.ids for s in some], **asked, stop=stop)
            bad = [one.done and not one.finite for one in found]
            return [(self._exactly(s, asked) if b else one, b) for s, one, b in zip(some, found, bad, strict=True)]

        return self.halving.run(sentences, area, generate, self._too_long)

    def _exactly(self, sentence: Encoded, asked: Mapping[str, Any]) -> Generated:
        """The translation of one sentence by the weights in fp32."""
        with self._lock:
            exact = self.engine.exact()
        try:
            (again,) = exact.generate([sentence.ids], **asked)
        except OutOfMemory as error:
            raise self._too_long(sentence, str(error)) from None
        if not again.finite:
            raise ModelError(
                f"{self.codec.folder}: scores are not finite even in fp32; the weights are damaged or untrained"
            )
        return again

    def _too_long(self, sentence: Encoded, lacking: str) -> ModelError:
        return ModelError(
            f"one sentence of {len(sentence.ids)} tokens with {self.decoding.beams} beams does not fit into memory "
            f"({lacking}); use fewer --beams, another --dtype, or --device cpu"
        )

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
