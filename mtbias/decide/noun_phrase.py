"""The entity's noun phrase: how far it reaches, and in which cases it can stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from mtbias.decide.sentence_words import (
    CONJUNCTION,
    GENDER_OF_LETTER,
    MODIFIER,
    NOMINAL,
    NUMBER,
    VERBAL,
    SentenceWord,
    feature_values,
    reading_agreements,
    tagged_gender,
    word_before,
    word_behind,
)
from mtbias.language.definition import Language
from mtbias.language.grammar import ANY, CASES, Agreement, NounKind, meet
from mtbias.types import Alignment, Gender, Span, Word, frozen

_CONTENT = frozenset(("ADJ", "X", *NOMINAL))
_NOT_SUBJECT = CASES - {"nom", "voc"}
_OTHER = {Gender.MALE: [{NounKind.FEMININE}], Gender.FEMALE: [{NounKind.MASCULINE}]}
"""The kinds of nouns that another of this gender is no attribute of."""


@frozen
class NounPhrase:
    """The entity's noun phrase in its sentence."""

    words: Sequence[SentenceWord]
    head: int
    left: Sequence[int]
    """Determiners, titles and adjectives before the head, nearest first."""
    right: Sequence[int]
    """Adjectives after it."""
    agreements: Sequence[Agreement]
    """What the head's form agrees with by the plugin's table; anything where it is not in it."""
    language: Language
    number: str | None
    """Number in which the entity stands in the English source."""
    doubted: frozenset[int] = frozenset()
    """Of `right`, what may be no attribute of the head."""

    @classmethod
    def around(
        cls, words: Sequence[SentenceWord], head: int, language: Language, number: str | None
    ) -> Self:
        """The phrase whose head is ``words[head]``."""
        readings = [r for r in words[head].readings if r.kind.is_personal]
        agreements = [a for r in readings for a in reading_agreements(r)] or [ANY]
        left, right = _before(words, head, language), _after(words, head, language)
        # de "Sie wurde Vorsitzende": without an article the ending is strong, a man would be
        # Vorsitzender. Not in the plural: "Angestellte protestierten". One call each of
        # tests/natural, challenge and independent rests on it.
        if number == "sg" and not any(words[n].form in language.determiners for n in left):
            agreements = [a for a in agreements if a not in language.weak] or agreements
        return cls(words, head, left, right, agreements, language, number)

    def others_attributes(self, rendering: Sequence[Span], alignment: Alignment) -> frozenset[int]:
        """Of the words behind the head those that may belong to something else.

        Nouns that mean a woman or a man, where objects and genitives look like attributes (ar *ساعد
        الأطباء النساء* "the doctors helped the women", cs *lékaři ženy* "the woman's doctors"),
        unless the source says that gender, too (*the female doctors*).

        In Romance, adjectives of an entity that nothing qualifies in the source: they are not among
        the words `rendering` it, and their own noun or object stands right behind them (it
        *l'aiutante tecnica nuova* for "the assistant new techniques", *l'auditor ferma barrer*), or
        an adverb behind the entity may be what they render (fr
        *l'analyste torpemente*).
        """
        language = self.language
        if not language.either_side:
            before = self.before()
            verb = before is not None and bool(before.tags & VERBAL) and not language.verbs.oblique
            if not (language.prepositions or verb):
                return frozenset()
            known = language.sex_adjectives
            sexes = [
                n for n in self.right if self.words[n].form in known and self.words[n].readings
            ]
            return frozenset(
                n
                for n in sexes
                if GENDER_OF_LETTER[known[self.words[n].form]] is not alignment.says_sex
            )
        following = word_behind(self.words, max(self.right, default=self.head))
        governs = following is not None and (
            (bool(following.tags) and following.tags <= _CONTENT)
            or "Inf" in feature_values(following.tagged, "VerbForm")
        )
        if alignment.qualified or not (
            alignment.before_adverb or governs or self.head + 2 in self.right
        ):
            return frozenset()
        return frozenset(
            n
            for n in self.right
            if not any(self.words[n].span.overlaps(span) for span in rendering)
        )

    @property
    def first(self) -> int:
        """Index of the phrase's first word."""
        return min((*self.left, self.head))

    @property
    def last(self) -> int:
        """Index of its last word."""
        return max((*self.right, _compound_end(self.words, self.head)))

    def before(self) -> SentenceWord | None:
        """The word right before the phrase, in the same clause."""
        return word_before(self.words, self.first)

    def cases(self) -> tuple[frozenset[str], str]:
        """The cases in which the phrase can stand by the words before it, and why; all of them
        where nothing tells.

        A preposition governs its cases. Right behind another noun a phrase that can be genitive is
        its attribute. Behind a verb that has its subject already (a nominative before it, a first
        or second person, an imperative) it is no subject.
        """
        before, prepositions = self.before(), self.language.prepositions
        # Only languages with case list what their prepositions govern.
        if before is None or not prepositions:
            return CASES, ""
        if before.form in prepositions:
            return prepositions[before.form], f", after {before.text}"
        # cs Asistent vedoucí odešel "the (woman) head's assistant left": as a nominative vedoucí
        # could be a man.
        if "NOUN" in before.tags and not before.tags & {"VERB", "ADP"} and self._may_be_genitive():
            return frozenset(("gen",)), f", attribute of {before.text}"
        # cs Zeptej se recepční "ask the receptionist": as an object recepční is a woman; the clitic
        # se is passed over.
        verb = self.first - 1
        while (
            verb > 0
            and self.words[verb].joined
            and self.words[verb].form in self.language.verbs.skip
        ):
            verb -= 1
        if self.words[verb].tags & VERBAL and self._has_subject(verb):
            return _NOT_SUBJECT, f", object of {self.words[verb].text}"
        return CASES, ""

    def _may_be_genitive(self) -> bool:
        """Unless the plugin's table knows the form in other cases only; or the noun before is no
        subject and the tagger reads a nominative (ru *В понедельник молодой ткач открыл…*, cs *V
        pondělí vedoucí odešel*).
        """
        # ru В субботу коллега подарила…: коллега is no genitive, although it stands right behind a
        # noun.
        known = {a.case for r in self.words[self.head].readings for a in r.agreements}
        if known and not known & {"gen", "*"}:
            return False
        # cs V sobotu pokladní onemocněl: pokladní may be either, and what stands before is a time.
        # The tagger's nominative alone is not believed: it reads one in "Asistent vedoucí odešel"
        # too.
        tagged = [
            w for n in (*self.left, self.head) for w in self.words[n].tagged if w.upos != "ADP"
        ]
        return feature_values(tagged, "Case") != {"Nom"} or not self._behind_oblique()

    def _behind_oblique(self) -> bool:
        """The noun right before the phrase cannot be a subject."""
        n = self.first - 1
        return governed(self.words, n) or not self.words[n].may_be_subject

    def _has_subject(self, verb: int) -> bool:
        n, gender = verb, verb_gender(self.words[verb], self.language)
        while True:
            word = self.words[n]
            # The subject is in the verb: cs viděl jsem účetní "I saw the accountant", zeptej se
            # "ask".
            if feature_values(word.tagged, "Person") & {"1", "2"} or "Imp" in feature_values(
                word.tagged, "Mood"
            ):
                return True
            if n < verb and word.may_be_subject and not rules_out(word, gender, self.language):
                return True
            # Behind a mark or a conjunction a clause of its own begins: ru «Открой рот пошире», —
            # сказала стоматолог.
            if n == 0 or not word.joined or word.tags & CONJUNCTION:
                return False
            n -= 1


