"""Corpora of users: TSV, CSV or JSONL with a sentence, and the gender and place of its entity."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from mtbias.corpora import entity_place as locate
from mtbias.corpora.corpus import GENDERS, Corpus, Notes, with_contradictions
from mtbias.corpora.corpus_kinds import DEMO, AskedCorpus, CorpusKind
from mtbias.demo import demo_file
from mtbias.english.word_classes import is_function_word, is_no_noun
from mtbias.errors import DataError, UsageError
from mtbias.files.reading import (
    Record,
    Table,
    TextFile,
    parse_table,
    read_table,
    refuse_long,
    sha256_of,
)
from mtbias.files.writing import write_table
from mtbias.language.source import ENGLISH, SourceLanguage
from mtbias.types import Gender, Instance, Span, Stereotype

COLUMNS = {
    "id": "unique name of the row; by default custom-00001 and so on",
    "source": "the sentence (required)",
    "gender": "male, female, neutral or unknown (the sentence shows none), "
    "or m, f, n, u (required)",
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
"""The columns that are read, with descriptions."""
WRITTEN = tuple(name for name in COLUMNS if name != "entity_index")
"""The columns that are written."""
_GOLDS: Mapping[str, Gender | None] = {**GENDERS, "unknown": None, "u": None}


def read_custom(path: Path, source: SourceLanguage = ENGLISH) -> Corpus[Instance]:
    """Read a corpus from the file `path` (``.tsv``, ``.csv`` or ``.jsonl``) with the columns of
    `COLUMNS`.

    The entity's place comes from ``entity_index``, or from ``entity_start`` and ``entity_end``, or
    from ``entity`` alone if that phrase occurs once in the sentence (whole words, in any case).
    Several of them must agree. The head is the last word of the entity, without punctuation, or in
    another language than English the first word that is in its table of nouns; ``entity_index``
    without ``entity`` is the head itself. Other columns are noted and not used. The sentences are
    in the language `source`.

    If there is a place without ``entity``, an English word there that is not a noun by its form
    (*busy*, *asked*) is noted.

    Raises:
        DataError: a required column is missing (lists those that there are); a field cannot be
            read; an entity is not at its place, or not once in the sentence; a place is within a
            word or, without ``entity``, that of an English article, pronoun or the like; an id
            occurs twice (with both lines); a ``pair`` or ``control`` is not the id of another row.
            Every message has file and line.
    """
    return _corpus(read_table(path), source)


class CustomKind(CorpusKind):
    """A user's own sentences, in any language."""

    def may_be_in(self, source: SourceLanguage, path: Path | None) -> bool:  # noqa: ARG002 - any
        """See `CorpusKind`."""
        return True

    def read(self, request: AskedCorpus) -> Corpus[Instance]:
        """See `CorpusKind`."""
        if request.path is None:
            needed = "give --data PATH (TSV, CSV or JSONL)"
            raise UsageError(f"the dataset {request.name} needs a file: {needed}")
        return read_custom(request.path, request.source)


class DemoKind(CorpusKind):
    """The demo's sentences, which ship with mtbias."""

    def read(self, request: AskedCorpus) -> Corpus[Instance]:
        """See `CorpusKind`."""
        return replace(read_custom(request.path or demo_file()), name=DEMO)


CUSTOM_KIND, DEMO_KIND = CustomKind(), DemoKind()


IN_MEMORY = Path("sentences.jsonl")
"""The name in messages for sentences in memory."""


def custom_corpus(
    rows: Iterable[Mapping[str, object]], source: SourceLanguage = ENGLISH
) -> Corpus[Instance]:
    """The corpus of rows in memory, with keys of `COLUMNS`, as if they were in a file
    ``sentences.jsonl``.

    Raises:
        DataError: as `read_custom`, with the number of the row as the line.
    """
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    table = parse_table(TextFile(IN_MEMORY, text, sha256_of(text), bom=False, crlf=False))
    return with_contradictions(_corpus(table, source))


