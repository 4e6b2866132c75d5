"""The folder of a run: who may open it, what is complete, what is damaged."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mtbias.errors import RunFolderError
from mtbias.runs.call_records import CallRecord
from mtbias.runs.manifest import RunManifest
from mtbias.runs.run_folder import RunFolder
from mtbias.types import Gender, GenderCall, Json, Span, Stereotype, Translation

IDENTITY: dict[str, Json] = {"dataset": "demo", "language": "es", "seed": 0}
TRANSLATIONS = [Translation("a", "La médica."), Translation("b", None, "the system gave nothing")]
CALLS = [
    CallRecord(
        0, "The doctor.", "La médica.", "doctor", Gender.FEMALE, Stereotype.ANTI, "demo", 0,
        GenderCall("a", Gender.FEMALE, None, (Span(3, 9),)),
    ),
]  # fmt: skip


def _metrics(folder: RunFolder) -> dict[str, Any]:
    return {
        "schema": 1,
        "fingerprint": folder.manifest.fingerprint,
        "n": 1,
        "by_domain": {"demo": {"n": 1}},
    }


def _complete(path: Path) -> RunFolder:
    with RunFolder(path).open_or_create(IDENTITY) as folder:
        folder.write_translations(TRANSLATIONS)
        folder.write_calls(call.to_json() for call in CALLS)
        folder.write_metrics(_metrics(folder))
    return RunFolder(path)


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return _complete(tmp_path / "run")


# ----- opening


def test_a_new_folder_gets_its_manifest(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "run"
    with RunFolder(path).open_or_create(IDENTITY, {"host": "n1"}) as folder:
        content = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
        assert content["identity"] == IDENTITY
        assert content["execution"] == {"host": "n1"}
        assert (
            content["fingerprint"]
            == folder.manifest.fingerprint
            == RunManifest(IDENTITY).fingerprint
        )
        assert content["signature"].endswith(content["fingerprint"])
        assert not folder.is_complete()
    assert not list(path.glob(".*.tmp"))


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    with RunFolder(tmp_path).open_or_create(IDENTITY):
        assert (tmp_path / "manifest.json").is_file()


def test_the_same_run_goes_on_with_its_files(run: RunFolder) -> None:
    before = {entry.name: entry.read_bytes() for entry in run.path.iterdir()}
    with RunFolder(run.path).open_or_create(dict(reversed(IDENTITY.items()))) as folder:
        assert folder.has("translations.jsonl")
        assert folder.is_complete()
    assert {entry.name: entry.read_bytes() for entry in run.path.iterdir()} == before


def test_execution_is_merged_and_does_not_change_the_run(run: RunFolder) -> None:
    with RunFolder(run.path).open_or_create(IDENTITY, {"host": "n2"}) as folder:
        folder.record_execution({"wall_time_s": 1.5})
    assert run.manifest.execution == {"host": "n2", "wall_time_s": 1.5}
    assert run.is_complete()


def test_another_identity_is_refused_key_by_key(run: RunFolder) -> None:
    asked: dict[str, Json] = {"dataset": "demo", "language": "de", "seed": 0, "beams": 5}
    with pytest.raises(RunFolderError) as caught:
        RunFolder(run.path).open_or_create(asked)
    assert str(caught.value) == (
        f"{run.path}: belongs to another run: beams: (absent) here, 5 asked for; "
        'language: "es" here, "de" asked for. Choose another folder'
    )
    # The refusal leaves everything as it was, the lock free.
    assert run.is_complete()
    RunFolder(run.path).open_or_create(IDENTITY).close()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x", encoding="utf-8")
    with pytest.raises(RunFolderError, match="expected a folder, got a file; choose another path"):
        RunFolder(path).open_or_create(IDENTITY)
    with pytest.raises(RunFolderError, match="Not a directory"):
        RunFolder(path / "below").open_or_create(IDENTITY)


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    for name in ("thesis.tex", "a", "b", "c"):
        (tmp_path / name).write_text("mine", encoding="utf-8")
    with pytest.raises(
        RunFolderError, match=r"an empty folder or one with manifest.json, got a, b, c, …; choose"
    ):
        RunFolder(tmp_path).open_or_create(IDENTITY)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a", "b", "c", "thesis.tex"]


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="needs POSIX users")
@pytest.mark.parametrize("mode", [0o555, 0o000])
def test_a_folder_that_cannot_be_written_is_explained(tmp_path: Path, mode: int) -> None:
    # Root may write everywhere, so where we are root the attempt is made by a process of user
    # 65534, which starts in `tmp_path` because it could not get there by itself.
    program = (
        "import os, sys; from mtbias.runs.run_folder import RunFolder; from mtbias.errors import MtbiasError\n"
        "os.chdir(sys.argv[1])\n"
        "if os.getuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "try: RunFolder('closed/run').open_or_create({})\n"
        "except MtbiasError as error: print(error)\n"
    )
    path = tmp_path / "closed"
    path.mkdir()
    tmp_path.chmod(0o755)
    path.chmod(mode)
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False
    )
    path.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert "Permission denied; choose a folder that you may write to" in done.stdout
    assert done.stdout.count("\n") == 1


def test_what_a_killed_process_left_is_removed(run: RunFolder) -> None:
    stale = run.path / ".calls.jsonl.0a1b2c3d4e5f6071.tmp"
    stale.write_text("half a li", encoding="utf-8")
    with RunFolder(run.path).open_or_create(IDENTITY):
        assert not stale.exists()
    assert run.is_complete()


def test_a_folder_killed_before_its_manifest_is_taken(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text("4711 n1\n", encoding="utf-8")
    (tmp_path / ".manifest.json.0a1b2c3d4e5f6071.tmp").write_text("{", encoding="utf-8")
    with RunFolder(tmp_path).open_or_create(IDENTITY) as folder:
        assert folder.manifest.identity == IDENTITY


# ----- the lock


@pytest.fixture
def other(run: RunFolder) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the folder open until its standard input ends."""
    program = (
        "import json, sys; from mtbias.runs.run_folder import RunFolder\n"
        "with RunFolder(sys.argv[1]).open_or_create(json.loads(sys.argv[2])):\n"
        "    print('open', flush=True); sys.stdin.read()\n"
    )
    arguments = [sys.executable, "-c", program, str(run.path), json.dumps(IDENTITY)]
    with subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        yield process
        process.kill()


