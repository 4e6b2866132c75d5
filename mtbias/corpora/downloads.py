"""Fetching of public data: download, check, unpack, put in place.

Nothing appears in the cache before its hash is right; each file is put there in one step. Whole
files are left alone, damaged ones are fetched again. A download that was once accepted unverified
must give the same bytes the next time.
"""

from __future__ import annotations

import re
import tarfile
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath

from mtbias.corpora.catalog import (
    Download,
    Downloaded,
    Fetch,
    Source,
    fetched_source,
    read_record,
    source_folder,
    write_record,
)
from mtbias.errors import DataError, MissingResourceError, UsageError
from mtbias.files.reading import sha256_of_file
from mtbias.files.writing import LOCK_NAME, waiting_lock
from mtbias.machine.downloads import fetch_file
from mtbias.types import frozen

MAX_UNPACKED = 2 * 1024**3
"""Most bytes of a file of an archive."""
_ADVICE = (
    "check the network; or run the command where there is one, with --cache-dir, and copy that "
    "folder; or give the file to a command that reads it, with --data"
)


@frozen
class FetchedDownload:
    """The result of one download."""

    sha256: str
    verified: bool
    """Whether the hash was known before, from the catalog or the caller."""
    fresh: bool
    """Whether it was downloaded just now."""


@frozen
class Fetched:
    """The result of fetching: the folder and its downloads."""

    folder: Path
    downloads: tuple[FetchedDownload, ...]


def fetch_dataset(
    name: str,
    cache: Path | None,
    *,
    sha256: str | None = None,
    accept_unverified: bool = False,
    progress: bool = False,
) -> Fetched:
    """Fetch the public data set (or table) `name` of the catalog into the cache (see
    `cache_folder`) and check it.

    Args:
        name: its name.
        cache: root of the cache.
        sha256: hash of the download, for a data set whose hash the catalog does not know.
        accept_unverified: accept such a download without a hash; its hash is in the result and in
            ``fetched.json`` beside the data, against which later reads are checked.
        progress: show a progress bar on standard error.

    Raises:
        UsageError: the name is unknown; `sha256` is not a SHA-256, or the catalog knows the hash.
        MissingResourceError: the download failed, or its hash is unknown and neither option is
            given.
        DataError: the download's hash is not the expected one; an archive is broken or lacks a
            file.
    """
    source = fetched_source(name)
    return fetch_source(
        source,
        source_folder(source, cache),
        sha256=sha256,
        accept_unverified=accept_unverified,
        progress=progress,
    )


def fetch_source(
    source: Source,
    folder: Path,
    *,
    sha256: str | None = None,
    accept_unverified: bool = False,
    progress: bool = False,
) -> Fetched:
    """Fetch the files of `source` into `folder`; arguments and errors as in `fetch_dataset`."""
    own_hash = checked_hash(source, sha256)
    results = []
    for download in source.downloads:
        known = download.sha256 or own_hash
        result = _earlier_download(download, folder, known)
        if result is None:
            if not (known or accept_unverified or download.url in read_record(folder).downloads):
                raise MissingResourceError(
                    f"the SHA-256 of {download.url} is not known to mtbias, "
                    "so it is not fetched unchecked; give --sha256 HASH, "
                    "or --accept-unverified to take what comes and write its hash down"
                )
            result = _fetch_alone(download, folder, known, progress=progress)
        results.append(result)
    return Fetched(folder, tuple(results))


def _earlier_download(download: Download, folder: Path, known: str) -> FetchedDownload | None:
    """A download that is in place and on record, with the hash `known` if there is one; else
    None.
    """
    record = read_record(folder)
    earlier = record.downloads.get(download.url)
    if earlier is None or not _whole(download, folder, record):
        return None
    if known and earlier != Downloaded(known, verified=True):
        return None
    return FetchedDownload(earlier.sha256, earlier.verified, fresh=False)


def _whole(download: Download, folder: Path, record: Fetch) -> bool:
    """Whether the files of a download are as they were when it was recorded."""
    return all(
        path.is_file() and sha256_of_file(path) == record.files.get(path.name)
        for path in _paths(download, folder)
    )


