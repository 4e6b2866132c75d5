"""Strict reading of text files, of tables with named columns, of JSON and TOML: what all files of
data share.

Three rules hold for all files. Text is UTF-8, and a byte that is not is an error with its line,
never a replacement character. A line ends at LF or CRLF and nowhere else (U+2028, U+0085 and form
feeds occur inside sentences). A byte-order mark is dropped and noted.
"""

from __future__ import annotations

import codecs
import csv
import errno
import hashlib
import io
import os
import re
import stat
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from io import BufferedReader
from math import inf, isinf, nan
from pathlib import Path
from typing import TypeVar

from mtbias.errors import DataError
from mtbias.files.file_ledger import file_ledger
from mtbias.files.packing import suffix_of, unpacked
from mtbias.files.strict_json import DecodingError, converted, load_json, once
from mtbias.types import JsonDict, frozen

T = TypeVar("T")

# What a path may name that is not a regular file: an open descriptor (``/dev/stdin``, ``<(…)``), a
# pipe, a device.

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
    """The number of this process's descriptor that `path` names, links followed; None where it
    names none.

    ``/dev/stdin`` is 0, ``/dev/stdout`` 1; a shell gives a process substitution as ``/dev/fd/63``.
    """
    place = Path.cwd() / path
    for _ in range(_MOST_LINKS):
        match = _DESCRIPTOR.fullmatch(str(place))
        if match is not None:
            is_ours = match[1] in {None, "self", "thread-self", str(os.getpid())}
            return int(match[2]) if is_ours else None
        try:
            place = place.parent / place.readlink()
        except (OSError, ValueError):  # ValueError: a NUL in the path
            return None
    return None


def open_input(path: Path) -> BufferedReader:
    """Open a regular file, or a pipe that is open already (standard input, a process substitution),
    to read its bytes.

    A pipe can be read once. Other pipes and devices are refused, since they may never end, or never
    begin.

    Raises:
        OSError: there is no such file, or it cannot be read; it is neither, and the error says what
            it is.
        OutputError: the command is to write it (`mtbias.files.file_ledger`).
        ValueError: a NUL in the path.
    """
    number = own_descriptor(path)
    status = path.stat() if number is None else os.fstat(number)
    mode = status.st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(
            errno.EISDIR, "expected a file, got a folder; name the file in it", str(path)
        )
    file_ledger().note_input(path, status)
    if stat.S_ISREG(mode):
        return path.open("rb")
    if number is not None and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return os.fdopen(os.dup(number), "rb")
    kind = next(kind for test, kind in _KINDS.items() if test(mode))
    message = (
        f"expected a regular file, got {kind}; "
        "write the content into a file, or pipe it and name /dev/stdin"
    )
    raise OSError(errno.EINVAL, message, str(path))


def refuse_special(folder: Path) -> None:
    """Refuse a folder that holds a pipe, a device or a socket, which could keep a reader waiting
    for ever.

    Raises:
        DataError: it does.
    """
    for path in sorted(folder.iterdir()):
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise DataError(
                "expected a regular file, got a pipe, a device or a socket; remove it", path=path
            )


def input_bytes(path: Path) -> bytes:
    """All bytes of a file; errors as of `open_input`."""
    with open_input(path) as file:
        return file.read()


# Text, and tables with named columns.

LONGEST = 50_000
"""Characters of the longest text that is taken for a sentence: aligning and analysing a longer one
takes hours."""

TABLES = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson")
"""How the name of a table ends, in any case."""

_NAMED = 20
"""How many columns a message names."""


@frozen
class TextFile:
    """A text file's content without byte-order mark, and how its bytes were written."""

    path: Path
    text: str
    sha256: str
    bom: bool
    crlf: bool

    @property
    def hashes(self) -> dict[str, str]:
        """Its SHA-256 by its name, as what was read from it has them."""
        return {self.path.name: self.sha256}

    def error(self, message: str, line: int | None = None) -> DataError:
        """An error in this file, on that 1-based line, for the caller to raise."""
        return DataError(message, path=self.path, line=line)

    def converted(self, kind: type[T], content: object, line: int | None = None) -> T:
        """The `content` of this file as a value of a class (`mtbias.files.strict_json.converted`).

        Raises:
            DataError: it is something else.
        """
        try:
            return converted(kind, content)
        except DecodingError as error:
            raise self.error(str(error), line) from None

    def filled_lines(self) -> Iterator[tuple[int, str]]:
        """The lines that are not blank (`split_lines`), each with its 1-based number."""
        return (
            (line, text)
            for line, text in enumerate(split_lines(self.text), start=1)
            if text.strip()
        )


