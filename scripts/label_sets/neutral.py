"""What translations do with a person's gender: sentences labelled for it.

The labels are those of ``tests/neutral``, whose README has the conventions. The texts of systems
are public data and no part of mtbias: they are read from the folder that ``MTBIAS_SHARED`` names
(default ``../shared``), the written ones from the rows. All sentences of a language are aligned
together. Portuguese, which is measured where it is asked for, is analysed by Apertium
(``scripts/apertium_tagger.py``), all others by Stanza.

Of the rows it prints, with their number:

- does: what the translation does is the labelled one, with its strategy;
- kind: one gender, both, a neutral word, omitted, or none of these, is the labelled one;
- call: the gender called, or none, is the labelled one;
- head: the first aligned word overlaps the labelled head, of rows that have one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from mtbias.align import Pair
from mtbias.files.reading import Record, read_table
from mtbias.types import Gender, Strategy, frozen
from scripts.labelled import (
    BY_APERTIUM,
    PART,
    Chosen,
    Counts,
    Judged,
    LabelledPair,
    files_of,
    judge,
    labelled_head,
    line_of,
    lines_of,
    of_part,
    share,
    shared_data,
    word_at,
)

FILES = files_of("neutral")
COLUMNS = ("set", "source", "entity", "translation", "head", "call", "does", "origin")
WRITTEN = "written"
"""The origin of rows that hold their text."""

Part = Literal["dev", "unread", "all"]


@frozen
class Row(LabelledPair):
    """One labelled person of one sentence."""

    does: str
    """A `Strategy`, or empty where a thing stands in the person's place."""


def read_rows(path: Path, data: Path) -> list[Row]:
    """The rows of a language's file; those of systems' output only where `data` is a folder.

    Raises:
        DataError: a label does not fit its sentence.
    """
    return [
        _row(record, data)
        for record in read_table(path, *COLUMNS).records
        if record.get("origin") == WRITTEN or data.is_dir()
    ]


def _row(record: Record, data: Path) -> Row:
    source, target = record.get("source"), record.get("translation")
    if record.get("origin") != WRITTEN:
        name, _, number = record.get("origin").rpartition(":")
        source, _, target = lines_of(data / name)[int(number) - 1].rpartition(" ||| ")
        source = source or lines_of((data / name).with_suffix(".en"))[int(number) - 1]
    entity, call = word_at(record, "entity", source), record.get("call")
    name = f"{record.path.stem}:{record.line}"
    return Row(
        pair=Pair(name, source, target, entity, source[slice(*entity)].lower()),
        head=labelled_head(record, target),
        gender=None if call == "none" else Gender(call),
        part=record.get("set"),
        note="",
        does=record.get("does"),
    )


def evaluate(lang: str, data: Path, stanza_dir: Path, part: Part) -> list[Judged[Row]]:
    """The rows of `part` with the calls on them; the other part's sentences help alignment."""
    return of_part(judge(read_rows(FILES[lang], data), lang, stanza_dir), part)


def does_right(row: Judged[Row]) -> bool:
    """What the translation does is the labelled one, with its strategy."""
    return (row.call.does or "") == row.label.does


def count(rows: Sequence[Judged[Row]]) -> Counts:
    """(rows, of rows) by the names of the module's docstring."""
    return {
        "does": share(does_right(row) for row in rows),
        "kind": share(_kind(row.call.does) == _kind(row.label.does) for row in rows),
        "call": share(row.gender_right for row in rows),
        "head": share(row.head_right for row in rows if row.label.head is not None),
    }


def _kind(does: Strategy | str | None) -> str:
    return (does or "").partition(":")[0]


def describe(row: Judged[Row]) -> str:
    """One row in three lines."""
    return row.described(row.label.does or "thing", row.call.does)


def neutral(choice: Chosen, *, part: Annotated[Part, PART] = "dev") -> int:
    """What translations do with a person's gender (tests/neutral)."""

    def run(code: str) -> None:
        rows = evaluate(code, shared_data(), choice.stanza_dir, part)
        choice.show(
            line_of(code, count(rows)), [describe(row) for row in rows if not does_right(row)]
        )

    return choice.each(FILES, run, unasked=BY_APERTIUM)
