"""Small decoders whose every answer is known beforehand: each word has one successor, whatever
stands before it.

They are real checkpoints, without training: attention and feed-forward layers add nothing, so what
a word's embedding says alone decides the next word.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch

END = "<end>"
_UNKNOWN = "<unk>"


def make_chain(
    folder: Path,
    successors: Mapping[str, str],
    *,
    template: str | None = None,
    positions: int = 4096,
) -> Path:
    """Write a checkpoint of Llama's kind in which `successors` says which word follows a word.

    A word without a successor ends the answer. Words are separated by blanks; a line end is a word
    of its own.

    Args:
        folder: where to.
        successors: of each word the next one.
        template: the chat template; None for a base model.
        positions: ``max_position_embeddings``.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = [_UNKNOWN, END, *dict.fromkeys([*successors, *successors.values()])]
    number = {word: n for n, word in enumerate(words)}
    made = Tokenizer(models.WordLevel(number, unk_token=_UNKNOWN))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(" ", "removed"), pre_tokenizers.Split("\n", "isolated")]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token=_UNKNOWN, eos_token=END, chat_template=template
    )
    size = len(words) + len(words) % 2
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=size,
        intermediate_size=2,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
        max_position_embeddings=positions,
        pad_token_id=1,
        eos_token_id=1,
        bos_token_id=None,
        tie_word_embeddings=False,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for parameter in model.model.layers.parameters():
            parameter.zero_()
        model.model.embed_tokens.weight.copy_(torch.eye(len(words), size))
        model.lm_head.weight.zero_()
        for word in words:
            model.lm_head.weight[number[successors.get(word, END)], number[word]] = 1
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
