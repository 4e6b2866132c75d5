"""Texts whose characters were damaged on the way: what is certain is undone, and what is left is told apart.

* encoding: UTF-8 that was read as Windows-1252 or Latin-1 and saved again ("mÃ©dico"), up to three times. It is undone
  where every character goes back to a byte and all bytes are valid UTF-8; the five bytes that Windows-1252 leaves open
  stand for themselves, as in the WHATWG encoding. Where fewer than four characters beyond ASCII come out, which chance
  could make, they must be letters or signs of a language that mtbias knows, and no word may mix scripts.
* entities: character references of HTML that end with a semicolon ("&quot;", "&#233;").
* composed: Unicode that is not in its composed form (NFC), as macOS and some exports write it.

Damaged is what shows such a history and cannot be undone: a byte is lost ("Ã " for "à"), or a letter was replaced by
U+FFFD or a question mark.
"""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from itertools import compress

KINDS = ("encoding", "entities", "composed")
"""What can be undone."""
_ROUNDS = 3
_CHANCE = 4
"""So many characters beyond ASCII are valid UTF-8 by chance too rarely to ask which they are."""

# Windows-1252, with the five bytes that it leaves open standing for themselves; Latin-1 reads 0x80 to 0x9F as controls.
_TO_BYTE = {chr(byte): byte for byte in range(0x80, 0xA0)} | {
    bytes([byte]).decode("cp1252", errors="ignore") or chr(byte): byte for byte in range(256)
}
_CONTINUATIONS = "".join(re.escape(char) for char, byte in _TO_BYTE.items() if 0x80 <= byte <= 0xBF)
_SEEN = re.compile(rf"[Â-ô][{_CONTINUATIONS}]")
_DAMAGE = re.compile(
    rf"[ÂÃÄÅÐ×Øâ][{_CONTINUATIONS}]|[ÑÙ][{_CONTINUATIONS}](?!\s|$)|(?<![A-ZÀ-Þ])[ÂÃ](?=\s|$)|[\x80-\x9f\ufffd]"
    r"|[^\W\d_]\?[^\W\d_]|\?{3}"
)
_PLAUSIBLE = re.compile("[\xa0-\xffĀ-ſȘ-țЀ-џҐґ\u05b0-\u05f4\u060c-\u0670\u200b-\u200f\u2010-\u2044\u20a0-\u20bf™№]*")
_MIXED = re.compile(r"[A-Za-z\xc0-ſ][Ѐ-ӿ\u0590-\u06ff]|[Ѐ-ӿ\u0590-\u06ff][A-Za-z\xc0-ſ]")
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


@dataclass(frozen=True, slots=True)
class Repaired:
    """A text as it was before it was damaged, as far as that is certain."""

    text: str
    kinds: tuple[str, ...] = ()
    """What was undone, of `KINDS`."""
    damaged: bool = False
    """Whether `text` still shows damage."""


def repair(text: str) -> Repaired:
    """Undo what is certain of the damage to a text; a text without damage is returned as it is."""
    plain = _REFERENCE.sub(lambda match: html.unescape(match[0]), text) if "&" in text else text
    decoded = without_mojibake(plain)
    composed = unicodedata.normalize("NFC", decoded)
    undone = (decoded != plain, plain != text, composed != decoded)
    return Repaired(composed, tuple(compress(KINDS, undone)), is_damaged(composed))


def is_damaged(text: str) -> bool:
    """Whether a text shows damage that `repair` cannot undo."""
    return _DAMAGE.search(text) is not None


def without_mojibake(text: str, *, chance: int = _CHANCE) -> str:
    """Undo the wrong encoding alone; `chance`: so many characters may be what chance has made (0: English has none)."""
    for _ in range(_ROUNDS):
        if text.isascii() or _SEEN.search(text) is None:
            break
        try:
            decoded = bytes(_TO_BYTE[char] for char in text).decode("utf-8")
        except (KeyError, UnicodeDecodeError):
            break
        beyond = [char for char in decoded if not char.isascii()]
        if len(beyond) < chance and (not _PLAUSIBLE.fullmatch("".join(beyond)) or _MIXED.search(decoded)):
            break
        text = decoded
    return text