def _corpus(table: Table, source: SourceLanguage) -> Corpus[Instance]:
    table.require("source", "gender")
    present = set(table.columns)
    if not (present & {"entity", "entity_index"} or {"entity_start", "entity_end"} <= present):
        expected = "the columns 'entity_index', or 'entity_start' and 'entity_end', or 'entity'"
        raise table.file.error(f"expected {expected}; got {table.listing}", 1)
    notes = Notes()
    notes.add_file(table.file)
    for column in table.columns:
        if column not in COLUMNS:
            notes.add(f"column not used: {column or '(without a name)'}")
    lines: dict[str, int] = {}
    instances = []
    for record in table.records:
        instance = _instance(record, source)
        if instance.id in lines:
            raise record.error(
                f"id {instance.id!r} is in line {lines[instance.id]} already; ids are unique"
            )
        lines[instance.id] = record.line
        if instance.gold is None and instance.pronouns:
            notes.add("gender unknown, but a gendered pronoun in the sentence")
        if (
            source is ENGLISH
            and not record.get("entity")
            and is_no_noun(instance.source, instance.head)
        ):
            notes.add("entity that is an adjective, a verb or an adverb by its form")
        instances.append(instance)
    _check_links(instances, lines, table.file.path)
    return notes.corpus("custom", table.file, instances, source_lang=source.code)


def _instance(record: Record, spoken: SourceLanguage) -> Instance:
    source, entity = record.get("source"), record.get("entity")
    if not source:
        raise record.error("source: expected a sentence, got nothing")
    if "\n" in source or "\r" in source:
        raise record.error(
            "source: expected a sentence in one line, got a line break inside it; remove it"
        )
    if (
        record.path.suffix.lower() in {".tsv", ".tab"}
        and source[0] == source[-1] == '"'
        and '""' in source[1:-1]
    ):
        raise record.error(
            'source: expected a sentence, got one quoted as in CSV (""); '
            "TSV has no quoting: call it .csv"
        )
    refuse_long(source, "source", record.path, record.line)
    head = _head(record, source, entity, spoken)
    if spoken is ENGLISH and not entity and is_function_word(source, head):
        raise record.error(
            f"expected a noun at the entity's place, got {source[slice(*head)]!r}; "
            "correct the place"
        )
    stereotype = record.get("stereotype").lower() or "none"
    if stereotype not in set(Stereotype):
        raise record.error(f"stereotype: expected pro, anti or none, got {stereotype!r}")
    gender = record.get("gender")
    if gender.lower() not in _GOLDS:
        raise record.error(
            f"gender: expected male, female, neutral or unknown (or m, f, n, u), got {gender!r}"
        )
    gold = _GOLDS[gender.lower()]
    linked = [name for name in ("pair", "control") if record.get(name)]
    if gold is None and (stereotype != "none" or linked):
        name = linked[0] if linked else "stereotype"
        raise record.error(
            f"{name}: expected nothing where the gender is unknown, "
            f"got {record.get(name)!r}; empty it"
        )
    return Instance(
        id=record.get("id") or f"custom-{record.row + 1:05d}",
        row=record.row,
        source=source,
        head=head,
        entity=(entity or source[head.start : head.end]).lower(),
        gold=gold,
        stereotype=Stereotype(stereotype),
        domain=record.get("domain") or "custom",
        pronouns=spoken.pronouns(source),
        distance=record.optional_integer("distance"),
        pair=record.get("pair") or None,
        control=record.get("control") or None,
    )


def _head(row: Record, source: str, entity: str, spoken: SourceLanguage) -> Span:
    """The head of the entity, from all columns about its place."""
    at_index = _head_at_index(row, source, entity, spoken)
    in_span = _head_in_span(row, source, entity, spoken)
    heads = {at_index, in_span} - {None}
    if len(heads) > 1:
        raise row.error(
            "entity_index and entity_start/entity_end name different words; give one of the two"
        )
    head = at_index or in_span
    if head is not None:
        return head
    if not entity:
        raise row.error(
            "nothing says where the entity is; "
            "fill entity_index, or entity_start and entity_end, or entity"
        )
    spans, phrase = locate.tokens(source), locate.words(entity, spoken)
    places = locate.find_phrase(source, spans, phrase, spoken)
    if len(places) != 1:
        raise row.error(
            f"expected entity {entity!r} once in the sentence, got it {len(places)} times; "
            "fill entity_index"
        )
    return locate.core(source, spans[places[0] + spoken.head(phrase)], spoken)


