"""The engines of checkpoints by name, and which engine translates in which type of weights."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mtbias.errors import DependencyError, MtbiasError, SettingError
from mtbias.machine.devices import install_command
from mtbias.settings import EngineName, TranslationSettings
from mtbias.translate.seq2seq.decoding import get_preset
from mtbias.translate.seq2seq.engine import Engine


@dataclass(frozen=True, slots=True)
class EngineKind:
    """What is known of an engine before its weights are loaded."""

    load: Callable[[Path, str, str, Path], Engine]
    """Loads the weights of a checkpoint: its folder, the device, the type of weights, and the cache
    where a converted checkpoint is kept."""
    package: str
    """The package whose release is part of a run's identity: no other engine may have it."""
    extra: str
    """The extra of mtbias that installs the package; empty: every installation has it."""
    search: str = ""
    """The name of a search of its own, on which translations depend except in fp32."""


def _load_transformers(folder: Path, device: str, dtype: str, _cache: Path) -> Engine:
    from mtbias.translate.seq2seq.transformers_engine import TransformersEngine

    return TransformersEngine(folder, device=device, dtype=dtype)


def _load_ct2(folder: Path, device: str, dtype: str, cache: Path) -> Engine:
    from mtbias.translate.seq2seq.ct2_engine import CTranslate2Engine

    return CTranslate2Engine(folder, device=device, dtype=dtype, cache=cache)


ENGINES: Mapping[EngineName, EngineKind] = {
    "transformers": EngineKind(_load_transformers, "transformers", extra="", search="pool"),
    "ct2": EngineKind(_load_ct2, "ctranslate2", extra="ct2"),
}
"""By the names in `mtbias.settings.DTYPES`, which has the types of weights of each."""

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


def check_settings(settings: TranslationSettings) -> None:
    """Refuse an engine or a preset that is unknown, and an engine that is not installed.

    Raises:
        SettingError: the preset or the engine is unknown.
        DependencyError: the engine is not installed.
    """
    engine = settings.engine or "transformers"
    if engine not in ENGINES:
        raise SettingError("engine", f"expected {' or '.join(ENGINES)}, got {engine!r}")
    get_preset(settings.preset)
    release_of(engine)


def release_of(engine: EngineName) -> str:
    """``transformers/5.23.0``: the package of an engine and its version.

    Raises:
        DependencyError: the package is not installed.
    """
    kind = ENGINES[engine]
    try:
        return f"{kind.package}/{importlib.metadata.version(kind.package)}"
    except importlib.metadata.PackageNotFoundError:
        raise DependencyError(
            f"--engine {engine} needs {kind.package}: {install_command(kind.extra)}"
        ) from None
