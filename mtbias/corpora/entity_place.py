"""Finding the head word of an entity in its sentence, from a token index or a phrase.

English noun phrases such as corpora have ("construction worker") end in their head; for other
languages see `mtbias.language.source.SourceLanguage.head`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from mtbias.language.source import ENGLISH, SourceLanguage
from mtbias.types import Span, frozen

AS_GIVEN = "as given"
CORRECTED = "corrected"
NEAREST = "nearest"

_TOKEN = re.compile(r"\S+")


@frozen
class EntityPlace:
    """The place of an entity in its sentence."""

    head: Span
    """Characters of the head word, without punctuation and possessive ending."""
    index: int
    """Index of the phrase's first token."""
    how: str
    """``as given``, ``corrected`` (it occurs once, elsewhere) or ``nearest`` (it occurs several
    times, elsewhere)."""


def tokens(text: str) -> list[Span]:
    """Spans of the whitespace tokens of `text`, as `str.split` divides it."""
    return [Span(*match.span()) for match in _TOKEN.finditer(text)]


def core(text: str, span: Span, source: SourceLanguage = ENGLISH) -> Span:
    """`span` without punctuation at its ends, a possessive *'s* and an elided article (fr
    *l'avocate*); unchanged if nothing else is there.
    """
    start, end = span
    while start < end and _is_edge(text[start]):
        start += 1
    while end > start and _is_edge(text[end - 1]):
        end -= 1
    if start == end:
        return span
    if end - start > 2 and text[end - 2 : end].lower() in {"'s", "’s"}:
        end -= 2
    return source.bare(text, Span(start, end))


def _is_edge(char: str) -> bool:
    return unicodedata.category(char)[0] in "PSZC"


def is_within_word(text: str, place: int) -> bool:
    """Whether the characters before and at `place` belong to one word: two letters, or a letter and
    its mark.

    Only letters with capitals count: in other scripts words may have no blanks between them, or
    articles are attached to the noun (he *הרופאה*).
    """
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    cased = before.lower() != before.upper() and after.lower() != after.upper()
    return cased or unicodedata.category(after)[0] == "M"


def words(phrase: str, source: SourceLanguage = ENGLISH) -> list[str]:
    """The words of `phrase` for comparison: case-folded, and cut by `core`."""
    return [phrase[slice(*core(phrase, span, source))].casefold() for span in tokens(phrase)]


def find_phrase(
    text: str, spans: Sequence[Span], phrase: Sequence[str], source: SourceLanguage = ENGLISH
) -> list[int]:
    """Indices of the tokens at which `phrase` (see `words`) starts; empty for an empty phrase."""
    if not phrase:
        return []
    folded, n = [text[slice(*core(text, span, source))].casefold() for span in spans], len(phrase)
    return [i for i in range(len(folded) - n + 1) if folded[i : i + n] == list(phrase)]


def phrase_at(
    text: str,
    spans: Sequence[Span],
    phrase: Sequence[str],
    index: int,
    source: SourceLanguage = ENGLISH,
) -> bool:
    """Whether `phrase` (see `words`) starts at token `index`."""
    return find_phrase(text, spans[index : index + len(phrase)], phrase, source) == [0]


def locate(
    text: str, spans: Sequence[Span], index: int, phrase: str, source: SourceLanguage = ENGLISH
) -> EntityPlace | None:
    """The head of `phrase` in a text of the language `source`; a corpus has token `index` of
    `spans` as its beginning.

    If the phrase is at `index`, in any case, the index is right. If it occurs once elsewhere, the
    index is corrected; if it occurs several times elsewhere, the occurrence nearest to `index` is
    taken (the earlier of two equally near). None if it does not occur.
    """
    entity_words = words(phrase, source)
    best, how = index, AS_GIVEN
    if not phrase_at(text, spans, entity_words, index, source):
        occurrences = find_phrase(text, spans, entity_words, source)
        if not occurrences:
            return None
        best = min(occurrences, key=lambda i: (abs(i - index), i))
        how = CORRECTED if len(occurrences) == 1 else NEAREST
    return EntityPlace(
        head=core(text, spans[best + source.head(entity_words)], source), index=best, how=how
    )
