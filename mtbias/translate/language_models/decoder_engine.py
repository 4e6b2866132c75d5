"""Greedy generation with a decoder (a causal language model) through transformers: prompts in, answers out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtbias.errors import ModelError, MtbiasError
from mtbias.translate.language_models.answers import Answer
from mtbias.translate.seq2seq.checkpoints import explained, first_line
from mtbias.translate.seq2seq.codec import load_tokenizer
from mtbias.translate.seq2seq.engine import OutOfMemory, is_out_of_memory
from mtbias.translate.seq2seq.transformers_engine import check_finite, check_whole, free_memory, read_weights

_AGAIN = "download the checkpoint again"


@dataclass(frozen=True)
class DecoderTokenizer:
    """Makes token ids of conversations, and texts of token ids."""

    folder: Path
    _tokenizer: Any
    template: str
    """``chat`` where the checkpoint has a chat template, else ``plain``: the turns one after the other."""

    @classmethod
    def load(cls, folder: Path) -> DecoderTokenizer:
        """The tokenizer of a checkpoint.

        Raises:
            ModelError: it cannot be loaded.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = load_tokenizer(folder, "AutoTokenizer")
        return cls(folder, made, "chat" if made.chat_template else "plain")

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
            text = self._tokenizer.apply_chat_template(list(messages), add_generation_prompt=True, tokenize=False)
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])  # the template writes them itself

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

    def __init__(self, folder: Path, tokenizer: DecoderTokenizer, *, device: str, dtype: str) -> None:
        """Load the weights.

        Raises:
            ModelError: they cannot be loaded.
        """
        import torch
        from transformers import AutoModelForCausalLM

        self.folder, self.tokenizer, self.device, self.dtype = folder, tokenizer, device, dtype
        with explained(folder, "loading the weights with transformers", _AGAIN):
            model, found = read_weights(folder, AutoModelForCausalLM, dtype=getattr(torch, dtype))
            check_whole(folder, found)
            check_finite(folder, model, dtype)
        advice = "choose another --device or --dtype, or a smaller model"
        with explained(folder, f"moving the weights to {device}", advice):
            self._model = model.to(device).eval()
        named = self._model.generation_config.eos_token_id
        listed = named if isinstance(named, list) else [] if named is None else [named]
        self._ends = sorted({*listed, *tokenizer.ends})

    def answer(self, prompts: Sequence[Sequence[int]], *, limit: int) -> list[Answer]:
        """The likeliest next token each time, up to `limit` of them: the answers to `prompts`, token ids each.

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
        watch = _Watch()
        lacking: str | None = None
        try:
            with torch.inference_mode(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = self._model.generate(
                    input_ids=torch.tensor(ids, device=self.device),
                    attention_mask=torch.tensor(mask, device=self.device),
                    # A new one: what the checkpoint's own says of sampling and repetition is no part of greedy search.
                    generation_config=GenerationConfig(
                        do_sample=False, max_new_tokens=limit, eos_token_id=self._ends or None, pad_token_id=pad
                    ),
                    logits_processor=LogitsProcessorList([watch]),
                )
            rows = found[:, longest:].tolist()
        except Exception as error:
            if isinstance(error, MtbiasError):
                raise
            if not is_out_of_memory(error):
                raise ModelError(
                    f"{self.folder}: generating with transformers failed: {type(error).__name__}: "
                    f"{first_line(error)[:200]}; {_AGAIN}"
                ) from error
            lacking = str(error)
        if lacking is not None:
            # Outside of the block: what was raised holds the frames in which it was, and they the cache and the scores.
            free_memory(self.device)
            raise OutOfMemory(lacking)
        if watch.found_bad():
            raise ModelError(
                f"{self.folder}: scores are not finite in {self.dtype}; "
                + ("the weights are damaged or untrained" if self.dtype == "float32" else "use --dtype float32")
            )
        return [self._answer(row, len(prompt)) for row, prompt in zip(rows, prompts, strict=True)]

    def _answer(self, row: Sequence[int], prompt_tokens: int) -> Answer:
        """The answer of a row, which ends at the first token that ends it; what follows only fills the batch."""
        end = next((place for place, token in enumerate(row) if token in self._ends), None)
        new = row if end is None else row[:end]
        finish = "length" if end is None else "stop"
        return Answer(self.tokenizer.decode(new), finish, None, prompt_tokens, len(new))


class _Watch:
    """A logits processor that changes nothing and notices scores that are not numbers, without waiting for the GPU."""

    def __init__(self) -> None:
        self._bad: Any = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:  # noqa: ANN401, ARG002 - transformers' interface
        bad = scores.isnan().any()
        self._bad = bad if self._bad is None else self._bad | bad
        return scores

    def found_bad(self) -> bool:
        """Whether there were any."""
        return self._bad is not None and bool(self._bad)
