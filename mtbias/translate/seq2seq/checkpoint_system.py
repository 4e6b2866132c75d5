"""Checkpoints as a translation system: a model, an engine and a way of decoding, planned and translated by batches."""

from __future__ import annotations

import logging
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mtbias.errors import DependencyError, MtbiasError, SettingError
from mtbias.files.reading import input_bytes
from mtbias.files.strict_json import load_json
from mtbias.machine.devices import chosen_device
from mtbias.machine.installation import install_command
from mtbias.settings import Engine as EngineName
from mtbias.settings import TranslationSettings
from mtbias.translate.outputs import Output, OutputsPlan
from mtbias.translate.seq2seq.checkpoints import Checkpoint, locate
from mtbias.translate.seq2seq.codec import Codec, Encoded
from mtbias.translate.seq2seq.ct2_engine import usable_types
from mtbias.translate.seq2seq.engine import (
    Batch,
    Budget,
    Decoding,
    Engine,
    cpu_budget,
    get_preset,
    gpu_budget,
    make_plan,
    plan_key,
)
from mtbias.translate.seq2seq.generation import Generation
from mtbias.translate.system import Asked, Begun, Sources, Store
from mtbias.types import Json, SourceSentence

if TYPE_CHECKING:
    from mtbias.translate.language_models.decoder_system import DecoderSystem

# Which engine translates, and in which type: what the settings say, and what the preset ``fast`` finds here.

_log = logging.getLogger(__name__)

_FEWER_BITS = ("bfloat16", "float16")
"""What ``fast`` takes of what a GPU has, the first that is there: bf16 has the range of fp32, so no score overflows
(T5's do in fp16); GPUs before Ampere compute in fp16 alone."""


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """An engine and a type of weights; both are part of a run's identity."""

    engine: EngineName
    dtype: str
    why: str = ""
    """What is to be told of it, in a line; empty where the settings left nothing to choose."""

    @classmethod
    def of(cls, settings: TranslationSettings, device: str) -> EngineChoice:
        """The engine of the settings, else transformers; on a GPU ``fast`` takes CTranslate2 where it can compute.

        What is installed chooses only where `settings` name the preset ``fast`` and no engine. Weights play no part:
        a checkpoint that CTranslate2 cannot load is an error, and no reason for another engine, so that the same
        command makes the same run again.
        """
        on_gpu = device.startswith("cuda")
        usual = get_preset(settings.preset).gpu_dtype if on_gpu else "float32"
        if settings.engine is not None or settings.preset != "fast":
            return cls(settings.engine or "transformers", settings.dtype or usual)
        dtype = settings.dtype or usual
        if not on_gpu:
            why = f"transformers in {dtype}; --engine ct2 is faster, in int8 more so, which can flip a gender"
            return cls("transformers", dtype, f"--preset fast on {device}: {why}")
        wanted = _FEWER_BITS if settings.dtype is None else (settings.dtype,)
        try:
            found = [each for each in wanted if each in usable_types(device)]
        except MtbiasError as error:
            return cls("transformers", dtype, f"--preset fast on {device}: transformers in {dtype}, because {error}")
        if not found:
            lacking = f"CTranslate2 has no {' or '.join(wanted)} there"
            return cls("transformers", dtype, f"--preset fast on {device}: transformers in {dtype}, because {lacking}")
        why = f"CTranslate2 in {found[0]}; the reference is --preset paper"
        return cls("ct2", found[0], f"--preset fast on {device}: {why}")

    def tell(self) -> None:
        """Log what was chosen, where something was."""
        if self.why:
            _log.info("%s", self.why)


POOLED = 8
"""Batches whose second stages are one on a GPU; a run that is killed loses so many at most. With 1 % of translations
that loop, BUG takes 61 % of the steps of one stage (`scripts/experiments/count_steps.py`)."""
_PACKAGES = {"transformers": "transformers", "ct2": "ctranslate2"}


