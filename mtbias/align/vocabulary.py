"""Word types as the aligner counts them, and the sentence pairs as integer arrays.

The types are coarser than words, so that a few thousand sentences are enough: case and marks are folded, written-on
articles and prepositions are cut where the rest is a word of the corpus, inflectional endings are cut.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from mtbias.plugin import Language, SurfaceToken
from mtbias.types import Span

_ENGLISH = re.compile(r"[A-Za-z0-9\u00c0-\u024f]+(?:[-'’][A-Za-z0-9\u00c0-\u024f]+)*")
_CLITIC = re.compile(r"(?:n['’]t|['’](?:s|re|ve|ll|d|m))$", re.IGNORECASE)

IntArray = NDArray[np.int64]


def english_tokens(text: str) -> list[SurfaceToken]:
    """English words of `text` in order, clitics (``'s``, ``n't``) split off, punctuation dropped, lower-cased."""
    tokens = []
    for match in _ENGLISH.finditer(text):
        start, end, word = match.start(), match.end(), match.group()
        clitic = _CLITIC.search(word)
        cut = start + clitic.start() if clitic and clitic.start() > 0 else end
        for left, right in ((start, cut), (cut, end)):
            if right > left:
                piece = text[left:right]
                tokens.append(SurfaceToken(Span(left, right), piece, piece.lower().replace("’", "'")))
    return tokens


def target_keys(language: Language, forms: Iterable[str]) -> dict[str, str]:
    """Folded target form → the type that the aligner counts.

    A written-on article or preposition is cut where the rest is in the plugin's nouns or occurs in the corpus on its
    own or behind another one; then the longest inflectional ending is cut.
    """
    counts = Counter(forms)
    bare: Counter[str] = Counter()
    for form, count in counts.items():
        for _, base in language.bases(form):
            bare[base] += count
    return {form: language.stem(_base(language, form, counts, bare)) for form in counts}


def _base(language: Language, form: str, counts: Mapping[str, int], bare: Mapping[str, int]) -> str:
    if form in language.nouns:
        return form
    for _, base in language.bases(form)[1:]:
        if base in language.nouns:
            return base
    for _, base in language.bases(form)[1:]:
        if len(base) >= 3 and (base in counts or bare[base] > 2 * counts[form]):
            return base
    return form


@dataclass(frozen=True)
class Side:
    """One language's half of the pairs: type ids of all tokens in a row, and where each sentence starts."""

    ids: IntArray
    offsets: IntArray
    types: tuple[str, ...]

    @property
    def lengths(self) -> IntArray:
        """Tokens per sentence, shape [pairs]."""
        return np.diff(self.offsets)


def index_side(sentences: Sequence[Sequence[str]]) -> Side:
    """Number the types of `sentences` in order of first appearance (so that the same input gives the same numbers)."""
    numbers: dict[str, int] = {}
    ids = [numbers.setdefault(form, len(numbers)) for form in chain.from_iterable(sentences)]
    lengths = np.fromiter((len(s) for s in sentences), np.int64, len(sentences))
    return Side(np.asarray(ids, np.int64), np.concatenate(([0], np.cumsum(lengths))), tuple(numbers))
