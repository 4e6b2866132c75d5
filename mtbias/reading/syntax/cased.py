"""Languages whose nouns, and what agrees with them, show case: Slavic, German."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from mtbias.language.grammar import CASES, meet
from mtbias.reading.agreement import GENDER_OF_LETTER
from mtbias.reading.rules import rule
from mtbias.reading.syntax.base import Syntax, sex_words_against, verb_before_fixed
from mtbias.reading.syntax.phrase import NounPhrase
from mtbias.reading.words import (
    CONJUNCTION,
    NOMINAL,
    VERBAL,
    SentenceWord,
    feature_values,
    governed,
    noun_governed,
    tagged_gender,
    word_behind,
)
from mtbias.types import Evidence, Gender, SourceFacts, Span

_NOT_SUBJECT = CASES - {"nom", "voc"}


class Cased(Syntax):
    """The answers that rest on case, whatever the family."""

    case = True

    def cases(self, phrase: NounPhrase) -> tuple[frozenset[str], str]:
        """See `Syntax.cases`: a preposition governs its cases, a genitive follows a noun, and
        a verb that has its subject is not followed by one.
        """
        before = phrase.before()
        if before is None:
            return CASES, ""
        prepositions = self.language.prepositions
        if before.form in prepositions:
            return prepositions[before.form], f", after {before.text}"
        if genitive_behind_noun(phrase, before):
            return frozenset(("gen",)), f", attribute of {before.text}"
        verb = phrase.first - 1
        while verb > 0 and phrase.words[verb].joined and self._is_skipped(phrase.words[verb]):
            verb -= 1
        if object_of_verb(phrase, verb):
            return _NOT_SUBJECT, f", object of {phrase.words[verb].text}"
        return CASES, ""

    def _is_skipped(self, word: SentenceWord) -> bool:
        return word.form in self.language.verbs.skip

    def doubtful_attributes(
        self, phrase: NounPhrase, rendering: Sequence[Span], source: SourceFacts
    ) -> frozenset[int]:
        """See `woman_behind_noun`."""
        return woman_behind_noun(phrase, source)

    def is_article(self, word: SentenceWord) -> bool:
        """A determiner of the table: ru *его мать врач* is a sentence."""
        return word.form in self.language.determiners

    def opens_another(self, word: SentenceWord, following: SentenceWord) -> bool:
        """See `relative_pronoun`."""
        return relative_pronoun(self, word, following)

    def own_attributes(
        self, words: Sequence[SentenceWord], head: int, places: list[int], *, determined: bool
    ) -> list[int]:
        """See `Syntax.own_attributes`."""
        places = self.introduced(words, places, determined=determined)
        places = [n for n in places if not attribute_of_noun_behind(words, n, head)]
        return [n for n in places if not done_by(words, n, head)]

    def introduced(
        self, words: Sequence[SentenceWord], places: list[int], *, determined: bool
    ) -> list[int]:
        """Without the participle that no article introduces."""
        return super().own_attributes(words, 0, places, determined=determined)

    def belongs_to_following(self, words: Sequence[SentenceWord], n: int) -> bool:
        """See `adjective_before_noun`."""
        return adjective_before_noun(words, n)

    def is_attribute_of_next(
        self, words: Sequence[SentenceWord], n: int, aligned: Sequence[int]
    ) -> bool:
        """Also see `participle_before_noun`."""
        word, following = words[n], words[n + 1]
        if participle_before_noun(word, following, is_aligned=n + 1 in aligned):
            return True
        return verb_before_fixed(word, following)

    def may_be_noun(self, word: SentenceWord) -> bool:
        """Case tells a noun from an adjective."""
        return word.is_noun

    def is_nominative(self, phrase: NounPhrase) -> bool:
        """The form is one of a nominative, whatever the tagger reads; where forms show no case, it
        reads none other.
        """
        head = phrase.words[phrase.head]
        if any(agreement.case != "*" for agreement in head.agreements):
            return True
        return not head.cases or "Nom" in head.cases

    def opens_clause(self, words: Sequence[SentenceWord], first: int) -> bool:
        """See `nothing_before_is_subject`."""
        return nothing_before_is_subject(words, first)

    def may_be_object(self, phrase: NounPhrase, predicate: Evidence) -> bool:
        """See `object_before_verb`."""
        return object_before_verb(phrase, predicate)

    def cannot_be_subject(self, word: SentenceWord, gender: Gender | None) -> bool:
        """See `thing_of_another_gender`."""
        return thing_of_another_gender(word, gender)

    def oblique_end(self, words: Sequence[SentenceWord], n: int) -> int | None:
        """See `Syntax.oblique_end`: a preposition with its noun (cs *si v pondělí koupila*),
        adjectives or determiners with an oblique noun (cs *minulý týden*).
        """
        if words[n].tags & {*VERBAL, *CONJUNCTION}:
            return None
        if "ADP" in words[n].tags or words[n].form in self.language.prepositions:
            return noun_governed(words, n)
        noun = n
        while noun + 1 < len(words) and words[noun + 1].joined and words[noun].is_modifier:
            noun += 1
        if noun == n or not self.is_oblique(words[noun]):
            return None
        return noun if all(words[k].agrees_with(words[noun]) for k in range(n, noun)) else None

    def is_oblique(self, word: SentenceWord) -> bool:
        """See `Syntax.is_oblique` (cs *Rozhodčí se trenérovi omluvil*)."""
        nominal = bool(word.readings or word.tags & {"NOUN", "PROPN", "PRON"})
        return bool(word.content) and nominal and not word.may_be_subject

    def genitives_end(self, phrase: NounPhrase) -> int:
        """Genitives and names are among what `continues_attribute` takes."""
        return phrase.last

    def continues_attribute(self, word: SentenceWord) -> bool:
        """A genitive (ru *представитель министерства*); a name belongs to the noun before it,
        whatever case is read on it (ru *Захарова* is read as a man's genitive).
        """
        if "NOUN" in word.tags and word.cases == {"Gen"}:
            return True
        return word.tags == {"PROPN"} and (not word.readings or word.text[:1].isupper())

    def predicate_behind_thing(self, phrase: NounPhrase, end: int) -> int:
        """A thing right behind the phrase that may be a subject is passed over: uk *Мер міста
        обрана*, where the tagger reads the genitive of "city" as a nominative.
        """
        other = word_behind(phrase.words, end)
        if other is None or not other.is_thing or other.form in self.language.verbs.short:
            return end
        return end + 1 if other.may_be_subject else end

    def is_inflected_person(self, word: SentenceWord) -> bool:
        """See `other_ending_of_person`."""
        return other_ending_of_person(self, word)

    def stands_for_noun(self, words: Sequence[SentenceWord], n: int) -> bool:
        """See `adjective_as_noun`."""
        return adjective_as_noun(words, n)

    def is_predicate_before(self, phrase: NounPhrase) -> bool:
        """Behind a noun that may be a subject it may be that one's: uk *Бейкер заряджена
        фермер*.
        """
        before = phrase.before()
        return before is not None and before.is_noun and before.may_be_subject


@rule("case")
def genitive_behind_noun(phrase: NounPhrase, before: SentenceWord) -> bool:
    """Right behind another noun a phrase that can be genitive is its attribute: cs *Asistent
    vedoucí odešel* "the (woman) head's assistant left".

    Unless the table knows the form in other cases only (ru *В субботу коллега подарила…*); or the
    noun before is no subject and the tagger reads a nominative (ru *В понедельник молодой ткач
    открыл…*, cs *V sobotu pokladní onemocněl*). Its nominative alone is not believed: it reads one
    in *Asistent vedoucí odešel*, too.
    """
    if "NOUN" not in before.tags or before.tags & {"VERB", "ADP"}:
        return False
    words, head = phrase.words, phrase.words[phrase.head]
    known = {agreement.case for agreement in head.agreements}
    if known and not known & {"gen", "*"}:
        return False
    own = chain.from_iterable(words[n].tagged for n in (*phrase.left, phrase.head))
    if feature_values((w for w in own if w.upos != "ADP"), "Case") != {"Nom"}:
        return True
    n = phrase.first - 1
    return not (governed(words, n) or not words[n].may_be_subject)


@rule("case")
def object_of_verb(phrase: NounPhrase, verb: int) -> bool:
    """Behind a verb that has its subject already (a nominative before it, a first or second person,
    an imperative) a phrase is no subject: cs *Zeptej se recepční* "ask the receptionist", *viděl
    jsem účetní* "I saw the accountant".
    """
    words = phrase.words
    if not words[verb].tags & VERBAL:
        return False
    ending = phrase.language.verbs.ending(words[verb].form)
    gender = GENDER_OF_LETTER.get(ending[1].gender) if ending else None
    for n in range(verb, -1, -1):
        word = words[n]
        if _has_subject_in_it(word):
            return True
        subject = n < verb and word.may_be_subject
        if subject and not phrase.syntax.cannot_be_subject(word, gender):
            return True
        # Behind a mark or conjunction a clause of its own begins: ru «…», — сказала стоматолог.
        if not word.joined or word.tags & CONJUNCTION:
            return False
    return False


def _has_subject_in_it(word: SentenceWord) -> bool:
    persons = feature_values(word.tagged, "Person")
    return bool(persons & {"1", "2"}) or "Imp" in feature_values(word.tagged, "Mood")


@rule("case", otherwise=frozenset())
def woman_behind_noun(phrase: NounPhrase, source: SourceFacts) -> frozenset[int]:
    """A noun that means a woman or a man behind the head may be its genitive (cs *lékaři ženy* "the
    woman's doctors"), unless the source says that gender, too (*the female doctors*).
    """
    return sex_words_against(phrase, source)


@rule("case")
def relative_pronoun(syntax: Syntax, word: SentenceWord, following: SentenceWord) -> bool:
    """A determiner right before another one with which it agrees in nothing, or which has the same
    form, is a relative pronoun: de *die Firma, bei der der Angestellte arbeitet*, *eine Frau, die
    einem Mädchen hilft*.
    """
    allowed = syntax.language.determiners.get(following.form)
    if allowed is None:
        return False
    same = word.form == following.form
    return same or not meet(syntax.language.determiners[word.form], allowed)


@rule("case")
def attribute_of_noun_behind(words: Sequence[SentenceWord], n: int, head: int) -> bool:
    """The adjective at `n` belongs to the noun right behind the head, whose form shows no case: ru
    *подписанная атташе нота* "the note signed by the attaché".
    """
    readings, noun = words[head].readings, word_behind(words, head)
    if noun is None or not noun.is_thing or not readings:
        return False
    if words[head].agreements:
        return False
    return words[n].is_declined and noun.is_declined and words[n].agrees_with(noun)


@rule("case")
def done_by(words: Sequence[SentenceWord], n: int, head: int) -> bool:
    """The participle at `n` stands before its agent: ru *за моделью, предложенной судьёй* "proposed
    by the judge".
    """
    cases = {agreement.case for agreement in words[head].agreements}
    participle = "Part" in feature_values(words[n].tagged, "VerbForm")
    return n == head - 1 and "ins" in cases and participle


@rule("case")
def adjective_before_noun(words: Sequence[SentenceWord], n: int) -> bool:
    """An adjective that agrees with the noun behind it is that one's (cs *minulý týden*); further
    adjectives may stand between (cs *celý minulý týden*).
    """
    noun = n + 1
    while noun < len(words) and words[noun].joined and words[noun].tags == {"ADJ"}:
        noun += 1
    if noun == len(words) or not words[noun].joined:
        return False
    is_noun = words[noun].tags & NOMINAL and "ADP" not in words[noun].tags
    return bool(is_noun) and words[n].agrees_with(words[noun])


@rule("case")
def participle_before_noun(
    word: SentenceWord, following: SentenceWord, *, is_aligned: bool
) -> bool:
    """An adjective or participle in the case of the noun for people behind it is its attribute,
    though it could be a man or a woman by itself: ru *обслуживающий персонал*, uk *підозрювана
    особа*.

    Where that noun tells, it must be aligned too, or the adjective agree with it in all: otherwise
    it is somebody else (cs *Strojvedoucí inspektorce přísahal*).
    """
    if not following.readings or "NOUN" not in following.tags:
        return False
    agreeing = word.tags == {"ADJ"} and word.agrees_with(following)
    nobody_else = is_aligned or not following.is_personal or agreeing
    cased = bool(word.cases) and word.has_case_of(following)
    return nobody_else and word.is_adjective and cased


@rule("case")
def nothing_before_is_subject(words: Sequence[SentenceWord], end: int) -> bool:
    """Nothing before `end` in its clause is a verb or can be a nominative: uk *У понеділок колега
    сказала*.
    """
    for n in range(end - 1, -1, -1):
        word = words[n]
        if word.tags & CONJUNCTION:
            return True
        # A verb before the phrase is its own or another's, which `preceding` asks.
        if not word.tags or word.tags & VERBAL:
            return False
        if word.may_be_subject and not governed(words, n):
            return False
        if not word.joined:
            return True
    return True


@rule("case")
def object_before_verb(phrase: NounPhrase, predicate: Evidence) -> bool:
    """The noun may be an object by its form, and behind the verb stands a nominative that agrees:
    cs *Účetní pozval ředitel* "the director invited the accountant". Not with a copula: in cs
    *Mluvčí byla žena* either of the two is the subject.
    """
    words = phrase.words
    cases = {agreement.case for agreement in words[phrase.head].agreements}
    if not cases - {"nom", "voc"}:
        return False
    verb = next(n for n in range(phrase.last + 1, len(words)) if words[n].span == predicate.span)
    if "AUX" in words[verb].tags:
        return False
    for n in range(verb + 1, len(words)):
        if not words[n].joined or words[n].tags & CONJUNCTION:
            return False
        if not governed(words, n) and _is_surely_subject(words[n], predicate.gender):
            return True
    return False


def _is_surely_subject(word: SentenceWord, gender: Gender | None) -> bool:
    """A noun in the nominative whose verb has that gender: a person in the form of the dictionary,
    which is not an accusative (cs *ředitel*, *sekretářka*); or a feminine thing. Of masculine
    things nominative and accusative are one form (cs *Vedoucí pochválil celý tým*).
    """
    for reading in word.readings:
        if reading.kind.gender is gender and reading.lemma.lower() == word.form:
            return True
    feminine = gender is Gender.FEMALE and bool(word.tags & NOMINAL) and not word.readings
    return feminine and word.cases == {"Nom"} and not word.cannot_agree(gender)


@rule("case")
def thing_of_another_gender(noun: SentenceWord, gender: Gender | None) -> bool:
    """A thing of another gender than the verb beside it is its object, whose accusative is like a
    nominative: ru *отчёт писала аудитор* (a report would need *писал*).
    """
    return gender is not None and noun.is_thing and noun.cannot_agree(gender)


@rule("case")
def other_ending_of_person(syntax: Syntax, word: SentenceWord) -> bool:
    """A noun of the table with an ending that it does not take, in its own gender: uk *з пекаром*
    for *пекарем*. One or two letters, and the gender: ru *малярией* "malaria" is no *маляр*
    "painter".
    """
    language = syntax.language
    gender, _ = tagged_gender(word.content)
    if "NOUN" not in word.tags or gender is None:
        return False
    for ending in language.align_endings:
        stem = word.form.removesuffix(ending)
        if len(ending) > 2 or stem == word.form or len(stem) < language.min_stem:
            continue
        if any(reading.kind.gender is gender for reading in language.nouns.get(stem, ())):
            return True
    return False


@rule("case")
def adjective_as_noun(words: Sequence[SentenceWord], n: int) -> bool:
    """A noun of the table that is declined like an adjective and read as one, or as a participle,
    without a noun behind it in its case: ru *стал управляющим в борделе*.
    """
    word, noun = words[n], word_behind(words, n)
    if not (word.is_personal and word.is_declined and word.tags <= {"ADJ", "VERB"}):
        return False
    return noun is None or not noun.is_noun or not word.has_case_of(noun)
