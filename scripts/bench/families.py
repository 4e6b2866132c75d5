"""Checkpoints of random weights with the shapes of the three families of models."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Shape:
    """A family's architecture; as many layers in the encoder as in the decoder, embeddings
    shared.
    """

    kind: str
    """``model_type`` of transformers."""
    vocabulary: int
    size: int = 1024
    layers: int = 12
    inner: int = 4096
    heads: int = 16

    @property
    def language(self) -> int | None:
        """Id of the token that every translation begins with; the source has it too."""
        return None if self.kind == "marian" else self.vocabulary - 20


SHAPES = {
    "opus-mt": Shape("marian", 58_101, 512, 6, 2048, 8),
    "m2m100": Shape("m2m_100", 128_112),
    "mbart50": Shape("mbart", 250_054),
}
TINY = {name: Shape(shape.kind, 600, 32, 2, 64, 4) for name, shape in SHAPES.items()}


def make_checkpoint(shape: Shape, folder: Path, *, tokenizer: bool = True) -> None:
    """A checkpoint of random weights (seeded), with a tokenizer of numbered pieces where
    CTranslate2 asks for one.
    """
    import torch
    import transformers

    size = {
        "d_model": shape.size,
        "max_position_embeddings": 512 if shape.kind == "marian" else 1024,
    }
    for part in ("encoder", "decoder"):
        size |= {f"{part}_layers": shape.layers, f"{part}_ffn_dim": shape.inner}
        size |= {f"{part}_attention_heads": shape.heads}
    own: dict[str, Any] = {"vocab_size": shape.vocabulary, "scale_embedding": True, **size}
    settings: dict[str, Any] = {"num_beams": 5, "early_stopping": True, "max_length": 200}
    name = {"marian": "MarianMTModel", "mbart": "MBartForConditionalGeneration"}.get(
        shape.kind, "M2M100ForConditionalGeneration"
    )
    pad = shape.vocabulary - 1 if shape.kind == "marian" else 1
    if shape.kind == "marian":
        own |= {
            "decoder_vocab_size": shape.vocabulary,
            "pad_token_id": pad,
            "decoder_start_token_id": pad,
        }
        own |= {
            "eos_token_id": 0,
            "bos_token_id": 0,
            "forced_eos_token_id": 0,
            "activation_function": "swish",
        }
        own |= {"static_position_embeddings": True}
        settings = {
            "bad_words_ids": [[pad]],
            "num_beams": 4,
            "max_length": 512,
            "forced_eos_token_id": 0,
        }
    if shape.kind == "mbart":
        own |= {"normalize_before": True, "normalize_embedding": True, "add_final_layer_norm": True}
        own |= {
            "activation_function": "gelu",
            "decoder_start_token_id": 2,
            "tokenizer_class": "MBart50Tokenizer",
        }
        settings["forced_eos_token_id"] = 2
    transformers.utils.logging.disable_progress_bar()
    torch.manual_seed(0)
    model = getattr(transformers, name)(getattr(transformers, name).config_class(**own))
    with torch.no_grad():
        model.get_input_embeddings().weight[[model.config.eos_token_id, pad]] = 0.0
    model.generation_config.update(**settings)
    model.save_pretrained(folder)
    if tokenizer:
        _make_tokenizer(shape, folder).save_pretrained(folder)


def _make_tokenizer(shape: Shape, folder: Path) -> Any:  # noqa: ANN401 - transformers' tokenizers share no type
    import sentencepiece
    from transformers import M2M100Tokenizer, MarianTokenizer, MBart50Tokenizer
    from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES

    def numbered(*special: str, behind: int) -> list[str]:
        return [*special, *(f"▁{n}" for n in range(shape.vocabulary - len(special) - behind))]

    if shape.kind == "mbart":
        pieces = [(piece, 0.0) for piece in numbered("<unk>", "<s>", "</s>", behind=54)]
        return MBart50Tokenizer(vocab=pieces, src_lang="en_XX", tgt_lang="de_DE", bos_token="<s>")
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c d"]),
        model_writer=written,
        vocab_size=10,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    spm, vocabulary = folder / "letters.spm", folder / "pieces.json"
    spm.write_bytes(written.getvalue())
    languages = [f"__{code}__" for code in FAIRSEQ_LANGUAGE_CODES["m2m100"]]
    marian = shape.kind == "marian"
    tokens = (
        numbered("</s>", "<unk>", behind=1)
        if marian
        else numbered("<s>", "<pad>", "</s>", "<unk>", behind=108)
    )
    tokens += ["<pad>"] if marian else []
    vocabulary.write_text(
        json.dumps({token: n for n, token in enumerate(tokens)}), encoding="utf-8"
    )
    if marian:
        return MarianTokenizer(
            str(spm), str(spm), str(vocabulary), source_lang="en", target_lang="de"
        )
    return M2M100Tokenizer(
        str(vocabulary), str(spm), src_lang="en", additional_special_tokens=languages
    )
