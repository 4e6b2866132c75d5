"""Beam search over one of transformers' models: its hypotheses are those of ``model.generate``,
with less work.

``generate`` computes every row of a batch until the last sentence is done, repeats the source for
every beam and reorders all keys and values at every step. Here a sentence that is done leaves the
batch, and its beams share what they have in common (`mtbias.translate.seq2seq.beam_pool`). Of all
scores over the vocabulary only the best of each row are compared. The rules are those of
``generate`` (transformers 5.23, ``GenerationMixin._beam_search`` and ``_sample``); tests hold the
hypotheses against it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mtbias.translate.seq2seq.engine import Bounds, Generated

if TYPE_CHECKING:
    from mtbias.translate.seq2seq.beam_pool import PooledDecoder
    from mtbias.translate.seq2seq.recorded_step import Recordings

_NEVER = -1.0e9
"""Score of what must not be chosen; finite as in transformers, since beams that begin there are
added to it and compared."""


@dataclass(frozen=True, slots=True)
class TokenRules:
    """A checkpoint's generation settings for a search: tokens at the beginning and end, and
    forbidden ones.
    """

    start: int
    """The decoder's first token, which is not part of a translation."""
    ends: tuple[int, ...]
    """Tokens that each end a hypothesis."""
    pad: int
    forced_end: int | list[int] | None
    """The last token of a hypothesis that reaches the most new tokens."""
    never: tuple[tuple[int, ...], ...]
    """Sequences that are never generated (``bad_words_ids``)."""
    renormalised: bool
    """Whether probabilities are normalised again without `never`."""

    @classmethod
    def from_model(cls, model: Any) -> TokenRules:  # noqa: ANN401 - a transformers model
        """The rules of a model; ``config`` has what ``generation_config`` leaves out."""
        settings, config = model.generation_config, model.config

        def setting(name: str) -> Any:  # noqa: ANN401 - a token id, or None
            value = getattr(settings, name)
            return getattr(config, name) if value is None else value

        start, ends = setting("decoder_start_token_id"), settings.eos_token_id
        return cls(
            start=settings.bos_token_id if start is None else start,
            ends=tuple(ends) if isinstance(ends, list) else (ends,),
            pad=setting("pad_token_id"),
            forced_end=settings.forced_eos_token_id,
            never=tuple(map(tuple, settings.bad_words_ids or ())),
            renormalised=bool(settings.renormalize_logits),
        )


class TorchSearch:
    """Searches with one model."""

    def __init__(
        self,
        model: Any,  # noqa: ANN401
        rules: TokenRules,
        each_step: Callable[[], object],
        recordings: Recordings | None = None,
    ) -> None:
        """Search with a model.

        `each_step` is called before each step of the decoder; an exception of it ends the search.
        With `recordings` steps are replayed.
        """
        self._model, self._rules, self._each_step = model, rules, each_step
        self._recordings = recordings
        self.steps = 0
        """Steps of the decoder so far, with any number of rows."""
        self.row_steps = 0
        """The sum of the rows of all steps."""

    def run(
        self,
        sources: Any,  # noqa: ANN401
        mask: Any,  # noqa: ANN401
        bounds: Bounds,
        *,
        watch: bool,
    ) -> list[Generated]:
        """The best hypothesis of each of `sources`, a tensor of token ids that is padded where
        `mask` is 0.

        With `watch`, results whose scores are not numbers are marked.
        """
        results: list[Generated | None] = [None] * len(sources)
        state = _Beams(sources.shape[0], bounds, self._rules, sources.device)
        decoder = self._decoder(sources, mask, bounds.decoding.beams)
        scores = _TokenScores(bounds, self._rules, sources.device)
        while True:
            self._each_step()
            self.steps += 1
            rows = state.rows
            self.row_steps += len(rows)
            after_rows = scores.after(rows, decoder.scores(rows[:, -1:]))
            parents = state.advance(after_rows, watch=watch)
            for n, hypothesis in state.over():
                results[n] = hypothesis
            if None not in results:
                return [result for result in results if result is not None]
            decoder.keep(parents[state.staying], state.staying)
            state.leave()

    def _decoder(self, sources: Any, mask: Any, beams: int) -> PooledDecoder:  # noqa: ANN401
        if self._recordings is not None:
            from mtbias.translate.seq2seq.recorded_step import RecordedDecoder

            return RecordedDecoder(self._model, sources, mask, beams, self._recordings)
        from mtbias.translate.seq2seq.beam_pool import PooledDecoder

        return PooledDecoder(self._model, sources, mask, beams)


