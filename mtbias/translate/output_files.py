"""Files of other programs that are neither tables nor JSON: Inspect's binary log, and what
fairseq-generate prints.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from io import BytesIO
from json import dumps
from pathlib import Path

from mtbias.errors import DataError
from mtbias.files.packing import MOST_UNPACKED, suffix_of, unpack_zstd
from mtbias.files.reading import TextFile, read_bytes, read_text, sha256_of
from mtbias.files.strict_json import load_json
from mtbias.translate.shape_table import Row

ARCHIVE = ".eval"
"""Suffix of Inspect's binary log, a zip archive with a file for each sample."""


def read_shaped(path: Path) -> TextFile:
    """The text of a file of translations; of Inspect's binary log its samples, a line each.

    Raises:
        DataError: as `mtbias.files.reading.read_text`; an archive without samples.
        DependencyError: it is packed by Zstandard, whose library is not installed.
    """
    return _archived(path) if suffix_of(path) == ARCHIVE else read_text(path)


_ENTRY = re.compile(r"samples/.+\.json")
_SAMPLE_KEYS = ("id", "epoch", "input", "output")
_LOCAL_HEADER = 30
_ZSTD = 93
"""The number of Zstandard among a zip archive's methods."""


def _archived(path: Path) -> TextFile:
    """The samples of Inspect's binary log, a line each."""
    data = read_bytes(path)
    expected = "expected a log of Inspect, a zip archive with samples/ID_epoch_1.json"
    broken = f"{expected}, got another file"
    lines: list[str] = []
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            entries = [each for each in archive.infolist() if _ENTRY.fullmatch(each.filename)]
            if sum(each.file_size for each in entries) > MOST_UNPACKED:
                raise DataError(f"expected at most {MOST_UNPACKED:,} bytes of samples", path=path)
            for entry in entries:
                sample = load_json(_content(archive, entry, data, path))
                lines.append(dumps({key: sample.get(key) for key in _SAMPLE_KEYS}))
    except (
        AttributeError,
        EOFError,
        NotImplementedError,
        OSError,
        RuntimeError,
        ValueError,
        struct.error,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise DataError(f"{broken}: {error}", path=path) from None
    if not lines:
        raise DataError(f"{broken}; write the log again when its run has samples", path=path)
    return TextFile(path, "\n".join(lines) + "\n", sha256_of(data), bom=False, crlf=False)


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, data: bytes, path: Path) -> bytes:
    """A file of an archive; Zstandard's too, which Python's zipfile reads from 3.14 on."""
    if entry.compress_type != _ZSTD:
        return archive.read(entry)
    start = entry.header_offset + _LOCAL_HEADER
    name, extra = struct.unpack("<HH", data[start - 4 : start])
    begin = start + name + extra
    return unpack_zstd(data[begin : begin + entry.compress_size], path)


# Output of fairseq-generate

_FAIRSEQ = re.compile(r"([SWTHDP])-(\d{1,9})\t")
_PIECES = re.compile(r"@@ |\u2581")


def is_fairseq(lines: Sequence[str]) -> bool:
    """Whether lines are those that fairseq-generate prints: most begin with S-0, H-0, D-0 or the
    like.
    """
    marked = [line for line in lines if _FAIRSEQ.match(line)]
    return 2 * len(marked) > len(lines) and any(line[0] in "HD" for line in marked)


def read_fairseq(file: TextFile) -> tuple[Mapping[int, Row], int]:
    """The translations by their places in the corpus, from 0, and the number of sentences.

    They are taken from D- lines (without pieces of words), else from H- lines.

    Raises:
        DataError: two differing translations of one sentence; pieces of a tokenizer in H- lines,
            and no D- lines.
    """
    kinds: dict[str, dict[int, Row]] = {"H": {}, "D": {}}
    most = -1
    for line, content in file.filled_lines():
        match = _FAIRSEQ.match(content)
        if match is None:
            continue
        kind, number = match[1], int(match[2])
        most = max(most, number)
        if kind not in kinds:
            continue
        text = content.split("\t", 2)[-1]
        first = kinds[kind].setdefault(number, Row(line, "", "", text))
        if first.target != text:
            got = f"{first.target!r:.60} and {text!r:.60}"
            raise file.error(
                f"expected one translation of sentence {number}, got {got}; "
                "generate with --nbest 1",
                line,
            )
    rows = kinds["D"] or kinds["H"]
    pieces = next((row for row in rows.values() if _PIECES.search(row.target)), None)
    if pieces is not None:
        raise file.error(
            f"expected words, got pieces of a tokenizer in {pieces.target!r:.60}; "
            "generate with --post-process",
            pieces.line,
        )
    return rows, most + 1
