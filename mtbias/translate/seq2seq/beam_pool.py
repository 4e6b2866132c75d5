"""A decoder in which the beams of a sentence share one pool of keys and values.

Beams that continue the same hypothesis have the same past, and the source is the same for all of
them. So keys and values lie in slots, sentences × heads × slots × size, that are written once: the
first step fills one slot of a sentence, each later one as many as there are beams. Nothing is
repeated for the beams or reordered when they change places. A mask of ancestors, sentences × beams
× slots, says which slots are a beam's own past, and the beams are queries of one sentence, in self-
and in cross-attention.

Sums over masked slots add zeros in another order, so that scores differ from ``model.generate``'s
in rounding alone. Keys and values cross the memory once a step and sentence; where they are
reordered they do so twice a beam, and once more to be attended to.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.cache_utils import Cache, DynamicCache, DynamicLayer, EncoderDecoderCache
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

IMPLEMENTATION = "sdpa"
"""The function that computes attention: torch's ``scaled_dot_product_attention``."""
_NAME = "mtbias_beam_pool"
_MM_HAS_TYPES = torch.torch_version.TorchVersion(torch.__version__) >= (2, 8)
"""Whether a product of 16 bits can be had in fp32, on a GPU."""
_GROWTH = 80
"""Slots by which a pool grows: sixteen steps at beam 5."""


def share_pools(model: Any) -> None:  # noqa: ANN401 - a transformers model
    """Let a model use pools in a `PooledDecoder`; elsewhere it computes as before."""
    AttentionInterface.register(_NAME, _attend)
    AttentionMaskInterface.register(_NAME, ALL_MASK_ATTENTION_FUNCTIONS[IMPLEMENTATION])
    for part in (model, model.get_encoder(), model.get_decoder()):  # T5's have configs of their own
        part.set_attn_implementation(_NAME)


def _attend(
    module: Any,  # noqa: ANN401
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **options: Any,  # noqa: ANN401
) -> tuple[torch.Tensor, None]:
    """Attention of the beams of each sentence to what they share.

    `query` is rows × heads × 1 × size, `key` and `value` are sentences × heads × slots × size, and
    a sentence has as many rows as beams. With as many rows as sentences (in the encoder, in the
    first step, with one beam) this is plain attention.
    """
    plain = ALL_ATTENTION_FUNCTIONS[IMPLEMENTATION]
    rows, heads, _, size = query.shape
    sentences, _, slots, _ = key.shape
    if rows == sentences:
        return plain(module, query, key, value, attention_mask, **options)[0], None
    beams = rows // sentences
    bias = options.pop("position_bias", None)
    if bias is not None:
        # T5 adds what depends on the distance of two positions, and takes slots for positions. One
        # of step s (the first fills one slot, the others `beams`) is at position s. Across to the
        # source all is zero.
        steps = torch.arange(beams - 1, slots + beams - 1, device=key.device) // beams
        options["position_bias"] = bias.index_select(-1, steps)
    options["is_causal"] = False
    grouped = query.view(sentences, beams, heads, size).transpose(1, 2)
    attended: torch.Tensor = plain(module, grouped, key, value, attention_mask, **options)[0]
    return attended.reshape(rows, 1, heads, size), None


class PoolLayer(DynamicLayer):  # type: ignore[misc] # transformers has no types here
    """The pool of one layer's self-attention."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401
        super().__init__(**options)
        self._slots = self._steps = 0

    def get_seq_length(self) -> int:
        """Steps so far, which is the position of the next token."""
        return self._steps

    def update(
        self,
        key_states: torch.Tensor,
        value_states: torch.Tensor,
        *_: Any,  # noqa: ANN401
        **__: Any,  # noqa: ANN401
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Fill the slots of a step, whose `key_states` and `value_states` are rows × heads × 1 ×
        size; gives those of all steps.
        """
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            self.keys, self.values = key_states[:, :, :0], value_states[:, :, :0]
        new = key_states.shape[0] // self.keys.shape[0]
        end = self._slots + new
        if end > self.keys.shape[2]:
            self.keys = self._grown(self.keys)
            self.values = self._grown(self.values)
        for pool, states in ((self.keys, key_states), (self.values, value_states)):
            pool[:, :, self._slots : end] = (
                states.squeeze(2).unflatten(0, (-1, new)).transpose(1, 2)
            )
        self._slots = end
        self._steps += 1
        return self.keys[:, :, :end], self.values[:, :, :end]

    def _grown(self, pool: torch.Tensor) -> torch.Tensor:
        sentences, heads, _, size = pool.shape
        larger = pool.new_empty(sentences, heads, self._slots + _GROWTH, size)
        larger[:, :, : self._slots] = pool[:, :, : self._slots]
        return larger