def verb_gender(word: SentenceWord, language: Language) -> Gender | None:
    """The gender that a past verb shows by its ending (Slavic), or None."""
    found = language.verbs.ending(word.form) if word.tags & VERBAL else None
    return GENDER_OF_LETTER.get(found[1].gender) if found else None


def rules_out(noun: SentenceWord, gender: Gender | None, language: Language) -> bool:
    """A thing of another gender than the verb beside it is its object, whose accusative is like a
    nominative (ru *отчёт писала аудитор*: a report would need *писал*). Only where nouns show case.
    """
    return bool(gender and language.prepositions) and noun.is_thing and noun.cannot_agree(gender)


def governed(words: Sequence[SentenceWord], n: int) -> bool:
    """A preposition stands before the noun at `n`, with nothing but determiners and adjectives
    between.
    """
    while n > 0 and words[n].joined and words[n - 1].is_modifier:
        n -= 1
    return n > 0 and words[n].joined and "ADP" in words[n - 1].tags


def _before(words: Sequence[SentenceWord], head: int, language: Language) -> list[int]:
    """Indices of the determiners, titles and adjectives right before `head`, nearest first; no
    adjective before a determiner.
    """
    found: list[int] = []
    n, opened = head, False
    # he נתנה את זה לרועה "gave it to the shepherd": a written-on preposition opens its phrase.
    governed_head = len(words[head].tagged) > 1 and words[head].tagged[0].upos == "ADP"
    while n > 0 and words[n].joined and not governed_head:
        n -= 1
        word = words[n]
        # es "mucho más joven", it "ammira molto l'insegnante": by its form it could be a
        # determiner.
        determiner = word.form in language.determiners and word.tags != {"ADV"}
        # de "die Firma, bei der der Angestellte arbeitet", "eine Frau, die einem Mädchen hilft": a
        # relative pronoun.
        if determiner and (
            (opened and _apart(word, words[n + 1], language))
            or not _in_number(word, words[head], language)
        ):
            break
        noun = word.readings and word.tags & NOMINAL
        # Before its determiner a phrase has no adjective: in it "ha pagato l'autista", fr "a
        # remercié l'infirmier" the participle would otherwise be the driver's and the nurse's, and
        # make men of them.
        attribute = (
            not opened
            and language.preposed
            and (
                (not noun and _modifies(word, language))
                or _between(words, n, head, language)
                # es mujeres pilotos; elsewhere case would tell: ru Женщина врача ударила "the woman
                # hit the doctor".
                or (language.either_side and word.form in language.sex_adjectives)
            )
        )
        if determiner or word.form in language.names or attribute:
            found.append(n)
            opened = opened or determiner
            # A contraction opens its phrase: it "impara molto dall'insegnante", es "aprendió mucho
            # del maestro".
            if "ADP" in word.tags:
                break
        # An adverb grades the adjective behind it and is passed over: it "il più pulito" for
        # *cleaner*.
        elif opened or "ADV" not in word.tags or word.tags & {"VERB", "AUX", "ADP"}:
            break
    # A participle that no article introduces is the predicate's: fr "a écouté", es "fue despedida
    # su asistente".
    while found and not opened and "VERB" in words[found[-1]].tags and not language.verbs.endings:
        found.pop()
    return [n for n in found if not (_of_noun_behind(words, n, head) or _done_by(words, n, head))]


