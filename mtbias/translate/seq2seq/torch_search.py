"""Beam search over one of transformers' models: its hypotheses are those of ``model.generate``,
with less work.

``generate`` computes every row of a batch until the last sentence is done, and reorders the keys
and values of the source too, which are the same for all beams of a sentence. Here a sentence that
is done leaves the batch, and only the keys and values of the translation are reordered. Scores, and
the order in which they are rounded, are those of ``generate`` (transformers 5.23,
``GenerationMixin._beam_search`` and ``_sample``); tests hold them against it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mtbias.translate.seq2seq.engine import Bounds, Generated

_NEVER = -1.0e9
"""Added to the score of what must not be chosen; finite as in transformers, since beams that begin
there are added to it and compared."""


@dataclass(frozen=True, slots=True)
class TokenRules:
    """All that a search takes from a checkpoint's generation settings: which tokens begin, end and
    never stand.
    """

    start: int
    """The decoder's first token, which is no part of a translation."""
    ends: tuple[int, ...]
    """Each of them ends a hypothesis."""
    pad: int
    forced_end: int | list[int] | None
    """Comes last in a hypothesis that reaches the most new tokens."""
    never: tuple[tuple[int, ...], ...]
    """Sequences that are never generated (``bad_words_ids``)."""
    renormalised: bool
    """Whether log probabilities are made to sum to one again once `never` is taken away."""

    @classmethod
    def of(cls, model: Any) -> TokenRules:  # noqa: ANN401 - a transformers model
        """Those of a model; what ``generation_config`` leaves out is in ``config``."""
        settings, config = model.generation_config, model.config
        start, pad = (
            getattr(config, name) if getattr(settings, name) is None else getattr(settings, name)
            for name in ("decoder_start_token_id", "pad_token_id")
        )
        ends = settings.eos_token_id
        return cls(
            start=settings.bos_token_id if start is None else start,
            ends=tuple(ends) if isinstance(ends, list) else (ends,),
            pad=pad,
            forced_end=settings.forced_eos_token_id,
            never=tuple(map(tuple, settings.bad_words_ids or ())),
            renormalised=bool(settings.renormalize_logits),
        )


class TorchSearch:
    """Searches with one model."""

    def __init__(self, model: Any, rules: TokenRules, each_step: Callable[[], object]) -> None:  # noqa: ANN401
        """`each_step` is called before each step of the decoder; what it raises ends the search."""
        self._model, self._rules, self._each_step = model, rules, each_step
        self.steps = 0
        """Steps of the decoder until now, of whatever number of rows."""
        self.row_steps = 0
        """The rows of all steps: what a processor has to compute."""

    def run(self, sources: Any, mask: Any, bounds: Bounds, *, watch: bool) -> list[Generated]:  # noqa: ANN401
        """The best hypothesis of each of `sources`, a tensor of token ids that is padded where
        `mask` is 0.

        With `watch` scores that are not numbers are looked for, which takes a per cent or two.
        """
        found: list[Generated | None] = [None] * len(sources)
        state = _Beams(sources.shape[0], bounds, self._rules, sources.device)
        decoder = _Decoder(self._model, sources, mask, bounds.decoding.beams)
        processors = _processors(bounds, self._rules, sources.device)
        while True:
            self._each_step()
            self.steps += 1
            self.row_steps += state.tokens.shape[0] * state.tokens.shape[1]
            rows = state.advance(decoder.scores(state.last), processors, watch=watch)
            for n, hypothesis in state.over():
                found[n] = hypothesis
            if None not in found:
                return [one for one in found if one is not None]
            decoder.keep(rows[state.staying].flatten(), state.staying, len(state.numbers))
            state.leave()


