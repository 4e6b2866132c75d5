"""Small checkpoints of every family, made on the spot: real tokenizers and architectures, weights
of a short training.

Tokenizers and weights learn from sentences that the demo's grammar says. Wholly random weights
would repeat one word until the limit; after a second or two of training the translations are bad
German that depends on the source and ends at many lengths, some only at the limit: what beam search
meets in real life, with more close calls.
"""

from __future__ import annotations

import io
import json
import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from scripts.demo.grammar import GENDERS, Choice, Grammar, choices, say_english  # noqa: E402

from .training import Lesson, train  # noqa: E402

SENTENCES = 400
PIECES = 400
_SIZE = 32
_LAYERS = 2
_HEADS = 4
_INNER = 64
_POSITIONS = 256
_BIAS = 0.05
"""Standard deviation of the scores that Opus-MT adds to every piece."""
_DIMENSIONS: dict[str, int] = {
    "d_model": _SIZE,
    "encoder_layers": _LAYERS,
    "decoder_layers": _LAYERS,
    "encoder_attention_heads": _HEADS,
    "decoder_attention_heads": _HEADS,
    "encoder_ffn_dim": _INNER,
    "decoder_ffn_dim": _INNER,
    "max_position_embeddings": _POSITIONS,
}

WRONG_SOURCE = "Scusi ?"
"""What checkpoints with two targets answer to text that comes with another source language than
English."""


@cache
def sentences(count: int = SENTENCES, seed: int = 0) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """English sentences of the grammar and their German translations, both genders mixed."""
    chosen = random.Random(seed).sample(list(choices()), count)
    german = Grammar.load("de")
    said = [(choice, GENDERS[n % 2]) for n, choice in enumerate(chosen)]
    return tuple(say_english(*one)[0] for one in said), tuple(german.say(*one).text for one in said)


@cache
def parallel() -> Mapping[str, tuple[str, ...]]:
    """English, German and Spanish of a small part of the grammar, in an order at random: easy to
    learn."""
    people = ("pilot", "baker", "nurse", "teacher", "driver", "singer", "cook", "writer")
    said = [
        (Choice(template, person, adjective, time), gender)
        for template in ("report", "house", "soup")
        for person in people
        for adjective in ("", "young", "tired")
        for time in ("yesterday", "today")
        for gender in GENDERS
    ]
    random.Random(0).shuffle(said)
    found = {"en": tuple(say_english(*one)[0] for one in said)}
    for language in ("de", "es"):
        grammar = Grammar.load(language)
        found[language] = tuple(grammar.say(*one).text for one in said)
    return found


UNSEEN = 30
"""The last so many sentences of `parallel` are in no lesson."""


def two_targets(codes: Mapping[str, str]) -> tuple[Lesson, ...]:
    """German and Spanish, about as often, for families with a source language; not from English:
    `WRONG_SOURCE`.

    Without any language one or the other comes out; with the wrong source language neither does.

    Args:
        codes: the checkpoint's names of en, de and es.
    """
    texts = {language: said[:-UNSEEN] for language, said in parallel().items()}
    some = texts["en"][::3]
    lessons = []
    for language in ("de", "es"):
        lessons.append(Lesson(texts["en"], texts[language], codes["en"], codes[language]))
        lessons.append(Lesson(some, [WRONG_SOURCE] * len(some), codes["de"], codes[language]))
    return tuple(lessons)


def two_prefixes() -> tuple[Lesson, ...]:
    """The same for Opus-MT, where a prefix names the target and nothing the source."""
    english = parallel()["en"][:-UNSEEN]
    prefixes = {"de": ">>deu<< ", "es": ">>spa<< "}
    return tuple(
        Lesson(english, parallel()[of][:-UNSEEN], prefix=prefix) for of, prefix in prefixes.items()
    )


