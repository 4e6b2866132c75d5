"""The characters of good texts in a language: letters, marks, and signs in their places.

A text that was damaged on its way (read in a wrong encoding, cut into pieces, with a program's
marks left in it) has characters that no good text of its language has there. So no list of damages
is needed to see that it is damaged.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from mtbias.types import frozen

SIGNS = frozenset(
    ".,;:!?…¿¡()[]\"'’‘‛“”„‟«»‹›‚-‐‑‒–—―/%‰&€$£¥°§+#@=<>−×±·•‧*_|^~{}\\™®©№′″ʼ´`،؛؟٪״׳־⁄"
)
"""Signs that are somewhere in good texts."""
_WITHIN_WORDS = "-‐‑‒–—'’‘ʼ′`´/.&:·•‧*_@()⁄"
"""Signs that may come between two letters: hyphens, apostrophes, and what joins the forms of both
genders."""
_WITHIN_SEMITIC_WORDS = '"״׳־'
"""Hebrew's own, and the quotation mark behind a prefix."""
_NEVER_BESIDE_LETTERS = "<>|^~{}\\=#+©±×"
_NEVER_AT_AN_EDGE = "`´_"
"""Signs that come between two letters or by themselves, and at no word's edge."""
_NEVER_BEFORE_WORDS = "?!;*@"
_RAISED = "²³¹¼½¾"
"""They follow a letter (km²) and precede none."""
_ORDINALS = "ªº"
_JOINERS = "\u200c\u200d"
"""Letters' own in scripts that join them."""
_SEMITIC = frozenset(("ARABIC", "HEBREW"))
_UNJOINED = frozenset(("LATIN", "CYRILLIC", "HEBREW"))
_LATIN_LETTERS = frozenset(map(chr, (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)))) - {"×", "÷"}
"""Those of languages, and not of phonetics, beyond ASCII."""


@frozen
class Alphabet:
    """The characters of good texts in one language."""

    pattern: re.Pattern[str]
    """Finds what they do not have."""

    def unusual(self, text: str) -> str | None:
        """The first of a text that no good text of the language has there: a character, or the word
        that it is in; None if there is none.
        """
        match = self.pattern.search(unicodedata.normalize("NFC", text))
        return match[0] if match else None


def alphabet(words: Iterable[str], letters: str = "", marks: str = "") -> Alphabet:
    """The alphabet of a language.

    Any letter of the script may be in a word with a capital, which may be a name; so may Latin
    letters in every language.

    Args:
        words: its words, which show its scripts and letters of its loans.
        letters: its letters; empty: all those of its scripts.
        marks: combining marks that may be written besides those of its script (ru: stress).
    """
    written = frozenset(letters).union(*words)
    scripts = frozenset(_script(char) for char in written if char.isalpha())
    script_letters = frozenset[str]().union(*map(_letters, scripts))
    own_marks = frozenset(filter(unicodedata.combining, marks)).union(*map(_marks, scripts))
    signs = SIGNS | {*_RAISED, *_ORDINALS}
    if not scripts <= _UNJOINED:
        signs |= set(_JOINERS)
    usual = _class(script_letters | _LATIN_LETTERS | own_marks | signs)
    within = set(_WITHIN_WORDS)
    if not scripts.isdisjoint(_SEMITIC):
        within |= set(_WITHIN_SEMITIC_WORDS)
    letter = r"[^\W\d_]"
    patterns = [
        rf"[^\w\s{usual}]",
        rf"[^\W\d_a-zA-Z{usual}]",
        rf"(?<={letter})[{_class(SIGNS - within)}](?={letter})",
        rf"[{_class(_NEVER_BESIDE_LETTERS)}](?={letter})",
        rf"(?<={letter})[{_class(_NEVER_BESIDE_LETTERS)}]",
        rf"(?<!\w)[{_class(_NEVER_AT_AN_EDGE + _NEVER_BEFORE_WORDS)}](?={letter})",
        rf"(?<={letter})[{_class(_NEVER_AT_AN_EDGE)}](?!\w)",
        rf"[{_RAISED}](?={letter})",
        *_mixed_words(scripts, script_letters),
    ]
    if letters:
        patterns += _foreign_letters(scripts, script_letters, written)
    return Alphabet(re.compile("|".join(patterns)))


def _foreign_letters(
    scripts: frozenset[str], script_letters: frozenset[str], letters: frozenset[str]
) -> list[str]:
    """Patterns of letters of the language's scripts that are not its own."""
    own = letters | {char.upper() for char in letters}
    # A presentation form is the letter whose shape it is.
    others = script_letters - own
    foreign = {char for char in others if not set(unicodedata.normalize("NFKC", char)) <= own}
    if not any(char.islower() for char in script_letters):
        return [f"[{_class(foreign)}]"] if foreign else []
    # Where there are capitals, names have them.
    small = f"[a-z{_class(char for char in script_letters if char.islower())}]"
    small_foreign = f"[{_class(char for char in foreign if char.islower())}]"
    patterns = [rf"(?<!\w){small}*{small_foreign}{small}*(?!\w)", rf"{small}\d+{small}"]
    if "LATIN" in scripts:  # names have A to Z within them (McAdam)
        capital = f"[{_class(char for char in _LATIN_LETTERS if char.isupper())}]"
        patterns.append(f"{small}{capital}{small}")
    return patterns


def _mixed_words(scripts: frozenset[str], script_letters: frozenset[str]) -> list[str]:
    """Patterns of words in Latin letters and in those of another script."""
    if "LATIN" in scripts:
        return []
    own = f"[{_class(script_letters)}]"
    # Where no letter is a capital, prefixes are written onto names: he בCEO.
    cased = any(char.islower() for char in script_letters)
    return [f"{own}[{'A-Za-z' if cased else 'a-z'}]", f"[A-Za-z]{own}"]


def _class(characters: Iterable[str]) -> str:
    """These characters as they stand within the brackets of a regular expression."""
    return "".join(map(re.escape, sorted(characters)))


def _script(character: str) -> str:
    """The script of a character, by its name in Unicode: ``LATIN``, ``CYRILLIC``."""
    return unicodedata.name(character, "").split(" ")[0]


@cache
def _characters(script: str, category: str) -> frozenset[str]:
    """Characters of a script in Unicode's Basic Multilingual Plane: its letters (``L``) or marks
    (``M``).
    """
    return frozenset(
        char
        for char in map(chr, range(0x250, 0xFFFF))
        if unicodedata.category(char)[0] == category and _script(char) == script
    )


def _letters(script: str) -> frozenset[str]:
    return _LATIN_LETTERS if script == "LATIN" else _characters(script, "L")


def _marks(script: str) -> frozenset[str]:
    return frozenset() if script == "LATIN" else _characters(script, "M")
