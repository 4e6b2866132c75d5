"""Checkpoints as a translation system: a model, an engine and settings of decoding, planned and
translated in batches.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from mtbias.errors import DependencyError, ModelError, MtbiasError, SettingError
from mtbias.machine.devices import chosen_device, install_command
from mtbias.settings import Engine as EngineName
from mtbias.settings import TranslationSettings
from mtbias.translate.outputs import Output, OutputsPlan, unknown_marks, with_marks
from mtbias.translate.seq2seq.checkpoints import Checkpoint
from mtbias.translate.seq2seq.codec import Codec, Encoded
from mtbias.translate.seq2seq.engine import (
    Batch,
    BatchPlan,
    BatchSystem,
    Bounds,
    Budget,
    Decoding,
    Engine,
    Generated,
    Halving,
    OutOfMemory,
    get_preset,
)
from mtbias.translate.seq2seq.families import SOURCE
from mtbias.translate.system import Begun, Sources, Store, System, Translated
from mtbias.translate.text_language import is_repetitive
from mtbias.types import Json, SourceSentence

# The engine and the type of weights: those of the settings, or what the preset ``fast`` can use.

_log = logging.getLogger(__name__)

_HALVES = ("float16", "bfloat16")
"""Types of 16 bits. GPUs before Ampere compute in fp16 alone."""


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """An engine and a type of weights; both are part of a run's identity."""

    engine: EngineName
    dtype: str
    why: str = ""
    """Reason for the choice in a line; empty where the settings made it."""

    @classmethod
    def from_settings(cls, settings: TranslationSettings, device: str, half: str) -> EngineChoice:
        """The engine of the settings, else transformers; on a GPU, ``fast`` prefers CTranslate2.

        There it computes in `half`, the family's type of 16 bits, or in the other one if it lacks
        that. The installation matters only where `settings` have the preset ``fast`` and no engine.
        The weights do not: a checkpoint that CTranslate2 cannot load is an error and no reason for
        another engine, so that the same command makes the same run again.
        """
        on_gpu = device.startswith("cuda")
        dtype = settings.dtype or get_preset(settings.preset).dtype(device, half)
        if settings.engine is not None or settings.preset != "fast":
            return cls(settings.engine or "transformers", dtype)
        preset = f"--preset fast on {device}: "
        if not on_gpu:
            advice = "--engine ct2 is faster, in int8 more so, which can flip a gender"
            return cls("transformers", dtype, f"{preset}transformers in {dtype}; {advice}")
        from mtbias.translate.seq2seq.ct2_engine import usable_types

        halves = sorted(_HALVES, key=lambda each: each != half)
        types = halves if settings.dtype is None else [settings.dtype]
        try:
            usable = usable_types(device)
            lacking = f"CTranslate2 has no {' or '.join(types)} there"
        except MtbiasError as error:
            usable, lacking = frozenset(), str(error)
        for each in types:
            if each in usable:
                reason = f"{preset}CTranslate2 in {each}; the reference is --preset paper"
                return cls("ct2", each, reason)
        return cls("transformers", dtype, f"{preset}transformers in {dtype}, because {lacking}")


_MOST_ENCODED = 4
"""Corpora whose token ids are held, some 200 MB for 100,000 sentences each: for one model more than
the papers' three, one of which has a tokenizer for each language."""
POOLED = 8
"""Batches that share a second stage on a GPU; a killed run loses no more than these. With 1 % of
translations that loop, BUG takes 56 % of the steps of one stage
(`scripts/experiments/count_steps.py`)."""
_PACKAGES = {"transformers": "transformers", "ct2": "ctranslate2"}


def check_settings(settings: TranslationSettings) -> None:
    """Refuse an engine or a preset that is unknown, and an engine that is not installed.

    Raises:
        SettingError: the preset or the engine is unknown.
        DependencyError: the engine is not installed.
    """
    engine = settings.engine or "transformers"
    if engine not in _PACKAGES:
        raise SettingError("engine", f"expected {' or '.join(_PACKAGES)}, got {engine!r}")
    get_preset(settings.preset)
    _release(engine)


