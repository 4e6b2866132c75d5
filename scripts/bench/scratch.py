"""A folder for checkpoints of hundreds of megabytes that is gone afterwards, however the benchmark
ends.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType


@contextmanager
def scratch(name: str) -> Iterator[Path]:
    """A new folder ``NAME-PID-…`` among the temporary ones; SIGTERM ends the block as an exception
    would.

    What a process that was killed outright has left is removed by the next that asks for a folder
    of that name.
    """
    home = Path(tempfile.gettempdir())
    for left in home.glob(f"{name}-*-*"):
        number = left.name.removeprefix(f"{name}-").split("-")[0]
        if number.isdecimal() and not _lives(int(number)):
            shutil.rmtree(left, ignore_errors=True)

    def stop(number: int, _: FrameType | None) -> None:
        signal.signal(
            signal.SIGTERM, signal.SIG_IGN
        )  # a second one, of `timeout` say, must not interrupt removing
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        with tempfile.TemporaryDirectory(prefix=f"{name}-{os.getpid()}-") as folder:
            yield Path(folder)
    finally:
        signal.signal(signal.SIGTERM, before)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