class _Decoder:
    """The model's decoder with the keys and values of the rows that are searched."""

    def __init__(self, model: Any, sources: Any, mask: Any, beams: int) -> None:  # noqa: ANN401
        from transformers.modeling_outputs import BaseModelOutput

        self._model, self._beams = model, beams
        states = model.get_encoder()(
            input_ids=sources, attention_mask=mask, return_dict=True
        ).last_hidden_state
        self._states = BaseModelOutput(last_hidden_state=states.repeat_interleave(beams, dim=0))
        self._mask = mask.repeat_interleave(beams, dim=0)
        self._cache: Any = None

    def scores(self, last: Any) -> Any:  # noqa: ANN401
        """The scores in fp32 of every token after the `last` of each row, rows × vocabulary."""
        made = self._model(
            encoder_outputs=self._states,
            attention_mask=self._mask,
            decoder_input_ids=last,
            past_key_values=self._cache,
            use_cache=True,
            return_dict=True,
        )
        self._cache = made.past_key_values
        return made.logits[:, -1].float()

    def keep(self, rows: Any, staying: Any, before: int) -> None:  # noqa: ANN401
        """Continue with `rows`, which follow those that they were made of; sentences that are not
        `staying` leave.
        """
        import torch

        if len(staying) < before:
            kept = (
                staying[:, None] * self._beams + torch.arange(self._beams, device=rows.device)
            ).flatten()
            self._cache.cross_attention_cache.reorder_cache(kept)
            self._states.last_hidden_state = self._states.last_hidden_state[kept]
            self._mask = self._mask[kept]
        elif self._beams == 1:
            return
        self._cache.self_attention_cache.reorder_cache(rows)


