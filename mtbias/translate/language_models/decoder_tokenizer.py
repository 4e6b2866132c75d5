"""Tokenizers of decoders: from a conversation to the token ids that a model continues, and from
token ids to text.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from mtbias.translate.language_models.answer_marks import marks_thought
from mtbias.translate.seq2seq.checkpoints import explained
from mtbias.translate.seq2seq.codec import load_tokenizer, special_ids, unknown_places
from mtbias.types import Span

PROMPT_DATE = "26 Jul 2024"
"""The date for chat templates that ask for today's: the default of Llama 3's template."""


@dataclass(frozen=True)
class DecoderTokenizer:
    """Turns conversations into token ids, and token ids into text."""

    folder: Path
    _tokenizer: Any
    template: str
    """``chat`` for a checkpoint with a chat template, with the date if that asks for one; else
    ``plain`` (`as_plain_text`).
    """
    _texts: dict[int, str] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> DecoderTokenizer:
        """The tokenizer of a checkpoint.

        Raises:
            ModelError: it cannot be loaded.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tokenizer = load_tokenizer(folder, "AutoTokenizer")
        template = "chat" if tokenizer.chat_template else "plain"
        # With the day's date, the prompts of one run would differ.
        if "strftime_now" in (tokenizer.chat_template or ""):
            template = f"chat, {PROMPT_DATE}"
            # With something behind it, so that a template that begins with a line end keeps that.
            fixed = f"{{% macro strftime_now(form) %}}{PROMPT_DATE}{{% endmacro %}}{{{{ '' }}}}"
            tokenizer.chat_template = fixed + tokenizer.chat_template
        return cls(folder, tokenizer, template)

    def encode(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        """The token ids of a conversation, up to where the model continues.

        Raises:
            ModelError: the chat template refuses it.
        """
        if self.template == "plain":
            return list(self._tokenizer(as_plain_text(messages))["input_ids"])
        advice = "choose another --prompt (some templates take no system message)"
        with explained(self.folder, "filling in the chat template", advice):
            text = self._tokenizer.apply_chat_template(
                list(messages), add_generation_prompt=True, tokenize=False
            )
        # The template has the special tokens itself.
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    @property
    def thinks(self) -> bool:
        """Whether the chat template, or a token of its own, has a mark of thinking."""
        template = self._tokenizer.chat_template
        if not template:
            return False
        return any(map(marks_thought, (str(template), *self._tokenizer.get_added_vocab())))

    def count(self, text: str) -> int:
        """How many tokens a text has."""
        return len(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def ends_line(self, ids: Sequence[int]) -> bool:
        """Whether token ids end with the end of a line that is not blank."""
        if "\n" not in self._decoded(ids[-1]):
            return False
        return "\n" in self.decode(ids).lstrip()

    def _decoded(self, token: int) -> str:
        """The text of one token."""
        if token not in self._texts:
            self._texts[token] = str(self._tokenizer.decode([token]))
        return self._texts[token]

    @cached_property
    def _special(self) -> frozenset[int]:
        return special_ids(self._tokenizer)

    def unknown_places(self, text: str) -> tuple[Span, ...]:
        """The places in a text that become the unknown token, if the tokenizer has one, or that are
        the name of a special token.
        """
        return unknown_places(self._tokenizer, text, self._special)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of token ids, without special tokens."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True))

    @property
    def ends(self) -> frozenset[int]:
        """The token that ends a text."""
        end = self._tokenizer.eos_token_id
        return frozenset() if end is None else frozenset({int(end)})


def as_plain_text(messages: Sequence[Mapping[str, str]]) -> str:
    """The turns of a conversation, a blank line between them, for a model without a chat template.

    The answer to a turn that ends with a colon ("German:") follows on the same line.
    """
    text = ""
    for message in messages:
        is_answer = message["role"] == "assistant"
        on_line = is_answer and text.rstrip().endswith(":")
        between = " " if on_line else "\n\n"
        text = f"{text.rstrip() if on_line else text}{between}{message['content']}"
    return text.removeprefix("\n\n")
