"""A lock that waits: for a file that several processes read, change and write."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mtbias.files.folder_lock import NO_LOCKS

_log = logging.getLogger(__name__)


@contextmanager
def waiting_lock(path: Path) -> Iterator[None]:
    """Hold the lock file `path` within the block, after waiting for whoever has it; it ends with the process.

    Where the file system has no locks, a warning is logged and the block runs without. The file stays.
    Who removes it afterwards does no harm: filelock sees that the file it waited for is gone, and takes a new one.

    Raises:
        OSError: the file cannot be written.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        _log.warning("%s: another process writes there; waiting for it", path.parent)
        lock.acquire()
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        _log.warning("%s: no file locks here; do not start two commands that write there", path.parent)
    try:
        yield
    finally:
        lock.release()
