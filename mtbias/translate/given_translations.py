"""Existing translations: reading them and joining them to the corpus.

A translation belongs to an instance by id, by its source sentence or by its line, and never because
it is the last one with that sentence. Missing, surplus, empty and doubled translations are counted,
with examples.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from mtbias.errors import DataError, escaped
from mtbias.files.packing import content_name, suffix_of
from mtbias.files.reading import TextFile, refuse_long
from mtbias.translate.bitext import SEPARATOR, holds_source, normalised_text, parse_bitext
from mtbias.translate.file_shapes import SHAPED, is_object, read_rows
from mtbias.translate.output_files import is_fairseq, read_fairseq, read_shaped
from mtbias.translate.outputs import count_marks
from mtbias.translate.shape_table import ALL, FileRows, Row, Selection
from mtbias.translate.system import Begun, OnTranslations, Sources, Store, System, Tally, Translated
from mtbias.types import Json, SourceSentence, Translation

ENOUGH = 95
"""Per cent of the corpus's instances that a file must cover."""

MISSING = "missing"
"""The reason of a translation that the file does not have."""
MARKS = (MISSING, "empty", "extra", "duplicates", "shared", "normalised")
"""What is counted when translations are joined to a corpus.

* missing: instances for which the file has nothing;
* empty: instances whose translation is empty;
* extra: rows of the file that belong to no instance, or to one that already has its translation;
* duplicates: rows of the file whose id or source occurs in an earlier row;
* shared: instances that take the translation of another row with the same source, since all such
  rows agree;
* normalised: instances whose source matched only after `mtbias.translate.bitext.normalised_text`.
"""

_IN_MEMORY = Path("translations.jsonl")
"""The name in messages for texts in memory."""


@dataclass(frozen=True, slots=True)
class GivenTranslations(Translated):
    """Translations from a file, one for every instance in the corpus's order, and how they were
    matched.

    An instance is without text where the file has none (reason ``missing``) or an empty one
    (``empty``). The ``form`` is ``pairs`` (source ||| target), ``lines`` (one target a line),
    ``table by id``, ``table by source`` or ``table in order``, or names a log in place of the table
    (``sample of Inspect by id``) or fairseq-generate; the marks are `MARKS`, and their ``examples``
    ids of instances (missing, empty, shared, normalised) or lines of the file (``line 7``: extra,
    duplicates).
    """

    sha256: str
    """SHA-256 of the file's bytes."""
    cleaned: bool = False
    """Whether they were extracted from answers of a language model
    (`mtbias.translate.language_models`)."""
    part: str = ""
    """The system or prompt, where the file has several."""


@dataclass(slots=True)
class _Match:
    """The row of each instance, and the ids and lines with each of `MARKS`."""

    rows: dict[str, Row] = field(default_factory=dict)
    noticed: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    unmatched: list[str] = field(default_factory=list)
    """Rows of the file that belong to no instance, by id and source."""


def read_translations(
    path: Path,
    instances: Sequence[SourceSentence],
    *,
    rows: int | None = None,
    allow_missing: bool = False,
    selection: Selection = ALL,
) -> GivenTranslations:
    """Read the translations in `path` and join them to `instances`.

    Forms: ``.tsv``, ``.csv``, ``.jsonl``, ``.json`` and ``.eval`` files are tables with ``id`` or
    ``source``, and ``target`` (or other names, `mtbias.translate.file_shapes`), or logs of other
    programs; with both, the id joins, and a row whose source is another sentence than the
    instance's is left over. Any other file holds ``source ||| target`` lines if most of its lines
    have that separator, JSON lines if the first is an object, the output of fairseq-generate if
    most begin as that does, else one target a line in the corpus's order: as many lines as
    instances, or as rows of the corpus file (`rows`, where the corpus skipped some). A blank line
    is an empty translation there, unless it is a surplus one at the end. Packed files (``.gz``,
    ``.zst``) are unpacked.

    Sources match after Unicode NFC and the collapsing of white space. The k-th row with a source
    belongs to the k-th instance with that source. Where the file has fewer such rows than the
    corpus has instances, the others share their target if all those rows agree on it (a file of
    distinct sentences), and are missing if they do not. Surplus rows are extra.

    Args:
        path: the file.
        instances: those of the corpus.
        rows: number of rows of the corpus file, skipped ones included (default: the number of
            instances).
        allow_missing: whether the file may cover less than `ENOUGH` per cent of the corpus.
        selection: which rows to take, where the file has several languages or systems.

    Raises:
        DataError: the file is missing, not UTF-8, empty, or not of its form (with the line); an id
            has two translations; the number of lines is wrong; too few instances are covered, which
            is the sign of another corpus; most targets contain their source (pairs in an unknown
            form); a target is too long for a sentence (`mtbias.files.reading.LONGEST`).
    """
    file = read_shaped(path)
    return join_translations(
        file, instances, rows=rows, allow_missing=allow_missing, selection=selection
    )