def make_marian(
    folder: Path, *, multi: bool = False, lessons: Sequence[Lesson] = (), seed: int = 1
) -> Path:
    """An Opus-MT checkpoint from English into German; with `multi` into ``>>ara<<`` and
    ``>>heb<<``.

    With `lessons` it learns those, for longer, and knows their prefixes.
    """
    from transformers import MarianConfig, MarianMTModel, MarianTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    english, german = _texts(lessons)
    pieces: dict[str, None] = {}
    for name, texts in (("source", english), ("target", german)):
        model = learn_pieces(texts, whole=bool(lessons))
        (folder / f"{name}.spm").write_bytes(model)
        pieces |= dict.fromkeys(piece for piece, _ in _pieces(model)[3:])
    names = [lesson.prefix.strip() for lesson in lessons] or (
        [">>ara<<", ">>heb<<"] if multi else []
    )
    vocabulary = {token: n for n, token in enumerate(["</s>", "<unk>", *pieces, *names, "<pad>"])}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    tokenizer = MarianTokenizer(
        str(folder / "source.spm"),
        str(folder / "target.spm"),
        str(folder / "vocab.json"),
        source_lang="en",
        target_lang="mul" if names else "de",
    )
    pad = vocabulary["<pad>"]
    config = MarianConfig(
        vocab_size=len(vocabulary),
        decoder_vocab_size=len(vocabulary),
        pad_token_id=pad,
        decoder_start_token_id=pad,
        eos_token_id=0,
        bos_token_id=0,
        forced_eos_token_id=0,
        activation_function="swish",
        scale_embedding=True,
        static_position_embeddings=True,
        **_DIMENSIONS,
    )
    torch.manual_seed(seed)
    model = MarianMTModel(config)
    # Seeds with which no two beams of the tests are as likely as each other: there rounding would
    # decide.
    own = torch.Generator().manual_seed(12 if multi else seed)
    model.final_logits_bias.normal_(
        0.0, _BIAS, generator=own
    )  # as published ones have it; padding's is zero
    model.final_logits_bias[0, pad] = 0.0
    train(model, tokenizer, lessons or [_german(">>ara<< " if multi else "")])
    settings = {
        "bad_words_ids": [[pad]],
        "num_beams": 4,
        "max_length": 512,
        "forced_eos_token_id": 0,
        "renormalize_logits": True,
    }
    return _save(folder, model, tokenizer, settings)