class _TokenScores:
    """The scores of all next tokens under a checkpoint's rules, in fp32."""

    def __init__(self, bounds: Bounds, rules: TokenRules, device: Any) -> None:  # noqa: ANN401
        import torch

        self._bounds, self._rules = bounds, rules
        prefixes: defaultdict[int, list[Any]] = defaultdict(list)
        for *prefix, last in rules.never:
            # A checkpoint that forbids its end means padding; transformers ignores it.
            if prefix or last not in rules.ends:
                prefixes[last].append(torch.tensor(prefix, dtype=torch.int64, device=device))
        self._prefixes = prefixes
        """For every token that may be forbidden, the prefixes after which it is."""
        self._columns = torch.tensor([*prefixes], dtype=torch.int64, device=device)
        self._memory: Any = None

    def after(self, rows: Any, logits: Any) -> Any:  # noqa: ANN401
        """Log probabilities of the tokens after `rows` by their `logits`, rows × vocabulary; with
        one beam the logits themselves, which have the same order.

        They are valid until the next call.
        """
        forced = self._forced(rows.shape[1])
        if forced:
            logits.fill_(float("-inf"))
            logits[:, forced] = -math.log(len(forced)) if self._rules.renormalised else 0.0
            return logits
        if self._bounds.decoding.beams == 1:
            return self._without_forbidden(logits, rows)
        if self._rules.renormalised:
            return self._normalised(self._without_forbidden(logits, rows))
        return self._without_forbidden(self._normalised(logits), rows)

    def _forced(self, length: int) -> list[int]:
        """The tokens of which one must come after `length` tokens, the decoder's start included;
        empty where any may.
        """
        end = self._rules.forced_end
        if length == self._bounds.limit and end is not None:
            return end if isinstance(end, list) else [end]
        if length == 1 and self._bounds.forced is not None:
            return [self._bounds.forced]
        return []

    def _normalised(self, logits: Any) -> Any:  # noqa: ANN401
        import torch

        if self._memory is None or len(self._memory) < len(logits):
            self._memory = torch.empty_like(logits)
        return torch.log_softmax(logits, dim=-1, out=self._memory[: len(logits)])

    def _without_forbidden(self, scores: Any, rows: Any) -> Any:  # noqa: ANN401
        """`scores` in place, with minus infinity for tokens that may not come after `rows`."""
        import torch

        if not self._prefixes:
            return scores
        forbidden = torch.zeros(len(rows), len(self._columns), dtype=torch.bool, device=rows.device)
        for n, prefixes in enumerate(self._prefixes.values()):
            for prefix in prefixes:
                if len(prefix) <= rows.shape[1]:
                    end = rows[:, rows.shape[1] - len(prefix) :]
                    forbidden[:, n] |= (end == prefix).all(dim=1)
        scores[:, self._columns] = scores[:, self._columns].masked_fill(forbidden, float("-inf"))
        return scores


_CHUNK = 128
"""Tokens of a chunk, of which first only the best score is compared."""


