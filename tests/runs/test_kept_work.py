"""What is kept of unfinished work: complete or absent, of one plan or of the same settings."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mtbias.errors import DataError, RunFolderError
from mtbias.files.file_ledger import PARTS
from mtbias.files.kept_work import PLAN, PartStore, PlanRecord, kept_lines, kept_parts, remove_parts

RECORDS = [{"text": "Das ist gut.\u2028\n", "cut": True}, {"text": "", "cut": False}]


def _store(folder: Path, key: str = "plan") -> PartStore:
    return PartStore(folder, PlanRecord(key, {}, (2,) * 9), alone=False)


def test_what_is_put_is_got(tmp_path: Path) -> None:
    _store(tmp_path).put(7, RECORDS)
    assert _store(tmp_path).get(7) == RECORDS
    assert _store(tmp_path).get(8) is None


def test_a_part_of_another_plan_counts_as_absent(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
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
        RunFolderError,
        match="cannot make the folder: File exists; correct that and run the same command",
    ):
        _store(tmp_path)


# Lines of one process

PIECES: list[Any] = [{"id": "1", "text": "Das ist gut.\u2028\n"}, [], "\ud800"]


def _stop(out: Path, *pieces: Any, settings: Mapping[str, Any] | None = None) -> Path:
    """``OUT.part`` of a run that is stopped once it has kept `pieces`."""
    with suppress(KeyboardInterrupt), kept_lines(out, settings or {"of": ("a", 1)}) as kept:
        for piece in pieces:
            kept.append(piece)
        raise KeyboardInterrupt
    return out.with_name(f"{out.name}.part")


def test_a_stopped_run_has_its_lines_and_a_finished_one_leaves_none(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _stop(out, *PIECES[:2])
    _stop(out, PIECES[2])
    with kept_lines(out, {"of": ("a", 1)}) as kept:
        assert (list(kept), kept.resumed, kept.empty) == (PIECES, True, False)
        kept.append(4)
        assert list(kept) == [*PIECES, 4]
        out.write_text("made")
    assert list(tmp_path.iterdir()) == [out]
    with pytest.raises(DataError, match=r"out: this file is there already: choose another --out"):
        _stop(out)


@pytest.mark.parametrize(
    "content", [b"name,age\n", b"one line without an end", b"0123456789abcdef\n", b"\x00" * 20]
)
def test_a_file_of_others_in_the_place_of_kept_work_is_refused_and_stays(
    tmp_path: Path, content: bytes
) -> None:
    part = tmp_path / "out.part"
    part.write_bytes(content)
    with pytest.raises(
        DataError, match=r"out\.part: this file is not of mtbias: choose another --out"
    ):
        _stop(tmp_path / "out", *PIECES)
    assert part.read_bytes() == content


def test_a_first_line_that_a_kill_cut_off_is_written_again(tmp_path: Path) -> None:
    _stop(tmp_path / "out", *PIECES)
    part = tmp_path / "out.part"
    whole = part.read_bytes()
    for end in (0, 5, 16, 17, 30):
        part.write_bytes(whole[:end])
        _stop(tmp_path / "out", *PIECES)
        assert part.read_bytes() == whole


def test_a_run_that_is_killed_after_its_last_file_resumes(tmp_path: Path) -> None:
    _stop(tmp_path / "out", *PIECES)
    (tmp_path / "beside").write_text("made")
    with kept_lines(tmp_path / "out", {"of": ("a", 1)}, beside=[tmp_path / "beside"]) as kept:
        assert list(kept) == PIECES
    with (
        pytest.raises(DataError, match="beside: this file is there already"),
        kept_lines(tmp_path / "out", {}, beside=[tmp_path / "beside"]),
    ):
        pass


def test_a_damaged_line_and_those_behind_it_count_as_absent_wherever_it_is_damaged(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    part = _stop(out, *PIECES)
    content = part.read_bytes()
    head, *lines = content.splitlines(keepends=True)
    for place in range(len(head), len(content)):
        intact = [
            n for n in range(len(lines) + 1) if len(head) + sum(map(len, lines[:n])) <= place
        ][-1]
        for damaged in (
            content[:place],
            content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :],
        ):
            part.write_bytes(damaged)
            with suppress(KeyboardInterrupt), kept_lines(out, {"of": ("a", 1)}) as kept:
                assert list(kept) == PIECES[:intact]
                kept.append(9)
                assert list(kept) == [*PIECES[:intact], 9]
                raise KeyboardInterrupt


def test_damage_within_is_told_and_half_a_last_line_is_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    part = _stop(tmp_path / "out", *PIECES)
    content = part.read_bytes()
    for damaged, told in (
        (content + b"0123456789abcdef {", False),
        (content.replace(b"gut", b"got"), True),
    ):
        part.write_bytes(damaged)
        _stop(tmp_path / "out")
        assert ("out.part: damaged in line 2; what follows is made again" in caplog.text) is told


def test_other_work_is_refused_unless_nothing_is_kept_of_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    part = _stop(out, *PIECES, settings={"of": "b", "same": 1})
    with pytest.raises(
        DataError,
        match=r'out\.part: this run was begun with of "b", and now it is "a"; give the same',
    ):
        _stop(out, settings={"of": "a", "same": 1})
    head = b"0123456789abcdef {}"  # of another release, or damaged
    part.write_bytes(head + b"\n1\n")
    with pytest.raises(
        DataError, match=r"begun with another release of mtbias, or is damaged; give the same"
    ):
        _stop(out)
    for nothing in (head + b"\n", head, b""):
        part.write_bytes(nothing)
        assert not _stop(out).exists()


def test_a_folder_in_the_place_of_the_file_is_refused_before_anything_is_made(
    tmp_path: Path,
) -> None:
    with pytest.raises(DataError, match="expected a file, got a folder: name a file in it"):
        _stop(tmp_path)
