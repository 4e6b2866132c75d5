"""Files of translations as other programs write them, read by a table of names and shapes
(``file_shapes.toml``).

A file that can be read in two ways is refused, with both readings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtbias.errors import DataError, MtbiasError
from mtbias.files.packing import suffix_of
from mtbias.files.reading import TABLES, TextFile, columns_listed, parse_table, plain_text
from mtbias.files.strict_json import load_json, once
from mtbias.translate.output_files import ARCHIVE, read_shaped
from mtbias.translate.shape_table import (
    ALL,
    FileRows,
    LogShape,
    Row,
    Selection,
    TwoReadingsError,
    at,
    only,
    shapes,
)
from mtbias.translate.wmt_names import FAILED, SuitePlace, suite_place, wmt_code
from mtbias.types import JsonObject

SHAPED = (*TABLES, ".json", ARCHIVE)
"""Suffixes of files whose fields have names."""


def read_rows(file: TextFile, selection: Selection = ALL, key: str | None = None) -> FileRows:
    """The rows of a table, of JSON or of a log, by the file's suffix (`SHAPED`).

    Args:
        file: its content, of an archive as `read_shaped` gives it.
        selection: which of its rows to take.
        key: what every row must have, ``id`` or ``source``; by default the id, or without ids the
            source.

    Raises:
        DataError: its shape is unknown (the message has the names that were expected, and those
            that came); it can be read in two ways; it has several systems or prompts, and
            `selection` names none.
    """
    objects = list(_objects(file))
    file_rows = _rows(file, objects, selection, key)
    rows = file_rows.rows
    suite = [(row, place) for row in rows if (place := suite_place(row.id)) is not None]
    if suite:
        rows = _suite_rows(file, suite, selection)
    parts = list(dict.fromkeys(row.part for row in rows))
    if selection.part:
        rows = [row for row in rows if row.part == selection.part]
    elif len(parts) > 1:
        raise _SeveralError(
            f"expected the translations of one system, got those of {', '.join(parts)}; "
            "`mtbias score` reads them all as systems of their own",
            file,
            parts,
        )
    return FileRows(rows, file_rows.log, file_rows.in_order, file_rows.prompted)


class _SeveralError(DataError):
    """A file has several systems, or several prompts."""

    def __init__(self, message: str, file: TextFile, parts: Sequence[str]) -> None:
        super().__init__(message, path=file.path)
        self.parts = parts


def parts_in(path: Path, selection: Selection) -> Sequence[str]:
    """The systems, or the prompts of a suite, whose translations a file has.

    None are returned for a file with one system, one that can be opened only once, and one that
    cannot be read (whose error comes when it is read).
    """
    if suffix_of(path) not in SHAPED or not path.is_file():
        return []
    try:
        read_rows(read_shaped(path), selection)
    except _SeveralError as several:
        return several.parts
    except MtbiasError:
        return []
    return []


def tells_languages(path: Path) -> bool:
    """Whether the rows of a file name their language, as those of a suite of WMT or of a
    translation data set do; False for a file that cannot be read.
    """
    if suffix_of(path) not in SHAPED or not path.is_file():
        return False
    with suppress(MtbiasError):
        return any(_tells_language(row) for _, row in _objects(read_shaped(path)))
    return False


def _tells_language(row: JsonObject) -> bool:
    if isinstance(row.get("translation"), Mapping):
        return True
    return suite_place(str(row.get("doc_id"))) is not None


# Objects


def is_object(line: str) -> bool:
    """Whether a line is an object of JSON, as no translation is."""
    if not line.lstrip().startswith("{"):
        return False
    try:
        return isinstance(load_json(line), dict)
    except ValueError:
        return False


def _objects(file: TextFile) -> Iterator[tuple[int, JsonObject]]:
    """The rows of a file by their lines: columns or keys, each with its value."""
    suffix = suffix_of(file.path)
    if suffix in {".csv", ".tsv", ".tab"}:
        return ((record.line, record.fields) for record in parse_table(file).records)
    if suffix == ".json":
        return _json_objects(file)
    lines = file.filled_lines()
    return ((line, _object(_json(text, file, line), file, line)) for line, text in lines)


def _json(text: str, file: TextFile, line: int | None = None) -> Any:  # noqa: ANN401 - any JSON
    try:
        return load_json(text, once)
    except ValueError as error:
        raise file.error(f"expected a JSON object: {error}", line) from None


def _object(value: object, file: TextFile, line: int) -> JsonObject:
    """The object of a line, which may be in a list of one, as pipelines give it."""
    inner = value
    if isinstance(value, list) and value:
        try:
            inner = only(value)
        except TwoReadingsError as two:
            raise file.error(str(two), line) from None
    if not isinstance(inner, Mapping):
        raise file.error(f"expected a JSON object, got {type(value).__name__}", line)
    return inner


def _json_objects(file: TextFile) -> Iterator[tuple[int, JsonObject]]:
    content = _json(file.text, file)
    if isinstance(content, Mapping) and isinstance(content.get("samples"), list):
        content = content["samples"]
    elif isinstance(content, Mapping) and all(
        isinstance(text, str | None) for text in content.values()
    ):
        content = [{"id": id_, "target": text} for id_, text in content.items()]
    if not isinstance(content, list):
        raise file.error(
            "expected a list of objects, an object of ids and translations, or Inspect's log, "
            f"got another {type(content).__name__}; write JSON lines (.jsonl) with id or source, "
            "and target"
        )
    for number, value in enumerate(content, start=1):
        item = {"translation_text": value} if isinstance(value, str) else value
        yield number, _object(item, file, number)


# Rows


def _rows(
    file: TextFile, objects: Sequence[tuple[int, JsonObject]], selection: Selection, key: str | None
) -> FileRows:
    names: dict[str, None] = {}
    for _, row in objects:
        names |= dict.fromkeys(row)
    if not objects:
        raise file.error("the file has no rows", 1)
    for shape in shapes().log:
        if any(_has_shape(row, shape) for _, row in objects):
            return _log_rows(file, objects, shape, selection)
    if isinstance(objects[0][1].get("translation"), Mapping):
        rows = [_language_row(file, line, row, selection) for line, row in objects]
        return FileRows(rows, "rows of a translation data set")
    return _column_rows(file, objects, list(names), key)


def _has_shape(row: JsonObject, shape: LogShape) -> bool:
    return all(path in row or at(row, path) is not None for path in shape.has)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns of rows, among which those of id, source and translation are found."""

    file: TextFile
    objects: Sequence[tuple[int, JsonObject]]
    names: Sequence[str]

    def choose(self, role: str) -> str:
        """The name of the column; empty if there is none.

        Raises:
            DataError: two columns have different values.
        """
        candidates = [name for name in shapes().columns[role] if name in self.names]
        for line, row in self.objects if len(candidates) > 1 else ():
            values = {name: row[name] for name in candidates if row.get(name) not in (None, "")}
            if len(set(map(str, values.values()))) > 1:
                (a, one), (b, other) = list(values.items())[:2]
                what = {"target": "the translation"}.get(role, f"the {role}")
                got = f"{a!r} ({one!r:.60}) and {b!r} ({other!r:.60})"
                message = f"expected one column or key with {what}, got {got}; keep one of the two"
                raise self.file.error(message, line)
        return candidates[0] if candidates else ""


