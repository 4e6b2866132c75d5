"""Instances of GAP's kind, a text with one pronoun and two candidates A and B: reading, checking, writing; and labels.

GAP writes tab-separated text without quoting, Counter-GAP quotes its fields as CSV does (and ends lines in CRLF).
Which of the two a file is shows in its offsets: read the wrong way, they do not fit.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from mtbias.english.pronouns import GENDER_OF_PRONOUN
from mtbias.errors import DataError
from mtbias.files.reading import Record, TextFile, parse_tabs, read_text
from mtbias.types import Gender, Span

COLUMNS = (
    "ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref",
)  # fmt: skip
"""The columns that every such file has; others are carried along."""

_TRUTHS = {"true": True, "false": False}


class Labels(NamedTuple):
    """Whether the pronoun means A, and whether it means B; None where a system says neither true nor false."""

    a: bool | None
    b: bool | None


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
    others: Mapping[str, str] = field(default_factory=dict)
    """The fields of the file's other columns."""

    @property
    def gold(self) -> Labels:
        """The right labels of A and B."""
        return Labels(self.a_coref, self.b_coref)

    @property
    def candidates(self) -> tuple[Span, Span]:
        """Where A and B stand."""
        a, b = self.a_offset, self.b_offset
        return Span(a, a + len(self.a)), Span(b, b + len(self.b))

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
                return f"{what}-offset {offset}: expected {word!r}, got {found!r} in the text"
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


def gender_of(instance: GapInstance, path: Path | None = None) -> Gender:
    """The gender of an instance's pronoun; `path` is the instance's file, for the message.

    GAP and Counter-GAP have no reflexive pronouns; other data of the kind may.

    Raises:
        DataError: the pronoun is not one of `GENDER_OF_PRONOUN`, in any case.
    """
    gender = GENDER_OF_PRONOUN.get(instance.pronoun.lower())
    if gender is None:
        listing = ", ".join(GENDER_OF_PRONOUN)
        raise DataError(f"{instance.id}: expected one of {listing}, got {instance.pronoun!r}", path=path)
    return gender


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


def _parse(file: TextFile, *, quoted: bool) -> GapFile:
    table = parse_tabs(file, quoted=quoted)
    table.require(*COLUMNS)
    others = tuple(name for name in table.columns if name not in COLUMNS)
    instances: dict[str, GapInstance] = {}
    for record in table.records:
        instance = _instance(record, others)
        if instance.id in instances:
            raise record.error(f"the id {instance.id!r} stands twice; ids must differ")
        if misfit := instance.misfit():
            raise record.error(f"{instance.id}: {misfit}")
        instances[instance.id] = instance
    return GapFile(file.path, file.sha256, quoted, others, tuple(instances.values()))


def _instance(record: Record, others: Sequence[str]) -> GapInstance:
    for column in ("A-coref", "B-coref"):
        if record.get(column).lower() not in _TRUTHS:
            raise record.error(f"{column}: expected TRUE or FALSE, got {record.get(column)!r}")
    return GapInstance(
        id=record.get("ID"),
        text=record.raw("Text"),
        pronoun=record.raw("Pronoun"),
        pronoun_offset=record.integer("Pronoun-offset"),
        a=record.raw("A"),
        a_offset=record.integer("A-offset"),
        a_coref=_TRUTHS[record.get("A-coref").lower()],
        b=record.raw("B"),
        b_offset=record.integer("B-offset"),
        b_coref=_TRUTHS[record.get("B-coref").lower()],
        others={column: record.raw(column) for column in others},
    )


@dataclass(frozen=True, slots=True)
class SystemLabels:
    """A system's output."""

    of: Mapping[str, Labels]
    """By id."""
    sha256: str
    duplicates: int
    """Rows whose id came before: they do not count."""
    unexpected: int
    """Labels that are neither true nor false."""
    path: Path | None = None
    """Of the file, for messages."""


def read_labels(path: Path, *, official: bool = False) -> SystemLabels:
    """Read a system's labels: id, A-coref, B-coref, tab-separated, with or without that header.

    `official`: pass over what GAP's official scorer passes over, and count it: the first row of an id counts, and a
    label that is not true or false (in any case) is none.

    Raises:
        DataError: another number of fields; no rows; unless `official`, an id twice or a label that is not TRUE or
            FALSE (in any case).
    """
    file = read_text(path)
    labels: dict[str, Labels] = {}
    duplicates = unexpected = 0
    for line, content in file.filled_lines():
        id_, *texts = (text.strip() for text in content.split("\t"))
        if line == 1 and id_.lower() == "id":
            continue
        if len(texts) != 2:
            message = f"expected three fields (id, A-coref, B-coref; tabs between), got {1 + len(texts)}"
            raise file.error(message, line)
        if id_ in labels and not official:
            raise file.error(f"the id {id_!r} stands twice; ids must differ", line)
        unknown = [(c, t) for c, t in zip(("A-coref", "B-coref"), texts, strict=True) if t.lower() not in _TRUTHS]
        if unknown and not official:
            raise file.error(f"{unknown[0][0]}: expected TRUE or FALSE, got {unknown[0][1]!r}", line)
        if id_ in labels:
            duplicates += 1
            continue
        unexpected += len(unknown)
        labels[id_] = Labels(*(_TRUTHS.get(text.lower()) for text in texts))
    if not labels:
        raise file.error("no predictions in the file", 1)
    return SystemLabels(labels, file.sha256, duplicates, unexpected, path)


def write_instances(instances: Iterable[GapInstance], columns: Sequence[str] = ()) -> str:
    """The text of a file of instances as Counter-GAP writes it: quoted where needed, lines ending in CRLF.

    `columns` are the names of the other columns.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter="\t", lineterminator="\r\n")
    writer.writerow([*COLUMNS, *columns])
    for i in instances:
        a, b = (str(label).upper() for label in i.gold)
        given = [i.id, i.text, i.pronoun, i.pronoun_offset, i.a, i.a_offset, a, i.b, i.b_offset, b]
        writer.writerow([*given, *(i.others[column] for column in columns)])
    return out.getvalue()
