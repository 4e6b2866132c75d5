"""The cheap filter before parsing: whether a text holds a listed noun and a gendered pronoun at all."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W_]+")


class WordFilter:
    """Tells which texts may hold a find: those with a listed noun and a pronoun as whole words, in any case.

    Whatever is no letter or digit ends a word, so *doctor's* holds *doctor* and *he's* holds *he*: a tokenizer finds no
    word of the lists where this filter finds none.
    """

    def __init__(self, nouns: Iterable[str], pronouns: Iterable[str]) -> None:
        """Both in lower case."""
        self._pronouns = frozenset(pronouns)
        listed = frozenset(nouns)
        self._nouns = frozenset(noun for noun in listed if _WORD.fullmatch(noun))
        self._phrases = sorted(listed - self._nouns)
        """Nouns of several words (*vice-president*)."""
        self._pronoun = re.compile(rf"(?<![^\W_])(?:{'|'.join(sorted(self._pronouns))})(?![^\W_])", re.IGNORECASE)

    def __call__(self, text: str) -> bool:
        """Whether `text` may hold a find."""
        if not self._pronoun.search(text):  # most texts end here
            return False
        lower = text.lower()
        return not self._nouns.isdisjoint(_WORD.findall(lower)) or any(phrase in lower for phrase in self._phrases)

    @property
    def words(self) -> tuple[str, ...]:
        """What the answers depend on."""
        return (*sorted(self._nouns), *self._phrases, *sorted(self._pronouns))