def check_settings(settings: TranslationSettings) -> None:
    """Refuse an engine or a preset that is unknown, and an engine that is not installed.

    Raises:
        SettingError: an unknown preset or engine.
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
        raise DependencyError(f"--engine {engine} needs {package}: {install_command(extra)}") from None


def is_decoder(folder: Path) -> bool:
    """Whether a checkpoint is a causal language model, by the architecture that its config names.

    Of models that read pictures too (Gemma 3), those count that transformers takes for one.
    """
    try:
        config = load_json(input_bytes(folder / "config.json"))
    except (OSError, ValueError):
        return False  # whoever loads it says what is wrong
    # Sequence-to-sequence models have such a class for their decoder alone (MarianForCausalLM).
    if not isinstance(config, dict) or config.get("is_encoder_decoder"):
        return False
    named = str((config.get("architectures") or [""])[0])
    if named.endswith("ForCausalLM"):
        return True
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    return bool(named) and MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(str(config.get("model_type"))) == named


class CheckpointKind:
    """Checkpoints by short name, hub id or folder (`mtbias.translate.system.SystemKind`)."""

    needs_network = False

    def open(self, asked: Asked) -> CheckpointSystem | DecoderSystem:
        """The checkpoint that is asked for, downloaded where it is missing and may be; see `SystemKind.open`.

        One that is a decoder is asked as a language model.
        """
        check_settings(asked.settings)  # before gigabytes are downloaded
        found = locate(
            asked.name, asked.lang, cache=asked.cache, revision=asked.settings.revision, offline=asked.offline
        )
        if is_decoder(found.folder):
            from mtbias.translate.language_models.decoder_system import DecoderSystem

            return DecoderSystem(found, asked)
        return CheckpointSystem(found, asked.lang, asked.settings, cache=asked.cache, device=asked.device)


class CheckpointSystem:
    """Translates English sentences into one language with one checkpoint (`mtbias.translate.system.System`)."""

    needs_network = False
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
        check_settings(settings)
        preset = get_preset(settings.preset)
        self.checkpoint, self.settings, self._cache = checkpoint, settings, cache
        self.device = chosen_device(device)
        self.chosen = EngineChoice.of(settings, self.device)
        self.dtype = self.chosen.dtype
        self.codec = Codec(checkpoint.folder, lang, target_code=settings.target_code)
        by_hand = {name: getattr(settings, name) for name in ("beams", "length_penalty", "max_length")}
        given = {name: value for name, value in by_hand.items() if value is not None}
        self.decoding: Decoding = replace(preset.decoding, **given, early_stopping=self.codec.family.early_stopping)
        self.chosen.tell()

    @cached_property
    def engine(self) -> Engine:
        """The engine, with the weights loaded.

        Raises:
            SettingError: a type of weights or a device that the engine does not have.
            ModelError: the weights cannot be loaded.
        """
        if self.chosen.engine == "ct2":
            from mtbias.translate.seq2seq.ct2_engine import CTranslate2Engine

            return CTranslate2Engine(self.checkpoint.folder, device=self.device, dtype=self.dtype, cache=self._cache)
        from mtbias.translate.seq2seq.transformers_engine import TransformersEngine

        return TransformersEngine(self.checkpoint.folder, device=self.device, dtype=self.dtype)

    @cached_property
    def engine_name(self) -> str:
        """``transformers/5.23.0``: the engine's package and version, without loading it."""
        return _release(self.chosen.engine)

    def budget(self, begun: Begun) -> Budget:
        """What a batch may hold: as the settings say, else as the run was begun with, else what suits the device.

        Batches of a run that was begun on a larger device are halved where they do not fit.
        """
        if self.settings.batch_rows is not None:
            return cpu_budget(max(self.settings.batch_rows, self.decoding.beams))
        match begun.get("budget") or begun.get("batch"):
            case [int(rows), int(tokens)]:
                return Budget(rows, tokens)
        if not self.device.startswith("cuda"):
            return cpu_budget()
        import torch

        size = 4 if self.dtype == "float32" else 2
        memory = torch.cuda.mem_get_info(torch.device(self.device))[0]
        return gpu_budget(self.codec.config, memory, bytes_per_value=size, beams=self.decoding.beams)

    def plan(self, corpus: Sources, begun: Begun) -> CheckpointPlan:
        """See `mtbias.translate.system.System`. Nothing is encoded before batches are asked for."""
        return CheckpointPlan(self, corpus.instances, self.budget(begun))