def read_bytes(path: Path) -> bytes:
    """The bytes of the file at `path`.

    Raises:
        DataError: there is no such file, or it cannot be read; it is a device, or a pipe that is
            not open already.
    """
    try:
        return input_bytes(path)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error


def sha256_of(content: bytes | str) -> str:
    """SHA-256 in hexadecimal; of a text, that of its UTF-8."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def sha256_of_file(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal.

    Raises:
        DataError: as `read_bytes`.
    """
    return sha256_of(read_bytes(path))


def unreadable(path: Path, error: OSError | ValueError) -> DataError:
    """The error for a user of what `open_input` raised for `path`."""
    if isinstance(error, FileNotFoundError):
        return DataError("there is no such file; check the path", path=path)
    return DataError(
        f"the file cannot be read: {getattr(error, 'strerror', None) or error}", path=path
    )


def read_text(path: Path, *, allow_empty: bool = False) -> TextFile:
    """The text of the UTF-8 file at `path`, unpacked where its name ends in ``.gz`` or ``.zst``.

    Raises:
        DataError: no such file; bytes that are not UTF-8 (with the line of the first); nothing but
            white space, unless `allow_empty`; packed and damaged.
        DependencyError: it is packed by Zstandard, whose library is not installed.
    """
    packed = read_bytes(path)
    data = unpacked(path, packed)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DataError("the file is UTF-16; save it as UTF-8", path=path, line=1) from None
        line = data.count(b"\n", 0, error.start) + 1
        message = (
            f"byte 0x{data[error.start]:02X} is not UTF-8 ({error.reason}); save the file as UTF-8"
        )
        raise DataError(message, path=path, line=line) from None
    bom = text.startswith("\ufeff")
    text = text.removeprefix("\ufeff")
    if not (allow_empty or text.strip()):
        raise DataError("the file is empty", path=path, line=1)
    return TextFile(path=path, text=text, sha256=sha256_of(packed), bom=bom, crlf="\r\n" in text)


def split_lines(text: str) -> list[str]:
    """The lines of `text` without their ends; LF and CRLF end a line, nothing else does.

    Empty lines at the end of the file are dropped, those in the middle are kept.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def commented_rows(text: str) -> list[dict[str, str]]:
    """The rows of a TSV that ships with mtbias, by the names of its header; lines that begin with #
    are remarks.
    """
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t"))


@frozen
class Record:
    """One row of a table: its fields as text, by column; an absent or null field is the empty
    string.
    """

    row: int
    """0-based, without the header."""
    line: int
    """1-based line on which it starts."""
    fields: Mapping[str, str]
    path: Path
    """Of its file."""

    def get(self, column: str) -> str:
        """The field's text without surrounding white space; empty where the column or the value is
        absent.
        """
        return self.raw(column).strip()

    def raw(self, column: str) -> str:
        """The field's text with its white space; empty where the column or the value is absent."""
        return self.fields.get(column, "")

    def integer(self, column: str) -> int:
        """The number in a field; `integer` says which numbers, and what it raises."""
        return integer(self.get(column), column, self.path, self.line)

    def optional_integer(self, column: str) -> int | None:
        """As `integer`, None where the field is empty."""
        return self.integer(column) if self.get(column) else None

    def number(self, column: str, *, least: float = 0, most: float = inf) -> float:
        """The number in a field, which may have a fraction.

        Raises:
            DataError: it is not a finite number from `least` to `most`.
        """
        text = self.get(column)
        try:
            value = float(text)
        except ValueError:
            value = nan
        if not least <= value <= most or isinf(value):
            raise self.error(f"{column}: expected a number{_bounds(least, most)}, got {text!r}")
        return value

    def error(self, message: str) -> DataError:
        """An error in this row, for the caller to raise."""
        return DataError(message, path=self.path, line=self.line)


def _bounds(least: float, most: float) -> str:
    """The end of "a number": from where to where."""
    if most < inf:
        return f" from {least:g} to {most:g}"
    return f" of {least:g} or more" if least > -inf else ""


