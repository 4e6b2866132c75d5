"""The benchmark of engines: its arithmetic by hand, and it runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.bench.runner import BASELINE, ON_CPU, Variant
from scripts.bench_translate import Row, judge, ratios, table

ROOT = Path(__file__).resolve().parents[2]


def _row(variant: Variant, wall: list[float], sentences: int = 32) -> Row:
    ready = {
        "batches": 2,
        "sentences": sentences,
        "tokens": 900,
        "floor": 4.0,
        "binds": "arithmetic",
    }
    return Row(variant, ready, cpu=[2 * seconds for seconds in wall], wall=wall, peak=512.0)


def test_ratios_are_of_the_same_round_and_the_median_is_judged() -> None:
    baseline, engine = _row(BASELINE, [16, 20, 40]), _row(ON_CPU[2], [8, 5, 20])
    assert ratios(engine, baseline, cpu=False) == [2, 4, 2]
    assert judge(2.5, [2, 4, 2]) == "≥ 2.5: missed"
    assert judge(2.0, [2, 4, 2]) == "≥ 2: met"
    # 32 sentences in the median of 8 seconds; the floor of 4 seconds is half of it
    row = table([baseline, engine], cpu=False).splitlines()[-1]
    assert (
        row
        == "| ct2, float32 | 2 × 16 | 900 | 4 | 2.00 (2.00–4.00) | 512 | 50% (arithmetic) | ≥ 2.5: missed |"
    )


@pytest.mark.exhaustive
def test_it_runs_with_two_threads(tmp_path: Path) -> None:
    pytest.importorskip(
        "ctranslate2", reason="CTranslate2 is not installed: pip install 'mtbias[ct2]'"
    )
    out = tmp_path / "found.json"
    options = [
        "--tiny",
        "--rounds",
        "1",
        "--threads",
        "2",
        "--corpus",
        "400",
        "--sentences",
        "32",
        "--json",
        str(out),
    ]
    command = [
        sys.executable,
        str(ROOT / "scripts" / "bench_translate.py"),
        "--families",
        "opus-mt",
        "m2m100",
        *options,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 of " in done.stdout
    found = json.loads(out.read_text())
    assert not found["cpu_seconds"]  # with one thread CPU seconds, with more wall time
    assert list(found["families"]) == ["opus-mt", "m2m100"]
    for family in found["families"].values():
        assert family["left_out"] == {}
        assert [row["variant"]["engine"] for row in family["rows"]] == [
            "easynmt",
            "transformers",
            "ct2",
            "ct2",
        ]
        for row in family["rows"]:
            assert row["ready"]["sentences"] == 32
            assert row["wall"][0] > 0
