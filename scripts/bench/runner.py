"""One way of translating, made ready to go over its batches again and again: EasyNMT's, or one of
our engines.
"""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from mtbias.translate.seq2seq.batches import Budget, cpu_budget, gpu_budget, make_plan
from mtbias.translate.seq2seq.codec import Codec, Encoded, read_config
from mtbias.translate.seq2seq.decoding import PRESETS
from mtbias.translate.seq2seq.engine import Bounds
from mtbias.translate.seq2seq.generation import Generation
from scripts.bench.families import Shape
from scripts.bench.limits import BEAMS
from scripts.bench.work import Work, baseline_plan, draw_lengths, evenly, make_work

_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Variant:
    """A row of the table."""

    engine: str
    """``easynmt``, ``transformers`` or ``ct2``."""
    dtype: str = "float32"
    goal: float = 0.0
    """Least ratio to the baseline that the project asks for; 0: none."""
    recorded: bool = False
    """Whether a GPU replays the steps of ``transformers`` (`TransformersEngine`)."""
    replicas: int = 1
    """Batches that ``ct2`` computes on a GPU at the same time."""


BASELINE = Variant("easynmt")
ON_CPU = (
    BASELINE,
    Variant("transformers", goal=1.0),
    Variant("ct2", goal=2.5),
    Variant("ct2", "int8", 4.5),
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a variant runs, and how much of the work it gets."""

    folder: Path
    """The checkpoint; conversions are beside it."""
    device: str = "cpu"
    threads: int = 1
    batches: int = 1
    """Batches that are timed."""
    corpus: int = 1
    """Sentences that are planned."""


class Runner:
    """A variant with its weights and its batches.

    Early stopping and the limits behind the plan are the product's: ``paper`` in fp32, and on a
    CPU; else ``fast``.
    """

    def __init__(self, variant: Variant, shape: Shape, place: Place) -> None:
        """Load the weights, plan the corpus, choose the batches."""
        self.variant, self.shape, self.place = variant, shape, place
        self._cuda = place.device.startswith("cuda")
        self._free = _free(place.device) if self._cuda else 0
        self._lowest = self._free
        preset = PRESETS["fast" if self._cuda and variant.dtype != "float32" else "paper"]
        self.decoding = replace(preset.decoding, early_stopping=shape.kind != "marian")
        self.engine: Any = self._load()
        self.lengths = lengths = draw_lengths(place.corpus, shape.kind)
        sources = [length for length, _ in lengths]
        if variant.engine == "easynmt":
            plan = baseline_plan(sources)
        else:
            plan = [batch.rows for batch in make_plan(sources, self.decoding, self.budget())]
        self.sentences_a_batch = place.corpus / len(plan)
        self.tokens_a_sentence = (
            sum(len(rows) * max(lengths[n][1] for n in rows) for rows in plan) / place.corpus
        )
        """Of all batches of the plan, in which every translation is as long as the longest."""
        self.work = tuple(make_work(rows, lengths, shape) for rows in evenly(plan, place.batches))
        codec = SimpleNamespace(
            folder=place.folder, forced=shape.language
        )  # what the loop asks a codec for
        self._loop = Generation(cast(Codec, codec), lambda: self.engine, self.decoding)

    @property
    def sentences(self) -> int:
        """Sentences of a pass."""
        return sum(len(batch.sources) for batch in self.work)

    def budget(self) -> Budget:
        """The product's for this device."""
        if not self._cuda:
            return cpu_budget()
        size = 4 if self.variant.dtype == "float32" else 2
        config = read_config(self.place.folder)
        return gpu_budget(config, _free(self.place.device), bytes_per_value=size, beams=BEAMS)

    def warm_up(self) -> None:
        """Two short translations; on a GPU a whole batch."""
        batch = self.work[0]
        self._translate(batch if self._cuda else Work(batch.sources[-2:], 3))

    def run(self) -> tuple[float, float]:
        """Go over the batches once: CPU seconds of all threads, and seconds.

        An engine with concurrent batches goes over them that many times at once, as in a corpus of
        many batches none waits for another; the seconds are those of one pass, the time over their
        number.
        """
        concurrency = 1 if self.variant.engine == "easynmt" else self.engine.concurrency
        cpu, wall = time.process_time(), time.perf_counter()
        with self._watched():
            if concurrency == 1:
                for batch in self.work:
                    self._translate(batch)
            else:
                with ThreadPoolExecutor(concurrency) as pool:
                    list(
                        pool.map(
                            self._translate,
                            [batch for batch in self.work for _ in range(concurrency)],
                        )
                    )
        return (time.process_time() - cpu) / concurrency, (time.perf_counter() - wall) / concurrency

    def batch(self, sentences: int) -> tuple[Work, float]:
        """The middle batch of a plan of so many sentences a batch, and that plan's tokens a
        sentence, all of a batch being as long as the longest.
        """
        plan = baseline_plan([source for source, _ in self.lengths], sentences)
        tokens = sum(len(rows) * max(self.lengths[n][1] for n in rows) for rows in plan)
        (rows,) = evenly(plan, 1)
        return make_work(rows, self.lengths, self.shape), tokens / len(self.lengths)

    def first_steps(self, batch: Work) -> float:
        """Seconds of a search that is over after ``batch.length`` tokens, the encoder among them;
        with replicas each has the batch.
        """
        bounds = Bounds(self.decoding, batch.length, self.shape.language)
        began = time.perf_counter()
        with self._watched():
            lengths = self._lengths(batch, bounds)
        seconds = time.perf_counter() - began
        if set(lengths) != {batch.length}:
            raise AssertionError(
                f"{self.variant}: expected {batch.length} tokens everywhere, got {sorted(set(lengths))}"
            )
        return seconds

    def _lengths(self, batch: Work, bounds: Bounds) -> list[int]:
        if self.variant.engine == "easynmt":
            return [*self._as_easynmt(batch)]
        replicas = self.variant.replicas
        if replicas == 1:
            return [len(one.ids) for one in self.engine.generate(batch.sources, bounds)]
        with ThreadPoolExecutor(replicas) as pool:
            found = pool.map(self.engine.generate, [batch.sources] * replicas, [bounds] * replicas)
            return [len(one.ids) for one in chain.from_iterable(found)]

    def peak(self) -> float:
        """Most memory until now, MiB: of the process, or what was allocated on the GPU, weights
        included.

        CTranslate2 does not tell: what was taken of the GPU's free memory, looked at a hundred
        times a second.
        """
        if not self._cuda:
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        if self.variant.engine == "ct2":
            return (self._free - self._lowest) / _MIB
        import torch

        return float(torch.cuda.max_memory_allocated(self.place.device)) / _MIB

    def _load(self) -> Any:  # noqa: ANN401 - an engine of either kind
        place, dtype = self.place, self.variant.dtype
        if self.variant.engine == "ct2":
            from mtbias.translate.seq2seq.ct2_engine import CTranslate2Engine

            engine = CTranslate2Engine(
                place.folder,
                device=place.device,
                dtype=dtype,
                cache=place.folder.parent,
                threads=place.threads,
            )
            if self.variant.replicas > 1:
                engine.concurrency = self.variant.replicas
                engine._translator = engine._load(dtype)
            return engine
        import torch

        from mtbias.translate.seq2seq.transformers_engine import TransformersEngine

        if not self._cuda:
            torch.set_num_threads(place.threads)
        recorded = self.variant.recorded
        return TransformersEngine(place.folder, device=place.device, dtype=dtype, recorded=recorded)

    def _translate(self, batch: Work) -> None:
        """Translate a batch; raise unless every translation has the length that was wanted."""
        if self.variant.engine == "easynmt":
            found = self._as_easynmt(batch)
        else:
            sentences = [Encoded(ids, cut=False) for ids in batch.sources]
            found = [len(one.ids) for one, _ in self._loop._batch(sentences, batch.length)]
        if found != [batch.length] * len(batch.sources):
            raise AssertionError(
                f"{self.variant}: expected {batch.length} tokens everywhere, got {sorted(set(found))}"
            )

    def _as_easynmt(self, batch: Work) -> Sequence[int]:
        """``model.generate(**inputs, num_beams=5, forced_bos_token_id=…)`` under ``no_grad``, as
        EasyNMT has it.

        All else is the checkpoint's. EasyNMT leaves the most new tokens to it as well; here they
        are given.
        """
        import torch

        model = self.engine._model
        ids, mask = self.engine._padded(batch.sources)
        language = (
            {} if self.shape.language is None else {"forced_bos_token_id": self.shape.language}
        )
        with torch.no_grad():
            found = model.generate(
                input_ids=ids,
                attention_mask=mask,
                num_beams=BEAMS,
                max_new_tokens=batch.length,
                **language,
            )
        return [len(row) - 1 for row in found.tolist()]  # without the decoder's start token

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Look at the GPU's free memory while CTranslate2 works."""
        if not (self._cuda and self.variant.engine == "ct2"):
            yield
            return
        done = threading.Event()

        def look() -> None:
            while not done.wait(0.01):
                self._lowest = min(self._lowest, _free(self.place.device))

        thread = threading.Thread(target=look)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def _free(device: str) -> int:
    import torch

    return int(torch.cuda.mem_get_info(torch.device(device))[0])
