"""Sentence pairs without a corpus: what an aligner may learn from."""

from __future__ import annotations

from pathlib import Path

from mtbias.errors import DataError
from mtbias.files.reading import read_text, split_lines

SEPARATOR = " ||| "
"""Between source and target on a line."""


def read_bitext(path: Path) -> list[tuple[str, str]]:
    """(source, target) of every ``source ||| target`` line; lines with an empty side are passed over.

    Raises:
        DataError: no such file, not UTF-8, or a line without the separator.
    """
    pairs = []
    for number, line in enumerate(split_lines(read_text(path, allow_empty=True).text), 1):
        if not line.strip():
            continue
        source, separator, target = line.partition(SEPARATOR.rstrip())
        if not separator:
            raise DataError("expected 'source ||| target'", path=path, line=number)
        if source.strip() and target.strip():
            pairs.append((source.strip(), target.strip()))
    return pairs
