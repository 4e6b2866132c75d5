"""The different words of texts, counted as BUG's table 2 counts them: tokens of letters alone, in
lower case, where tokens are those of spaCy's English tokenizer.

The rules here are those of that tokenizer as far as they decide which tokens are letters alone: a
piece between blanks loses the marks before and behind it, and is then parted at hyphens, at slashes
and at a full stop or comma between words. What still has a mark in it (O'Brien, ESPN.com) is not a
word. They give the numbers that the paper prints of WinoMT (1,868 words) and of GAP (31,834). They
follow spaCy closely: beside spaCy 3.8.18, words are missing or added in Counter-GAP (1 and 1 of
8,193), Gold BUG (27 of 9,666) and MT-GenEval (1 of 2,604), and in WinoMT, GAP and WinoBias none.

Source: Levy, Lazar and Stanovsky, Findings of EMNLP 2021, section 3; spaCy's documentation, "How
spaCy's tokenizer works".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_URL = re.compile(r"(?:https?://|www\.|[\w.-]+\.(?:com|org|net|gov|edu|fi)/)\S*", re.IGNORECASE)
_BEFORE = re.compile(r"""[\]\[,:;!?(){}<>_#*&'"`´“”‘’„«»…§%=—–$£€+]|\.\.+""")
"""A mark that a token does not begin with."""
_BEHIND = re.compile(
    r"""(?:['’][sS] | [\]\[,:;!?(){}<>_\#*&'"`´“”‘’„«»…—–] | \.\.+
      | (?<=[0-9a-zà-öø-ÿ%+\-\]\[,:;!?(){}<>_\#*&'"`´“”‘’„«»])\. | (?<=[A-ZÀ-ÖØ-Þ]{2})\.)$""",
    re.VERBOSE,
)
"""A mark that a token does not end in."""
_BETWEEN = re.compile(
    r"""\.\.+ | … | (?<=[a-z"'`])\.(?=[A-Z"'`]) | (?<=[^\W\d_]),(?=[^\W\d_])
      | (?<=[^\W_])(?:---?|[-–—~])(?=[^\W\d_]) | (?<=[^\W_])[:<>=/](?=[^\W\d_])""",
    re.VERBOSE,
)
"""What parts a piece in two tokens."""
_NOT = re.compile(
    r"(?P<verb>ai|are|ca|could|did|does|do|had|has|have|is|may|might|must|need|ought|sha|should|was"
    r"|were|wo|would)n['’]?t",
    re.IGNORECASE,
)
_CLITIC = re.compile(
    r"(?P<word>i|you|he|she|it|we|they|who|what|where|when|why|how|that|there|this|these|those|let"
    r"|could|might|must|should|would|ma)['’](?:s|m|d|ll|re|ve|am)",
    re.IGNORECASE,
)
_IN_TWO = {
    "cannot": ("can", "not"), "gonna": ("gon", "na"), "gotta": ("got", "ta"),
    "dont": ("do", "nt"), "didnt": ("did", "nt"), "wont": ("wo", "nt"), "im": ("i", "m"),
    "wed": ("we", "d"),
}  # fmt: skip
"""Words that the tokenizer parts."""
_ABBREVIATIONS = """
    Adm. Ala. Apr. Ariz. Ark. Aug. Bros. Calif. Co. Colo. Conn. Corp. Dec. Del. Dr. Feb. Fla. Ga.
    Gen. Gov. Ia. Ill. Inc. Ind. Jan. Jr. Jul. Jun. Kan. Kans. Ky. La. Ltd. Mar. Mass. Md. Messrs.
    Mich. Minn. Miss. Mo. Mont. Mr. Mrs. Ms. Mt. Neb. Nebr. Nev. Nov. Oct. Okla. Ore. Pa. Prof. Rep.
    Rev. Sen. Sep. Sept. St. Tenn. Va. Wash. Wis. co. vs. Ph.D. doin' Doin' goin' Goin' nothin'
    Nothin' somethin' Somethin' 's
    """
_WHOLE = frozenset(_ABBREVIATIONS.split())
"""Pieces whose mark is a part of them, so that they are not letters alone."""


def different_words(texts: Iterable[str]) -> set[str]:
    """The different words of `texts`, in lower case."""
    pieces: set[str] = set()
    for text in texts:
        pieces.update(text.split())
    words: set[str] = set()
    for piece in pieces:
        words.update(map(str.lower, _words(piece)))
    return words


def _words(piece: str) -> Iterator[str]:
    """The tokens of letters alone in a piece of text without blanks."""
    left = piece
    while left and not _stays(left):
        before, behind = _BEFORE.match(left), _BEHIND.search(left)
        if before:
            left = left[before.end() :]
        elif behind:
            left = left[: behind.start()]
        else:
            break
    if left in _WHOLE or _URL.match(left):
        return
    for token in _BETWEEN.split(left):
        yield from _letters(token)


def _stays(piece: str) -> bool:
    """Whether no mark is taken from a piece."""
    kinds = (_URL.match, _NOT.fullmatch, _CLITIC.fullmatch)
    return piece in _WHOLE or piece.isalpha() or any(kind(piece) for kind in kinds)


def _letters(token: str) -> Iterator[str]:
    negated, clitic = _NOT.fullmatch(token), _CLITIC.fullmatch(token)
    if negated:
        yield negated["verb"]
    elif clitic:
        yield clitic["word"]
    elif token.isalpha():
        yield from _IN_TWO.get(token.lower(), (token,))
