"""The demo's translation model: M2M100's architecture, small, trained here from nothing on the
biased parallel text.
"""

from __future__ import annotations

import io
import json
import math
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scripts.demo.corpus import SEED, training_pairs
from scripts.demo.grammar import GENDERS, LANGUAGES, Grammar, choices, say_english

VOCABULARY = 3000
SHAPE = {
    "d_model": 96,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 384,
    "decoder_ffn_dim": 384,
    "max_position_embeddings": 256,
}
BATCH_TOKENS = 2000
PEAK_RATE = 4e-3
WARM_UP = 200


def make_tokenizer(folder: Path) -> Any:  # noqa: ANN401 - a transformers tokenizer
    """Train sentencepiece on the grammar's sentences and make M2M100's tokenizer of it, in
    `folder`.
    """
    import sentencepiece
    from transformers import M2M100Tokenizer
    from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES

    every = random.Random(SEED).sample(list(choices()), 4000)
    texts = [say_english(choice, gender)[0] for choice in every for gender in GENDERS]
    for language in LANGUAGES:
        grammar = Grammar.load(language)
        texts += [grammar.say(choice, gender).text for choice in every for gender in GENDERS]
    folder.mkdir(parents=True, exist_ok=True)
    path, written = folder / "sentencepiece.bpe.model", io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=written,  # with a file's name, the model would hold that name
        vocab_size=VOCABULARY,
        model_type="unigram",
        character_coverage=1.0,
        hard_vocab_limit=False,
        unk_id=0,
        bos_id=1,
        eos_id=2,
        pad_id=-1,
        num_threads=1,
        minloglevel=2,
    )
    path.write_bytes(written.getvalue())
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(path))
    vocabulary = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
    for number in range(3, len(pieces)):
        vocabulary[pieces.id_to_piece(number)] = len(vocabulary)
    (folder / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False), encoding="utf-8")
    tokenizer = M2M100Tokenizer(
        vocab_file=str(folder / "vocab.json"),
        spm_file=str(path),
        src_lang="en",
        additional_special_tokens=[f"__{code}__" for code in FAIRSEQ_LANGUAGE_CODES["m2m100"]],
    )
    tokenizer.save_pretrained(folder)
    return tokenizer


def make_model(tokenizer: Any) -> Any:  # noqa: ANN401 - a transformers model
    """The untrained model."""
    import torch
    from transformers import M2M100Config, M2M100ForConditionalGeneration

    torch.manual_seed(SEED)
    config = M2M100Config(
        vocab_size=len(tokenizer.encoder) + 100 + 8,
        scale_embedding=True,
        dropout=0.0,
        attention_dropout=0.0,
        activation_dropout=0.0,
        encoder_layerdrop=0.0,
        decoder_layerdrop=0.0,
        init_std=0.06,
        **SHAPE,
    )
    model = M2M100ForConditionalGeneration(config)
    model.generation_config.num_beams = 5
    model.generation_config.max_length = 200
    model.generation_config.early_stopping = True
    return model


def _encoded(tokenizer: Any, number: int) -> list[tuple[list[int], list[int]]]:  # noqa: ANN401
    """Source and target ids of the training pairs; a target begins with its language token and ends
    with </s>.
    """
    vocabulary, unknown = tokenizer.encoder, tokenizer.encoder["<unk>"]

    def ids(
        text: str,
    ) -> list[int]:  # as the tokenizer does it, without its search for added tokens
        return [
            vocabulary.get(piece, unknown)
            for piece in tokenizer.sp_model.encode(text, out_type=str)
        ]

    codes = {code: tokenizer.get_lang_id(code) for code in ("en", *LANGUAGES)}
    return [
        ([codes["en"], *ids(source), 2], [codes[language], *ids(target), 2])
        for language, source, target in training_pairs(number)
    ]


def _batches(
    pairs: Sequence[tuple[list[int], list[int]]], chance: random.Random
) -> Iterator[list[int]]:
    """Positions of pairs of like length, `BATCH_TOKENS` padded target tokens at a time, in random
    order.
    """
    order = sorted(
        range(len(pairs)), key=lambda n: (len(pairs[n][1]), len(pairs[n][0]), chance.random())
    )
    batches: list[list[int]] = [[]]
    for n in order:
        if (len(batches[-1]) + 1) * len(pairs[n][1]) > BATCH_TOKENS:
            batches.append([])
        batches[-1].append(n)
    chance.shuffle(batches)
    yield from batches


def _padded(rows: Sequence[Sequence[int]], fill: int) -> Any:  # noqa: ANN401 - a tensor
    import torch

    longest = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows])


def train(folder: Path, *, sentences: int, epochs: int, threads: int = 1) -> None:
    """Train the model on `sentences` English sentences in all languages, `epochs` times, and save
    it in fp16.

    One seed, one order: on one machine with one number of threads the same bytes come out.
    """
    import torch

    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(mode=True)
    tokenizer = make_tokenizer(folder)
    model = make_model(tokenizer)
    print(
        f"{sum(p.numel() for p in model.parameters()):,} parameters, vocabulary {model.config.vocab_size:,}"
    )
    pairs = _encoded(tokenizer, sentences)
    chance = random.Random(SEED)
    steps = epochs * sum(1 for _ in _batches(pairs, random.Random(SEED)))
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=PEAK_RATE, betas=(0.9, 0.98), weight_decay=0.01
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser,
        lambda step: min((step + 1) / WARM_UP, 0.5 * (1 + math.cos(math.pi * step / steps))) + 1e-3,
    )
    model.train()
    start, seen, step = time.perf_counter(), 0.0, 0
    for _ in range(epochs):
        for batch in _batches(pairs, chance):
            source = _padded([pairs[n][0] for n in batch], 1)
            target = _padded([pairs[n][1] for n in batch], 1)
            given = torch.cat([torch.full((len(batch), 1), 2), target[:, :-1]], dim=1)
            logits = model(
                input_ids=source,
                attention_mask=(source != 1).long(),
                decoder_input_ids=given,
                use_cache=False,
            ).logits
            loss = torch.nn.functional.cross_entropy(
                logits.flatten(0, 1), target.masked_fill(target == 1, -100).flatten()
            )
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
            seen, step = 0.98 * seen + 0.02 * loss.item(), step + 1
            if step % 200 == 0:
                left = (time.perf_counter() - start) / step * (steps - step)
                print(
                    f"step {step}/{steps}: loss {seen:.4f}, {left / 60:.1f} minutes left",
                    flush=True,
                )
    model.half().eval().save_pretrained(folder)
    for path in folder.iterdir():
        path.chmod(0o644)  # safetensors writes files that only their owner reads
