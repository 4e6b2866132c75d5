"""Text of any size as chunks of passages, read one after the other and never held whole.

A passage is what is parsed together: a line of a text file (a sentence or a paragraph), a paragraph of a field of a
JSON line, or a sentence of CoNLL-U. A chunk has the passages that pass a filter, and says where the next one begins, so
that a run that was stopped resumes there. Where chunks end depends on the text and the filter alone.

What cannot be read in a large file is left out and counted; only what is wrong with all of a file is an error: its
first line is no JSON object with the field, it is UTF-16 or no text at all.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from mtbias.errors import DataError
from mtbias.files.strict_json import load_json
from mtbias.mining.conllu_trees import COLUMNS
from mtbias.mining.input_files import InputFile, opened

PASSAGES = 256
CHARACTERS = 200_000
BYTES = 64 << 20
"""A chunk ends with the line at which it has that many passages or characters, or has read that many bytes."""
LONGEST_LINE = 16 << 20
"""Bytes of the longest line that is read."""
LONGEST_PASSAGE = 200_000
"""Characters of the longest passage."""

LONG_LINE = f"line of more than {LONGEST_LINE:,} bytes"
LONG_PASSAGE = f"paragraph of more than {LONGEST_PASSAGE:,} characters"
NOT_UTF8 = "line that is not UTF-8"
NOT_JSON = "line without text in the field"

_SURROGATES = re.compile("[\ud800-\udfff]")


class Place(NamedTuple):
    """Where reading continues."""

    file: int
    """Index of the file."""
    byte: int
    """Of its content, decompressed."""
    line: int
    """Lines before it."""


BEGIN = Place(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text that is parsed together."""

    file: int
    line: int
    """1-based line of the file."""
    offset: int
    """Characters before it in that line, or in the line's JSON field."""
    text: str
    """Of CoNLL-U: the lines of the sentence."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some passages, and what was read to get them."""

    passages: tuple[Passage, ...]
    read: int
    """Passages that were read, those that the filter refused included."""
    left_out: Counter[str]
    """What could not be read, by reason."""
    end: Place
    """Where the next chunk begins."""
    done: int
    """Bytes on the disk that were read of all files so far."""


def read_chunks(
    files: Sequence[InputFile], keep: Callable[[str], bool], *, start: Place = BEGIN, field: str = "text"
) -> Iterator[Chunk]:
    """The passages of `files` that `keep` accepts, in chunks, from `start` on; the last ends behind the last file.

    Raises:
        DataError: a file cannot be read to its end; it is no text; its first line is no JSON object with the `field`.
    """
    sizes = [file.size for file in files]
    gathered = _Gathered(start.byte)
    for number in range(start.file, len(files)):
        at = start if number == start.file else Place(number, 0, 0)
        for place, passages, reason, raw in _steps(files[number], at, field):
            gathered.add(passages, reason, keep)
            if gathered.full(place):
                yield gathered.chunk(place, sum(sizes[:number]) + raw.tell())
                gathered = _Gathered(place.byte)
        gathered.started -= sizes[number]
    yield gathered.chunk(Place(len(files), 0, 0), sum(sizes))


class _Gathered:
    """A chunk that is being filled."""

    def __init__(self, started: int = 0) -> None:
        self.started = started
        """The byte of the file at which it began."""
        self._passages: list[Passage] = []
        self._characters = self._read = 0
        self._left_out: Counter[str] = Counter()

    def add(self, passages: Sequence[Passage], reason: str | None, keep: Callable[[str], bool]) -> None:
        if reason is not None:
            self._left_out[reason] += 1
        for passage in passages:
            self._read += 1
            if len(passage.text) > LONGEST_PASSAGE:
                self._left_out[LONG_PASSAGE] += 1
            elif keep(passage.text):
                self._passages.append(passage)
                self._characters += len(passage.text)

    def full(self, place: Place) -> bool:
        enough = len(self._passages) >= PASSAGES or self._characters >= CHARACTERS
        return enough or place.byte - self.started >= BYTES

    def chunk(self, end: Place, done: int) -> Chunk:
        return Chunk(tuple(self._passages), self._read, self._left_out, end, done)


