"""Semitic languages: adjectives, demonstratives and genitives follow their noun, with whose article
an adjective agrees.
"""

from __future__ import annotations

from collections.abc import Sequence

from mtbias.reading.rules import rule
from mtbias.reading.syntax.base import (
    Syntax,
    qualified_before,
    qualifies,
    sex_words_against,
)
from mtbias.reading.syntax.cased import attribute_of_noun_behind
from mtbias.reading.syntax.phrase import NounPhrase
from mtbias.reading.syntax.predicate import attributes_end
from mtbias.reading.words import (
    CONJUNCTION,
    NOMINAL,
    VERBAL,
    SentenceWord,
    feature_values,
    numbers,
    word_before,
    word_behind,
)
from mtbias.types import SourceFacts, Span


class Semitic(Syntax):
    """The syntax of Arabic and Hebrew."""

    attributes_precede = False
    attributes_follow = True
    determiners_follow = True

    def doubtful_attributes(
        self, phrase: NounPhrase, rendering: Sequence[Span], source: SourceFacts
    ) -> frozenset[int]:
        """See `sex_word_of_another`."""
        return sex_word_of_another(phrase, source)

    def doubts_pronoun(self, word: SentenceWord) -> bool:
        """Also one that stands for the copula (he *העבודה היא*)."""
        return True

    def is_attribute_before(self, words: Sequence[SentenceWord], n: int, head: int) -> bool:
        """No adjective comes before its noun."""
        return False

    def own_attributes(
        self, words: Sequence[SentenceWord], head: int, places: list[int], *, determined: bool
    ) -> list[int]:
        """See `Syntax.own_attributes`."""
        return [n for n in places if not attribute_of_noun_behind(words, n, head)]

    def is_predicate_form(self, word: SentenceWord) -> bool:
        """Also a whole verb of the table, whatever the tagger makes of it: he *הממונה התרשם* "the
        supervisor was impressed".
        """
        return super().is_predicate_form(word) or self.is_listed_verb(word)

    def is_listed_verb(self, word: SentenceWord) -> bool:
        """A whole verb that the plugin lists: verb and adjective are easily confused."""
        verbs = self.language.verbs
        return word.form in verbs.words or any(word.form == ending for ending, _ in verbs.endings)

    def may_be_attribute_of(self, noun: SentenceWord, word: SentenceWord) -> bool:
        """An attribute has its noun's article: ar *الطباخ دائمًا* "the cook always" is none."""
        return self.language.same_definiteness(noun.form, word.form)

    def is_determiner_behind(self, words: Sequence[SentenceWord], n: int, head: int) -> bool | None:
        """See `Syntax.is_determiner_behind`."""
        if words[n].form not in self.language.determiners:
            return None
        return not determiner_opens_another(self, words, n, head)

    def is_attribute_behind(self, words: Sequence[SentenceWord], n: int, head: int) -> bool:
        """See `Syntax.is_attribute_behind`."""
        word, noun = words[n], words[head]
        if word.form in self.language.sex_adjectives:
            return self.says_sex(word, noun)
        plain = word.is_adjective and not word.tags & {"ADP", "CCONJ"}
        if not (plain or whole_adjective(self, word)):
            return False
        return not word.readings or person_behind_person(self, word, noun)

    def says_sex(self, word: SentenceWord, noun: SentenceWord) -> bool:
        """Behind a noun in the construct it is a genitive (he *מאמני נשים* "women's coaches"), else
        an attribute (ar *الأطباء الإناث*).
        """
        one, other = numbers(word), numbers(noun)
        construct = "Cons" in feature_values(noun.content, "Definite")
        construct = construct or bool(one and other and one.isdisjoint(other))
        attribute = self.language.is_definite(noun.form) or not construct
        return attribute and super().says_sex(word, noun)

    def belongs_to_following(self, words: Sequence[SentenceWord], n: int) -> bool:
        """No adjective comes before its noun."""
        return False

    def starts_construct(self, words: Sequence[SentenceWord], n: int) -> int:
        """See `noun_of_genitive`."""
        return n - 1 if noun_of_genitive(self, words, n) else n

    def only_qualifies(self, words: Sequence[SentenceWord], n: int, *, sure: bool) -> bool:
        """See `adjective_of_nobody`."""
        return not sure and adjective_of_nobody(self, words, n)

    def is_attribute_of_next(
        self, words: Sequence[SentenceWord], n: int, aligned: Sequence[int]
    ) -> bool:
        """No attribute comes before its noun."""
        return False

    def qualifies_next(
        self, words: Sequence[SentenceWord], n: int, translations: Sequence[Span]
    ) -> bool:
        """No adjective comes before its noun."""
        return False

    def bare_predicate(self, phrase: NounPhrase) -> SentenceWord | None:
        """See `adjective_without_article`."""
        return adjective_without_article(self, phrase)

    def genitives_end(self, phrase: NounPhrase) -> int:
        """Index of the last word of the genitive right behind the head, with its adjective (he *ראש
        המחלקה הרפואית*), and of the name behind it (he *המורה רותי כהן*).
        """
        words, n = phrase.words, self._genitive_end(phrase)
        while (word := word_behind(words, n)) and word.tags == {"PROPN"}:
            n += 1
        return n

    def _genitive_end(self, phrase: NounPhrase) -> int:
        words, n = phrase.words, phrase.last
        if self.language.is_definite(words[phrase.head].form):
            return n
        while (following := word_behind(words, n)) and self._is_bare_noun(following):
            n += 1
        if n == phrase.last or following is None or not following.is_adjective:
            return n
        if "CCONJ" in following.tags or self.is_listed_verb(following):
            return n
        definite = self.language.is_definite
        return n + (definite(words[n].form) and definite(following.form))

    def _is_bare_noun(self, word: SentenceWord) -> bool:
        """A noun with at most an article written on, and no verb."""
        written_on = word.tags & {"ADP", "PRON", *VERBAL, *CONJUNCTION}
        return bool(word.tags & NOMINAL) and not written_on and not self.is_listed_verb(word)

    def without_compound(
        self, words: Sequence[SentenceWord], aligned: Span, translations: Sequence[Span]
    ) -> Sequence[SentenceWord]:
        """See `later_part_of_compound`."""
        n = next((n for n, word in enumerate(words) if word.span == aligned), 0)
        if not later_part_of_compound(words, n, translations):
            return words
        first = n - words[n].compound
        single = list(words)
        for k, word in enumerate(words):
            if k - word.compound == first:
                single[k] = word._replace(readings=word.facts.readings, compound=0)
        return single


