"""The files of a checkpoint: what is damaged, missing or dangerous in them is refused, in one
line."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from mtbias.errors import ModelError
from mtbias.translate.seq2seq.checkpoints import locate
from mtbias.translate.seq2seq.codec import Codec
from mtbias.translate.seq2seq.decoding import Decoding
from mtbias.translate.seq2seq.engine import Bounds
from mtbias.translate.seq2seq.transformers_engine import TransformersEngine

from .reference import change, translate

DECODING = Decoding(beams=3)


def test_a_folder_without_config(copied: Callable[[str], Path], tmp_path: Path) -> None:
    folder = copied("m2m100")
    (folder / "config.json").unlink()
    with pytest.raises(
        ModelError, match=r"m2m100: found no config.json; give the folder of a checkpoint"
    ):
        Codec(folder, "de")
    with pytest.raises(
        ModelError, match=r"expected a checkpoint in Hugging Face's layout, got no config.json"
    ):
        locate(str(folder), "de", cache=tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"{", "damaged: .*;"), (b"\xff\xfe{", "damaged: .*;"), (b"[]", "expected an object;")],
)
def test_a_damaged_config(copied: Callable[[str], Path], content: bytes, said: str) -> None:
    folder = copied("m2m100")
    (folder / "config.json").write_bytes(content)
    with pytest.raises(ModelError, match=f"config.json: .*{said} download the checkpoint again"):
        Codec(folder, "de")


@pytest.mark.parametrize("kind", ["llama", "nothing-that-exists", None])
def test_an_unknown_architecture(copied: Callable[[str], Path], kind: str | None) -> None:
    folder = copied("m2m100")
    change(folder / "config.json", model_type=kind)
    for name in ("vocab.json", "sentencepiece.bpe.model"):
        (
            folder / name
        ).unlink()  # what another architecture has may not load at all: that is not what is said
    with pytest.raises(
        ModelError, match=f"says model_type {kind!r}; expected one of marian .*`mtbias score`"
    ):
        Codec(folder, "de")


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("m2m100", ["vocab.json"]),
        ("m2m100", ["sentencepiece.bpe.model"]),
        ("marian", ["vocab.json"]),
        ("marian", ["source.spm"]),
        ("marian", ["target.spm"]),
        (
            "mbart50",
            ["tokenizer.json", "sentencepiece.bpe.model"],
        ),  # two would load, with language codes alone
        ("nllb", ["tokenizer.json", "sentencepiece.bpe.model"]),
        ("madlad", ["tokenizer.json", "spiece.model"]),
    ],
)
def test_a_tokenizer_without_its_files(
    copied: Callable[[str], Path], name: str, files: list[str]
) -> None:
    folder = copied(name)
    for file in files:
        (folder / file).unlink()
    with pytest.raises(
        ModelError,
        match=r"loading the tokenizer with transformers failed: .*again|the tokenizer knows \d+ tokens of",
    ):
        Codec(folder, "de")


def test_weights_that_are_not_there(copied: Callable[[str], Path]) -> None:
    folder = copied("m2m100")
    weights = folder / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[: len(content) // 2])
    with pytest.raises(
        ModelError,
        match=r"m2m100: loading the weights with transformers failed: SafetensorError: .*; download",
    ):
        TransformersEngine(folder)
    weights.unlink()
    with pytest.raises(
        ModelError,
        match=r"m2m100: loading the weights with transformers failed: OSError: .*; download",
    ):
        TransformersEngine(folder)


@pytest.mark.parametrize("name", ["marian", "m2m100", "mbart50", "nllb", "madlad"])
def test_weights_of_which_some_are_lost(copied: Callable[[str], Path], name: str) -> None:
    # transformers would put random numbers in their place and say so where nobody reads it.
    from safetensors.torch import load_file, save_file

    folder = copied(name)
    weights = load_file(folder / "model.safetensors")
    lost = sorted(
        key for key in weights if ".1." in key and ("fc1" in key or "DenseReluDense" in key)
    )
    for key in lost:
        del weights[key]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(
        ModelError,
        match=f"the weights lack {lost[0]} and {len(lost) - 1} more; .*: download it again",
    ):
        TransformersEngine(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers(
    copied: Callable[[str], Path], tmp_path: Path, value: float
) -> None:
    # A search with them ends all the same, in text.
    from safetensors.torch import load_file, save_file

    from mtbias.translate.seq2seq.ct2_engine import CTranslate2Engine

    folder = copied("m2m100")
    weights = load_file(folder / "model.safetensors")
    name = "model.decoder.layers.1.fc1.weight"
    weights[name].view(-1)[-1] = value
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    said = f"m2m100: the weights {name} have values that are infinite or not a number in float32; download"
    with pytest.raises(ModelError, match=said):
        TransformersEngine(folder)
    with pytest.raises(ModelError, match=said):
        CTranslate2Engine(folder, cache=tmp_path)


def test_fewer_layers_in_the_config_than_in_the_weights(copied: Callable[[str], Path]) -> None:
    folder = copied("m2m100")
    change(folder / "config.json", decoder_layers=1)
    with pytest.raises(
        ModelError, match=r"the weights have model\.decoder\.layers\.1\..*config.json does not"
    ):
        TransformersEngine(folder)


@pytest.mark.parametrize("value", [10**6, -1, "</s>", [2, 10**6]])
def test_special_tokens_that_the_vocabulary_lacks(
    copied: Callable[[str], Path], value: object
) -> None:
    folder = copied("m2m100")
    change(folder / "generation_config.json", eos_token_id=value)
    with pytest.raises(
        ModelError,
        match=r"generation_config.json: eos_token_id: expected an id below \d+, got |failed",
    ):
        TransformersEngine(folder)


def test_what_generation_raises_names_the_checkpoint(copied: Callable[[str], Path]) -> None:
    folder = copied("m2m100")
    change(folder / "generation_config.json", bad_words_ids=[["all"]])
    engine = TransformersEngine(folder)
    with pytest.raises(
        ModelError, match=r"m2m100: generating with transformers failed: \w+Error: .*download"
    ):
        engine.generate([[3, 4, 2]], Bounds(Decoding(beams=1), 5, None))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"<html>"])
def test_damaged_settings_of_generation(copied: Callable[[str], Path], content: bytes) -> None:
    folder = copied("m2m100")  # transformers passes over such a file
    (folder / "generation_config.json").write_bytes(content)
    with pytest.raises(ModelError, match=r"generation_config.json: (damaged|expected an object)"):
        Codec(folder, "de")


@pytest.mark.parametrize("length", ["long", -1, 1])
def test_a_length_that_no_sentence_has(copied: Callable[[str], Path], length: object) -> None:
    folder = copied("m2m100")
    change(folder / "tokenizer_config.json", model_max_length=length)
    with pytest.raises(
        ModelError, match=f"model_max_length: expected a number of at least 8, got {length!r}"
    ):
        Codec(folder, "de")


def test_two_keys_of_a_config_that_name_two_architectures(copied: Callable[[str], Path]) -> None:
    folder = copied("m2m100")
    change(folder / "config.json", model_type="marian")
    with pytest.raises(
        ModelError, match="model_type 'marian' and architectures 'M2M100ForConditionalGeneration'"
    ):
        Codec(folder, "de")


class Trap:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (str(self.path), "w")


def write_zip(content: dict[str, Any], path: Path) -> None:
    """As ``torch.save`` does it."""
    torch.save(content, path)


def write_pickle(content: dict[str, Any], path: Path) -> None:
    """A bare pickle, of torch's protocol."""
    path.write_bytes(pickle.dumps(content, protocol=2))


