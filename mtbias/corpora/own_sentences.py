"""A corpus of one's own: TSV, CSV or JSONL with a sentence, the entity's gender and where the entity stands."""

from __future__ import annotations

from pathlib import Path

from mtbias.corpora import entity_place as locate
from mtbias.corpora.corpus import Corpus, Notes, gender
from mtbias.english.pronouns import count_pronouns
from mtbias.errors import DataError
from mtbias.files.reading import Record, Table, integer, read_table
from mtbias.types import Instance, Span, Stereotype

COLUMNS = {
    "id": "unique name of the row; by default custom-00001 and so on",
    "source": "the sentence (required)",
    "gender": "male, female or neutral, or m, f, n (required)",
    "entity": "the entity's words, such as construction worker",
    "entity_index": "0-based whitespace token at which the entity starts",
    "entity_start": "0-based character at which the entity starts",
    "entity_end": "character after its last",
    "stereotype": "pro, anti or none; by default none",
    "domain": "sub-corpus, for the tables; by default custom",
    "distance": "words between entity and pronoun",
    "pair": "id of the row that is the same but for the gender",
    "control": "id of the row of the same gender that is the same but for something else",
}
"""The columns that are read, with what they hold."""


def read_custom(path: Path) -> Corpus[Instance]:
    """Read a corpus from the file `path` (``.tsv``, ``.csv`` or ``.jsonl``) with the columns of `COLUMNS`.

    The entity's place comes from ``entity_index``, or from ``entity_start`` and ``entity_end``, or from ``entity``
    alone where that phrase occurs once in the sentence (whole words, in any case). Where several are given they must
    agree. The head is the last word of the entity, without punctuation; ``entity_index`` without ``entity`` names the
    head itself. Other columns are noted and not used.

    Raises:
        DataError: a required column that is not there (with those that are); a field that cannot be read; an entity
            that is not where the row says, or not once in the sentence; an id twice (with both lines); a ``pair``
            or ``control`` that names no row, or its own. Every message has file and line.

    """
    table = read_table(path)
    table.require("source", "gender")
    _require_place(table)
    notes = Notes()
    notes.add_file(table.file)
    for column in table.columns:
        if column not in COLUMNS:
            notes.add(f"column not used: {column or '(without a name)'}")
    lines: dict[str, int] = {}
    instances = []
    for record in table.records:
        instance = _instance(record, path)
        if instance.id in lines:
            message = f"id {instance.id!r} stands in line {lines[instance.id]} already; ids are unique"
            raise DataError(message, path=path, line=record.line)
        lines[instance.id] = record.line
        instances.append(instance)
    _check_links(instances, lines, path)
    return Corpus(
        name="custom",
        path=path,
        sha256=table.file.sha256,
        instances=tuple(instances),
        notes=notes.counts,
        files={path.name: table.file.sha256},
        examples=notes.examples(),
    )


def _require_place(table: Table) -> None:
    present = set(table.columns)
    if present & {"entity", "entity_index"} or {"entity_start", "entity_end"} <= present:
        return
    message = f"'entity_index', or 'entity_start' and 'entity_end', or 'entity' expected; the file has {table.listing}"
    raise DataError(message, path=table.file.path, line=1)


def _instance(record: Record, path: Path) -> Instance:
    source = record.get("source")
    if not source:
        raise DataError("source: a sentence expected, found nothing", path=path, line=record.line)
    if "\n" in source or "\r" in source:
        raise DataError("source: a line break inside the sentence; a sentence is one line", path=path, line=record.line)
    head = _head(record, path)
    distance = record.get("distance")
    stereotype = record.get("stereotype").lower() or "none"
    if stereotype not in set(Stereotype):
        message = f"stereotype: pro, anti or none expected, found {stereotype!r}"
        raise DataError(message, path=path, line=record.line)
    return Instance(
        id=record.get("id") or f"custom-{record.row + 1:05d}",
        row=record.row,
        source=source,
        head=head,
        entity=(record.get("entity") or source[head.start : head.end]).lower(),
        gold=gender(record.get("gender"), path, record.line),
        stereotype=Stereotype(stereotype),
        domain=record.get("domain") or "custom",
        pronouns=count_pronouns(source),
        distance=integer(distance, "distance", path, record.line) if distance else None,
        pair=record.get("pair") or None,
        control=record.get("control") or None,
    )


