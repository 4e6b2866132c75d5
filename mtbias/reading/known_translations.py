"""Translations of the entity by a language's table: of the word itself, in a phrase, or as the head
of one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mtbias.english.words import PREPOSITIONS, SourceWord, hyphenated_parts, singulars
from mtbias.language.definition import Language
from mtbias.language.source import ENGLISH, SourceLanguage
from mtbias.language.split_texts import SurfaceWord
from mtbias.reading.sentence_pair import Pair, entity_place
from mtbias.types import Span

KINSHIP = frozenset(("step", "grand", "great", "god", "half", "foster"))
"""Before a hyphen these name other people than the word behind it."""


class KnownTranslations:
    """Translations of words of the source by the plugin's nouns; each word is looked up once."""

    def __init__(self, language: Language, source: SourceLanguage = ENGLISH) -> None:
        """Nothing is looked up yet."""
        self.language, self.source = language, source
        self._entity_forms: dict[str, frozenset[str]] = {}
        """Entity → the forms that translate it."""
        self._word_forms: dict[tuple[str, str], frozenset[str]] = {}
        """Text and form of another word of the source → the forms that translate it."""
        self._others: tuple[str, range, list[frozenset[str]]] = ("", range(0), [])
        """A source, which words of it are the entity's own, and what translates the others."""
        self._phrases: dict[str, set[str]] = {}
        """English nouns of several words by each of their words."""
        for phrase in language.glossary if source is ENGLISH else ():
            if " " in phrase:
                for word in phrase.split(" "):
                    self._phrases.setdefault(word, set()).add(phrase)

    def forms(self, entity: str) -> frozenset[str]:
        """Folded forms that translate the entity ("construction worker"), as a phrase or by its
        head, which comes before a preposition ("editor in chief"); of another source than English
        by the nouns that its table has.
        """
        forms = self._entity_forms.get(entity)
        if forms is None:
            english = self.source is ENGLISH
            nouns = () if english else self.source.nouns(entity)
            forms = self._english_entity(entity) if english else self._nouns(nouns)
            self._entity_forms[entity] = forms
        return forms

    def _nouns(self, english: Sequence[str]) -> frozenset[str]:
        """Folded forms that translate one of the English nouns."""
        return frozenset[str]().union(*(self.language.glossary.get(noun, ()) for noun in english))

    def _english_entity(self, entity: str) -> frozenset[str]:
        *modifiers, head = entity.split(" ")
        heads = singulars(head)
        phrases = [" ".join([*modifiers, word]) for word in heads]
        preposition = next((n for n, w in enumerate(modifiers) if n and w in PREPOSITIONS), None)
        by_head = self._nouns(heads)
        if preposition is not None:
            by_head = self.forms(" ".join(modifiers[:preposition]))
        return self._nouns(phrases) | by_head or self._hyphenated(entity)

    def phrase_forms(self, pair: Pair) -> frozenset[str]:
        """Folded forms that translate the entity's head with the word before it in the sentence
        (*sales manager*, where the corpus has *manager* for the entity).
        """
        source = self.source.words(pair.source)
        return self._phrase_ending_at(source, entity_place(pair, source)[1])

    def wider_forms(self, pair: Pair) -> frozenset[str]:
        """Folded forms that translate a phrase with the entity's head (de
        *Generalsekretär*, "secretary general", for *secretary*), if the source does not have the
        phrase for somebody else; of another source than English, what the entity is made of (es
        *ayudante* for *Umzugshelfer*).
        """
        if pair.head is None:
            return frozenset()
        if self.source is not ENGLISH:
            return self._nouns(self.source.wider_nouns(pair.entity))
        rest = f"{pair.source[: pair.head.start]} | {pair.source[pair.head.end :]}".lower()
        phrases: set[str] = set()
        for word in singulars(pair.entity.rpartition(" ")[2]):
            phrases |= self._phrases.get(word, set())
        elsewhere = {p for p in phrases if re.search(rf"\b{re.escape(p)}", rest)}
        return frozenset[str]().union(*(self.language.glossary[p] for p in phrases - elsewhere))

    def _hyphenated(self, entity: str) -> frozenset[str]:
        """For a hyphenated word: written in one ("step-father"), as two ("flight-attendant"), or by
        its head.
        """
        first, head, behind = hyphenated_parts(entity)
        if behind:
            return self.forms(head)
        if not first:
            return frozenset()
        in_one = self.forms(first.replace("-", "") + head)
        forms = in_one or self.forms(f"{first} {head}".replace("-", " "))
        # By the last part alone a step-father would be a father, who may be beside him.
        return frozenset() if first in KINSHIP and forms <= self.forms(head) else forms

    def first_part(self, entity: str, words: Sequence[SurfaceWord]) -> Span | None:
        """The beginning of a compound among `words` that translates the entity (de *Frauen* in
        *Frauenrechte*).
        """
        forms = self.forms(entity)
        if not forms:
            return None
        for word in words:
            part = self.language.first_part(word.facts.text)
            if part and any(self.language.fold(reading.lemma) in forms for reading in part[1]):
                return Span(word.span.start, word.span.start + len(part[0]))
        return None

    def claimed(self, pair: Pair, word: SurfaceWord) -> bool:
        """Whether another word of the source, or one with that before it (*medical officer*), has
        `word` as its translation; so has a second mention of the entity.
        """
        forms, source = word.facts.dictionary_forms, self.source.words(pair.source)
        own = words_of_entity(pair, source)
        if self._others[:2] != (pair.source, own):
            others = (
                self.mention_forms(source, n, own) for n in range(len(source)) if n not in own
            )
            self._others = pair.source, own, [known for known in others if known]
        return any(not known.isdisjoint(forms) for known in self._others[2])

    def mention_forms(self, source: Sequence[SourceWord], n: int, own: range) -> frozenset[str]:
        """Folded forms that translate the n-th word of the source, or the phrase of two words that
        it ends. The phrase has none of the entity's `own` words.
        """
        phrase = frozenset[str]() if n - 1 in own else self._phrase_ending_at(source, n)
        return self.word_forms(source[n]) | phrase

    def word_forms(self, word: SourceWord) -> frozenset[str]:
        """Folded forms that translate a word of the source that is not the entity's, or the nouns
        of which it is made; empty where the spelling rules a noun out.
        """
        key = word.text, word.form
        if key not in self._word_forms:
            known = frozenset[str]()
            if self.source.may_be_noun(word):
                known = self.forms(word.form) | self._nouns(self.source.wider_nouns(word.form))
            self._word_forms[key] = known
        return self._word_forms[key]

    def _phrase_ending_at(self, source: Sequence[SourceWord], n: int) -> frozenset[str]:
        """Folded forms that translate the phrase of two words that ends with the n-th of the
        source.
        """
        before = source[n - 1].form if n > 0 else ""
        if before not in self._phrases:
            return frozenset()
        phrases = (f"{before} {word}" for word in singulars(source[n].form))
        return self._nouns(tuple(phrases))


def words_of_entity(pair: Pair, source: Sequence[SourceWord]) -> range:
    """The words of the source that are the entity's own: its head and the words before it in the
    entity (de *Script-Editor-Assistent* for *assistant script editor*), but no possessor (*the
    king's mistress* are two people).
    """
    head = [n for n, w in enumerate(source) if pair.head is not None and w.span.overlaps(pair.head)]
    if not head:
        return range(0)
    first = entity_place(pair, source)[0]
    return range(first if first >= 0 else head[0], head[-1] + 1)
