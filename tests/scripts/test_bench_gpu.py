"""The measurement on a GPU: its arithmetic by hand, and that it runs and ends in time, without a
GPU."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from scripts.bench.families import TINY
from scripts.bench.gpu_jobs import kind_of, shares_busy
from scripts.bench.hours import hours_of, stage_seconds, wall_hours
from scripts.bench.limits import launch_seconds
from scripts.bench.runner import Runner, Variant
from scripts.bench_gpu import MINUTES, SECONDS, Log

ROOT = Path(__file__).resolve().parents[2]
TOY = ("--device", "cpu", "--tiny", "--corpus", "400", "--limit", "8")


def speed(
    family: str, engine: str, dtype: str, rate: float, *, recorded: bool = False
) -> dict[str, Any]:
    variant = Variant(engine, dtype, recorded=recorded)
    return {
        "kind": "graphs" if recorded else "steps",
        "family": family,
        "variant": asdict(variant),
        "sentences": 160,
        "steps": 25,
        "tokens": 4000,
        "tokens_a_sentence": 40.0,  # of the plan: what was timed is as much as 100 sentences
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
    # a: 100 ms a sentence, longer than the 4 / 2 ms of two processes; then the last cell's 4 s for
    # each 1,000 of 105,687: 0.1174 hours
    stages = {"align": 1.0, "analyse": 3.0}
    assert wall_hours({"a": 10}, stages, 2) == pytest.approx(23.486 + 0.1174, abs=1e-3)
    # b: 1 ms, shorter than the 2 ms
    assert wall_hours({"b": 1000}, stages, 2) == pytest.approx(234.86 * 0.002 + 0.1174, abs=1e-3)


def test_stages_are_those_of_the_largest_size() -> None:
    one = {"cpu": 2.0, "peak": 1.0}
    sizes = {
        name: dict.fromkeys(("align", "analyse", "decide", "score"), one)
        for name in ("100", "1000", "200")
    }
    assert stage_seconds(sizes) == {"align": 2.0, "analyse": 2.0, "decide": 2.0, "score": 2.0}


def test_the_middle_batch_and_the_tokens_of_its_plan() -> None:
    runner = object.__new__(Runner)
    runner.shape = TINY["opus-mt"]
    runner.lengths = [(9, 5), (7, 20), (12, 8), (5, 4), (10, 11)]  # source and target tokens
    # By source: 12 and 10, 9 and 7, 5; the longest targets are 11, 20 and 4.
    batch, tokens = runner.batch(2)
    assert ([len(ids) for ids in batch.sources], batch.length) == ([9, 7], 20)
    assert tokens == (2 * 11 + 2 * 20 + 4) / 5


def test_kinds_of_kernels() -> None:
    assert kind_of("sm90_xmma_gemm_f16f16_f32_tn_n") == "products"
    assert kind_of("aten::addmm") == "products"
    assert kind_of("fmha_cutlassF_f16_aligned_64x64_rf_sm80") == "attention"
    assert kind_of("void cunn_SoftMaxForward<4, float>") == "scores"
    assert kind_of("void at::native::radixFindKthValues<float>") == "scores"
    assert kind_of("Memcpy DtoD (Device -> Device)") == "moving"
    assert kind_of("void at::native::vectorized_layer_norm_kernel<c10::Half>") == "rest"


def test_how_busy_the_gpu_was() -> None:
    found = shares_busy(["0", "0", "80", "100", "0", "60", "0", "[N/A]"])
    assert found == {"all": pytest.approx(240 / 7), "between": 60.0}
    assert shares_busy(["0", "0"]) is None


def test_a_kernel_takes_time() -> None:
    found = launch_seconds("cpu", count=10)
    assert list(found) == ["python"]
    assert found["python"] > 0


def test_the_report_says_what_was_measured_and_what_was_not(tmp_path: Path) -> None:
    log = Log(tmp_path / "out", {"align": 1.0, "analyse": 3.0}, time.perf_counter())
    for family in ("opus-mt", "m2m100", "mbart50"):
        log.add(speed(family, "easynmt", "float32", 10) | {"kind": "easynmt"})
        log.add(speed(family, "transformers", "float16", 500))
        log.add(speed(family, "transformers", "bfloat16", 400))
        log.add(speed(family, "transformers", "float16", 1000, recorded=True))
    left_out = {"variant": asdict(Variant("ct2", "float16", replicas=2)), "left_out": "no cuBLAS"}
    log.add({"kind": "ct2", "family": "opus-mt", **left_out})
    log.add({"kind": "equal", "search": "recorded", "sentences": 64, "equal": 63})
    kinds = {"products": 1.0, "rest": 0.5}
    taken_apart = {"step": 6.0, "idle": 4.5, "started": 240.0, "kinds": kinds}
    what = {"family": "m2m100", "dtype": "float16", "sentences": 320, "steps": 12}
    log.add({"kind": "profile", **what, **taken_apart})
    run = {"cells": 2, "sentences": 4000, "tasks": "translating", "ended": "exit 0"}
    log.add({"kind": "sweep", **run, "seconds": 20.0, "busy": {"all": 70.4, "between": 91.6}})
    log.add({"kind": "not reached", "job": "price"})
    log.add({"kind": "ended early", "job": "ct2", "why": "its time was over"})
    page = (tmp_path / "out" / "report.md").read_text()
    # 25 steps in 100 / 500 s; the limit is four times the speed
    assert (
        "| opus-mt | transformers float16 | 160 × 25 | 8.0 | 500 | 50.0 | 2,000 | 25% (memory) | 2,048 |"
        in page
    )
    assert "| opus-mt | transformers float16, recorded | 160 × 25 | 4.0 | 1,000 | 100.0 |" in page
    assert "| opus-mt | ct2 float16, 2 replicas |  | left out: no cuBLAS |" in page
    assert "- recorded: 63 of 64 translations equal `model.generate`'s" in page
    # A family: 234.86 × (2 + 1 + 3 ms) one after the other, by the faster of the two types; with two
    # processes or more × 2 ms, no less than 4 / 2, and the last cell's 0.12 hours.
    assert (
        "\nfast: 24 cells × 105,687 sentences: 4.23 h one stage after the other, 1.53 h with"
        in page
    )
    assert "opus-mt 0.47 h (11%)" in page
    assert "\nfast with CUDA graphs: 24 cells" in page
    assert "\npaper:" not in page  # fp32 was not measured
    assert "| m2m100 float16 | 320 × 12 | 240 | 6.00 | 1.00 | 0.50 | 4.50 |" in page
    assert "2 cells × 4,000 sentences (translating, exit 0): 20.0 s; the GPU was busy 70 %" in page
    assert "- not reached: price" in page
    assert "- ended early: ct2 its time was over" in page
    kept = (tmp_path / "out" / "results.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in kept] == log.results


def test_all_jobs_fit_into_nine_minutes() -> None:
    assert sum(SECONDS.values()) <= 60 * MINUTES - 5


@pytest.mark.slow
def test_it_ends_at_its_deadline(tmp_path: Path) -> None:
    done = _run(tmp_path, "--minutes", "0.25")
    ended = re.findall(r"^- (?:not reached|ended early): (\w+)", done.stdout, re.MULTILINE)
    kept = (tmp_path / "out" / "results.jsonl").read_text().splitlines()
    kinds = {json.loads(line)["kind"] for line in kept}
    # However fast the machine is: what has no result is named, and the sweep, the last, is.
    assert SECONDS.keys() - kinds <= {*ended}
    assert "sweep" in ended
    assert list(Path(tmp_path / "home").iterdir()) == []


@pytest.mark.slow
def test_it_runs(tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2")
    sources = [tmp_path / "winomt.txt", tmp_path / "bug.txt"]
    for file in sources:
        file.write_text("The nurse called her mother.\nThe driver saw his car.\n", "utf-8")
    families = ("opus-mt", "m2m100")
    more = ("--families", *families, "--sources", *map(str, sources))
    done = _run(tmp_path, "--minutes", "30", *more)
    found = [
        json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()
    ]
    assert {one["kind"] for one in found} == {"checkpoint", *SECONDS}
    of = {kind: [one for one in found if one["kind"] == kind] for kind in SECONDS}
    assert [one["equal"] for one in of["equal"]] == [16, 16]
    assert [one["family"] for one in of["easynmt"]] == [*families]
    assert [one["sentences"] for one in of["steps"]] == [4, 8, 16, 24] * 2
    assert [one["variant"]["recorded"] for one in of["graphs"]] == [False, False, True, True] * 2
    assert [one["variant"]["engine"] for one in of["ct2"]] == ["ct2", "ct2"]
    assert all(one["kinds"]["products"] > 0 for one in of["profile"])
    assert of["sweep"][-1] | {"seconds": 0} == {
        "kind": "sweep",
        "cells": 2,
        "sentences": 40,
        "tasks": "translating",
        "ended": "exit 0",
        "seconds": 0,
        "busy": None,  # no GPU, no counter
    }
    assert [one["of"] for one in of["price"][:3]] == ["winomt", "bug", "winomt"]
    prices = {one["type"]: one for one in of["price"]}
    assert prices["transformers:float32"]["changed"] == 0
    assert "left_out" in prices["ct2:float16"]  # no processor's type
    file = tmp_path / "out" / "translations-bug-de-transformers-bfloat16.jsonl"
    assert file.read_text().count("\n") == 2
    assert done.stdout == (tmp_path / "out" / "report.md").read_text() + "\n"
    assert list(Path(tmp_path / "home").iterdir()) == []


def _run(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    (folder / "home").mkdir()
    command = [sys.executable, "scripts/bench_gpu.py", *TOY, "--out", str(folder / "out"), *more]
    environment = {"TMPDIR": str(folder / "home"), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done
