"""The names in GAP's texts: their spans, and their order by distance from the pronoun.

The distance of a name is the number of tokens between it and the pronoun. "The Gap on GAP" counts the tokens of spaCy's
English tokenizer. Its numbers come out with spaCy 2; spaCy 3 splits "1-year" in two, which moves some of them. The
counter here is a regular expression that orders the names of GAP's test set as spaCy 2.3.2 does, wherever the order
decides a number (the rank of every TRUE candidate, the first three names of every text). It was fitted to that file,
so it is a convenience that needs no spaCy, not an independent check, and on other texts it may differ by a token.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from mtbias.coref.gap_instances import GapFile, GapInstance
from mtbias.files.reading import parse_json_by_id, read_text
from mtbias.types import Span

_TOKEN = re.compile(
    r"""
      (?:[^\W\d_]\.)+(?=[\s,;:)]|$)           # initials and their stop: B.G.
    | '(?:s|S|re|ve|ll|d|m)\b                 # clitics: 's
    | \w+(?=n't\b) | n't\b                    # did n't
    | \d+-(?=[^\W\d])[\w-]+                   # a number before a hyphen keeps its word: 1-year
    | \w+ (?: (?: [&*]+ | [./,:](?=\d) | (?<=[^\W\d])-(?=\d) ) \w+ )*   # a word; R&B, 3.5, 4/40, mid-1608; * in a word
    | \.\.+ | --+
    | [^\w\s]                                 # any other sign, one by one
    """,
    re.VERBOSE,
)

TEST_NAME, SPANS_NAME = "gap-test.tsv", "gap-test-name-spans.json"
"""What the test set and its names are called where they are published."""


@dataclass(frozen=True, slots=True)
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
    """The tokens of `text`; a token that one of `cuts` falls into ends there, and another begins."""
    places = sorted(set(cuts))
    spans = []
    for token in _TOKEN.finditer(text):
        bounds = [token.start(), *(at for at in places if token.start() < at < token.end()), token.end()]
        spans += [Span(a, b) for a, b in pairwise(bounds)]
    return spans


def touch(one: Span, other: Span) -> bool:
    """Whether two spans overlap or stand end to end, as "The Gap on GAP" compares names with candidates."""
    return not (one.start > other.end or one.end < other.start)


def distance(instance: GapInstance, span: Span) -> int:
    """Tokens strictly between a name and the pronoun; 0 where they stand side by side or overlap."""
    start = instance.pronoun_offset
    end = start + len(instance.pronoun)
    between = instance.text[span.end : start] if span.end <= start else instance.text[end : span.start]
    return count_tokens(between.strip())


def nearest_first(instance: GapInstance, spans: Sequence[Span]) -> tuple[Span, ...]:
    """The names of a text by distance from its pronoun; names at equal distance in text order."""
    return tuple(sorted(spans, key=lambda span: (distance(instance, span), span)))


def rank_of_antecedent(instance: GapInstance, ordered: Sequence[Span]) -> int | None:
    """The place, from 1, of the first name that touches the TRUE candidate; None without such a name or candidate."""
    for candidate, is_true in zip(instance.candidates, instance.gold, strict=True):
        if is_true:
            return next((place for place, span in enumerate(ordered, 1) if touch(span, candidate)), None)
    return None


def files_in(data: Path, spans: Path | None) -> tuple[Path, Path | None]:
    """The file of examples and the file of names, given either the files or the folder of both."""
    if not data.is_dir():
        return data, spans
    beside = data / SPANS_NAME
    return data / TEST_NAME, spans or (beside if beside.is_file() else None)


def read_name_spans(path: Path, data: GapFile) -> NameSpans:
    """Read a JSON file of names: ``{"test-1": [[start, end, "name"], …], …}``; the text of a name may be left out.

    Raises:
        DataError: not such JSON; a span outside its text, or with another text than the file says; an instance of
            `data` without an entry.
    """
    file = read_text(path)
    content = parse_json_by_id(file)
    spans = {}
    for instance in data.instances:
        if instance.id not in content:
            message = f"expected an entry for every id of {data.path}, got {len(content)} without {instance.id!r}"
            raise file.error(message)
        entry = content[instance.id]
        if not isinstance(entry, list):
            raise file.error(f"{instance.id}: expected a list of [start, end, name], got {entry!r:.60}")
        try:
            spans[instance.id] = tuple(sorted(_span(item, instance.text) for item in entry))
        except ValueError as error:
            raise file.error(f"{instance.id}: {error}") from None
    return NameSpans(spans, file.sha256, len(content.keys() - spans.keys()))


def _span(item: object, text: str) -> Span:
    """The span that an entry of the file names; `ValueError` where it is none of `text`."""
    if not isinstance(item, list) or len(item) not in {2, 3}:
        raise ValueError(f"expected [start, end, name], got {item!r:.60}")
    start, end, *name = item
    if type(start) is not int or type(end) is not int:
        raise ValueError(f"expected whole numbers as start and end, got {item!r:.60}")
    if not 0 <= start < end <= len(text):
        raise ValueError(f"the span {start}:{end} is not within the text, which has {len(text)} characters")
    if name and text[start:end] != name[0]:
        raise ValueError(f"expected {name[0]!r} at {start}:{end}, got {text[start:end]!r} in the text")
    return Span(start, end)
