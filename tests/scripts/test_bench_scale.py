"""The benchmark of all stages: its texts have BUG's lengths, and it runs."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.bench.texts import draw_words, make_pairs, read_sentences
from scripts.bench_scale import table, whole_table

ROOT = Path(__file__).resolve().parents[2]


def test_lengths_are_those_of_bugs_gold_file() -> None:
    rng = random.Random(1)
    words = sorted(draw_words(rng) for _ in range(20_000))
    # median 29 and 95th percentile 58, by construction; the mean of that log-normal is 29·exp(σ²/2)
    # = 31.6 with σ = ln 2 / 1.6449, a little less when it is cut at 96 (BUG's own is 31.3)
    assert words[10_000] == pytest.approx(29, abs=1)
    assert words[19_000] == pytest.approx(58, abs=2)
    assert statistics.fmean(words) == pytest.approx(31.4, abs=0.5)
    assert words[0] >= 5
    assert words[-1] == 96


@pytest.mark.slow
def test_pairs_have_drawn_lengths_and_whole_entities(winomt: Path) -> None:
    sentences = read_sentences(winomt, "es")
    assert len(sentences) > 7000  # two systems, 3,888 each, without the empty ones
    pairs = list(make_pairs(sentences, 300))
    rng = random.Random(0)
    lengths = [len(instance.source.split()) for instance, _ in pairs]
    assert statistics.fmean(lengths) == pytest.approx(
        statistics.fmean(draw_words(rng) for _ in range(300)), abs=3
    )
    known = {sentence.instance.source[slice(*sentence.instance.head)] for sentence in sentences}
    assert all(instance.source[slice(*instance.head)] in known for instance, _ in pairs)
    assert len({instance.id for instance, _ in pairs}) == 300
    assert list(make_pairs(sentences, 100)) == pairs[:100]
    assert list(make_pairs(sentences, 100, seed=1)) != pairs[:100]


def test_tables() -> None:
    # 100 → 400 sentences is 4 times as much; 2 s → 12 s is 6 times, so 1.50; 12 s for 400 is 30 s
    # per 1,000
    results = {
        100: {"align": {"cpu": 2.0, "peak": 10.0}},
        400: {"align": {"cpu": 12.0, "peak": 20.0}},
    }
    assert (
        table(results, "cpu").splitlines()[-1] == "| align | 2.0, 10 | 12.0, 20 | 30.000 | 1.50 |"
    )
    # 2 families × 8 languages × 105,687 sentences; a second a sentence is 8 × 105,687 / 3,600 =
    # 234.86 h a family, and aligning, which is done for both families, twice as much
    one = {"translate a": {"cpu": 10.0}, "translate b": {"cpu": 10.0}, "align": {"cpu": 10.0}}
    shown = whole_table(one, 10, "cpu").splitlines()
    assert shown[0] == "16 cells × 105,687 sentences: 939.44 hours"
    assert shown[-3:] == [
        "| translate a | 234.860 | 25% |",
        "| translate b | 234.860 | 25% |",
        "| align | 469.720 | 50% |",
    ]


@pytest.mark.exhaustive
def test_it_runs(winomt: Path, stanza_dir: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "scripts/bench_scale.py",
        "--data",
        str(winomt),
        "--stanza-dir",
        str(stanza_dir),
    ]
    options = [
        "--tiny",
        "--corpus",
        "64",
        "--sizes",
        "1/2",
        "1",
        "--sentences",
        "16",
        "--json",
        str(tmp_path / "j"),
    ]
    done = subprocess.run(
        [*command, *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "| stage | 32: s, MiB | 64: s, MiB | s per 1,000 | linear |" in done.stdout
    found = json.loads((tmp_path / "j").read_text())
    assert list(found) == ["32", "64"]
    assert list(found["64"]) == ["translate opus-mt", "align", "analyse", "decide", "score"]
    assert all(one["cpu"] > 0 and one["peak"] > 10 for one in found["64"].values())
    assert found["64"]["analyse"]["distinct"] == 64
