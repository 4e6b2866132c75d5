"""The form of Marian's binary files (little-endian numbers of eight bytes), as far as it takes to
see that a file is whole.
"""

from __future__ import annotations

import re
import struct
from itertools import accumulate
from typing import Any

_CONFIG = "special:model.yml"
"""The tensor that holds the model's configuration."""
_MOST_TENSORS = 100_000
_SHORTLIST_MARK = 0xF11A48D5013417F5
_SHORTLIST_HEAD = struct.Struct("<6Q")
"""Mark, checksum, words by frequency, best words, places where lists begin, entries of all."""


def vocabulary_sizes(model: bytes) -> tuple[int, int]:
    """Pieces of the source's and of the target's vocabulary, as a whole model has them.

    Raises:
        ValueError: the file is shorter or longer than its head says, or of another form; says so.
    """
    try:
        config = _tensors(model)[_CONFIG]
    except (struct.error, UnicodeDecodeError):
        raise ValueError(f"{len(model):,} bytes without a whole head") from None
    except KeyError:
        raise ValueError("one without its configuration") from None
    match = re.search(rb"^dim-vocabs:\s*\n\s*- (\d+)\s*\n\s*- (\d+)\s*$", config, re.MULTILINE)
    if match is None:
        raise ValueError("one that does not say how large its vocabularies are")
    return int(match[1]), int(match[2])


def _tensors(model: bytes) -> dict[str, bytes]:
    """The parameters of a model by name; those called ``special:…`` are text."""
    version, count = struct.unpack_from("<2Q", model)
    if version != 1 or count > _MOST_TENSORS:
        raise ValueError("a file of another form")
    heads = [struct.unpack_from("<4Q", model, 16 + 32 * number) for number in range(count)]
    start = 16 + 32 * count
    names = []
    for length, *_ in heads:
        names.append(model[start : start + length].rstrip(b"\0").decode())
        start += length
    start += 4 * sum(dimensions for _, _, dimensions, _ in heads)
    (padding,) = struct.unpack_from("<Q", model, start)
    begins = list(accumulate((size for *_, size in heads), initial=start + 8 + padding))
    if begins[-1] != len(model):
        raise ValueError(f"{len(model):,} bytes where its head says {begins[-1]:,}")
    places = zip(names, begins[:-1], begins[1:], strict=True)
    return {name: model[begin:end] for name, begin, end in places}


def shortlist_size(shortlist: bytes, vocabulary: int) -> str:
    """``50.50``: how many frequent words, and how many of its own, may translate each word.

    Raises:
        ValueError: its length is another than its head says, or it is not of a vocabulary of so
            many pieces; says so.
    """
    if len(shortlist) < _SHORTLIST_HEAD.size:
        raise ValueError(f"{len(shortlist):,} bytes without a whole head")
    mark, _, frequent, best, places, entries = _SHORTLIST_HEAD.unpack_from(shortlist)
    if mark != _SHORTLIST_MARK:
        raise ValueError("a file of another form")
    length = _SHORTLIST_HEAD.size + 8 * places + 4 * entries
    if len(shortlist) != length:
        raise ValueError(f"{len(shortlist):,} bytes where its head says {length:,}")
    if places != vocabulary + 1:  # where each list begins, and where the last one ends
        raise ValueError(f"lists for {places - 1:,} pieces where the model has {vocabulary:,}")
    return f"{frequent}.{best}"


def open_vocabulary(vocabulary: bytes, pieces: int) -> Any:  # noqa: ANN401 - it has no types
    """A vocabulary as sentencepiece opens it.

    Raises:
        ValueError: it is none, or has not as many pieces; says so.
    """
    import sentencepiece

    if not vocabulary:  # sentencepiece would take it, and complain later
        raise ValueError("an empty file")
    try:
        processor = sentencepiece.SentencePieceProcessor(model_proto=vocabulary)
    except RuntimeError:
        raise ValueError(f"{len(vocabulary):,} bytes that are no vocabulary") from None
    if processor.get_piece_size() != pieces:
        raise ValueError(f"{processor.get_piece_size():,} pieces where the model has {pieces:,}")
    return processor
