"""Small word vectors for the tests, and files of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mtbias.embeddings.vectors import Vectors
from mtbias.stats.results import Floats


def make_vectors(words: Sequence[str], matrix: Floats) -> Vectors:
    return Vectors(tuple(words), np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True)))


def toy() -> Vectors:
    """80 words with v_i[j] = sin(1 + 3i + j² + ij), 8 dimensions."""
    i, j = np.arange(80)[:, None], np.arange(8)[None, :]
    return make_vectors([f"w{n}" for n in range(80)], np.sin(1.0 + 3 * i + j * j + i * j))


def unit(*numbers: float) -> Floats:
    vector = np.array(numbers)
    return np.asarray(vector / np.linalg.norm(vector))


def written(folder: Path, text: str, name: str = "v.txt") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def write_vectors(folder: Path, vectors: Vectors, name: str = "v.txt") -> Path:
    """A file with a header, its numbers in full."""
    rows = zip(vectors.words, vectors.matrix.tolist(), strict=True)
    lines = [f"{word} {' '.join(map(repr, row))}\n" for word, row in rows]
    n, dimensions = vectors.matrix.shape
    return written(folder, f"{n} {dimensions}\n{''.join(lines)}", name)
