"""The benchmark of whole runs: its arithmetic by hand, and it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.bench_eval import ENGINES, PLAIN, SCORED, table

ROOT = Path(__file__).resolve().parents[2]


def test_ratios_are_of_the_same_round() -> None:
    ct2, transformers = ENGINES
    seconds = {
        PLAIN: [100.0, 80.0],
        SCORED: [120.0, 100.0],
        ct2: [50.0, 20.0],
        transformers: [100.0, 100.0],
    }
    assert table(seconds).splitlines()[2:] == [
        f"| {PLAIN} | 100.0, 80.0 | 1.00 (1.00–1.00) | 1.23 (1.20–1.25) |",
        f"| {SCORED} | 120.0, 100.0 | 0.82 (0.80–0.83) | 1.00 (1.00–1.00) |",
        f"| {ct2} | 50.0, 20.0 | 3.00 (2.00–4.00) | 3.70 (2.40–5.00) |",
        f"| {transformers} | 100.0, 100.0 | 0.90 (0.80–1.00) | 1.10 (1.00–1.20) |",
    ]


@pytest.mark.exhaustive
def test_it_runs(winomt: Path, stanza_dir: Path) -> None:
    pytest.importorskip("ctranslate2")
    model = Path(os.environ.get("MTBIAS_SHARED", "")) / "mt_checkpoints" / "winomt-m2m100-mini"
    if not model.is_dir():
        pytest.skip("no real checkpoint: MTBIAS_SHARED/mt_checkpoints")
    command = [
        sys.executable,
        "scripts/bench_eval.py",
        "--model",
        str(model),
        "--data",
        str(winomt),
    ]
    options = ["--stanza-dir", str(stanza_dir), "--rounds", "1", "--every", "200"]
    done = subprocess.run(
        [*command, *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("20 sentences, de, 1 rounds\n\n| process |")
    assert len(done.stdout.splitlines()) == 2 + 2 + 4
