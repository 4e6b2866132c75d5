"""Word vectors in word2vec's text format, read, normalised to length 1, and written; and the lists
of words.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from functools import cached_property
from importlib import resources
from itertools import chain
from math import isfinite, nan
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from mtbias.errors import DataError
from mtbias.files.reading import open_input, parse_toml, read_text, unreadable
from mtbias.files.strict_json import EXACT
from mtbias.stats.results import Floats


@dataclass(frozen=True)
class Vectors:
    """Words and their unit vectors, in the order of the file (the most frequent first, as a
    rule).
    """

    words: tuple[str, ...]
    matrix: Floats
    """``[words, dimensions]``; each row of length 1."""
    lengths: Floats | None = None
    """``[words]``: the lengths that the vectors have in the file; None: they are 1."""
    sha256: str = ""
    repeated: int = 0
    """Words that stood in the file already: the first one counts."""
    zeros: int = 0
    """Vectors of length 0, which have no direction and are left out."""
    path: Path | None = None
    header: bool = False
    """Whether the file's first line has the number of words and of dimensions."""
    separator: str = " "
    """The separator of a word and its numbers in the file: a blank or a tab."""

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each word."""
        return {word: n for n, word in enumerate(self.words)}

    def rows(self, words: Iterable[str]) -> Floats:
        """The vectors of `words`, in their order.

        Raises:
            KeyError: a word has none.
        """
        return self.matrix[[self.index[word] for word in words]]

    def lacking(self, words: Iterable[str]) -> list[str]:
        """Those of `words` that have no vector."""
        return [word for word in words if word not in self.index]


def read_vectors(path: Path, *, limit: int | None = None) -> Vectors:
    """Read word2vec's text format: a word and its numbers a line, blanks between; the first line
    may be "n dimensions".

    A word may have blanks inside; the numbers are the last ones of the line. `limit`: read only so
    many words.

    Raises:
        DataError: no such file; not UTF-8; a line with another number of numbers; something that is
            no finite number; fewer words than the first line says (without `limit`); no words.
    """
    words: dict[str, None] = {}
    values = array(
        "d"
    )  # grows in place: a list of rows would need the memory twice when they are put together
    promised: int | None = None
    dimensions = repeated = zeros = read = 0
    separator = ""
    digest = hashlib.sha256()
    for line, raw in _lines(path):
        digest.update(raw)
        text = _text(raw, path, line)
        if line == 1 and re.fullmatch(r"[0-9]+\s+[0-9]+", text):
            promised, dimensions = map(int, text.split())
        elif text.strip() and (limit is None or read < limit):
            read += 1
            separator = separator or ("\t" if "\t" in text else " ")
            word, numbers = _row(text, separator, dimensions, path, line)
            dimensions = len(numbers)
            if word in words:
                repeated += 1
            elif not any(numbers):
                zeros += 1
            else:
                words[word] = None
                values.extend(numbers)
    if not words:
        raise DataError("no vectors in the file", path=path)
    if promised is not None and limit is None and read != promised:
        raise DataError(
            f"the first line promises {promised} words, the file has {read}; is it cut off?",
            path=path,
        )
    matrix = np.frombuffer(values).reshape(len(words), dimensions)
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
    matrix /= lengths[:, None]
    header = promised is not None
    return Vectors(
        tuple(words), matrix, lengths, digest.hexdigest(), repeated, zeros, path, header, separator
    )


def vector_lines(words: Iterable[str], rows: Iterable[Floats], like: Vectors) -> Iterator[str]:
    """The lines of a file of vectors, one vector of `rows` for each of `words`, in the format that
    `like` came in.

    Numbers have 9 significant digits, which is all of a 32-bit number.
    """
    number_of_words, dimensions = like.matrix.shape
    if like.header:
        yield f"{number_of_words} {dimensions}"
    pattern = " ".join(["%.9g"] * dimensions)
    for word, row in zip(words, rows, strict=True):
        yield word + like.separator + pattern % tuple(row.tolist())


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Line by line: such files are larger than memory often is."""
    try:
        with open_input(path) as file:
            yield from enumerate(file, start=1)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error


def _text(raw: bytes, path: Path, line: int) -> str:
    try:
        return raw.decode("utf-8").removeprefix("\ufeff" if line == 1 else "").rstrip("\r\n ")
    except UnicodeDecodeError:
        message = "not UTF-8; save the vectors as text, not in word2vec's binary format"
        raise DataError(message, path=path, line=line) from None


def _row(
    text: str, separator: str, expected: int, path: Path, line: int
) -> tuple[str, array[float]]:
    """The word and the numbers of a line; `expected` is how many numbers, 0 where no line has shown
    it yet.
    """
    word, _, rest = text.partition(separator)
    fields = rest.split()
    if expected and len(fields) != expected:  # the word may have blanks
        word, *fields = text.rsplit(None, expected)
    if not word or not fields or len(fields) != (expected or len(fields)):
        columns = f"a word and {expected} numbers" if expected else "a word and numbers"
        raise DataError(f"expected {columns}, got {text[:40]!r}", path=path, line=line)
    try:
        numbers = array("d", map(float, fields))
    except ValueError:
        numbers = array("d", [nan])
    if not all(map(isfinite, numbers)):
        raise DataError(
            f"expected finite numbers after the word {word!r}, got others", path=path, line=line
        )
    return word, numbers


