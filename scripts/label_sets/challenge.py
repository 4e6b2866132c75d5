"""mtbias's own test sentences, by language and category: the evaluator at its hardest, since no
corpus helps to align them.

Those of ``tests/challenge`` were written with the rules in mind, those of ``tests/independent`` by
authors who had seen nothing of the program. Those of ``tests/unusual`` have unusual professions, in
sentences like a newspaper's; their first 25 are the part ``dev``, the others ``held-out``, which is
not looked at when rules are written.

Of the sentences it prints, with their number:

- gender: the call is the labelled gender, or none where none is labelled;
- head: the first aligned word overlaps the labelled head, or nothing is aligned where there is
  none;
- wrong: another gender is called;
- missed in: the categories in which a gender is not right, with those that are.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from mtbias.align import Pair
from mtbias.files.reading import Record, read_table
from mtbias.settings import EvidenceReader
from mtbias.types import Gender, Span, frozen
from scripts.labelled import (
    PART,
    Choice,
    Chosen,
    Counts,
    Evidence,
    Judged,
    LabelledPair,
    files_of,
    judge,
    line_of,
    of_part,
    share,
    word_at,
)

DEV = 25
"""Sentences of the part ``dev`` of ``tests/unusual``; as many are aligned together."""
COLUMNS = (
    "id",
    "source",
    "entity_index",
    "entity",
    "target",
    "head_index",
    "gender",
    "category",
    "note",
)
CATEGORIES = frozenset(
    ("oblique", "syncretic", "common+article", "common-silent", "fixed", "construct", "compound",
     "prefixed", "elided", "two-people", "repeated", "plural", "foreign", "omitted", "verb",
     "adjective", "generic", "plain", "title", "inclusive", "thing")
)  # fmt: skip

UnusualPart = Literal["dev", "held-out", "all"]


@frozen
class Sentence(LabelledPair):
    """One test sentence."""

    category: str


def read_sentences(path: Path) -> tuple[Sentence, ...]:
    """The sentences of one file, in order.

    Raises:
        DataError: a column is missing, an index is out of range, the entity does not stand at its
            index, a gender or a category is unknown, an id occurs twice.
    """
    records = read_table(path, *COLUMNS).records
    lines: dict[str, int] = {}
    for record in records:
        first = lines.setdefault(record.get("id"), record.line)
        if first != record.line:
            raise record.error(f"id {record.get('id')!r} is in line {first} already")
    return tuple(_sentence(record) for record in records)


def _sentence(record: Record) -> Sentence:
    source, target, gender = record.raw("source"), record.raw("target"), record.get("gender")
    if gender not in {*Gender, "none"}:
        raise record.error(f"expected {', '.join(Gender)} or none; got {gender!r}")
    category = record.get("category")
    if category not in CATEGORIES:
        raise record.error(f"expected one of {', '.join(sorted(CATEGORIES))}; got {category!r}")
    omitted = record.get("head_index") == "-1"
    entity = record.get("entity").lower()
    return Sentence(
        pair=Pair(record.get("id"), source, target, _entity_head(record, source, entity), entity),
        head=None if omitted else word_at(record, "head_index", target),
        gender=None if gender == "none" else Gender(gender),
        part="dev" if record.row < DEV else "held-out",
        note=record.get("note"),
        category=category,
    )


def _entity_head(record: Record, source: str, entity: str) -> Span:
    """The word at the index of a row, which must be the entity's last word or an inflected form of
    it (*nurses*).
    """
    span = word_at(record, "entity_index", source)
    word, head = source[slice(*span)].lower(), entity.rsplit(maxsplit=1)[-1]
    stem = head.removesuffix("y").removesuffix("an")
    if not word.startswith(stem[: max(len(stem), 2)]):
        index = record.get("entity_index")
        raise record.error(f"entity_index {index} is {word!r}, expected a form of {head!r}")
    return span


def count(rows: Sequence[Judged[Sentence]]) -> Counts:
    """(rows, of rows) by the names of the module's docstring."""
    return {
        "gender": share(row.gender_right for row in rows),
        "head": share(row.head_right for row in rows),
        "wrong": share(row.gender_wrong for row in rows),
    }


def by_category(rows: Sequence[Judged[Sentence]]) -> Counts:
    """Sentences whose gender is right, and all, by category in alphabetical order."""
    categories = sorted({row.label.category for row in rows})
    return {
        category: share(row.gender_right for row in rows if row.label.category == category)
        for category in categories
    }


def line(code: str, rows: Sequence[Judged[Sentence]]) -> str:
    """The line of one language."""
    missed = [
        f"{name} {right}/{of}" for name, (right, of) in by_category(rows).items() if right < of
    ]
    return f"{line_of(code, count(rows))}  missed in: {', '.join(missed) or 'none'}"


def _show(
    choice: Choice,
    labels: str,
    evidence: EvidenceReader,
    part: UnusualPart = "all",
    together: int | None = None,
) -> int:
    files = files_of(labels)

    def run(code: str) -> None:
        sentences = read_sentences(files[code])
        judged = judge(sentences, code, choice.stanza_dir, together=together, evidence=evidence)
        rows = of_part(judged, part)
        wrong = [row for row in rows if not (row.gender_right and row.head_right)]
        choice.show(line(code, rows), [row.described(row.label.category) for row in wrong])

    return choice.each(files, run)


def challenge(choice: Chosen, *, evidence: Evidence = "tables") -> int:
    """The sentences of tests/challenge, which were written for hard cases."""
    return _show(choice, "challenge", evidence)


def independent(choice: Chosen, *, evidence: Evidence = "tables") -> int:
    """The sentences of tests/independent, whose authors had seen nothing of the program."""
    return _show(choice, "independent", evidence)


def unusual(
    choice: Chosen,
    *,
    part: Annotated[UnusualPart, PART] = "dev",
    evidence: Evidence = "tables",
) -> int:
    """The unusual professions of tests/unusual, 25 sentences aligned together."""
    return _show(choice, "unusual", evidence, part, DEV)
