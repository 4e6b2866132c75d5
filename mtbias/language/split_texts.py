"""The texts of one language as words: each text is split once, each distinct surface form is looked
up once.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from mtbias.language.definition import Language
from mtbias.language.grammar import WordFacts
from mtbias.language.source import ENGLISH, SourceLanguage
from mtbias.types import Span

T = TypeVar("T")

# Bing's Arabic of 2019 has one such form to 168 of the other letter and writes dozens of nouns so;
# Google's and MT-GenEval's references have none to some 700.
MIN_KEPT = 300
"""Words that end in the letter for each noun that is surely carelessly written, at least, for the
letter to be believed."""


class SurfaceWord(NamedTuple):
    """A word of a text, with all that its language says of the form."""

    span: Span
    facts: WordFacts


class SplitTexts:
    """Splits texts into words and remembers them, for the stages of one run.

    Memory: 8 bytes a word of the distinct texts, and the facts of the distinct forms; the words
    themselves, which would take twenty times as much, are put together when they are asked for.
    """

    def __init__(self, language: Language, source: SourceLanguage = ENGLISH) -> None:
        """Nothing is split yet; the texts are translations from `source`."""
        self.language, self.source = language, source
        self._facts: list[WordFacts] = []
        self._numbers: dict[str, int] = {}
        """Surface form → its place in `_facts`."""
        self._apart = (-1, False)
        """The number of forms, and the answer of `keeps_apart` for them."""
        self._shared: dict[Callable[[Language, SourceLanguage], Any], Any] = {}
        self._texts: dict[str, array[int]] = {}
        """Text → where its first word starts and the number of its form, then the second's, and so
        on."""

    def shared(self, make: Callable[[Language, SourceLanguage], T]) -> T:
        """The value of `make` for the two languages, computed once for all stages."""
        if make not in self._shared:
            self._shared[make] = make(self.language, self.source)
        value: T = self._shared[make]
        return value

    def words(self, text: str) -> list[SurfaceWord]:
        """The words of `text` in order, elided articles and prepositions split off, punctuation
        dropped.
        """
        split = self._texts.get(text)
        if split is None:
            split = self._texts[text] = self._split(text)
        facts = [self._facts[number] for number in split[1::2]]
        return [
            SurfaceWord(Span(start, start + len(f.text)), f)
            for start, f in zip(split[::2], facts, strict=True)
        ]

    def keeps_apart(self, careless: str, letter: str) -> bool:
        """Whether the texts write `letter` at a word's end, and hardly ever `careless` for it: told
        by the nouns with an article, behind which `careless` can be nothing else (ar *المديره* for
        *المديرة*).
        """
        if self._apart[0] != len(self._facts):
            self._apart = len(self._facts), self._counted_apart(careless, letter)
        return self._apart[1]

    def _counted_apart(self, careless: str, letter: str) -> bool:
        language = self.language
        correct = wrong = 0
        for facts in self._facts:
            if facts.form.endswith(letter):
                correct += 1
            elif facts.form.endswith(careless) and language.is_definite(facts.form):
                meant = language.noun(facts.form.removesuffix(careless) + letter)
                lemmas = {reading.lemma for reading in facts.readings}
                wrong += bool(lemmas) and lemmas <= {reading.lemma for reading in meant}
        return correct > wrong * MIN_KEPT

    def _split(self, text: str) -> array[int]:
        split = array("i")
        for token in self.language.tokens(text):
            number = self._numbers.setdefault(token.text, len(self._facts))
            if number == len(self._facts):
                self._facts.append(self.language.facts(token.text))
            split.extend((token.span.start, number))
        return split
