"""What every corpus reader shares: strict reading of text files and tables, and the value that a reader returns.

Three rules hold for all files. Text is UTF-8, and a byte that is not is an error with its line, never a replacement
character. A line ends at LF or CRLF and nowhere else (U+2028, U+0085 and form feeds stand inside sentences). A
byte-order mark is dropped and noted.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mtbias.errors import DataError
from mtbias.types import Gender, Instance

EXAMPLES = 5
"""How many instances a note names."""


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """A row of the corpus file that became no instance."""

    row: int
    """0-based row of the corpus file, as in `Instance.row`."""
    line: int
    """1-based line on which the row starts."""
    reason: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus as read: its instances in the file's order, and what was noticed on the way."""

    name: str
    """The dataset's name: ``winomt``, ``bug``, ``bug-balanced``, ``bug-gold``, ``bug-gold-paper``, ``custom``."""
    path: Path
    """The file that holds the sentences."""
    sha256: str
    """SHA-256 of that file's bytes, in hexadecimal."""
    instances: tuple[Instance, ...]
    notes: Mapping[str, int]
    """What was repaired, skipped or noticed, in plain English, with the number of times."""
    skipped: tuple[SkippedRow, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    """Every file that was read, by name, with its SHA-256: what decides the instances, stereotypes included."""
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The ids of the first instances under each note that is about instances."""

    @property
    def rows(self) -> int:
        """Rows of the file: instances plus skipped rows."""
        return len(self.instances) + len(self.skipped)


class Notes:
    """Counts what a reader notices; becomes `Corpus.notes` and `Corpus.examples`."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self._examples: dict[str, list[str]] = {}

    def add(self, what: str, id_: str | None = None, *, times: int = 1) -> None:
        """Count `what`, and remember the instance `id_` under it if it is one of the first."""
        if times:
            self.counts[what] = self.counts.get(what, 0) + times
        if id_ is not None and len(self._examples.setdefault(what, [])) < EXAMPLES:
            self._examples[what].append(id_)

    def examples(self) -> dict[str, tuple[str, ...]]:
        """The first ids under each note."""
        return {what: tuple(ids) for what, ids in self._examples.items()}


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file's content without byte-order mark, and what is to be said about its bytes."""

    path: Path
    text: str
    sha256: str
    bom: bool
    crlf: bool

    def note_into(self, notes: Notes) -> None:
        """Count what the file's bytes show under plain-English keys."""
        notes.add("byte-order mark dropped", times=int(self.bom))
        notes.add("file with Windows line ends", times=int(self.crlf))


def read_bytes(path: Path) -> bytes:
    """The bytes of the file at `path`.

    Raises:
        DataError: there is no such file, or it cannot be read.

    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError("there is no such file; check the path", path=path) from None
    except IsADirectoryError:
        raise DataError("this is a folder; name the file in it", path=path) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise DataError(f"the file cannot be read: {error}", path=path) from error


def read_text(path: Path) -> TextFile:
    """The text of the UTF-8 file at `path`.

    Raises:
        DataError: no such file; bytes that are not UTF-8 (with the line of the first); nothing but white space.

    """
    data = read_bytes(path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DataError("the file is UTF-16; save it as UTF-8", path=path, line=1) from None
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte 0x{data[error.start]:02X} is not UTF-8 ({error.reason}); save the file as UTF-8"
        raise DataError(message, path=path, line=line) from None
    bom = text.startswith("\ufeff")
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise DataError("the file is empty", path=path, line=1)
    return TextFile(path=path, text=text, sha256=hashlib.sha256(data).hexdigest(), bom=bom, crlf="\r\n" in text)


def split_lines(text: str) -> list[str]:
    """The lines of `text` without their ends; LF and CRLF end a line, nothing else does.

    Empty lines at the end of the file are dropped, those in the middle stand.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


@dataclass(frozen=True, slots=True)
class Record:
    """One row of a table: its fields as text, by column; an absent or null field is the empty string."""

    row: int
    """0-based, without the header."""
    line: int
    """1-based line on which it starts."""
    fields: Mapping[str, str]

    def get(self, column: str) -> str:
        """The field's text without surrounding white space; empty where the column or the value is absent."""
        return self.fields.get(column, "").strip()


@dataclass(frozen=True, slots=True)
class Table:
    """A table with named columns, from TSV, CSV or JSONL."""

    file: TextFile
    columns: tuple[str, ...]
    records: tuple[Record, ...]

    def require(self, *columns: str) -> None:
        """Check that `columns` are there.

        Raises:
            DataError: some are not; the message lists those that are.

        """
        missing = [column for column in columns if column not in self.columns]
        if missing:
            present = ", ".join(repr(column) for column in self.columns if column)
            message = f"column {', '.join(map(repr, missing))} expected; the file has {present or 'none'}"
            raise DataError(message, path=self.file.path, line=1)


def read_table(path: Path) -> Table:
    """Read a table by its suffix: ``.csv``, ``.tsv`` (or ``.tab``), ``.jsonl`` (or ``.ndjson``).

    CSV is read as RFC 4180 with quotes. TSV has no quoting: a quotation mark is a character like any other. JSONL
    holds an object a line. Blank lines are passed over.

    Raises:
        DataError: unknown suffix; not UTF-8; empty; a row whose number of fields is not the header's; a column twice;
            broken quoting; a line that is not a JSON object of plain values.

    """
    readers = {
        ".csv": _read_csv,
        ".tsv": _read_tsv,
        ".tab": _read_tsv,
        ".jsonl": _read_jsonl,
        ".ndjson": _read_jsonl,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        known = ", ".join(readers)
        raise DataError(f"a table's name ends in one of {known}; this one ends in {path.suffix!r}", path=path)
    file = read_text(path)
    table = reader(file)
    if not table.records:
        raise DataError("the file has a header and no rows", path=path, line=1)
    return table


def _read_tsv(file: TextFile) -> Table:
    rows = ((number, line.split("\t")) for number, line in enumerate(split_lines(file.text), start=1) if line.strip())
    return _with_header(file, rows)


def _read_csv(file: TextFile) -> Table:
    return _with_header(file, _csv_rows(file))


def _csv_rows(file: TextFile) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(file.text, newline=""), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            message = f"the CSV is broken from here on: {error}; look for a quotation mark without its partner"
            raise DataError(message, path=file.path, line=line) from None
        if any(cell.strip() for cell in row):
            yield line, row


def _with_header(file: TextFile, rows: Iterator[tuple[int, list[str]]]) -> Table:
    line, header = next(rows)  # read_text saw that there is something
    columns = tuple(name.strip() for name in header)
    named = [name for name in columns if name]
    twice = sorted({name for name in named if named.count(name) > 1})
    if twice:
        message = f"column {', '.join(map(repr, twice))} stands twice in the header"
        raise DataError(message, path=file.path, line=line)
    records = []
    for row, (line, cells) in enumerate(rows):
        if len(cells) != len(columns):
            message = f"{len(columns)} fields expected, as in the header, found {len(cells)}"
            raise DataError(message, path=file.path, line=line)
        records.append(Record(row=row, line=line, fields=dict(zip(columns, cells, strict=True))))
    return Table(file=file, columns=columns, records=tuple(records))


def _read_jsonl(file: TextFile) -> Table:
    columns: dict[str, None] = {}
    records: list[Record] = []
    for line, content in enumerate(split_lines(file.text), start=1):
        if not content.strip():
            continue
        try:
            value = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise DataError(f"a JSON object expected: {error}", path=file.path, line=line) from None
        if not isinstance(value, dict):
            message = f"a JSON object expected, found {type(value).__name__}"
            raise DataError(message, path=file.path, line=line)
        fields = {name: _plain(item, name, file.path, line) for name, item in value.items()}
        columns.update(dict.fromkeys(fields))
        records.append(Record(row=len(records), line=line, fields=fields))
    return Table(file=file, columns=tuple(columns), records=tuple(records))


def _plain(value: object, name: str, path: Path, line: int) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        message = f"text or a number expected under {name!r}, found {type(value).__name__}"
        raise DataError(message, path=path, line=line)
    text = str(value)
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise DataError(f"half of a surrogate pair under {name!r}; it is no character", path=path, line=line)
    return text


def integer(text: str, what: str, path: Path, line: int) -> int:
    """The non-negative integer written in `text`; ``5.0``, as pandas writes it beside empty cells, is 5.

    Raises:
        DataError: anything else.

    """
    digits = text.removesuffix(".0")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 9:
        raise DataError(f"{what}: an integer from 0 expected, found {text!r}", path=path, line=line)
    return int(digits)


_GENDERS = {
    "male": Gender.MALE,
    "m": Gender.MALE,
    "female": Gender.FEMALE,
    "f": Gender.FEMALE,
    "neutral": Gender.NEUTRAL,
    "n": Gender.NEUTRAL,
}


def gender(text: str, path: Path, line: int) -> Gender:
    """The gender written in `text`: male, female, neutral, or m, f, n, in any case.

    Raises:
        DataError: anything else.

    """
    found = _GENDERS.get(text.strip().lower())
    if found is None:
        message = f"gender: male, female or neutral (or m, f, n) expected, found {text!r}"
        raise DataError(message, path=path, line=line)
    return found
