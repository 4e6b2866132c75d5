"""Romance languages: adjectives are on either side of their noun, and nouns show no case."""

from __future__ import annotations

from collections.abc import Sequence

from mtbias.language.grammar import NounKind
from mtbias.reading.rules import rule
from mtbias.reading.syntax.base import Syntax, qualified_before, qualifies
from mtbias.reading.syntax.phrase import NounPhrase
from mtbias.reading.words import (
    NOMINAL,
    SentenceWord,
    feature_values,
    numbers,
    word_before,
    word_behind,
)
from mtbias.types import SourceFacts, Span

_CONTENT = frozenset(("ADJ", "X", *NOMINAL))


class Romance(Syntax):
    """The syntax of Spanish, French, Italian and Portuguese."""

    attributes_follow = True
    attributes_either_side = True
    trusts_translations = True

    def doubtful_attributes(
        self, phrase: NounPhrase, rendering: Sequence[Span], source: SourceFacts
    ) -> frozenset[int]:
        """See `Syntax.doubtful_attributes`."""
        if source.qualified or not another_word_may_own(phrase, source):
            return frozenset()
        return frozenset(n for n in phrase.right if not _is_rendering(phrase.words[n], rendering))

    def is_attribute_before(self, words: Sequence[SentenceWord], n: int, head: int) -> bool:
        """See `Syntax.is_attribute_before`; a word for a sex may be there as well (es *mujeres
        pilotos*).
        """
        sex = words[n].form in self.language.sex_adjectives
        return sex or super().is_attribute_before(words, n, head)

    def joins_attributes(self, word: SentenceWord) -> bool:
        """A conjunction does (it *insegnante efficace ed ingegnoso*)."""
        return word.tags == {"CCONJ"}

    def is_attribute_behind(self, words: Sequence[SentenceWord], n: int, head: int) -> bool:
        """See `Syntax.is_attribute_behind`."""
        if words[n].form in self.language.sex_adjectives:
            return self.says_sex(words[n], words[head])
        return noun_of_same_person(words[n]) or super().is_attribute_behind(words, n, head)

    def says_sex(self, word: SentenceWord, noun: SentenceWord) -> bool:
        """One that is in the number of the noun (it *medici donne*)."""
        one, other = numbers(word), numbers(noun)
        apart = bool(one and other and one.isdisjoint(other))
        return super().says_sex(word, noun) and not apart

    def only_qualifies(self, words: Sequence[SentenceWord], n: int, *, sure: bool) -> bool:
        """See `Syntax.only_qualifies`."""
        return adjective_of_nobody(self, words, n)

    def is_attribute_of_fixed(self, words: Sequence[SentenceWord], n: int) -> bool:
        """See `Syntax.is_attribute_of_fixed`."""
        return noun_behind_fixed(words, n)

    def is_attribute_of_next(
        self, words: Sequence[SentenceWord], n: int, aligned: Sequence[int]
    ) -> bool:
        """Also a word for a sex (es *mujeres policía*, it *uomini medici*)."""
        if words[n].form in self.language.sex_adjectives and words[n + 1].is_personal:
            return True
        return super().is_attribute_of_next(words, n, aligned)

    def shared_determiners(self, phrase: NounPhrase) -> Sequence[NounPhrase]:
        """See `nouns_in_row`."""
        return nouns_in_row(phrase)


def _is_rendering(word: SentenceWord, rendering: Sequence[Span]) -> bool:
    return any(map(word.span.overlaps, rendering))


@rule("romance")
def another_word_may_own(phrase: NounPhrase, source: SourceFacts) -> bool:
    """Adjectives behind an entity that nothing qualifies in the source, and which are not among the
    words that render it, may belong to something else: a noun or object right behind them (it
    *l'aiutante tecnica nuova* for "the assistant new techniques", *l'auditor ferma barrer*), or an
    adverb behind the entity (fr *l'analyste torpemente*).
    """
    if source.before_adverb or phrase.head + 2 in phrase.right:
        return True
    following = word_behind(phrase.words, max(phrase.right, default=phrase.head))
    if following is None:
        return False
    content = bool(following.tags) and following.tags <= _CONTENT
    return content or "Inf" in feature_values(following.tagged, "VerbForm")


@rule("romance")
def noun_of_same_person(word: SentenceWord) -> bool:
    """A noun for people right behind another one, whose ending is an adjective's too, is no other
    person: es *su dentista favorita*, where the tagger sees a noun.

    But a masculine noun that is also used of women agrees with none (it *la nuova ufficiale capo*).
    """
    if word.tags != {"NOUN"} or not word.facts.names_person or not word.facts.adjective:
        return False
    return all(reading.kind is not NounKind.GENERIC for reading in word.readings)


@rule("romance")
def adjective_of_nobody(syntax: Syntax, words: Sequence[SentenceWord], n: int) -> bool:
    """An adjective of a noun for no person before it renders nobody (it *economia meccanica*).
    Other adjectives may stand between them.

    A determiner ends the search, also one that the tagger takes for a noun: it *dell’operaio*, fr
    *le·la chimiste*, where it reads an adjective behind it.
    """
    if n == 0 or not words[n].joined:
        return False
    noun = qualified_before(syntax, words, n)
    return noun.form not in syntax.language.determiners and qualifies(words[n], noun)


@rule("romance")
def noun_behind_fixed(words: Sequence[SentenceWord], n: int) -> bool:
    """A noun for people right behind one whose gender is nobody's is its attribute: es *las
    personas refugiadas*, *la parte demandante*, it *l'impresa costruttrice*.
    """
    noun = word_before(words, n)
    return noun is not None and bool(noun.readings) and not noun.is_personal


@rule("romance", otherwise=())
def nouns_in_row(phrase: NounPhrase) -> Sequence[NounPhrase]:
    """A singular noun without a determiner, behind "and", shares the article of the noun for the
    same person before it, farther off behind commas (es *un actor y cantante*).

    None where a preposition stands before that: es *entre la abogada y cliente* are two.
    """
    words, n = phrase.words, phrase.first - 1
    if n < 1 or not (words[n + 1].joined and words[n].joined) or words[n].tags != {"CCONJ"}:
        return ()
    return _row_before(phrase, n - 1)


def _row_before(phrase: NounPhrase, n: int) -> list[NounPhrase]:
    """The phrase that ends at `n`, and those before it in the row, nearest first."""
    words = phrase.words
    if phrase.number != "sg" or any(_determines(phrase, k) for k in phrase.left):
        return []
    while n > 0 and words[n].joined and words[n].is_adjective and not words[n].is_personal:
        n -= 1
    if not words[n].is_personal:
        return []
    before = phrase.syntax.phrase(words, n, phrase.number)
    opener = before.before()
    if "ADP" in words[before.first].tags or (opener is not None and "ADP" in opener.tags):
        return []
    return [before, *(_row_before(before, before.first - 1) if _in_list(before) else [])]


def _determines(phrase: NounPhrase, n: int) -> bool:
    word = phrase.words[n]
    return word.form in phrase.language.determiners or "DET" in word.tags


def _in_list(phrase: NounPhrase) -> bool:
    """A comma comes before the phrase, and no capital behind it."""
    word = phrase.words[phrase.first]
    return word.mark == "," and word.text[0].islower()
