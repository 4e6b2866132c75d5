"""The files that a command reads and writes: no input is overwritten, nor a run's own file.

Code that opens a file whose name a user gave notes it here (`mtbias.files.reading` does so for all
its readers), and code that writes one asks here first (`mtbias.files.writing` does). Each command
has a ledger and names its outputs before it begins, so that it is refused before any work is done;
in Python the process has one.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from mtbias.errors import OutputError
from mtbias.files.strict_json import load_json

PARTS = "translations.parts"
"""The folder of an unfinished run's parts."""
REPORT = "report.html"
"""The page of a run, or of several."""
_MANIFEST = "manifest.json"
_RUN_FILE = re.compile(
    r"manifest\.json|metrics\.json|calls\.jsonl|report\.html|\.lock"
    r"|translations(\.\d+)?\.jsonl|translations\.parts",
    re.IGNORECASE,  # as some file systems read names
)
"""Names of a run's own files (`mtbias.runs.run_folder`)."""

Outputs: TypeAlias = Mapping[Path, str | None]
"""Files to be written, each with the setting that names it, if one does."""
_Identity: TypeAlias = tuple[int, int]
"""Device and inode, which a file has under all its names."""


class FileLedger:
    """The files of one command."""

    def __init__(
        self,
        outputs: Outputs = MappingProxyType({}),
        *,
        page_of: Path | None = None,
    ) -> None:
        """Begin with the files to be written and the setting that names each; see `one_command`."""
        self._inputs: dict[_Identity, Path] = {}
        self._written: dict[_Identity, int] = {}
        """When each was written, in nanoseconds: a file changed since then is somebody else's."""
        self._settings = dict(outputs)
        self._outputs: dict[_Identity, Path] = {}
        for path in self._settings:
            self._refuse_run_file(path, page_of)
            status = _status(path)
            if status is not None and stat.S_ISREG(status.st_mode):
                self._outputs[_identity(status)] = path

    def note_input(self, path: Path, status: os.stat_result | None = None) -> None:
        """Remember that a regular file is read.

        Code that lets a library open a file by its name calls this; `mtbias.files.reading` does so
        for all others.

        Args:
            path: the file.
            status: its status, where it is known.

        Raises:
            OutputError: the file is to be written.
        """
        status = status or _status(path)
        if status is None or not stat.S_ISREG(status.st_mode):
            return
        identity = _identity(status)
        output = self._outputs.get(identity)
        if output is not None and _is_still(identity, output):
            raise self._is_input(output)
        if self._written.get(identity) != status.st_mtime_ns:
            self._inputs[identity] = path

    def refuse_loss(
        self,
        path: Path,
        descriptor: int | None = None,
        *,
        page_of: Path | None = None,
    ) -> None:
        """Refuse to write a file that was read, or is a run's own, links followed.

        Args:
            path: the file.
            descriptor: the number under which it is open already.
            page_of: the run whose page it is; the page in that run's folder may be replaced.

        Raises:
            OutputError: it is such a file.
        """
        if descriptor is None:
            self._refuse_run_file(path, page_of)
        status = _status(path if descriptor is None else descriptor)
        if status is None:
            return
        identity = _identity(status)
        if _is_still(identity, self._inputs.get(identity)):
            raise self._is_input(path)

    def note_written(self, path: Path) -> None:
        """Remember that a file was written: it may be read, and written again."""
        if (status := _status(path)) is not None:
            self._written[_identity(status)] = status.st_mtime_ns

    def _refuse_run_file(self, path: Path, page_of: Path | None) -> None:
        own = None if page_of is None else os.path.realpath(page_of / REPORT)
        if os.path.realpath(path) != own and is_run_file(path):
            raise self._error(path, "another name than those of a run's own files")

    def _is_input(self, path: Path) -> OutputError:
        return self._error(path, "another file than those that are read")

    def _error(self, path: Path, expected: str) -> OutputError:
        return OutputError(self._settings.get(path), f"expected {expected}, got {str(path)!r}")


_of_process = FileLedger()
_of_command: ContextVar[FileLedger | None] = ContextVar("mtbias_files", default=None)


def file_ledger() -> FileLedger:
    """The ledger of the running command, or of the process where no command runs."""
    return _of_command.get() or _of_process


@contextmanager
def one_command(outputs: Outputs, *, page_of: Path | None = None) -> Iterator[None]:
    """Run the block as one command, with a ledger of its own.

    Args:
        outputs: the files that it will write.
        page_of: the run whose page it may replace.

    Raises:
        OutputError: an output is a run's own file; within the block, also where an output is read.
    """
    token = _of_command.set(FileLedger(outputs, page_of=page_of))
    try:
        yield
    finally:
        _of_command.reset(token)


def is_run_file(path: Path) -> bool:
    """Whether a path, links followed, is that of a run's own file, which need not exist."""
    target = Path(os.path.realpath(path))
    if target.parent.name == PARTS:
        return is_run_folder(target.parent.parent)
    return _RUN_FILE.fullmatch(target.name) is not None and is_run_folder(target.parent)


def is_run_folder(folder: Path) -> bool:
    """Whether a folder holds the manifest of a run, even a damaged one; other programs also write a
    ``manifest.json``.
    """
    path = folder / _MANIFEST
    if not path.is_file():
        return False
    try:
        manifest = load_json(path.read_bytes())
    except (OSError, ValueError):
        return True
    return isinstance(manifest, dict) and {"identity", "fingerprint"} <= manifest.keys()


def _identity(status: os.stat_result) -> _Identity:
    return status.st_dev, status.st_ino


def _status(file: Path | int) -> os.stat_result | None:
    """That of a file or a descriptor; None if there is none, or none that can be looked at."""
    try:
        return os.fstat(file) if isinstance(file, int) else file.stat()
    except (OSError, ValueError):
        return None


def _is_still(identity: _Identity, path: Path | None) -> bool:
    """Whether a file that was seen at `path` is there still: inodes of files that go come again."""
    status = None if path is None else _status(path)
    return status is not None and _identity(status) == identity