@rule("semitic", otherwise=frozenset())
def sex_word_of_another(phrase: NounPhrase, source: SourceFacts) -> frozenset[int]:
    """A noun that means a woman or a man behind a verb and its subject may be the object (ar *ساعد
    الأطباء النساء* "the doctors helped the women"), unless the source says that gender, too (*the
    female doctors*), or the language marks its objects (he *את*).
    """
    before, language = phrase.before(), phrase.language
    if before is None or not before.tags & VERBAL or language.verbs.oblique:
        return frozenset()
    return sex_words_against(phrase, source)


@rule("semitic")
def determiner_opens_another(
    syntax: Syntax, words: Sequence[SentenceWord], n: int, head: int
) -> bool:
    """A determiner behind the head is the next noun's, or the subject of the verb behind it: he
    *נתן למורה שני ספרים* "gave the teacher two books", *נזף במנקה זה היה …* "scolded the cleaner,
    it was …"; but *מורה זו אמרה* "this teacher said".
    """
    behind = word_behind(words, n)
    if behind is None:
        return False
    if behind.tags & NOMINAL:
        return True
    indefinite = not syntax.language.is_definite(words[n].form)
    return "ADP" in words[head].tags and indefinite and bool(behind.tags & VERBAL)


@rule("semitic")
def whole_adjective(syntax: Syntax, word: SentenceWord) -> bool:
    """A whole form that the plugin lists as an adjective is one, whatever the tagger says: in he
    *לרועה הצעירה* it takes the feminine for a noun.

    With a written-on "and" or preposition a word opens something else (he *למורה והרגיש* "to the
    teacher, and felt"), but the tagger cuts he *ותיקה* "experienced", which begins with a vav of
    its own.
    """
    forms = word.facts.bases if word.tags == {"DET", "NOUN"} else {word.form}
    return not forms.isdisjoint(syntax.language.adjective_endings)


@rule("semitic")
def person_behind_person(syntax: Syntax, word: SentenceWord, noun: SentenceWord) -> bool:
    """A person behind a person is the object, where verb, subject and object stand in a row (ar
    *أعطى الشيف النادلة* "the chef gave the waitress"). Where an object with an article is marked as
    one (he *את*), it is not: *המורה הקשיש* "the elderly teacher"; without an article it may be the
    object of a verb that has "to the teacher" as well.
    """
    language = syntax.language
    attribute = language.is_definite(word.form) or "ADP" not in noun.tags
    return bool(language.verbs.oblique) and attribute


@rule("semitic")
def noun_of_genitive(syntax: Syntax, words: Sequence[SentenceWord], n: int) -> bool:
    """A bare noun right before one is the head, and that one its genitive: ar *عاهل* in *عاهل
    المنطقة* "lord of the region".
    """
    before = word_before(words, n)
    if before is None or "NOUN" not in before.tags or before.readings:
        return False
    return "PRON" not in before.tags and not syntax.language.is_definite(before.form)


@rule("semitic")
def adjective_of_nobody(syntax: Syntax, words: Sequence[SentenceWord], n: int) -> bool:
    """An adjective of a noun for no person before it renders nobody (ar *شيء ميكانيكي*), where the
    alignment is not sure: the tagger takes many a noun for one. Other adjectives may stand between
    them.
    """
    if n == 0 or not words[n].joined:
        return False
    noun = qualified_before(syntax, words, n)
    same = syntax.language.same_definiteness(noun.form, words[n].form)
    return same and qualifies(words[n], noun)


@rule("semitic", otherwise=None)
def adjective_without_article(syntax: Semitic, phrase: NounPhrase) -> SentenceWord | None:
    """An adjective without article right behind a noun with one is its predicate: he *המורה עייפה*,
    ar *الباريستا متعبة*.

    By its ending only: the tagger calls adverbs adjectives as well (ar *دائمًا* "always").
    """
    head = phrase.words[phrase.head].form
    if not syntax.language.is_definite(head):
        return None
    word = word_behind(phrase.words, attributes_end(phrase))
    if word is None or syntax.language.same_definiteness(head, word.form):
        return None
    adjective = word.is_adjective and word.facts.adjective and not syntax.is_listed_verb(word)
    return word if adjective else None


@rule("semitic")
def later_part_of_compound(
    words: Sequence[SentenceWord], n: int, translations: Sequence[Span]
) -> bool:
    """A word that renders the entity and stands in a compound whose first word does not is no part
    of it: ar *السائق* for *driver* in *مساعدة السائق* "the driver's help" is no co-driver.
    """
    first = n - words[n].compound
    return first != n and words[n].span in translations and words[first].span not in translations