_Step = tuple[Place, Sequence[Passage], str | None, BinaryIO]
"""Where it ended, what it gave, why it gave nothing, the file on the disk."""


def _steps(file: InputFile, start: Place, field: str) -> Iterator[_Step]:
    """The lines of a file, or of CoNLL-U its sentences.

    Raises:
        DataError: as `read_chunks`.
    """
    number, byte, line = start
    try:
        with opened(file, byte) as (content, raw):
            block: list[str] = []
            began = line
            for data, length in _lines(content):
                byte += length
                line += 1
                text = None if data is None else _decoded(data, file, line)
                if file.form == "conllu":
                    if text is None:
                        message = f"expected CoNLL-U, got a {LONG_LINE if data is None else NOT_UTF8}"
                        raise DataError(message, path=file.path, line=line)
                    if text.strip():
                        began = began if block else line
                        block.append(text)
                        continue
                    passages = _tree(block, number, began, file)
                    block = []
                    yield Place(number, byte, line), passages, None, raw
                elif text is None:
                    yield Place(number, byte, line), [], LONG_LINE if data is None else NOT_UTF8, raw
                elif file.form == "jsonl":
                    found, reason = _paragraphs(text, number, line, field, file)
                    yield Place(number, byte, line), found, reason, raw
                else:
                    yield Place(number, byte, line), [Passage(number, line, 0, text)] if text.strip() else [], None, raw
            if block:
                yield Place(number, byte, line), _tree(block, number, began, file), None, raw
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise DataError(f"the file cannot be read beyond line {line:,}: {why}", path=file.path) from None


def _tree(block: Sequence[str], number: int, began: int, file: InputFile) -> Sequence[Passage]:
    """The sentence of a block of CoNLL-U; none of one of remarks alone.

    Its last line is looked at, which is another where a file was cut off or is no CoNLL-U.
    """
    if not block or all(line.startswith("#") for line in block):
        return []
    if (columns := block[-1].count("\t") + 1) != COLUMNS:
        message = f"expected the {COLUMNS} columns of CoNLL-U, got {columns}"
        raise DataError(message, path=file.path, line=began + len(block) - 1)
    return [Passage(number, began, 0, "\n".join(block))]


def _lines(content: BinaryIO) -> Iterator[tuple[bytes | None, int]]:
    """The lines of a file with their length in bytes; None for a line that is too long."""
    while line := content.readline(LONGEST_LINE):
        length = len(line)
        if length < LONGEST_LINE or line.endswith(b"\n"):
            yield line, length
            continue
        while line and not line.endswith(b"\n"):
            line = content.readline(LONGEST_LINE)
            length += len(line)
        yield None, length


def _decoded(data: bytes, file: InputFile, line: int) -> str | None:
    """The text of a line without its end; None where it is not UTF-8."""
    if line == 1:
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DataError("the file is UTF-16; save it as UTF-8", path=file.path, line=1)
        data = data.removeprefix(codecs.BOM_UTF8)
        if b"\0" in data:
            raise DataError("expected text, got a binary file; name the files of text", path=file.path, line=1)
    try:
        return data.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        return None


def _paragraphs(line: str, number: int, at: int, field: str, file: InputFile) -> tuple[Sequence[Passage], str | None]:
    """The paragraphs of the field of a JSON line, or why there are none."""
    if not line.strip():
        return [], None
    got = "something else"
    try:
        value = load_json(line)
        if isinstance(value, dict):
            got = f"an object with {', '.join(map(repr, value)) or 'nothing in it'}"
            value = value.get(field)
    except ValueError:
        value = None
    if not isinstance(value, str) or _SURROGATES.search(value):
        if at == 1:
            message = f"expected a JSON object with text under {field!r}, got {got}; --field names another"
            raise DataError(message, path=file.path, line=1)
        return [], NOT_JSON
    found, offset = [], 0
    for paragraph in value.split("\n"):
        if paragraph.strip():
            found.append(Passage(number, at, offset, paragraph))
        offset += len(paragraph) + 1
    return found, None
