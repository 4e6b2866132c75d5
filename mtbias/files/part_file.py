"""What a run keeps beside the file that it makes (``OUT.part``): whole lines, for one process at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mtbias.files.folder_lock import waiting_lock
from mtbias.files.writing import explained


@contextmanager
def part_lock(part: Path) -> Iterator[None]:
    """Two runs into one file wait for each other; the lock's file goes when the block ends.

    Raises:
        RunFolderError: the lock cannot be written.
    """
    lock = part.with_name(f".{part.name}.lock")
    try:
        with explained(part, "write"), waiting_lock(lock):
            yield
    finally:
        lock.unlink(missing_ok=True)


def append_line(descriptor: int, line: str) -> None:
    """Append `line` straight to the file: a kill leaves whole lines and at most a part of the last one.

    Raises:
        OSError: it cannot be written.
    """
    data = memoryview(line.encode() + b"\n")
    while data:
        data = data[os.write(descriptor, data) :]
