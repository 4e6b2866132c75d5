r"""Texts whose characters were damaged on the way: what is certain is undone, and what is left is told apart.

* encoding: UTF-8 that was read as Windows-1252 or Latin-1 and saved again ("mÃ©dico"), up to three times; of
  translations, other code pages too ("mГ©dico"). It is undone where every character goes back to a byte and all bytes
  are valid UTF-8; bytes that a code page leaves open stand for themselves, as in the WHATWG encoding. Where fewer than
  four characters beyond ASCII come out, which chance could make, they must be letters or signs of a language that
  mtbias knows, and no word may mix scripts.
* entities: character references of HTML ("&quot;", "&#233;"), escaped once more ("&amp;#233;") too.
* escapes: of JSON, Python, MIME and addresses ("m\u00e9dico", "m=C3=A9dico", "m%C3%A9dico").
* markup: tags of HTML, and asterisks around words.
* pieces: marks of subword tokenizers ("▁El ▁mé dico", "mé@@ dico").
* invisible: characters without a glyph, such as zero-width spaces and marks of direction, which split words.
* letters: those of another script that look alike in a word ("mеdico" with a Cyrillic е), ligatures, wide ones.
* composed: Unicode that is not in its composed form (NFC), as macOS and some exports write it.

Damaged is what shows such a history and cannot be undone: a byte is lost ("Ã " for "à"), a letter was replaced by
U+FFFD, a question mark, "<unk>" or a letter or sign that does not stand within a word.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping

from mtbias.types import frozen

KINDS = ("entities", "escapes", "encoding", "markup", "pieces", "invisible", "letters", "composed")
"""What can be undone, in the order in which it is."""
OF_CHARACTERS = ("entities", "encoding", "composed")
"""What can be undone in any text, also in one whose markup matters."""
AS_WORDS = tuple(kind for kind in KINDS if kind != "invisible")
"""What can be undone where published numbers take an invisible character for a part of its word."""
_ROUNDS = 3
_CHANCE = 4
"""So many characters beyond ASCII are valid UTF-8 by chance too rarely to ask which they are."""

# Windows-1252, with the five bytes that it leaves open standing for themselves; Latin-1 reads 0x80 to 0x9F as controls.
TO_BYTE = {chr(byte): byte for byte in range(0x80, 0xA0)} | {
    bytes([byte]).decode("cp1252", errors="ignore") or chr(byte): byte for byte in range(256)
}
CODE_PAGES = [
    {bytes([byte]).decode(name, errors="ignore") or chr(byte): byte for byte in range(256)}
    for name in ["cp1250", "cp1251", "cp1255", "cp1256", "mac_roman", "cp437", "cp850", "cp866", "koi8_r", "iso8859_5"]
]
"""Others in which UTF-8 was read: what each byte became."""
_PLACES = (range(0xC2, 0xF5), range(0x80, 0xC0))
"""Which bytes begin a character of UTF-8 beyond ASCII, and which follow."""
_CONTINUATIONS = "".join(re.escape(char) for char, byte in TO_BYTE.items() if 0x80 <= byte <= 0xBF)
_SEEN = re.compile(rf"[Â-ô][{_CONTINUATIONS}]")
_SEEN_IN = [
    re.compile(
        "[{}][{}]".format(*(re.escape("".join(c for c, b in page.items() if b in within)) for within in _PLACES))
    )
    for page in CODE_PAGES
]
_DAMAGE = re.compile(
    rf"[ÂÃÄÅÐ×Øâ][{_CONTINUATIONS}]|[ÑÙ][{_CONTINUATIONS}](?!\s|$)|(?<![A-ZÀ-Þ])[ÂÃ](?=\s|$)|[\x80-\x9f\ufffd]"
    r"|[^\W\d_]\?[^\W\d_]|\?{3}|<unk>|⁇|\\x[0-9a-fA-F]{2}|=[89A-F][0-9A-F]|(?<![^\W\d_])(?:[^\W\d_]{2,}[._]){4}"
    # Within a word: a letter of another script, a capital, a sign.
    r"|[a-zß-ÿ][Ͱ-ӿ][a-zß-ÿ]|[а-я][A-Za-zß-ÿ][а-я]|[a-zß-ÿ][À-ÖØ-Þ][a-zß-ÿ]|(?<!q)[aeioun]´[^\W\d_]"
    r"|[a-zß-ÿа-яא-ת][¢-©¬®-³¸¼-¾˜√∂≈⌐─-▟][^\W\d_]"
)
_PLAUSIBLE = re.compile("[\xa0-\xffĀ-ſȘ-țЀ-џҐґ\u05b0-\u05f4\u060c-\u0670\u200b-\u200f\u2010-\u2044\u20a0-\u20bf™№]*")
_MIXED = re.compile(r"[A-Za-z\xc0-ſ][Ѐ-ӿ\u0590-\u06ff]|[Ѐ-ӿ\u0590-\u06ff][A-Za-z\xc0-ſ]")
REFERENCE = re.compile(r"&(?:#\d{2,7};?|#[xX][0-9a-fA-F]{1,6};|[A-Za-z][A-Za-z0-9]{1,31};)")
_BYTES = re.compile(r"(?:(?:=|%|\\x)[0-9a-fA-F]{2})+")
_CODE_UNITS = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")
_TAG = re.compile(r"</?(?:a|b|br|div|em|font|i|li|p|s|span|strong|sub|sup|u)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_BREAK = re.compile(r"<(?:br|/?p|/?div|/?li)\b", re.IGNORECASE)
_ASTERISKS = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*]+)(?<=[^\s*])\1(?![\w*])")
SUBWORDS = re.compile(r"@@(?: |$)| ##(?=\w)| ?￭ ?|^[HD]-\d+\t-?[\d.]+\t")
_LINE_OF_PIECES = re.compile(r"(?:^|\s)▁\w")
# Joiners (U+200C, U+200D) are letters' own in other scripts than these.
INVISIBLE = re.compile(
    "[\0-\x08\x0e-\x1b\x7f\u034f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufe00-\ufe0f\U000e0000-\U000e007f]"
    "|(?<=[A-Za-zÀ-ӿ\u05d0-\u05ea])[\u200c\u200d]"
)
COMPATIBLE = re.compile("[\ufb00-\ufb06\ufb1d-\ufb4f\uff01-\uff5e\U0001d400-\U0001d6a3]|(?<=[A-Za-z])ſ|ſ(?=[A-Za-z])")
_TWO_SCRIPTS = re.compile("[A-Za-zÀ-ɏ][Ѐ-ӿ]|[Ѐ-ӿ][A-Za-zÀ-ɏ]")
_OF_SCRIPTS = re.compile("[A-Za-zÀ-ɏЀ-ӿ]+")
_LATIN, _CYRILLIC = "ABCEHIKMOPTXaceiopxyj", "АВСЕНІКМОРТХасеіорхуј"
_TO_CYRILLIC, TO_LATIN = str.maketrans(_LATIN, _CYRILLIC), str.maketrans(_CYRILLIC, _LATIN)


@frozen
class Repaired:
    """A text as it was before it was damaged, as far as that is certain."""

    text: str
    kinds: tuple[str, ...] = ()
    """What was undone, of `KINDS`."""
    damaged: bool = False
    """Whether `text` still shows damage."""


def repair(text: str, kinds: Collection[str] = KINDS) -> Repaired:
    """Undo what is certain of the damage to a text, of these kinds; a text without damage is returned as it is."""
    found: set[str] = set()
    for _ in range(_ROUNDS):
        before = text
        for kind in kinds:
            undone = _UNDO[kind](text)
            if undone != text:
                found.add(kind)
                text = undone
        if text == before:
            break
    return Repaired(text, tuple(kind for kind in kinds if kind in found), is_damaged(text))


def is_damaged(text: str) -> bool:
    """Whether a text shows damage that `repair` cannot undo."""
    return _DAMAGE.search(text) is not None


def _without_references(text: str) -> str:
    return REFERENCE.sub(lambda match: html.unescape(match[0]), text) if "&" in text else text


def _without_escapes(text: str) -> str:
    if "\\" in text:
        text = re.sub(r"""\\(["'/ ])""", r"\1", _CODE_UNITS.sub(_of_code_units, text))
    if _BYTES.search(text):
        text = _BYTES.sub(_of_bytes, text.replace("+", " ") if "%" in text and not re.search(r"\s", text) else text)
    return text


def _of_code_units(match: re.Match[str]) -> str:
    units = bytes.fromhex(match[0].replace("\\u", ""))
    try:
        text = units.decode("utf-16-be")
    except UnicodeDecodeError:
        return match[0]
    return text if text.isprintable() else match[0]


def _of_bytes(match: re.Match[str]) -> str:
    """UTF-8 beyond ASCII; in an address, which has no blanks, all of it."""
    try:
        text = bytes.fromhex(re.sub(r"=|%|\\x", "", match[0])).decode()
    except UnicodeDecodeError:
        return match[0]
    whole = match[0][0] == "%" and not re.search(r"\s", match.string)
    return text if text.isprintable() and (whole or not text.isascii()) else match[0]


def _without_markup(text: str) -> str:
    if "<" in text:
        text = _TAG.sub(lambda match: " " if _BREAK.match(match[0]) else "", text).strip()
    return _ASTERISKS.sub(r"\2", text) if "*" in text else text


def _without_pieces(text: str) -> str:
    if _LINE_OF_PIECES.search(text):
        text = text.replace(" ", "").replace("▁", " ").strip()
    return SUBWORDS.sub("", text)


def _with_plain_letters(text: str) -> str:
    if text.isascii():
        return text
    text = COMPATIBLE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return _OF_SCRIPTS.sub(_in_one_script, text) if _TWO_SCRIPTS.search(text) else text


def _in_one_script(match: re.Match[str]) -> str:
    """The word in the script of those of its letters that the other has no likeness of, where they are of one."""
    cyrillic, latin = match[0].translate(_TO_CYRILLIC), match[0].translate(TO_LATIN)
    of_cyrillic, of_latin = re.search("[A-Za-zÀ-ɏ]", cyrillic) is None, re.search("[Ѐ-ӿ]", latin) is None
    return match[0] if of_cyrillic == of_latin else cyrillic if of_cyrillic else latin


def without_mojibake(text: str, *, chance: int = _CHANCE) -> str:
    """Undo the wrong encoding alone; `chance`: so many characters may be what chance has made (0: English has none)."""
    for _ in range(_ROUNDS):
        if text.isascii() or _SEEN.search(text) is None:
            break
        decoded = _decoded(text, TO_BYTE, chance)
        if decoded is None:
            break
        text = decoded
    return text


def _decoded(text: str, to_byte: Mapping[str, int], chance: int) -> str | None:
    try:
        decoded = bytes(to_byte[char] for char in text).decode("utf-8")
    except (KeyError, UnicodeDecodeError):
        return None
    beyond = [char for char in decoded if not char.isascii()]
    if len(beyond) < chance and (not _PLAUSIBLE.fullmatch("".join(beyond)) or _MIXED.search(decoded)):
        return None
    return decoded


def _in_the_right_encoding(text: str) -> str:
    """`without_mojibake`, for all code pages."""
    text = without_mojibake(text)
    for to_byte, seen in zip(CODE_PAGES, _SEEN_IN, strict=True):
        if not text.isascii() and seen.search(text):
            text = _decoded(text, to_byte, _CHANCE) or text
    return text


_UNDO: dict[str, Callable[[str], str]] = {
    "entities": _without_references,
    "escapes": _without_escapes,
    "encoding": _in_the_right_encoding,
    "markup": _without_markup,
    "pieces": _without_pieces,
    "invisible": lambda text: text if text.isascii() and text.isprintable() else INVISIBLE.sub("", text),
    "letters": _with_plain_letters,
    "composed": lambda text: unicodedata.normalize("NFC", text),
}
