"""Where a secret stands in a text, however it is disguised.

`mtbias.files.text_repair` undoes what is certainly damage, in one order. Here all that may be a
disguise is undone, in whatever order, certain or not, and each character keeps its place in the
text: references and escapes of ASCII too, any tag, letters without their accents. So the secret is
in nothing that is made of the text later.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial

from mtbias.files.text_repair import (
    CODE_PAGES,
    COMPATIBLE,
    INVISIBLE,
    REFERENCE,
    SUBWORDS,
    TO_BYTE,
    TO_LATIN,
)
from mtbias.types import frozen

_MOST_READINGS, _LEAST_READINGS = 400, 24
_CHARACTERS = 400_000
"""Of all readings of a text together, where these are not fewer than the least."""
_SIGN = re.compile(r"[^\s\x20-\x7e]|[&\\%=<*_`]|@@| ##")
"""What every disguise has."""
_BETWEEN = re.compile(r"[^\x00-\x7f]|[\\*_`]")
"""What may stand between the letters in the end; or is a letter that looks like another."""
_LOOK_ALIKES: Mapping[int, str | int] = {
    **TO_LATIN,
    **str.maketrans("ѕһԁԛԝӏ", "shdqwl"),
    **str.maketrans("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανιρυ", "ABEZHIKMNOPTYXoavipu"),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-"),
}
"""Letters of Cyrillic and Greek, and dashes, with what they look like in ASCII."""


@frozen
class _Reading:
    """A text with some disguises undone, and where each character stands in the text as it was."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def undone(self, pattern: re.Pattern[str], undo: Callable[[str], str]) -> _Reading:
        """With `undo` of each match of `pattern` in its place: all of it stands where the match stood."""
        texts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        at = 0
        for match in pattern.finditer(self.text):
            first, behind = match.span()
            made = undo(match[0])
            texts += [self.text[at:first], made]
            starts += [*self.starts[at:first], *[self.starts[first]] * len(made)]
            ends += [*self.ends[at:first], *[self.ends[behind - 1]] * len(made)]
            at = behind
        if not at:
            return self
        return _Reading(
            "".join([*texts, self.text[at:]]),
            (*starts, *self.starts[at:]),
            (*ends, *self.ends[at:]),
        )


def find_disguised(text: str, secret: str, least: int) -> list[tuple[int, int]]:
    """Where `secret` stands in `text`, disguised: spans (start, end) that do not overlap, in order.

    Disguises are those that `mtbias.files.text_repair` undoes, one upon the other too; tags, and
    marks of Markdown, within the secret; letters of other scripts that look alike. A secret of
    which fewer than `least` characters are left without such marks is not looked for, since words
    could be taken for it.
    """
    wanted = _bare(_as_it_is(secret)).text
    spans: list[tuple[int, int]] = []
    for reading in _readings(text) if len(wanted) >= least else ():
        bare = _bare(reading)
        at = bare.text.find(wanted)
        while at >= 0:
            behind = at + len(wanted)
            spans.append((bare.starts[at], bare.ends[behind - 1]))
            at = bare.text.find(wanted, behind)
    return _apart(spans)


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _as_it_is(text: str) -> _Reading:
    return _Reading(text, tuple(range(len(text))), tuple(range(1, len(text) + 1)))


def _readings(text: str) -> Iterator[_Reading]:
    """What comes of the text by undoing some disguises, in any order; first each to its end."""
    if _SIGN.search(text) is None:
        return
    most = max(_LEAST_READINGS, min(_MOST_READINGS, _CHARACTERS // len(text)))
    seen, left = {text}, [_as_it_is(text)]
    while left:
        reading = left.pop()
        yield reading
        for step in _STEPS:
            further = step(reading)
            if further.text not in seen and len(seen) < most:
                seen.add(further.text)
                left.append(further)


def _bare(reading: _Reading) -> _Reading:
    """In ASCII alone, without what may stand between its characters."""
    return reading.undone(_BETWEEN, _plain)


@lru_cache(maxsize=2**12)
def _plain(char: str) -> str:
    """The ASCII that a character is without its accents, or looks like; else nothing."""
    if char.isascii():
        return ""
    decomposed = unicodedata.normalize("NFKD", char).translate(_LOOK_ALIKES)
    return "".join(letter for letter in decomposed if letter.isascii())


def _nothing(_: str) -> str:
    return ""


def _of_code_units(text: str) -> str:
    units = bytes.fromhex(re.sub(r"\\[uU]", "", text))
    try:
        return units.decode("utf-32-be" if text.startswith("\\U") else "utf-16-be")
    except UnicodeDecodeError:
        return text


def _of_bytes(text: str) -> str:
    try:
        return bytes.fromhex(re.sub(r"=|%|\\x", "", text)).decode()
    except UnicodeDecodeError:
        return text


@lru_cache(maxsize=2**14)
def _of_run(number: int, run: str) -> str:
    """Characters beyond ASCII as the UTF-8 that was read in a code page; else as they are."""
    page = _PAGES[number]
    try:
        return bytes(page[char] for char in run).decode()
    except (KeyError, UnicodeDecodeError):
        return run


def _of_pieces(reading: _Reading) -> _Reading:
    """Without the blanks, of which a line of SentencePiece's pieces has one behind each."""
    return reading.undone(_BLANKS, _nothing) if "▁" in reading.text else reading


def _step(pattern: str, undo: Callable[[str], str] = _nothing) -> Callable[[_Reading], _Reading]:
    compiled = re.compile(pattern)
    return lambda reading: reading.undone(compiled, undo)


_BLANKS = re.compile("[▁ ]+")
_PAGES: tuple[Mapping[str, int], ...] = (TO_BYTE, *CODE_PAGES)
_STEPS: tuple[Callable[[_Reading], _Reading], ...] = (
    _of_pieces,
    _step(SUBWORDS.pattern),
    _step(r"[*_`]"),
    _step(f"[{''.join(map(chr, _LOOK_ALIKES))}]", lambda char: char.translate(_LOOK_ALIKES)),
    _step(r"<[^<>]*>"),
    _step(rf"{INVISIBLE.pattern}|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"),
    _step(r"=\r?\n"),  # a line that MIME has broken
    *(_step(r"[^\x00-\x7f]+", partial(_of_run, number)) for number in range(len(_PAGES))),
    _step(rf"{COMPATIBLE.pattern}|[\u037e\u1fef\u212a]", partial(unicodedata.normalize, "NFKC")),
    _step(r"(?:(?:=|%|\\x)[0-9a-fA-F]{2})+", _of_bytes),
    _step(r"(?:\\u[0-9a-fA-F]{4})+|\\U[0-9a-fA-F]{8}", _of_code_units),
    _step(REFERENCE.pattern, html.unescape),
)
"""How each disguise is undone; the last is tried first."""