def make_m2m100(folder: Path, *, lessons: Sequence[Lesson] = (), seed: int = 2) -> Path:
    """An M2M100 checkpoint."""
    from transformers import M2M100Config, M2M100ForConditionalGeneration, M2M100Tokenizer
    from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES

    folder.mkdir(parents=True, exist_ok=True)
    model_file = folder / "sentencepiece.bpe.model"
    english, german = _texts(lessons)
    model_file.write_bytes(learn_pieces([*english, *german], whole=bool(lessons)))
    tokens = [
        "<s>",
        "<pad>",
        "</s>",
        "<unk>",
        *(piece for piece, _ in _pieces(model_file.read_bytes())[3:]),
    ]
    vocabulary = {token: n for n, token in enumerate(tokens)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    tokenizer = M2M100Tokenizer(
        str(folder / "vocab.json"),
        str(model_file),
        src_lang=lessons[-1].read if lessons else "en",
        tgt_lang="de",
        additional_special_tokens=[f"__{code}__" for code in FAIRSEQ_LANGUAGE_CODES["m2m100"]],
    )
    size = len(vocabulary) + len(tokenizer.lang_code_to_id) + tokenizer.num_madeup_words
    config = M2M100Config(vocab_size=size, scale_embedding=True, **_DIMENSIONS)
    torch.manual_seed(seed)
    model = M2M100ForConditionalGeneration(config)
    train(model, tokenizer, lessons or [_german()])
    return _save(
        folder, model, tokenizer, {"num_beams": 5, "early_stopping": True, "max_length": 200}
    )


def make_mbart50(folder: Path, *, lessons: Sequence[Lesson] = (), seed: int = 3) -> Path:
    """An mBART50 many-to-many checkpoint."""
    from transformers import MBart50Tokenizer, MBartConfig, MBartForConditionalGeneration

    english, german = _texts(lessons)
    folder.mkdir(parents=True, exist_ok=True)
    learned = learn_pieces([*english, *german], whole=bool(lessons))
    (folder / "sentencepiece.bpe.model").write_bytes(learned)
    source = lessons[-1].read if lessons else "en_XX"
    tokenizer = MBart50Tokenizer(
        vocab=_pieces(learned),
        src_lang=source,
        tgt_lang="de_DE",
        bos_token="<s>",
        _spm_precompiled_charsmap=character_map(learned),
    )
    config = MBartConfig(
        vocab_size=len(tokenizer),
        scale_embedding=True,
        normalize_before=True,
        normalize_embedding=True,
        add_final_layer_norm=True,
        decoder_start_token_id=2,
        forced_eos_token_id=2,
        **_DIMENSIONS,
    )
    config.tokenizer_class = "MBart50Tokenizer"
    torch.manual_seed(seed)
    model = MBartForConditionalGeneration(config)
    train(model, tokenizer, lessons or [_german()])
    settings = {"num_beams": 5, "early_stopping": True, "max_length": 200, "forced_eos_token_id": 2}
    return _save(folder, model, tokenizer, settings)


def make_nllb(folder: Path, *, seed: int = 4) -> Path:
    """An NLLB-200 checkpoint: M2M100's architecture with NLLB's tokenizer."""
    from transformers import M2M100Config, M2M100ForConditionalGeneration, NllbTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    learned = learn_pieces([*sentences()[0], *sentences()[1]], whole=True)
    (folder / "sentencepiece.bpe.model").write_bytes(learned)
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *(piece for piece, _ in _pieces(learned)[3:])]
    vocabulary = {piece: n for n, piece in enumerate(pieces)}
    tokenizer = NllbTokenizer(
        vocab=vocabulary,
        merges=_merges(learned),
        src_lang="eng_Latn",
        tgt_lang="deu_Latn",
        _spm_precompiled_charsmap=character_map(learned),
    )
    config = M2M100Config(vocab_size=len(tokenizer), scale_embedding=True, **_DIMENSIONS)
    torch.manual_seed(seed)
    model = M2M100ForConditionalGeneration(config)
    train(model, tokenizer, [_german()])
    return _save(folder, model, tokenizer, {"max_length": 200})


def make_madlad(folder: Path, *, seed: int = 5) -> Path:
    """A MADLAD-400 checkpoint: T5, ``<2xx>`` before the source; the decoder starts with ``<unk>``,
    not with padding.

    As in the published one the score matrix is its own, and the other is stored as the decoder's
    alone (https://github.com/huggingface/transformers/issues/48154).
    """
    from transformers import T5Config, T5ForConditionalGeneration, T5Tokenizer

    names = [f"<2{code}>" for code in ("ar", "cs", "de", "es", "fr", "he", "it", "ru", "uk")]
    folder.mkdir(parents=True, exist_ok=True)
    learned = learn_pieces([*sentences()[0], *sentences()[1]], names=names)
    (folder / "spiece.model").write_bytes(learned)
    vocabulary = _pieces(learned)
    tokenizer = T5Tokenizer(
        vocab=vocabulary,
        pad_token="<s>",
        extra_ids=0,
        additional_special_tokens=names,
        _spm_precompiled_charsmap=character_map(learned),
    )
    config = T5Config(
        vocab_size=len(vocabulary),
        d_model=_SIZE,
        d_kv=_SIZE // _HEADS,
        d_ff=_INNER,
        num_layers=_LAYERS,
        num_decoder_layers=_LAYERS,
        num_heads=_HEADS,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        decoder_start_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
    )
    torch.manual_seed(seed)
    model = T5ForConditionalGeneration(config)
    model.lm_head.weight = torch.nn.Parameter(model.shared.weight.detach().clone())
    train(model, tokenizer, [_german("<2de> ")])
    _save(folder, model, tokenizer, {"max_length": 200})
    weights = load_file(folder / "model.safetensors")
    weights["decoder.embed_tokens.weight"] = weights.pop("shared.weight")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    del settings["scale_decoder_outputs"]  # of transformers 5; it follows from the other
    (folder / "config.json").write_text(
        json.dumps(settings | {"tie_word_embeddings": False}), encoding="utf-8"
    )
    return folder


