"""`mtbias score` of other corpora and forms: the translations are ours; the expected genders are those of their
articles and nouns."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from mtbias.cli import main

from .machine import Machine
from .score_commands import calls_in, score_command

OWN = [
    (
        "a",
        "The cook thanked the guard because she was kind.",
        "female",
        "cook",
        "Die Köchin dankte der Wache.",
    ),
    (
        "b",
        "The doctor left because he was tired.",
        "male",
        "doctor",
        "Der Arzt ging, weil er müde war.",
    ),
    (
        "c",
        "The teacher left because she was tired.",
        "female",
        "teacher",
        "Der Lehrer ging, weil sie müde war.",
    ),
]


def _table(path: Path, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Path:
    if path.suffix == ".jsonl":
        lines = [
            json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) for row in rows
        ]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path
    with path.open("w", encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            csv.writer(file).writerows([columns, *rows])
        else:
            file.writelines("\t".join(row) + "\n" for row in [columns, *rows])
    return path


def _folders(stanza_dir: Path, folder: Path) -> list[str | Path]:
    """The options of folders; the last is the run's."""
    cache, out = folder / "cache", folder / "run"
    return ["--stanza-dir", stanza_dir, "--cache-dir", cache, "--out", out]


@pytest.mark.parametrize("form", ["tsv", "csv", "jsonl"])
def test_sentences_of_ones_own(form: str, stanza_dir: Path, tmp_path: Path) -> None:
    data = _table(
        tmp_path / f"own.{form}", ("id", "source", "gender", "entity"), [row[:4] for row in OWN]
    )
    given = _table(tmp_path / f"mine.{form}", ("id", "target"), [(row[0], row[4]) for row in OWN])
    own = ("--dataset", "custom", "--data", data, "--translations", given)
    assert main(score_command(*own, *_folders(stanza_dir, tmp_path))) == 0
    calls = calls_in(tmp_path / "run")
    assert [(c["id"], c["gender"], c["target"][0]) for c in calls] == [
        ("a", "female", "Köchin"),
        ("b", "male", "Arzt"),
        ("c", "male", "Lehrer"),
    ]
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_bytes())
    assert metrics["overall"]["accuracy"] == pytest.approx(200 / 3, abs=1e-6)  # c is wrong
    assert "|system:mine|" in metrics["signature"]


def _the_five_alone(options: list[str | Path], out: Path) -> None:
    assert main(score_command(*options[:-1], out, "--part")) == 0
    metrics = json.loads((out / "metrics.json").read_bytes())
    of = metrics["signature"].partition("dataset:")[2].partition("|")[0]
    assert re.fullmatch(r"bug-gold-paper-5-of-17\d\d-[0-9a-f]{8}", of), of
    overall = metrics["overall"]
    # Of the men (1 and 2) and women (1 and 1) three are right; the words of four stereotypes and
    # one without.
    assert (metrics["n"], metrics["decided"], overall["accuracy"]) == (5, 5, 60.0)
    assert main(score_command(*options[:-1], out, "--part", "--allow-missing")) == 2


def test_a_slice_of_bug(shared: Path, stanza_dir: Path, tmp_path: Path) -> None:
    # Five of the 1,720 rows of the paper's Gold BUG, with translations made up here. Gold and
    # stereotype stand in the file: Female -1, Male 1, Male -1, Female 1, Male 1. The third and the
    # fourth translation are wrong.
    given = [
        ("bug-gold-paper-000784", "Die Sängerin sagte mehr dazu."),
        ("bug-gold-paper-001372", "Sobald der Sänger heimkommt, will er bleiben."),
        ("bug-gold-paper-000294", "Er fragt die Krankenschwester danach."),
        ("bug-gold-paper-000703", "Der Lehrer erlaubte es ihrer Klasse."),
        ("bug-gold-paper-001025", "Der Doktor beschließt, dass er sie entfernt."),
    ]
    path = _table(tmp_path / "mine.jsonl", ("id", "target"), given)
    options: list[str | Path] = [
        "--dataset",
        "bug-gold-paper",
        "--data",
        shared / "data" / "bug",
        "--translations",
        path,
    ]
    options += _folders(stanza_dir, tmp_path)
    assert main(score_command(*options)) == 1  # 5 of 1,720 are not 95 %
    _the_five_alone(options, tmp_path / "part")
    assert main(score_command(*options, "--allow-missing")) == 0
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_bytes())
    n = metrics["n"]
    assert n + metrics["corpus"]["skipped"] == 1720
    assert metrics["decided"] == 5
    assert metrics["reasons"] == {"untranslated": n - 5}
    assert metrics["overall"]["accuracy"] == pytest.approx(300 / n, abs=1e-6)
    assert metrics["overall"]["accuracy_bounds"][1] == pytest.approx(
        60.0
    )  # failures left out: 3 of 5
    denominators = metrics["overall"]["denominators"]
    assert (denominators["called_male"], denominators["called_female"]) == (3, 2)
    found = {
        c["id"]: (c["gender"], c["gold"], c["stereotype"])
        for c in calls_in(tmp_path / "run")
        if c["gender"]
    }
    assert [found[ident] for ident, _ in given] == [
        ("female", "female", "anti"),
        ("male", "male", "pro"),
        ("female", "male", "anti"),
        ("male", "female", "pro"),
        ("male", "male", "pro"),
    ]


def test_the_translations_of_a_run_can_be_scored_again(
    prepared: Machine, small: Path, german: Path, tmp_path: Path
) -> None:
    assert (
        main(score_command("--translations", german, "--data", small, "--out", tmp_path / "a")) == 0
    )
    again = tmp_path / "a" / "translations.jsonl"
    assert (
        main(score_command("--translations", again, "--data", small, "--out", tmp_path / "b")) == 0
    )
    assert (tmp_path / "a" / "calls.jsonl").read_bytes() == (
        tmp_path / "b" / "calls.jsonl"
    ).read_bytes()
