"""Small encoders made on the spot: real tokenizers and architectures, one of which has learnt from
600 sentences.

It learns to tell a sentence's translation from those of others by the mean of their embeddings.
That is enough for the embeddings of words that translate each other to be alike.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from scripts.demo.grammar import GENDERS, Grammar, choices, say_english

SIZE = 48
LAYERS = 3
POSITIONS = 64
_STEPS = 100
_BATCH = 32
_HEAT = 0.1


def parallel(count: int = 600, seed: int = 0) -> list[tuple[str, str]]:
    """English sentences of the demo's grammar and their German translations, both genders mixed."""
    german = Grammar.load("de")
    chosen = random.Random(seed).sample(list(choices()), count)
    said = [(choice, GENDERS[n % 2]) for n, choice in enumerate(chosen)]
    return [(say_english(*one)[0], german.say(*one).text) for one in said]


def make_bert(folder: Path, *, layers: int = LAYERS) -> Path:
    """mBERT's layout: WordPiece, [CLS] and [SEP]."""
    from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

    learnt = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    learnt.normalizer = normalizers.BertNormalizer(lowercase=False)
    learnt.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    learnt.train_from_iterator(
        _texts(), trainers.WordPieceTrainer(vocab_size=700, special_tokens=special)
    )
    learnt.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    learnt.decoder = decoders.WordPiece()
    tokenizer = BertTokenizerFast(
        tokenizer_object=learnt, model_max_length=POSITIONS, do_lower_case=False
    )
    config = BertConfig(**_dimensions(len(tokenizer), layers), max_position_embeddings=POSITIONS)
    # A checkpoint that predicts masked words, as mBERT is one: its own head is not read, and a
    # pooler is missing.
    return _saved(folder, tokenizer, BertForMaskedLM(config), steps=_STEPS)


def make_xlmr(folder: Path) -> Path:
    """XLM-R's layout: Unigram pieces with "▁", <s> and </s>, positions that begin behind the
    padding's; untrained."""
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

    learnt = Tokenizer(models.Unigram())
    learnt.normalizer = normalizers.NFKC()
    learnt.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    learnt.train_from_iterator(
        _texts(), trainers.UnigramTrainer(vocab_size=700, special_tokens=special, unk_token="<unk>")
    )
    learnt.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    learnt.decoder = decoders.Metaspace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=learnt, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>",
        mask_token="<mask>",
    )  # fmt: skip
    config = XLMRobertaConfig(
        **_dimensions(len(tokenizer), LAYERS),
        max_position_embeddings=POSITIONS + 2,
        pad_token_id=1,
        type_vocab_size=1,
    )
    return _saved(folder, tokenizer, XLMRobertaModel(config), steps=0)


def _texts() -> list[str]:
    return [text for pair in parallel() for text in pair]


def _dimensions(vocabulary: int, layers: int) -> dict[str, Any]:
    return {
        "vocab_size": vocabulary,
        "hidden_size": SIZE,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "intermediate_size": 2 * SIZE,
    }


def _saved(folder: Path, tokenizer: Any, model: Any, *, steps: int) -> Path:
    from transformers.utils import logging

    torch.manual_seed(0)
    model.init_weights()
    _learn(tokenizer, model, steps)
    logging.disable_progress_bar()
    tokenizer.save_pretrained(folder)
    model.half().save_pretrained(folder)
    return folder


def _learn(tokenizer: Any, model: Any, steps: int) -> None:
    """Tell each sentence's translation from the others of a batch, by what `LAYERS` - 1 layers make
    of them."""
    body = getattr(model, "bert", model)
    pairs = parallel()
    chance = random.Random(1)
    optimizer = torch.optim.Adam(body.parameters(), lr=3e-3)
    body.train()
    for _ in range(steps):
        batch = chance.sample(pairs, _BATCH)
        english, german = (
            _means(tokenizer, body, [pair[side] for pair in batch]) for side in (0, 1)
        )
        scores = english @ german.T / _HEAT
        here = torch.arange(_BATCH)
        loss = torch.nn.functional.cross_entropy(scores, here) + torch.nn.functional.cross_entropy(
            scores.T, here
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    body.eval()


def _means(tokenizer: Any, body: Any, texts: Sequence[str]) -> Any:
    read = tokenizer(list(texts), return_tensors="pt", padding=True)
    mask = read["attention_mask"].unsqueeze(-1)
    states = body(**read, output_hidden_states=True).hidden_states[LAYERS - 1]
    return torch.nn.functional.normalize((states * mask).sum(1), dim=-1)
