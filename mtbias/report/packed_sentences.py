"""Texts coded small, for a page of 105,687 sentences: a vocabulary, codes of one to three bytes, deflate, base 85.

``page.js`` reads what is written here.
"""

from __future__ import annotations

import base64
import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

BLOCK = 1024
"""Rows that are coded together, and unpacked when one of them is shown."""

_FREQUENT = 1 << 14
_FIRST_WORD = 4
_LONGEST_PREFIX = 27

_Item = TypeVar("_Item")


def stream(rows: Sequence[_Item], tokens: Callable[[_Item], Iterable[str | int]]) -> dict[str, Any]:
    """Rows of tokens (words, or codes of marks) as a vocabulary and blocks of rows that can be read one by one."""
    numbers: dict[str | int, int] = {}
    numbered = [array("I", [numbers.setdefault(t, len(numbers)) for t in tokens(row)]) for row in rows]
    counts = np.bincount(np.concatenate([np.zeros(0, np.uint32), *numbered]), minlength=len(numbers))
    words = [(n, word) for word, n in numbers.items() if isinstance(word, str)]
    words.sort(key=lambda item: -counts[item[0]])
    words[_FREQUENT:] = sorted(words[_FREQUENT:], key=lambda item: item[1])  # like beside like takes less place
    codes = [bytes((token,)) if isinstance(token, int) else b"" for token in numbers]
    for code, (n, _) in enumerate(words, _FIRST_WORD):
        codes[n] = _code(code)
    coded = [b"".join([codes[n] for n in row]) + b"\0" for row in numbered]
    blocks = [packed(b"".join(coded[i : i + BLOCK])) for i in range(0, len(coded), BLOCK)]
    return {"words": packed(_front_coded(word for _, word in words).encode()), "blocks": blocks}


def _code(number: int) -> bytes:
    """One byte below 128, two below 24,704, else three."""
    if number < 128:
        return bytes((number,))
    if number < 128 + 96 * 256:
        return (number - 128 + 0x8000).to_bytes(2)
    return (number - 128 - 96 * 256 + 0xE00000).to_bytes(3)


def _front_coded(words: Iterable[str]) -> str:
    """Each word as a control character (how many letters it shares with the word before) and the rest of it."""
    parts, last = [], ""
    for word in words:
        pairs = enumerate(zip(last[:_LONGEST_PREFIX], word, strict=False))
        # JavaScript counts letters beyond U+FFFF twice, so none is shared.
        same = next((i for i, (a, b) in pairs if a != b or a > "\uffff"), min(len(last), len(word), _LONGEST_PREFIX))
        parts.append(chr(same) + word[same:])
        last = word
    return "".join(parts)


def packed(data: bytes) -> str:
    """Raw deflate in base 85 with ``.`` for ``<``, so that it can stand in a page."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.b85encode(deflate.compress(data) + deflate.flush()).decode().replace("<", ".")
