"""Locks: of a folder, into which one process writes alone or many together; and one that waits, of a file that several
processes read, change and write.
"""

from __future__ import annotations

import errno
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mtbias.errors import RunFolderError
from mtbias.files.writing import LOCK_NAME, explained, make_folder

NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
"""What a file system without locks says."""
_SHARED = "shared"

_log = logging.getLogger(__name__)


class FolderLock:
    """The right to write into a folder: of one process alone, or shared by many; it ends with them, even when killed.

    It is an advisory lock (flock) on ``.lock``, which holds the process number and host of the one holder. Where the
    system or the file system has no such locks, a warning is logged and the folder is used without.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK_NAME
        self._handle: int | None = None
        self._is_shared = False

    def acquire(self, *, shared: bool = False) -> None:
        """Take the lock, alone or `shared` with others who share it.

        Raises:
            RunFolderError: another process holds it, or the lock file cannot be written.
        """
        with explained(self._path, "write"):
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            with explained(self._path, "lock"):
                self._flock(handle, shared=shared)
            holder = _SHARED if shared else f"{os.getpid()} {socket.gethostname()}"
            with explained(self._path, "write"):
                os.ftruncate(handle, 0)
                os.pwrite(handle, f"{holder}\n".encode(), 0)
        except BaseException:
            os.close(handle)
            raise
        self._handle, self._is_shared = handle, shared

    def release(self) -> None:
        """Give the lock back; nothing happens where it is not held."""
        if self._handle is not None:
            handle, self._handle = self._handle, None
            if not self._is_shared:
                with suppress(OSError):
                    os.ftruncate(handle, 0)
            os.close(handle)

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._handle is not None

    @property
    def shared(self) -> bool:
        """Whether this object holds the lock together with others."""
        return self.held and self._is_shared

    def _flock(self, handle: int, *, shared: bool) -> None:
        try:
            import fcntl
        except ImportError:
            _log.warning("%s: this system has no file locks; do not start two runs in one folder", self._path.parent)
            return
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunFolderError(
                f"{self._path.parent}: {_holder(handle)} is writing into this folder; "
                "wait for it, stop it, or choose another folder"
            ) from None
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            _log.warning("%s: no file locks here; do not start two runs in one folder", self._path.parent)


def _holder(handle: int) -> str:
    pid, _, host = os.pread(handle, 1000, 0).decode(errors="replace").strip().partition(" ")
    if pid == _SHARED:
        return "a task that translates a shard"
    return f"process {pid} on {host}" if pid else "another process"


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Make a folder, and hold its lock alone within the block.

    Raises:
        RunFolderError: another process holds it, or the folder cannot be made.
    """
    make_folder(folder)
    lock = FolderLock(folder)
    lock.acquire()
    try:
        yield
    finally:
        lock.release()


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
