"""Parts of unfinished translations: whole or absent, of one plan."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from mtbias.errors import RunFolderError
from mtbias.runs.kept_parts import PARTS, PLAN, PartStore, PlanRecord, kept_parts, remove_parts

RECORDS = [{"text": "Das ist gut.\u2028\n", "cut": True}, {"text": "", "cut": False}]


def _store(folder: Path, key: str = "plan") -> PartStore:
    return PartStore(folder, PlanRecord(key, {}, (2,) * 9), alone=False)


def test_what_is_put_is_got(tmp_path: Path) -> None:
    _store(tmp_path).put(7, RECORDS)
    assert _store(tmp_path).get(7) == RECORDS
    assert _store(tmp_path).get(8) is None


def test_a_part_of_another_plan_counts_as_absent(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _store(tmp_path).put(0, RECORDS)
    (tmp_path / PARTS / PLAN).unlink()
    with caplog.at_level(logging.WARNING, "mtbias"):
        assert _store(tmp_path, "other").get(0) is None
    assert "000000.jsonl is of another plan; it is made again" in caplog.text


def test_a_damaged_part_counts_as_absent_wherever_it_is_damaged(tmp_path: Path) -> None:
    store = _store(tmp_path)
    store.put(0, RECORDS)
    path = tmp_path / PARTS / "000000.jsonl"
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place])
        assert store.get(0) is None
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert store.get(0) is None
    path.write_bytes(whole)
    assert store.get(0) == RECORDS


def test_what_another_process_is_writing_is_left_alone(tmp_path: Path) -> None:
    theirs = tmp_path / PARTS / ".000003.jsonl.99.n1.0a1b2c3d.tmp"
    theirs.parent.mkdir()
    theirs.write_text("half")
    assert kept_parts(tmp_path) == frozenset()
    assert theirs.exists()


def test_they_are_removed_at_the_end(tmp_path: Path) -> None:
    _store(tmp_path).put(0, RECORDS)
    remove_parts(tmp_path)
    remove_parts(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / PARTS).write_text("a file where the folder should be")
    with pytest.raises(
        RunFolderError, match="cannot make the folder: File exists; correct that and run the same command"
    ):
        _store(tmp_path)
