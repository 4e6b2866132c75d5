"""Documents of coreference: those of a data set as systems take them, and what systems find in them. Needs no numpy.

A data set is written as **CoNLL-2012** (a document each, part 0, 12 columns; parses, parts of speech and speakers have
what stands for none), as **JSON lines** (`id`, `text`, `tokens`, and what e2e-coref takes: `doc_key`, `sentences`,
`speakers` and `clusters`, which are empty unless gold ones are asked for), or as **text**: a line for each document, or
a file for each, whose name is the id with other signs for those that file names cannot have.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from json import dumps
from pathlib import Path
from typing import Literal, get_args

from mtbias.coref.conll import Clusters, Mention
from mtbias.errors import DataError
from mtbias.types import JsonObject, Span, frozen

DatasetName = Literal["winobias", "winogender", "gap", "counter-gap", "bug", "sowinobias", "conll"]
DATASETS: tuple[DatasetName, ...] = get_args(DatasetName)

Format = Literal["conll", "jsonl", "text"]
"""In which a data set is written for a system."""

Spans = Literal["included", "excluded", "characters"]
"""What the two numbers of a mention count: tokens from 0, the second is the last one or the one behind it; or
characters from 0, the second is the one behind the last."""

_NO_BLANK_BEFORE = re.compile(r" (?=(?:[.,;:!?)\]]|'s|'S|n't|'re|'ve|'ll|'d|'m)(?: |$))")


@frozen
class CorefText:
    """One document of a data set."""

    id: str
    tokens: tuple[str, ...]
    text: str
    """The tokens in their order, whatever blanks are between them."""
    gold: Clusters
    """The right clusters of what the data set asks about; none where the pronoun means nobody."""
    sentence_ends: tuple[int, ...] = ()
    """The last token of each sentence but the last."""

    @property
    def sentences(self) -> tuple[tuple[str, ...], ...]:
        """The tokens of each sentence."""
        bounds = [0, *(end + 1 for end in self.sentence_ends), len(self.tokens)]
        return tuple(self.tokens[a:b] for a, b in pairwise(bounds))

    def places(self, mentions: Iterable[Mention]) -> tuple[Span, ...]:
        """Where mentions stand in the text, in its order; a token that does not stand in it as it is has no length."""
        at, tokens = 0, []
        for token in self.tokens:
            start = self.text.find(token, at)
            at = at if start < 0 else start + len(token)
            tokens.append(Span(at if start < 0 else start, at))
        return tuple(sorted({Span(tokens[start].start, tokens[end].end) for start, end in mentions}))

    @property
    def file_name(self) -> str:
        """The name of its file, where each document has one."""
        return re.sub(r"[^\w.-]+", "_", self.id) + ".txt"


def joined(tokens: Iterable[str]) -> str:
    """Tokens as a text: without blanks before what is written onto the word before it."""
    return _NO_BLANK_BEFORE.sub("", " ".join(token for token in tokens if token))


def tokens_at(spans: Sequence[Span], span: Span) -> Mention:
    """The first and the last token of `span`, of tokens that stand at `spans`."""
    at = [n for n, token in enumerate(spans) if token.overlaps(span)]
    return at[0], at[-1]


def exported(texts: Sequence[CorefText], form: Format, *, gold: bool = False) -> Iterator[str]:
    """The lines of a file of `texts`; `gold`: with the right clusters, of what the data set asks about alone."""
    for text in texts:
        clusters = text.gold if gold else ()
        if form == "conll":
            yield from _conll(text, clusters)
        elif form == "jsonl":
            speakers = [["-"] * len(sentence) for sentence in text.sentences]
            line: dict[str, object] = {"id": text.id, "doc_key": text.id, "text": text.text, "tokens": text.tokens}
            line |= {"sentences": text.sentences, "speakers": speakers, "clusters": clusters}
            yield dumps(line, ensure_ascii=False)
        else:
            # One character for another: offsets stay as they are.
            yield text.text.translate({ord(end): " " for end in "\n\r\v\f\x85\u2028\u2029"})


def _conll(text: CorefText, clusters: Clusters) -> Iterator[str]:
    links: dict[int, list[str]] = defaultdict(list)
    for cluster, mentions in enumerate(clusters):
        for start, end in mentions:
            links[start].append(f"({cluster})" if start == end else f"({cluster}")
            if start < end:
                links[end].append(f"{cluster})")
    yield f"#begin document ({text.id}); part 000"
    at = 0
    for sentence in text.sentences:
        for number, token in enumerate(sentence):
            # Readers make a tree of a sentence's column: all words under one node.
            tree = ("(TOP" if number == 0 else "") + "*" + (")" if number == len(sentence) - 1 else "")
            last = "|".join(links[at]) or "-"
            yield "\t".join([text.id, "0", str(number), token, "XX", tree, "-", "-", "-", "-", "*", last])
            at += 1
        yield ""
    yield "#end document"


@frozen
class SystemDocument:
    """One document as a system wrote it."""

    id: str | None
    clusters: Clusters
    """Mentions as they are written."""
    path: Path
    line: int
    tokens: tuple[str, ...] | None = None
    """The tokens or word pieces that the mentions count, where the file has them."""
    text: str | None = None
    """The text whose characters the mentions may count, where the file has it."""
    spans: Spans | None = None
    """What the mentions count, where the format leaves no doubt; None: pairs of numbers that somebody wrote down."""

    def error(self, message: str) -> DataError:
        """An error in this document: to be raised where it is found."""
        return DataError(message if self.id is None else f"id {self.id!r}: {message}", path=self.path, line=self.line)


@frozen
class Answers:
    """What a system says of each document."""

    of: JsonObject
    """By id: its clusters, or what they say of what the data set asks."""
    files: Mapping[str, str]
    """SHA-256 by name of the file."""
    notes: tuple[str, ...] = ()
    """How its files were read, where that is not as mtbias's own format has them."""
    signed: Mapping[str, object] = field(default_factory=dict)
    """What a signature says of it."""
    clusters: Mapping[str, Clusters] = field(default_factory=dict)
    """By id, those that the answers were made of, where they were."""
