"""Human labels of an entity's gender in a translation, with which the evaluator is validated.

The file is a table (CSV, TSV or JSONL) with the columns `lang`, `source`, `target`, `label` (m, f,
n), and `entity` and `word_index` (the entity's place in the source) or `winomt_index` (row of
``en.txt``, from 0); and, if present, `system`, `usable` (1 if the annotator found the entity and
gave a label), `annotator`, `basis` (the basis of the label), `head_index` (whitespace token of the
head in the target).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from mtbias.corpora import entity_place as locate
from mtbias.errors import DataError
from mtbias.files.reading import Record, Table, read_table, refuse_long
from mtbias.types import Instance, Span, frozen

_COLUMNS = ("lang", "source", "target", "label")
BASES = {
    "N": "the noun",
    "D": "article or adjective",
    "V": "verb or participle",
    "P": "a pronoun alone",
    "C": "against the phrase",
    "X": "nothing visible",
}
"""The bases of labels, by the letters of the column `basis`."""


@frozen
class HumanLabel:
    """One usable judgement."""

    id: str
    line: int
    system: str
    source: str
    target: str
    label: str
    """``m``, ``f`` or ``n``."""
    head: Span
    """The entity's head word in the source."""
    entity: str
    basis: str | None
    target_head: Span | None
    """The head word in the target, with punctuation, if the file has it."""


@frozen
class LabelFile:
    """A file of labels, for any languages and annotators."""

    table: Table

    @property
    def needs_winomt(self) -> bool:
        """Whether the places of entities must come from WinoMT."""
        return not {"entity", "word_index"} <= set(self.table.columns)

    def labels(
        self, lang: str, annotator: str = "1", winomt: Mapping[int, Instance] | None = None
    ) -> tuple[HumanLabel, ...]:
        """The usable labels of one `annotator` (two would count sentences twice) in `lang`, in the
        file's order.

        Without a column `usable` all are usable; without a column `annotator` there is one
        annotator. `winomt` has WinoMT's instances by row, if `needs_winomt`.

        Raises:
            DataError: a label is missing, an index is out of range, or the language is not in the
                file; `usable` is not 1, 0 or empty; a `basis` is unknown; the annotator is not 1
                and there is no column `annotator`.
        """
        path = self.table.file.path
        if self.needs_winomt and winomt is None:
            raise DataError(
                "without the columns entity and word_index the entities come from WinoMT: "
                "give it with --data, or run `mtbias fetch --dataset winomt`",
                path=path,
                line=1,
            )
        rows = [r for r in self.table.records if r.get("lang") == lang]
        if not rows:
            known = ", ".join(sorted({r.get("lang") for r in self.table.records}))
            raise DataError(f"no rows of language {lang!r}; the file has {known}", path=path)
        columns = set(self.table.columns)
        if annotator != "1" and "annotator" not in columns:
            raise DataError(
                f"expected the column annotator, for the rows of {annotator!r}; "
                "leave --annotator out",
                path=path,
            )
        marked = [r for r in rows if "usable" not in columns or _is_usable(r)]
        chosen = [
            r for r in marked if "annotator" not in columns or r.get("annotator") == annotator
        ]
        if not chosen:
            raise DataError(f"no usable rows of annotator {annotator!r} in {lang!r}", path=path)
        return tuple(_label(r, winomt if self.needs_winomt else None) for r in chosen)


def read_label_file(path: Path) -> LabelFile:
    """Read the labels at `path` (``.csv``, ``.tsv``, ``.jsonl``).

    Raises:
        DataError: as in `read_table`; a column is missing.
    """
    file = LabelFile(read_table(path, *_COLUMNS))
    if file.needs_winomt and "winomt_index" not in file.table.columns:
        message = (
            "expected the columns 'entity' and 'word_index', or 'winomt_index'; "
            f"got {file.table.listing}"
        )
        raise DataError(message, path=path, line=1)
    return file


def _is_usable(record: Record) -> bool:
    mark = record.get("usable").removesuffix(".0")  # as pandas writes it beside empty cells
    if mark not in {"1", "0", ""}:
        raise record.error(f"usable: expected 1, 0 or nothing, got {mark!r}; correct the mark")
    return mark == "1"


def _label(record: Record, winomt: Mapping[int, Instance] | None) -> HumanLabel:
    label, source, target = record.get("label"), record.raw("source"), record.raw("target")
    if label not in ("m", "f", "n"):
        raise record.error(f"expected a label m, f or n in a usable row, got {label!r}")
    refuse_long(source, "source", record.path, record.line)
    refuse_long(target, "target", record.path, record.line)
    basis = record.get("basis")
    if basis and basis not in BASES:
        raise record.error(
            f"basis: expected {', '.join(BASES)} or nothing, got {basis!r}; correct it"
        )
    index, spans = record.optional_integer("head_index"), locate.tokens(target)
    if index is not None and index >= len(spans):
        raise record.error(f"head_index {index} is beyond the target's {len(spans)} tokens")
    head, entity = _entity(record, source, winomt)
    return HumanLabel(
        id=f"line-{record.line}",
        line=record.line,
        system=record.get("system"),
        source=source,
        target=target,
        label=label,
        head=head,
        entity=entity,
        basis=basis or None,
        target_head=None if index is None else spans[index],
    )


def _entity(record: Record, source: str, winomt: Mapping[int, Instance] | None) -> tuple[Span, str]:
    if winomt is not None:
        row = record.integer("winomt_index")
        instance = winomt.get(row)
        if instance is None or instance.source.split() != source.split():
            got = "no such row" if instance is None else repr(instance.source)
            raise record.error(f"row {row} of WinoMT is not this sentence: {got}")
        if instance.source == source:
            return instance.head, instance.entity
        index = len(instance.source[: instance.head.end].split()) - len(instance.entity.split())
        place = locate.locate(source, locate.tokens(source), index, instance.entity)
        return instance.head if place is None else place.head, instance.entity
    entity = re.sub("^(the|an?) ", "", record.get("entity").lower())
    index = record.integer("word_index")
    place = locate.locate(source, locate.tokens(source), index, entity)
    if place is None:
        raise record.error(f"the entity {entity!r} is not in the source")
    return place.head, entity
