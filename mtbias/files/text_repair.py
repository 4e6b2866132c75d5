r"""Repair of texts whose characters were damaged on the way, as far as that is certain.

* encoding: UTF-8 that was read in another encoding and saved again ("mÃ©dico", "mГ©dico", "m챕dico";
  `mtbias.files.encodings`).
* entities: character references of HTML ("&quot;", "&#233;"), escaped once more ("&amp;#233;") too.
* escapes: of JSON, Python, C, MIME, addresses, SentencePiece and SQL ("m\u00e9dico",
  "m\303\251dico", "m=C3=A9dico", "m%C3%A9dico", "m<0xC3><0xA9>dico", "mU+00E9dico", "b'El
  m\xc3\xa9dico'", "l''avocat").
* markup: tags of HTML, and asterisks, backticks and the like on both sides of words.
* pieces: marks of subword tokenizers ("▁El ▁mé dico", "mé@@ dico", "El</w> médico</w>",
  "ElĠmÃ©dico").
* invisible: characters without a glyph, such as zero-width spaces, soft hyphens and marks of
  direction.
* letters: those of another script that look alike in a word ("mеdico" with a Cyrillic е),
  ligatures, wide ones; accents in an apostrophe's place ("l`avocat").
* composed: Unicode that is not in its composed form (NFC), as macOS and some exports write it, also
  where a blank comes before the mark.

A text that shows such a history and cannot be repaired is damaged: a byte is lost ("Ã " for "à"),
or a letter was replaced by U+FFFD or "<unk>". So is one with characters that no good text of its
language has: `mtbias.language.alphabet`.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Collection

from mtbias.files.encodings import CONTINUATIONS, in_the_right_encoding
from mtbias.types import frozen

KINDS = ("entities", "escapes", "encoding", "markup", "pieces", "invisible", "letters", "composed")
"""The kinds of damage that can be undone, in the order in which they are."""
OF_CHARACTERS = ("entities", "encoding", "composed")
"""The kinds that may be undone in any text, even where its markup matters."""
AS_WORDS = tuple(kind for kind in KINDS if kind != "invisible")
"""The kinds to undo where published numbers count an invisible character as part of its word."""
_ROUNDS = 3
_DAMAGE = re.compile(
    rf"[ÂÃÄÅÐ×Øâ][{CONTINUATIONS}]|[ÑÙ][{CONTINUATIONS}](?!\s|$)|(?<![A-ZÀ-Þ])[ÂÃ](?=\s|$)"
    r"|[\x80-\x9f\ufffd]"
    r"|\?{3}|<unk>|⁇|\\x[0-9a-fA-F]{2}|=[89A-F][0-9A-F]|(?<![^\W\d_])(?:[^\W\d_]{2,}[._]){4}"
    r"|(?<!q)[aeioun]´[^\W\d_]|<0x[0-9A-F]{2}>|</w>|U\+[0-9A-F]{4}"
)
_REFERENCE = re.compile(r"&(?:#\d{2,7};?|#[xX][0-9a-fA-F]{1,6};|[A-Za-z][A-Za-z0-9]{1,31};)")
_BYTES = re.compile(r"(?:(?:=|%|\\x)[0-9a-fA-F]{2})+|(?:<0x[0-9A-F]{2}>)+")
_OCTAL = re.compile(r"(?:\\[0-3][0-7]{2})+")
_CODE_UNITS = re.compile(r"(?:[\\%]u[0-9a-fA-F]{4})+")
_CODE_POINT = re.compile(r"(?:(?<=[^\W\d_])U\+|\bU\+(?=[0-9A-F]{4}[^\W\dA-F_]))([0-9A-F]{4})")
_BYTES_LITERAL = re.compile(r"""b(['"])(.*)\1""", re.DOTALL)
# Hebrew writes gershayim with two apostrophes.
_DOUBLED_APOSTROPHE = re.compile("(?<=[A-Za-zÀ-ӿ])''(?=[A-Za-zÀ-ӿ])")
# Not the tokens of models: what <unk> and <mask> stand for is lost, and <sep> parts two sentences.
_TAG = re.compile(
    r"</?(?:(?!(?:unk|mask|sep|pad|cls|eos|bos)\b)[A-Za-z][\w:-]+|[abipsuABIPSU])(?:\s[^<>]*)?/?>"
)
_BREAK = re.compile(r"<(?:br|/?p|/?div|/?li)\b", re.IGNORECASE)
_MARKED = re.compile(
    r"(?<![\w*`~=|])(\*{1,3}|`{1,3}|~~|==|\|\|)(?=[^\s*`~=|])"
    r"([^*`~=|]+)(?<=[^\s*`~=|])\1(?![\w*`~=|])"
)
_SUBWORDS = re.compile(r"@@(?: |$)| ##(?=\w)| ?￭ ?|^[HD]-\d+\t-?[\d.]+\t")
_END_OF_WORD = "</w>"
_LINE_OF_PIECES = re.compile(r"(?:^|\s)▁\w")
# Joiners (U+200C, U+200D) are letters' own in other scripts than these.
_INVISIBLE = re.compile(
    "[\0-\x08\x0e-\x1b\x7f\xad\u034f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ufeff\ufe00-\ufe0f\U000e0000-\U000e007f]"
    "|(?<=[A-Za-zÀ-ӿ\u05d0-\u05ea])[\u200c\u200d]"
)
_COMPATIBLE = re.compile(
    "[\ufb00-\ufb06\ufb1d-\ufb4f\uff01-\uff5e\U0001d400-\U0001d6a3]|(?<=[A-Za-z])ſ|ſ(?=[A-Za-z])"
)
# "me´dico" has the accent of a vowel there.
_ACCENT_FOR_APOSTROPHE = re.compile(
    r"(?<=[^\W\d_])[`′ʹ＇‛](?=[^\W\d_])|(?:(?<=qu)|(?<=[^\W\d_aeioun]))´(?=[^\W\d_])"
)
_TWO_SCRIPTS = re.compile("[A-Za-zÀ-ɏ][Ѐ-ӿ]|[Ѐ-ӿ][A-Za-zÀ-ɏ]")
_OF_SCRIPTS = re.compile("[A-Za-zÀ-ɏЀ-ӿ]+")
_MARKS = frozenset("*`~=|")
_SPACED_MARK = re.compile("(?<=[A-Za-zÀ-ӿ\u0620-\u064a])[ \xa0](?=[\u0300-\u036f\u0653-\u0655])")
# Bytes that have a glyph in Latin-1 are that, the others follow each other from U+0100 on.
_WITH_GLYPH = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_WITHOUT_GLYPH = tuple(byte for byte in range(256) if byte not in _WITH_GLYPH)
_BYTE_OF_PIECE = {chr(byte): byte for byte in _WITH_GLYPH} | {
    chr(0x100 + n): byte for n, byte in enumerate(_WITHOUT_GLYPH)
}
_LATIN, _CYRILLIC = "ABCEHIKMOPTXaceiopxyj", "АВСЕНІКМОРТХасеіорхуј"
_TO_CYRILLIC, _TO_LATIN = str.maketrans(_LATIN, _CYRILLIC), str.maketrans(_CYRILLIC, _LATIN)


@frozen
class Repaired:
    """A text as it was before it was damaged, as far as that is certain."""

    text: str
    kinds: tuple[str, ...] = ()
    """What was undone, of `KINDS`."""


def repair(text: str, kinds: Collection[str] = KINDS, pages: Collection[str] = ()) -> Repaired:
    """Undo the damage to a text that can be undone with certainty; a sound text stays as it is.

    Args:
        text: perhaps damaged.
        kinds: what is undone.
        pages: the code pages in which UTF-8 was read in its file (`usual_pages`).
    """
    undone_kinds: set[str] = set()
    for _ in range(_ROUNDS):
        before = text
        for kind in kinds:
            encoding = kind == "encoding"
            undone = in_the_right_encoding(text, pages) if encoding else _UNDO[kind](text)
            if undone != text:
                undone_kinds.add(kind)
                text = undone
        if text == before:
            break
    return Repaired(text, tuple(kind for kind in kinds if kind in undone_kinds))


def is_damaged(text: str) -> bool:
    """Whether a text shows damage that `repair` cannot undo."""
    return _DAMAGE.search(text) is not None


def _without_references(text: str) -> str:
    return _REFERENCE.sub(lambda match: html.unescape(match[0]), text) if "&" in text else text


def _without_escapes(text: str) -> str:
    if literal := _BYTES_LITERAL.fullmatch(text):
        text = literal[2]
    if "\\" in text or "%u" in text:
        text = re.sub(r"""\\(["'/ ])""", r"\1", _CODE_UNITS.sub(_of_code_units, text))
        text = _OCTAL.sub(_of_octal, text)
    if _BYTES.search(text):
        is_address = "%" in text and not re.search(r"\s", text)
        text = _BYTES.sub(_of_bytes, text.replace("+", " ") if is_address else text)
    if "U+" in text:
        text = _CODE_POINT.sub(_of_code_point, text)
    return _DOUBLED_APOSTROPHE.sub("'", text) if "''" in text else text


def _of_code_units(match: re.Match[str]) -> str:
    units = bytes.fromhex(re.sub(r"[\\%]u", "", match[0]))
    try:
        text = units.decode("utf-16-be")
    except UnicodeDecodeError:
        return match[0]
    return text if text.isprintable() else match[0]


def _of_octal(match: re.Match[str]) -> str:
    """UTF-8 beyond ASCII, as C and git write it."""
    try:
        text = bytes(int(digits, 8) for digits in match[0].split("\\")[1:]).decode()
    except UnicodeDecodeError:
        return match[0]
    return text if text.isprintable() and not text.isascii() else match[0]


def _of_code_point(match: re.Match[str]) -> str:
    letter = chr(int(match[1], 16))
    return letter if letter.isalpha() else match[0]


def _of_bytes(match: re.Match[str]) -> str:
    """UTF-8 beyond ASCII; in an address, which has no blanks, all of it."""
    try:
        text = bytes.fromhex(re.sub(r"=|%|\\x|<0x|>", "", match[0])).decode()
    except UnicodeDecodeError:
        return match[0]
    whole = match[0][0] == "%" and not re.search(r"\s", match.string)
    return text if text.isprintable() and (whole or not text.isascii()) else match[0]


def _without_markup(text: str) -> str:
    if "<" in text:
        text = _TAG.sub(lambda match: " " if _BREAK.match(match[0]) else "", text).strip()
    return text if _MARKS.isdisjoint(text) else _MARKED.sub(r"\2", text)


def _without_pieces(text: str) -> str:
    if "Ġ" in text:
        text = _of_byte_pieces(text)
    if _END_OF_WORD in text and all(word.endswith(_END_OF_WORD) for word in text.split()):
        text = text.replace(_END_OF_WORD, "")
    if _LINE_OF_PIECES.search(text):
        text = text.replace(" ", "").replace("▁", " ").strip()
    return _SUBWORDS.sub("", text)


def _of_byte_pieces(text: str) -> str:
    """The text whose bytes a tokenizer of GPT-2's kind writes as characters, of which Ġ is a
    blank.
    """
    try:
        return bytes(_BYTE_OF_PIECE[char] for char in text.replace(" ", "")).decode().strip()
    except (KeyError, UnicodeDecodeError):
        return text


def _with_plain_letters(text: str) -> str:
    text = _ACCENT_FOR_APOSTROPHE.sub("'", text)
    if text.isascii():
        return text
    text = _COMPATIBLE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return _OF_SCRIPTS.sub(_in_one_script, text) if _TWO_SCRIPTS.search(text) else text


def _in_one_script(match: re.Match[str]) -> str:
    """The word in the one script that can write all of its letters; a word that both or neither
    can write stays.
    """
    cyrillic, latin = match[0].translate(_TO_CYRILLIC), match[0].translate(_TO_LATIN)
    is_cyrillic = re.search("[A-Za-zÀ-ɏ]", cyrillic) is None
    is_latin = re.search("[Ѐ-ӿ]", latin) is None
    if is_cyrillic == is_latin:
        return match[0]
    return cyrillic if is_cyrillic else latin


def _composed(text: str) -> str:
    if text.isascii():
        return text
    # An i that loses its dot under a mark is an i.
    joined = re.sub("ı(?=[\u0300-\u036f])", "i", _SPACED_MARK.sub("", text))
    return unicodedata.normalize("NFC", joined)


_UNDO: dict[str, Callable[[str], str]] = {
    "entities": _without_references,
    "escapes": _without_escapes,
    "encoding": in_the_right_encoding,
    "markup": _without_markup,
    "pieces": _without_pieces,
    "invisible": lambda text: (
        text if text.isascii() and text.isprintable() else _INVISIBLE.sub("", text)
    ),
    "letters": _with_plain_letters,
    "composed": _composed,
}
