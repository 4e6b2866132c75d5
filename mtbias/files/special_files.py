"""What a path may name that is no regular file: an open descriptor (``/dev/stdin``, ``<(…)``), a pipe, a device."""

from __future__ import annotations

import errno
import os
import re
import stat
from io import BufferedReader
from pathlib import Path

from mtbias.errors import DataError

_DESCRIPTOR = re.compile(r"/(?:dev/fd|proc/(self|thread-self|\d+)/fd)/(\d{1,9})")
_MOST_LINKS = 40
"""As many as Linux follows."""

_KINDS = {
    stat.S_ISFIFO: "a named pipe",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
    stat.S_ISSOCK: "a socket",
}


def own_descriptor(path: Path | str) -> int | None:
    """The number of this process's descriptor that `path` names, links followed; None where it names none.

    ``/dev/stdin`` is 0, ``/dev/stdout`` 1; a shell gives a process substitution as ``/dev/fd/63``.
    """
    place = Path.cwd() / path
    for _ in range(_MOST_LINKS):
        match = _DESCRIPTOR.fullmatch(str(place))
        if match is not None:
            return int(match[2]) if match[1] in {None, "self", "thread-self", str(os.getpid())} else None
        try:
            place = place.parent / place.readlink()
        except (OSError, ValueError):  # ValueError: a NUL in the path
            return None
    return None


def open_input(path: Path) -> BufferedReader:
    """Open a regular file, or a pipe that is open already (standard input, a process substitution), to read its bytes.

    A pipe can be read once. Other pipes and devices are refused, since they may never end, or never begin.

    Raises:
        OSError: there is no such file, or it cannot be read; it is neither, and the error says what it is.
        ValueError: a NUL in the path.
    """
    number = own_descriptor(path)
    mode = path.stat().st_mode if number is None else os.fstat(number).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "expected a file, got a folder; name the file in it", str(path))
    if stat.S_ISREG(mode):
        return path.open("rb")
    if number is not None and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return os.fdopen(os.dup(number), "rb")
    kind = next(kind for test, kind in _KINDS.items() if test(mode))
    message = f"expected a regular file, got {kind}; write the content into a file, or pipe it and name /dev/stdin"
    raise OSError(errno.EINVAL, message, str(path))


def refuse_special(folder: Path) -> None:
    """Refuse a folder that holds a pipe, a device or a socket, for whose end a library or a writer would wait.

    Raises:
        DataError: it does.
    """
    for path in sorted(folder.iterdir()):
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise DataError("expected a regular file, got a pipe, a device or a socket; remove it", path=path)


def input_bytes(path: Path) -> bytes:
    """All bytes of a file; errors as of `open_input`."""
    with open_input(path) as file:
        return file.read()