@frozen
class Table:
    """A table with named columns, from TSV, CSV or JSONL."""

    file: TextFile
    columns: tuple[str, ...]
    records: tuple[Record, ...]

    @property
    def listing(self) -> str:
        """The names of the first columns, quoted, for a message."""
        return columns_listed(self.columns)

    def require(self, *columns: str) -> None:
        """Check that `columns` are there.

        Raises:
            DataError: some are not; the message lists those that are.
        """
        missing = [column for column in columns if column not in self.columns]
        if missing:
            message = f"expected the column {', '.join(map(repr, missing))}; got {self.listing}"
            raise DataError(message, path=self.file.path, line=1)


def columns_listed(columns: Collection[str]) -> str:
    """The names of the first columns, quoted, for a message."""
    named = [repr(column) for column in columns if column]
    more = [f"… ({len(named)} in all)"] if len(named) > _NAMED else []
    return ", ".join(named[:_NAMED] + more) or "none"


def read_table(path: Path, *columns: str) -> Table:
    """Read the table at `path`, which needs `columns`; see `parse_table`.

    Raises:
        DataError: as there; no such file; not UTF-8; empty; a column is missing.
    """
    _suffix(path)  # a spreadsheet is not a table here, whatever its bytes
    table = parse_table(read_text(path))
    table.require(*columns)
    return table


def parse_table(file: TextFile, *, texts: Collection[str] | None = None) -> Table:
    """The table in `file`, by the end of its name: ``.csv``, ``.tsv`` (or ``.tab``), ``.jsonl`` (or
    ``.ndjson``).

    CSV is read as RFC 4180 with quotes; its fields are parted by commas, by what Excel's first line
    ``sep=;`` names, or by semicolons where its header has no comma and some semicolon. TSV has no
    quoting: a quotation mark is a character like
    any other. JSONL holds one object per line, with text, numbers or null; with `texts`, text or
    null under these names, and anything under other names, which are ignored. Blank lines are
    passed over.

    Raises:
        DataError: unknown suffix; no rows; a row whose number of fields is not the header's; a
            column twice; broken quoting; a line that is not a JSON object of plain values.
    """
    suffix = _suffix(file.path)
    if suffix in {".jsonl", ".ndjson"}:
        return _objects(file, texts)
    return _with_header(file, _csv_rows(file) if suffix == ".csv" else _tab_rows(file))


def parse_tabs(file: TextFile, *, quoted: bool) -> Table:
    """The tab-separated table in `file`, whatever its name; `quoted`: whether its fields are quoted
    as in CSV.

    Raises:
        DataError: as `parse_table`.
    """
    return _with_header(file, _quoted_rows(file, "\t") if quoted else _tab_rows(file))


def parse_json_lines(file: TextFile) -> Iterator[tuple[int, JsonDict]]:
    """The JSON objects of `file`, one on each line that is not blank, with the numbers of their
    lines.

    Raises:
        DataError: a line that is not a JSON object; a key twice in one.
    """
    return ((line, _object(content, file, "", line)) for line, content in file.filled_lines())


def parse_json_by_id(file: TextFile) -> JsonDict:
    """The one JSON object that `file` is, with an entry for each id.

    Raises:
        DataError: something else; an id twice.
    """
    return _object(file.text, file, " with an entry for each id")


def _object(text: str, file: TextFile, which: str, line: int | None = None) -> JsonDict:
    try:
        content = load_json(text, once)
    except ValueError as error:
        raise file.error(f"expected a JSON object: {error}", line) from None
    if not isinstance(content, dict):
        raise file.error(f"expected a JSON object{which}, got {type(content).__name__}", line)
    return content


def parse_toml(file: TextFile) -> JsonDict:
    """The TOML table that `file` is.

    Raises:
        DataError: it is something else.
    """
    try:
        return tomllib.loads(file.text)
    # A ValueError is raised also for a number of more digits than Python reads.
    except (ValueError, RecursionError) as error:
        raise file.error(f"expected TOML, got something else: {error}") from None


def _suffix(path: Path) -> str:
    suffix = suffix_of(path)
    if suffix not in TABLES:
        message = f"a table's name ends in one of {', '.join(TABLES)}; this one ends in {suffix!r}"
        raise DataError(message, path=path)
    return suffix