def join_translations(
    file: TextFile,
    instances: Sequence[SourceSentence],
    *,
    rows: int | None = None,
    allow_missing: bool = False,
    selection: Selection = ALL,
) -> GivenTranslations:
    """`read_translations` for a file in memory, whose form is that of its path's suffix."""
    path = file.path
    file = replace(file, text=file.text.replace("\r\n", "\n"))  # inside the quotes of CSV too
    table, form = _read(file, instances, rows, selection)
    match = _joined(file, table, instances, by_id=not form.endswith(("by source", "pairs")))
    if not allow_missing and len(match.rows) * 100 < ENOUGH * len(instances):
        raise DataError(_too_few(match, instances, selection.part), path=path)
    _refuse_sources(file, instances, match)
    translations = []
    for instance in instances:
        row = match.rows.get(instance.id)
        text = row.target.strip() if row else ""
        if row is not None and text:
            refuse_long(text, "translation", path, row.line)
            translations.append(Translation(instance.id, text))
        else:
            reason = MISSING if row is None else "empty"
            match.noticed[reason].append(instance.id)
            translations.append(Translation(instance.id, None, reason))
    noticed = count_marks({mark: match.noticed[mark] for mark in MARKS})
    return GivenTranslations(
        tuple(translations), {"form": form, **noticed}, file.sha256, part=selection.part
    )


def join_texts(
    translations: Sequence[str | None] | Mapping[str, str | None],
    instances: Sequence[SourceSentence],
    *,
    allow_missing: bool = False,
) -> GivenTranslations:
    """`read_translations` for texts in memory, with the same result and hash as a JSONL file of
    ``id`` and ``target``.

    There is a text for each instance, in the corpus's order; or texts by id. None is a missing
    translation.

    Raises:
        DataError: the number of texts is wrong, or they cover too few instances.
    """
    if isinstance(translations, Mapping):
        by_id = translations
    elif len(translations) == len(instances):
        by_id = {i.id: text for i, text in zip(instances, translations, strict=True)}
    else:
        raise DataError(
            f"expected a translation for each of the corpus's {len(instances)} instances, "
            f"in its order, got {len(translations)}; or give a mapping from id to translation"
        )
    rows = [{"id": id_, "target": text} for id_, text in by_id.items() if text is not None]
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    if not lines:
        raise DataError(
            f"expected translations of the corpus's {len(instances)} instances, got none"
        )
    content = "".join(lines)
    digest = hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()
    file = TextFile(_IN_MEMORY, content, digest, bom=False, crlf=False)
    return join_translations(file, instances, allow_missing=allow_missing)


def parse_pairs(file: TextFile) -> list[tuple[str, str]]:
    """(source, target) of each row of a file that belongs to no corpus; rows with an empty side are
    skipped.

    A table or log, by its suffix (`mtbias.translate.file_shapes`), has the columns ``source`` and
    ``target`` or another name of it; any other file has ``source ||| target`` lines.

    Raises:
        DataError: it is not of its form (with the line).
    """
    if suffix_of(file.path) not in SHAPED:
        return parse_bitext(file)
    rows = read_rows(file, key="source").rows
    pairs = [(row.source.strip(), row.target.strip()) for row in rows]
    return [(source, target) for source, target in pairs if source and target]


def _too_few(match: _Match, instances: Sequence[SourceSentence], part: str) -> str:
    """The message for a file that covers too little of the corpus."""
    bare = next((instance for instance in instances if instance.id not in match.rows), instances[0])
    got = f"got {len(match.rows)}" + (f" of {part}" if part else "")
    coverage = (
        f"expected translations of {ENOUGH} % of the corpus's {len(instances)} instances, {got}; "
        f"one without is {bare.source!r} ({bare.id})"
    )
    if not match.unmatched:
        whole = "Every row of the file matched: is it a part of a longer one?"
        return f"{coverage}. {whole} --part scores what it has as a corpus of its own"
    return (
        f"{coverage}, and a row that matched nothing is {match.unmatched[0]!r}. "
        "Another corpus? Check --dataset and --data"
    )


