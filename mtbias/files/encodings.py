"""Repair of texts in UTF-8 that were read in another encoding and saved again ("mÃ©dico").

The repair is certain where every character is a byte of that encoding, all bytes together are valid
UTF-8, and either no other code page gives another text or the page of the file is known. Bytes that
a code page leaves open are taken as they are, as in the WHATWG encodings. Fewer than four
characters beyond ASCII could come out by chance: they must then be letters or signs of a language
that mtbias knows, and no word may mix scripts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice

_ROUNDS = 3
_SAMPLE = 1000
"""Texts beyond ASCII from which the code page of a file is inferred."""
_CHANCE = 4
"""From this many characters beyond ASCII on, valid UTF-8 is not an accident, whichever they are."""
_FIRST_BYTES, _FURTHER_BYTES = range(0xC2, 0xF5), range(0x80, 0xC0)
"""The bytes that begin a character of UTF-8 beyond ASCII, and those that follow."""
_OF_WINDOWS = (1250, 1251, 1253, 1254, 1255, 1256, 1257, 1258, 874)
_OF_MACINTOSH = (
    "roman",
    "cyrillic",
    "greek",
    "latin2",
    "turkish",
    "iceland",
    "croatian",
    "romanian",
)
_OF_DOS = (437, 720, 737, 775, 850, 852, *range(855, 859), *range(860, 867), 869)
_ISO_8859_PARTS = (*range(2, 12), *range(13, 17))
_CODE_PAGES = (
    *(f"cp{number}" for number in _OF_WINDOWS),
    *(f"mac_{name}" for name in _OF_MACINTOSH),
    *(f"cp{number}" for number in _OF_DOS),
    *("cp1006", "cp1125", "koi8_r", "koi8_u", "koi8_t", "kz1048", "ptcp154", "hp_roman8"),
    *(f"iso8859_{part}" for part in _ISO_8859_PARTS),
)
"""Code pages of one byte a character, beside Windows-1252 and Latin-1."""
_OF_SEVERAL_BYTES = ("cp949", "gb18030", "big5hkscs", "cp932", "euc_jp", "johab")
"""Encodings of East Asia."""
_TWO_BEYOND_ASCII = re.compile(r"[^\0-\x7f].", re.DOTALL)
"""The first character beyond ASCII and the next one, which is none of ASCII in what UTF-8
became."""
_EAST_ASIAN = re.compile("[\u2e80-\ud7ff\uf900-\ufaff\uff61-\uffee\U00020000-\U0002ffff]")
_PLAUSIBLE = re.compile(
    "[\xa0-\xffĀ-ſȘ-țЀ-џҐґ\u05b0-\u05f4\u060c-\u0670\u200b-\u200f\u2010-\u2044\u20a0-\u20bf™№]*"
)
_USUAL = re.compile("[áéíóúàèìòùâêîôûäëïöüñçßа-яёґєії\u05d0-\u05ea\u0621-\u064a]")
"""The small letters with marks that most languages in Latin letters have, and other scripts'."""
_MIXED = re.compile("[A-Za-z\xc0-ſ][Ѐ-ӿ\u0590-\u06ff]|[Ѐ-ӿ\u0590-\u06ff][A-Za-z\xc0-ſ]")


def without_mojibake(text: str, *, chance: int = _CHANCE) -> str:
    """Undo Windows-1252 and Latin-1 alone, up to three times.

    Args:
        text: perhaps damaged.
        chance: fewer characters beyond ASCII than this may be an accident (0: none ever is).
    """
    for _ in range(_ROUNDS):
        if text.isascii() or _SEEN_IN_WINDOWS_1252.search(text) is None:
            break
        decoded = _read_again(text, _WINDOWS_1252, chance)
        if decoded is None:
            break
        text = decoded
    return text