def _in_number(word: SentenceWord, noun: SentenceWord, language: Language) -> bool:
    """No determiner of a plural before a singular, where the tagger alone tells the number: ar *لم
    يساعد أحد الممرضة* "nobody helped the nurse", but *إحدى الممرضات* "one of the nurses".
    """
    if not noun.readings or any(a.number != "*" for r in noun.readings for a in r.agreements):
        return True
    return not noun.is_singular or any(a.number != "pl" for a in language.determiners[word.form])


def _apart(word: SentenceWord, following: SentenceWord, language: Language) -> bool:
    """A determiner right before another one with which it agrees in nothing, or which has the same
    form.
    """
    allowed = language.determiners.get(following.form)
    if allowed is None or not language.prepositions:
        return False
    return word.form == following.form or not meet(language.determiners[word.form], allowed)


def _done_by(words: Sequence[SentenceWord], n: int, head: int) -> bool:
    """The participle at `n` stands before its agent (ru "за моделью, предложенной судьёй",
    *proposed by the judge*).
    """
    cases = {agreement.case for reading in words[head].readings for agreement in reading.agreements}
    return (
        n == head - 1 and "ins" in cases and "Part" in feature_values(words[n].tagged, "VerbForm")
    )


def _of_noun_behind(words: Sequence[SentenceWord], n: int, head: int) -> bool:
    """The adjective at `n` belongs to the noun right behind the head, whose form shows no case (ru
    *подписанная атташе нота* "the note signed by the attaché").
    """
    readings, noun = words[head].readings, word_behind(words, head)
    if noun is None or not noun.is_thing or any(r.agreements for r in readings) or not readings:
        return False
    return words[n].is_declined and noun.is_declined and words[n].agrees_with(noun)


def _modifies(word: SentenceWord, language: Language) -> bool:
    """A determiner, numeral, adjective, or participle (where the participle is no finite form, as
    it is in Czech).
    """
    tagged = [w for w in word.tagged if w.upos not in ("ADP", "PUNCT")]
    return bool(tagged) and all(
        w.upos in MODIFIER or _participle(w, word, language) for w in tagged
    )


def _participle(tagged: Word, word: SentenceWord, language: Language) -> bool:
    """A verb's participle that can be an attribute."""
    if tagged.upos != "VERB" or "Part" not in feature_values([tagged], "VerbForm"):
        return False
    # cs zaplatil uklízečce "paid the cleaner": the l-participle is a finite verb, and no attribute
    # of hers. Declined like an adjective it is one: ru приглашённая эксперт.
    return not language.verbs.endings or bool(
        feature_values([tagged], "Case") and word.facts.adjective
    )


