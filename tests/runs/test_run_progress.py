"""How far a run is: by the plan and the names of the parts alone."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

from mtbias.errors import RunFolderError
from mtbias.files.file_ledger import PARTS
from mtbias.files.kept_work import (
    PLAN,
    PartStore,
    PlanRecord,
    kept_parts,
    read_plan,
)
from mtbias.runs.run_folder import RunFolder, RunProgress, begun, run_progress
from mtbias.types import Json

IDENTITY: dict[str, Json] = {"dataset": "demo", "seed": 0}
PLANNED = PlanRecord("a1b2", {"budget": [80, 327680]}, (16, 16, 5))
NOTHING = RunProgress(None, complete=False, missing=frozenset())


def test_nothing_is_known_before_the_plan(tmp_path: Path) -> None:
    assert run_progress(tmp_path / "not there") == NOTHING
    RunFolder(tmp_path / "run").open_or_create(IDENTITY).close()
    assert run_progress(tmp_path / "run") == NOTHING
    assert not NOTHING.translated


def test_parts_count_as_they_come(tmp_path: Path) -> None:
    RunFolder(tmp_path).open_or_create(IDENTITY).close()
    store = PartStore(tmp_path, PLANNED, alone=True)
    assert run_progress(tmp_path) == RunProgress(3, complete=False, missing=frozenset({0, 1, 2}))
    store.put(2, [])
    (tmp_path / PARTS / ".000001.jsonl.0a1b2c3d4e5f6071.tmp").write_text("half")
    assert kept_parts(tmp_path) == {2}
    assert run_progress(tmp_path) == RunProgress(3, complete=False, missing=frozenset({0, 1}))
    store.put(0, [])
    store.put(1, [])
    assert run_progress(tmp_path) == RunProgress(3, complete=False, missing=frozenset())
    assert run_progress(tmp_path).translated
    store.drop(1)
    assert run_progress(tmp_path).missing == {1}


def test_a_complete_run_says_what_its_manifest_says(tmp_path: Path) -> None:
    with RunFolder(tmp_path).open_or_create(IDENTITY) as folder:
        folder.write_calls([])
        folder.record_execution({"parts": 3})
        folder.write_metrics({"fingerprint": folder.manifest.fingerprint})
    assert run_progress(tmp_path) == RunProgress(3, complete=True, missing=frozenset())
    (tmp_path / "calls.jsonl").write_text("changed\n")
    assert not run_progress(tmp_path).complete


def test_of_given_translations_there_are_no_parts(tmp_path: Path) -> None:
    with RunFolder(tmp_path).open_or_create(IDENTITY) as folder:
        folder.write_calls([])
        folder.write_metrics({"fingerprint": folder.manifest.fingerprint})
    assert run_progress(tmp_path) == RunProgress(None, complete=True, missing=frozenset())


# ----- the plan


def test_the_plan_is_written_once_and_read(tmp_path: Path) -> None:
    assert read_plan(tmp_path) is None
    PartStore(tmp_path, PLANNED, alone=False)
    before = (tmp_path / PARTS / PLAN).stat().st_ino
    PartStore(tmp_path, PLANNED, alone=False)
    assert read_plan(tmp_path) == PLANNED
    assert (tmp_path / PARTS / PLAN).stat().st_ino == before


@pytest.mark.parametrize("alone", [True, False])
def test_a_plan_damaged_anywhere_is_noticed_and_made_again(
    tmp_path: Path, alone: bool, caplog: pytest.LogCaptureFixture
) -> None:
    PartStore(tmp_path, PLANNED, alone=True).put(0, [])
    path = tmp_path / PARTS / PLAN
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place])
        assert read_plan(tmp_path) is None
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert read_plan(tmp_path) is None
    with caplog.at_level(logging.WARNING, "mtbias"):
        PartStore(tmp_path, PLANNED, alone=alone)
    assert "plan.json is damaged; it is made again" in caplog.text
    assert path.read_bytes() == whole
    assert kept_parts(tmp_path) == {0}


def test_another_plan_is_refused_where_others_work_on_it(tmp_path: Path) -> None:
    PartStore(tmp_path, PLANNED, alone=False)
    said = "3 parts (budget [80, 327680]), asked for: 2 parts (budget [40, 9]). Use the"
    with pytest.raises(RunFolderError, match=re.escape(said)):
        PartStore(tmp_path, PlanRecord("c3", {"budget": [40, 9]}, (20, 17)), alone=False)
    assert read_plan(tmp_path) == PLANNED


def test_another_plan_of_one_who_is_alone_replaces_the_parts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    PartStore(tmp_path, PLANNED, alone=True).put(0, [])
    other = PlanRecord("c3", {"budget": [40, 9]}, (20, 17))
    PartStore(tmp_path, other, alone=True)
    assert read_plan(tmp_path) == other
    assert [path.name for path in (tmp_path / PARTS).iterdir()] == [PLAN]
    assert (
        "divided into 3 parts (budget [80, 327680]) and now is into 2 parts (budget [40, 9]): 1 parts"
        in caplog.text
    )


def test_what_a_run_was_begun_with(tmp_path: Path) -> None:
    assert begun(tmp_path) == {}
    RunFolder(tmp_path).open_or_create(IDENTITY).close()
    PartStore(tmp_path, PLANNED, alone=True)
    assert begun(tmp_path) == {**IDENTITY, "budget": [80, 327680]}
