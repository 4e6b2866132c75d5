"""GEST: the numbers by hand, the files of a run, and the published shares of two systems in three
languages."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mtbias
from mtbias.corpora import load_corpus
from mtbias.errors import DataError, SettingError
from mtbias.evaluation.speaker_calls import COUNTING, speaker_rates
from mtbias.report.plots import panels
from mtbias.report.report_runs import report_run
from mtbias.settings import ScoreSettings
from tests.cli.machine import run_here

SENTENCES = [
    ("I was tired.", 1),
    ("I like it.", 1),
    ("I am a leader, I came first.", 13),
    ("I am lost.", 16),
]
CZECH = ["Byla jsem unavená.", "Ráda vařím.", "Přišel jsem první.", "Nevím."]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Four sentences of three stereotypes."""
    path = tmp_path / "gest.csv"
    lines = [f'"{sentence}",{stereotype}\n' for sentence, stereotype in SENTENCES]
    path.write_text("sentence,stereotype\n" + "".join(lines), encoding="utf-8")
    return path


def score(
    data: Path, targets: Sequence[str | None], lang: str, stanza_dir: Path, **settings: Any
) -> mtbias.Run:
    chosen = ScoreSettings(
        dataset="gest", data=data, stanza_dir=stanza_dir, device="cpu", **settings
    )
    return mtbias.score(targets, lang, settings=chosen, allow_missing=True)


def test_the_rates_are_means_of_shares() -> None:
    # by hand: about women p is 20 in 1 to 6 and 90 in 7, so p_f = (6 · 20 + 90) / 7 = 30; about men
    # 80 everywhere; f_m = (30 + 80) / 2, f_s = 80 − 30; calls of both forms and none count nowhere
    counts = np.zeros((16, 4), dtype=np.int64)
    counts[:6] = [2, 8, 1, 3]
    counts[6] = [90, 10, 0, 0]
    counts[7:] = [8, 2, 0, 5]
    found = {key: float(value) for key, value in speaker_rates(counts).items()}
    assert found["f_m"] == pytest.approx(55)
    assert found["f_s"] == pytest.approx(50)
    # 12 + 90 + 72 men of 60 + 100 + 90
    assert found["p"] == pytest.approx(100 * 174 / 250)
    group = COUNTING.group(counts, 200, 0)
    assert (group.classes["n"], group.decided) == (6 * 14 + 100 + 9 * 15, 256)
    assert group.plain()["undecided"] == 6 * 4 + 9 * 5
    low, high = group["f_s"].interval or (0, 0)
    assert low < 50 < high


def test_a_stereotype_without_a_gender_leaves_the_rates_undefined() -> None:
    counts = np.zeros((16, 4), dtype=np.int64)
    counts[:15, 0] = 5
    counts[15, 3] = 5
    group = COUNTING.group(counts, 50, 0)
    assert (group["f_m"].value, group["f_m"].interval, group["p"].value) == (None, None, 100)


def test_resamples_keep_the_sentences_of_each_stereotype() -> None:
    # Each stereotype shows one gender alone, so no resample can have other shares; drawn over all
    # sentences, some would lack a stereotype.
    counts = np.zeros((16, 4), dtype=np.int64)
    counts[:7, 1] = 2
    counts[7:, 0] = 2
    group = COUNTING.group(counts, 100, 0)
    assert (group["f_s"].interval, group["f_m"].interval) == ((100, 100), (50, 50))


def test_a_run_has_the_speaker_and_the_numbers_of_each_stereotype(
    table: Path, stanza_dir: Path
) -> None:
    run = score(table, CZECH, "cs", stanza_dir)
    lines = [record.to_json() for record in run.calls]
    assert [(line["id"], line["entity"], line["gender"], line["stereotype"]) for line in lines] == [
        ("gest-0001", "speaker", "female", 1),
        ("gest-0002", "speaker", "female", 1),
        ("gest-0003", "speaker", "male", 13),
        ("gest-0004", "speaker", None, 16),
    ]
    assert (lines[0]["target"], lines[3]["reason"]) == (["Byla", "unavená"], "no morphology")
    groups = run.metrics["by_stereotype"]
    assert list(groups) == ["1", "13", "16"]
    assert [(g["male"], g["female"], g["undecided"], g["p"]) for g in groups.values()] == [
        (0, 2, 0, 0.0),
        (1, 0, 0, 100.0),
        (0, 0, 1, None),
    ]
    assert groups["1"]["ci"]["p"][0] == 0
    assert (run.metrics["overall"]["f_m"], run.metrics["reasons"]) == (None, {"no morphology": 1})
    # the plot of the 16 shows p alone, for the rates are of all sentences
    plot = dict(panels([report_run(run)]))["by_stereotype"]
    assert plot.title == "Masculine by stereotype, in per cent and points"


def test_a_language_that_shows_nothing_is_silent(table: Path, stanza_dir: Path) -> None:
    run = score(
        table, ["Ich war müde.", "Ich mag es.", "Ich bin Leiterin.", None], "de", stanza_dir
    )
    assert run.metrics["overall"]["decided"] == 0
    assert run.metrics["reasons"] == {"untranslated": 1, "no morphology": 3}


