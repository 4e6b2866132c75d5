"""What can be seen in translations without knowing what they should say: the language, copies, repetition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from mtbias.translate.repetition import is_repetitive
from mtbias.translate.text_language import is_copy, words

# In languages that drop pronouns "he", "she" and "they" are one translation: three sources at most for those systems.
SAME_FOR = 5
"""A translation counts as repeated where it stands for so many different sources."""


def copies(sources: Sequence[str], texts: Sequence[str | None]) -> list[bool]:
    """Whether each text is its source, or nearly so: the Dice coefficient of their words is `NEARLY_EQUAL` or more."""
    pairs = zip(sources, texts, strict=True)
    return [text is not None and is_copy(words(source), words(text)) for source, text in pairs]


def loops(texts: Sequence[str | None]) -> list[bool]:
    """Whether each text repeats a run of its words (`mtbias.translate.repetition`)."""
    return [text is not None and is_repetitive(text) for text in texts]


def repeated(sources: Sequence[str], texts: Sequence[str | None]) -> list[bool]:
    """Whether each text is the translation of `SAME_FOR` different sources or more."""
    found = [None if text is None else words(text) for text in texts]
    stands_for: defaultdict[tuple[str, ...], set[tuple[str, ...]]] = defaultdict(set)
    for source, text in zip(sources, found, strict=True):
        if text is not None:
            stands_for[text].add(words(source))
    return [text is not None and len(stands_for[text]) >= SAME_FOR for text in found]
