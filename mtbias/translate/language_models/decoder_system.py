"""Checkpoints that are decoders as a translation system: prompts in batches by length, answers cleaned and kept."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mtbias.errors import ModelError
from mtbias.files.strict_json import load_json
from mtbias.machine.devices import chosen_device
from mtbias.settings import LanguageModelSettings
from mtbias.translate.language_models.answers import Answer, AnswersPlan, keep_answers
from mtbias.translate.language_models.decoder_engine import DecoderEngine, DecoderTokenizer
from mtbias.translate.language_models.prompt_files import Prompt, load_prompt
from mtbias.translate.seq2seq.checkpoints import Checkpoint
from mtbias.translate.seq2seq.engine import (
    Batch,
    Budget,
    Decoding,
    Halving,
    cpu_budget,
    get_preset,
    gpu_budget,
    make_plan,
)
from mtbias.translate.system import Asked, Begun, Sources, Store
from mtbias.types import Json, SourceSentence

CPU_ROWS = 16
"""Prompts of a batch on a CPU: they are longer than sources, and wait for the longest answer among them."""
USES = frozenset({"prompt", "answer_tokens", "dtype", "batch_rows", "preset", "revision"})
"""The settings that change something."""


class DecoderSystem:
    """Asks a causal language model for translations into one language (`mtbias.translate.system.System`)."""

    needs_network = False
    uses = USES

    def __init__(self, checkpoint: Checkpoint, asked: Asked) -> None:
        """Load the tokenizer; the weights are loaded when they are first needed.

        Raises:
            UsageError: no such prompt or preset, or a prompt for other languages.
            ModelError: the tokenizer cannot be loaded.
        """
        self.checkpoint, self.lang, self.settings = checkpoint, asked.lang, asked.settings
        self.language_model: LanguageModelSettings = asked.language_model
        self.prompt: Prompt = load_prompt(self.language_model.prompt)
        self.prompt.messages("", asked.lang)  # refuses a language that it is not for
        self.device = chosen_device(asked.device)
        gpu_dtype = get_preset(asked.settings.preset).gpu_dtype
        self.dtype = asked.settings.dtype or (gpu_dtype if self.device.startswith("cuda") else "float32")
        self.tokenizer = DecoderTokenizer.load(checkpoint.folder)
        # Greedy; the start token that `max_length` counts is none here.
        self.decoding = Decoding(beams=1, max_length=self.language_model.answer_tokens + 1)

    @cached_property
    def engine(self) -> DecoderEngine:
        """The engine, with the weights loaded."""
        return DecoderEngine(self.checkpoint.folder, self.tokenizer, device=self.device, dtype=self.dtype)

    def budget(self, begun: Begun) -> Budget:
        """What a batch may hold: as the settings say, else as the run was begun with, else what suits the device."""
        if self.settings.batch_rows is not None:
            return cpu_budget(self.settings.batch_rows)
        match begun.get("budget") or begun.get("batch"):
            case [int(rows), int(tokens)]:
                return Budget(rows, tokens)
        if not self.device.startswith("cuda"):
            return cpu_budget(CPU_ROWS)
        import torch

        size = 4 if self.dtype == "float32" else 2
        memory = torch.cuda.mem_get_info(torch.device(self.device))[0] - self._weights()
        return gpu_budget(self._sizes(), max(memory, 0), bytes_per_value=size, beams=1)

    def _weights(self) -> int:
        """Bytes that the weights will take, by the sizes of their files."""
        files = [*self.checkpoint.folder.glob("*.safetensors")] or [*self.checkpoint.folder.glob("*.bin")]
        return sum(path.stat().st_size for path in files) * (2 if self.dtype == "float32" else 1)

    def _sizes(self) -> dict[str, Any]:
        """The config's sizes under the names that `gpu_budget` reads; few heads of keys and values are narrow."""
        config = load_json((self.checkpoint.folder / "config.json").read_bytes())
        config = config.get("text_config") or config  # of models that read pictures too
        hidden, heads = int(config.get("hidden_size") or 4096), int(config.get("num_attention_heads") or 1)
        kept = int(config.get("num_key_value_heads") or heads) * int(config.get("head_dim") or hidden // heads)
        return {
            "decoder_layers": config.get("num_hidden_layers") or 32,
            "d_model": kept,
            "vocab_size": config.get("vocab_size"),
        }

    def plan(self, corpus: Sources, begun: Begun) -> DecoderPlan:
        """See `mtbias.translate.system.System`."""
        return DecoderPlan(self, corpus.instances, self.prompt, self.lang, self.budget(begun))


@dataclass(frozen=True, eq=False)
class DecoderPlan(AnswersPlan):
    """How a decoder translates one corpus (`mtbias.translate.system.Plan`): a part is a batch."""

    system: DecoderSystem
    instances: Sequence[SourceSentence]
    prompt: Prompt
    lang: str
    budget: Budget

    @cached_property
    def identity(self) -> Mapping[str, Json]:
        """What translations depend on: not on batches in fp32; in other types the rows of a batch are named too."""
        system, prompt = self.system, self.prompt
        from importlib.metadata import version

        identity: dict[str, Json] = {
            "model": system.checkpoint.name,
            "revision": system.checkpoint.revision,
            "engine": f"transformers/{version('transformers')}",
            "dtype": system.dtype,
            "decoding": "greedy",
            "template": system.tokenizer.template,
            "prompt": f"{prompt.name}/{prompt.version}#{prompt.sha256[:8]}",
            "answer_tokens": system.language_model.answer_tokens,
        }
        return identity if system.dtype == "float32" else {**identity, "batch": list(self.budget)}

    @property
    def settings(self) -> Mapping[str, Json]:
        """The budget of a batch: on a GPU it follows from the memory that was free when the run began."""
        return {"budget": list(self.budget)}

    @cached_property
    def encoded(self) -> Sequence[Sequence[int]]:
        """The prompt of each distinct source as token ids."""
        return [self.system.tokenizer.encode(self.prompt.messages(s, self.lang)) for s in self.distinct]

    @cached_property
    def batches(self) -> tuple[Batch, ...]:
        """The parts; the weights are not needed."""
        return make_plan([len(ids) for ids in self.encoded], self.system.decoding, self.budget)

    @cached_property
    def key(self) -> str:
        """See `mtbias.translate.system.Plan`."""
        rows = [n for batch in self.batches for n in batch.rows]
        return self._key({**self.identity, "rows": rows})

    @cached_property
    def parts(self) -> Sequence[Sequence[str]]:
        """See `mtbias.translate.outputs.PartsPlan`."""
        return [[self.distinct[row] for row in batch.rows] for batch in self.batches]

    @property
    def frees_cpu(self) -> bool:
        """On a GPU."""
        return self.system.device.startswith("cuda")

    def begin(self, store: Store) -> _DecoderWork:
        """See `mtbias.translate.outputs.PartsPlan`."""
        return _DecoderWork(self, store)


@dataclass(frozen=True)
class _DecoderWork:
    plan: DecoderPlan
    store: Store
    halving: Halving = field(default_factory=Halving)

    def resume(self, pieces: Sequence[Answer]) -> None:
        """Nothing depends on what is there."""

    def make(self, parts: Sequence[int]) -> Generator[tuple[int, list[Answer]]]:
        """See `mtbias.translate.outputs.Work`.

        Raises:
            ModelError: the weights cannot be loaded, or one prompt does not fit into memory.
        """
        for part in parts:
            batch = self.plan.batches[part]
            answers = self._answers([self.plan.encoded[row] for row in batch.rows], batch.limit)
            keep_answers(self.store, part, answers)
            yield part, answers

    def _answers(self, prompts: Sequence[Sequence[int]], limit: int) -> list[Answer]:
        def too_long(prompt: Sequence[int], lacking: str) -> ModelError:
            return ModelError(
                f"one prompt of {len(prompt)} tokens with an answer of up to {limit} does not fit into memory "
                f"({lacking}); use fewer --answer-tokens, another --dtype, or --device cpu"
            )

        return self.halving.run(
            prompts,
            lambda some: len(some) * (max(map(len, some)) + limit),
            lambda some: self.plan.system.engine.answer(some, limit=limit),
            too_long,
        )

    def execution(self, generated: int) -> Mapping[str, Json]:  # noqa: ARG002
        """See `mtbias.translate.outputs.Work`."""
        return {
            "translate_device": self.plan.system.device,
            "batch": list(self.plan.budget),
            "batches_halved": self.halving.halved,
        }
