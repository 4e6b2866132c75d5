"""Trees from CoNLL-U, one sentence after the other, so that a file of any size is read."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from mtbias.errors import DataError
from mtbias.files.special_files import open_input
from mtbias.mining.parsed_sentence import Node, ParsedSentence
from mtbias.types import Span

COLUMNS = 10
"""Of CoNLL-U."""


def read_trees(path: Path) -> Iterator[tuple[int, ParsedSentence]]:
    """The sentences of the CoNLL-U file `path` (gzipped, if it ends in ``.gz``), each with the line of its first word.

    The text of a sentence is that of its tokens: with no space after a token that says ``SpaceAfter=No``. Empty nodes
    (``2.1``) are left out.

    Raises:
        DataError: no such file; bytes that are not UTF-8; a line of words without ten columns; an id out of turn; a
            head that is no word of the sentence.
    """
    lines: list[tuple[int, str]] = []
    for number, line in _lines(path):
        if line.strip():
            lines.append((number, line))
            continue
        yield from _tree_of(lines, path)
        lines = []
    yield from _tree_of(lines, path)


def _tree_of(lines: Sequence[tuple[int, str]], path: Path) -> Iterator[tuple[int, ParsedSentence]]:
    words = [number for number, line in lines if not line.startswith("#")]
    if words:
        yield words[0], read_tree(lines, path)


def read_tree(lines: Iterable[tuple[int, str]], path: Path) -> ParsedSentence:
    """The sentence of a block of lines of CoNLL-U, each with its number in the file `path`, which messages name.

    Raises:
        DataError: as `read_trees`.
    """
    words: list[tuple[int, list[str]]] = []
    for number, line in lines:
        if line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) != COLUMNS:
            raise DataError(f"expected the {COLUMNS} columns of CoNLL-U, got {len(columns)}", path=path, line=number)
        words.append((number, columns))
    return _sentence(words, path)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        with open_input(path) as raw, gzip.open(raw) if path.suffix == ".gz" else raw as file:
            for number, line in enumerate(file, start=1):
                yield number, line.removeprefix(codecs.BOM_UTF8).decode("utf-8").rstrip("\r\n")
    except FileNotFoundError:
        raise DataError("there is no such file; check the path", path=path) from None
    except UnicodeDecodeError as error:
        raise DataError(f"the line is not UTF-8 ({error.reason}); save it as UTF-8", path=path, line=number) from None
    except (OSError, EOFError, ValueError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"the file cannot be read: {reason}", path=path) from None


def _sentence(lines: list[tuple[int, list[str]]], path: Path) -> ParsedSentence:
    nodes: list[Node] = []
    text, inside = "", 0
    span = Span(0, 0)
    words = sum(columns[0].isdecimal() for _, columns in lines)
    for number, columns in lines:
        name, form, lemma, upos, xpos, feats, head, label, _, misc = columns
        first, hyphen, last = name.partition("-")
        if "." in name:
            continue
        if not (first.isdecimal() and int(first) == len(nodes) + 1 and (last.isdecimal() if hyphen else True)):
            raise DataError(f"expected the word {len(nodes) + 1}, got the id {name!r}", path=path, line=number)
        if hyphen or not inside:
            span = Span(len(text), len(text) + len(form))
            text += form + " " * ("SpaceAfter=No" not in misc.split("|"))
        if hyphen:
            inside = int(last) - int(first) + 1
            continue
        inside = max(inside - 1, 0)
        if not (head.isdecimal() and int(head) <= words):
            raise DataError(f"expected a head from 0 to {words}, got {head!r}", path=path, line=number)
        pairs = tuple((key, value) for key, _, value in (f.partition("=") for f in feats.split("|")) if value)
        nodes.append(Node(form, upos, label, int(head) - 1, span, _given(lemma), _given(xpos), pairs))
    return ParsedSentence(text.rstrip(" "), tuple(nodes))


def _given(column: str) -> str | None:
    return None if column == "_" else column
