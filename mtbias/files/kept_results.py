"""Results of long computations on disk, each under a hash of all that it depends on: what it is
computed from, the code and data of mtbias and of the plugins that compute it, and the versions of
the libraries. Losing one costs only time.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import sys
import time
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

MOST = 100
"""Most results in a folder; the least recently used go first."""
_FORMAT = 1
_SUFFIX = ".json.z"
_OURS = "mtbias"
_NOT_COMPUTING = frozenset(("__pycache__", "demo"))
"""Folders of a package whose files compute nothing."""
_LIBRARIES = ("numpy", "py3langid", "pydantic")
_LOADED = time.time_ns()
"""When this process began: it does not run the code of a file that was changed later."""
_log = logging.getLogger(__name__)


class KeptResults:
    """Results by name and inputs, a compressed file each; a damaged one counts as absent."""

    def __init__(self, folder: Path | None, packages: Sequence[str] = ()) -> None:
        """Keep results in `folder`; with None, or where the code cannot be read, none are kept.

        `packages` are those of the plugins that compute, by their names at the top level.
        """
        self._code = None if folder is None else code_digest(tuple(sorted({_OURS, *packages})))
        self._folder = None if self._code is None else folder

    def get(self, name: str, inputs: object) -> bytes | None:
        """The result `name` of these inputs, any JSON values; None where it is not kept."""
        if self._folder is None:
            return None
        path = self._path(self._folder, name, inputs)
        try:
            result = zlib.decompress(path.read_bytes())
        except (OSError, zlib.error):
            return None
        with suppress(OSError):
            os.utime(path)
        return result

    def keep(self, name: str, inputs: object, result: bytes) -> None:
        """Keep a result, and drop the least recently used ones beyond `MOST`."""
        if self._folder is None:
            return
        path = self._path(self._folder, name, inputs)
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(zlib.compress(result))
            temporary.replace(path)
            for old in _oldest(self._folder):
                old.unlink(missing_ok=True)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            _log.debug("%s: cannot keep results there (%s): they are computed again", path, error)

    def _path(self, folder: Path, name: str, inputs: object) -> Path:
        known = json.dumps([_FORMAT, self._code, name, inputs], ensure_ascii=False)
        digest = hashlib.sha256(known.encode("utf-8", "surrogatepass")).hexdigest()
        return folder / f"{name}-{digest[:32]}{_SUFFIX}"


NOTHING_KEPT = KeptResults(None)


def _oldest(folder: Path) -> Sequence[Path]:
    """The least recently used results beyond `MOST`."""
    results = sorted(folder.glob(f"*{_SUFFIX}"), key=lambda path: path.stat().st_mtime_ns)
    return results[:-MOST]


@cache
def code_digest(packages: tuple[str, ...]) -> str | None:
    """A hash of all files of these packages, code and data, and of the versions of Python and of
    the libraries that compute; None if a package is neither a folder nor a file, or was changed
    after this process began.
    """
    digest = hashlib.sha256(f"{sys.version} {unicodedata.unidata_version}".encode())
    for library in _LIBRARIES:
        digest.update(f" {library} {version(library)}".encode())
    for package in packages:
        try:
            for name, content in _files(package):
                digest.update(f"\0{name} {hashlib.sha256(content).hexdigest()}".encode())
        except OSError:
            return None
    return digest.hexdigest()


def _files(package: str) -> Iterator[tuple[str, bytes]]:
    """The files of a package by their names in it, in order.

    Raises:
        OSError: one cannot be read or was changed meanwhile, or the package is not on disk.
    """
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(package)
    origin = Path(spec.origin)
    if spec.submodule_search_locations is None:
        yield package, _unchanged(origin)
        return
    for path in sorted(origin.parent.rglob("*")):
        name = path.relative_to(origin.parent)
        if _NOT_COMPUTING.isdisjoint(name.parts) and path.is_file():
            yield f"{package}/{name}", _unchanged(path)


def _unchanged(path: Path) -> bytes:
    if path.stat().st_ctime_ns > _LOADED:
        raise OSError(f"{path} was changed")
    return path.read_bytes()
