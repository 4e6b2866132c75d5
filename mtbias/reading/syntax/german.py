"""Germanic languages, with case (German) and without (Dutch): adjectives come before their noun,
and nouns are compounded.
"""

from __future__ import annotations

from collections.abc import Sequence

from mtbias.language.grammar import Agreement
from mtbias.reading.rules import rule
from mtbias.reading.syntax.base import Syntax
from mtbias.reading.syntax.cased import Cased
from mtbias.reading.words import NOMINAL, SentenceWord


class Germanic(Syntax):
    """The syntax of a Germanic language whose nouns show no case."""

    def is_attribute_of_next(
        self, words: Sequence[SentenceWord], n: int, aligned: Sequence[int]
    ) -> bool:
        """Also the first part of a compound that is written apart."""
        if n + 1 in aligned and compound_written_apart(words[n], words[n + 1]):
            return words[n + 1].is_personal
        return super().is_attribute_of_next(words, n, aligned)


class German(Germanic, Cased):
    """The syntax of German."""

    def declension(
        self,
        words: Sequence[SentenceWord],
        left: Sequence[int],
        agreements: list[Agreement],
        number: str | None,
    ) -> list[Agreement]:
        """See `weak_endings`."""
        determined = any(words[n].form in self.language.determiners for n in left)
        if number != "sg" or determined:
            return agreements
        weak = weak_endings(self.language.weak)
        return [a for a in agreements if a not in weak] or agreements


@rule("germanic")
def compound_written_apart(word: SentenceWord, following: SentenceWord) -> bool:
    """Two nouns that are aligned and stand in a row are a compound, of which the second is the
    head: de *die General Managerin*.
    """
    return bool(word.tags & following.tags & NOMINAL)


@rule("germanic", otherwise=())
def weak_endings(weak: Sequence[Agreement]) -> Sequence[Agreement]:
    """A noun declined like an adjective has no weak ending where no determiner stands before it: de
    *Sie wurde Vorsitzende* is a woman, a man would be *Vorsitzender*. Not in the plural:
    *Angestellte protestierten*.
    """
    return weak