@dataclass(frozen=True, eq=False)
class CheckpointPlan(OutputsPlan):
    """How a checkpoint translates one corpus (`mtbias.translate.system.Plan`): a part is a batch."""

    system: CheckpointSystem
    instances: Sequence[SourceSentence]
    budget: Budget

    @cached_property
    def identity(self) -> Mapping[str, Json]:
        """What translations depend on: not on batches in fp32; in other types the rows of a batch are named too."""
        system = self.system
        identity: dict[str, Json] = {
            "model": system.checkpoint.name,
            "revision": system.checkpoint.revision,
            "family": system.codec.family.name,
            "direction": system.codec.direction.signature,
            "engine": system.engine_name,
            "dtype": system.dtype,
            "decoding": system.decoding.signature,
        }
        return identity if system.dtype == "float32" else {**identity, "batch": list(self.budget)}

    @property
    def pooled(self) -> int:
        """See `Generation.pooled`. Beyond fp32 results depend on the batch: there each batch has its own second stage,
        so that a run that was interrupted, or shared out, ends with the same bytes.
        """
        if not self.system.device.startswith("cuda"):
            return 0  # few rows take little time there, and what is given up would be computed twice
        return POOLED if self.system.dtype == "float32" else 1

    @property
    def settings(self) -> Mapping[str, Json]:
        """The budget of a batch: on a GPU it follows from the memory that was free when the run began."""
        return {"budget": list(self.budget)}

    @cached_property
    def encoded(self) -> Sequence[Encoded]:
        """`distinct` as token ids; `ModelError` as in `Codec.encode`."""
        return self.system.codec.encode(self.distinct)

    @cached_property
    def batches(self) -> tuple[Batch, ...]:
        """The parts; the weights are not needed."""
        return make_plan([len(each.ids) for each in self.encoded], self.system.decoding, self.budget)

    @cached_property
    def key(self) -> str:
        """See `mtbias.translate.system.Plan`."""
        return plan_key(self.batches, self.distinct)

    @cached_property
    def parts(self) -> Sequence[Sequence[str]]:
        """See `mtbias.translate.outputs.PartsPlan`."""
        return [[self.distinct[row] for row in batch.rows] for batch in self.batches]

    @property
    def frees_cpu(self) -> bool:
        """On a GPU; on a CPU translating and analysing would want the same cores."""
        return self.system.device.startswith("cuda")

    def begin(self, store: Store) -> _CheckpointWork:
        """See `mtbias.translate.outputs.PartsPlan`."""
        return _CheckpointWork(self, store)


@dataclass(frozen=True)
class _CheckpointWork:
    plan: CheckpointPlan
    store: Store

    @cached_property
    def generation(self) -> Generation:
        system = self.plan.system
        return Generation(system.codec, lambda: system.engine, system.decoding, pooled=self.plan.pooled)

    def resume(self, pieces: Sequence[Output]) -> None:
        """Nothing depends on what is there."""

    def make(self, parts: Sequence[int]) -> Generator[tuple[int, Sequence[Output]]]:
        """See `mtbias.translate.outputs.Work`; `ModelError` as in `Generation.batches`."""
        plan = self.plan
        return self.generation.batches(plan.encoded, [plan.batches[part] for part in parts], self.store)

    def execution(self, generated: int) -> Mapping[str, Json]:
        """See `mtbias.translate.outputs.Work`."""
        system, generation = self.plan.system, self.generation
        execution: dict[str, Json] = {
            "preset": system.settings.preset,
            "translate_device": system.device,
            "batch": list(self.plan.budget),
            "batches_halved": generation.halving.halved,
            "in_second_stage": generation.in_second_stage,
        }
        if generated:  # else the weights were not loaded
            execution["attention"] = str(getattr(system.engine, "attention", "the engine's own"))
            if isinstance(steps := getattr(system.engine, "steps", None), int):
                execution["decoder_steps"] = steps
        return execution