def in_the_right_encoding(text: str, pages: Collection[str] = ()) -> str:
    """Undo any encoding that Python knows; a text of which several code pages make different ones
    stays as it is.

    Args:
        text: perhaps damaged.
        pages: the code pages in which its file was read (`usual_pages`); they have precedence.
    """
    text = without_mojibake(text)
    if text.isascii():
        return text
    by_page = dict(_by_page(text))
    preferred = {decoded for page, decoded in by_page.items() if page in pages}
    candidates = preferred or set(by_page.values())
    if candidates:
        return candidates.pop() if len(candidates) == 1 else text
    return next(_from_east_asian(text), text) if _EAST_ASIAN.search(text) else text


def usual_pages(texts: Iterable[str]) -> tuple[str, ...]:
    """The code pages in which the texts of a file in UTF-8 were read, if all were read in one.

    They are the pages that repair most texts, and among these the ones that give the most letters
    of `_USUAL`. What was read in one page may be valid UTF-8 in another, with other letters, but
    hardly in all of the texts.
    """
    readable: Counter[str] = Counter()
    usual: Counter[str] = Counter()
    for text in islice((text for text in texts if not text.isascii()), _SAMPLE):
        for page, decoded in _by_page(without_mojibake(text)):
            readable[page] += 1
            usual[page] += len(_USUAL.findall(decoded))
    ranks = {page: (count, usual[page]) for page, count in readable.items()}
    most = max(ranks.values(), default=None)
    return tuple(page for page, rank in ranks.items() if rank == most)


def _by_page(text: str) -> Iterator[tuple[str, str]]:
    """The code pages by whose bytes a text is UTF-8, each with the decoded text."""
    beyond = _TWO_BEYOND_ASCII.search(text)
    for page in _pages_with(*beyond[0]) if beyond else ():
        decoded = _read_again(text, _bytes_of(page), _CHANCE)
        if decoded is not None:
            yield page, decoded


def _read_again(text: str, to_byte: Mapping[str, int], chance: int) -> str | None:
    """The text whose UTF-8 the bytes of these characters are; None where they are not UTF-8, or
    could be by chance.
    """
    try:
        decoded = bytes(to_byte[char] for char in text).decode("utf-8")
    except (KeyError, UnicodeDecodeError):
        return None
    return decoded if _is_no_chance(decoded, chance) else None


def _from_east_asian(text: str) -> Iterator[str]:
    for name in _OF_SEVERAL_BYTES:
        try:
            decoded = text.encode(name).decode("utf-8")
        except UnicodeError:
            continue
        if _is_no_chance(decoded, _CHANCE):
            yield decoded


def _is_no_chance(decoded: str, chance: int) -> bool:
    beyond = "".join(char for char in decoded if not char.isascii())
    if len(beyond) >= chance:
        return True
    return _PLAUSIBLE.fullmatch(beyond) is not None and not _MIXED.search(decoded)


@cache
def _bytes_of(name: str) -> dict[str, int]:
    """The byte of each character of a code page."""
    characters = (bytes([byte]).decode(name, errors="ignore") or chr(byte) for byte in range(256))
    return {char: byte for byte, char in enumerate(characters)}


@cache
def _pages_with(first: str, second: str) -> tuple[str, ...]:
    """The code pages in which the first of two characters may begin one of UTF-8, and the second
    continue it.
    """
    return tuple(
        name
        for name in _CODE_PAGES
        if _bytes_of(name).get(first) in _FIRST_BYTES
        and _bytes_of(name).get(second) in _FURTHER_BYTES
    )


# Latin-1 reads the bytes 0x80 to 0x9F as control characters.
_WINDOWS_1252 = {chr(byte): byte for byte in range(0x80, 0xA0)} | _bytes_of("cp1252")
CONTINUATIONS = "".join(
    re.escape(char) for char, byte in _WINDOWS_1252.items() if byte in _FURTHER_BYTES
)
"""What Windows-1252 and Latin-1 make of all but the first byte of a character, within the brackets
of an expression."""
_SEEN_IN_WINDOWS_1252 = re.compile(rf"[Â-ô][{CONTINUATIONS}]")