def _fetch_alone(
    download: Download, folder: Path, known: str, *, progress: bool
) -> FetchedDownload:
    """Fetch and record one download while no other process does, or use what another has fetched
    meanwhile.
    """
    with _alone(folder):
        result = _earlier_download(download, folder, known)
        if result is not None:
            return result
        record = read_record(folder)
        earlier = record.downloads.get(download.url, Downloaded("", verified=False))
        digest = known
        # Otherwise only the hash of an earlier download was not checked yet.
        fresh = known != earlier.sha256 or not _whole(download, folder, record)
        if fresh:
            digest = _fetch(download, folder, known or earlier.sha256, progress=progress)
        new = Downloaded(digest, bool(known) or earlier.verified)
        files = {path.name: sha256_of_file(path) for path in _paths(download, folder)}
        downloads = {**record.downloads, download.url: new}
        write_record(folder, Fetch({**record.files, **files}, downloads))
        return FetchedDownload(digest, new.verified, fresh)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other processes from downloading into `folder` within the block.

    Raises:
        MissingResourceError: the folder cannot be written.
    """
    with ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(waiting_lock(folder / LOCK_NAME))
        except OSError as error:
            raise MissingResourceError(
                f"{folder}: cannot be written: {error.strerror or error}"
            ) from error
        yield


def _paths(download: Download, folder: Path) -> tuple[Path, ...]:
    return tuple(folder / name for name in download.files)


def checked_hash(source: Source, sha256: str | None) -> str:
    """The caller's hash for `source` in lower case; empty without one.

    Raises:
        UsageError: it is not a SHA-256, or the hash of `source` is known.
    """
    if sha256 is None:
        return ""
    text = sha256.strip().lower().removeprefix("sha256:")
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise UsageError(f"--sha256: expected 64 hexadecimal digits, got {sha256!r}")
    unknown = [download for download in source.downloads if not download.sha256]
    if len(unknown) != 1:
        raise UsageError(
            "--sha256 is for data whose hash mtbias does not know; "
            f"it knows that of {source.name}: leave it out"
        )
    return text


def _fetch(download: Download, folder: Path, expected: str, *, progress: bool) -> str:
    """Download, check and put in place; gives the SHA-256 of the download."""
    try:
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as temporary:
            scratch = Path(temporary)
            raw = scratch / "download"
            fetch_file(download.url, raw, advice=_ADVICE, progress=progress)
            digest = sha256_of_file(raw)
            if expected and digest != expected:
                raise DataError(
                    f"{download.url}: expected bytes with SHA-256 {expected}, got {digest}; "
                    "nothing was kept. Try again; "
                    "if it stays so, the published file has changed"
                )
            if download.archive:
                sources = unpack(raw, scratch / "unpacked", download.files, origin=download.url)
            else:
                sources = {download.files[0]: raw}
            for name, path in sources.items():
                path.replace(folder / name)
    except OSError as error:
        raise MissingResourceError(
            f"{folder}: cannot be written: {error.strerror or error}"
        ) from error
    return digest


def unpack(
    archive: Path, folder: Path, names: Iterable[str], *, origin: str | None = None
) -> dict[str, Path]:
    """Write the files `names` of the gzipped tar file `archive` into `folder`; gives their paths by
    name.

    A regular file with one of the names is taken from any folder of the archive; its path there is
    ignored, and nothing else is written. Messages name `origin`, the address, if it is given.

    Raises:
        DataError: the archive is broken; a file is missing, occurs twice, or has more than
            `MAX_UNPACKED` bytes.
    """
    place = origin or archive
    try:
        with tarfile.open(archive, "r:gz") as tar:
            members = tar.getmembers()
            for name in names:
                files = [
                    member
                    for member in members
                    if member.isfile() and PurePosixPath(member.name).name == name
                ]
                if len(files) != 1:
                    times = f"got it {len(files)} times"
                    raise DataError(f"expected {name} once in the archive, {times}", path=place)
                if files[0].size > MAX_UNPACKED:
                    raise DataError(f"{name} has more than {MAX_UNPACKED} bytes", path=place)
                tar.extract(files[0].replace(name=name), folder, filter="data")
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise DataError(
            f"the archive cannot be unpacked: {error}; fetch it again", path=place
        ) from error
    return {name: folder / name for name in names}
