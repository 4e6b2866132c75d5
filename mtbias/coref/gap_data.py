"""Instances of GAP's kind, a text with one pronoun and two candidates A and B: their files, labels,
tokens and names.

GAP writes tab-separated text without quoting, Counter-GAP quotes its fields as CSV does (and ends
lines in CRLF). Which of the two a file is shows in its offsets: read the wrong way, they do not
fit.

Tokens are those of "The Gap on GAP", which counts how far names are from the pronoun with spaCy's
English tokenizer. Its numbers come out with spaCy 2; spaCy 3 splits "1-year" in two, which moves
some of them. The tokenizer here is a regular expression that orders the names of GAP's test set as
spaCy 2.3.2 does, wherever the order decides a number (the rank of every TRUE candidate, the first
three names of every text). It was fitted to that file, so it is a convenience that needs no spaCy,
not an independent check, and on other texts it may differ by a token.
"""

from __future__ import annotations

import csv
import io
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

from mtbias.coref.documents import Answers, CorefText, Mention, tokens_at
from mtbias.english.words import GENDER_OF_PRONOUN
from mtbias.errors import DataError
from mtbias.files.reading import Record, TextFile, parse_json_by_id, parse_tabs, read_text
from mtbias.types import Gender, Span, frozen

_TOKEN = re.compile(
    r"""
      (?:[^\W\d_]\.)+(?=[\s,;:)]|$)           # initials and their stop: B.G.
    | '(?:s|S|re|ve|ll|d|m)\b                 # clitics: 's
    | \w+(?=n't\b) | n't\b                    # did n't
    | \d+-(?=[^\W\d])[\w-]+                   # a number before a hyphen keeps its word: 1-year
    # a word; also R&B, 3.5, 4/40, mid-1608, and * in a word
    | \w+ (?: (?: [&*]+ | [./,:](?=\d) | (?<=[^\W\d])-(?=\d) ) \w+ )*
    | \.\.+ | --+
    | [^\w\s]                                 # any other sign, one by one
    """,
    re.VERBOSE,
)

TEST_NAME, SPANS_NAME = "gap-test.tsv", "gap-test-name-spans.json"
"""What the test set and its names are called where they are published."""

COLUMNS = (
    "ID", "Text", "Pronoun", "Pronoun-offset",
    "A", "A-offset", "A-coref", "B", "B-offset", "B-coref",
)  # fmt: skip
"""The columns that every such file has; others are carried along."""

_TRUTHS: Mapping[str, bool | None] = {"true": True, "false": False}


class Labels(NamedTuple):
    """Whether the pronoun means A, and whether it means B; None if a system answers neither true
    nor false.

    Of a system that draws its answers, the probabilities that it does.
    """

    a: float | None
    b: float | None


@frozen
class GapInstance:
    """A text, its pronoun and the two candidates A and B, each by its place in the text."""

    id: str
    text: str
    pronoun_at: Span
    candidates: tuple[Span, Span]
    gold: Labels
    """The right labels of A and B; None: nobody has said yet."""
    others: Mapping[str, str] = field(default_factory=dict)
    """The fields of the file's other columns."""

    @property
    def pronoun(self) -> str:
        """The pronoun, as the text has it."""
        return self.text[slice(*self.pronoun_at)]

    @property
    def names(self) -> tuple[str, str]:
        """A and B, as the text has them."""
        a, b = self.candidates
        return self.text[slice(*a)], self.text[slice(*b)]


@frozen
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
        raise DataError(
            f"{instance.id}: expected one of {listing}, got {instance.pronoun!r}", path=path
        )
    return gender


def has_gap_columns(data: Path) -> bool:
    """Whether a file has GAP's columns, and not a corpus's."""
    header = read_text(data).text.partition("\n")[0]
    return set(COLUMNS) <= {name.strip().strip('"') for name in header.split("\t")}


def read_instances(path: Path, *, labelled: bool = True) -> GapFile:
    """Read a TSV file of GAP's columns, quoted or not; unless `labelled`, labels may be empty.

    Raises:
        DataError: columns missing; a row with too many or too few fields; an id twice; a label that
            is not TRUE or FALSE (in any case); an offset that does not fit however the file is
            read.
    """
    file = read_text(path)
    try:
        return _parse(file, quoted=True, labelled=labelled)
    except DataError as error:
        try:
            return _parse(file, quoted=False, labelled=labelled)
        except DataError as unquoted:
            quotes = '\t"' in file.text or '""' in file.text
            raise (error if quotes else unquoted) from None