def _refuse_sources(file: TextFile, instances: Sequence[SourceSentence], match: _Match) -> None:
    """Refuse a file most of whose targets hold a source too: pairs in an unknown form would be
    scored as targets.

    Raises:
        DataError: it is such a file.
    """
    sources = {normalised_text(instance.source) for instance in instances} - {""}
    targets = 0
    with_source: list[Row] = []
    for instance in instances:
        row = match.rows.get(instance.id)
        if row is None or not row.target.strip():
            continue
        targets += 1
        if holds_source(row.target, normalised_text(instance.source), sources):
            with_source.append(row)
    if 2 * len(with_source) > targets:
        message = (
            "expected targets alone, got targets that contain their source; "
            f"write lines of the form source{SEPARATOR}target, with a blank on either side of the "
            "bars, or a table (.tsv, .csv, .jsonl) with the columns source and target"
        )
        raise file.error(message, with_source[0].line)


# Joining


def _joined(
    file: TextFile, table: Sequence[Row], instances: Sequence[SourceSentence], *, by_id: bool
) -> _Match:
    """Join rows to instances by id, or by source: the k-th row with a source belongs to the k-th
    instance with it, and where all such rows agree, to further instances too.
    """
    match = _Match()
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for row in table:
        group = groups[row.id if by_id else normalised_text(row.source)]
        if group:
            if by_id and group[0].target.strip() != row.target.strip():
                message = f"id {row.id!r} has another translation in line {group[0].line}"
                raise file.error(f"{message}; keep one of the two", row.line)
            match.noticed["duplicates"].append(f"line {row.line}")
        group.append(row)

    used: Counter[str] = Counter()
    for instance in instances:
        source = normalised_text(instance.source)
        key = instance.id if by_id else source
        group = groups.get(key, [])
        own = group[used[key]] if used[key] < len(group) else None
        if by_id and own and own.source and normalised_text(own.source) != source:
            continue  # the id is of another sentence
        used[key] += 1
        if own is None and len({row.target.strip() for row in group}) == 1:
            own = group[0]
            match.noticed["shared"].append(instance.id)
        if own is None:
            continue
        match.rows[instance.id] = own
        if own.source not in {"", instance.source}:
            match.noticed["normalised"].append(instance.id)

    surplus: list[int] = []
    for key, group in groups.items():
        surplus += [row.line for row in group[used[key] :]]
        if not used[key]:
            match.unmatched.append(": ".join(filter(None, (group[0].id, group[0].source))))
    match.noticed["extra"] = [f"line {line}" for line in sorted(surplus)]
    return match


# Reading


def _read(
    file: TextFile, instances: Sequence[SourceSentence], rows: int | None, selection: Selection
) -> tuple[list[Row], str]:
    """The rows of a file, and its form (`GivenTranslations`)."""
    lines = [line for line in file.text.split("\n") if line.strip()]
    if suffix_of(file.path) in SHAPED or (lines and is_object(lines[0])):
        return _by_key(file, read_rows(file, selection), instances, rows)
    if 2 * sum(SEPARATOR.rstrip() in line for line in lines) > len(lines):
        return _read_pairs(file, instances), "pairs"
    if is_fairseq(lines):
        by_place, n = read_fairseq(file)
        order = _places(file, n, instances, rows)
        pairs = [(by_place.get(place), i) for place, i in zip(order, instances, strict=True)]
        return [replace(row, id=i.id) for row, i in pairs if row], "fairseq-generate"
    return _read_lines(file, instances, rows), "lines"


def _by_key(
    file: TextFile, table: FileRows, instances: Sequence[SourceSentence], rows: int | None
) -> tuple[list[Row], str]:
    """The rows of a table or a log with the key that joins them: id or source."""
    name = table.log or "table"
    if table.in_order:
        order = _places(file, len(table.rows), instances, rows)
        pairs = zip(order, instances, strict=True)
        return [replace(table.rows[place], id=i.id) for place, i in pairs], f"{name} in order"
    ids = {instance.id for instance in instances}
    if any(row.id in ids for row in table.rows):
        with_id = [row for row in table.rows if row.id]
        if table.prompted:
            with_id = [replace(row, source="") for row in with_id]
        return with_id, f"{name} by id"
    # Another program's ids, or none.
    key = "source" if all(row.source for row in table.rows) else "id"
    return list(table.rows), f"{name} by {key}"


def _read_lines(file: TextFile, instances: Sequence[SourceSentence], rows: int | None) -> list[Row]:
    lines = file.text.removesuffix("\n").split("\n")
    counts = {len(instances), rows}
    if len(lines) not in counts and len(lines) - 1 in counts and not lines[-1].strip():
        lines.pop()  # a blank line behind the last
    order = _places(file, len(lines), instances, rows)
    return [Row(n + 1, i.id, "", lines[n]) for n, i in zip(order, instances, strict=True)]


