"""Documents of coreference: those of a data set as systems take them, and what systems find in
them. Needs no numpy.

A data set is written as **CoNLL-2012** (a document each, part 0, 12 columns; parses, parts of
speech and speakers have what stands for none), as **JSON lines** (`id`, `text`, `tokens`, and what
e2e-coref takes: `doc_key`, `sentences`, `speakers` and `clusters`, which are empty unless gold ones
are asked for), or as **text**: a line for each document, or a file for each, whose name is the id
with other signs for those that file names cannot have.

In a CoNLL-2012 file a document is between ``#begin document (NAME); part 000`` and ``#end
document``; a blank line ends a sentence; a word is a line of columns separated by white space, the
word itself in the fourth. The last column opens and closes mentions: ``(3`` opens one of cluster 3,
``3)`` closes it, ``(3)`` is one of a single word, ``|`` separates, ``-`` (or ``_``) is none. A
cluster that is open twice closes its latest mention first, as in the shared task's scorer. Indices
of words count from 0 through the whole document; both ends of a mention are included.

Source: Pradhan et al., *CoNLL-2012 Shared Task*.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import chain, pairwise
from json import dumps
from pathlib import Path
from typing import Literal, get_args

from mtbias.errors import DataError
from mtbias.files.reading import TextFile, read_text, split_lines
from mtbias.types import JsonObject, Span, frozen

Mention = tuple[int, int]
"""The first and the last word, both included."""
Cluster = tuple[Mention, ...]
Clusters = tuple[Cluster, ...]
"""The mentions of each entity; an entity of one mention counts too, as in the shared task's
scorer."""

WORD, TAG = 3, 4
"""The columns of the word and of its part of speech."""
NO_TAG = "XX"
"""The part of speech that is written for a word without one."""
NO_TAGS = frozenset({NO_TAG, "-", "_", "*"})
"""The values that files have for a word without a part of speech."""

_BEGIN = re.compile(
    r"#\s*begin document\s+(?:\((?P<name>.*)\);\s*part\s+(?P<part>[0-9]{1,9})|(?P<other>\S.*?))\s*"
)
_END = re.compile(r"#\s*end document\b.*")
_LINK = re.compile(r"(?P<opens>\()?(?P<cluster>[0-9]+)(?P<closes>\))?")
_NONE = {"-", "_"}


@frozen
class ConllDocument:
    """One document."""

    name: str
    part: int
    sentences: tuple[tuple[tuple[str, ...], ...], ...]
    """The columns of each word of each sentence."""
    clusters: Clusters
    """In the order in which they open; mentions in the order in which they close."""
    line: int
    """1-based line of its beginning."""

    @property
    def id(self) -> str:
        """Its name; parts after part 0 have ``#`` and their number behind it."""
        return f"{self.name}#{self.part}" if self.part else self.name

    @property
    def words(self) -> tuple[str, ...]:
        """The words of all sentences."""
        return tuple(columns[WORD] for columns in chain.from_iterable(self.sentences))


@frozen
class ConllFile:
    """The documents of one file, in its order."""

    file: TextFile
    documents: tuple[ConllDocument, ...]


def read_conll(path: Path) -> ConllFile:
    """The documents of the CoNLL-2012 file at `path`.

    Raises:
        DataError: no such file, not UTF-8, or empty; a line outside a document, or a document that
            does not end; a word line of fewer than five columns, or of another number than its
            sentence; a last column that is not a list of mentions; a mention that closes without
            having opened, or the reverse; two documents of one name and part.
    """
    file = read_text(path)
    return ConllFile(file, parse_conll(file))


def parse_conll(file: TextFile) -> tuple[ConllDocument, ...]:
    """The documents of `file`.

    Raises:
        DataError: as `read_conll`.
    """
    documents: list[ConllDocument] = []
    begun: dict[str, int] = {}
    for line, name, part, rows in _split(file):
        document = ConllDocument(name, part, _sentences(file, rows), _clusters(file, rows), line)
        if document.id in begun:
            raise file.error(
                f"expected document {document.id!r} once, got it again; it began on line "
                f"{begun[document.id]}",
                line,
            )
        begun[document.id] = line
        documents.append(document)
    return tuple(documents)


def repeated(clusters: Clusters) -> int:
    """How many mentions of `clusters` repeat one of the same cluster or of an earlier one."""
    return sum(map(len, clusters)) - len(set(chain.from_iterable(clusters)))


