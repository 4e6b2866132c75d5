"""The questions about a language's syntax on which the reading of genders rests, and the answers
that hold for most languages.

A family of languages is a class. What is true of one family only is in its class, so that a rule
for Spanish cannot change a Russian call. The answers here are those of a language whose adjectives
come before their noun, and whose nouns show no case (Dutch).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from mtbias.language.definition import Language
from mtbias.language.grammar import ANY, CASES, Agreement
from mtbias.reading.agreement import GENDER_OF_LETTER, reading_agreements
from mtbias.reading.rules import rule
from mtbias.reading.syntax.attributes import attributes_after, attributes_before
from mtbias.reading.syntax.phrase import NounPhrase
from mtbias.reading.words import (
    MODIFIER,
    NOMINAL,
    VERBAL,
    SentenceWord,
    feature_values,
    tagged_gender,
    word_behind,
)
from mtbias.types import Evidence, Gender, SourceFacts, Span, Word


class Syntax:
    """The syntax of one language.

    Reading a phrase begins with `phrase`. `find_head`, `find_predicate` and `behind_mark` are the
    same for all languages, and rest on the methods in which families differ.
    """

    case = False
    """Nouns, and what agrees with them, show case."""
    attributes_precede = True
    """Attributive adjectives may come before their noun."""
    attributes_follow = False
    """They may follow it."""
    determiners_follow = False
    """A demonstrative or numeral may follow its noun (he *המורה הזה*)."""
    attributes_either_side = False
    """Attributive adjectives may do both."""
    trusts_translations = False
    """The word that is known to translate the entity is its head, whatever else is aligned; and a
    word that may name a thing as well names a person. Of Romance nouns only feminines name a field
    as well: otherwise women would be left out, and men not (it *la meccanica*, *il meccanico* for
    *machinist*)."""

    def __init__(self, language: Language) -> None:
        """`language` has the tables."""
        self.language = language

    def phrase(self, words: Sequence[SentenceWord], head: int, number: str | None) -> NounPhrase:
        """The phrase whose head is ``words[head]``."""
        personal = [r for r in words[head].readings if r.kind.is_personal]
        agreements = list(chain.from_iterable(map(reading_agreements, personal))) or [ANY]
        left = attributes_before(self, words, head)
        right = attributes_after(self, words, head)
        agreements = self.declension(words, left, agreements, number)
        return NounPhrase(words, head, left, right, agreements, self, number)

    def cases(self, phrase: NounPhrase) -> tuple[frozenset[str], str]:
        """The cases that the phrase can have by the words before it, and why; all of them
        where nothing tells.
        """
        return CASES, ""

    # The noun phrase.

    def declension(
        self,
        words: Sequence[SentenceWord],
        left: Sequence[int],
        agreements: list[Agreement],
        number: str | None,
    ) -> list[Agreement]:
        """The agreements of a head with these words before it."""
        return agreements

    def doubtful_attributes(
        self, phrase: NounPhrase, rendering: Sequence[Span], source: SourceFacts
    ) -> frozenset[int]:
        """The words behind the head that may belong to something else.

        Args:
            phrase: that of the head.
            rendering: the words that render the entity.
            source: what the source says around it.
        """
        return frozenset()

    def is_determiner(self, word: SentenceWord) -> bool:
        """A determiner by its form, and no adverb (es *mucho más joven*, it *ammira molto*)."""
        return word.form in self.language.determiners and word.tags != {"ADV"}

    def tells_beside_generic(self, piece: Evidence) -> bool:
        """Whether evidence beside a masculine noun that is used of women, too, tells the person's
        gender: its article does (es *el chofer*, *la chofer*), the noun itself does not.
        """
        return piece.kind != "noun"

    def doubts_pronoun(self, word: SentenceWord) -> bool:
        """Whether a pronoun of the third person may stand for nobody, so that only the alignment
        tells: one that is an article, too, may be a neuter (es *lo sabía*).
        """
        article = word.form in self.language.determiners
        return article and word.form not in self.language.possessors

    def is_article(self, word: SentenceWord) -> bool:
        """A word that opens a noun phrase, to which the following words belong."""
        return word.form in self.language.determiners or "DET" in word.tags

    def opens_another(self, word: SentenceWord, following: SentenceWord) -> bool:
        """A determiner right before `following`, one of the phrase's own, that belongs to another
        phrase.
        """
        return False

    def is_attribute_before(self, words: Sequence[SentenceWord], n: int, head: int) -> bool:
        """The word at `n` is an adjective, numeral or participle of the noun at `head`."""
        noun = words[n].readings and words[n].tags & NOMINAL
        if not noun and self.modifies(words[n]):
            return True
        return between_article_and_noun(self, words, n, head)

    def modifies(self, word: SentenceWord) -> bool:
        """A determiner, numeral, adjective or attributive participle."""
        content = [w for w in word.tagged if w.upos not in ("ADP", "PUNCT")]
        for tagged in content:
            if tagged.upos not in MODIFIER and not self.is_attributive_participle(tagged, word):
                return False
        return bool(content)

    def is_attributive_participle(self, tagged: Word, word: SentenceWord) -> bool:
        """A verb's participle that can be an attribute."""
        return tagged.upos == "VERB" and "Part" in feature_values([tagged], "VerbForm")

    def is_finite(self, word: SentenceWord) -> bool:
        """A finite verb by its ending: it opens no gap between an article and its noun."""
        return False

    def own_attributes(
        self, words: Sequence[SentenceWord], head: int, places: list[int], *, determined: bool
    ) -> list[int]:
        """The head's own ones of the words before it, nearest first.

        A participle that no article introduces is the predicate's: fr *a écouté*, es *fue despedida
        su asistente*.
        """
        while places and not determined and "VERB" in words[places[-1]].tags:
            places.pop()
        return places

    def is_predicate_form(self, word: SentenceWord) -> bool:
        """A form that is a predicate wherever it occurs, whatever the tagger says (ru *готова*)."""
        return word.form in self.language.verbs.short

    def joins_attributes(self, word: SentenceWord) -> bool:
        """The word may come between two adjectives behind their noun."""
        return False

    def may_be_attribute_of(self, noun: SentenceWord, word: SentenceWord) -> bool:
        """Nothing in the two forms speaks against it."""
        return True

    def is_determiner_behind(self, words: Sequence[SentenceWord], n: int, head: int) -> bool | None:
        """Whether the determiner at `n` behind the head is its own; None where the word is not a
        determiner.
        """
        return None

    def is_attribute_behind(self, words: Sequence[SentenceWord], n: int, head: int) -> bool:
        """The word at `n` is an adjective of the head before it, and no person of its own."""
        word = words[n]
        if word.form in self.language.sex_adjectives:
            return self.says_sex(word, words[head])
        return word.is_adjective and not word.tags & {"ADP", "CCONJ"}

    def says_sex(self, word: SentenceWord, noun: SentenceWord) -> bool:
        """A word that means a woman or a man behind a noun is its attribute."""
        return not word.tags & {"ADP", "VERB", "AUX"}

    def belongs_to_following(self, words: Sequence[SentenceWord], n: int) -> bool:
        """An adjective that may be that of a noun before it has a noun for no person right behind
        it, with which it agrees: it is that one's (es *su colega es buena gente*, it *diede
        all'insegnante nuova speranza*).
        """
        return adjective_of_thing_behind(words, n)

    # The head.

    def starts_construct(self, words: Sequence[SentenceWord], n: int) -> int:
        """Index of the noun whose genitive the one at `n` is, else `n`."""
        return n

    def only_qualifies(self, words: Sequence[SentenceWord], n: int, *, sure: bool) -> bool:
        """The aligned word is an adjective of a noun for no person before it: it renders nobody."""
        return False

    def is_attribute_of_fixed(self, words: Sequence[SentenceWord], n: int) -> bool:
        """The aligned noun is the attribute of a noun before it of fixed gender."""
        return False

    def belongs_to_next(
        self, words: Sequence[SentenceWord], n: int, aligned: Sequence[int]
    ) -> bool:
        """What could stand alone is the attribute of the noun behind it: a determiner or title (ar
        *أحد* in *أحد الأشخاص*, cs *paní* in *paní účetní*), or a verb by the tagger before a noun
        of fixed gender (uk *як доросла людина*).
        """
        following = word_behind(words, n)
        if following is None or not following.is_noun:
            return False
        if words[n].form in self.language.determiners or words[n].form in self.language.names:
            return True
        return self.is_attribute_of_next(words, n, aligned)

    def is_attribute_of_next(
        self, words: Sequence[SentenceWord], n: int, aligned: Sequence[int]
    ) -> bool:
        """The same of nouns, adjectives and participles."""
        return verb_before_fixed(words[n], words[n + 1])

    def qualifies_next(
        self, words: Sequence[SentenceWord], n: int, translations: Sequence[Span]
    ) -> bool:
        """An adjective that would translate the entity with its qualifier (it *vecchia* "old
        woman"), before the noun that translates it alone.

        Where nouns show no case the second word may be the adjective (es *estudiante
        universitario*). In another case it is somebody else (ru *Военный солдатке приказал*), but
        "other" names nobody (cs *ostatní lidé*).
        """
        noun = word_behind(words, n)
        if noun is None or not self.may_be_noun(noun) or noun.span not in translations:
            return False
        cases, others = (feature_values(word.tagged, "Case") for word in (words[n], noun))
        together = not cases or not cases.isdisjoint(others) or not words[n].is_personal
        return together and bool(words[n].tags) and words[n].tags <= {"ADJ", "DET"}

    def may_be_noun(self, word: SentenceWord) -> bool:
        """Surely a noun, and no adjective."""
        return "NOUN" in word.tags

    # The predicate.

    def is_nominative(self, phrase: NounPhrase) -> bool:
        """The head's form is one of a nominative."""
        return True

    def opens_clause(self, words: Sequence[SentenceWord], first: int) -> bool:
        """A clause begins at `first` although a word of it comes before."""
        return False

    def may_be_object(self, phrase: NounPhrase, predicate: Evidence) -> bool:
        """The phrase may be the object of this predicate, which has another subject."""
        return False

    def cannot_be_subject(self, word: SentenceWord, gender: Gender | None) -> bool:
        """The noun is not a subject of a verb in this gender, whatever its case."""
        return False

    def oblique_end(self, words: Sequence[SentenceWord], n: int) -> int | None:
        """Index of the last word of a phrase from `n` on that cannot be a subject, or None."""
        return None

    def is_oblique(self, word: SentenceWord) -> bool:
        """A noun or pronoun that is not a nominative."""
        return False

    def is_bare_participle(self, word: SentenceWord) -> bool:
        """A participle that is the predicate, with the copula left out."""
        return False

    def bare_predicate(self, phrase: NounPhrase) -> SentenceWord | None:
        """An adjective right behind the phrase that is its predicate, with the copula left out."""
        return None

    def genitives_end(self, phrase: NounPhrase) -> int:
        """Index of the last word of the phrase with its genitive, and the name behind it."""
        n = phrase.last
        while (word := word_behind(phrase.words, n)) and word.tags == {"PROPN"}:
            n += 1
        return n

    def continues_attribute(self, word: SentenceWord) -> bool:
        """A genitive or a name that belongs to the noun before it."""
        return False

    def predicate_behind_thing(self, phrase: NounPhrase, end: int) -> int:
        """Index of the word behind which the predicate is looked for: `end`, or that of a thing
        behind the phrase that may look like its subject.
        """
        return end

    # What agrees with the noun.

    def agrees_as_woman(self, ending: Sequence[Agreement], phrase: NounPhrase) -> list[Agreement]:
        """The agreements of a feminine adjective right before a masculine noun that is also used of
        women; empty where it cannot belong to it.
        """
        return []

    def shared_determiners(self, phrase: NounPhrase) -> Sequence[NounPhrase]:
        """Phrases before this one that name the same person, whose article it shares."""
        return ()

    def is_inflected_person(self, word: SentenceWord) -> bool:
        """A noun of the table with an ending that it does not take, in its own gender."""
        return False

    def stands_for_noun(self, words: Sequence[SentenceWord], n: int) -> bool:
        """A noun of the table that is read as an adjective or verb, without a noun behind it."""
        return False

    def without_compound(
        self, words: Sequence[SentenceWord], aligned: Span, translations: Sequence[Span]
    ) -> Sequence[SentenceWord]:
        """The words without the aligned word's compound, if it has no translation."""
        return words

    def is_predicate_before(self, phrase: NounPhrase) -> bool:
        """A feminine adjective of the phrase may be the predicate of a noun before it."""
        return False


