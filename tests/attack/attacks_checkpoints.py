"""Hostile and damaged checkpoints and Stanza models: copies of the demo's."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from mtbias.demo import model_folder_of_demo, stanza_folder_of_demo

from .attack import Attack
from .attacks_files import DAMAGES

EVAL = (
    "eval --model model --lang de --dataset custom --data corpus.tsv --stanza-dir mtbias:demo --resamples 0 --out out"
)
_STANZA = (
    "score --dataset custom --data corpus.tsv --translations target.tsv --lang de --stanza-dir stanza --resamples 0 "
    "--cache-dir cache/other --out out"
)


def _model(change: Callable[[Path], object] | None = None) -> Callable[[], object]:
    """A copy of the demo's checkpoint as ``model``, changed."""

    def make() -> None:
        folder = Path("model")
        shutil.copytree(model_folder_of_demo(), folder)
        if change is not None:
            change(folder)

    return make


def _json(file: str, values: Mapping[str, object]) -> Callable[[], object]:
    """Other values in a JSON file; ... takes the key away."""

    def change(folder: Path) -> None:
        content: dict[str, Any] = json.loads((folder / file).read_bytes())
        content.update(values)
        content = {key: value for key, value in content.items() if value is not ...}
        (folder / file).write_text(json.dumps(content), encoding="utf-8")

    return _model(change)


def _weights(change: Callable[[dict[str, Any]], object]) -> Callable[[], object]:
    def rewrite(folder: Path) -> None:
        from safetensors.torch import load_file, save_file

        path = folder / "model.safetensors"
        tensors = load_file(path)
        change(tensors)
        save_file(tensors, path, metadata={"format": "pt"})

    return _model(rewrite)


def _set(value: float, *, all_of: bool = False) -> Callable[[dict[str, Any]], object]:
    def change(tensors: dict[str, Any]) -> None:
        for name in sorted(tensors) if all_of else sorted(tensors)[3:4]:
            tensors[name].view(-1)[0] = value

    return change


