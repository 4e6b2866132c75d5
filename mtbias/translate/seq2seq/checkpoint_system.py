"""Checkpoints as a translation system: a model, an engine and a way of decoding, planned and translated by batches."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtbias.errors import DependencyError, ModelError, SettingError
from mtbias.machine.devices import chosen_device
from mtbias.machine.installation import install_command
from mtbias.settings import TranslationSettings
from mtbias.translate.outputs import Output, OutputsPlan
from mtbias.translate.seq2seq.checkpoints import Checkpoint, is_decoder, locate
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
from mtbias.translate.system import Asked, Begun, Sources, Store
from mtbias.translate.text_language import is_repetitive
from mtbias.types import Json, SourceSentence

if TYPE_CHECKING:
    from mtbias.translate.language_models.decoder_system import DecoderSystem

_PACKAGES = {"transformers": "transformers", "ct2": "ctranslate2"}


def check_settings(settings: TranslationSettings) -> None:
    """Refuse an engine or a preset that is unknown, and an engine that is not installed.

    Raises:
        SettingError: an unknown preset or engine.
        DependencyError: the engine is not installed.
    """
    if settings.engine not in _PACKAGES:
        raise SettingError("engine", f"expected {' or '.join(_PACKAGES)}, got {settings.engine!r}")
    get_preset(settings.preset)
    _release(settings.engine)


def _release(engine: str) -> str:
    """``transformers/5.23.0``: the package of an engine and its version."""
    from importlib.metadata import PackageNotFoundError, version

    package = _PACKAGES[engine]
    try:
        return f"{package}/{version(package)}"
    except PackageNotFoundError:
        extra = "" if engine == "transformers" else engine
        raise DependencyError(f"--engine {engine} needs {package}: {install_command(extra)}") from None


class CheckpointKind:
    """Checkpoints by short name, hub id or folder (`mtbias.translate.system.SystemKind`)."""

    needs_network = False

    def open(self, asked: Asked) -> CheckpointSystem | DecoderSystem:
        """The checkpoint that is asked for, downloaded where it is missing and may be; see `SystemKind.open`.

        One that is a decoder is asked as a language model.
        """
        check_settings(asked.settings)  # before gigabytes are downloaded
        found = locate(asked.name, asked.lang, revision=asked.settings.revision, offline=asked.offline)
        if is_decoder(found.folder):
            from mtbias.translate.language_models.decoder_system import DecoderSystem

            return DecoderSystem(found, asked)
        return CheckpointSystem(found, asked.lang, asked.settings, cache=asked.cache, device=asked.device)


class CheckpointSystem(BatchSystem):
    """Translates English sentences into one language with one checkpoint (`mtbias.translate.system.System`)."""

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
    ) -> None:
        """Load the tokenizer; the weights are loaded when they are first needed.

        Converted checkpoints are kept in `cache`; the device None is a GPU where there is one.

        Raises:
            SettingError: an unknown preset or engine.
            DependencyError: the engine is not installed.
            ModelError: the checkpoint cannot be used for `lang`.
        """
        preset = get_preset(settings.preset)
        self.checkpoint, self.settings, self._cache = checkpoint, settings, cache
        self.device = chosen_device(device)
        self.dtype = preset.dtype(settings.dtype, self.device)
        self.codec = Codec(checkpoint.folder, lang, target_code=settings.target_code)
        by_hand = {name: getattr(settings, name) for name in ("beams", "length_penalty", "max_length")}
        given = {name: value for name, value in by_hand.items() if value is not None}
        self.decoding = replace(preset.decoding, **given, early_stopping=self.codec.family.early_stopping)

    @cached_property
    def engine(self) -> Engine:
        """The engine, with the weights loaded.

        Raises:
            SettingError: a type of weights or a device that the engine does not have.
            ModelError: the weights cannot be loaded.
        """
        if self.settings.engine == "ct2":
            from mtbias.translate.seq2seq.ct2_engine import CTranslate2Engine

            return CTranslate2Engine(self.checkpoint.folder, device=self.device, dtype=self.dtype, cache=self._cache)
        from mtbias.translate.seq2seq.transformers_engine import TransformersEngine

        return TransformersEngine(self.checkpoint.folder, device=self.device, dtype=self.dtype)

    @cached_property
    def engine_name(self) -> str:
        """``transformers/5.23.0``: the engine's package and version, without loading it."""
        return _release(self.settings.engine)

    def sizes(self) -> Mapping[str, Any]:
        """See `BatchSystem`."""
        return self.codec.config

    def plan(self, corpus: Sources, begun: Begun) -> CheckpointPlan:
        """See `mtbias.translate.system.System`. Nothing is encoded before batches are asked for."""
        return CheckpointPlan(self, corpus.instances, self.budget(begun))


