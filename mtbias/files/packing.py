"""Packed files: gzip and Zstandard, by the end of a file's name."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import Any

from mtbias.errors import DataError, DependencyError

PACKED = (".gz", ".zst")
"""Suffixes of packed files, in any case; the name before it is that of the content."""

MOST_UNPACKED = 1 << 31
"""Most bytes that a packed file may unpack to: a thousand bytes can hold more than any memory."""

_AT_ONCE = 1 << 10
"""Packed bytes that are unpacked at once, into at most some 30 million."""


def content_name(path: Path) -> Path:
    """The name of a file's content: ``t.TSV`` of ``t.TSV`` and of ``t.TSV.gz``."""
    return Path(path.stem if path.suffix.lower() in PACKED else path.name)


def suffix_of(path: Path) -> str:
    """How the name of a file's content ends, in lower case: ``.tsv`` of ``t.TSV.gz``."""
    return content_name(path).suffix.lower()


def unpacked(path: Path, data: bytes) -> bytes:
    """The content of a file with the bytes `data`: unpacked where its name ends in one of
    `PACKED`, else as they are.

    Raises:
        DataError: it is damaged, is not packed so, or unpacks to more than `MOST_UNPACKED`.
        DependencyError: the library for ``.zst`` is not installed; names the extra.
    """
    packing = path.suffix.lower()
    if packing not in PACKED:
        return data
    try:
        content = _gunzip(data) if packing == ".gz" else unpack_zstd(data, path)
    except (OSError, EOFError, zlib.error) as error:
        wrong = f"got one that {packing[1:]} cannot read: {error}; pack it again"
        message = f"expected a file packed as its name says, {wrong}"
        raise DataError(message, path=path) from None
    if len(content) > MOST_UNPACKED:
        most = f"{MOST_UNPACKED:,} bytes"
        raise DataError(f"expected at most {most} when unpacked, got more; divide it", path=path)
    return content


def _gunzip(data: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        return file.read(MOST_UNPACKED + 1)


def unpack_zstd(data: bytes, path: Path) -> bytes:
    """The content of all frames of Zstandard in `data`, of the file at `path`.

    Raises:
        OSError: they are damaged, or the last one is cut short.
        DependencyError: the library is not installed; names the extra.
    """
    try:
        import zstandard  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from mtbias.machine.devices import install_command

        needs = f"{path}: what Zstandard packed needs the package zstandard"
        raise DependencyError(f"{needs}: {install_command('zst')}") from None
    try:
        return _of_frames(data, zstandard.ZstdDecompressor())
    except zstandard.ZstdError as error:
        raise OSError(str(error)) from None


def _of_frames(data: bytes, decompressor: Any) -> bytes:  # noqa: ANN401 - it may have no types
    """As `unpack_zstd`; the library's own reader would take half a frame for the whole."""
    content, place, is_whole = bytearray(), 0, False
    while place < len(data) and len(content) <= MOST_UNPACKED:
        frame = decompressor.decompressobj()
        while place < len(data) and len(content) <= MOST_UNPACKED and not frame.eof:
            some = data[place : place + _AT_ONCE]
            content += frame.decompress(some)
            place += len(some) - len(frame.unused_data)
        is_whole = frame.eof
    if not is_whole and len(content) <= MOST_UNPACKED:
        raise OSError("the file ended before the end of the last frame")
    return bytes(content)