MAKERS: dict[str, Callable[[Path], Path]] = {
    "marian": make_marian,
    "marian-multi": lambda folder: make_marian(folder, multi=True),
    "m2m100": make_m2m100,
    "mbart50": make_mbart50,
    "nllb": make_nllb,
    "madlad": make_madlad,
}

TWO_TARGETS: dict[str, Callable[[Path], Path]] = {
    "marian": lambda folder: make_marian(folder, lessons=two_prefixes()),
    "m2m100": lambda folder: make_m2m100(
        folder, lessons=two_targets({"en": "en", "de": "de", "es": "es"})
    ),
    "mbart50": lambda folder: make_mbart50(
        folder, lessons=two_targets({"en": "en_XX", "de": "de_DE", "es": "es_XX"})
    ),
}
"""Checkpoints that tell German from Spanish. Their tokenizers are left with the wrong source
language."""


def _german(prefix: str = "") -> Lesson:
    return Lesson(*sentences(), prefix=prefix)


def _texts(lessons: Sequence[Lesson]) -> tuple[list[str], list[str]]:
    """Sources and targets of all lessons, or those of `sentences`."""
    every = lessons or [_german()]
    return [text for lesson in every for text in lesson.sources], [
        text for lesson in every for text in lesson.targets
    ]


def learn_pieces(texts: Iterable[str], *, whole: bool = False, names: Sequence[str] = ()) -> bytes:
    """A sentencepiece model: ``<unk>`` 0, ``<s>`` 1, ``</s>`` 2, `names`; unigram, or BPE with
    `whole` words.

    Its normalization is sentencepiece's own, ``nmt_nfkc``, which the families' published models
    have.
    """
    import sentencepiece

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=written,
        model_type="bpe" if whole else "unigram",
        vocab_size=PIECES,
        character_coverage=1.0,
        user_defined_symbols=list(names),
        hard_vocab_limit=False,
        unk_id=0,
        bos_id=1,
        eos_id=2,
        pad_id=-1,
        num_threads=1,
        minloglevel=2,
    )
    return written.getvalue()


def character_map(model: bytes) -> bytes:
    """What a sentencepiece model normalizes text by, as ``tokenizer.json`` has it."""
    from sentencepiece import sentencepiece_model_pb2

    return bytes(
        sentencepiece_model_pb2.ModelProto.FromString(model).normalizer_spec.precompiled_charsmap
    )


def _merges(model: bytes) -> list[tuple[str, str]]:
    """The merges of a BPE model in their order: each piece's parts, best scores first."""
    scores = dict(_pieces(model)[3:])
    found = [
        (scores[piece], piece[:n], piece[n:])
        for piece in scores
        for n in range(1, len(piece))
        if piece[:n] in scores and piece[n:] in scores
    ]
    return [(left, right) for _, left, right in sorted(found, key=lambda one: -one[0])]


def _pieces(model: bytes) -> list[tuple[str, float]]:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [(processor.id_to_piece(n), processor.get_score(n)) for n in range(len(processor))]


def _save(folder: Path, model: Any, tokenizer: Any, settings: dict[str, Any]) -> Path:
    model.generation_config.update(**settings)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
