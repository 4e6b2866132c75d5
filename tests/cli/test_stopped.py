"""`mtbias score` killed at any moment, or out of disk: one line at most, and the same command then
ends as ever."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pytest

from .conftest import small_winomt
from .machine import Machine

pytestmark = pytest.mark.slow

Command: TypeAlias = "tuple[str | Path, ...]"
FILES = ("calls.jsonl", "metrics.json")


@dataclass(frozen=True)
class Undisturbed:
    """A run on a machine of its own, from nothing to its end."""

    options: Command
    seconds: float
    files: dict[str, bytes]


def _files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.fixture(scope="module")
def undisturbed(
    winomt: Path, german: Path, stanza_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Undisturbed:
    """195 rows of WinoMT (3,888, every 20th), scored from nothing."""
    folder = tmp_path_factory.mktemp("undisturbed")
    corpus = small_winomt(winomt, folder / "winomt", every=20)
    options = ("score", "--lang", "de", "--translations", str(german), "--data", str(corpus))
    start = time.monotonic()
    with Machine(folder, stanza_dir).start(
        *options, "--out", folder / "run"
    ) as process:  # as those that are killed
        out, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    assert out.startswith(b"195 sentences, ")
    return Undisturbed(options, time.monotonic() - start, _files(folder / "run"))


def _kill_and_go_on(undisturbed: Undisturbed, machine: Machine, seed: int) -> None:
    """Two processes killed one after the other, each at a random moment; the third is left
    alone."""
    moments = random.Random(seed)
    command: Command = (*undisturbed.options, "--out", machine.folder / "run")
    for _ in range(2):
        with machine.start(*command) as process:
            time.sleep(moments.uniform(0, undisturbed.seconds))
            process.kill()
            process.communicate()
    done = machine.run(*command)
    assert (done.returncode, done.stderr) == (0, "")
    assert _files(machine.folder / "run") == undisturbed.files
    assert not list((machine.folder / "run").glob(".*.tmp"))


def test_killed_at_a_random_moment(
    undisturbed: Undisturbed, stanza_dir: Path, tmp_path: Path
) -> None:
    _kill_and_go_on(undisturbed, Machine(tmp_path, stanza_dir), 0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(1, 22))
def test_killed_at_many_random_moments(
    undisturbed: Undisturbed, stanza_dir: Path, tmp_path: Path, seed: int
) -> None:
    _kill_and_go_on(undisturbed, Machine(tmp_path, stanza_dir), seed)


def _limited(
    machine: Machine, kilobytes: int, *command: str | Path
) -> subprocess.CompletedProcess[str]:
    """Run mtbias with a limit on the size of the files it writes."""
    code = (
        "import resource, runpy, sys; "
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({kilobytes << 10}, resource.RLIM_INFINITY)); "
        "sys.argv[0] = 'mtbias'; runpy.run_module('mtbias', run_name='__main__')"
    )
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, command)],
        capture_output=True,
        text=True,
        env=machine.environment(),
        check=False,
    )


def _one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("mtbias: ")
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def test_a_limit_on_files_stops_the_run_and_the_cache(
    undisturbed: Undisturbed, stanza_dir: Path, tmp_path: Path
) -> None:
    machine = Machine(tmp_path, stanza_dir)
    command: Command = (*undisturbed.options, "--out", tmp_path / "run")
    # The cache of analyses is the first file to grow; then, with the cache in place, what language
    # identification unpacks into a temporary file. The run's own files are those of the small disk
    # below.
    said = _one_line(_limited(machine, 64, *command))
    assert f"cannot write analyses to {machine.cache / 'analyses'}" in said
    assert "free space and start again" in said
    done = machine.run(*undisturbed.options)
    assert done.returncode == 0
    shutil.rmtree(machine.cache / "results")
    said = _one_line(_limited(machine, 64, *command))
    assert f"{tempfile.gettempdir()}: cannot unpack py3langid's model in it" in said
    assert "File too large; make room and run the same command again, it resumes" in said
    assert not (tmp_path / "run" / "metrics.json").exists()
    done = machine.run(*command)
    assert (done.returncode, done.stderr) == (0, "")
    assert _files(tmp_path / "run") == undisturbed.files


@pytest.fixture
def small_disk(mount_disk: Callable[[str], Path]) -> Path:
    """A file system of 96 KiB."""
    return mount_disk("96k")


def test_a_full_disk_is_one_line_and_the_run_goes_on(
    undisturbed: Undisturbed, stanza_dir: Path, small_disk: Path, tmp_path: Path
) -> None:
    # Translations (some 40 KB) fit, the calls (some 150 KB) do not.
    assert len(undisturbed.files["calls.jsonl"]) > 96 << 10
    machine = Machine(tmp_path, stanza_dir)
    command: Command = (*undisturbed.options, "--out", small_disk / "run")
    said = _one_line(machine.run(*command))
    assert "No space left on device; make room and run the same command again, it resumes" in said
    assert not (small_disk / "run" / "metrics.json").exists()
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    done = machine.run(*command)
    assert (done.returncode, done.stderr) == (0, "")
    assert _files(small_disk / "run") == undisturbed.files


def test_a_cache_on_a_full_disk_is_one_line(
    undisturbed: Undisturbed, stanza_dir: Path, small_disk: Path, tmp_path: Path
) -> None:
    machine = Machine(small_disk, stanza_dir)
    command: Command = (*undisturbed.options, "--out", tmp_path / "run")
    assert "cannot write analyses to" in _one_line(machine.run(*command))
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    done = machine.run(*command)
    assert (done.returncode, done.stderr) == (0, "")
    assert _files(tmp_path / "run") == undisturbed.files
