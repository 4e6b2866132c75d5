"""A second or two of training for the small checkpoints of `checkpoints`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

_WIDTH = 0.7
"""Matrices start with this standard deviation over the root of their inputs: with 0.02 they learn
too slowly."""
_STEPS = 50
_BATCH = 16
_RATE = 0.007
_STEPS_OF_TWO = 190
_WARM, _FULL = 50, 120
"""There the rate rises until the one step and falls from the other on."""


@dataclass(frozen=True)
class Lesson:
    """Sentences and their translations, with the languages as the checkpoint names them."""

    sources: Sequence[str]
    targets: Sequence[str]
    read: str = ""
    """The tokenizer's ``src_lang``; "" leaves it as it is, and ``tgt_lang`` too."""
    write: str = ""
    prefix: str = ""
    """What stands in front of every source."""


def _encoded(tokenizer: Any, lessons: Sequence[Lesson]) -> tuple[list[list[int]], list[list[int]]]:
    sources: list[list[int]] = []
    targets: list[list[int]] = []
    for lesson in lessons:
        if lesson.read:
            tokenizer.src_lang, tokenizer.tgt_lang = lesson.read, lesson.write
        sources += tokenizer([lesson.prefix + text for text in lesson.sources])["input_ids"]
        targets += tokenizer(text_target=list(lesson.targets))["input_ids"]
    return sources, targets


def train(model: Any, tokenizer: Any, lessons: Sequence[Lesson]) -> None:
    """A few steps of Adam on the grammar's sentences, one thread; more where there are several
    lessons."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    pad, start = model.config.pad_token_id, model.config.decoder_start_token_id
    sources, targets = _encoded(tokenizer, lessons)
    order = sorted(range(len(targets)), key=lambda n: len(targets[n]))
    _widen(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=_RATE, betas=(0.9, 0.98))
    model.eval()  # without dropout
    one = len(lessons) == 1
    for step in range(1, 1 + (_STEPS if one else _STEPS_OF_TWO)):
        if not one:
            optimizer.param_groups[0]["lr"] = _RATE * min(1.0, step / _WARM, (_FULL / step) ** 2)
        first = int(torch.randint(0, len(order) - _BATCH + 1, ()))
        rows = order[first : first + _BATCH]
        read = _padded([sources[n] for n in rows], pad)
        given = _padded([[start, *targets[n][:-1]] for n in rows], pad)
        wanted = _padded([targets[n] for n in rows], -100)
        scores = model(
            input_ids=read, attention_mask=(read != pad).long(), decoder_input_ids=given
        ).logits
        loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), wanted.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        _zero_padding(model)
    torch.set_num_threads(threads)


def _widen(model: Any) -> None:
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if weights.dim() == 2 and "embed_positions" not in name:
                inputs = weights.shape[1]
                weights.normal_(0.0, _WIDTH * inputs**-0.5)
    _zero_padding(model)


def _zero_padding(model: Any) -> None:
    """Marian's decoder starts with padding, whose embedding is zero in real checkpoints (and so is
    its score)."""
    if model.config.model_type == "marian":
        with torch.no_grad():
            model.get_input_embeddings().weight[model.config.pad_token_id] = 0.0


def _padded(rows: Sequence[Sequence[int]], pad: int) -> torch.Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[pad] * (longest - len(row))] for row in rows])
