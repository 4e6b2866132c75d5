"""Checkpoints as a translation system: a model, an engine and settings of decoding, planned and
translated in batches.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from mtbias.machine.devices import chosen_device
from mtbias.settings import TranslationSettings
from mtbias.translate.outputs import Output, OutputsPlan, unknown_marks, with_marks
from mtbias.translate.seq2seq.batches import BatchPlan, BatchSystem, Budget
from mtbias.translate.seq2seq.checkpoints import Checkpoint
from mtbias.translate.seq2seq.codec import Codec, Encoded
from mtbias.translate.seq2seq.decoding import get_preset
from mtbias.translate.seq2seq.engine import Engine
from mtbias.translate.seq2seq.engine_choice import ENGINES, EngineChoice, release_of
from mtbias.translate.seq2seq.families import SOURCE
from mtbias.translate.seq2seq.generation import POOLED, Generation
from mtbias.translate.system import Begun, Sources, Store, System, Translated
from mtbias.types import Json, SourceSentence

_log = logging.getLogger(__name__)

_MOST_ENCODED = 4
"""Corpora whose token ids are held, some 200 MB for 100,000 sentences each: for one model more than
the papers' three, one of which has a tokenizer for each language."""


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
        load = ENGINES[self.chosen.engine].load
        return load(self.checkpoint.folder, self.device, self.dtype, self._cache)

    @cached_property
    def engine_name(self) -> str:
        """``transformers/5.23.0``: the engine's package and version, without loading it."""
        return release_of(self.chosen.engine)

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
        search = ENGINES[system.chosen.engine].search
        return {
            "family": system.codec.family.name,
            "direction": system.codec.direction.signature,
            "engine": system.engine_name,
            # In fp32 its translations are those of any other exact search.
            **({"search": search} if search and system.dtype != "float32" else {}),
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
