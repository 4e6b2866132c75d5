"""Sentence pairs without a corpus: what an aligner may learn from."""

from __future__ import annotations

from pathlib import Path

from mtbias.errors import DataError

SEPARATOR = " ||| "


def read_bitext(path: Path) -> list[tuple[str, str]]:
    """(source, target) of every ``source ||| target`` line; lines with an empty side are passed over.

    Raises:
        DataError: no such file, not UTF-8, or a line without the separator.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DataError("there is no such file; check the path", path=path) from None
    except UnicodeDecodeError as error:
        raise DataError(f"the file is not UTF-8: {error.reason}", path=path) from None
    pairs = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        source, separator, target = line.rstrip("\r").partition(SEPARATOR.rstrip())
        if not separator:
            raise DataError("expected 'source ||| target'", path=path, line=number)
        if source.strip() and target.strip():
            pairs.append((source.strip(), target.strip()))
    return pairs
