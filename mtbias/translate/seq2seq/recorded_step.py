"""Steps of a decoder in fixed memory and with few shapes, which a GPU replays from recordings.

A step of a decoder is some hundred kernels that take a GPU less time than Python needs to start
them. A CUDA graph starts all of them at once, but only again at the same addresses with the same
shapes. So here the pool of `mtbias.translate.seq2seq.beam_pool` has room for a batch from its
second step on, and everything that changes between steps is in tensors: the last tokens, the mask
of ancestors, the position and the filled slots. Sentences and slots are rounded up; unused rows and
slots are masked or not read. The step for a number of sentences and slots is computed the first
time, recorded the second time, and then replayed.

The rules of the search are not part of a recording, nor are the scores over the vocabulary, which
need few kernels and much memory. The additional rows change the rounding of products, so in 16 bits
some translations differ from those without recordings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import torch

from mtbias.translate.seq2seq.batches import eighth
from mtbias.translate.seq2seq.beam_pool import PooledDecoder, PoolLayer, additive

Step = Callable[[], torch.Tensor]
"""Computes the decoder's last states, rows × size, from fixed memory."""
_STEPS = 16
"""Steps, and tokens of a source, by which shapes grow."""
_MORE = 20
"""Tokens of a translation beyond those of its source for which there is room at first."""


def cuda_graphs() -> Callable[[Step], Step]:
    """A function that records a step as a CUDA graph, without computing it, and gives its replay.

    The graphs share memory for intermediate results: the result of one must be read before another
    is replayed.
    """
    pool, stream = torch.cuda.graph_pool_handle(), torch.cuda.Stream()

    def record(step: Step) -> Step:
        graph = torch.cuda.CUDAGraph()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            # Other threads may use the GPU meanwhile.
            graph.capture_begin(pool=pool, capture_error_mode="thread_local")
            try:
                states = step()
            finally:
                graph.capture_end()
        torch.cuda.current_stream().wait_stream(stream)

        def replay() -> torch.Tensor:
            graph.replay()
            return states

        return replay

    return record