def without_repeated(clusters: Clusters) -> Clusters:
    """`clusters` without repeated mentions; clusters of nothing else are dropped.

    The shared task's scorer does the same to a system's output ("Repeated mention"): it keeps the
    first one.
    """
    seen: set[Mention] = set()
    distinct: list[Cluster] = []
    for cluster in clusters:
        new = tuple(mention for mention in dict.fromkeys(cluster) if mention not in seen)
        seen.update(new)
        if new:
            distinct.append(new)
    return tuple(distinct)


_Row = tuple[int, tuple[str, ...]]
"""A line's number and its columns; none where it is blank."""


def _split(file: TextFile) -> Iterator[tuple[int, str, int, list[_Row]]]:
    """The line, name, part and rows of each document."""
    begin: tuple[int, str, int] | None = None
    rows: list[_Row] = []
    for number, content in enumerate(split_lines(file.text), start=1):
        text = content.strip()
        if header := _BEGIN.fullmatch(text):
            if begin is not None:
                raise file.error(
                    "expected #end document, got a new document; that of line "
                    f"{begin[0]} is still open",
                    number,
                )
            begin = number, header["name"] or header["other"] or "", int(header["part"] or 0)
            rows = []
        elif begin is not None and _END.fullmatch(text):
            yield *begin, rows
            begin = None
        elif begin is None:
            if text:
                raise file.error(
                    f"expected #begin document (NAME); part 000, got {text[:40]!r}", number
                )
        else:
            rows.append((number, tuple(text.split())))
    if begin is not None:
        raise file.error(
            "expected #end document, got the end of the file inside this document", begin[0]
        )


def _sentences(file: TextFile, rows: list[_Row]) -> tuple[tuple[tuple[str, ...], ...], ...]:
    sentences: list[list[tuple[str, ...]]] = [[]]
    for line, columns in rows:
        if not columns:
            sentences.append([])
            continue
        if len(columns) <= WORD + 1:
            message = "expected 5 columns or more (the word in the 4th, clusters in the last)"
            raise file.error(f"{message}, got {len(columns)}", line)
        width = len(sentences[-1][0]) if sentences[-1] else len(columns)
        if len(columns) != width:
            message = f"expected {width} columns, as in the sentence's first line"
            raise file.error(f"{message}, got {len(columns)}", line)
        sentences[-1].append(columns)
    return tuple(tuple(sentence) for sentence in sentences if sentence)


def _clusters(file: TextFile, rows: list[_Row]) -> Clusters:
    words = [(line, columns[-1]) for line, columns in rows if columns]
    mentions = MentionsByWord()
    for at, (line, last) in enumerate(words):
        for part in last.split("|") if last not in _NONE else ():
            link = _LINK.fullmatch(part)
            if link is None or not (link["opens"] or link["closes"]):
                message = "last column: expected mentions such as (3, 3) or (3), or - for none"
                raise file.error(f"{message}, got {last!r}", line)
            mentions.add(link["cluster"], at, begins=bool(link["opens"]), ends=bool(link["closes"]))
    return mentions.clusters(lambda at: file.error(f"last column: {BROKEN}", words[at][0]))


BROKEN = "expected mentions that begin and end in their document, got one that does not"


class MentionsByWord:
    """Collects mentions from words that each say where a mention of a cluster begins or ends."""

    def __init__(self) -> None:
        self._mentions: dict[str, list[Mention]] = {}
        self._open: dict[str, list[int]] = {}
        self._wrong: list[int] = []

    def add(self, cluster: str, at: int, *, begins: bool, ends: bool, empty: bool = False) -> None:
        """Add that a mention of `cluster` begins, ends or both at the word `at`.

        `empty`: at an empty node before that word. As in the shared task's scorer the mention that
        began last ends first, so mentions of one cluster can be nested. A mention without any word
        is left out.
        """
        starts = self._open.setdefault(cluster, [])
        if begins:
            self._mentions.setdefault(cluster, [])
            starts.append(at)
        if ends and starts:
            mention = starts.pop(), at - empty
            self._mentions[cluster] += [mention] if mention[0] <= mention[1] else []
        elif ends:
            self._wrong.append(at)

    def clusters(self, error: Callable[[int], DataError]) -> Clusters:
        """The mentions of each cluster, clusters in the order in which they open.

        Raises:
            DataError: `error` of the first word where a mention begins that does not end, or the
                reverse.
        """
        wrong = [*self._wrong, *chain.from_iterable(self._open.values())]
        if wrong:
            raise error(min(wrong))
        return tuple(tuple(mentions) for mentions in self._mentions.values() if mentions)


