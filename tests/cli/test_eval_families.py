"""`mtbias eval` with local checkpoints of Opus-MT, M2M100 and mBART50: translated in the right
language, and scored."""

from __future__ import annotations

import csv
import json
import re
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from mtbias.demo import STANZA_NAME
from scripts.demo.grammar import GENDERS, Choice, Grammar, say_english
from tests.built import built

from .machine import Machine

pytestmark = pytest.mark.slow

SAID = [
    (Choice(template, person, adjective, "today"), gender)
    for template, person, adjective in (
        ("house", "baker", ""),
        ("soup", "teacher", "young"),
        ("report", "driver", ""),
        ("house", "singer", "tired"),
        ("report", "cook", "young"),
        ("soup", "writer", ""),
    )
    for gender in GENDERS
]
"""A dozen sentences, each about a man and about a woman."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`SAID` in English, as a corpus of one's own."""
    path = tmp_path_factory.mktemp("corpus") / "own.tsv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, delimiter="\t", lineterminator="\n")
        rows.writerow(["id", "source", "gender", "entity_start", "entity_end", "pair"])
        for n, (choice, gender) in enumerate(SAID):
            text, (start, end) = say_english(choice, gender)
            rows.writerow([f"own-{n}", text, gender, start, end, f"own-{n ^ 1}"])
    return path


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _words(texts: list[str]) -> list[str]:
    return re.findall(r"\w+", " ".join(texts).lower())


@pytest.mark.parametrize(
    ("name", "lang", "direction", "decoding"),
    [
        ("marian", "de", ">>deu<<", "beam5,penalty1,max200"),
        ("m2m100", "es", "en>__es__", "beam5,penalty1,max200,early"),
        ("mbart50", "de", "en_XX>de_DE", "beam5,penalty1,max200,early"),
    ],
)
def test_a_local_checkpoint_translates_and_is_scored(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    corpus: Path,
    name: str,
    lang: str,
    direction: str,
    decoding: str,
) -> None:
    from tests.translate.checkpoints import TWO_TARGETS, parallel

    machine = Machine(tmp_path)
    folder = shutil.copytree(
        built(tmp_path_factory, f"two-targets-{name}", TWO_TARGETS[name]), tmp_path / name
    )
    done = machine.run(
        "eval", "--model", folder, "--lang", lang, "--dataset", "custom", "--data", corpus,
        "--stanza-dir", STANZA_NAME, "--device", "cpu", "--out", tmp_path / "run", "--offline",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    # So small a model may leave out some of the entities, which is said first.
    assert "12 sentences, " in [line[:14] for line in done.stdout.splitlines()]

    signature = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))[
        "signature"
    ]
    assert re.search(
        rf"\|lang:{lang}\|model:{name}\|revision:sha256:[0-9a-f]{{16}}\|direction:{re.escape(direction)}"
        rf"\|engine:transformers/{re.escape(version('transformers'))}\|dtype:float32\|decoding:{decoding}\|",
        signature,
    )

    calls = _read(tmp_path / "run" / "calls.jsonl")
    assert [(call["id"], call["gold"]) for call in calls] == [
        (f"own-{n}", said[1]) for n, said in enumerate(SAID)
    ]
    texts = [call["translation"] for call in calls]
    assert texts == [row["target"] for row in _read(tmp_path / "run" / "translations.jsonl")]
    found, (other,) = _words(texts), {"de", "es"} - {lang}
    assert sum(word in set(_words(list(parallel()[lang]))) for word in found) >= 0.9 * len(found)
    assert sum(word in set(_words(list(parallel()[other]))) for word in found) <= 0.3 * len(found)

    # Where it came out as the grammar says it, the person's gender is known by construction.
    grammar = Grammar.load(lang)
    correct = [
        call
        for call, said in zip(calls, SAID, strict=True)
        if call["translation"] == grammar.say(*said).text
    ]
    assert len(correct) >= 4
    assert [call["gender"] for call in correct] == [call["gold"] for call in correct]
