"""Instances of GAP's kind, a text with one pronoun and two candidates A and B: reading, checking, writing.

GAP writes tab-separated text without quoting, Counter-GAP quotes its fields as CSV does (and ends lines in CRLF).
Which of the two a file is shows in its offsets: read the wrong way, they do not fit.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mtbias.errors import DataError
from mtbias.files.reading import TextFile, integer, read_text, split_lines

COLUMNS = (
    "ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref",
)  # fmt: skip
"""The columns that every such file has; others are carried along."""


class Labels(NamedTuple):
    """Whether the pronoun means A, and whether it means B."""

    a: bool
    b: bool


@dataclass(frozen=True, slots=True)
class GapInstance:
    """A text, its pronoun and the two candidates; offsets are in characters of `text`, from 0."""

    id: str
    text: str
    pronoun: str
    pronoun_offset: int
    a: str
    a_offset: int
    a_coref: bool
    b: str
    b_offset: int
    b_coref: bool
    others: tuple[str, ...] = ()
    """The fields of the file's other columns."""

    def misfit(self) -> str | None:
        """What does not stand where its offset says, or None."""
        for what, word, offset in (
            ("Pronoun", self.pronoun, self.pronoun_offset),
            ("A", self.a, self.a_offset),
            ("B", self.b, self.b_offset),
        ):
            if offset + len(word) > len(self.text):
                return f"{what}-offset {offset} with {word!r} ends past the text, which has {len(self.text)} characters"
            if not word or not self.text.startswith(word, offset):
                found = self.text[offset : offset + len(word)]
                return f"{what}-offset {offset}: expected {word!r}, the text has {found!r}"
        return None


@dataclass(frozen=True, slots=True)
class GapFile:
    """A file of instances as it was read."""

    path: Path
    sha256: str
    quoted: bool
    columns: tuple[str, ...]
    """The names of the columns beyond `COLUMNS`."""
    instances: tuple[GapInstance, ...]


def read_instances(path: Path) -> GapFile:
    """Read a TSV file of GAP's columns, quoted or not.

    Raises:
        DataError: columns missing; a row with too many or too few fields; an id twice; a label that is not TRUE or
            FALSE (in any case); an offset that does not fit however the file is read.
    """
    file = read_text(path)
    try:
        return _parse(file, quoted=True)
    except DataError as error:
        try:
            return _parse(file, quoted=False)
        except DataError as unquoted:
            quotes = '\t"' in file.text or '""' in file.text
            raise (error if quotes else unquoted) from None


def _rows(file: TextFile, *, quoted: bool) -> Iterator[tuple[int, list[str]]]:
    if not quoted:
        for line, content in enumerate(split_lines(file.text), start=1):
            if content.strip():
                yield line, content.split("\t")
        return
    reader = csv.reader(io.StringIO(file.text, newline=""), delimiter="\t", strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            message = f"the quoting is broken from here on ({error}); look for a quotation mark without its partner"
            raise DataError(message, path=file.path, line=line) from None
        if any(cell.strip() for cell in row):
            yield line, row


def _parse(file: TextFile, *, quoted: bool) -> GapFile:
    rows = _rows(file, quoted=quoted)
    _, header = next(rows, (1, []))
    names = tuple(name.strip() for name in header)
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        message = f"column {', '.join(map(repr, missing))} expected; the file has {', '.join(map(repr, names))}"
        raise DataError(message, path=file.path, line=1)
    others = tuple(name for name in names if name not in COLUMNS)
    if len(set(names)) != len(names):
        raise DataError("a column stands twice in the header", path=file.path, line=1)
    instances: dict[str, GapInstance] = {}
    for line, row in rows:
        if len(row) != len(names):
            message = f"{len(names)} fields expected, as in the header, found {len(row)}"
            raise DataError(message, path=file.path, line=line)
        instance = _instance(dict(zip(names, row, strict=True)), others, file.path, line)
        if instance.id in instances:
            raise DataError(f"the id {instance.id!r} stands twice; ids must differ", path=file.path, line=line)
        if misfit := instance.misfit():
            raise DataError(f"{instance.id}: {misfit}", path=file.path, line=line)
        instances[instance.id] = instance
    if not instances:
        raise DataError("the file has a header and no instances", path=file.path, line=1)
    return GapFile(file.path, file.sha256, quoted, others, tuple(instances.values()))


def _instance(fields: dict[str, str], others: Sequence[str], path: Path, line: int) -> GapInstance:
    def offset(column: str) -> int:
        return integer(fields[column].strip(), column, path, line)

    def label(column: str) -> bool:
        return truth(fields[column], column, path, line)

    return GapInstance(
        id=fields["ID"].strip(),
        text=fields["Text"],
        pronoun=fields["Pronoun"],
        pronoun_offset=offset("Pronoun-offset"),
        a=fields["A"],
        a_offset=offset("A-offset"),
        a_coref=label("A-coref"),
        b=fields["B"],
        b_offset=offset("B-offset"),
        b_coref=label("B-coref"),
        others=tuple(fields[column] for column in others),
    )


def truth(text: str, what: str, path: Path, line: int) -> bool:
    """TRUE or FALSE in any case.

    Raises:
        DataError: anything else.
    """
    value = {"true": True, "false": False}.get(text.strip().lower())
    if value is None:
        raise DataError(f"{what}: TRUE or FALSE expected, found {text!r}", path=path, line=line)
    return value


def read_labels(path: Path) -> tuple[dict[str, Labels], str]:
    """Read a system's labels: id, A-coref, B-coref, tab-separated, with or without that header.

    Returns: labels by id, and the file's SHA-256.

    Raises:
        DataError: another number of fields; a label that is not TRUE or FALSE (in any case); an id twice; no rows.
    """
    file = read_text(path)
    labels: dict[str, Labels] = {}
    for line, content in enumerate(split_lines(file.text), start=1):
        fields = [field.strip() for field in content.split("\t")]
        if not any(fields):
            continue
        if len(fields) != 3:
            message = f"three fields expected (id, A-coref, B-coref; tabs between), found {len(fields)}"
            raise DataError(message, path=path, line=line)
        if line == 1 and fields[0].lower() == "id":
            continue
        identifier = fields[0]
        if identifier in labels:
            raise DataError(f"the id {identifier!r} stands twice; ids must differ", path=path, line=line)
        labels[identifier] = Labels(
            *(truth(f, c, path, line) for f, c in zip(fields[1:], ("A-coref", "B-coref"), strict=True))
        )
    if not labels:
        raise DataError("no predictions in the file", path=path, line=1)
    return labels, file.sha256


def write_instances(instances: Iterable[GapInstance], columns: Sequence[str] = ()) -> str:
    """The text of a file of instances as Counter-GAP writes it: quoted where needed, lines ending in CRLF.

    `columns` are the names of the other columns, in the order of each instance's `others`.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter="\t", lineterminator="\r\n")
    writer.writerow([*COLUMNS, *columns])
    for i in instances:
        a, b = (str(label).upper() for label in (i.a_coref, i.b_coref))
        writer.writerow(
            [i.id, i.text, i.pronoun, i.pronoun_offset, i.a, i.a_offset, a, i.b, i.b_offset, b, *i.others]
        )  # fmt: skip
    return out.getvalue()
