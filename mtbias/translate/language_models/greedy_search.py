"""Greedy answers of a decoder by transformers' ``generate``, a batch of prompts at a time.

Each answer ends by itself: at an end token, at the end of its line if so required, at its own
limit, or where it repeats itself without end. Finished answers leave the batch, so that the others
do not wait for the longest.
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
"""Least tokens of these repetitions together: a table or a row of dots has fewer."""
_CHECKED_EVERY = 8
"""Tokens between two checks of an answer for loops."""
_LEAVING_SHARE = 8
"""Finished answers leave a batch when they are one in this many, since all keys and values are
copied then."""


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
    """Why it ended (`mtbias.translate.language_models.answers.Answer`); None before."""


@dataclass(frozen=True, slots=True)
class EndRules:
    """Where an answer ends before its limit."""

    tokens: Collection[int]
    """Tokens that each end an answer."""
    ends_line: Callable[[Sequence[int]], bool] | None = None
    """Whether an answer of these tokens is at the end of its line; None where answers may have
    several lines."""

    def take(self, answer: Answering, token: int) -> None:
        """Add the next token to an answer, and say in `finish` whether that ended it."""
        if token in self.tokens:
            answer.finish = "stop"
            return
        answer.ids.append(token)
        if self.ends_line is not None and self.ends_line(answer.ids):
            answer.finish = "stop"
        elif len(answer.ids) % _CHECKED_EVERY == 0 and loops(answer.ids):
            answer.finish = "loop"
        elif len(answer.ids) >= answer.question.limit:
            answer.finish = "length"


def loops(ids: Sequence[int]) -> bool:
    """Whether token ids end in a run that is repeated `LOOP_TIMES` times or more, with
    `LOOP_TOKENS` tokens or more in all.

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
        """Search with a model.

        Args:
            model: of transformers.
            pad: token that fills prompts up on the left, masked.
            watch: called with the scores of each step, rows × vocabulary.
        """
        self._model, self._pad, self._watch = model, pad, watch
        self._rows_can_leave = True
        self.row_steps = 0
        """The rows of all steps: what a processor has to compute."""

    def run(self, questions: Sequence[Question], rules: EndRules) -> list[Answering]:
        """The answers to `questions`, all ended."""
        answers = [Answering(question) for question in questions]
        if not self._run(answers, rules):
            # Only now is it known that this model keeps states from which no rows can be removed,
            # such as those of linear attention.
            self._rows_can_leave = False
            answers = [Answering(question) for question in questions]
            self._run(answers, rules)
        return answers

    def _run(self, answers: Sequence[Answering], rules: EndRules) -> bool:
        """Continue all of `answers` to their ends; False where finished rows cannot leave the
        batch.
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
            rows = torch.tensor(staying, device=device)
            tokens, mask = tokens[rows], mask[rows]
            cache.batch_select_indices(rows)
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

        output = self._model.generate(
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
        return output.sequences, output.past_key_values


def _can_leave(cache: Any) -> bool:  # noqa: ANN401 - transformers' keys and values, or None
    """Whether rows can be removed from what a model keeps for a batch."""
    layers = getattr(cache, "layers", None) or ()
    return bool(layers) and all(hasattr(layer, "batch_select_indices") for layer in layers)