@pytest.mark.parametrize("write", [write_zip, write_pickle])
def test_pickled_weights_run_no_code(
    copied: Callable[[str], Path], tmp_path: Path, write: Callable[[dict[str, Any], Path], None]
) -> None:
    folder, sprung = copied("m2m100"), tmp_path / "sprung"
    (folder / "model.safetensors").unlink()
    write({"trap": Trap(sprung)}, folder / "pytorch_model.bin")
    with pytest.raises(
        ModelError, match="expected weights, got a pickle with something else in it"
    ):
        TransformersEngine(folder)
    assert not sprung.exists()
    if write is write_zip:  # it is a trap
        torch.load(folder / "pytorch_model.bin", weights_only=False)["trap"].close()
        assert sprung.exists()


def test_code_in_a_checkpoint_is_not_run(copied: Callable[[str], Path], tmp_path: Path) -> None:
    folder = copied("m2m100")
    expected = translate(folder, "de")
    for name in ("config.json", "tokenizer_config.json"):
        change(
            folder / name,
            auto_map={
                "AutoConfig": "own.Config",
                "AutoModelForSeq2SeqLM": "own.Model",
                "AutoTokenizer": ["own.Tokenizer", None],
            },
        )
    (folder / "own.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'w')", encoding="utf-8")
    assert translate(folder, "de") == expected
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("name", ["m2m100", "marian"])
def test_a_tokenizer_splits_in_one_way_whatever_its_settings_say(
    copied: Callable[[str], Path], name: str
) -> None:
    folder = copied(name)
    expected = Codec(folder, "de").encode(["The cook told the guard that she is tired."] * 20)
    sampling = {"enable_sampling": True, "nbest_size": -1, "alpha": 0.01}
    for settings in (sampling, {"model_file": "/etc/passwd"}):
        change(folder / "tokenizer_config.json", sp_model_kwargs=settings)
        assert (
            Codec(folder, "de").encode(["The cook told the guard that she is tired."] * 20)
            == expected
        )


@pytest.mark.parametrize(
    "name", ["../w.safetensors", "/tmp/model.safetensors", "sub/model.safetensors", "w.safetensors"]
)
def test_weights_elsewhere_are_refused(
    copied: Callable[[str], Path], name: str, tmp_path: Path
) -> None:
    folder = copied("m2m100")
    index = folder / "model.safetensors.index.json"
    index.write_text(
        json.dumps({"metadata": {}, "weight_map": {"a": "model-1.safetensors", "b": name}}), "utf-8"
    )
    with pytest.raises(
        ModelError,
        match=r"index\.json: expected names of weights in this folder \(.*\), got '" + name,
    ):
        locate(str(folder), "de", cache=tmp_path)


@pytest.mark.parametrize("place", ["_attn_implementation", "attn_implementation", "text_config"])
def test_code_of_the_hub_is_refused(
    copied: Callable[[str], Path], place: str, tmp_path: Path
) -> None:
    folder, kernel = copied("m2m100"), "owner/kernel"
    change(
        folder / "config.json",
        **{place: {"_attn_implementation": kernel} if place == "text_config" else kernel},
    )
    with pytest.raises(
        ModelError, match=r"config\.json: .*attn_implementation: expected .*, got code of the hub"
    ):
        locate(str(folder), "de", cache=tmp_path)