def _tab_rows(file: TextFile) -> Iterator[tuple[int, list[str]]]:
    return ((line, content.split("\t")) for line, content in file.filled_lines())


_DELIMITER_LINE = re.compile(r'"?sep=([,;:|\t])"?\r?', re.IGNORECASE)
"""The line that Excel writes and takes before a CSV: by which character fields are parted."""


def _csv_rows(file: TextFile) -> Iterator[tuple[int, list[str]]]:
    first, _, rest = file.text.partition("\n")
    delimiter_line = _DELIMITER_LINE.fullmatch(first)
    if delimiter_line is not None:
        return _quoted_rows(file, delimiter_line[1], rest, 2)
    return _quoted_rows(file, ";" if ";" in first and "," not in first else ",")


def _quoted_rows(
    file: TextFile, delimiter: str, text: str | None = None, line: int = 1
) -> Iterator[tuple[int, list[str]]]:
    """The rows of `text`, which begins on that line of the file (default: all of it)."""
    before = line
    content = io.StringIO(file.text if text is None else text, newline="")
    reader = csv.reader(content, delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield line, row
            line = before + reader.line_num
    except csv.Error as error:
        raise file.error(
            f"the CSV is broken from here on: {error}; "
            "look for a quotation mark without its partner",
            line,
        ) from None


def _with_header(file: TextFile, rows: Iterator[tuple[int, list[str]]]) -> Table:
    line, header = next(rows, (1, []))  # CSV may have something in it and no field: ,,
    columns = tuple(name.strip() for name in header)
    twice = sorted(name for name, times in Counter(columns).items() if name and times > 1)
    if twice:
        raise file.error(
            f"column {', '.join(map(repr, twice[:_NAMED]))} occurs twice in the header", line
        )
    records = []
    for row, (line, cells) in enumerate(rows):
        if len(cells) != len(columns):
            raise file.error(
                f"expected {len(columns)} fields, as in the header, got {len(cells)}", line
            )
        records.append(Record(row, line, dict(zip(columns, cells, strict=True)), file.path))
    return _table(file, columns, records)


def _table(file: TextFile, columns: Collection[str], records: Collection[Record]) -> Table:
    if not records:
        raise file.error("the file has a header and no rows", 1)
    return Table(file=file, columns=tuple(columns), records=tuple(records))


def _objects(file: TextFile, texts: Collection[str] | None) -> Table:
    columns: dict[str, None] = {}
    records: list[Record] = []
    for line, value in parse_json_lines(file):
        fields = {
            name: plain_text(item, f"under {name!r}", file, line, text_only=texts is not None)
            for name, item in value.items()
            if texts is None or name in texts
        }
        columns.update(dict.fromkeys(fields))
        records.append(Record(len(records), line, fields, file.path))
    return _table(file, columns, records)


def plain_text(
    value: object, where: str, file: TextFile, line: int, *, text_only: bool = True
) -> str:
    """The text of a value of JSON, empty of null; of a number its digits, unless `text_only`.

    Raises:
        DataError: it is something else; the message says where (`where`).
    """
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str if text_only else str | int | float):
        kinds = "text" if text_only else "text or a number"
        raise file.error(f"expected {kinds} {where}, got {type(value).__name__}", line)
    text = str(value)
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise file.error(f"half of a surrogate pair {where}; it is no character", line)
    return text


def refuse_long(text: str, what: str, path: Path, line: int) -> None:
    """Refuse a `text` of more than `LONGEST` characters where a sentence is expected; `what` names
    it in the message.

    Raises:
        DataError: it is longer.
    """
    if len(text) > LONGEST:
        message = (
            f"{what}: expected a sentence of at most {LONGEST:,} characters, "
            f"got {len(text):,}; divide or shorten it"
        )
        raise DataError(message, path=path, line=line)


def integer(text: str, what: str, path: Path, line: int) -> int:
    """The non-negative integer written in `text`; ``5.0``, as pandas writes it beside empty cells,
    is 5.

    Raises:
        DataError: anything else.
    """
    digits = text.removesuffix(".0")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 9:
        raise DataError(f"{what}: expected an integer from 0, got {text!r}", path=path, line=line)
    return int(digits)
