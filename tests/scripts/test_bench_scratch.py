"""The folder of a benchmark is gone afterwards, even where the process was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import time
from scripts.bench.scratch import scratch
with scratch("bench-test") as folder:
    (folder / "model.safetensors").write_bytes(bytes(1000))
    print(folder, flush=True)
    time.sleep({seconds})
"""


def start(home: Path, seconds: float) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(seconds=seconds)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(home), "PYTHONPATH": str(ROOT)},
        # Where the tests run in the background of a shell they ignore Ctrl-C, and a child would
        # inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no other thread runs here
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


@pytest.mark.parametrize("number", [None, signal.SIGINT, signal.SIGTERM])
def test_it_removes_its_folder(tmp_path: Path, number: signal.Signals | None) -> None:
    process, folder = start(tmp_path, 0.1 if number is None else 60)
    assert folder.parent == tmp_path
    if number is not None:
        process.send_signal(number)
    process.wait(timeout=60)
    process.communicate()
    assert list(tmp_path.iterdir()) == []


def test_a_second_signal_does_not_interrupt_removing(tmp_path: Path) -> None:
    process, folder = start(tmp_path, 60)
    for n in range(20_000):  # removing them takes a while
        (folder / str(n)).touch()
    process.terminate()
    while process.poll() is None:
        process.terminate()
        time.sleep(0.01)
    process.communicate()
    assert list(tmp_path.iterdir()) == []


def test_the_next_removes_what_a_killed_one_left_and_no_more(tmp_path: Path) -> None:
    killed, left = start(tmp_path, 60)
    running, used = start(tmp_path, 60)
    killed.kill()
    killed.communicate()
    assert left.exists()
    third, _ = start(tmp_path, 0)
    third.communicate()
    assert [left.exists(), used.exists()] == [False, True]
    running.terminate()
    running.communicate()
    assert list(tmp_path.iterdir()) == []