def _between(words: Sequence[SentenceWord], n: int, head: int, language: Language) -> bool:
    """Whatever stands between a determiner and a noun for people is its adjective."""
    # Taggers read some as nouns or adverbs: vieil in fr "votre vieil architecte", stretto in it
    # "uno stretto parente", antiguo in es "mi antiguo dentista". Where nouns show case, a
    # possessive without one is no article: ru "его мать врач" is a sentence.
    before = word_before(words, n)
    article = before is not None and (
        before.form in language.determiners or ("DET" in before.tags and not language.prepositions)
    )
    # What is in the table itself is an adjective there, too: it "dell'esperta pediatra", one call
    # of tests/natural and one of tests/challenge.
    known = bool(words[head].readings) or words[head].facts.ends_like_person
    # ru "знающая свой сегмент художница", it "al momento editrice": a noun of the other gender is
    # none.
    shown, told = tagged_gender(words[n].content)[0], {r.kind for r in words[head].readings}
    apart = shown is not None and words[n].tags <= NOMINAL and told in _OTHER.get(shown, ())
    # A masculine noun that is used of women, too: it "alla fine medico" is a man, "la giovane
    # medico" none.
    generic = shown is Gender.FEMALE and told == {NounKind.GENERIC} and words[n].tags <= NOMINAL
    apart |= generic and before is not None and "ADP" in before.tags
    # cs "kéž bych tu měl přítele" ("here"): a finite verb opens no gap between an article and its
    # noun.
    finite = bool(words[n].tags & VERBAL) and language.verbs.ending(words[n].form) is not None
    return (
        article and n == head - 1 and known and not (finite or apart) and "ADP" not in words[n].tags
    )


def _after(words: Sequence[SentenceWord], head: int, language: Language) -> list[int]:
    """Indices of the adjectives right after `head`, and of the determiners, where the language has
    them there.
    """
    found: list[int] = []
    for n in range(_compound_end(words, head) + 1, len(words)):
        word = words[n]
        # These are predicates, whatever the tagger says: ru коллега готова, he הממונה התרשם "the
        # supervisor was impressed", where it reads a feminine adjective.
        if not word.joined or word.form in language.verbs.short or is_verb_form(word, language):
            break
        # it "insegnante efficace ed ingegnoso".
        if found and language.either_side and word.tags == {"CCONJ"}:
            continue
        following = word_behind(words, n)
        noun = bool(word.readings or (following and following.is_noun))
        if found and found[-1] < n - 1 and (noun or not word.is_adjective):
            break
        # An attribute has its noun's article: ar الطباخ دائمًا "the cook always" is none, nor is he
        # זו in עם המורה זו הייתה הפתעה "with the teacher it was a surprise".
        if not (language.postposed and language.same_definiteness(words[head].form, word.form)):
            break
        if language.determiners_follow and word.form in language.determiners:
            if _opens_another(words, n, head, language):
                break
        elif not _attribute_behind(words, n, head, language):
            break
        found.append(n)
    # cs Rozhodčí minulou sobotu zrušil zápas "last Saturday the referee cancelled the match": last
    # is the Saturday.
    while found and belongs_to_following(words, found[-1], language):
        found.pop()
    return found


def _opens_another(words: Sequence[SentenceWord], n: int, head: int, language: Language) -> bool:
    """A determiner behind the head that is the next noun's, or the subject of the verb behind
    it.
    """
    behind = word_behind(words, n)
    if behind is None:
        return False
    # he נתן למורה שני ספרים "gave the teacher two books"; נזף במנקה זה היה … "scolded the cleaner,
    # it was …"; but מורה זו אמרה "this teacher said".
    subject = (
        "ADP" in words[head].tags
        and not language.is_definite(words[n].form)
        and behind.tags & VERBAL
    )
    return bool(behind.tags & NOMINAL or subject)