# What several families answer alike.

_OTHER_GENDER = {Gender.MALE: "f", Gender.FEMALE: "m"}
"""The kind of nouns that do not have another one of this gender as an attribute."""


@rule()
def between_article_and_noun(
    syntax: Syntax, words: Sequence[SentenceWord], n: int, head: int
) -> bool:
    """Whatever stands between a determiner and a noun for people is its adjective, though taggers
    read some as nouns or adverbs: fr *votre vieil architecte*, it *uno stretto parente*, es *mi
    antiguo dentista*.

    What is in the table itself is an adjective there, too (it *dell'esperta pediatra*), but not a
    noun of the other gender (ru *знающая свой сегмент художница*, it *al momento editrice*), nor,
    behind a preposition, a feminine before a masculine noun that is used of women, too (it *alla
    fine medico* is a man).
    """
    if n != head - 1 or "ADP" in words[n].tags:
        return False
    before = words[n - 1] if n > 0 and words[n].joined else None
    if before is None or not syntax.is_article(before):
        return False
    if not (words[head].readings or words[head].facts.ends_like_person):
        return False
    if noun_of_adverbial(syntax, words, n):
        return False
    return not (syntax.is_finite(words[n]) or _is_noun_of_its_own(words[n], words[head], before))


_MAX_BEFORE_ADVERBIAL = 3
"""Words from an adverbial back to the verb (it *fu in seguito alla riforma*)."""