def test_two_processes_cannot_write_into_one_folder(
    run: RunFolder, other: subprocess.Popen[str]
) -> None:
    with pytest.raises(
        RunFolderError, match=f"process {other.pid} on .* is writing into this folder; wait for it"
    ):
        RunFolder(run.path).open_or_create(IDENTITY)
    assert run.is_complete()  # reading goes on
    other.communicate("")
    RunFolder(run.path).open_or_create(IDENTITY).close()


def test_the_lock_of_a_killed_process_is_free(run: RunFolder, other: subprocess.Popen[str]) -> None:
    other.kill()
    other.wait()
    RunFolder(run.path).open_or_create(IDENTITY).close()


def test_nor_can_two_handles_of_one_process(run: RunFolder) -> None:
    with (
        RunFolder(run.path).open_or_create(IDENTITY),
        pytest.raises(RunFolderError, match=f"process {os.getpid()} on"),
    ):
        RunFolder(run.path).open_or_create(IDENTITY)
    RunFolder(run.path).open_or_create(IDENTITY).close()


def test_a_file_system_without_locks_is_used_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import errno
    import fcntl

    def no_locks(handle: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with (
        caplog.at_level(logging.WARNING),
        RunFolder(tmp_path / "run").open_or_create(IDENTITY) as folder,
    ):
        folder.write_calls(call.to_json() for call in CALLS)
    assert "no file locks here" in caplog.text


# ----- writing


def test_only_an_open_folder_can_be_written(run: RunFolder) -> None:
    with pytest.raises(RunFolderError, match="not open for writing; use open_or_create"):
        run.write_calls(call.to_json() for call in CALLS)
    folder = RunFolder(run.path).open_or_create(IDENTITY)
    folder.close()
    with pytest.raises(RunFolderError, match="not open for writing"):
        folder.write_calls(call.to_json() for call in CALLS)


def test_bytes_and_lines_are_written_as_they_are(run: RunFolder) -> None:
    with RunFolder(run.path).open_or_create(IDENTITY) as folder:
        folder.write_atomic("bytes", b"\x00\r\n\xff")
        folder.write_atomic("lines", (f"ё{i}" for i in range(2500)))
        folder.write_atomic("none", [])
    assert (run.path / "bytes").read_bytes() == b"\x00\r\n\xff"
    assert (run.path / "lines").read_bytes() == "".join(f"ё{i}\n" for i in range(2500)).encode()
    assert (run.path / "none").read_bytes() == b""


def test_lines_hold_no_newline(run: RunFolder) -> None:
    with (
        RunFolder(run.path).open_or_create(IDENTITY) as folder,
        pytest.raises(ValueError, match="without a newline inside"),
    ):
        folder.write_atomic("lines", ["a\nb"])


def test_lines_that_fail_half_way_leave_the_old_file(run: RunFolder) -> None:
    def lines() -> Iterator[str]:
        yield from (str(i) for i in range(1500))
        raise KeyboardInterrupt

    before = (run.path / "calls.jsonl").read_bytes()
    with RunFolder(run.path).open_or_create(IDENTITY) as folder, pytest.raises(KeyboardInterrupt):
        folder.write_atomic("calls.jsonl", lines())
    assert (run.path / "calls.jsonl").read_bytes() == before
    assert not list(run.path.glob(".*.tmp"))


def test_a_file_gets_the_rights_of_the_umask(run: RunFolder) -> None:
    old = os.umask(0o027)
    try:
        with RunFolder(run.path).open_or_create(IDENTITY) as folder:
            folder.write_atomic("x", b"")
    finally:
        os.umask(old)
    assert (run.path / "x").stat().st_mode & 0o777 == 0o640


# ----- reading, completeness, damage


def test_what_was_written_is_read(run: RunFolder) -> None:
    assert run.read_translations() == TRANSLATIONS
    assert run.read_calls(CallRecord.from_line) == CALLS
    metrics = run.read_metrics()
    assert metrics["n"] == 1
    assert set(metrics["files"]) == {"translations.jsonl", "calls.jsonl"}


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = _complete(tmp_path / "1"), _complete(tmp_path / "2")
    for name in ("manifest.json", "translations.jsonl", "calls.jsonl", "metrics.json"):
        assert (first.path / name).read_bytes() == (second.path / name).read_bytes()


def test_a_run_is_complete_when_its_metrics_are_there(tmp_path: Path) -> None:
    with RunFolder(tmp_path).open_or_create(IDENTITY) as folder:
        assert folder.incomplete_because() == "the run is not finished, there is no metrics.json"
        folder.write_calls(call.to_json() for call in CALLS)
        assert not folder.is_complete()
        with pytest.raises(RunFolderError, match="the run is not finished"):
            folder.read_metrics()
        folder.write_metrics(_metrics(folder))
        assert folder.is_complete()
        assert folder.incomplete_because() is None


@pytest.mark.parametrize("name", ["translations.jsonl", "calls.jsonl"])
def test_a_changed_file_makes_the_run_incomplete(run: RunFolder, name: str) -> None:
    path = run.path / name
    path.write_bytes(path.read_bytes().replace("médica".encode(), b"medico", 1))
    assert run.incomplete_because() == f"{name} was changed since metrics.json was computed from it"
    with pytest.raises(RunFolderError, match=f"{name} was changed"):
        run.read_metrics()
    path.unlink()
    assert run.incomplete_because() == f"{name} is missing"
    # Running it again repairs it.
    assert _complete(run.path).is_complete()


def test_metrics_of_another_run_make_the_run_incomplete(run: RunFolder, tmp_path: Path) -> None:
    with RunFolder(tmp_path / "other").open_or_create({**IDENTITY, "seed": 1}) as other:
        other.write_calls(call.to_json() for call in CALLS)
        other.write_metrics(_metrics(other))
    (run.path / "metrics.json").write_bytes((tmp_path / "other" / "metrics.json").read_bytes())
    assert run.incomplete_because() == "metrics.json is not the one of this run"


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff", b"{}", b'{"fingerprint": "x", "files": {}}']
)
def test_damaged_metrics_make_the_run_incomplete(run: RunFolder, content: bytes) -> None:
    (run.path / "metrics.json").write_bytes(content)
    assert "metrics.json" in (run.incomplete_because() or "")
    assert _complete(run.path).is_complete()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"schema": 1}'])
def test_a_damaged_manifest_is_noticed(run: RunFolder, content: bytes) -> None:
    (run.path / "manifest.json").write_bytes(content)
    with pytest.raises(
        RunFolderError,
        match=r"manifest.json: expected a manifest of mtbias: .*; choose another folder",
    ):
        RunFolder(run.path).open_or_create(IDENTITY)
    assert not run.is_complete()


def test_a_folder_without_a_run_is_explained(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match=r"manifest.json: no such file; run `mtbias eval`"):
        _ = RunFolder(tmp_path / "nothing").manifest
    assert not RunFolder(tmp_path / "nothing").is_complete()
