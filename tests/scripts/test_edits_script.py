"""Predicted edits against MT-GenEval's references: the distance by hand, and a small part of the
pairs."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtbias.settings import EvaluatorSettings
from scripts import edits


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ("la médica está cansada", "el médico está cansado", 3),
        ("la amiga de la reina", "el amigo del rey", 5),  # de la: one word left out, one exchanged
        ("igual", "igual", 0),
        ("", "dos palabras", 2),
    ],
)
def test_the_distance_is_in_words(one: str, other: str, words: int) -> None:
    assert (
        edits.distance(one.split(), other.split())
        == edits.distance(other.split(), one.split())
        == words
    )


@pytest.mark.slow
def test_a_part_of_the_pairs(
    shared: Path, stanza_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluator = EvaluatorSettings(stanza_dir=stanza_dir, cache_dir=tmp_path)
    assert edits.main(lang=["es"], limit=20, evaluator=evaluator) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    whole = [line for line in lines if line[0] == "es"]
    assert [line[1] for line in whole] == ["male", "female"]
    for line in whole:
        predicted, real = (float(line[line.index(word) + 1]) for word in ("predicted", "real"))
        assert 0.6 * real < predicted <= real
        assert float(line[-1]) > 0.7