def _places(
    file: TextFile, n: int, instances: Sequence[SourceSentence], rows: int | None
) -> Sequence[int]:
    """The place of each instance's translation among `n` translations without a key.

    Raises:
        DataError: there are neither as many as instances nor as many as rows of the corpus.
    """
    if n == len(instances):
        return range(n)
    if n == rows:  # persons of one sentence share a row
        return [instance.row for instance in instances]
    other = "" if rows in (None, len(instances)) else f" (or {rows})"
    message = (
        f"expected one target a line, so {len(instances)}{other} lines as the corpus has, got {n}; "
        f"or give lines of the form source{SEPARATOR}target, or a table (.tsv, .csv, .jsonl)"
    )
    raise DataError(message, path=file.path)


def _read_pairs(file: TextFile, instances: Sequence[SourceSentence]) -> list[Row]:
    sources = {normalised_text(instance.source) for instance in instances}
    rows = []
    for number, line in enumerate(file.text.rstrip("\n").split("\n"), start=1):
        pieces = f"{line} ".split(SEPARATOR)
        if len(pieces) == 1:
            expected = f"expected source{SEPARATOR}target, as in most lines of this file"
            message = f"{expected}, got {line[:60]!r}"
            raise DataError(message, path=file.path, line=number)
        # Source and target may have the separator in them.
        for n in range(1, len(pieces)):
            source, target = SEPARATOR.join(pieces[:n]), SEPARATOR.join(pieces[n:])
            if normalised_text(source) in sources:
                break
        else:
            source, target = pieces[0], SEPARATOR.join(pieces[1:])
        rows.append(Row(number, "", source, target))
    return rows


@dataclass(frozen=True)
class GivenSystem(System):
    """Existing translations as a system (`mtbias.translate.system.System`), which translates
    nothing.
    """

    name: str
    """Name of the system that translated, for tables and the signature."""
    read: Callable[[Sources], GivenTranslations]
    """Joins the translations to the instances of a corpus."""

    def joined(self, corpus: Sources) -> GivenSystem:
        """The system with its translations read, for one corpus.

        Raises:
            DataError: they do not fit the corpus.
        """
        translations = self.read(corpus)
        return replace(self, read=lambda _: translations)

    def plan(self, corpus: Sources, begun: Begun) -> GivenPlan:  # noqa: ARG002 - nothing is divided
        """See `mtbias.translate.system.System`; the translations are read here.

        Raises:
            DataError: they do not fit the corpus.
        """
        return GivenPlan(self.name, self.read(corpus))


@dataclass(frozen=True)
class GivenPlan:
    """Given translations, joined to their corpus (`mtbias.translate.system.Plan`)."""

    name: str
    translations: GivenTranslations

    settings: ClassVar[Mapping[str, Json]] = {}
    key: ClassVar[str] = ""
    sizes: ClassVar[Sequence[int]] = ()
    frees_cpu: ClassVar[bool] = False

    @property
    def identity(self) -> Mapping[str, Json]:
        """The system's name, the hash of the file, its part where it has several, and whether the
        translations were extracted from answers.
        """
        identity: dict[str, Json] = {"system": self.name, "translations": self.translations.sha256}
        if self.translations.part:
            identity["part"] = self.translations.part
        return {**identity, "cleaned": True} if self.translations.cleaned else identity

    def translate(
        self,
        store: Store,  # noqa: ARG002
        parts: Sequence[int],  # noqa: ARG002
        progress: Callable[[int, int], object],  # noqa: ARG002
        on_translations: OnTranslations | None = None,  # noqa: ARG002
    ) -> Tally:
        """Do nothing: all translations exist."""
        return Tally()

    def collect(self, store: Store) -> Translated:  # noqa: ARG002
        """The translations as they were joined."""
        return self.translations


def given_file(
    path: Path,
    *,
    name: str | None = None,
    allow_missing: bool = False,
    selection: Selection = ALL,
) -> GivenSystem:
    """The translations in a file, as a system called `name` (default: the file's name without its
    suffix); `selection` selects some, where it has several systems or languages.

    Raises:
        DataError: the file cannot be read; whether it fits a corpus shows when it is joined to one.
    """
    # One of many parts is read in its turn: all systems of a year do not fit into memory.
    file = None if selection.part else read_shaped(path)

    def read(corpus: Sources) -> GivenTranslations:
        return join_translations(
            file or read_shaped(path),
            corpus.instances,
            rows=corpus.rows,
            allow_missing=allow_missing,
            selection=selection,
        )

    return GivenSystem(escaped(name or content_name(path).stem), read)