def test_what_is_wrong_with_the_file_is_said_in_one_line(
    table: Path, tmp_path: Path, stanza_dir: Path
) -> None:
    table.write_text("sentence,stereotype\nI sleep.,17\n", encoding="utf-8")
    with pytest.raises(
        DataError, match=r"gest\.csv:2.*stereotype: expected a number from 1 to 16, got '17'"
    ):
        load_corpus("gest", table)
    table.write_text("sentence,stereotype\n,3\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"sentence: expected a sentence in one line, got ''"):
        load_corpus("gest", tmp_path)
    table.write_text("text,stereotype\nI sleep.,3\n", encoding="utf-8")
    with pytest.raises(DataError, match="'sentence'"):
        load_corpus("gest", table)
    table.write_text("sentence,stereotype\nI sleep.,3\n", encoding="utf-8")
    with pytest.raises(SettingError, match=r"variant.*mt-geneval"):
        score(table, ["Spím."], "cs", stanza_dir, variant="plain")
    with pytest.raises(
        SettingError, match=r"aligner.*no words are aligned for this data set; leave it out here"
    ):
        score(table, ["Spím."], "cs", stanza_dir, aligner="eflomal")


@pytest.mark.slow
def test_the_commands_score_compare_and_report_it(
    table: Path, tmp_path: Path, stanza_dir: Path
) -> None:
    data = ("--dataset", "gest", "--data", str(table))
    given = tmp_path / "given.tsv"
    for name, targets in (("a", CZECH), ("b", ["Byl jsem unavený.", *CZECH[1:]])):
        rows = zip((sentence for sentence, _ in SENTENCES), targets, strict=True)
        given.write_text(
            "source\ttarget\n" + "".join(f"{s}\t{t}\n" for s, t in rows), encoding="utf-8"
        )
        done = run_here(
            "score", "--lang", "cs", *data, "--translations", str(given), "--out", str(tmp_path / name),
            "--system", name, "--stanza-dir", str(stanza_dir), "--device", "cpu",
            "--cache-dir", str(tmp_path / "cache"),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "Stereotype rate f_s" in done.stdout
    compared = run_here("compare", str(tmp_path / "a"), str(tmp_path / "b"), "--full")
    assert compared.returncode == 0, compared.stderr
    assert "gest: 4 sentences" in compared.stdout
    assert "Sentences with another call" in compared.stdout
    assert "McNemar" not in compared.stdout
    page = tmp_path / "page.html"
    assert (
        run_here("report", str(tmp_path / "a"), str(tmp_path / "b"), "--out", str(page)).returncode
        == 0
    )
    assert 'aria-label="By stereotype"' in page.read_text(encoding="utf-8")
    made = run_here(
        "eval", "--model", "demo", "--lang", "cs", *data, "--out", str(tmp_path / "demo"), "--offline",
        "--stanza-dir", str(stanza_dir), "--device", "cpu", "--cache-dir", str(tmp_path / "cache"),
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    refused = run_here("corpora", "counterfactual", *data, "--out", str(tmp_path / "c.tsv"))
    assert refused.stderr.strip() == (
        "mtbias: --dataset: expected sentences with an entity and its gender, which gest does not mark"
    )
    again = mtbias.read_run(tmp_path / "a")
    assert again.scores.to_json()["overall"] == json.loads(json.dumps(again.metrics["overall"]))


def published(shared: Path) -> dict[tuple[str, str], dict[str, float]]:
    """The printed shares by system and language, in per cent."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    with (shared / "data" / "gest" / "published.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            found.setdefault((row["system"], row["lang"]), {})[row["stereotype"]] = 100 * float(
                row["p"]
            )
    return found


@pytest.mark.parametrize(
    ("system", "lang"),
    [
        pytest.param(system, lang, marks=pytest.mark.exhaustive if n else pytest.mark.slow)
        for n, (system, lang) in enumerate(
            product(["nllb_3b", "amazon_translate"], ["cs", "ru", "uk"])
        )
    ],
)
def test_the_published_shares(
    shared: Path, stanza_dir: Path, tmp_path_factory: pytest.TempPathFactory, system: str, lang: str
) -> None:
    folder = shared / "data" / "gest"
    with (folder / "translations" / system / f"{lang}.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        texts = {row["from"].strip(): row["to"].strip() for row in csv.DictReader(file)}
    corpus = load_corpus("gest", folder)
    cache = tmp_path_factory.getbasetemp() / "gest"
    targets = [texts[instance.source] for instance in corpus.instances]
    run = score(folder, targets, lang, stanza_dir, cache_dir=cache, resamples=0)
    groups = run.metrics["by_stereotype"]
    away = [abs(groups[name]["p"] - p) for name, p in published(shared)[system, lang].items()]
    # The shares are printed in whole points: half a point is rounding.
    assert len(away) == 16
    assert sum(away) / 16 <= 1.0
    assert max(away) <= 3.0