def _release(engine: str) -> str:
    """``transformers/5.23.0``: the package of an engine and its version."""
    from importlib.metadata import PackageNotFoundError, version

    package = _PACKAGES[engine]
    try:
        return f"{package}/{version(package)}"
    except PackageNotFoundError:
        extra = "" if engine == "transformers" else engine
        raise DependencyError(
            f"--engine {engine} needs {package}: {install_command(extra)}"
        ) from None


class CheckpointSystem(BatchSystem):
    """Translates sentences into one language with one checkpoint
    (`mtbias.translate.system.System`).
    """

    uses = frozenset(TranslationSettings.__dataclass_fields__)
    """The settings that change something."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        lang: str,
        settings: TranslationSettings,
        *,
        cache: Path,
        device: str | None = None,
        source_lang: str = SOURCE,
        translates_on: str | None = None,
    ) -> None:
        """Load the tokenizer; the weights are loaded when they are first needed.

        Converted checkpoints are kept in `cache`; the device None is a GPU if there is one;
        `translates_on` as in `SystemRequest`.

        Raises:
            SettingError: the preset or the engine is unknown.
            DependencyError: the engine is not installed.
            ModelError: the checkpoint cannot be used from `source_lang` into `lang`.
        """
        preset = get_preset(settings.preset)
        self.checkpoint, self.settings, self._cache = checkpoint, settings, cache
        self.device = chosen_device(device)
        self.codec = Codec(
            checkpoint.folder, lang, target_code=settings.target_code, source_lang=source_lang
        )
        family = self.codec.family
        self.chosen = EngineChoice.from_settings(
            settings, translates_on or self.device, family.half
        )
        self.dtype = self.chosen.dtype
        decoding = replace(preset.decoding, early_stopping=family.early_stopping)
        for name in ("beams", "length_penalty", "max_length"):
            value = getattr(settings, name)
            if value is not None:
                decoding = replace(decoding, **{name: value})
        self.decoding = decoding
        self._token_ids: OrderedDict[tuple[object, ...], Sequence[Encoded]] = OrderedDict()
        if self.chosen.why:
            _log.info("%s", self.chosen.why)

    @cached_property
    def engine(self) -> Engine:
        """The engine, with the weights loaded.

        Raises:
            SettingError: the engine lacks the type of weights or the device.
            ModelError: the weights cannot be loaded.
        """
        if self.chosen.engine == "ct2":
            from mtbias.translate.seq2seq.ct2_engine import CTranslate2Engine

            return CTranslate2Engine(
                self.checkpoint.folder, device=self.device, dtype=self.dtype, cache=self._cache
            )
        from mtbias.translate.seq2seq.transformers_engine import TransformersEngine

        return TransformersEngine(self.checkpoint.folder, device=self.device, dtype=self.dtype)

    @cached_property
    def engine_name(self) -> str:
        """``transformers/5.23.0``: the engine's package and version, without loading it."""
        return _release(self.chosen.engine)

    def sizes(self) -> Mapping[str, Any]:
        """See `BatchSystem`."""
        return self.codec.config

    def take_over(self, other: System) -> bool:
        """See `mtbias.translate.system.System`; token ids of sentences are taken over even from
        other weights, since a later system may need them again.
        """
        if not isinstance(other, CheckpointSystem):
            return False
        self._token_ids = other._token_ids
        if self._weights != other._weights:
            return False
        if "engine" in vars(other):
            self.engine = other.engine
        self.free_memory = other.free_memory
        return True

    @property
    def _weights(self) -> tuple[object, ...]:
        """What determines the loaded weights."""
        chosen = self.chosen
        return self.checkpoint, chosen.engine, chosen.dtype, self.device, self._cache

    def encoded(self, sources: tuple[str, ...]) -> Sequence[Encoded]:
        """`sources` as token ids, which are held for the next time (`Codec.encode`)."""
        direction = self.codec.direction
        key = self.checkpoint, direction.prefix, direction.source_code, sources
        if key not in self._token_ids:
            while len(self._token_ids) >= _MOST_ENCODED:
                self._token_ids.popitem(last=False)
            self._token_ids[key] = self.codec.encode(sources)
        self._token_ids.move_to_end(key)
        return self._token_ids[key]

    def plan(self, corpus: Sources, begun: Begun) -> CheckpointPlan:
        """See `mtbias.translate.system.System`. Nothing is encoded before batches are needed."""
        return CheckpointPlan(self, corpus.instances, self.budget(begun))


