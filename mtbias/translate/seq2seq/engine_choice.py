"""Which engine translates, and in which type: what the settings say, and what the preset ``fast`` finds here."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from mtbias.errors import MtbiasError
from mtbias.settings import Engine, TranslationSettings
from mtbias.translate.seq2seq.beam_search import get_preset
from mtbias.translate.seq2seq.ct2_cuda import usable_types

_log = logging.getLogger(__name__)

_FEWER_BITS = ("bfloat16", "float16")
"""What ``fast`` takes of what a GPU has, the first that is there: bf16 has the range of fp32, so no score overflows
(T5's do in fp16); GPUs before Ampere compute in fp16 alone."""


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """An engine and a type of weights; both are part of a run's identity."""

    engine: Engine
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
