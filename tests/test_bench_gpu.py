"""The measurement on a GPU: its arithmetic by hand, and that it runs and ends in time, without a
GPU."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from scripts.bench.hours import hours_of, stage_seconds, wall_hours
from scripts.bench.runner import Runner, spread
from scripts.bench.work import Work
from scripts.bench_gpu import Log

ROOT = Path(__file__).resolve().parent.parent
TOY = ("--device", "cpu", "--tiny", "--corpus", "400", "--families", "opus-mt", "--limit", "8")


def speed(family: str, engine: str, dtype: str, rate: float) -> dict[str, Any]:
    return {
        "kind": "speed",
        "family": family,
        "variant": {"engine": engine, "dtype": dtype, "goal": 0.0},
        "batches": 2,
        "planned": 16,
        "sentences": 80,
        "tokens": 4000,
        "tokens_a_sentence": 40.0,  # of the plan; that of what was timed is 50: 100 sentences of the plan
        "seconds": 100 / rate,
        "floor": 25 / rate,
        "binds": "memory",
        "peak": 2048.0,
    }


def test_hours_by_hand() -> None:
    # 8 × 105,687 sentences / 3,600 = 234.86 hours at one sentence a second
    hours = hours_of({"a": 10, "b": 100}, {"align": 1.0, "analyse": 3.0})
    assert hours == {
        "translate a": pytest.approx(23.486),
        "translate b": pytest.approx(2.3486),
        "align": pytest.approx(2 * 0.23486),  # a second for 1,000, for both families
        "analyse": pytest.approx(2 * 0.70458),
    }
    # a: 100 ms a sentence, longer than the 1.5 ms of two processes; b: 1 ms, shorter; aligning
    # comes after
    assert wall_hours({"a": 10}, {"align": 1.0, "analyse": 3.0}, 2) == pytest.approx(234.86 * 0.101)
    assert wall_hours({"b": 1000}, {"align": 1.0, "analyse": 3.0}, 2) == pytest.approx(
        234.86 * 0.0025
    )


def test_stages_are_those_of_the_largest_size() -> None:
    one = {"cpu": 2.0, "peak": 1.0}
    sizes = {
        name: dict.fromkeys(("align", "analyse", "decide", "score"), one)
        for name in ("100", "1000", "200")
    }
    assert stage_seconds(sizes) == {"align": 2.0, "analyse": 2.0, "decide": 2.0, "score": 2.0}


@pytest.mark.parametrize("count", [1, 2, 5, 16])
def test_few_batches_are_spread_over_the_plan(count: int) -> None:
    order = spread(count)
    assert sorted(order) == list(range(count))
    assert order[0] == count // 2
    if count == 16:
        assert order[:4] == [8, 0, 12, 4]


def test_timing_ends_when_the_next_batch_would_be_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("scripts.bench.runner.time", SimpleNamespace(perf_counter=lambda: clock[0]))
    runner = object.__new__(Runner)
    runner.work = tuple(Work(((n,),), 9) for n in range(4))
    runner._cuda = False

    def translate(_: Work) -> None:
        clock[0] += 2

    monkeypatch.setattr(runner, "_translate", translate)
    runner.variant = cast(Any, SimpleNamespace(engine="transformers"))
    done, seconds = runner.timed(5)  # 2 + 2, and 6 would be too many
    assert ([batch.sources[0][0] for batch in done], seconds) == ([2, 0], 4)
    assert len(runner.timed(0)[0]) == 1  # one at least
    assert len(runner.timed(100)[0]) == 4  # and each once


def test_the_report_says_what_was_measured_and_what_was_not(tmp_path: Path) -> None:
    log = Log(tmp_path / "out", {"align": 1.0, "analyse": 3.0}, time.perf_counter())
    for family in ("opus-mt", "m2m100", "mbart50"):
        log.add(speed(family, "easynmt", "float32", 10))
        log.add(speed(family, "transformers", "float16", 500))
    log.add(
        {
            "kind": "speed",
            "family": "opus-mt",
            "variant": {"engine": "ct2", "dtype": "x"},
            "left_out": "no cuBLAS",
        }
    )
    log.add({"kind": "not reached", "job": "price", "family": None})
    page = (tmp_path / "out" / "report.md").read_text()
    assert (
        "| opus-mt | transformers float16 | 2 of 16 × 40 | 500 | 50.0 | 2,048 | 25% (memory) |"
        in page
    )
    assert "| opus-mt | ct2 x | left out: no cuBLAS | | | | |" in page
    # A family: 234.86 × (2 + 1 + 3 ms) one after the other, × (2 + 1 ms) where analysing hides
    # behind translating; fast falls back on transformers.
    assert (
        "fast: 24 cells × 105,687 sentences: 4.23 h one stage after the other, 2.11 h with two processes"
        in page
    )
    assert "opus-mt 0.47 h (11%)" in page
    assert "paper:" not in page  # fp32 was not measured
    assert "- not reached: price" in page
    kept = (tmp_path / "out" / "results.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in kept] == log.results


@pytest.mark.slow
def test_it_ends_at_its_deadline(tmp_path: Path) -> None:
    done = _run(tmp_path, "--minutes", "0.25")
    assert "- not reached: price" in done.stdout
    assert list(Path(tmp_path / "home").iterdir()) == []


@pytest.mark.exhaustive
def test_it_runs(tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2")
    done = _run(tmp_path, "--minutes", "8")
    found = [
        json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()
    ]
    assert {one["kind"] for one in found} == {
        "machine",
        "checkpoint",
        "speed",
        "cascade",
        "codec",
        "price",
    }
    engines = [one["variant"]["engine"] for one in found if one["kind"] == "speed"]
    assert engines == ["easynmt", "transformers", "ct2", "ct2"]
    (cascade,) = (one for one in found if one["kind"] == "cascade")
    assert cascade["halved"] >= 1
    assert cascade["translated"] == cascade["equal"] == 48  # in fp32, on a CPU
    assert all(mib < cascade["need"] / 4 for mib in cascade["alive"])
    prices = {one["type"]: one for one in found if one["kind"] == "price"}
    assert prices["transformers:float32"]["changed"] == 0
    assert "left_out" in prices["ct2:float16"]  # no processor's type
    assert (tmp_path / "out" / "translations-de-transformers-bfloat16.jsonl").read_text().count(
        "\n"
    ) == 8
    assert done.stdout == (tmp_path / "out" / "report.md").read_text() + "\n"


def _run(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    (folder / "home").mkdir()
    command = [sys.executable, "scripts/bench_gpu.py", *TOY, "--out", str(folder / "out"), *more]
    environment = {"TMPDIR": str(folder / "home"), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done