def _parse(file: TextFile, *, quoted: bool, labelled: bool) -> GapFile:
    table = parse_tabs(file, quoted=quoted)
    table.require(*COLUMNS)
    others = tuple(name for name in table.columns if name not in COLUMNS)
    instances: dict[str, GapInstance] = {}
    for record in table.records:
        instance = _instance(record, others, _TRUTHS if labelled else {**_TRUTHS, "": None})
        if instance.id in instances:
            raise record.error(f"the id {instance.id!r} occurs twice; ids must differ")
        instances[instance.id] = instance
    return GapFile(file.path, file.sha256, quoted, others, tuple(instances.values()))


def _instance(
    record: Record, others: Sequence[str], truths: Mapping[str, bool | None]
) -> GapInstance:
    id_, text = record.get("ID"), record.raw("Text")
    labels = {column: record.get(column) for column in ("A-coref", "B-coref")}
    for column, label in labels.items():
        if label.lower() not in truths:
            raise record.error(f"{column}: expected TRUE or FALSE, got {label!r}")
    spans = []
    for column in ("Pronoun", "A", "B"):
        word, start = record.raw(column), record.integer(f"{column}-offset")
        span = Span(start, start + len(word))
        where = f"{id_}: {column}-offset {start}"
        if span.end > len(text):
            raise record.error(
                f"{where} with {word!r} ends past the text, which has {len(text)} characters"
            )
        if not word or text[slice(*span)] != word:
            raise record.error(
                f"{where}: expected {word!r}, got {text[slice(*span)]!r} in the text"
            )
        spans.append(span)
    pronoun, a, b = spans
    gold = Labels(*(truths[label.lower()] for label in labels.values()))
    return GapInstance(
        id_, text, pronoun, (a, b), gold, {column: record.raw(column) for column in others}
    )


_TITLE_STOP = re.compile(r"\b(?:Mr|Mrs|Dr)(\.)")


def without_title_stops(file: GapFile) -> GapFile:
    """The instances without the full stop behind the titles Mr, Mrs and Dr, at the offsets of the
    new texts.

    Source: Xie et al. (2023), footnote 10: OntoNotes writes these titles otherwise than fiction.
    """
    return replace(file, instances=tuple(map(_without_stops, file.instances)))


def _without_stops(instance: GapInstance) -> GapInstance:
    stops = [match.start(1) for match in _TITLE_STOP.finditer(instance.text)]

    def moved(span: Span) -> Span:
        start, end = span
        return Span(start - bisect_left(stops, start), end - bisect_left(stops, end))

    text = _TITLE_STOP.sub(lambda match: match[0][:-1], instance.text)
    a, b = map(moved, instance.candidates)
    return replace(instance, text=text, pronoun_at=moved(instance.pronoun_at), candidates=(a, b))


_LABELS = ("ID", "A-coref", "B-coref")
"""The columns of a table of labels, in the order that they have without a header."""


def read_labels(path: Path, *, official: bool = False) -> Answers:
    """Read a system's labels: id, A-coref, B-coref, tab-separated; below a header, in its order.

    `official`: pass over what GAP's official scorer passes over, and say how much: the first row of
    an id counts, and a label that is not true or false (in any case) is none.

    Raises:
        DataError: another number of fields; a header of other names; no rows; unless `official`, an
            id twice or a label that is not TRUE or FALSE (in any case).
    """
    file = read_text(path)
    lines = list(file.filled_lines())
    order = _header(file, lines[0][0], _fields(lines[0][1]))
    labels: dict[str, Labels] = {}
    duplicates = unexpected = 0
    for line, content in lines if order is None else lines[1:]:
        fields = _fields(content)
        if len(fields) != len(_LABELS):
            expected = "expected three fields (id, A-coref, B-coref; tabs between)"
            raise file.error(f"{expected}, got {len(fields)}", line)
        id_, *texts = fields if order is None else (fields[place] for place in order)
        if id_ in labels and not official:
            raise file.error(f"the id {id_!r} occurs twice; ids must differ", line)
        named = zip(_LABELS[1:], texts, strict=True)
        unknown = [(name, text) for name, text in named if text.lower() not in _TRUTHS]
        if unknown and not official:
            raise file.error(
                f"{unknown[0][0]}: expected TRUE or FALSE, got {unknown[0][1]!r}", line
            )
        if id_ in labels:
            duplicates += 1
            continue
        unexpected += len(unknown)
        labels[id_] = Labels(*(_TRUTHS.get(text.lower()) for text in texts))
    if not labels:
        raise file.error("no predictions in the file", 1)
    notes = {
        "labels that are neither true nor false (false negatives)": unexpected,
        "rows whose id came before (passed over)": duplicates,
    }
    return Answers(labels, file.hashes, tuple(f"{n} {what}" for what, n in notes.items() if n))


