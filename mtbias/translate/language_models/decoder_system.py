"""Checkpoints that are decoders (causal language models) as a translation system: greedy answers,
cleaned and kept.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mtbias.errors import ModelError, SettingError
from mtbias.files.strict_json import load_json
from mtbias.machine.devices import chosen_device
from mtbias.settings import DTYPES, LanguageModelSettings
from mtbias.translate.language_models.answers import Answer, AnswersPlan
from mtbias.translate.language_models.prompt_files import Prompt, load_prompt
from mtbias.translate.outputs import unknown_marks, with_marks
from mtbias.translate.seq2seq.checkpoints import Checkpoint, explained
from mtbias.translate.seq2seq.codec import load_tokenizer, unknown_places
from mtbias.translate.seq2seq.engine import (
    BatchPlan,
    BatchSystem,
    Budget,
    Decoding,
    Halving,
    get_preset,
    within_memory,
)
from mtbias.translate.seq2seq.transformers_engine import load_model
from mtbias.translate.system import Asked, Begun, Sources, Store, Translated
from mtbias.types import Json, SourceSentence, Span

PROMPT_DATE = "26 Jul 2024"
"""The date of prompts, for chat templates that ask for today's: the one that Llama 3's has where it
knows none."""


class DecoderSystem(BatchSystem):
    """Asks a causal language model for translations into one language
    (`mtbias.translate.system.System`).
    """

    uses = frozenset({"prompt", "answer_tokens", "dtype", "batch_rows", "preset", "revision"})
    """The settings that change something."""
    cpu_rows = 16  # prompts are longer than sources, and wait for the longest answer among them

    def __init__(self, checkpoint: Checkpoint, asked: Asked) -> None:
        """Load the tokenizer; the weights are loaded when they are first needed.

        Raises:
            UsageError: no such prompt or preset, or a prompt for other languages.
            ModelError: the tokenizer cannot be loaded.
        """
        self.checkpoint, self.lang, self.settings = checkpoint, asked.lang, asked.settings
        self.source_lang = asked.source_lang
        self.language_model: LanguageModelSettings = asked.language_model
        self.prompt: Prompt = load_prompt(self.language_model.prompt)
        self.prompt.filled(
            "", asked.lang, asked.source_lang
        )  # refuses a language that it is not for
        self.device = chosen_device(asked.device)
        preset = get_preset(asked.settings.preset)
        self.dtype = asked.settings.dtype or preset.dtype(asked.translates_on or self.device)
        if self.dtype not in DTYPES["transformers"]:  # a sweep's, which may be for CTranslate2
            known = ", ".join(DTYPES["transformers"])
            raise SettingError(
                "dtype",
                f"expected {known} for {checkpoint.name}, a language model, got {self.dtype!r}",
            )
        self.tokenizer = DecoderTokenizer.load(checkpoint.folder)
        # Greedy; the start token that `max_length` counts is none here.
        self.decoding = Decoding(beams=1, max_length=self.language_model.answer_tokens + 1)

    @cached_property
    def engine(self) -> DecoderEngine:
        """The engine, with the weights loaded."""
        return DecoderEngine(
            self.checkpoint.folder, self.tokenizer, device=self.device, dtype=self.dtype
        )

    def weights(self) -> int:
        """See `BatchSystem`; by the sizes of their files."""
        files = [*self.checkpoint.folder.glob("*.safetensors")] or [
            *self.checkpoint.folder.glob("*.bin")
        ]
        return sum(path.stat().st_size for path in files) * (2 if self.dtype == "float32" else 1)

    def sizes(self) -> Mapping[str, Any]:
        """See `BatchSystem`; few heads of keys and values are narrow."""
        config = load_json((self.checkpoint.folder / "config.json").read_bytes())
        config = config.get("text_config") or config  # of models that read pictures too
        hidden, heads = (
            int(config.get("hidden_size") or 4096),
            int(config.get("num_attention_heads") or 1),
        )
        kept = int(config.get("num_key_value_heads") or heads) * int(
            config.get("head_dim") or hidden // heads
        )
        return {
            "decoder_layers": config.get("num_hidden_layers") or 32,
            "d_model": kept,
            "vocab_size": config.get("vocab_size"),
        }

    def plan(self, corpus: Sources, begun: Begun) -> DecoderPlan:
        """See `mtbias.translate.system.System`."""
        return DecoderPlan(self, corpus.instances, self.prompt, self.lang, self.budget(begun))


@dataclass(frozen=True, eq=False)
class DecoderPlan(BatchPlan[Answer], AnswersPlan):
    """See `BatchPlan`."""

    system: DecoderSystem
    instances: Sequence[SourceSentence]
    prompt: Prompt
    lang: str
    budget: Budget

    @property
    def asked(self) -> Mapping[str, Json]:
        """See `BatchPlan`."""
        return {
            "engine": f"transformers/{version('transformers')}",
            "dtype": self.system.dtype,
            "decoding": "greedy",
            "template": self.system.tokenizer.template,
            "prompt": self.prompt.label,
            "answer_tokens": self.system.language_model.answer_tokens,
        }

    @cached_property
    def encoded(self) -> Sequence[Sequence[int]]:
        """The prompt of each distinct source as token ids."""
        source = self.system.source_lang
        return [
            self.system.tokenizer.encode(self.prompt.filled(s, self.lang, source))
            for s in self.distinct
        ]

    @property
    def lengths(self) -> Sequence[int]:
        """See `BatchPlan`."""
        return list(map(len, self.encoded))

    def translated(self, pieces: Sequence[tuple[str, Answer]]) -> Translated:
        """See `mtbias.translate.outputs.PartsPlan`; sources that were read with a hole are
        marked.
        """
        made = AnswersPlan.translated(self, pieces)
        tokenizer = self.system.tokenizer
        marked = unknown_marks(
            self.instances, {source: tokenizer.unknown_places(source) for source in self.distinct}
        )
        return replace(made, noticed=with_marks(made.noticed, marked))

    def make(
        self, store: Store, parts: Sequence[int], circumstances: dict[str, Json]
    ) -> Generator[tuple[int, list[Answer]]]:
        """See `mtbias.translate.outputs.PartsPlan`.

        Raises:
            ModelError: the weights cannot be loaded, or one prompt does not fit into memory.
        """
        halving, limit = Halving(), self.system.language_model.answer_tokens

        def too_long(prompt: Sequence[int], lacking: str) -> ModelError:
            return ModelError(
                f"one prompt of {len(prompt)} tokens with an answer of up to {limit} does not fit into memory "
                f"({lacking}); use fewer --answer-tokens, another --dtype, or --device cpu"
            )

        for part in parts:
            answers = halving.run(
                [self.encoded[row] for row in self.batches[part].rows],
                lambda some: len(some) * (max(map(len, some)) + limit),
                lambda some: self.system.engine.answer(some, limit=limit),
                too_long,
            )
            self.put(store, part, answers)
            yield part, answers
        circumstances |= {
            "translate_device": self.system.device,
            "batch": list(self.budget),
            "batches_halved": halving.halved,
        }


@dataclass(frozen=True)
class DecoderTokenizer:
    """Makes token ids of conversations, and texts of token ids."""

    folder: Path
    _tokenizer: Any
    template: str
    """``chat`` where the checkpoint has a chat template, with the date where it asks for one; else
    ``plain``: the turns one after the other.
    """

    @classmethod
    def load(cls, folder: Path) -> DecoderTokenizer:
        """The tokenizer of a checkpoint.

        Raises:
            ModelError: it cannot be loaded.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = load_tokenizer(folder, "AutoTokenizer")
        template = "chat" if made.chat_template else "plain"
        if "strftime_now" in (
            made.chat_template or ""
        ):  # the day's date would make other prompts of the same run
            template = f"chat, {PROMPT_DATE}"
            # With something behind it, so that a template that begins with a line end keeps that.
            fixed = f"{{% macro strftime_now(form) %}}{PROMPT_DATE}{{% endmacro %}}{{{{ '' }}}}"
            made.chat_template = fixed + made.chat_template
        return cls(folder, made, template)

    def encode(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        """The token ids of a conversation, up to where the model is to continue.

        Raises:
            ModelError: the chat template refuses it.
        """
        if self.template == "plain":
            text = "\n\n".join(message["content"] for message in messages)
            return list(self._tokenizer(text)["input_ids"])
        advice = "choose another --prompt (some templates take no system message)"
        with explained(self.folder, "filling in the chat template", advice):
            text = self._tokenizer.apply_chat_template(
                list(messages), add_generation_prompt=True, tokenize=False
            )
        return list(
            self._tokenizer(text, add_special_tokens=False)["input_ids"]
        )  # the template writes them itself

    def unknown_places(self, text: str) -> tuple[Span, ...]:
        """The places in a text that no token stands for, where the tokenizer has a token for
        these.
        """
        return unknown_places(self._tokenizer, text)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of token ids, without special tokens."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True))

    @property
    def ends(self) -> frozenset[int]:
        """The token that ends a text."""
        end = self._tokenizer.eos_token_id
        return frozenset() if end is None else frozenset({int(end)})


class DecoderEngine:
    """The weights of a decoder on a device."""

    def __init__(
        self, folder: Path, tokenizer: DecoderTokenizer, *, device: str, dtype: str
    ) -> None:
        """Load the weights.

        Raises:
            ModelError: they cannot be loaded.
        """
        from transformers import AutoModelForCausalLM, GenerationConfig

        self.folder, self.tokenizer, self.device, self.dtype = folder, tokenizer, device, dtype
        self._model = load_model(folder, AutoModelForCausalLM, device=device, dtype=dtype)
        named = self._model.generation_config.eos_token_id
        listed = named if isinstance(named, list) else [] if named is None else [named]
        self._ends = sorted({*listed, *tokenizer.ends})
        # What the checkpoint's own says of beams, sampling and repetition is no part of greedy
        # search, and would fill what a search leaves open.
        self._model.generation_config = GenerationConfig()

    def answer(self, prompts: Sequence[Sequence[int]], *, limit: int) -> list[Answer]:
        """The likeliest next token each time, up to `limit` of them: the answers to `prompts`,
        token ids each.

        Prompts are padded on the left, so that all answers begin at one place; what pads is masked.

        Raises:
            OutOfMemory: the batch is too large for the device.
            ModelError: scores are not finite, or generating fails.
        """
        import torch
        from transformers import GenerationConfig, LogitsProcessorList

        longest = max(map(len, prompts))
        pad = self._ends[0] if self._ends else 0
        ids = [[*[pad] * (longest - len(prompt)), *prompt] for prompt in prompts]
        mask = [[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts]
        bad: list[Any] = []

        def watch(_: object, scores: Any) -> Any:  # noqa: ANN401 - a logits processor; it does not wait for the GPU
            bad[:] = [scores.isnan().any() | (bad[0] if bad else False)]
            return scores

        def generate() -> list[list[int]]:
            with torch.inference_mode(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = self._model.generate(
                    input_ids=torch.tensor(ids, device=self.device),
                    attention_mask=torch.tensor(mask, device=self.device),
                    generation_config=GenerationConfig(
                        do_sample=False,
                        max_new_tokens=limit,
                        eos_token_id=self._ends or None,
                        pad_token_id=pad,
                    ),
                    logits_processor=LogitsProcessorList([watch]),
                )
            return list(found[:, longest:].tolist())

        with explained(
            self.folder, "generating with transformers", "download the checkpoint again"
        ):
            rows = within_memory(generate, self.device)
        if any(bad):
            raise ModelError(
                f"{self.folder}: scores are not finite in {self.dtype}; "
                + (
                    "the weights are damaged or untrained"
                    if self.dtype == "float32"
                    else "use --dtype float32"
                )
            )
        return [self._answer(row, len(prompt)) for row, prompt in zip(rows, prompts, strict=True)]

    def _answer(self, row: Sequence[int], prompt_tokens: int) -> Answer:
        """The answer of a row, which ends at the first token that ends it; what follows only fills
        the batch.
        """
        end = next((place for place, token in enumerate(row) if token in self._ends), None)
        new = row if end is None else row[:end]
        finish = "length" if end is None else "stop"
        return Answer(self.tokenizer.decode(new), finish, None, prompt_tokens, len(new))