def best_of_rows(scores: Any, count: int) -> tuple[Any, Any]:  # noqa: ANN401
    """The `count` best `scores` of each row, or all if there are fewer, with their places; the best
    first.

    The best of a row are in the chunks with the highest maxima, so that one pass over the scores is
    enough and few are sorted.
    """
    import torch

    rows, size = scores.shape
    chunks = size // _CHUNK
    if chunks <= count:
        best = torch.topk(scores, min(count, size))
        return best.values, best.indices
    whole = scores[:, : chunks * _CHUNK].view(rows, chunks, _CHUNK)
    places = torch.topk(whole.amax(dim=2), count).indices
    inside = torch.arange(_CHUNK, device=scores.device)
    rest = torch.arange(chunks * _CHUNK, size, device=scores.device).expand(rows, -1)
    candidates = whole.gather(1, places[:, :, None].expand(-1, -1, _CHUNK)).flatten(1)
    tokens = (places[:, :, None] * _CHUNK + inside).flatten(1)
    candidates = torch.cat([candidates, scores[:, chunks * _CHUNK :]], dim=1)
    best = torch.topk(candidates, count)
    return best.values, torch.cat([tokens, rest], dim=1).gather(1, best.indices)


class _Beams:
    """The hypotheses of the sentences that are not done: n sentences × beams."""

    def __init__(
        self,
        count: int,
        bounds: Bounds,
        rules: TokenRules,
        device: Any,  # noqa: ANN401
    ) -> None:
        import torch

        self._bounds, self._rules = bounds, rules
        beams = self._beams = bounds.decoding.beams
        self._early = bounds.decoding.early_stopping or beams == 1  # greedy ends at the first end
        self.numbers = list(range(count))
        """The numbers of the sentences."""
        self.tokens = torch.full((count, beams, 1), rules.start, dtype=torch.int64, device=device)
        """Tokens of the running hypotheses, the start token included."""
        self._running = torch.full((count, beams), _NEVER, dtype=torch.float32, device=device)
        self._running[:, 0] = 0.0  # before the first step all beams are the same: one is continued
        self._finished = torch.full(
            (count, beams, bounds.limit + 1), rules.pad, dtype=torch.int64, device=device
        )
        self._lengths = torch.zeros((count, beams), dtype=torch.int64, device=device)
        """New tokens of each finished hypothesis; 0 if there is none."""
        self._scores = torch.full((count, beams), _NEVER, dtype=torch.float32, device=device)
        self._bad = torch.zeros(count, dtype=torch.bool, device=device)
        self._ends = torch.tensor(rules.ends, dtype=torch.int64, device=device)
        self.staying: Any = None
        """Places of the sentences that are not done after this step (`places_of_staying`)."""

    @property
    def rows(self) -> Any:  # noqa: ANN401
        """The tokens of each row to compute, rows × tokens: one row for a sentence whose beams are
        all the same, else one for each beam.
        """
        same = self.tokens.shape[2] == 1
        return self.tokens[:, 0] if same else self.tokens.flatten(0, 1)

    def advance(self, scores: Any, *, watch: bool) -> Any:  # noqa: ANN401
        """Choose the next tokens by the `scores` of each of the `rows`; gives the beam that each
        beam continues, sentences × beams.
        """
        import torch

        # `length` is also the number of new tokens after this step.
        count, beams, length = self.tokens.shape
        most = max(2, 1 + len(self._ends)) * beams
        best, token = best_of_rows(scores, most)
        if watch:  # NaN sorts above all numbers
            self._bad |= best[:, 0].isnan().view(count, -1).any(dim=1)
        each = best.shape[1]
        best = best.view(count, -1, each).expand(-1, beams, -1)
        token = token.view(count, -1, each).expand(-1, beams, -1).flatten(1)
        if beams > 1:
            best = best + self._running[:, :, None]
        best, places = torch.topk(best.flatten(1), k=most)
        beam, token = places // each, token.gather(1, places)
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
        return beam.gather(1, chosen)

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
        self.staying = places_of_staying(leaving)
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


def places_of_staying(leaving: Any) -> Any:  # noqa: ANN401
    """The sentences that stay, in an order in which few must move: the last ones fill the gaps.

    For example 0, 4, 2 of five sentences, when 1 and 3 leave.
    """
    import torch

    staying = (~leaving).nonzero()[:, 0]
    count = len(staying)
    places = torch.arange(count, device=leaving.device)
    gaps = leaving[:count].nonzero()[:, 0]
    places[gaps] = staying[count - len(gaps) :]
    return places