@rule()
def noun_of_adverbial(syntax: Syntax, words: Sequence[SentenceWord], n: int) -> bool:
    """What the tagger reads as a noun alone closes an adverbial, where this begins the sentence or
    stands behind the verb that says what somebody is or becomes: fr *Il devint par la suite juge*,
    it *era all’epoca giudice*, pt *Na época presidente, …*.

    A noun for people of the table may be an adjective there (it *dell'esperta pediatra*).
    """
    if words[n].readings or not words[n].tags <= {*NOMINAL, "ADV"}:
        return False
    first = n - 1
    if "ADP" not in words[first].tags:
        first -= 1
    if first < 0 or "ADP" not in words[first].tags:
        return False
    copulas = syntax.language.verbs.copulas
    for before in range(first - 1, max(first - _MAX_BEFORE_ADVERBIAL, 0) - 1, -1):
        if not words[before + 1].joined:
            return True
        if words[before].tags & VERBAL or words[before].form in copulas:
            return words[before].form in copulas
    return first == 0 or not words[first].joined


def _is_noun_of_its_own(word: SentenceWord, noun: SentenceWord, before: SentenceWord) -> bool:
    shown, _ = tagged_gender(word.content)
    if shown is None or not word.tags <= NOMINAL:
        return False
    kinds = {str(reading.kind) for reading in noun.readings}
    if kinds == {_OTHER_GENDER.get(shown)}:
        return True
    return shown is Gender.FEMALE and kinds == {"generic"} and "ADP" in before.tags