DatasetName = Literal["winobias", "winogender", "gap", "counter-gap", "bug", "sowinobias", "conll"]
DATASETS: tuple[DatasetName, ...] = get_args(DatasetName)
DESCRIBED: tuple[DatasetName, ...] = (
    "gap",
    "winobias",
    "winogender",
    "counter-gap",
    "sowinobias",
)  # bug is a corpus, and described as one

Format = Literal["conll", "jsonl", "text"]
"""In which a data set is written for a system."""

Spans = Literal["included", "excluded", "characters"]
"""What the two numbers of a mention count: tokens from 0, the second is the last one or the one
behind it; or characters from 0, the second is the one behind the last."""

_NO_BLANK_BEFORE = re.compile(r" (?=(?:[.,;:!?)\]]|'s|'S|n't|'re|'ve|'ll|'d|'m)(?: |$))")


@frozen
class CorefText:
    """One document of a data set."""

    id: str
    tokens: tuple[str, ...]
    text: str
    """The tokens in their order, whatever blanks are between them."""
    gold: Clusters
    """The right clusters of the mentions that are scored; none if the pronoun means nobody."""
    sentence_ends: tuple[int, ...] = ()
    """The last token of each sentence but the last."""
    pronoun: Mention | None = None
    """The pronoun that is scored; None if all mentions are."""
    group: str = ""
    """The same for documents that differ in gender or stereotype alone; empty for a document
    without such counterparts."""

    @property
    def sentences(self) -> tuple[tuple[str, ...], ...]:
        """The tokens of each sentence."""
        bounds = [0, *(end + 1 for end in self.sentence_ends), len(self.tokens)]
        return tuple(self.tokens[a:b] for a, b in pairwise(bounds))

    def places(self, mentions: Iterable[Mention]) -> tuple[Span, ...]:
        """The spans of mentions in the text, in its order.

        A token that the text does not have as it is written has an empty span.
        """
        at, tokens = 0, []
        for token in self.tokens:
            start = self.text.find(token, at)
            at = at if start < 0 else start + len(token)
            tokens.append(Span(at if start < 0 else start, at))
        return tuple(
            sorted({Span(tokens[start].start, tokens[end].end) for start, end in mentions})
        )

    @property
    def file_name(self) -> str:
        """The name of its file, where each document has one."""
        return re.sub(r"[^\w.-]+", "_", self.id) + ".txt"


def joined(tokens: Iterable[str]) -> str:
    """Tokens as a text: without blanks before what is written onto the word before it."""
    return _NO_BLANK_BEFORE.sub("", " ".join(token for token in tokens if token))


def tokens_at(spans: Sequence[Span], span: Span) -> Mention:
    """The first and the last token of `span`, given the spans of all tokens."""
    at = [n for n, token in enumerate(spans) if token.overlaps(span)]
    return at[0], at[-1]


def exported(texts: Sequence[CorefText], form: Format, *, gold: bool = False) -> Iterator[str]:
    """The lines of a file of `texts`; `gold`: with the right clusters, of what the data set asks
    about alone.
    """
    for text in texts:
        clusters = text.gold if gold else ()
        if form == "conll":
            yield from _conll(text, clusters)
        elif form == "jsonl":
            speakers = [["-"] * len(sentence) for sentence in text.sentences]
            line: dict[str, object] = {
                "id": text.id,
                "doc_key": text.id,
                "text": text.text,
                "tokens": text.tokens,
            }
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
            is_last = number == len(sentence) - 1
            tree = ("(TOP" if number == 0 else "") + "*" + (")" if is_last else "")
            last = "|".join(links[at]) or "-"
            none = ["-"] * 4
            yield "\t".join([text.id, "0", str(number), token, NO_TAG, tree, *none, "*", last])
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
    spans: Spans | None = "included"
    """What the mentions count, if the format says so; None for plain pairs of numbers."""
    other_clusters: Clusters | None = None
    """The ``clusters`` of a document that has ``predicted_clusters`` too."""

    def error(self, message: str) -> DataError:
        """An error in this document: to be raised where it is found."""
        return DataError(
            message if self.id is None else f"id {self.id!r}: {message}",
            path=self.path,
            line=self.line,
        )


@frozen
class Answers:
    """A system's answers to the documents of a data set."""

    of: JsonObject
    """By id: its clusters, or the answer to the data set's question that they give."""
    files: Mapping[str, str]
    """SHA-256 by name of the file."""
    notes: tuple[str, ...] = ()
    """How its files were read, if they are not in mtbias's own format."""
    signed: Mapping[str, object] = field(default_factory=dict)
    """What a signature says about it."""
    clusters: Mapping[str, Clusters] = field(default_factory=dict)
    """By id, the clusters that the answers come from; empty for labels."""
