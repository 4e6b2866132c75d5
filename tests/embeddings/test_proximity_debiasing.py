"""RAN: where the optimum is by hand in two dimensions, and what the command writes."""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from mtbias.cli import main
from mtbias.embeddings.debiasing import moved_apart
from mtbias.embeddings.measure_settings import DebiasSettings
from mtbias.embeddings.vectors import read_vectors
from mtbias.stats.results import Floats
from tests.embeddings.test_embeddings_commands import WORDS
from tests.embeddings.toy_vectors import toy, write_vectors, written

G = np.array([1.0, 0.0])


def _moved(repels: bool, **weights: float) -> Floats:
    """w = (.8, .6), its only neighbour n = (.96, .28)."""
    rows, near = np.array([[0.8, 0.6]]), np.array([[[0.96, 0.28]]])
    none = {"repulsion": 0.0, "attraction": 0.0, "neutralisation": 0.0}
    settings = DebiasSettings(**{**none, **weights}, learning_rate=0.004, steps=300)  # type: ignore[arg-type]
    return np.asarray(moved_apart(rows, near, np.array([[repels]]), G, settings)[0])


def test_each_part_alone() -> None:
    # Neutralisation alone: |cos| with g is least, 0, at (0, 1). Repulsion alone: at a right angle
    # to n. Attraction alone, and repulsion without a word that repels: it stays.
    assert _moved(False, neutralisation=1.0) == pytest.approx([0, 1], abs=0.01)
    assert abs(_moved(True, repulsion=1.0) @ [0.96, 0.28]) < 0.01
    assert _moved(True, attraction=1.0) == pytest.approx([0.8, 0.6], abs=1e-6)
    assert _moved(False, repulsion=1.0) == pytest.approx([0.8, 0.6], abs=1e-6)


def test_attraction_against_neutralisation() -> None:
    # w' = (cos t, sin t), w at angle a, cos a = .8. λ2 (1 − cos(t − a)) / 2 + λ3 cos t with λ2 = 1,
    # λ3 = .25 is stationary where sin(t − a) / 2 = .25 sin t, that is tan t (cos a / 2 − .25) = sin
    # a / 2: tan t = .3 / .15 = 2.
    assert _moved(False, attraction=1.0, neutralisation=0.25) == pytest.approx(
        [1 / sqrt(5), 2 / sqrt(5)], abs=0.005
    )


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vectors, words = write_vectors(tmp_path, toy()), written(tmp_path, WORDS, "w.toml")
    out = tmp_path / "ran.txt"
    options = [
        "--vectors",
        vectors,
        "--words",
        words,
        "--out",
        out,
        "--method",
        "ran",
        "--neighbours",
        5,
        "--steps",
        20,
    ]
    assert main(["embeddings", "debias", *map(str, options), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["counts"]["moved"], made["counts"]["kept"]) == (72, 8)
    assert "|neighbours:5|theta:0.05|" in made["signature"]
    before, after = read_vectors(vectors), read_vectors(out)
    assert after.words == before.words
    kept = [f"w{n}" for n in range(8)]
    assert after.rows(kept) == pytest.approx(before.rows(kept), abs=1e-8)
    assert np.abs(after.matrix[8:] - before.matrix[8:]).max() > 0.01
    assert main(["embeddings", "debias", *map(str, [*options[:-1], 20, "--rounds", 3])]) == 2
