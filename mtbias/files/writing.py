"""Files that are either whole or absent, errors of the operating system in one line, locks, and
signatures.

There are two locks: `locked_folder` for a folder that one process writes alone or many together,
and `waiting_lock` for a file that several processes read, change and write.
"""

from __future__ import annotations

import csv
import errno
import fcntl
import io
import json
import logging
import os
import re
import secrets
import shutil
import socket
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from mtbias.errors import RunFolderError, SettingError
from mtbias.files.file_ledger import file_ledger
from mtbias.files.reading import TABLES, own_descriptor

LOCK_NAME = ".lock"
"""The file that holds the lock of a folder (`locked_folder`)."""
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.tmp")
_LINES_A_WRITE = 1000
_log = logging.getLogger(__name__)

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
_NOT_THERE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
_NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK}


@contextmanager
def explained(path: Path, action: str) -> Iterator[None]:
    """Turn an `OSError` within the block into a `RunFolderError` that says what to do next."""
    try:
        yield
    except BrokenPipeError:  # the reader of our output left, which is not ours to judge
        raise
    except OSError as error:
        if error.errno in _FULL:
            step = "make room and run the same command again, it resumes"
        elif error.errno in _FORBIDDEN:
            step = "choose a folder that you may write to"
        else:
            step = "correct that and run the same command again, it resumes"
        raise RunFolderError(
            f"{path}: cannot {action}: {error.strerror or error}; {step}"
        ) from error


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, where they are not there yet.

    Raises:
        RunFolderError: it cannot be made.
    """
    with explained(folder, "make the folder"):
        folder.mkdir(parents=True, exist_ok=True)


def write_atomic(
    path: Path,
    content: bytes | Iterable[str],
    *,
    own: bool = False,
    page_of: Path | None = None,
) -> None:
    """Write a whole file or leave the old one: temporary file beside it, fsync, rename, fsync of
    the folder.

    After a crash at any moment `path` holds the old content or the new one. Whatever goes wrong,
    the temporary file is removed; only a killed process leaves it behind (`remove_temporaries`).

    A link stays, and what it names is written. A device, a pipe or an open descriptor
    (``/dev/stdout``) is written to as it is, since a file in its place would destroy it.

    Args:
        path: the file.
        content: bytes, or lines without their newline, which are written in UTF-8 with a newline
            after each.
        own: whether the file belongs to a folder that mtbias keeps (a run's, a cache's, a
            sweep's): it may have been read before, and a link in its place is replaced, since its
            target is not part of that folder.
        page_of: the folder of the run whose page it is; the page there may be replaced.

    Raises:
        OutputError: the file was read, or is a run's own (`mtbias.files.file_ledger`).
        RunFolderError: the disk is full, or another operating-system error; `path` is a folder.
    """
    number = None if own else own_descriptor(path)
    if not own:
        file_ledger().refuse_loss(path, number, page_of=page_of)
    with explained(path, "write"):
        is_followed = not own and number is None and path.is_symlink()
        target = Path(os.path.realpath(path)) if is_followed else path
        mode = _mode(target, number, follow=not own)
    if mode is not None and stat.S_ISDIR(mode):
        raise RunFolderError(f"{path}: expected a file, got a folder; name a file in it")
    if number is not None or (mode is not None and not (stat.S_ISREG(mode) or stat.S_ISLNK(mode))):
        _write_through(target, number, content)
        return
    with _temporary(target, content) as temporary, explained(path, "write"):
        temporary.replace(target)
    with explained(path, "write"):
        _sync_folder(target.parent)
    if not own:
        file_ledger().note_written(target)


def _mode(path: Path, number: int | None, *, follow: bool) -> int | None:
    """The mode of a file, or of a descriptor of this process; None if there is none."""
    if number is not None:
        return os.fstat(number).st_mode
    try:
        return path.stat(follow_symlinks=follow).st_mode
    except OSError as error:
        if error.errno not in _NOT_THERE:
            raise
        return None


def write_json(path: Path, content: object, *, own: bool = False) -> None:
    """Write plain values as JSON, to be read by people too; else as `write_atomic`."""
    write_atomic(path, f"{json.dumps(content, ensure_ascii=False, indent=1)}\n".encode(), own=own)


def check_table_name(path: Path, setting: str = "out") -> str:
    """The suffix of a table's name, in lower case.

    Raises:
        SettingError: it is not that of a table (`mtbias.files.reading.TABLES`).
    """
    suffix = path.suffix.lower()
    if suffix not in TABLES:
        raise SettingError(
            setting, f"expected a name that ends in {', '.join(sorted(TABLES))}, got {str(path)!r}"
        )
    return suffix


def write_table(
    path: Path, rows: Iterable[Mapping[str, Any]], columns: Sequence[str] = (), setting: str = "out"
) -> None:
    """Write a table as CSV, TSV or JSON lines, by the suffix of its name.

    The columns are by default those of the first row. None is an empty field (null in JSON); other
    values than text are written as JSON.

    Raises:
        SettingError: the name, which the option `setting` gives, has another suffix; a field has a
            tab or a line break, which TSV cannot hold.
        RunFolderError: it cannot be written.
    """
    suffix = check_table_name(path, setting)
    table = list(rows)
    columns = columns or [*next(iter(table), ())]
    if suffix in {".jsonl", ".ndjson"}:
        lines = []
        for row in table:
            fields = {name: row[name] for name in columns}
            lines.append(json.dumps(fields, ensure_ascii=False))
        write_atomic(path, lines)
        return

    def cells_of(row: Mapping[str, Any]) -> list[str]:
        return [_cell(row[name]) for name in columns]

    cells = [list(columns), *map(cells_of, table)]
    if suffix == ".csv":
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(cells)
        write_atomic(path, text.getvalue().encode())
        return

    for fields_of_row in cells:
        for cell in fields_of_row:
            if set(cell) & set("\t\n\r"):
                what = f"a name that ends in .csv, since {cell[:40]!r} holds a tab or a line break"
                raise SettingError(setting, f"expected {what}; got {str(path)!r}")
    write_atomic(path, ("\t".join(fields_of_row) for fields_of_row in cells))


def _cell(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _write_through(path: Path, number: int | None, content: bytes | Iterable[str]) -> None:
    """Write to a device or a pipe, or to descriptor `number` of this process, after what was
    printed there before.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # None where the caller closed it
            stream.flush()
    with explained(path, "write"):
        handle = os.open(path, os.O_WRONLY) if number is None else os.dup(number)
    try:
        _write_all(handle, path, content)
    finally:
        os.close(handle)


def _write_all(handle: int, path: Path, content: bytes | Iterable[str]) -> None:
    # Straight to the file descriptor: a buffer would meet a full disk a second time when it is
    # closed.
    for chunk in _chunks(content):
        rest = memoryview(chunk)
        with explained(path, "write"):
            while rest:
                rest = rest[os.write(handle, rest) :]


def write_new(path: Path, content: bytes | Iterable[str]) -> bool:
    """As `write_atomic`, where there is no such file yet; gives whether it was written.

    Of several processes, on whatever hosts, one writes: the file gets its name by a hard link,
    which fails where the name is taken. A file system without hard links leaves the moment between
    look and rename to the last of them.

    Raises:
        RunFolderError: the disk is full, or another operating-system error.
    """
    if path.exists():
        return False
    with _temporary(path, content) as temporary, explained(path, "write"):
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            if path.exists():
                return False
            temporary.replace(path)
    with explained(path, "write"):
        _sync_folder(path.parent)
    return True


def is_ours(name: str) -> bool:
    """Whether a file name is that of the lock or of a temporary file."""
    return name == LOCK_NAME or _TEMPORARY.fullmatch(name) is not None


def remove_temporaries(folder: Path) -> None:
    """Remove the temporary files of processes that were killed. Only for the one who holds the
    folder's lock alone.
    """
    with explained(folder, "remove temporary files"):
        for entry in folder.iterdir():
            if _TEMPORARY.fullmatch(entry.name):
                entry.unlink(missing_ok=True)


@contextmanager
def _temporary(path: Path, content: bytes | Iterable[str]) -> Iterator[Path]:
    """A file beside `path` with `content`, on the disk; removed after the block unless it was
    renamed.

    Its name is random, since tasks on several nodes write into one folder.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with explained(path, "write"):
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        try:
            _write_all(handle, temporary, content)
            with explained(temporary, "write"):
                os.fsync(handle)
        finally:
            os.close(handle)
        yield temporary
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder that is filled within the block and then gets its name, complete or not at all; an
    empty folder may have that name.

    It is filled beside `path` under a hidden name; whatever goes wrong, it is removed. Only a
    killed process leaves it behind.

    Raises:
        RunFolderError: the disk is full, or another operating-system error; there is such a
            folder, and it is not empty.
    """
    path = path.resolve()  # the current folder has no name of its own
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with explained(path, "make the folder"):
            temporary.mkdir(parents=True)
        yield temporary
        with explained(path, "write"):
            # Libraries write files that others cannot read.
            readers = temporary.stat().st_mode & 0o666
            for file in temporary.iterdir():
                file.chmod(readers)
                with file.open("rb") as handle:
                    os.fsync(handle)
            temporary.replace(path)
            _sync_folder(path.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _chunks(content: bytes | Iterable[str]) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    lines = iter(content)
    while batch := list(islice(lines, _LINES_A_WRITE)):
        if any("\n" in line for line in batch):
            raise ValueError("expected lines without a newline inside")
        yield "".join(f"{line}\n" for line in batch).encode()


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that cannot sync folders says so
            raise
    finally:
        os.close(handle)


# Locks

NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}
"""Errors of a file system without locks."""
_SHARED = "shared"


@contextmanager
def locked_folder(folder: Path, *, shared: bool = False) -> Iterator[None]:
    """Make a folder, and hold the right to write into it within the block: alone, or `shared` with
    others.

    It is an advisory lock (flock) on ``.lock``, which holds the process number and host of the one
    holder, and ends with the process, even when that is killed. Where the file system has no such
    locks, a warning is logged and the folder is used without.

    Raises:
        RunFolderError: another process holds it, or the folder cannot be made or written.
    """
    make_folder(folder)
    path = folder / LOCK_NAME
    with explained(path, "write"):
        if path.is_symlink():  # what it names is not a lock of this folder
            path.unlink(missing_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        file = os.fdopen(handle, "r+b", buffering=0)
    with file:
        with explained(path, "lock"):
            try:
                fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RunFolderError(
                    f"{folder}: {_holder(file.read(1000))} is writing into this folder; "
                    "wait for it, stop it, or choose another folder"
                ) from None
            except OSError as error:
                if error.errno not in NO_LOCKS:
                    raise
                _log.warning("%s: no file locks here; do not start two runs in one folder", folder)
            file.truncate(0)
            holder = _SHARED if shared else f"{os.getpid()} {socket.gethostname()}"
            file.write(f"{holder}\n".encode())
        try:
            yield
        finally:
            if not shared:
                with suppress(OSError):
                    file.truncate(0)


def _holder(content: bytes) -> str:
    pid, _, host = content.decode(errors="replace").strip().partition(" ")
    if pid == _SHARED:
        return "a task that translates a shard"
    return f"process {pid} on {host}" if pid else "another process"


@contextmanager
def waiting_lock(path: Path) -> Iterator[bool]:
    """Hold the lock file `path` within the block, after waiting for whoever has it.

    The block gets whether the lock is held: where the file system has no locks, a warning is logged
    and it runs without. The lock ends with the process; its file stays, and may be removed
    afterwards, since filelock notices that the file it waited for is gone and takes a new one.

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
        _log.warning(
            "%s: no file locks here; do not start two commands that write there", path.parent
        )
    try:
        yield lock.is_locked
    finally:
        lock.release()


def signature_line(
    head: str, files: Mapping[str, Mapping[str, str]], options: Mapping[str, object]
) -> str:
    """``<head>|<role>:<hashes>|<option>:<value>|…|mtbias:<version>``.

    `files` has SHA-256 by name, by role. Up to three files of a role are shown by the first 12
    digits of each; more of them by the first 12 digits of a hash over all, and their number.
    """
    from mtbias.version import __version__

    parts = [head]
    for role, digests in files.items():
        hashes = [digest[:12] for digest in digests.values()]
        if len(hashes) > 3:
            together = sha256(
                "\n".join(f"{name} {digest}" for name, digest in sorted(digests.items())).encode()
            )
            hashes = [f"{together.hexdigest()[:12]}({len(hashes)} files)"]
        if hashes:
            parts.append(f"{role}:{'+'.join(hashes)}")
    parts += [f"{name}:{value}" for name, value in options.items()]
    return "|".join([*parts, f"mtbias:{__version__}"])