@dataclass(frozen=True, eq=False)
class CheckpointPlan(BatchPlan[Output], OutputsPlan):
    """See `BatchPlan`."""

    system: CheckpointSystem
    instances: Sequence[SourceSentence]
    budget: Budget

    @property
    def parameters(self) -> Mapping[str, Json]:
        """See `BatchPlan`."""
        system = self.system
        own_search = system.chosen.engine == "transformers" and system.dtype != "float32"
        return {
            "family": system.codec.family.name,
            "direction": system.codec.direction.signature,
            "engine": system.engine_name,
            # In fp32 its translations are those of any other exact search.
            **({"search": "pool"} if own_search else {}),
            "dtype": system.dtype,
            "decoding": system.decoding.signature,
        }

    @property
    def pooled(self) -> int:
        """See `Generation.pooled`.

        Except in fp32 results depend on the batch, so each batch has its own second stage: then an
        interrupted or shared run ends with the same bytes.
        """
        if not self.frees_cpu:
            return 0  # on a CPU few rows take little time, and a second search would cost more
        return POOLED if self.system.dtype == "float32" else 1

    @cached_property
    def encoded(self) -> Sequence[Encoded]:
        """`distinct` as token ids; `ModelError` as in `Codec.encode`."""
        return self.system.encoded(self.distinct)

    @property
    def lengths(self) -> Sequence[int]:
        """See `BatchPlan`."""
        return [len(each.ids) for each in self.encoded]

    def translated(self, pieces: Sequence[tuple[str, Output]]) -> Translated:
        """See `mtbias.translate.outputs.PartsPlan`; sources with characters that the tokenizer
        cannot read are marked.
        """
        translated = OutputsPlan.translated(self, pieces)
        encoded = zip(self.distinct, self.encoded, strict=True)
        marked = unknown_marks(self.instances, {source: ids.unknown for source, ids in encoded})
        return replace(translated, noticed=with_marks(translated.noticed, marked))

    def make(
        self, store: Store, parts: Sequence[int], circumstances: dict[str, Json]
    ) -> Generator[tuple[int, Sequence[Output]]]:
        """See `mtbias.translate.outputs.PartsPlan`; `ModelError` as in `Generation.batches`."""
        system = self.system
        generation = Generation(
            system.codec, lambda: system.engine, system.decoding, pooled=self.pooled
        )
        yield from generation.batches(self.encoded, [self.batches[part] for part in parts], store)
        circumstances |= {
            "preset": system.settings.preset,
            "translate_device": system.device,
            "batch": list(self.budget),
            "batches_halved": generation.halving.halved,
            "in_second_stage": generation.in_second_stage,
        }
        if parts:  # else the weights were not loaded
            circumstances["attention"] = system.engine.attention
            if system.engine.steps is not None:
                circumstances["decoder_steps"] = system.engine.steps


# The generation loop: batches by plan, halved where memory runs out, redone where scores are not
# finite, kept.
#
# On a GPU a step of the decoder takes the same time for one row as for thousands, and one
# translation that loops would hold its batch until the most new tokens. So a batch is searched in
# two stages: sentences that are not done at `Decoding.first_stop` are searched again, to their
# limit, together with those of other batches.


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
