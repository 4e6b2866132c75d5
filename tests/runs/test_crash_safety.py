"""Killed at any moment, or on a full disk, a run leaves a folder that is complete or can go on."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mtbias.runs.run_folder import RunFolder

# A run as the pipeline makes it: what is there stays, what is not is made, the metrics come last.
PROGRAM = """
import sys
from mtbias.errors import MtbiasError
from mtbias.runs.call_records import CallRecord
from mtbias.runs.run_folder import RunFolder
from mtbias.types import Gender, GenderCall, Span, Stereotype, Translation

ROWS = 1500

def one_run(path):
    with RunFolder(path).open_or_create({"dataset": "demo", "seed": 0}) as folder:
        if folder.is_complete():
            return
        if not folder.has("translations.jsonl"):
            folder.write_translations(Translation(str(i), f"La médica {i}.") for i in range(ROWS))
        folder.write_calls(
            CallRecord(i, "The doctor.", translation.text, "doctor", Gender.FEMALE, Stereotype.ANTI, "demo", 0,
                       GenderCall(translation.id, Gender.FEMALE, None, (Span(3, 9),))).to_json()
            for i, translation in enumerate(folder.read_translations())
        )
        folder.write_metrics({"fingerprint": folder.manifest.fingerprint, "n": ROWS})

if sys.argv[1] == "many":
    print("ready", flush=True)
    for i in range(10**6):
        one_run(f"{sys.argv[2]}/{i}")
        print(i, flush=True)
if sys.argv[1] == "one":
    if len(sys.argv) > 3:
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
    try:
        one_run(sys.argv[2])
    except MtbiasError as error:
        print(f"{type(error).__name__}: {error}")
        sys.exit(1)
"""
FILES = ("manifest.json", "translations.jsonl", "calls.jsonl", "metrics.json")


def _run(path: Path, *limit: str) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-c", PROGRAM, "one", str(path), *limit]
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


_one_run: dict[str, Any] = {}
exec(PROGRAM.partition("\nif ")[0], _one_run)


def _bytes(path: Path) -> dict[str, bytes]:
    return {name: (path / name).read_bytes() for name in FILES}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    path = tmp_path_factory.mktemp("undisturbed") / "run"
    done = _run(path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert RunFolder(path).is_complete()
    return _bytes(path)


def _check_and_go_on(path: Path, undisturbed: dict[str, bytes]) -> None:
    """What is there is whole; the folder says truly whether it is complete; going on ends in the
    same bytes."""
    present = [name for name in FILES if (path / name).exists()]
    for name in present:
        assert (path / name).read_bytes() == undisturbed[name]
    assert RunFolder(path).is_complete() == (present == list(FILES))
    _one_run["one_run"](path)
    assert _bytes(path) == undisturbed
    assert not list(path.glob(".*.tmp"))


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(n, marks=pytest.mark.exhaustive) for n in range(4, 12))]
)
def test_killed_at_a_random_moment(
    tmp_path: Path, undisturbed: dict[str, bytes], seed: int
) -> None:
    arguments = [sys.executable, "-c", PROGRAM, "many", str(tmp_path)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(random.Random(seed).uniform(0.0, 0.15))
        process.kill()
    runs = sorted((path for path in tmp_path.iterdir()), key=lambda path: int(path.name))
    for path in runs[:-1]:
        assert RunFolder(path).is_complete()
    for path in runs[-1:]:
        _check_and_go_on(path, undisturbed)


@pytest.mark.parametrize("name", FILES)
def test_killed_between_any_two_files(
    tmp_path: Path, undisturbed: dict[str, bytes], name: str
) -> None:
    # What a run killed just before it renamed `name` leaves behind: the files before it and a
    # temporary one.
    path = tmp_path / "run"
    path.mkdir()
    for earlier in FILES[: FILES.index(name)]:
        (path / earlier).write_bytes(undisturbed[earlier])
    (path / f".{name}.0a1b2c3d4e5f6071.tmp").write_bytes(undisturbed[name][:-1])
    _check_and_go_on(path, undisturbed)


@pytest.mark.parametrize("share", [0.0, 0.5])
@pytest.mark.parametrize("name", FILES)
def test_a_limit_on_the_size_of_files_is_explained(
    tmp_path: Path, undisturbed: dict[str, bytes], name: str, share: float
) -> None:
    # Files may grow to a part of `name`; what comes before it in the run is there already.
    pytest.importorskip("resource", reason="needs POSIX resource limits")
    path = tmp_path / "run"
    path.mkdir()
    for earlier in FILES[: FILES.index(name)]:
        (path / earlier).write_bytes(undisturbed[earlier])
    done = _run(path, str(int(share * len(undisturbed[name]))))
    if name == "metrics.json" or share == 0.0:
        # calls.jsonl, which is written again, is larger than metrics.json; with 0 not even the lock
        # can be written.
        assert done.returncode == 1
    assert done.stdout.startswith("RunFolderError: ")
    assert "File too large; make room and run the same command again, it resumes" in done.stdout
    assert done.stdout.count("\n") == 1, done.stdout
    assert done.stderr == ""
    assert not list(path.glob(".*.tmp"))
    _check_and_go_on(path, undisturbed)


@pytest.fixture
def small_disk(mount_disk: Callable[[str], Path]) -> Path:
    """A file system of 128 KiB."""
    return mount_disk("128k")


def test_a_full_disk_is_explained_and_the_run_goes_on(
    small_disk: Path, undisturbed: dict[str, bytes]
) -> None:
    # Translations take about 70 KB and fit; the calls take several times that and do not.
    assert len(undisturbed["translations.jsonl"]) < 100_000 < len(undisturbed["calls.jsonl"])
    path = small_disk / "run"
    done = _run(path)
    assert done.returncode == 1
    assert done.stdout.startswith(f"RunFolderError: {path}/")
    assert "No space left on device; make room and run the same command again" in done.stdout
    assert done.stdout.count("\n") == 1, done.stdout
    assert done.stderr == ""
    assert (path / "translations.jsonl").read_bytes() == undisturbed["translations.jsonl"]
    assert not (path / "calls.jsonl").exists()
    assert not list(path.glob(".*.tmp"))
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    _check_and_go_on(path, undisturbed)


def test_a_disk_that_is_full_from_the_start(
    small_disk: Path, undisturbed: dict[str, bytes]
) -> None:
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as file:
        while True:
            try:
                file.write(b"x" * 4096)
            except OSError:
                break
    done = _run(small_disk / "run")
    assert done.returncode == 1
    assert "No space left on device" in done.stdout
    assert done.stdout.count("\n") == 1, done.stdout
    filler.unlink()
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    if (small_disk / "run").exists():
        _check_and_go_on(small_disk / "run", undisturbed)


def test_the_manifest_of_the_runs_here_is_what_it_seems(undisturbed: dict[str, bytes]) -> None:
    assert json.loads(undisturbed["manifest.json"])["identity"] == {"dataset": "demo", "seed": 0}
