"""One run folder, many processes: who may be in it together, who claims the manifest, whose
temporaries stay."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mtbias.errors import RunFolderError
from mtbias.files.file_ledger import PARTS
from mtbias.files.writing import is_ours, write_atomic, write_new
from mtbias.runs.run_folder import RunFolder
from mtbias.types import Json

IDENTITY: dict[str, Json] = {"dataset": "demo", "language": "es", "seed": 0}


def test_many_may_share_a_folder(tmp_path: Path) -> None:
    with (
        RunFolder(tmp_path).open_or_create(IDENTITY, {"host": "n1"}, shared=True),
        RunFolder(tmp_path).open_or_create(IDENTITY, {"host": "n2"}, shared=True) as second,
    ):
        assert second.manifest.identity == IDENTITY
        assert second.manifest.execution == {
            "host": "n1"
        }  # of the first; the others leave it as it is


def test_nobody_opens_alone_what_is_shared(tmp_path: Path) -> None:
    said = re.escape(
        f"{tmp_path}: a task that translates a shard is writing into this folder; wait for it"
    )
    with (
        RunFolder(tmp_path).open_or_create(IDENTITY, shared=True),
        RunFolder(tmp_path).open_or_create(IDENTITY, shared=True) as second,
    ):
        with pytest.raises(RunFolderError, match=said):
            RunFolder(tmp_path).open_or_create(IDENTITY)
        second.close()
        with pytest.raises(RunFolderError, match=said):  # the first is still there
            RunFolder(tmp_path).open_or_create(IDENTITY)
    RunFolder(tmp_path).open_or_create(IDENTITY).close()


def test_nobody_shares_what_is_open_alone(tmp_path: Path) -> None:
    with (
        RunFolder(tmp_path).open_or_create(IDENTITY),
        pytest.raises(
            RunFolderError, match=f"process {os.getpid()} on .* is writing into this folder"
        ),
    ):
        RunFolder(tmp_path).open_or_create(IDENTITY, shared=True)
    RunFolder(tmp_path).open_or_create(IDENTITY, shared=True).close()


def test_a_shared_folder_is_of_one_run(tmp_path: Path) -> None:
    with (
        RunFolder(tmp_path).open_or_create(IDENTITY, shared=True),
        pytest.raises(RunFolderError, match="belongs to another run: seed: 0 here, 1"),
    ):
        RunFolder(tmp_path).open_or_create({**IDENTITY, "seed": 1}, shared=True)


def test_files_of_the_run_are_for_the_one_who_is_alone(tmp_path: Path) -> None:
    with (
        RunFolder(tmp_path).open_or_create(IDENTITY, shared=True) as folder,
        pytest.raises(RunFolderError, match="not open for writing; use open_or_create"),
    ):
        folder.write_atomic("calls.jsonl", b"")


def test_parts_without_a_manifest_are_no_run(tmp_path: Path) -> None:
    # What remains where somebody removed the manifest, or copied half a folder: nothing says whose
    # parts they are.
    (tmp_path / PARTS).mkdir()
    with pytest.raises(
        RunFolderError,
        match=r"expected an empty folder or one with manifest\.json, got translations",
    ):
        RunFolder(tmp_path).open_or_create(IDENTITY, shared=True)


def test_only_who_is_alone_removes_what_killed_processes_left(tmp_path: Path) -> None:
    # A node died between write and rename: half a file under a name of its own. Or it is alive and
    # just writing.
    RunFolder(tmp_path).open_or_create(IDENTITY).close()
    (tmp_path / PARTS).mkdir()
    left = [
        tmp_path / ".manifest.json.0a1b2c3d4e5f6071.tmp",
        tmp_path / PARTS / ".000003.jsonl.0a1b2c3d4e5f6071.tmp",
    ]
    for path in left:
        path.write_text("half")
    RunFolder(tmp_path).open_or_create(IDENTITY, shared=True).close()
    assert all(path.exists() for path in left)
    RunFolder(tmp_path).open_or_create(IDENTITY).close()
    assert not any(path.exists() for path in left)


def test_temporary_names_are_of_one_write_and_known_as_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two tasks on two nodes that write the same file at once.
    names: list[str] = []
    monkeypatch.setattr(Path, "replace", lambda self, target: names.append(self.name))
    write_atomic(tmp_path / "a.json", b"1")
    write_atomic(tmp_path / "a.json", b"1")
    first, second = names
    assert first != second
    assert first.startswith(".a.json.")
    assert is_ours(first)
    assert not is_ours(".thesis.tex.tmp")
    assert list(tmp_path.iterdir()) == []


CLAIM = """
import json, sys
from mtbias.runs.run_folder import RunFolder
sys.stdin.readline()
with RunFolder(sys.argv[1]).open_or_create(json.loads(sys.argv[2]), {"host": sys.argv[3]}, shared=True) as folder:
    print(folder.manifest.execution["host"])
"""


@pytest.mark.slow
def test_of_many_who_come_at_once_one_writes_the_manifest(tmp_path: Path) -> None:
    path = tmp_path / "run"
    command = [sys.executable, "-c", CLAIM, str(path), json.dumps(IDENTITY)]
    processes = [
        subprocess.Popen(
            [*command, f"n{n}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for n in range(6)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate()[0] for process in processes]
    assert all(process.returncode == 0 for process in processes)
    assert len(set(said)) == 1
    assert sorted(entry.name for entry in path.iterdir()) == [".lock", "manifest.json"]


def test_a_new_file_is_written_once(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    assert write_new(path, b"first")
    assert not write_new(path, b"second")
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno

    def no_links(source: Path, target: Path) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "plan.json"
    assert write_new(path, b"first")
    assert not write_new(path, b"second")
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_that_another_wrote_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plan.json"
    link = os.link

    def late(source: Path, target: Path) -> None:
        path.write_bytes(b"theirs")
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    assert not write_new(path, b"ours")
    assert path.read_bytes() == b"theirs"
    assert list(tmp_path.iterdir()) == [path]
