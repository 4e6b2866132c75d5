"""What a language's table knows as translations of the entity: the word itself, in a phrase, or as
the head of one.
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
    """What the plugin's nouns know as translations of words of the source; each word is looked up
    once.
    """

    def __init__(self, language: Language, source: SourceLanguage = ENGLISH) -> None:
        """Nothing is looked up yet."""
        self.language, self.source = language, source
        self._found: dict[str, frozenset[str]] = {}
        self._of_words: dict[tuple[str, str], frozenset[str]] = {}
        """The same of words as other words than the entity, by their text and form."""
        self._others: tuple[str, range, list[frozenset[str]]] = ("", range(0), [])
        """A source, which words of it are the entity's own, and what translates the others."""
        self._phrases: dict[str, set[str]] = {}
        """English nouns of several words by each of their words."""
        for phrase in language.glossary if source is ENGLISH else ():
            if " " in phrase:
                for word in phrase.split(" "):
                    self._phrases.setdefault(word, set()).add(phrase)

    def of(self, entity: str) -> frozenset[str]:
        """Folded forms that translate the entity ("construction worker"), as a phrase or by its
        head, which stands before a preposition ("editor in chief"); of another source than English
        by the nouns that its table has.
        """
        if entity not in self._found:
            english = self.source is ENGLISH
            self._found[entity] = (
                self._of_english(entity) if english else self._of_nouns(self.source.nouns(entity))
            )
        return self._found[entity]

    def _of_nouns(self, english: Sequence[str]) -> frozenset[str]:
        return frozenset[str]().union(*(self.language.glossary.get(noun, ()) for noun in english))

    def _of_english(self, entity: str) -> frozenset[str]:
        known, (*modifiers, head) = self.language.glossary, entity.split(" ")
        whole = (known.get(" ".join([*modifiers, w]), frozenset()) for w in singulars(head))
        inner = next((n for n in range(1, len(modifiers)) if modifiers[n] in PREPOSITIONS), None)
        alone = [known.get(w, frozenset()) for w in singulars(head)]
        if inner is not None:
            alone = [self.of(" ".join(modifiers[:inner]))]
        return frozenset[str]().union(*whole, *alone) or self._of_parts(entity)

    def of_phrase(self, pair: Pair) -> frozenset[str]:
        """Folded forms that translate the entity's head with the word before it in the sentence
        (*sales manager*, where the corpus has *manager* for the entity).
        """
        source = self.source.words(pair.source)
        return self._of_ending_at(source, entity_place(pair, source)[1])

    def of_phrases_with(self, pair: Pair) -> frozenset[str]:
        """Folded forms that translate a phrase in which the entity's head stands (de
        *Generalsekretär*, "secretary general", for *secretary*), if the source does not have the
        phrase for somebody else; of another source than English, what the entity is made of (es
        *ayudante* for *Umzugshelfer*).
        """
        if pair.head is None:
            return frozenset()
        if self.source is not ENGLISH:
            return self._of_nouns(self.source.wider_nouns(pair.entity))
        rest = f"{pair.source[: pair.head.start]} | {pair.source[pair.head.end :]}".lower()
        phrases = {
            p
            for word in singulars(pair.entity.rpartition(" ")[2])
            for p in self._phrases.get(word, ())
        }
        elsewhere = {p for p in phrases if re.search(rf"\b{re.escape(p)}", rest)}
        return frozenset[str]().union(*(self.language.glossary[p] for p in phrases - elsewhere))

    def _of_parts(self, entity: str) -> frozenset[str]:
        """For a hyphenated word: written in one ("step-father"), as two ("flight-attendant"), or by
        its head.
        """
        first, head, behind = hyphenated_parts(entity)
        if behind:
            return self.of(head)
        if not first:
            return frozenset()
        written = self.of(first.replace("-", "") + head) or self.of(
            f"{first} {head}".replace("-", " ")
        )
        # By the last part alone a step-father would be a father, who may stand beside him.
        return frozenset() if first in KINSHIP and written <= self.of(head) else written

    def first_part(self, entity: str, words: Sequence[SurfaceWord]) -> Span | None:
        """The beginning of a compound among `words` that translates the entity (de *Frauen* in
        *Frauenrechte*).
        """
        forms = self.of(entity)
        for word in words:
            part = self.language.first_part(word.facts.text) if forms else None
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
            others = (self.of_mention(source, n, own) for n in range(len(source)) if n not in own)
            self._others = pair.source, own, [known for known in others if known]
        return any(not known.isdisjoint(forms) for known in self._others[2])

    def of_mention(self, source: Sequence[SourceWord], n: int, own: range) -> frozenset[str]:
        """Folded forms that translate the n-th word of the source, or the phrase of two words that
        it ends. The phrase has none of the entity's `own` words.
        """
        phrase = frozenset[str]() if n - 1 in own else self._of_ending_at(source, n)
        return self.of_word(source[n]) | phrase

    def of_word(self, word: SourceWord) -> frozenset[str]:
        """Folded forms that translate a word of the source, or what it is made of, as another than
        the entity; what is written as no noun translates nobody.
        """
        key = word.text, word.form
        if key not in self._of_words:
            known = frozenset[str]()
            if self.source.may_be_noun(word):
                known = self.of(word.form) | self._of_nouns(self.source.wider_nouns(word.form))
            self._of_words[key] = known
        return self._of_words[key]

    def _of_ending_at(self, source: Sequence[SourceWord], n: int) -> frozenset[str]:
        """Folded forms that translate the phrase of two words that ends with the n-th of the
        source.
        """
        before = source[n - 1].form if n > 0 else ""
        if before not in self._phrases:
            return frozenset()
        phrases = (f"{before} {word}" for word in singulars(source[n].form))
        return self._of_nouns(tuple(phrases))


def words_of_entity(pair: Pair, source: Sequence[SourceWord]) -> range:
    """Which words of the source are the entity's own: its head and what stands before it in the
    entity (de *Script-Editor-Assistent* for *assistant script editor*), but no possessor (*the
    king's mistress* are two people).
    """
    head = [n for n, w in enumerate(source) if pair.head is not None and w.span.overlaps(pair.head)]
    if not head:
        return range(0)
    first = entity_place(pair, source)[0]
    return range(first if first >= 0 else head[0], head[-1] + 1)
