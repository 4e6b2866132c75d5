"""Text of any size as chunks of passages, read one after the other and never held whole.

A passage is parsed together: a line of a text file (a sentence or a paragraph), or a paragraph of a
field of a JSON line. A chunk has passages that pass a filter. The ends of chunks depend only on the
text and the filter, so that a stopped run skips the chunks that it has: reading and filtering is a
thousand times as fast as parsing.

Lines of a large file that cannot be read are left out and counted. Only a fault of the whole file
is an error: its first line is not a JSON object with the field, or it is UTF-16 or not text at all.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

from mtbias.errors import DataError, SettingError
from mtbias.files.reading import open_input, unreadable
from mtbias.files.strict_json import load_json
from mtbias.types import frozen

PASSAGES = 256
CHARACTERS = 200_000
LINES = 1_000_000
"""A chunk ends with the line at which it has that many passages or characters, or has read that
many lines."""
LONGEST_LINE = 16 << 20
"""Bytes of the longest line that is read."""
LONGEST_PASSAGE = 200_000
"""Characters of the longest passage."""

LONG_LINE = f"line of more than {LONGEST_LINE:,} bytes"
LONG_PASSAGE = f"paragraph of more than {LONGEST_PASSAGE:,} characters"
NOT_UTF8 = "line that is not UTF-8"
NOT_JSON = "line without text in the field"

_JSONL = (".jsonl", ".ndjson")
_READ = 1 << 20
_SURROGATES = re.compile("[\ud800-\udfff]")
_WORD = re.compile(r"[^\W_]+")


class WordFilter:
    """The cheap filter before parsing: texts with a listed noun and a pronoun as whole words, in
    any case.

    Every character but letters and digits ends a word, so *doctor's* holds *doctor* and *he's*
    holds *he*: a tokenizer finds no word of the lists where this filter finds none.
    """

    def __init__(self, nouns: Iterable[str], pronouns: Iterable[str]) -> None:
        """Both in lower case."""
        listed, pronouns = frozenset(nouns), sorted(set(pronouns))
        self._nouns = frozenset(noun for noun in listed if _WORD.fullmatch(noun))
        self._phrases = sorted(listed - self._nouns)
        """Nouns of several words (*vice-president*)."""
        self._pronoun = re.compile(rf"(?<![^\W_])(?:{'|'.join(pronouns)})(?![^\W_])", re.IGNORECASE)

    def __call__(self, text: str) -> bool:
        """Whether `text` may hold a find."""
        if not self._pronoun.search(text):  # most texts end here
            return False
        lower = text.lower()
        if not self._nouns.isdisjoint(_WORD.findall(lower)):
            return True
        return any(phrase in lower for phrase in self._phrases)


@frozen
class InputFile:
    """A file of text."""

    path: Path
    """As the user named it, or within a folder that the user named."""
    jsonl: bool
    corpus: str
    """Value of the rows' column ``corpus``."""
    size: int
    """Bytes on the disk."""
    sha256: str


def input_files(
    paths: Sequence[Path], *, field: str | None = None, corpus: str | None = None
) -> tuple[InputFile, ...]:
    """The files that `paths` name, in that order; of a folder all files at any depth but hidden
    ones, sorted.

    Files whose name ends in ``.gz`` are gzipped. Files of JSON lines are those whose name ends in
    ``.jsonl`` or ``.ndjson``, and all files where there is a `field`. The corpus of a file is
    `corpus`, else the name of the folder in `paths`, or the file's without its endings.

    Raises:
        DataError: no such file; a folder without files; a pipe or a device; a file that cannot be
            read.
        SettingError: no paths.
    """
    if not paths:
        raise SettingError("text", "expected files or folders of text, got none")
    files = []
    for path in paths:
        name = path.absolute().name.removesuffix(".gz")
        inside = sorted(_visible_files(path)) if path.is_dir() else [path]
        if not inside:
            raise DataError("expected files in this folder, got none", path=path)
        for file in inside:
            jsonl = field is not None or file.name.removesuffix(".gz").lower().endswith(_JSONL)
            corpus_name = corpus or Path(name).stem or name
            files.append(InputFile(file, jsonl, corpus_name, *_size_and_hash(file)))
    return tuple(files)


def _visible_files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        parts = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith(".") for part in parts):
            yield path


def _size_and_hash(path: Path) -> tuple[int, str]:
    try:
        if path.exists() and not path.is_file():
            raise DataError(
                "expected a regular file, which a run that was stopped can read again;"
                " write the content into one",
                path=path,
            )
        with open_input(path) as file:
            return path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