def _fields(line: str) -> list[str]:
    return [text.strip() for text in line.split("\t")]


def _header(file: TextFile, line: int, fields: Sequence[str]) -> list[int] | None:
    """The place of each of `_LABELS` in a header; None if the first line has none of these names.

    Raises:
        DataError: a header with another name, or without one of these.
    """
    names = [field.strip('"').lower() for field in fields]
    known = [name.lower() for name in _LABELS]
    if not set(names) & set(known):
        return None
    if sorted(names) != sorted(known):
        listing = ", ".join(map(repr, fields[:5])) + ", …" * (len(fields) > 5)
        expected = f"expected the columns {', '.join(_LABELS)}, in any order"
        raise file.error(f"{expected}, got the header {listing}", line)
    return [names.index(name) for name in known]


def write_instances(instances: Iterable[GapInstance], columns: Sequence[str] = ()) -> str:
    """The text of a file of instances as Counter-GAP writes it: quoted where needed, lines ending
    in CRLF.

    `columns` are the names of the other columns.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter="\t", lineterminator="\r\n")
    writer.writerow([*COLUMNS, *columns])
    for i in instances:
        row: list[object] = [i.id, i.text, i.pronoun, i.pronoun_at.start]
        for name, span, label in zip(i.names, i.candidates, i.gold, strict=True):
            row += [name, span.start, "" if label is None else str(label).upper()]
        writer.writerow([*row, *(i.others[column] for column in columns)])
    return out.getvalue()


@frozen
class NameSpans:
    """The annotated names of each text, in text order."""

    of: Mapping[str, tuple[Span, ...]]
    """By id; every instance of the data has an entry."""
    sha256: str
    unknown: int
    """Ids in the file that the data does not have."""


def count_tokens(text: str) -> int:
    """The number of tokens in `text`; see the module."""
    return len(_TOKEN.findall(text))


def tokens_of(text: str, cuts: Sequence[int] = ()) -> list[Span]:
    """The tokens of `text`; a token that one of `cuts` falls into ends there, and another
    begins.
    """
    places = sorted(set(cuts))
    spans = []
    for token in _TOKEN.finditer(text):
        bounds = [
            token.start(),
            *(at for at in places if token.start() < at < token.end()),
            token.end(),
        ]
        spans += [Span(a, b) for a, b in pairwise(bounds)]
    return spans


def touch(one: Span, other: Span) -> bool:
    """Whether two spans overlap or are adjacent, as "The Gap on GAP" compares names with
    candidates.
    """
    return not (one.start > other.end or one.end < other.start)


def distance(instance: GapInstance, span: Span) -> int:
    """The number of tokens between a name and the pronoun; 0 if they are adjacent or overlap."""
    start, end = instance.pronoun_at
    between = (
        instance.text[span.end : start] if span.end <= start else instance.text[end : span.start]
    )
    return count_tokens(between.strip())


def nearest_first(instance: GapInstance, spans: Sequence[Span]) -> tuple[Span, ...]:
    """The names of a text by distance from its pronoun; names at equal distance in text order."""
    return tuple(sorted(spans, key=lambda span: (distance(instance, span), span)))


def rank_of_antecedent(instance: GapInstance, ordered: Sequence[Span]) -> int | None:
    """The place, from 1, of the first name that touches the TRUE candidate; None without such a
    name or candidate.
    """
    for candidate, is_true in zip(instance.candidates, instance.gold, strict=True):
        if is_true:
            return next(
                (place for place, span in enumerate(ordered, 1) if touch(span, candidate)), None
            )
    return None


def files_in(data: Path, spans: Path | None) -> tuple[Path, Path | None]:
    """The files of examples and of names: themselves, or in one folder, or in two as `mtbias fetch`
    has them.
    """
    if not data.is_dir():
        return data, spans
    there = (
        place
        for place in (data / SPANS_NAME, data.parent / "gap-spans" / SPANS_NAME)
        if place.is_file()
    )
    return data / TEST_NAME, spans or next(there, None)


def read_name_spans(path: Path, data: GapFile) -> NameSpans:
    """Read a JSON file of names: ``{"test-1": [[start, end, "name"], …], …}``.

    Raises:
        DataError: not such JSON; a span outside its text, or with another text than the file says;
            an instance of `data` without an entry.
    """
    file = read_text(path)
    content = file.converted(dict[str, tuple[tuple[int, int, str], ...]], parse_json_by_id(file))
    spans = {}
    for instance in data.instances:
        id_, text = instance.id, instance.text
        if id_ not in content:
            raise file.error(
                f"expected an entry for every id of {data.path}, got {len(content)} without {id_!r}"
            )
        for start, end, name in content[id_]:
            if not 0 <= start < end <= len(text):
                message = f"the span {start}:{end} is not within the text"
                raise file.error(f"{id_}: {message}, which has {len(text)} characters")
            if text[start:end] != name:
                message = f"expected {name!r} at {start}:{end}"
                raise file.error(f"{id_}: {message}, got {text[start:end]!r} in the text")
        spans[id_] = tuple(sorted(Span(*item[:2]) for item in content[id_]))
    return NameSpans(spans, file.sha256, len(content.keys() - spans.keys()))


def text_of(instance: GapInstance) -> CorefText:
    """An instance as systems are given it.

    Tokens end where pronoun, A or B begins or ends: 10 of the 25,386 of GAP and Counter-GAP do not
    begin and end with a token otherwise (an initial with its stop, a word in underscores).
    """
    spans = _instance_tokens(instance)
    tokens = tuple(instance.text[span.start : span.end] for span in spans)
    pronoun, *candidates = mentions_of(instance)
    right = [mention for mention, gold in zip(candidates, instance.gold, strict=True) if gold]
    gold = (tuple(sorted([*right, pronoun])),) if right else ()
    return CorefText(instance.id, tokens, instance.text, gold, _sentence_ends(tokens), pronoun)


def mentions_of(instance: GapInstance) -> tuple[Mention, Mention, Mention]:
    """The pronoun, A and B of an instance, in tokens of its text."""
    spans = _instance_tokens(instance)
    pronoun, a, b = (tokens_at(spans, span) for span in (instance.pronoun_at, *instance.candidates))
    return pronoun, a, b


def _instance_tokens(instance: GapInstance) -> list[Span]:
    named = (instance.pronoun_at, *instance.candidates)
    return tokens_of(instance.text, cuts=[*chain.from_iterable(named)])


_ENDS, _CLOSING = {".", "!", "?"}, {'"', "'", ")", "]", "”", "’"}
# Titles and the like, after which a full stop ends no sentence: the abbreviations of English that
# stand before names.
_BEFORE_NAMES = frozenset(
    [
        "Mr", "Mrs", "Ms", "Mx", "Dr", "Prof", "St", "Sr", "Jr", "Fr", "Rev", "Hon", "Gen", "Col",
        "Maj", "Capt", "Cmdr", "Lt", "Sgt", "Gov", "Sen", "Rep", "Pres", "No", "vs",
    ]
)  # fmt: skip


def _sentence_ends(tokens: Sequence[str]) -> tuple[int, ...]:
    """The last tokens of the sentences of a text, but for its last sentence.

    A sentence ends at a full stop, ! or ? (and a quote or bracket that closes it) before a capital,
    a digit or a quote. Mentions do not depend on it, since tokens count through a text; systems
    take sentences one by one.
    """
    ends = []
    for at, sign in enumerate(tokens):
        before = tokens[at - 1] if at else ""
        abbreviates = before in _BEFORE_NAMES or (len(before) == 1 and before.isupper())
        if sign not in _ENDS or (sign == "." and abbreviates):
            continue
        last = at
        while last + 1 < len(tokens) and tokens[last + 1] in _CLOSING:
            last += 1
        follows = tokens[last + 1 : last + 2]
        if follows and (
            follows[0][0].isupper() or follows[0][0].isdigit() or not follows[0][0].isalnum()
        ):
            ends.append(last)
    return tuple(ends)