def _head(record: Record, path: Path) -> Span:
    """The head of the entity, from all that the row says about its place."""
    source = record.get("source")
    heads = {
        "entity_index": _head_at_index(record, source, path),
        "entity_start": _head_in_span(record, source, path),
    }
    given = {column: head for column, head in heads.items() if head is not None}
    if len(set(given.values())) > 1:
        message = "entity_index and entity_start/entity_end name different words; give one of the two"
        raise DataError(message, path=path, line=record.line)
    if given:
        return next(iter(given.values()))
    entity = record.get("entity")
    if not entity:
        message = "nothing says where the entity stands; fill entity_index, or entity_start and entity_end, or entity"
        raise DataError(message, path=path, line=record.line)
    spans = locate.tokens(source)
    phrase = locate.words(entity)
    found = locate.find_phrase(source, spans, phrase)
    if len(found) != 1:
        message = f"entity {entity!r} occurs {len(found)} times in the sentence, once expected; fill entity_index"
        raise DataError(message, path=path, line=record.line)
    return locate.core(source, spans[found[0] + len(phrase) - 1])


def _head_at_index(record: Record, source: str, path: Path) -> Span | None:
    text = record.get("entity_index")
    if not text:
        return None
    index = integer(text, "entity_index", path, record.line)
    spans = locate.tokens(source)
    if index >= len(spans):
        message = f"entity_index {index} is beyond the sentence, which has {len(spans)} tokens (counted from 0)"
        raise DataError(message, path=path, line=record.line)
    phrase = locate.words(record.get("entity"))
    found = locate.find_phrase(source, spans, phrase)
    if index in found:
        return locate.core(source, spans[index + len(phrase) - 1])
    if not phrase or index - len(phrase) + 1 in found:  # the index names the head itself
        return locate.core(source, spans[index])
    there = source[spans[index].start : spans[index].end]
    message = f"entity {record.get('entity')!r} expected at token {index}, found {there!r}"
    raise DataError(message, path=path, line=record.line)


def _head_in_span(record: Record, source: str, path: Path) -> Span | None:
    if not record.get("entity_start") and not record.get("entity_end"):
        return None
    start = integer(record.get("entity_start"), "entity_start", path, record.line)
    end = integer(record.get("entity_end"), "entity_end", path, record.line)
    shift = len(record.raw("source")) - len(record.raw("source").lstrip())
    start, end = start - shift, end - shift  # offsets count in the field as it stands in the file
    if not 0 <= start < end <= len(source) or not source[start:end].strip():
        message = f"no word between characters {start + shift} and {end + shift} of the sentence"
        raise DataError(message, path=path, line=record.line)
    phrase = source[start:end]
    last = locate.tokens(phrase)[-1]
    head = locate.core(phrase, last)
    wanted = locate.words(record.get("entity"))
    if wanted and locate.words(phrase) not in (wanted, wanted[-1:]):
        message = (
            f"entity {record.get('entity')!r} expected at characters {start + shift} to {end + shift}, found {phrase!r}"
        )
        raise DataError(message, path=path, line=record.line)
    return Span(head.start + start, head.end + start)


def _check_links(instances: list[Instance], lines: dict[str, int], path: Path) -> None:
    for instance in instances:
        for column, id_ in (("pair", instance.pair), ("control", instance.control)):
            if id_ is not None and (id_ not in lines or id_ == instance.id):
                message = f"{column} {id_!r} expected to be the id of another row of this file"
                raise DataError(message, path=path, line=lines[instance.id])
