"""`mtbias score` as processes of their own: locale, network, terminal, a cache that two share."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest

from .machine import Machine
from .score_commands import FILES, score_command


@pytest.mark.slow
def test_the_table_survives_a_locale_without_its_letters(
    prepared: Machine, small: Path, german: Path
) -> None:
    done = prepared.run(
        *score_command("--translations", german, "--data", small), PYTHONIOENCODING="ascii"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "ΔG" in done.stdout


@pytest.mark.slow
def test_two_runs_give_the_same_bytes(
    prepared: Machine, small: Path, german: Path, stanza_dir: Path, tmp_path: Path
) -> None:
    # One with analyses from the cache, one that makes them again; Python's hashes differ, so sets
    # have other orders.
    fresh = Machine(tmp_path / "fresh", stanza_dir)
    for machine, seed in ((prepared, "1"), (fresh, "2")):
        done = machine.run(
            *score_command("--translations", german, "--data", small, "--out", tmp_path / seed),
            PYTHONHASHSEED=seed,
        )
        assert (done.returncode, done.stderr) == (0, "")
    for name in FILES:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


@pytest.mark.slow
def test_two_processes_may_share_a_cache(
    prepared: Machine, small: Path, german: Path, stanza_dir: Path, tmp_path: Path
) -> None:
    machine = Machine(tmp_path, stanza_dir)
    arguments = score_command("--translations", german, "--data", small, "--out")
    both = [machine.start(*arguments, tmp_path / name) for name in ("a", "b")]
    for process in both:
        _, err = process.communicate()
        assert (process.returncode, err) == (0, b"")
    assert prepared.run(*arguments, tmp_path / "c").returncode == 0
    for name in FILES:
        assert len({(tmp_path / run / name).read_bytes() for run in "abc"}) == 1


NO_NETWORK = """
import sys

def refuse(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}:
        raise SystemExit(f"{event} {arguments}")

sys.addaudithook(refuse)
"""


@pytest.mark.slow
def test_nothing_reaches_for_the_network(
    small: Path, german: Path, stanza_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(NO_NETWORK, encoding="utf-8")
    machine = Machine(tmp_path, stanza_dir)
    more = {"PYTHONPATH": str(tmp_path / "site"), "HF_HUB_OFFLINE": "0"}
    done = machine.run(
        *score_command("--translations", german, "--data", small, "--out", tmp_path / "run"), **more
    )
    assert (done.returncode, done.stderr) == (0, "")
    # The guard works: fetching runs into it.
    done = machine.run("fetch", "--dataset", "winomt", **more)
    assert done.returncode != 0
    assert "socket." in done.stderr


@pytest.mark.slow
def test_progress_is_shown_on_a_terminal_only(prepared: Machine, small: Path, german: Path) -> None:
    terminal, its_end = pty.openpty()
    termios.tcsetwinsize(its_end, (24, 80))
    command = [
        sys.executable,
        "-m",
        "mtbias",
        *score_command("--translations", german, "--data", small),
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=its_end, env=prepared.environment(TERM="xterm")
    ) as process:
        os.close(its_end)
        out, _ = process.communicate()
    shown = b""
    with suppress(OSError):  # what Linux says when the other end of a terminal is closed
        while chunk := os.read(terminal, 65536):
            shown += chunk
    os.close(terminal)
    assert process.returncode == 0
    assert out.startswith(b"41 sentences, ")
    for stage in ("align", "analyse", "decide"):
        assert f"{stage}: ".encode() in shown
    assert shown.count(b"\n") == 0  # bars go away: nothing is left in the terminal