@rule()
def adjective_of_thing_behind(words: Sequence[SentenceWord], n: int) -> bool:
    """An adjective with a common noun of its gender and number right behind it that names no person
    is that one's (es *su colega es buena gente*).
    """
    word, noun = words[n], word_behind(words, n)
    if noun is None or noun.tags != {"NOUN"} or not word.is_adjective:
        return False
    if any(reading.kind.is_personal for reading in noun.readings):
        return False
    return all(_may_share(word, noun, feature) for feature in ("Gender", "Number"))


def _may_share(word: SentenceWord, noun: SentenceWord, feature: str) -> bool:
    its = feature_values(noun.content, feature)
    return not its or not its.isdisjoint(feature_values(word.content, feature))


@rule()
def verb_before_fixed(word: SentenceWord, following: SentenceWord) -> bool:
    """What the tagger reads as a verb right before a noun of fixed gender is its adjective (uk *як
    доросла людина*, read as "has grown up to").
    """
    fixed = bool(following.readings) and not following.is_personal
    return word.tags == {"VERB"} and fixed and "NOUN" in following.tags


def sex_words_against(phrase: NounPhrase, source: SourceFacts) -> frozenset[int]:
    """The nouns behind the head that mean a woman or a man, where the source does not give that
    gender.
    """
    letters, words = phrase.language.sex_adjectives, phrase.words
    against = set()
    for n in phrase.right:
        letter = letters.get(words[n].form) if words[n].readings else None
        if letter is not None and GENDER_OF_LETTER[letter] is not source.says_sex:
            against.add(n)
    return frozenset(against)


def qualified_before(syntax: Syntax, words: Sequence[SentenceWord], n: int) -> SentenceWord:
    """The word that the adjective at `n` may qualify: right before it, or before other adjectives,
    which no table has. A determiner ends the search.
    """
    first = n - 1
    while first > 0 and words[first].joined and _is_mere_adjective(syntax, words[first]):
        first -= 1
    return words[first]


def _is_mere_adjective(syntax: Syntax, word: SentenceWord) -> bool:
    determiner = word.form in syntax.language.determiners
    return word.is_adjective and not word.readings and not determiner


def qualifies(word: SentenceWord, noun: SentenceWord) -> bool:
    """An adjective in gender and number of a noun that no table has."""
    if not word.is_adjective or noun.readings or "NOUN" not in noun.tags:
        return False
    return all(_feature(word, name) == _feature(noun, name) for name in ("Gender", "Number"))


def _feature(word: SentenceWord, name: str) -> set[str | None]:
    return {tagged.feat(name) for tagged in word.content}
