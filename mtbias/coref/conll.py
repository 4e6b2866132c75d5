"""CoNLL-2012 files: documents, their words, their other columns, and the clusters of the last column.

A document stands between ``#begin document (NAME); part 000`` and ``#end document``; a blank line ends a sentence; a
word is a line of columns separated by white space, the word itself in the fourth. The last column opens and closes
mentions: ``(3`` opens one of cluster 3, ``3)`` closes it, ``(3)`` is one of a single word, ``|`` separates, ``-`` (or
``_``) is none. A cluster that is open twice closes its latest mention first, as in the shared task's scorer.

Indices of words count from 0 through the whole document; both ends of a mention are included.

Source: Pradhan et al., *CoNLL-2012 Shared Task*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from mtbias.errors import DataError
from mtbias.files.reading import TextFile, read_text, split_lines
from mtbias.types import frozen

Mention = tuple[int, int]
"""The first and the last word, both included."""
Cluster = tuple[Mention, ...]
Clusters = tuple[Cluster, ...]
"""The mentions of each entity; an entity of one mention counts too, as in the shared task's scorer."""

WORD = 3
"""The column of the word."""

_BEGIN = re.compile(r"#\s*begin document\s+(?:\((?P<name>.*)\);\s*part\s+(?P<part>[0-9]{1,9})|(?P<other>\S.*?))\s*")
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
        return tuple(columns[WORD] for sentence in self.sentences for columns in sentence)


@frozen
class ConllFile:
    """The documents of one file, in its order."""

    file: TextFile
    documents: tuple[ConllDocument, ...]


def read_conll(path: Path) -> ConllFile:
    """The documents of the CoNLL-2012 file at `path`.

    Raises:
        DataError: no such file, not UTF-8, or empty; a line outside a document, or a document that does not end; a
            word line of fewer than five columns, or of another number than its sentence; a last column that is no
            list of mentions; a mention that closes without having opened, or the reverse; two documents of one name
            and part.
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
                f"expected document {document.id!r} once, got it again; it began on line {begun[document.id]}", line
            )
        begun[document.id] = line
        documents.append(document)
    return tuple(documents)


def repeated(clusters: Clusters) -> int:
    """How many mentions of `clusters` stand there already, in the same cluster or an earlier one."""
    return sum(map(len, clusters)) - len({mention for cluster in clusters for mention in cluster})


def without_repeated(clusters: Clusters) -> Clusters:
    """`clusters` without the mentions that stand there already; clusters of nothing else are dropped.

    The shared task's scorer does the same to a system's output ("Repeated mention"): the first one stands.
    """
    seen: set[Mention] = set()
    kept: list[Cluster] = []
    for cluster in clusters:
        new = tuple(mention for mention in dict.fromkeys(cluster) if mention not in seen)
        seen.update(new)
        if new:
            kept.append(new)
    return tuple(kept)


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
                    f"expected #end document, got a new document; that of line {begin[0]} is still open", number
                )
            begin, rows = (number, header["name"] or header["other"] or "", int(header["part"] or 0)), []
        elif begin is not None and _END.fullmatch(text):
            yield *begin, rows
            begin = None
        elif begin is None:
            if text:
                raise file.error(f"expected #begin document (NAME); part 000, got {text[:40]!r}", number)
        else:
            rows.append((number, tuple(text.split())))
    if begin is not None:
        raise file.error("expected #end document, got the end of the file inside this document", begin[0])


def _sentences(file: TextFile, rows: list[_Row]) -> tuple[tuple[tuple[str, ...], ...], ...]:
    sentences: list[list[tuple[str, ...]]] = [[]]
    for line, columns in rows:
        if not columns:
            sentences.append([])
            continue
        if len(columns) <= WORD + 1:
            message = f"expected 5 columns or more (the word in the 4th, clusters in the last), got {len(columns)}"
            raise file.error(message, line)
        if sentences[-1] and len(columns) != (wanted := len(sentences[-1][0])):
            raise file.error(f"expected {wanted} columns, as in the sentence's first line, got {len(columns)}", line)
        sentences[-1].append(columns)
    return tuple(tuple(sentence) for sentence in sentences if sentence)


def _clusters(file: TextFile, rows: list[_Row]) -> Clusters:
    words = [(line, columns[-1]) for line, columns in rows if columns]
    mentions = MentionsByWord()
    for at, (line, last) in enumerate(words):
        for part in last.split("|") if last not in _NONE else ():
            link = _LINK.fullmatch(part)
            if link is None or not (link["opens"] or link["closes"]):
                message = f"last column: expected mentions such as (3, 3) or (3), or - for none, got {last!r}"
                raise file.error(message, line)
            mentions.add(link["cluster"], at, begins=bool(link["opens"]), ends=bool(link["closes"]))
    return mentions.clusters(lambda at: file.error(f"last column: {BROKEN}", words[at][0]))


BROKEN = "expected mentions that begin and end in their document, got one that does not"


class MentionsByWord:
    """Mentions of which each word says where one of a cluster begins or ends."""

    def __init__(self) -> None:
        self._mentions: dict[str, list[Mention]] = {}
        self._open: dict[str, list[int]] = {}
        self._wrong: list[int] = []

    def add(self, cluster: str, at: int, *, begins: bool, ends: bool, empty: bool = False) -> None:
        """At the word `at` (`empty`: at a place without a word before it) a mention of `cluster` begins, ends, or both.

        The latest ends first: so does the shared task's scorer, and so mentions of one cluster can be nested. One
        without any word is left out.
        """
        opened = self._open.setdefault(cluster, [])
        if begins:
            self._mentions.setdefault(cluster, [])
            opened.append(at)
        if ends and opened:
            mention = opened.pop(), at - empty
            self._mentions[cluster] += [mention] if mention[0] <= mention[1] else []
        elif ends:
            self._wrong.append(at)

    def clusters(self, error: Callable[[int], DataError]) -> Clusters:
        """The mentions of each cluster, clusters in the order in which they open.

        Raises:
            DataError: `error` of the first word where a mention begins that does not end, or the reverse.
        """
        wrong = [*self._wrong, *(at for places in self._open.values() for at in places)]
        if wrong:
            raise error(min(wrong))
        return tuple(tuple(mentions) for mentions in self._mentions.values() if mentions)