class _Beams:
    """The hypotheses of the sentences that are not done: n sentences × beams."""

    def __init__(self, count: int, bounds: Bounds, rules: TokenRules, device: Any) -> None:  # noqa: ANN401
        import torch

        self._bounds, self._rules = bounds, rules
        beams = self._beams = bounds.decoding.beams
        self._early = (
            bounds.decoding.early_stopping or beams == 1
        )  # greedy: the first end is the end
        self.numbers = list(range(count))
        """Which sentences these are."""
        self.tokens = torch.full((count, beams, 1), rules.start, dtype=torch.int64, device=device)
        """Of the running hypotheses, the start token included."""
        self._running = torch.full((count, beams), _NEVER, dtype=torch.float32, device=device)
        self._running[:, 0] = (
            0.0  # all beams are the same before the first step: only one is continued
        )
        self._finished = torch.full(
            (count, beams, bounds.limit + 1), rules.pad, dtype=torch.int64, device=device
        )
        self._lengths = torch.zeros((count, beams), dtype=torch.int64, device=device)
        """New tokens of each finished hypothesis; 0 where there is none yet."""
        self._scores = torch.full((count, beams), _NEVER, dtype=torch.float32, device=device)
        self._bad = torch.zeros(count, dtype=torch.bool, device=device)
        self._ends = torch.tensor(rules.ends, dtype=torch.int64, device=device)
        self.staying: Any = None
        """Places of the sentences that are not done after this step."""

    @property
    def last(self) -> Any:  # noqa: ANN401
        """The last token of each row, rows × 1."""
        return self.tokens[:, :, -1].flatten()[:, None]

    def advance(self, logits: Any, processors: Any, *, watch: bool) -> Any:  # noqa: ANN401
        """Choose the next tokens; gives the row that each row continues, sentences × beams."""
        import torch

        count, beams, length = (
            self.tokens.shape
        )  # `length` is also the number of new tokens after this step
        flat = self.tokens.view(count * beams, length)
        scores = processors(flat, logits if beams == 1 else logits.log_softmax(dim=-1)).view(
            count, beams, -1
        )
        if watch:
            self._bad |= scores.isnan().flatten(1).any(dim=1)
        size = scores.shape[-1]
        if beams > 1:
            scores += self._running[
                :, :, None
            ]  # a copy by now: of the softmax, or of what processors made of it
        best, places = torch.topk(
            scores.view(count, beams * size), k=max(2, 1 + len(self._ends)) * beams
        )
        beam, token = places // size, places % size
        ended = (
            torch.isin(token, self._ends)
            if length < self._bounds.limit
            else torch.ones_like(token, dtype=bool)
        )
        continued = torch.cat(
            [self.tokens.gather(1, beam[:, :, None].expand(-1, -1, length)), token[:, :, None]], 2
        )
        self._finish(best, continued, ended)
        open_ = best + ended.to(torch.float32) * _NEVER
        chosen = torch.topk(open_, k=beams)[1]
        self.tokens = continued.gather(1, chosen[:, :, None].expand(-1, -1, length + 1))
        if beams > 1:
            self._running = open_.gather(1, chosen)
        first = torch.arange(count, device=beam.device)[:, None] * beams
        return beam.gather(1, chosen) + first

    def _finish(self, best: Any, continued: Any, ended: Any) -> None:  # noqa: ANN401
        """Put those of the best that have `ended` among the finished, of which as many are kept as
        there are beams.
        """
        import torch

        beams, new = self._beams, continued.shape[2] - 1
        first = best[:, :beams] / (
            new**self._bounds.decoding.length_penalty
        )  # the others are there to be continued
        first = first + (~ended[:, :beams]).to(torch.float32) * _NEVER
        merged = torch.cat([self._scores, first], dim=1)
        chosen = torch.topk(merged, k=beams)[1]
        lengths = torch.cat([self._lengths, ended[:, :beams] * new], dim=1)
        added = torch.full_like(self._finished, self._rules.pad)
        added[:, :, : new + 1] = continued[:, :beams]
        both = torch.cat([self._finished, added], dim=1)
        self._scores, self._lengths = merged.gather(1, chosen), lengths.gather(1, chosen)
        self._finished = both.gather(1, chosen[:, :, None].expand(-1, -1, both.shape[2]))

    def over(self) -> Iterator[tuple[int, Generated]]:
        """The sentences that are done after this step, or given up, by number."""
        import torch

        new = self.tokens.shape[2] - 1
        possible = self._running[:, :1] / (new**self._bounds.decoding.length_penalty)
        full = (self._lengths > 0).all(dim=1)
        worst = torch.where(full, self._scores.min(dim=1)[0], _NEVER)[:, None]
        done = ~(possible > worst).any(dim=1) | (full & self._early)
        if new >= self._bounds.limit:
            done = torch.ones_like(done)
        given_up = self._bounds.stop is not None and new >= self._bounds.stop
        leaving = torch.ones_like(done) if given_up else done
        self.staying = (~leaving).nonzero()[:, 0]
        if len(self.staying) == len(self.numbers):
            return
        rows = self._finished[:, 0, 1:].tolist()
        facts = zip(
            leaving.tolist(),
            done.tolist(),
            self._lengths[:, 0].tolist(),
            self._bad.tolist(),
            strict=True,
        )
        for n, (leaves, is_done, length, bad) in enumerate(facts):
            if leaves:
                ids = tuple(rows[n][:length]) if is_done else ()
                yield (
                    self.numbers[n],
                    Generated(ids, len(ids) >= self._bounds.limit, not bad, is_done, new),
                )

    def leave(self) -> None:
        """Continue with those that stay."""
        staying = self.staying
        if len(staying) == len(self.numbers):
            return
        self.numbers = [self.numbers[n] for n in staying.tolist()]
        self.tokens, self._running, self._bad = (
            self.tokens[staying],
            self._running[staying],
            self._bad[staying],
        )
        self._finished, self._lengths = self._finished[staying], self._lengths[staying]
        self._scores = self._scores[staying]


def _processors(bounds: Bounds, rules: TokenRules, device: Any) -> Any:  # noqa: ANN401
    """What transformers makes of `rules`, in its order."""
    from transformers.generation import logits_process as known

    made: list[Any] = []
    if rules.never:
        never: Sequence[list[int]] = [list(ids) for ids in rules.never]
        made.append(known.NoBadWordsLogitsProcessor(never, eos_token_id=list(rules.ends)))
    if bounds.forced is not None:
        made.append(known.ForcedBOSTokenLogitsProcessor(bounds.forced))
    if rules.forced_end is not None:
        made.append(
            known.ForcedEOSTokenLogitsProcessor(bounds.limit + 1, rules.forced_end, device=device)
        )
    if rules.renormalised:
        made.append(known.LogitNormalization())
    return known.LogitsProcessorList(made)