def _column_rows(
    file: TextFile,
    objects: Sequence[tuple[int, JsonObject]],
    names: Sequence[str],
    key: str | None,
) -> FileRows:
    columns = _Columns(file, objects, names)
    target, id_, source = (columns.choose(role) for role in ("target", "id", "source"))
    if key == "source":
        id_ = ""
    in_order = target == "translation_text" and not id_ and not source
    if not target or not (id_ or source or in_order) or (key == "source" and not source):
        raise file.error(_expected(names, key), 1)
    rows = []
    for line, row in objects:
        text = source and plain_text(row.get(source), f"under {source!r}", file, line)
        identity = id_ and plain_text(row.get(id_), f"under {id_!r}", file, line, text_only=False)
        if not in_order and not (identity if id_ else text).strip():
            raise file.error(f"the row has no {id_ or source}", line)
        rows += [
            Row(line, identity.strip(), text, translation, part)
            for part, translation in _translations(row.get(target), target, file, line)
        ]
    return FileRows(rows, in_order=in_order)


def _expected(names: Sequence[str], key: str | None) -> str:
    known = shapes().columns
    keys = [key] if key else ["id", "source"]
    wanted_keys = " or ".join(map(repr, keys))
    *most, last = map(repr, known["target"])
    one = f"one of {', '.join(most)} and {last}"
    columns = "column" if key else "columns"
    message = f"expected the {columns} {wanted_keys}, and {one}; got {columns_listed(names)}"
    if any(";" in name for name in names):
        return f"{message}. Fields parted by semicolons? Write sep=; as the first line"
    return message


def _translations(value: object, name: str, file: TextFile, line: int) -> Iterator[tuple[str, str]]:
    """The translation under a key; for several systems each one with the system's name."""
    if not isinstance(value, Mapping):
        yield "", plain_text(value, f"under {name!r}", file, line)
        return
    for system, text in value.items():
        yield system, plain_text(text, f"under {name!r} of {system!r}", file, line)


