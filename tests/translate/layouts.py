"""The layouts in which checkpoints are published, made of the small ones: other files, the same
translations.

Which layout a family has on the hub: the `weights` and `tokenizer` files that transformers 4 wrote,
or transformers 5; one file or parts; a matrix that several layers share under one name or under
each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from .reference import change

SAFE = "model.safetensors"
BIN = "pytorch_model.bin"
_OF_TRANSFORMERS_5 = {"backend", "extra_special_tokens", "is_local"}
"""Keys of tokenizer_config.json that older releases do not write."""


def in_parts(folder: Path) -> Path:
    """The weights in two files with an index, as large checkpoints have them."""
    weights = load_file(folder / SAFE)
    (folder / SAFE).unlink()
    for file, some in _halves(
        weights, "model-0000{}-of-00002.safetensors", folder / f"{SAFE}.index.json"
    ).items():
        save_file(some, folder / file, metadata={"format": "pt"})
    return folder


def pickled(folder: Path) -> Path:
    """As transformers 4 and torch wrote it: every entry of the model's state, a shared matrix under
    each of its names.

    Opus-MT's tables of positions are among them.
    """
    torch.save(_state(folder), folder / BIN)
    (folder / SAFE).unlink()
    return folder


def pickled_in_parts(folder: Path) -> Path:
    """The same in two files with an index."""
    state = _state(folder)
    (folder / SAFE).unlink()
    for file, some in _halves(
        state, "pytorch_model-0000{}-of-00002.bin", folder / f"{BIN}.index.json"
    ).items():
        torch.save(dict(some), folder / file)
    return folder


def one_name(name: str) -> Callable[[Path], Path]:
    """The one matrix of embeddings and scores under `name` alone, as the hub's own conversions left
    it."""

    def make(folder: Path) -> Path:
        weights = load_file(folder / SAFE)
        weights[name] = weights.pop("model.shared.weight")
        save_file(weights, folder / SAFE, metadata={"format": "pt"})
        return folder

    return make


def of_transformers_4(folder: Path) -> Path:
    """Tokenizer and config as published: language tokens in special_tokens_map.json, no language
    set."""
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    if settings["tokenizer_class"] == "MarianTokenizer":
        kept: dict[str, Any] = {key: settings[key] for key in ("source_lang", "target_lang")}
    else:
        kept = {key: value for key, value in settings.items() if key not in _OF_TRANSFORMERS_5}
        kept |= {
            "special_tokens_map_file": None,
            "name_or_path": "published",
            "sp_model_kwargs": {},
        }
        kept |= {"src_lang": None, "tgt_lang": None} if "src_lang" in settings else {}
        names = {key: settings[key] for key in settings if key.endswith("_token")}
        names["additional_special_tokens"] = settings.get("extra_special_tokens", [])
        (folder / "special_tokens_map.json").write_text(json.dumps(names), encoding="utf-8")
        (folder / "added_tokens.json").unlink(missing_ok=True)
    path.write_text(json.dumps(kept), encoding="utf-8")
    _settings_in_config(folder)
    return folder


def sentencepiece_alone(folder: Path) -> Path:
    """No tokenizer.json, and else the files of `of_transformers_4`."""
    of_transformers_4(folder)
    (folder / "tokenizer.json").unlink()
    return folder


def scores_of_their_own(folder: Path) -> Path:
    """A score matrix that is not the embeddings, although the config says nothing of it."""
    weights = load_file(folder / SAFE)
    own = weights["model.shared.weight"]
    weights["lm_head.weight"] = own * torch.linspace(0.7, 1.3, own.shape[1])
    save_file(weights, folder / SAFE, metadata={"format": "pt"})
    return folder


def _settings_in_config(folder: Path) -> None:
    """The settings of generation in config.json too, where transformers 4 had them before it had
    two files."""
    settings = json.loads((folder / "generation_config.json").read_text(encoding="utf-8"))
    names = ("num_beams", "max_length", "early_stopping", "bad_words_ids", "forced_eos_token_id")
    change(folder / "config.json", **{name: settings[name] for name in names if name in settings})


def _state(folder: Path) -> dict[str, torch.Tensor]:
    from transformers import AutoModelForSeq2SeqLM

    model = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float32)
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    if model.config.model_type == "marian":
        for side, part in (("encoder", model.get_encoder()), ("decoder", model.get_decoder())):
            state[f"model.{side}.embed_positions.weight"] = (
                part.embed_positions.weight.detach().clone()
            )
    return state


def _halves(weights: Mapping[str, Any], file: str, index: Path) -> dict[str, dict[str, Any]]:
    names = sorted(weights)
    parts: dict[str, Iterable[str]] = {file.format(1): names[::2], file.format(2): names[1::2]}
    named = {name: part for part, some in parts.items() for name in some}
    index.write_text(json.dumps({"metadata": {}, "weight_map": named}), encoding="utf-8")
    return {part: {name: weights[name] for name in some} for part, some in parts.items()}


MATRIX_NAMES = (
    "model.encoder.embed_tokens.weight",
    "model.decoder.embed_tokens.weight",
    "lm_head.weight",
)
TIED = ("marian", "marian-multi", "m2m100", "mbart50", "nllb")
EVERY = (*TIED, "madlad")

LAYOUTS: dict[str, tuple[tuple[str, ...], Callable[[Path], Path]]] = {
    "safetensors in parts": (EVERY, in_parts),
    "`.bin`": (EVERY, pickled),
    "`.bin` in parts": (EVERY, pickled_in_parts),
    **{f"one matrix, `{name}`": (TIED, one_name(name)) for name in MATRIX_NAMES},
    "files of transformers 4": (EVERY, of_transformers_4),
    "no tokenizer.json": (("mbart50", "madlad"), sentencepiece_alone),
}
"""For each layout the checkpoints of `checkpoints.MAKERS` that it is made of, and how."""

TARGETS = {
    "marian": "de",
    "marian-multi": "ar",
    "m2m100": "de",
    "mbart50": "de",
    "nllb": "de",
    "madlad": "de",
}
"""A language that each of them has."""