EXAMPLE_LISTS = Path(str(resources.files("mtbias.embeddings"))) / "example_words.toml"
"""The lists that come with mtbias: of papers where they could be had, else an example."""

ALL_NEUTRAL: Literal["all neutral"] = "all neutral"
"""In place of a list of GIPE: all words of the vectors but those that tell a gender by their
meaning."""
Word = Annotated[str, Field(min_length=1)]
Words = Annotated[tuple[Word, ...], Field(min_length=1)]
Pair = tuple[Word, Word]
Pairs = Annotated[tuple[Pair, ...], Field(min_length=1)]


@dataclass(frozen=True)
class PairList:
    """Pairs of words; none where the file has no such section, as in the classes below."""

    __pydantic_config__: ClassVar = EXACT
    pairs: Pairs


@dataclass(frozen=True)
class _Once:
    """Lists that have each word once."""

    __pydantic_config__: ClassVar = EXACT

    def __post_init__(self) -> None:
        for name, entries in vars(self).items():
            if entries == ALL_NEUTRAL:
                continue
            words = list(_single_words(entries))
            if twice := [word for n, word in enumerate(words) if word in words[:n]]:
                raise ValueError(
                    f"{name}: expected each word once, got {twice[0]!r} twice; remove one"
                )


def _single_words(entries: Iterable[str | Pair]) -> Iterator[str]:
    """The words of a list of words, or of one of pairs."""
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            yield from entry


@dataclass(frozen=True)
class WordList(_Once):
    """Words of a measure."""

    words: Words


@dataclass(frozen=True)
class ProximityWords(_Once):
    """Words of GIPE."""

    words: Words | Literal["all neutral"]


@dataclass(frozen=True)
class Association(_Once):
    """WEAT with one list of targets."""

    targets: Words
    attributes_1: Words
    attributes_2: Words


@dataclass(frozen=True)
class TwoTargets(_Once):
    """WEAT with two lists of targets."""

    targets_1: Words
    targets_2: Words
    attributes_1: Words
    attributes_2: Words


@dataclass(frozen=True)
class GenderedLists(_Once):
    """Words that tell a gender by their meaning; pairs are equalised, so that no word can be in two
    of them.
    """

    pairs: Pairs = ()
    words: Words = ()


@dataclass(frozen=True)
class Sections:
    """What a file may have. A section may be absent, except ``direction``."""

    __pydantic_config__: ClassVar = EXACT
    direction: PairList
    direct: WordList = WordList(())
    indirect: PairList = PairList(())
    weat: Mapping[str, Association] = field(default_factory=dict)
    """By the tests' names, as in the next two."""
    weat_two_targets: Mapping[str, TwoTargets] = field(default_factory=dict)
    gipe: Mapping[str, ProximityWords] = field(default_factory=dict)
    gendered: GenderedLists = GenderedLists()


@dataclass(frozen=True)
class WordLists(Sections):
    """The lists, by section, and the hash of their file."""

    sha256: str = ""

    def has(self, measure: str) -> bool:
        """Whether the section that a measure rests on is there; clustering and recoverability rest
        on none.
        """
        section = getattr(self, measure.replace("-", "_"), True)
        return any(vars(section).values()) if is_dataclass(section) else bool(section)

    @property
    def gendered_pairs(self) -> tuple[Pair, ...]:
        """The pairs of ``[gendered]``, each also with capitals (``Woman``, ``WOMAN``): vectors may
        have these too.
        """
        forms: list[Pair] = []
        for feminine, masculine in self.gendered.pairs:
            forms += zip(_capitals(feminine), _capitals(masculine), strict=True)
        return tuple(dict.fromkeys(forms))

    @property
    def gendered_words(self) -> frozenset[str]:
        """All words that tell a gender by their meaning, with capitals too: ``[gendered]`` and
        ``[direction]``.
        """
        pairs = (*self.direction.pairs, *self.gendered.pairs)
        words = (*self.gendered.words, *chain.from_iterable(pairs))
        return frozenset(chain.from_iterable(map(_capitals, words)))


def _capitals(word: str) -> tuple[str, ...]:
    return word, word.lower(), word.capitalize(), word.upper()


def read_lists(path: Path) -> WordLists:
    """Read a TOML file of `Sections`.

    Raises:
        DataError: not TOML; an unknown section or list; one that is not a list of words (or of
            pairs of words) or is empty; an empty word; a word twice in a list of words, or in
            ``[gendered]``; no ``direction``.
    """
    file = read_text(path)
    content = {section.replace("-", "_"): lists for section, lists in parse_toml(file).items()}
    return WordLists(**vars(file.converted(Sections, content)), sha256=file.sha256)