@frozen
class Passage:
    """A piece of text that is parsed together."""

    file: int
    line: int
    """1-based line of the file."""
    offset: int
    """Characters before it in that line, or in the line's JSON field."""
    text: str


@frozen
class Chunk:
    """Some passages, with counts of the text that was read for them."""

    passages: tuple[Passage, ...]
    read: int
    """Passages that were read, including those that the filter refused."""
    left_out: Counter[str]
    """Lines and passages that could not be read, by reason."""
    done: int
    """Bytes on the disk that were read of all files so far."""


def read_chunks(
    files: Sequence[InputFile], keep: Callable[[str], bool], field: str = "text"
) -> Iterator[Chunk]:
    """The passages of `files` that `keep` accepts, in chunks.

    Raises:
        DataError: a file cannot be read to its end; it is not a text; its first line is not a JSON
            object with the `field`; there is no text in any file.
    """
    passages: list[Passage] = []
    left_out: Counter[str] = Counter()
    lines = read = characters = before = 0
    empty = True
    for number, file in enumerate(files):
        for line, why, raw in _read_file(file, number, field):
            if why is not None:
                left_out[why] += 1
            for passage in line:
                if len(passage.text) > LONGEST_PASSAGE:
                    left_out[LONG_PASSAGE] += 1
                elif keep(passage.text):
                    passages.append(passage)
                    characters += len(passage.text)
            lines, read, empty = lines + 1, read + len(line), empty and not line
            if len(passages) >= PASSAGES or characters >= CHARACTERS or lines >= LINES:
                yield Chunk(tuple(passages), read, left_out, before + raw.tell())
                passages, left_out, lines, read, characters = [], Counter(), 0, 0, 0
        before += file.size
    if empty:
        raise DataError("expected text, got none in any file", path=files[0].path)
    if lines:
        yield Chunk(tuple(passages), read, left_out, before)


def _read_file(
    file: InputFile, number: int, field: str
) -> Iterator[tuple[Sequence[Passage], str | None, BinaryIO]]:
    """The passages of each line, or why it cannot be read; and the file on the disk, whose `tell`
    is how far it is.

    Raises:
        DataError: as `read_chunks`.
    """
    at = 0
    try:
        with (
            file.path.open("rb", buffering=_READ) as raw,
            cast(BinaryIO, gzip.open(raw)) if file.path.suffix == ".gz" else raw as content,
        ):
            for at, data in enumerate(_lines(content), start=1):
                text = None if data is None else _decoded(data, file, at)
                if text is None:
                    yield (), LONG_LINE if data is None else NOT_UTF8, raw
                elif file.jsonl:
                    yield *_paragraphs(text, number, at, field, file), raw
                else:
                    yield [Passage(number, at, 0, text)] if text.strip() else (), None, raw
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise DataError(
            f"the file cannot be read beyond line {at:,}: {why}", path=file.path
        ) from None


def _lines(content: BinaryIO) -> Iterator[bytes | None]:
    """The lines of a file; None for a line that is too long."""
    while line := content.readline(LONGEST_LINE):
        whole = len(line) < LONGEST_LINE or line.endswith(b"\n")
        yield line if whole else None
        while not whole and line:
            line = content.readline(LONGEST_LINE)
            whole = line.endswith(b"\n")


def _decoded(data: bytes, file: InputFile, line: int) -> str | None:
    """The text of a line without its end; None where it is not UTF-8."""
    if line == 1:
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DataError("the file is UTF-16; save it as UTF-8", path=file.path, line=1)
        data = data.removeprefix(codecs.BOM_UTF8)
        if b"\0" in data:
            raise DataError(
                "expected text, got a binary file; name the files of text", path=file.path, line=1
            )
    try:
        return data.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        return None


def _paragraphs(
    line: str, number: int, at: int, field: str, file: InputFile
) -> tuple[Sequence[Passage], str | None]:
    """The paragraphs of the field of a JSON line, or why there are none."""
    if not line.strip():
        return (), None
    came = "something else"
    try:
        value = load_json(line)
        if isinstance(value, dict):
            came = f"an object with {', '.join(map(repr, value)) or 'nothing in it'}"
            value = value.get(field)
    except ValueError:
        value = None
    if not isinstance(value, str) or _SURROGATES.search(value):
        if at == 1:
            raise DataError(
                f"expected a JSON object with text under {field!r}, got {came};"
                " --field names another",
                path=file.path,
                line=1,
            )
        return (), NOT_JSON
    passages, offset = [], 0
    for paragraph in value.split("\n"):
        if paragraph.strip():
            passages.append(Passage(number, at, offset, paragraph))
        offset += len(paragraph) + 1
    return passages, None