class Recordings:
    """The recorded steps of one model, and the memory in which they work."""

    def __init__(
        self,
        model: Any,  # noqa: ANN401
        record: Callable[[Step], Step] | None,
    ) -> None:
        """`record` is of `cuda_graphs`; without it no step is recorded."""
        self._record = record
        self._memory: _Memory | None = None
        self._replays: dict[tuple[int, int], Step | None] = {}
        """Replays by sentences and slots; None for a step that was computed once."""
        decoder = model.get_decoder()
        self._positions: _Positions | None = None
        if hasattr(getattr(decoder, "embed_positions", None), "make_weights"):
            self._positions = decoder.embed_positions = _Positions(decoder.embed_positions)

    def clear(self) -> None:
        """Free the memory."""
        self._replays.clear()
        self._memory = None

    def memory(
        self,
        layout: tuple[int, int, int],
        cache: Any,  # noqa: ANN401
        beams: int,
    ) -> _Memory:
        """Memory for a layout of sentences, slots and source tokens; the earlier one if it has this
        layout.
        """
        held = self._memory
        if held is None or (held.layout, held.beams) != (layout, beams):
            self.clear()
            if self._positions is not None:
                self._positions.reach(layout[1] // beams + 1)
            held = self._memory = _Memory(layout, cache, beams)
        return held

    def run(self, sentences: int, slots: int, step: Step) -> torch.Tensor:
        """The result of a step, replayed if it was recorded."""
        shape = sentences, slots
        if self._record is None or shape not in self._replays:
            self._replays[shape] = None
            return step()
        replay = self._replays[shape]
        if replay is None:
            replay = self._replays[shape] = self._record(step)
        return replay()


class _Memory:
    """The tensors that a step reads and writes, at the same addresses for all batches of a
    layout.
    """

    def __init__(
        self,
        layout: tuple[int, int, int],
        cache: Any,  # noqa: ANN401
        beams: int,
    ) -> None:
        """`layout` is sentences, slots, source tokens; `cache` determines layers, heads, sizes and
        types.
        """
        self.layout, self.beams = layout, beams
        sentences, slots, tokens = layout
        own, across = cache.self_attention_cache.layers, cache.cross_attention_cache.layers
        first = own[0].keys

        def empty(like: torch.Tensor, length: int) -> torch.Tensor:
            return like.new_empty(sentences, like.shape[1], length, like.shape[3])

        self.own = [(empty(each.keys, slots), empty(each.values, slots)) for each in own]
        self.across = [(empty(each.keys, tokens), empty(each.values, tokens)) for each in across]
        self.mask = first.new_empty(sentences, 1, beams, slots)
        self.source_mask = first.new_empty(sentences, 1, 1, tokens)
        self.last = torch.empty(sentences * beams, 1, dtype=torch.int64, device=first.device)
        self.position = torch.empty((), dtype=torch.int64, device=first.device)
        self.new_slots = torch.empty(beams, dtype=torch.int64, device=first.device)

    def fill(self, pools: Sequence[torch.Tensor], masks: Sequence[torch.Tensor]) -> None:
        """Copy the first sentences, slots and tokens, in the order of `_pools`, and their additive
        masks of slots and of tokens; the rest becomes zero and is masked.

        No earlier value stays, since zero times NaN is NaN.
        """
        for held, new in zip(self._pools(), pools, strict=True):
            held.zero_()
            held[: len(new), :, : new.shape[2]] = new
        for held, new in zip((self.mask, self.source_mask), masks, strict=True):
            held.fill_(torch.finfo(held.dtype).min)
            held[: len(new), :, :, : new.shape[3]] = new
        self.last.zero_()
        slots = masks[0].shape[3]
        self.position.fill_((slots - 1) // self.beams + 1)
        torch.arange(slots, slots + self.beams, out=self.new_slots)

    def move(self, targets: torch.Tensor, origins: torch.Tensor) -> None:
        """Put sentences in the places of others."""
        for held in (self.mask, self.source_mask, *self._pools()):
            held[targets] = held[origins]

    def _pools(self) -> list[torch.Tensor]:
        """Keys and values of each layer's self-attention, then of each one's cross-attention."""
        return [*chain(*self.own), *chain(*self.across)]


class _FixedLayer(PoolLayer):
    """The pool of one layer's self-attention, filled at the places of a tensor."""

    def __init__(self, memory: _Memory) -> None:
        super().__init__()
        self._memory, self.is_initialized = memory, True

    def get_seq_length(self) -> torch.Tensor:
        """The position of the next token."""
        return self._memory.position

    def update(
        self,
        key_states: torch.Tensor,
        value_states: torch.Tensor,
        *_: Any,  # noqa: ANN401
        **__: Any,  # noqa: ANN401
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """See `PoolLayer`."""
        beams = self._memory.beams
        for pool, states in ((self.keys, key_states), (self.values, value_states)):
            new = states.squeeze(2).unflatten(0, (-1, beams)).transpose(1, 2)
            pool.index_copy_(2, self._memory.new_slots, new)
        return self.keys, self.values


class RecordedDecoder(PooledDecoder):
    """A `PooledDecoder` whose steps, from the second on, are those of `Recordings`."""

    def __init__(
        self,
        model: Any,  # noqa: ANN401
        sources: torch.Tensor,
        mask: torch.Tensor,
        beams: int,
        recordings: Recordings,
    ) -> None:
        super().__init__(model, sources, mask, beams)
        self._recordings, self._beams = recordings, beams
        self._memory: _Memory | None = None
        self._count, self._slots = len(sources), 1
        """Sentences, and filled slots."""
        self._expected = 1 + beams * (sources.shape[1] + _MORE)
        own = torch.eye(beams, dtype=torch.bool, device=mask.device)
        self._own = additive(own, self._states.dtype)

    def scores(self, last: torch.Tensor) -> torch.Tensor:
        """See `PooledDecoder`."""
        memory = self._memory
        if memory is None:
            return super().scores(last)
        most, room, _ = memory.layout
        sentences = most
        while sentences > 1 and _up(sentences, 2) // 2 >= self._count:
            sentences = _up(sentences, 2) // 2
        self._slots += self._beams
        slots = min(room, _up(self._slots, _STEPS * self._beams))
        memory.last[: len(last)] = last
        states = self._recordings.run(
            sentences, slots, lambda: self._step(memory, sentences, slots)
        )
        return self._head(states[: len(last)])

    def _step(self, memory: _Memory, sentences: int, slots: int) -> torch.Tensor:
        self._show(memory, sentences, slots)
        output = self._decoder(
            input_ids=memory.last[: sentences * self._beams],
            attention_mask=memory.mask[:sentences, :, :, :slots],
            encoder_hidden_states=self._states,  # not read: their keys and values are there
            encoder_attention_mask=memory.source_mask[:sentences],
            past_key_values=self._cache,
            use_cache=True,
            return_dict=True,
        )
        memory.position += 1
        memory.new_slots += self._beams
        return output.last_hidden_state[:, -1]

    def keep(self, parents: torch.Tensor, staying: torch.Tensor) -> None:
        """See `PooledDecoder`."""
        before, self._count = self._count, len(staying)
        memory = self._memory
        if memory is None:
            if self._count < before:
                self._leave(staying)
            # All beams continue the one row of the first step.
            mask = self._own.new_zeros(self._count, 1, self._beams, 1)
            memory = self._move_in(self._expected, mask, self._source_mask)
        elif self._count < before:
            gaps = (staying >= self._count).nonzero()[:, 0]
            memory.move(gaps, staying[gaps])
        if self._slots + self._beams > memory.layout[1]:
            # Python last saw the slots of a computed step.
            self._show(memory, *memory.layout[:2])
            mask = memory.mask[: self._count, :, :, : self._slots]
            memory = self._move_in(2 * memory.layout[1], mask, memory.source_mask[: self._count])
        mask = memory.mask[: self._count, 0]
        past, new = mask[:, :, : self._slots], mask[:, :, self._slots :][:, :, : self._beams]
        past.copy_(past.gather(1, parents[:, :, None].expand(past.shape)))
        new.copy_(self._own)

    def _move_in(self, slots: int, *masks: torch.Tensor) -> _Memory:
        """Copy the state of the sentences into memory with room for `slots`."""
        count, caches = self._count, self._cache
        own, across = caches.self_attention_cache, caches.cross_attention_cache
        tokens = across.layers[0].keys.shape[2]
        layout = _up(count, eighth(count)), _up(slots, _STEPS * self._beams), _up(tokens, _STEPS)
        pools = [pool[:count, :, : self._slots] for pool in _keys_and_values(own)]
        pools += [pool[:count] for pool in _keys_and_values(across)]
        memory = self._memory = self._recordings.memory(layout, caches, self._beams)
        memory.fill(pools, masks)
        own.layers = [_FixedLayer(memory) for _ in own.layers]
        self._show(memory, *layout[:2])
        return memory

    def _show(self, memory: _Memory, sentences: int, slots: int) -> None:
        """Show the model the first `sentences` and `slots`."""
        caches = self._cache
        for layer, pools in zip(caches.self_attention_cache.layers, memory.own, strict=True):
            layer.keys, layer.values = (pool[:sentences, :, :slots] for pool in pools)
        for layer, pools in zip(caches.cross_attention_cache.layers, memory.across, strict=True):
            layer.keys, layer.values = (pool[:sentences] for pool in pools)


def _keys_and_values(cache: Any) -> Iterator[torch.Tensor]:  # noqa: ANN401 - a transformers cache
    return chain.from_iterable((layer.keys, layer.values) for layer in cache.layers)


class _Positions(torch.nn.Module):  # type: ignore[misc] # torch has no types here
    """M2M100's positions, whose number may be a tensor; transformers' module checks the length of
    its table, which a recording cannot.
    """

    def __init__(self, own: Any) -> None:  # noqa: ANN401
        super().__init__()
        self._own = own

    def reach(self, positions: int) -> None:
        """Make the table long enough for `positions`."""
        own = self._own
        if own.padding_idx + 1 + positions > len(own.weights):
            own.make_weights(own.padding_idx + 1 + positions, own.embedding_dim, own.padding_idx)

    def forward(
        self,
        input_ids: torch.Tensor,
        inputs_embeds: torch.Tensor,
        past: int | torch.Tensor,
    ) -> torch.Tensor:
        """The positions of tokens after `past` others."""
        own = self._own
        if not isinstance(past, torch.Tensor):
            return own(input_ids, inputs_embeds, past)
        places = own.create_position_ids_from_input_ids(input_ids, own.padding_idx, past)
        return own.weights[places]


def _up(value: int, step: int) -> int:
    """`value` rounded up to a multiple of `step`."""
    return -(-value // step) * step
