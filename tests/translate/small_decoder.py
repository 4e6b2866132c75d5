"""A small causal language model with a chat template that knows some sentences of the demo by
heart.

It answers the prompt ``plain`` with the demo's reference translations, in the form of chat models:
some with quotation marks around them, some after "Sure!", so that cleaning has something to do.
Trained on the spot, in some seconds.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from mtbias.demo import demo_file
from mtbias.translate.language_models.prompt_files import load_prompt

PAIRS = 24
_STEPS = 150
_BATCH = 16
_RATE = 0.004
_SIZE = 96
TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
_SPECIAL = ["<|pad|>", "<|end|>", "<|user|>", "<|assistant|>", "<|system|>"]


def demo_pairs(n: int = PAIRS) -> list[tuple[str, str]]:
    """Distinct sentences of the demo, two neighbours (a man's and a woman's) at a time, with
    references in German."""
    with demo_file().open(encoding="utf-8", newline="") as rows:
        sources = {row["id"]: row["source"] for row in csv.DictReader(rows, delimiter="\t")}
    with (demo_file().parent / "references" / "de.tsv").open(encoding="utf-8", newline="") as rows:
        found = {sources[row["id"]]: row["target"] for row in csv.DictReader(rows, delimiter="\t")}
    pairs = list(found.items())
    return [pair for start in range(0, 10 * n, 20) for pair in pairs[start : start + 2]]


def as_said(number: int, target: str) -> str:
    """What the model says for a translation."""
    return [target, f'"{target}"', target, f"Sure! Here is the translation:\n\n{target}"][
        number % 4
    ]


def make_decoder(folder: Path, pairs: Sequence[tuple[str, str]], lang: str = "de") -> Path:
    """Train it, and save it as a checkpoint."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import (
        GenerationConfig,
        LlamaConfig,
        LlamaForCausalLM,
        PreTrainedTokenizerFast,
    )

    prompt = load_prompt("plain")
    chats = [prompt.filled(source, lang) for source, _ in pairs]
    answers = [as_said(n, target) for n, (_, target) in enumerate(pairs)]
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=900,
        special_tokens=_SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator([*(chat[0]["content"] for chat in chats), *answers], trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<|pad|>", eos_token="<|end|>", chat_template=TEMPLATE
    )
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=_SIZE,
        intermediate_size=2 * _SIZE,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
        initializer_range=0.05,
    )
    model = LlamaForCausalLM(config)
    _train(model, tokenizer, chats, answers)
    # A server must be told to be greedy: this is what a checkpoint's own file usually says.
    model.generation_config = GenerationConfig(
        do_sample=True, temperature=0.7, top_p=0.9, eos_token_id=1, pad_token_id=0
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _train(
    model: Any, tokenizer: Any, chats: Sequence[Sequence[dict[str, str]]], answers: Sequence[str]
) -> None:
    """Learn the answers by heart; the prompts are given."""
    rows = []
    for chat, answer in zip(chats, answers, strict=True):
        asked = tokenizer.apply_chat_template(
            list(chat), add_generation_prompt=True, tokenize=False
        )
        begun = tokenizer(asked, add_special_tokens=False)["input_ids"]
        said = [*tokenizer(answer, add_special_tokens=False)["input_ids"], 1]
        rows.append(([*begun, *said], [*[-100] * len(begun), *said]))
    optimizer = torch.optim.AdamW(model.parameters(), lr=_RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, _RATE, total_steps=_STEPS)
    drawn = random.Random(0)
    model.train()
    for _ in range(_STEPS):
        batch = drawn.sample(rows, _BATCH)
        longest = max(len(ids) for ids, _ in batch)
        ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row, _ in batch])
        labels = torch.tensor([[*row, *[-100] * (longest - len(row))] for _, row in batch])
        loss = model(input_ids=ids, attention_mask=(ids != 0).long(), labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    model.eval()
