"""Cells, tasks and estimates of a sweep."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtbias.cluster.slurm import submission_device
from mtbias.cluster.sweep_file import Resources, Slurm, Sweep
from mtbias.cluster.sweep_tasks import (
    SweepPlan,
    count_sentences,
    make_plan,
    plan_text,
)
from mtbias.errors import DataError, UsageError

SWEEP = Sweep(
    name="paper",
    out=Path("/runs"),
    models=("opus-mt", "facebook/m2m100_418M"),
    languages=("de", "he"),
    datasets=("winomt", "bug"),
)
ROWS = {"winomt": 3_888, "bug": 105_687}


def _plan(sweep: Sweep = SWEEP) -> SweepPlan:
    return make_plan(sweep, lambda _, dataset: ROWS.get(dataset))


def test_a_cell_is_a_run_folder_with_a_safe_name() -> None:
    cells = _plan(replace(SWEEP, presets=("paper", "fast"))).cells
    assert len(cells) == 2 * 2 * 2 * 2
    assert {cell.folder for cell in cells if cell.lang == "de" and cell.dataset == "bug"} == {
        Path("/runs/bug/opus-mt/de"),
        Path("/runs/bug/opus-mt-fast/de"),
        Path("/runs/bug/facebook--m2m100_418M/de"),
        Path("/runs/bug/facebook--m2m100_418M-fast/de"),
    }


def test_shards_come_from_the_sentences_or_from_the_file() -> None:
    # 3,888 / 20,000 → 1; 105,687 / 20,000 = 5.28 → 6
    assert {(cell.dataset, cell.shards) for cell in _plan().cells} == {("winomt", 1), ("bug", 6)}
    assert {cell.shards for cell in _plan(replace(SWEEP, shards=4)).cells} == {4}
    assert {cell.shards for cell in make_plan(SWEEP, lambda *_: None).cells} == {1}


@pytest.mark.slow
@given(
    shards=st.integers(1, 5),
    languages=st.sets(st.sampled_from(["ar", "cs", "de", "es"]), min_size=1),
    datasets=st.sets(st.sampled_from(["winomt", "bug", "demo"]), min_size=1),
)
def test_every_shard_is_one_task_and_every_task_comes_after_what_it_needs(
    shards: int, languages: set[str], datasets: set[str]
) -> None:
    plan = _plan(
        replace(
            SWEEP,
            languages=tuple(sorted(languages)),
            datasets=tuple(sorted(datasets)),
            shards=shards,
        )
    )
    cells = 2 * len(languages) * len(datasets)
    names = [task.id for task in plan.tasks]
    assert len(set(names)) == len(names) == cells * shards + len(languages) + 1
    assert len({task.file_name for task in plan.tasks}) == len(names)
    seen: set[str] = set()
    for task in plan.tasks:
        assert {need.id for need in plan.needs(task)} <= seen
        seen.add(task.id)
        assert plan.task(task.id) == task
    assert {need.id for need in plan.needs(plan.tasks[-1])} == {
        f"score:{lang}" for lang in languages
    }


def test_a_score_task_needs_the_shards_of_its_language() -> None:
    plan = _plan(replace(SWEEP, datasets=("winomt",), shards=2))
    assert [need.id for need in plan.needs(plan.task("score:he"))] == [
        "translate:winomt/opus-mt/he:1/2",
        "translate:winomt/opus-mt/he:2/2",
        "translate:winomt/facebook--m2m100_418M/he:1/2",
        "translate:winomt/facebook--m2m100_418M/he:2/2",
    ]


def test_a_task_that_does_not_exist_is_an_error_of_usage() -> None:
    with pytest.raises(
        UsageError,
        match="no task 'score:fr'; its tasks are such as translate:winomt/opus-mt/de:1/1",
    ):
        _plan().task("score:fr")


def test_two_models_in_one_folder_are_refused() -> None:
    with pytest.raises(DataError, match="/a/model and /b/model would share the folder 'model'"):
        _plan(replace(SWEEP, models=("/a/model", "/b/model")))


def test_sentences_are_counted_or_the_catalogs(tmp_path: Path) -> None:
    sweep = replace(SWEEP, cache_dir=tmp_path)
    assert count_sentences(sweep, "demo") == 512
    assert count_sentences(sweep, "winomt") == 3_888  # not in this cache: as published
    own = tmp_path / "own.tsv"
    own.write_text("source\tgender\tentity\nThe doctor slept.\tfemale\tdoctor\n")
    assert (
        count_sentences(replace(sweep, datasets=("custom",), data={"custom": own}), "custom") == 1
    )
    with pytest.raises(UsageError, match="unknown dataset 'wino'"):
        count_sentences(sweep, "wino")


def test_the_plan_has_a_line_for_each_cell_and_the_totals() -> None:
    lines = plan_text(_plan()).splitlines()
    assert lines[1].split() == ["winomt/opus-mt/de", "3,888", "1"]
    assert lines[9].split() == ["8", "cells", "438,300", "28"]  # 4 × (3,888 + 105,687), 4 × (1 + 6)
    assert lines[-1] == "31 tasks"  # a score task for each language, and the table
    unknown = plan_text(make_plan(SWEEP, lambda *_: None)).splitlines()
    assert unknown[9].split() == ["8", "cells", "–", "8"]


def test_resources_are_those_of_translation_and_those_of_scoring() -> None:
    slurm = Slurm(cpus=8, minutes=90, score=Resources(mem="99G"))
    plan = _plan(replace(SWEEP, slurm=slurm))
    translated, scored = (plan.resources(plan.tasks[n]) for n in (0, -2))
    assert (translated.gpus, translated.cpus, translated.mem, translated.minutes) == (
        1,
        8,
        "64G",
        90,
    )
    assert scored == Resources(gpus=0, cpus=4, mem="99G", minutes=480)


def test_the_device_of_a_submission_follows_from_the_gpus() -> None:
    assert submission_device(_plan()) == "cuda"
    assert submission_device(_plan(replace(SWEEP, slurm=Slurm(gpus=0)))) == "cpu"
    assert submission_device(_plan(replace(SWEEP, device="cpu"))) == "cpu"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"models": ("opus",)}, "got 'opus'; did you mean opus-mt"),
        ({"models": ("x y",)}, "a hub id (OWNER/NAME) or a folder with a checkpoint, got 'x y'"),
        ({"models": ("opus-mt", "/no/such/folder")}, "got '/no/such/folder'"),
        ({"models": ("other:gpt",)}, "got 'other:gpt'"),
        ({"languages": ("de", "tlh")}, "no language 'tlh' is installed"),
        (
            {"models": ("demo",), "languages": ("fr",)},
            "the model demo translates into ar, cs, de, es, he, it, ru, uk ",
        ),
        ({"datasets": ("winobias",)}, "winobias is for mtbias coref; there are winomt"),
    ],
)
def test_unknown_names_are_refused_before_anything_is_planned(
    changed: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        make_plan(replace(SWEEP, cache_dir=tmp_path, **changed))