def _language_row(file: TextFile, line: int, row: JsonObject, selection: Selection) -> Row:
    """A row of ``{"translation": {"en": …, "de": …}}``, as the data sets of the hub have it."""
    texts: object = row.get("translation", {})
    if not isinstance(texts, Mapping):
        raise file.error(
            f"expected an object under 'translation', got {type(texts).__name__}", line
        )

    def names_of(lang: str) -> list[str]:
        return [name for name in texts if re.split("[_-]", name)[0] in {lang, wmt_code(lang)[:3]}]

    sources = names_of(selection.source_lang)
    targets = [name for name in texts if name not in sources]
    if selection.lang:
        targets = names_of(selection.lang)
    if len(targets) > 1:
        got = " and ".join(f"{name!r} ({texts[name]!r:.60})" for name in targets[:2])
        raise file.error(f"expected one translation, got {got}; keep one of the two", line)
    if not targets or not sources:
        expected = f"{selection.source_lang!r} and {selection.lang or 'a language'!r}"
        raise file.error(
            f"expected {expected} under 'translation', got {columns_listed(list(texts))}", line
        )
    where = "under 'translation'"
    return Row(
        line,
        plain_text(row.get("id"), "under 'id'", file, line, text_only=False).strip(),
        plain_text(texts[sources[0]], where, file, line),
        plain_text(texts[targets[0]], where, file, line),
    )


# Logs


def _log_rows(
    file: TextFile, objects: Sequence[tuple[int, JsonObject]], shape: LogShape, selection: Selection
) -> FileRows:
    rows = []
    readings: dict[str, tuple[object, str]] = {}
    for line, row in objects:
        try:
            target = at(row, shape.target)
        except TwoReadingsError as error:
            raise file.error(str(error), line) from None
        text = plain_text(target, f"at {shape.target}", file, line)
        id_, source = _identity(file, line, row, shape, selection)
        reading = row.get(shape.reading)
        first, first_text = readings.setdefault(id_ or source, (reading, text))
        if shape.reading and first != reading and first_text != text:
            one = f"{first_text!r:.60} ({shape.reading} {first})"
            two = f"{text!r:.60} ({shape.reading} {reading})"
            raise file.error(
                f"expected one translation of {id_ or source!r:.60}, got {one} and {two}; "
                "keep one of the two",
                line,
            )
        if shape.reading and first != reading:
            continue
        rows.append(Row(line, id_, source, text))
    return FileRows(rows, shape.name, prompted=bool(shape.prompt))


def _identity(
    file: TextFile, line: int, row: JsonObject, shape: LogShape, selection: Selection
) -> tuple[str, str]:
    """Id and source of a log's row.

    Raises:
        DataError: it has neither.
    """
    if not shape.record:
        id_ = plain_text(at(row, shape.id), f"under {shape.id!r}", file, line, text_only=False)
        prompt = row.get(shape.prompt)
        source = prompt if isinstance(prompt, str) else ""
    else:
        record = row.get(shape.record)
        own: JsonObject = record if isinstance(record, Mapping) else {}
        if isinstance(own.get("translation"), Mapping):
            languages = _language_row(file, line, own, selection)
            return languages.id, languages.source
        columns = _Columns(file, [(line, own)], list(own))
        id_, source = (_field(own, columns.choose(role), file, line) for role in ("id", "source"))
        if not id_ and not source:
            keys = " or ".join(map(repr, shapes().columns["id"] + shapes().columns["source"]))
            raise file.error(
                f"expected {keys} under {shape.record!r}, got {columns_listed(list(own))}", line
            )
    if not id_.strip() and not source:
        raise file.error(f"the row has no {shape.id}", line)
    return id_.strip(), source


def _field(row: JsonObject, name: str, file: TextFile, line: int) -> str:
    return plain_text(row.get(name), f"under {name!r}", file, line, text_only=False)


# Suites of WMT


def _suite_rows(
    file: TextFile, suite: Sequence[tuple[Row, SuitePlace]], selection: Selection
) -> list[Row]:
    """The rows of mtbias's suite for a data set and a language, by the ids of the corpus; each part
    is a prompt, a system, or both.

    Raises:
        DataError: there are none.
    """
    selected = [
        (row, place)
        for row, place in suite
        if (not selection.lang or place.lang == wmt_code(selection.lang))
        and (not selection.dataset or place.dataset == selection.dataset)
    ]
    if not selected:
        parts = sorted({f"{place.dataset} in {place.lang}" for _, place in suite})
        expected = f"{selection.dataset or 'a data set'} in {wmt_code(selection.lang)}"
        raise file.error(
            f"expected sentences of {expected}, got those of {', '.join(parts)}; "
            "check --dataset and --lang"
        )
    several = len({place.prompt for _, place in selected}) > 1
    rows = []
    for row, place in selected:
        part = "-".join(filter(None, [row.part, place.prompt if several else ""]))
        target = "" if row.target == FAILED else row.target
        rows.append(Row(row.line, place.id, row.source, target, part))
    return rows
