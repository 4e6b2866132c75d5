"""The entity's noun phrase in its sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mtbias.language.definition import Language
from mtbias.language.grammar import Agreement
from mtbias.reading.words import SentenceWord, compound_end, word_before
from mtbias.types import frozen

if TYPE_CHECKING:
    from mtbias.reading.syntax.base import Syntax


@frozen
class NounPhrase:
    """The entity's noun phrase; `mtbias.reading.syntax.Syntax.phrase` makes it."""

    words: Sequence[SentenceWord]
    head: int
    left: Sequence[int]
    """Determiners, titles and adjectives before the head, nearest first."""
    right: Sequence[int]
    """Adjectives after it."""
    agreements: Sequence[Agreement]
    """The agreements of the head's form by the plugin's table; any where the table does not have
    it."""
    syntax: Syntax
    number: str | None
    """The entity's number in the source."""
    doubtful: frozenset[int] = frozenset()
    """Of `right`, what may be no attribute of the head."""

    @property
    def language(self) -> Language:
        """The language, which has the tables."""
        return self.syntax.language

    @property
    def first(self) -> int:
        """Index of the phrase's first word."""
        return min((*self.left, self.head))

    @property
    def last(self) -> int:
        """Index of its last word."""
        return max((*self.right, compound_end(self.words, self.head)))

    def before(self) -> SentenceWord | None:
        """The word right before the phrase, in the same clause."""
        return word_before(self.words, self.first)