def _head_at_index(row: Record, source: str, entity: str, spoken: SourceLanguage) -> Span | None:
    index, spans = row.optional_integer("entity_index"), locate.tokens(source)
    if index is None:
        return None
    if index >= len(spans):
        raise row.error(
            f"entity_index {index} is beyond the sentence, "
            f"which has {len(spans)} tokens (counted from 0)"
        )
    phrase = locate.words(entity, spoken)
    places = locate.find_phrase(source, spans, phrase, spoken)
    if index in places:
        return locate.core(source, spans[index + spoken.head(phrase)], spoken)
    if not phrase or index - spoken.head(phrase) in places:  # the index names the head itself
        return locate.core(source, spans[index], spoken)
    raise row.error(
        f"expected entity {entity!r} at token {index}, got {source[slice(*spans[index])]!r}"
    )


def _head_in_span(row: Record, source: str, entity: str, spoken: SourceLanguage) -> Span | None:
    if not row.get("entity_start") and not row.get("entity_end"):
        return None
    raw = row.raw("source")
    shift = len(raw) - len(raw.lstrip())  # offsets count in the field as it stands in the file
    start, end = row.integer("entity_start") - shift, row.integer("entity_end") - shift
    if not 0 <= start < end <= len(source) or not source[start:end].strip():
        raise row.error(
            f"no word between characters {start + shift} and {end + shift} of the sentence"
        )
    phrase = source[start:end]
    if locate.is_within_word(source, start) or locate.is_within_word(source, end):
        place = f"characters {start + shift} to {end + shift}"
        raise row.error(
            f"expected whole words at {place}, got {phrase!r}; correct entity_start and entity_end"
        )
    spans = locate.tokens(phrase)
    words, entity_words = locate.words(phrase, spoken), locate.words(entity, spoken)
    head = locate.core(phrase, spans[spoken.head(words)], spoken)
    # The entity, or its head alone.
    if entity_words and words not in (entity_words, [entity_words[spoken.head(entity_words)]]):
        raise row.error(
            f"expected entity {entity!r} at characters {start + shift} to {end + shift}, "
            f"got {phrase!r}"
        )
    return Span(head.start + start, head.end + start)


def _check_links(instances: list[Instance], lines: dict[str, int], path: Path) -> None:
    unknown = {instance.id for instance in instances if instance.gold is None}
    for instance in instances:
        for column, id_ in (("pair", instance.pair), ("control", instance.control)):
            if id_ is not None and (id_ not in lines or id_ == instance.id):
                message = f"{column}: expected the id of another row of this file, got {id_!r}"
                raise DataError(message, path=path, line=lines[instance.id])
            if id_ in unknown:
                message = f"{column}: expected the id of a row whose gender is known, got {id_!r}"
                raise DataError(message, path=path, line=lines[instance.id])


def write_custom(path: Path, instances: Iterable[Instance]) -> None:
    """Write a corpus that `read_custom` reads, by the suffix of its name: TSV, CSV or JSON lines.

    Raises:
        SettingError: the name has another suffix; a sentence has a tab, which TSV cannot hold.
        RunFolderError: it cannot be written.
    """
    write_table(path, map(_row, instances), WRITTEN)


def _row(instance: Instance) -> dict[str, object]:
    """The fields of `WRITTEN`."""
    row = {name: getattr(instance, name, None) for name in WRITTEN}
    row["gender"] = instance.gold or "unknown"
    row["entity_start"], row["entity_end"] = instance.head
    return row
