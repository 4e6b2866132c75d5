"""Word vectors in word2vec's text format, normalised to length 1."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from mtbias.errors import DataError
from mtbias.files.special_files import open_input
from mtbias.stats.results import Floats


@dataclass(frozen=True)
class Vectors:
    """Words and their unit vectors, in the order of the file (the most frequent first, as a rule)."""

    words: tuple[str, ...]
    matrix: Floats
    """``[words, dimensions]``; each row of length 1."""
    sha256: str = ""
    repeated: int = 0
    """Words that stood in the file already: the first one counts."""
    zeros: int = 0
    """Vectors of length 0, which have no direction and are left out."""
    path: Path | None = None

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
    """Read word2vec's text format: a word and its numbers a line, blanks between; the first line may be "n dimensions".

    A word may have blanks inside; the numbers are the last ones of the line. `limit`: read only so many words.

    Raises:
        DataError: no such file; not UTF-8; a line with another number of numbers; something that is no finite number;
            fewer words than the first line says (without `limit`); no words.
    """
    words: dict[str, None] = {}
    rows: list[Floats] = []
    repeated = zeros = read = 0
    header: tuple[int, int] | None = None
    digest = hashlib.sha256()
    for line, raw in _lines(path):
        digest.update(raw)
        try:
            text = raw.decode("utf-8").removeprefix("\ufeff" if line == 1 else "").rstrip("\r\n ")
        except UnicodeDecodeError:
            message = "not UTF-8; save the vectors as text, not in word2vec's binary format"
            raise DataError(message, path=path, line=line) from None
        if line == 1 and (header := _header(text)):
            continue
        if not text.strip() or (limit is not None and read >= limit):
            continue
        read += 1
        expected = header[1] if header else len(rows[0]) if rows else None
        word, numbers = _row(text, expected, path, line)
        if word in words:
            repeated += 1
        elif not numbers.any():
            zeros += 1
        else:
            words[word] = None
            rows.append(numbers)
    if not rows:
        raise DataError("no vectors in the file", path=path)
    if header and limit is None and read != header[0]:
        raise DataError(f"the first line promises {header[0]} words, the file has {read}; is it cut off?", path=path)
    matrix = np.stack(rows)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return Vectors(tuple(words), matrix, digest.hexdigest(), repeated, zeros, path)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Line by line: such files are larger than memory often is."""
    try:
        with open_input(path) as file:
            yield from enumerate(file, start=1)
    except FileNotFoundError:
        raise DataError("there is no such file; check the path", path=path) from None
    except OSError as error:
        raise DataError(f"the file cannot be read: {error.strerror or error}", path=path) from error
    except ValueError as error:  # no regular file
        raise DataError(str(error), path=path) from None


def _header(text: str) -> tuple[int, int] | None:
    fields = text.split()
    if len(fields) == 2 and all(field.isascii() and field.isdigit() for field in fields):
        return int(fields[0]), int(fields[1])
    return None


def _row(text: str, expected: int | None, path: Path, line: int) -> tuple[str, Floats]:
    if expected is None:
        word, _, rest = text.partition("\t" if "\t" in text else " ")
        fields = rest.split()
    else:
        word, *fields = text.rsplit(None, expected)
    if not word or not fields or len(fields) != (expected or len(fields)):
        wanted = "a word and numbers" if expected is None else f"a word and {expected} numbers"
        raise DataError(f"expected {wanted}, got {text[:40]!r}", path=path, line=line)
    try:
        numbers = np.array(fields, dtype=np.float64)
    except ValueError:
        numbers = np.array([np.nan])
    if not np.isfinite(numbers).all():
        raise DataError(f"expected finite numbers behind the word {word!r}, got others", path=path, line=line)
    return word, numbers
