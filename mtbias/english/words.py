"""The words of an English sentence, as alignment counts them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from mtbias.types import Span

_WORD = re.compile(r"[A-Za-z0-9\u00c0-\u024f]+(?:[-'’][A-Za-z0-9\u00c0-\u024f]+)*")
_CLITIC = re.compile(r"(?:n['’]t|['’](?:s|re|ve|ll|d|m))$", re.IGNORECASE)


_DETERMINERS = "the a an this that these those my your his her its our their 's some any no every each another which"
DETERMINERS = frozenset(_DETERMINERS.split())
"""What may begin a noun phrase and qualifies nothing."""

_QUANTIFIERS = """
    one ones two three four five six seven eight nine ten eleven twelve both few many most several some all other others
    another latter former first second third last same rest
    """
QUANTIFIERS = frozenset(_QUANTIFIERS.split())
"""What may stand for people without a noun ("the two", "others")."""


class EnglishWord(NamedTuple):
    """A word of a source sentence."""

    span: Span
    text: str
    form: str
    """`text` in lower case, with straight apostrophes."""


PREPOSITIONS = frozenset(("at", "by", "de", "for", "from", "in", "of", "on", "to", "with"))
CONJUNCTIONS = frozenset(("and", "or"))


def hyphenated_parts(word: str) -> tuple[str, str, str]:
    """(before, head, behind) of a hyphenated word: the last part is its head (*flight-attendant*), the first one where
    a preposition stands inside (*colonel-in-chief*, *groom-to-be*). Without a hyphen all of it is the head.
    """
    parts = word.split("-")
    if len(parts) > 2 and not PREPOSITIONS.isdisjoint(parts[1:-1]):
        return "", parts[0], "-".join(parts[1:])
    return "-".join(parts[:-1]), parts[-1], ""


@lru_cache(maxsize=1)  # alignment asks for one sentence's words several times in a row
def english_words(text: str) -> tuple[EnglishWord, ...]:
    """Words of `text` in order, clitics (``'s``, ``n't``) split off, punctuation dropped."""
    words = []
    for match in _WORD.finditer(text):
        start, end, word = match.start(), match.end(), match.group()
        clitic = _CLITIC.search(word)
        cut = start + clitic.start() if clitic and clitic.start() > 0 else end
        for left, right in ((start, cut), (cut, end)):
            if right > left:
                piece = text[left:right]
                words.append(EnglishWord(Span(left, right), piece, piece.lower().replace("’", "'")))
    return tuple(words)
