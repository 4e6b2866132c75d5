"""Runs of a command that are killed at random moments: the command again and again, in processes
forked from one.

Run as ``python killed_runs.py KILLS SECONDS SMALL COMMAND…``: the command is killed KILLS times,
each at a moment drawn from 0 to SECONDS, and then run to its end; chunks have SMALL passages. A run
that ends by itself before is no kill: what it made is removed, and the next one begins at the
start. Exits as the last run does, or as the first that fails.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

from mtbias.cli import main
from mtbias.mining import text_input


def run(kills: int, seconds: float, command: list[str], out: Path) -> int:
    """The exit code of the last run."""
    draw = random.Random(0)
    while kills:
        child = _started(command)
        time.sleep(draw.uniform(0, seconds))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            kills -= 1
        elif status:
            return os.waitstatus_to_exitcode(status)
        if (
            out.exists() and not out.with_name(f"{out.name}.part").exists()
        ):  # whole, so there is nothing left to kill
            out.unlink()
            out.with_suffix(".md").unlink()
    _, status = os.waitpid(_started(command), 0)
    return os.waitstatus_to_exitcode(status)


def _started(command: list[str]) -> int:
    child = os.fork()
    if child:
        return child
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os._exit(main(command))


if __name__ == "__main__":
    text_input.PASSAGES = int(sys.argv[3])
    arguments = sys.argv[4:]
    sys.exit(
        run(
            int(sys.argv[1]),
            float(sys.argv[2]),
            arguments,
            Path(arguments[arguments.index("--out") + 1]),
        )
    )