def _attribute_behind(words: Sequence[SentenceWord], n: int, head: int, language: Language) -> bool:
    """An adjective, by the tagger or as a whole form that the plugin lists, and no person of its
    own.
    """
    word, noun = words[n], words[head]
    if word.form in language.sex_adjectives:
        return _says_sex(word, noun, language)
    # With a written-on "and" or preposition a word opens something else (he למורה והרגיש "to the
    # teacher, and felt"). But the tagger cuts he ותיקה "experienced", which begins with a vav of
    # its own. In he לרועה הצעירה the tagger takes the feminine for a noun, in לרועה הצעיר it sees
    # an adjective.
    forms = word.facts.bases if word.tags == {"DET", "NOUN"} else {word.form}
    whole = not (language.preposed or forms.isdisjoint(language.adjective_endings))
    if _same_person(word, language):
        return True
    if not whole and (not word.is_adjective or word.tags & {"ADP", "CCONJ"}):
        return False
    # A person behind a person is the object, where verb, subject and object stand in a row (ar أعطى
    # الشيف النادلة "the chef gave the waitress"). Where an object with an article is marked as one
    # (he את), it is not: המורה הקשיש "the elderly teacher"; without an article it may be the object
    # of a verb that has "to the teacher" as well.
    attribute = language.is_definite(word.form) or "ADP" not in noun.tags
    return language.preposed or not word.readings or (bool(language.verbs.oblique) and attribute)


def _says_sex(word: SentenceWord, noun: SentenceWord, language: Language) -> bool:
    """A word that means a woman or a man right behind a noun in its number, whatever the tagger
    makes of it: it *medici donne*, ar *الأطباء الإناث*. Behind a noun in the construct it is a
    genitive (he *מאמני נשים* "women's coaches").
    """
    if language.prepositions:  # a plural may be read as a singular's genitive: cs *lékaři ženy*
        return not word.tags & {"ADP", *VERBAL}
    one, other = numbers(word), numbers(noun)
    construct = "Cons" in feature_values(noun.content, "Definite") or (
        one and other and one.isdisjoint(other)
    )
    return not word.tags & {"ADP", *VERBAL} and (language.is_definite(noun.form) or not construct)


def numbers(word: SentenceWord) -> set[str]:
    """The numbers in which a noun stands by the plugin's table, else by the tagger (empty text: a
    dual).
    """
    known = {a.number for r in word.readings for a in r.agreements} - {"*"}
    return known or {NUMBER.get(value, "") for value in word.numbers}


def _same_person(word: SentenceWord, language: Language) -> bool:
    """A noun for people right behind another one, whose ending is an adjective's too (es *su
    dentista favorita*, where the tagger sees a noun): without article and comma it is no other
    person.
    """
    # Elsewhere than in Romance it may be an object.
    noun = word.tags == {"NOUN"} and word.facts.names_person
    # it "la nuova ufficiale capo": a masculine noun that is also used of women agrees with none.
    generic = any(r.kind is NounKind.GENERIC for r in word.readings)
    return language.either_side and noun and bool(word.facts.adjective) and not generic


def _compound_end(words: Sequence[SentenceWord], head: int) -> int:
    """Index of the last word of the compound that begins at `head`."""
    n = head
    while n + 1 < len(words) and words[n + 1].compound == n + 1 - head:
        n += 1
    return n


def is_verb_form(word: SentenceWord, language: Language) -> bool:
    """A whole verb that the plugin lists, whatever the tagger makes of it.

    Only where adjectives follow their noun, and verb and adjective are easily confused.
    """
    verbs = language.verbs
    return not language.preposed and (
        word.form in verbs.words or any(word.form == e for e, _ in verbs.endings)
    )


def belongs_to_following(words: Sequence[SentenceWord], n: int, language: Language) -> bool:
    """An adjective that agrees with the noun behind it (cs *minulý týden*), where adjectives stand
    before their noun. Further adjectives may stand between (cs *celý minulý týden*).

    Where nouns show no case it may as well be that of a noun before it: there only a noun for no
    person is asked, right behind it (es *su colega es buena gente*, it *diede all'insegnante nuova
    speranza*).
    """
    if not language.preposed:
        return False
    if not language.prepositions:
        return _of_thing_behind(words, n)
    noun = n + 1
    while noun < len(words) and words[noun].joined and words[noun].tags == {"ADJ"}:
        noun += 1
    if noun == len(words) or not words[noun].joined:
        return False
    return (
        bool(words[noun].tags & NOMINAL)
        and "ADP" not in words[noun].tags
        and words[n].agrees_with(words[noun])
    )


def _of_thing_behind(words: Sequence[SentenceWord], n: int) -> bool:
    """An adjective with a common noun of its gender and number right behind it that names no
    person.
    """
    word, noun = words[n], word_behind(words, n)
    if noun is None or noun.tags != {"NOUN"} or not word.is_adjective:
        return False
    if any(r.kind.is_personal for r in noun.readings):
        return False
    return all(
        feature_values(word.content, f) & feature_values(noun.content, f)
        or not feature_values(noun.content, f)
        for f in ("Gender", "Number")
    )
