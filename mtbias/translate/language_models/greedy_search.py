"""Greedy answers of a decoder by transformers' ``generate``, a batch of prompts at a time.

Each answer ends by itself: at a token that ends it, at the end of its line where that is asked
for, at its own limit, or where it repeats itself without end. Answers that have ended leave the
batch, so that the others do not wait for the longest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

LOOP_TIMES = 4
"""Repetitions in a row from which on an answer counts as stuck, as in
`mtbias.translate.text_language.is_repetitive`."""
LOOP_TOKENS = 32
"""The tokens that these have together at least: a table, or a row of dots, ends before."""
_LOOKED_EVERY = 8
"""Tokens after which an answer is looked at again."""
_LEAVING_SHARE = 8
"""One in so many answers has ended when they leave the batch: each time all keys and values are
copied."""


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt and how long its answer may be."""

    ids: Sequence[int]
    """Token ids of the prompt."""
    limit: int
    """Most tokens of the answer."""


@dataclass(slots=True)
class Answering:
    """An answer in the making."""

    question: Question
    ids: list[int] = field(default_factory=list)
    """Its tokens, without the one that ended it."""
    finish: str | None = None
    """Why it ended (`mtbias.translate.language_models.answers.Answer`); None while it is made."""


@dataclass(frozen=True, slots=True)
class EndRules:
    """Where an answer ends before its limit."""

    tokens: Collection[int]
    """Each of them ends an answer."""
    ends_line: Callable[[Sequence[int]], bool] | None = None
    """Whether an answer of these tokens is at the end of its line; None where it may have
    several."""

    def take(self, answer: Answering, token: int) -> None:
        """Add the next token to an answer, and say in `finish` whether that ended it."""
        if token in self.tokens:
            answer.finish = "stop"
            return
        answer.ids.append(token)
        if self.ends_line is not None and self.ends_line(answer.ids):
            answer.finish = "stop"
        elif len(answer.ids) % _LOOKED_EVERY == 0 and loops(answer.ids):
            answer.finish = "loop"
        elif len(answer.ids) >= answer.question.limit:
            answer.finish = "length"


def loops(ids: Sequence[int]) -> bool:
    """Whether token ids end in one run of them that stands `LOOP_TIMES` times in a row or more, in
    `LOOP_TOKENS` tokens or more.

    Source: our own definition.
    """
    for period in range(1, len(ids) // LOOP_TIMES + 1):
        length = max(LOOP_TIMES * period, LOOP_TOKENS)
        if length <= len(ids) and ids[-length:-period] == ids[period - length :]:
            return True
    return False


class GreedySearch:
    """Answers of one model: the likeliest token each time."""

    def __init__(
        self,
        model: Any,  # noqa: ANN401 - of transformers
        *,
        pad: int,
        watch: Callable[[Any], None],
    ) -> None:
        """`pad` fills prompts up on the left, masked; `watch` is given the scores of each step,
        rows × vocabulary.
        """
        self._model, self._pad, self._watch = model, pad, watch
        self._rows_can_leave = True
        self.row_steps = 0
        """The rows of all steps: what a processor has to compute."""

    def run(self, questions: Sequence[Question], rules: EndRules) -> list[Answering]:
        """The answers to `questions`, all ended."""
        answers = [Answering(question) for question in questions]
        if not self._run(answers, rules):
            # Only now is it known that this model keeps something of which no rows can be taken
            # away, such as the states of linear attention.
            self._rows_can_leave = False
            answers = [Answering(question) for question in questions]
            self._run(answers, rules)
        return answers

    def _run(self, answers: Sequence[Answering], rules: EndRules) -> bool:
        """Continue all of `answers` to their ends; False where rows would have to leave and
        cannot.
        """
        import torch

        device = self._model.device
        longest = max(len(answer.question.ids) for answer in answers)
        padding = [longest - len(answer.question.ids) for answer in answers]
        ids = [
            [*[self._pad] * pad, *answer.question.ids]
            for pad, answer in zip(padding, answers, strict=True)
        ]
        running = list(answers)
        tokens = torch.tensor(ids, device=device)
        mask = torch.tensor([[0] * pad + [1] * (longest - pad) for pad in padding], device=device)
        cache = None
        while True:
            before = tokens.shape[1]
            tokens, cache = self._generate(running, rules, tokens, mask, cache)
            staying = [n for n, answer in enumerate(running) if answer.finish is None]
            if not staying:
                return True
            if not _can_leave(cache):
                return False
            mask = torch.nn.functional.pad(mask, (0, tokens.shape[1] - before), value=1)
            kept = torch.tensor(staying, device=device)
            tokens, mask = tokens[kept], mask[kept]
            cache.batch_select_indices(kept)
            running = [running[n] for n in staying]

    def _generate(
        self,
        running: Sequence[Answering],
        rules: EndRules,
        tokens: Any,  # noqa: ANN401 - a tensor
        mask: Any,  # noqa: ANN401
        cache: Any,  # noqa: ANN401 - transformers' keys and values
    ) -> tuple[Any, Any]:
        """Continue some answers until some of them have ended; gives all tokens and the cache."""
        import torch
        from transformers import GenerationConfig, LogitsProcessorList, StoppingCriteriaList

        enough = math.ceil(len(running) / _LEAVING_SHARE) if self._rows_can_leave else len(running)

        def enough_ended(ids: Any, _: object, **__: object) -> Any:  # noqa: ANN401 - tensors
            for answer, token in zip(running, ids[:, -1].tolist(), strict=True):
                if answer.finish is None:
                    rules.take(answer, token)
            ended = sum(answer.finish is not None for answer in running)
            return torch.full((len(running),), ended >= enough, device=ids.device)

        def watch(_: object, scores: Any) -> Any:  # noqa: ANN401 - a logits processor
            self.row_steps += len(scores)
            self._watch(scores)
            return scores

        made = self._model.generate(
            input_ids=tokens,
            attention_mask=mask,
            past_key_values=cache,
            generation_config=GenerationConfig(
                do_sample=False,
                max_new_tokens=max(answer.question.limit - len(answer.ids) for answer in running),
                pad_token_id=self._pad,
                return_dict_in_generate=True,
            ),
            logits_processor=LogitsProcessorList([watch]),
            stopping_criteria=StoppingCriteriaList([enough_ended]),
        )
        return made.sequences, made.past_key_values


def _can_leave(cache: Any) -> bool:  # noqa: ANN401 - transformers' keys and values, or None
    """Whether rows can be taken away from what a model keeps of a batch."""
    layers = getattr(cache, "layers", None) or ()
    return bool(layers) and all(hasattr(layer, "batch_select_indices") for layer in layers)