class PooledDecoder:
    """The decoder of a model prepared by `share_pools`, a step at a time, with its states for the
    sentences that are searched.
    """

    def __init__(
        self,
        model: Any,  # noqa: ANN401
        sources: torch.Tensor,
        mask: torch.Tensor,
        beams: int,
    ) -> None:
        """Encode `sources`, sentences × tokens, which are padded where `mask` is 0."""
        self._decoder = model.get_decoder()
        self._head = _Head(model, len(sources) * beams)
        self._states = model.get_encoder()(
            input_ids=sources, attention_mask=mask, return_dict=True
        ).last_hidden_state
        self._source_mask = additive(mask[:, None, None] != 0, self._states.dtype)
        self._cache = EncoderDecoderCache(Cache(layer_class_to_replicate=PoolLayer), DynamicCache())
        self._ancestors = torch.ones(len(sources), 1, 1, dtype=torch.bool, device=mask.device)

    def scores(self, last: torch.Tensor) -> torch.Tensor:
        """The scores in fp32 of every token after the `last` of each row, rows × vocabulary; valid
        until the next call.

        In the first step, in which all beams of a sentence are the same, it has one row.
        """
        output = self._decoder(
            input_ids=last,
            attention_mask=additive(self._ancestors[:, None], self._states.dtype),
            encoder_hidden_states=self._states,
            encoder_attention_mask=self._source_mask,
            past_key_values=self._cache,
            use_cache=True,
            return_dict=True,
        )
        return self._head(output.last_hidden_state[:, -1])

    def keep(self, parents: torch.Tensor, staying: torch.Tensor) -> None:
        """Continue with the sentences that are `staying`, in which each beam continues one of the
        `parents`, sentences × beams; those in front stay where they are.
        """
        if len(staying) < len(self._ancestors):
            self._leave(staying)
        sentences, beams = parents.shape
        slots = self._ancestors.shape[2]
        if self._ancestors.shape[1] < beams:  # one row was all beams
            parents = torch.zeros_like(parents)
        past = self._ancestors.gather(1, parents[:, :, None].expand(-1, -1, slots))
        own = torch.eye(beams, dtype=torch.bool, device=parents.device)
        self._ancestors = torch.cat([past, own.expand(sentences, -1, -1)], dim=2)

    def _leave(self, staying: torch.Tensor) -> None:
        count = len(staying)
        gaps = (staying >= count).nonzero()[:, 0]
        origins = staying[gaps]

        def moved(held: torch.Tensor) -> torch.Tensor:
            """Those that stay, in the same memory; in less once half of it is free."""
            held[gaps] = held[origins]
            staying_part = held[:count]
            room = held.untyped_storage().nbytes() // held[:1].nbytes
            return staying_part.clone() if 2 * count <= room else staying_part

        self._ancestors = moved(self._ancestors)
        self._source_mask = moved(self._source_mask)
        self._states = moved(self._states)
        for cache in (self._cache.self_attention_cache, self._cache.cross_attention_cache):
            for layer in cache.layers:
                layer.keys = moved(layer.keys)
                layer.values = moved(layer.values)


class _Head:
    """The scores of tokens from the decoder's last states, in fp32 for all types of weights, since
    close scores would be equal in 8 or 11 bits.

    On a CPU every step writes into the same memory: new memory of that size takes more time than
    the computation.
    """

    def __init__(self, model: Any, most_rows: int) -> None:  # noqa: ANN401
        self._weight = model.get_output_embeddings().weight.t()
        self._bias = getattr(model, "final_logits_bias", None)
        scaled = getattr(model.config, "scale_decoder_outputs", False)  # T5 with one matrix alone
        self._scale = model.model_dim**-0.5 if scaled else 1.0
        self._memory: torch.Tensor | None = None
        if not self._weight.is_cuda:
            size = (most_rows, self._weight.shape[1])
            self._memory = self._weight.new_empty(size, dtype=torch.float32)

    def __call__(self, states: torch.Tensor) -> torch.Tensor:
        """`states` is rows × size."""
        if self._scale != 1.0:
            states = states * self._scale
        if self._memory is not None:
            scores = self._memory[: len(states)]
            torch.mm(states.float(), self._weight.float(), out=scores)
        elif states.dtype == torch.float32:
            scores = torch.mm(states, self._weight)
        elif _MM_HAS_TYPES:
            scores = torch.mm(states, self._weight, out_dtype=torch.float32)
        else:
            scores = torch.mm(states, self._weight).float()
        return scores if self._bias is None else scores.add_(self._bias)


def additive(allowed: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """A mask to add to attention's scores: 0 where it is `allowed`, else the lowest number."""
    mask = torch.zeros(allowed.shape, dtype=dtype, device=allowed.device)
    return mask.masked_fill_(~allowed, torch.finfo(dtype).min)