@dataclass(frozen=True, eq=False)
class CheckpointPlan(BatchPlan[Output], OutputsPlan):
    """See `BatchPlan`."""

    system: CheckpointSystem
    instances: Sequence[SourceSentence]
    budget: Budget

    @property
    def asked(self) -> Mapping[str, Json]:
        """See `BatchPlan`."""
        system = self.system
        return {
            "family": system.codec.family.name,
            "direction": system.codec.direction.signature,
            "engine": system.engine_name,
            "dtype": system.dtype,
            "decoding": system.decoding.signature,
        }

    @cached_property
    def encoded(self) -> Sequence[Encoded]:
        """`distinct` as token ids; `ModelError` as in `Codec.encode`."""
        return self.system.codec.encode(self.distinct)

    @property
    def lengths(self) -> Sequence[int]:
        """See `BatchPlan`."""
        return [len(each.ids) for each in self.encoded]

    def make(
        self, store: Store, parts: Sequence[int], circumstances: dict[str, Json]
    ) -> Generator[tuple[int, Sequence[Output]]]:
        """See `mtbias.translate.outputs.PartsPlan`; `ModelError` as in `Generation.batches`."""
        system = self.system
        generation = Generation(system.codec, lambda: system.engine, system.decoding)
        yield from generation.batches(self.encoded, [self.batches[part] for part in parts], store)
        circumstances |= {
            "preset": system.settings.preset,
            "translate_device": system.device,
            "batch": list(self.budget),
            "batches_halved": generation.halving.halved,
        }
        if parts:  # else the weights were not loaded
            circumstances["attention"] = str(getattr(system.engine, "attention", "the engine's own"))


# The generation loop: batches by plan, halved where memory runs out, redone where scores are not finite, kept.


@dataclass
class Generation:
    """Translating a list of sentences by a plan."""

    codec: Codec
    load: Callable[[], Engine]
    """Gives the engine; called when the first batch is generated, so that a run that only resumes needs no weights."""
    decoding: Decoding
    halving: Halving = field(default_factory=Halving)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while the weights in fp32 are loaded."""

    @cached_property
    def engine(self) -> Engine:
        """The engine, loaded."""
        return self.load()

    def batches(
        self, encoded: Sequence[Encoded], plan: Sequence[Batch], store: Store
    ) -> Generator[tuple[int, Sequence[Output]]]:
        """The number of each batch of `plan`, which may be a part of the whole, with its outputs, kept in `store`.

        Where the engine has concurrency, so many batches are generated at the same time. Whoever stops before the end
        closes the generator (`contextlib.closing`), which ends its threads.

        Raises:
            ModelError: a single sentence does not fit into memory.
        """
        if not plan or self.engine.concurrency == 1:
            for batch in plan:
                yield batch.index, self._translate(encoded, batch, store)
            return
        pool = ThreadPoolExecutor(self.engine.concurrency, thread_name_prefix="mtbias-batch")
        try:
            made = deque((batch.index, pool.submit(self._translate, encoded, batch, store)) for batch in plan)
            while made:
                index, outputs = made.popleft()
                yield index, outputs.result()
        finally:
            with self.engine.abandon():  # where an error or a signal ends it, nobody waits for what is being generated
                pool.shutdown(cancel_futures=True)

    def _translate(self, encoded: Sequence[Encoded], batch: Batch, store: Store) -> list[Output]:
        """Generate one batch, and keep it."""
        sentences = [encoded[n] for n in batch.rows]
        generated = self._batch(sentences, batch.limit)
        texts = self.codec.decode([one.ids for one, _ in generated])
        outputs = [
            Output(text, source_cut=sentence.cut, cut=one.cut, repetitive=is_repetitive(text), redone=redone)
            for text, sentence, (one, redone) in zip(texts, sentences, generated, strict=True)
        ]
        store.put(batch.index, [asdict(output) for output in outputs])
        return outputs

    def _batch(self, sentences: Sequence[Encoded], limit: int) -> list[tuple[Generated, bool]]:
        """Generate one batch, in parts where memory asks for it; with each result whether it was redone."""
        bounds = Bounds(self.decoding, limit, self.codec.forced)

        def area(some: Sequence[Encoded]) -> int:
            return len(some) * (max(len(s.ids) for s in some) + limit)

        def generate(some: Sequence[Encoded]) -> list[tuple[Generated, bool]]:
            found = zip(some, self.engine.generate([s.ids for s in some], bounds), strict=True)
            return [(one, False) if one.finite else (self._exactly(s, bounds), True) for s, one in found]

        return self.halving.run(sentences, area, generate, self._too_long)

    def _exactly(self, sentence: Encoded, bounds: Bounds) -> Generated:
        """The translation of one sentence by the weights in fp32."""
        with self._lock:
            exact = self.engine.exact()
        try:
            (again,) = exact.generate([sentence.ids], bounds)
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
