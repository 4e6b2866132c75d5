"""Sentence pairs without a corpus, from which an aligner may learn."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

from mtbias.files.encodings import without_mojibake
from mtbias.files.reading import TextFile, read_text
from mtbias.files.text_repair import repair

SEPARATOR = " ||| "
"""Between source and target on a line."""


def read_bitext(path: Path) -> list[tuple[str, str]]:
    """(source, target) of every ``source ||| target`` line; lines with an empty side are passed
    over.

    Raises:
        DataError: no such file, not UTF-8, empty, or a line without the separator.
    """
    return parse_bitext(read_text(path))


def parse_bitext(file: TextFile) -> list[tuple[str, str]]:
    """`read_bitext` for a file that is in memory.

    Raises:
        DataError: a line without the separator.
    """
    pairs = []
    for number, line in file.filled_lines():
        source, separator, target = line.partition(SEPARATOR.rstrip())
        if not separator:
            message = (
                f"expected 'source ||| target', got {line[:60]!r}; "
                "write the bars between source and target"
            )
            raise file.error(message, number)
        if source.strip() and target.strip():
            pairs.append((source.strip(), target.strip()))
    return pairs


@lru_cache(maxsize=2**14)  # the same source comes again and again, and repairing is slow
def normalised_text(text: str) -> str:
    """`text` repaired and with its white space collapsed, so that two copies of a sentence are
    equal.
    """
    return " ".join(repair(without_mojibake(text, chance=0)).text.split())


def holds_source(target: str, own: str, sources: Collection[str]) -> bool:
    """Whether `target` holds its `own` source, or any of the `sources` before a tab or bars, and
    something else.

    A target that is its source alone was not translated, and counts as a target.
    """
    text = normalised_text(target)
    first, mark, _ = target.replace("|||", "\t").partition("\t")
    if mark and normalised_text(first) in sources:
        return True
    return bool(own) and own in text and any(char.isalpha() for char in text.replace(own, "", 1))
