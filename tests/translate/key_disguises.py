"""Ways to say a key so that whoever repairs the text, or reads it, has the key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

KEY = "sk-proj-Kx9a7/e0Kpq5-secret"
"""It has letters that others look like, also a Kelvin sign, and a slash, which may be escaped."""


def wide(text: str) -> str:
    """With the wide letters of East Asian scripts."""
    return "".join(chr(ord(char) + 0xFEE0) for char in text)


def read_in(page: str, text: str) -> str:
    """UTF-8 that was read in a code page; bytes that it leaves open stand for themselves."""
    return "".join(
        bytes([byte]).decode(page, errors="ignore") or chr(byte) for byte in text.encode()
    )


def within(mark: str, behind: str = "") -> Callable[[str], str]:
    """A mark before the last word of a text, and one within that."""
    return lambda text: f"{text[:-6]}{mark}{text[-6:-3]}{behind or mark}{text[-3:]}"


def around(before: str, behind: str) -> Callable[[str], str]:
    """Marks around the last word of a text."""
    return lambda text: f"{text[:-6]}{before}{text[-6:]}{behind}"


DISGUISES: Mapping[str, Mapping[str, Callable[[str], str]]] = {
    "entities": {
        "decimal": lambda text: "".join(f"&#{ord(char)};" for char in text),
        "hexadecimal": lambda text: "".join(f"&#x{ord(char):x};" for char in text),
        "named": lambda text: text.replace("-", "&hyphen;").replace("/", "&sol;"),
        "escaped once more": lambda text: "".join(f"&amp;amp;#{ord(char)};" for char in text),
        "a soft hyphen": within("&shy;"),
    },
    "escapes": {
        "of JSON": lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
        "of Python": lambda text: "".join(f"\\x{ord(char):02x}" for char in text),
        "of MIME": lambda text: "".join(f"={byte:02X}" for byte in text.encode()),
        "of MIME, wide": lambda text: "".join(f"={byte:02X}" for byte in wide(text).encode()),
        "of a line of MIME": within("=\n"),
        "of addresses": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
        "of a slash": lambda text: text.replace("/", "\\/"),
    },
    "encoding": {
        page: lambda text, page=page: read_in(page, wide(text))
        for page in ("cp1252", "latin-1", "cp1250", "cp1251", "mac_roman", "cp437", "cp866", "koi8_r")
    }
    | {"twice": lambda text: read_in("cp1252", read_in("cp1252", wide(text)))},
    "markup": {
        "a tag": within("<b>", "</b>"),
        "a tag with attributes": within('<span class="x">', "</span>"),
        "a tag of none that is known": within("<mark>", "</mark>"),
        "asterisks": around("**", "**"),
        "a backtick": around("`", "`"),
        "an underscore": around("_", "_"),
    },
    "pieces": {
        "of BPE": within("@@ "),
        "of WordPiece": within(" ##"),
        "of joiners": within("￭"),
        "of SentencePiece": lambda text: "▁" + " ".join(text),
    },
    "invisible": {
        "zero-width": within("\u200b"),
        "a joiner": within("\u2060", "\u200d"),
        "directions": within("\u202e", "\u2066"),
        "a byte-order mark": within("\ufeff"),
        "tags of Unicode": within("\U000e0041"),
        "controls": within("\x01", "\x1b"),
    },
    "letters": {
        "wide": wide,
        "mathematical": lambda text: "".join(
            chr(0x1D41A + ord(char) - ord("a")) if char.islower() else char for char in text
        ),
        "Cyrillic": lambda text: text[:-6] + text[-6:].translate(str.maketrans("aceop", "асеор")),
        "Greek": lambda text: text.translate(str.maketrans("Kop", "Κορ")),
        "a long s": lambda text: text.replace("s", "ſ"),
    },
    "composed": {
        "a Kelvin sign": lambda text: text.replace("K", "\u212a"),
        "an accent": within("\u0301"),
    },
}  # fmt: skip
"""By what `mtbias.files.text_repair` undoes."""

UNDONE_BY_NOBODY = {
    # Of these repair undoes what is beyond ASCII alone, or nothing: they stay as they are.
    "entities: named", "escapes: of Python", "escapes: of MIME", "escapes: of a line of MIME",
    "letters: Greek", "composed: an accent",
}  # fmt: skip
UNDONE_IN_A_WORD_ALONE = {"escapes: of MIME, wide", "escapes: of addresses"}
"""Of these repair undoes nothing where the whole line is written so, or where it has blanks."""

EACH: Sequence[tuple[str, Callable[[str], str]]] = [
    (f"{kind}: {name}", disguise)
    for kind, by_name in DISGUISES.items()
    for name, disguise in by_name.items()
]