class _Evil:
    """A pickle that makes a file when it is loaded."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.mkdir, ("evil",)


def _pickled(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(_Evil()))


def _stanza(change: Callable[[Path], object]) -> Callable[[], object]:
    def make() -> None:
        shutil.copytree(stanza_folder_of_demo(), "stanza")
        change(Path("stanza"))

    return make


def _every_pt(content: bytes, folder: Path) -> None:
    for path in folder.rglob("*.pt"):
        path.write_bytes(content)


def _every_pt_a_pipe(folder: Path) -> None:
    for path in folder.rglob("*.pt"):
        path.unlink()
        os.mkfifo(path)


def _files() -> list[Attack]:
    rows = []
    for file in (
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "sentencepiece.bpe.model",
        "tokenizer_config.json",
        "vocab.json",
    ):
        for damage in (
            "absent",
            "a folder",
            "a named pipe",
            "a dangling link",
            "empty",
            "binary",
            "a web page",
            "cut in half",
        ):
            apply = DAMAGES.get(damage, lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]))
            name = f"checkpoint: {file} {damage}"
            code, why = TAKEN.get((file, damage), (1, ""))
            rows.append(Attack(name, EVAL, _model(partial(_within, apply, file)), code, why))
    return rows


def _within(apply: Callable[[Path], object], file: str, folder: Path) -> None:
    apply(folder / file)


TAKEN: Mapping[tuple[str, str], tuple[int, str]] = {
    ("generation_config.json", "absent"): (0, "what decoding rests on is said explicitly; the rest is in config.json"),
    ("tokenizer_config.json", "absent"): (0, "the class of the tokenizer follows from config.json"),
    ("generation_config.json", "a dangling link"): (0, "as where it is absent"),
}

_NOT_READ = (0, "of generation settings only ids, bad words, forced ends and renormalisation are taken")
_BY_FAMILY = (0, "the class of the tokenizer follows from config.json")
IGNORED: Mapping[str, tuple[int, str]] = {
    "remote code": (0, "the code that it names is never loaded"),
    "an unknown dtype": (0, "weights are loaded in the type that the preset names"),
    "suppressed tokens that are text": _NOT_READ,
    "groups of beams": _NOT_READ,
    "an unknown class": _BY_FAMILY,
    "a class of another family": _BY_FAMILY,
    "a class of no languages": _BY_FAMILY,
    "a class that is a number": _BY_FAMILY,
}

_CONFIG: Mapping[str, Mapping[str, object]] = {
    "another architecture": {"model_type": "bert"},
    "no architecture": {"model_type": ...},
    "an architecture that is a list": {"model_type": ["marian"]},
    "a family that it is not": {"model_type": "marian"},
    "a wrong number of layers": {"decoder_layers": 9},
    "a negative number of layers": {"decoder_layers": -1},
    "ten million layers": {"decoder_layers": 10**7},
    "ten million layers of the encoder": {"encoder_layers": 10**7},
    "a wrong hidden size": {"d_model": 63},
    "a hidden size that is text": {"d_model": "big"},
    "a huge vocabulary": {"vocab_size": 10**9},
    "a small vocabulary": {"vocab_size": 5},
    "a vocabulary that is text": {"vocab_size": "many"},
    "positions that are text": {"max_position_embeddings": "many"},
    "a thousand million positions": {"max_position_embeddings": 10**9},
    "no positions": {"max_position_embeddings": 0},
    "negative positions": {"max_position_embeddings": -5},
    "remote code": {"auto_map": {"AutoModelForSeq2SeqLM": "evil.Evil", "AutoConfig": "evil.Evil"}},
    "an unknown activation": {"activation_function": "magic"},
    "a wrong number of heads": {"decoder_attention_heads": 7},
    "an unknown dtype": {"dtype": "float7"},
    "a padding beyond the vocabulary": {"pad_token_id": 10**7},
}

_GENERATION: Mapping[str, Mapping[str, object]] = {
    "an end beyond the vocabulary": {"eos_token_id": 10**9},
    "an end that is text": {"eos_token_id": "</s>"},
    "a start beyond the vocabulary": {"decoder_start_token_id": 10**9},
    "suppressed tokens that are text": {"suppress_tokens": "all"},
    "watermarking": {"watermarking_config": {"wrong": 1}},
    "groups of beams": {"num_beam_groups": 3, "diversity_penalty": 0.5},
    "an unknown cache": {"cache_implementation": "magic"},
}

_TOKENIZER: Mapping[str, Mapping[str, object]] = {
    "an unknown class": {"tokenizer_class": "EvilTokenizer"},
    "a class of another family": {"tokenizer_class": "MarianTokenizer"},
    "a class of no languages": {"tokenizer_class": "BertTokenizer"},
    "a class that is a number": {"tokenizer_class": 5},
    "remote code": {"auto_map": {"AutoTokenizer": ["evil.Evil", None]}, "tokenizer_class": "EvilTokenizer"},
    "a length that is text": {"model_max_length": "long"},
    "a negative length": {"model_max_length": -1},
    "a length of 1": {"model_max_length": 1},
}

CHECKPOINTS = (
    *_files(),
    Attack("pickle", EVAL, _model(_pickled)),
    Attack("checkpoint: not a number", EVAL, _weights(_set(float("nan")))),
    Attack("checkpoint: infinity", EVAL, _weights(_set(float("inf")))),
    Attack("checkpoint: all infinite", EVAL, _weights(_set(float("-inf"), all_of=True))),
    Attack("checkpoint: not a number, with ct2", f"{EVAL} --engine ct2", _weights(_set(float("nan")))),
    Attack("checkpoint: infinity, with ct2", f"{EVAL} --engine ct2", _weights(_set(float("inf")))),
    Attack("checkpoint: not a number, a shard", f"{EVAL} --shard 1/2", _weights(_set(float("nan")))),
    Attack("checkpoint: a tensor less", EVAL, _weights(lambda tensors: tensors.pop(sorted(tensors)[3]))),
    Attack(
        "checkpoint: a tensor of another shape",
        EVAL,
        _weights(lambda t: t.update({sorted(t)[3]: t[sorted(t)[3]][:1].clone()})),
    ),
    Attack("checkpoint: no tensors", EVAL, _weights(lambda tensors: tensors.clear())),
    *(
        Attack(f"checkpoint: config.json, {name}", EVAL, _json("config.json", values), *IGNORED.get(name, ()))
        for name, values in _CONFIG.items()
    ),
    *(
        Attack(
            f"checkpoint: generation_config.json, {name}",
            EVAL,
            _json("generation_config.json", values),
            *IGNORED.get(name, ()),
        )
        for name, values in _GENERATION.items()
    ),
    *(
        Attack(
            f"checkpoint: tokenizer_config.json, {name}",
            EVAL,
            _json("tokenizer_config.json", values),
            *IGNORED.get(name, ()),
        )
        for name, values in _TOKENIZER.items()
    ),
    Attack(
        "checkpoint: vocab.json of other tokens",
        EVAL,
        _model(lambda f: (f / "vocab.json").write_text('{"a": 0, "b": 1}')),
    ),
    Attack("checkpoint: vocab.json a list", EVAL, _model(lambda f: (f / "vocab.json").write_text("[1, 2]"))),
    Attack(
        "checkpoint: config.json nested without end",
        EVAL,
        _model(lambda f: (f / "config.json").write_text("[" * 100_000)),
    ),
    *(
        Attack(f"checkpoint: {name} a named pipe", EVAL, _model(partial(_within, os.mkfifo, name)))
        for name in (
            "pytorch_model.bin",
            "model.safetensors.index.json",
            "special_tokens_map.json",
            "adapter_config.json",
        )
    ),
    Attack("checkpoint: an empty folder", EVAL, lambda: Path("model").mkdir(), 1),
    Attack("checkpoint: a file", EVAL, lambda: Path("model").write_text("x"), 2),
    Attack("checkpoint: an unknown language", EVAL.replace("--lang de", "--lang tlh"), _model(), 2),
    Attack("stanza: pickle", _STANZA, _stanza(partial(_every_pt, pickle.dumps(_Evil())))),
    Attack("stanza: models that are named pipes", _STANZA, _stanza(_every_pt_a_pipe)),
    Attack("stanza: empty models", _STANZA, _stanza(partial(_every_pt, b""))),
    Attack("stanza: binary models", _STANZA, _stanza(partial(_every_pt, bytes(range(256)) * 40))),
    *(
        Attack(
            f"stanza: resources.json {damage}", _STANZA, _stanza(partial(_within, DAMAGES[damage], "resources.json"))
        )
        for damage in ("absent", "a folder", "a named pipe", "empty", "binary", "half", "a web page")
    ),
    Attack(
        "stanza: resources.json nested without end",
        _STANZA,
        _stanza(lambda f: (f / "resources.json").write_text("[" * 100_000)),
    ),
    Attack(
        "stanza: resources.json with a number of thousands of digits",
        _STANZA,
        _stanza(lambda f: (f / "resources.json").write_text(f'{{"de": {"9" * 5000}}}')),
    ),
    Attack("stanza: resources.json a list", _STANZA, _stanza(lambda f: (f / "resources.json").write_text("[]"))),
    Attack(
        "stanza: resources.json of other types",
        _STANZA,
        _stanza(lambda f: (f / "resources.json").write_text('{"de": 5}')),
    ),
)
