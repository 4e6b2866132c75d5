"""The words of a translation with their morphology: what the language's tables and what the tagger
say of each.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from mtbias.language.definition import Language
from mtbias.language.grammar import Agreement, NounKind, NounReading, WordFacts
from mtbias.language.split_texts import SplitTexts
from mtbias.types import Analysis, Evidence, Gender, Span, Word

NOMINAL = frozenset(("NOUN", "PROPN"))
MODIFIER = frozenset(("ADJ", "DET", "NUM"))
VERBAL = frozenset(("VERB", "AUX"))
CONJUNCTION = frozenset(("CCONJ", "SCONJ"))
# What Semitic and Romance languages write onto a word: articles, prepositions, conjunctions,
# pronouns.
GLUED = frozenset(("ADP", "DET", "CCONJ", "SCONJ", "PRON", "PART", "PUNCT"))
# X is a foreign word: uk "Mover сказав cleaner" is not a deed of the cleaner's.
_SUBJECT = frozenset(("NOUN", "PROPN", "PRON", "X"))
_NO_SUBJECT = frozenset(("ADP", "DET", "CCONJ", "SCONJ", "VERB", "AUX"))
_PAUSE = frozenset(",،—–-()")
_END = frozenset(".!?;:…؟؛")
"""Marks that end a sentence."""
NUMBER = {"Sing": "sg", "Plur": "pl"}
"""The tagger's numbers as the plugins write them."""
_GENDER = {"Masc": Gender.MALE, "Fem": Gender.FEMALE, "Neut": Gender.NEUTRAL}


class SentenceWord(NamedTuple):
    """A surface word (an elided article counts as a word) in its sentence, with the syntactic words
    that overlap it.
    """

    span: Span
    text: str
    form: str
    """`text` folded for look-ups."""
    facts: WordFacts
    readings: tuple[NounReading, ...]
    """Its readings in the table of nouns for people, as the first word of a compound or with what
    is written onto it."""
    tagged: tuple[Word, ...]
    """The syntactic words that the tagger sees."""
    tags: frozenset[str]
    """Their parts of speech."""
    content: tuple[Word, ...]
    """Those that are not a glued-on particle: preposition, article, conjunction, pronoun."""
    joined: bool
    """Nothing that parts them comes between this word and the one before."""
    mark: str = ""
    """The characters between this word and the one before, without the blanks around them."""
    compound: int = 0
    """How many words before this one the compound begins that it belongs to (he *חשבון* in *רואה
    חשבון*: 1)."""

    @property
    def is_noun(self) -> bool:
        """A noun by the tagger, or one for people that the plugin knows."""
        return bool(self.readings or self.tags & NOMINAL)

    @property
    def is_modifier(self) -> bool:
        """A determiner, adjective or numeral by the tagger."""
        return bool(self.tags) and self.tags <= MODIFIER

    @property
    def is_adjective(self) -> bool:
        """An adjective by the tagger, glued-on particles apart."""
        return {tagged.upos for tagged in self.content} == {"ADJ"}

    @property
    def agreements(self) -> list[Agreement]:
        """The agreements of all its readings by the table, where that gives them."""
        return list(chain.from_iterable(reading.agreements for reading in self.readings))

    @property
    def cases(self) -> set[str]:
        """The cases that the tagger reads."""
        return feature_values(self.content, "Case")

    @property
    def numbers(self) -> set[str]:
        """The numbers that the tagger reads, as it writes them."""
        return feature_values(self.content, "Number")

    @property
    def is_declined(self) -> bool:
        """The tagger reads a case."""
        return bool(self.cases)

    @property
    def is_singular(self) -> bool:
        """The tagger reads a singular, on a form of the dictionary: Arabic broken plurals are
        singulars to it, too.
        """
        return self.numbers == {"Sing"} and self.facts.dictionary_forms == self.facts.bases

    @property
    def is_thing(self) -> bool:
        """A common noun that is not known as one for people."""
        return "NOUN" in self.tags and not self.readings

    @property
    def is_personal(self) -> bool:
        """The table has the form as a noun for people whose gender is not fixed."""
        return any(r.kind.is_personal for r in self.readings)

    @property
    def names_thing(self) -> bool:
        """The table has the form as a thing alone (es *monitor*)."""
        return {r.kind for r in self.readings} == {NounKind.THING}

    @property
    def is_inclusive(self) -> bool:
        """It is written to mean both genders (es *niñes*)."""
        return {r.kind for r in self.readings} == {NounKind.INCLUSIVE}

    @property
    def may_be_thing(self) -> bool:
        """The table has the form as a noun for people and as a thing (ar *محاضرة* "woman lecturer",
        "lecture").
        """
        return len({r.kind is NounKind.THING for r in self.readings}) > 1

    def cannot_agree(self, gender: Gender | None) -> bool:
        """The tagger reads another gender on this noun, or a plural: a singular verb in `gender` is
        not its.
        """
        shown, _ = tagged_gender(self.content)
        return (shown is not None and shown is not gender) or self.numbers == {"Plur"}

    @property
    def may_be_subject(self) -> bool:
        """A noun or pronoun that can be a nominative, by the plugin's table where it knows the
        cases, else by the tagger.
        """
        # ru Пациента осмотрела терапевт "the therapist examined the patient": by the tagger it
        # could be the other way.
        cases = {agreement.case for agreement in self.agreements} - {"*"}
        if cases:
            return "nom" in cases and bool(self.tagged)
        # Where nouns show no case they all may: he המתווך in המתווך שלח לקונה "the broker sent the
        # buyer…".
        for tagged in self.tagged:
            by_table = tagged.upos not in _NO_SUBJECT
            noun = by_table if self.readings else tagged.upos in _SUBJECT
            if noun and feature_values([tagged], "Case") <= {"Nom"}:
                return True
        return False

    def has_case_of(self, other: SentenceWord) -> bool:
        """The tagger reads the same cases on both."""
        return self.cases == other.cases

    def agrees_with(self, noun: SentenceWord) -> bool:
        """The tagger reads no different case, gender or number on this modifier and on `noun`; an
        adjective without case agrees with none (the predicative short forms of Slavic).
        """
        for feature in ("Case", "Gender", "Number"):
            mine, its = _single_values(self, feature), _single_values(noun, feature)
            if mine and its and mine.isdisjoint(its):
                return False
            # ru коллега готова помощи: готова is the colleague's predicate, not the adjective of
            # "help".
            if feature == "Case" and not mine and "ADJ" in self.tags:
                return False
        return True


def _single_values(word: SentenceWord, feature: str) -> set[str]:
    """The values of a feature; the tagger may read several at once (``Fem,Masc``)."""
    return set(",".join(feature_values(word.tagged, feature)).split(",")) - {""}


def sentence_words(analysis: Analysis, texts: SplitTexts) -> list[SentenceWord]:
    """The words of a translation in order."""
    words: list[SentenceWord] = []
    language, text, tokens = texts.language, analysis.text, analysis.tokens
    first = last = 0
    for span, facts in texts.words(text):
        while first < len(tokens) and tokens[first].span.end <= span.start:
            first += 1
        tagged: tuple[Word, ...] = ()
        for k in range(first, len(tokens)):
            if tokens[k].span.start >= span.end:
                break
            tagged += tokens[k].words
        between = text[last : span.start]
        written = _written_reading(text, span, language)
        words.append(
            SentenceWord(
                span=span,
                text=facts.text,
                form=facts.form,
                facts=facts,
                readings=written or _noun_readings(facts, tagged, language),
                tagged=tagged,
                tags=frozenset([word.upos for word in tagged]),
                content=tuple([word for word in tagged if word.upos not in GLUED]),
                joined=bool(words) and _joins(between, words[-1], language),
                mark=between.strip(),
            )
        )
        last = span.end
    words = _without_homographs(_as_spelt(words, texts))
    _drop_words_of_one_gender(words, language)
    return _with_compounds(words, language) if language.phrases else words


def _joins(between: str, before: SentenceWord, language: Language) -> bool:
    """Whether what comes between two words leaves them in one phrase: blanks, signs other than
    punctuation (marks of a program, emoji), and between a determiner and its noun quotation marks
    and brackets (es *la "doctora"*).
    """
    signs = between.split()
    if not signs:
        return True
    # Within a word, as it is written for both genders: es amig*s.
    if not any(map(str.isspace, between)):
        return False
    characters = set("".join(signs)) - _NO_PUNCTUATION
    punctuation = {char for char in characters if unicodedata.category(char)[0] == "P"}
    opens = before.form in language.determiners or before.form in language.names
    return not punctuation or (opens and punctuation <= _AROUND_WORDS)


_NO_PUNCTUATION = frozenset("*_#&@%\\•†‡§¶‧·")
_AROUND_WORDS = frozenset("\"'“”„‟«»‹›‘’‚‛()[]{}״")
"""Quotation marks and brackets."""


def _noun_readings(
    facts: WordFacts, tagged: Sequence[Word], language: Language
) -> tuple[NounReading, ...]:
    """The readings in the table; none for an indefinite that is tagged as a determiner (es *algunas
    cuestiones*).
    """
    determiner = facts.form in language.determiners and any(word.upos == "DET" for word in tagged)
    return () if determiner else facts.readings


def _written_reading(text: str, span: Span, language: Language) -> tuple[NounReading, ...]:
    """The reading of a form that names both genders by what is written onto the word:
    ``Lehrer*innen``, ``עובד/ת``.
    """
    # Word by word such a form is cut in two: ar الطالب/ة would be a man.
    if not language.inclusive or not text[span.end : span.end + 1].strip():
        return ()
    tail = text[span.end :].split(maxsplit=1)[0]
    while tail and unicodedata.category(tail[-1])[0] in "PS":
        tail = tail[:-1]
    written = text[span.start : span.end] + tail + (")" if "(" in tail else "")
    return language.noun(written) if tail and re.search(language.inclusive, written) else ()


def _as_spelt(words: list[SentenceWord], texts: SplitTexts) -> list[SentenceWord]:
    """Of a form that may be carelessly written for another, only the readings that it has as it
    stands, if the texts keep the two letters apart: ar *عمه* is "his uncle" then, and not *عمة*
    "aunt".
    """
    for careless, letter in texts.language.careless.items():
        if not texts.keeps_apart(careless, letter):
            continue
        for n, word in enumerate(words):
            if len(word.readings) > 1 and word.form.endswith(careless):
                correct = texts.language.noun(word.form.removesuffix(careless) + letter)
                others = {reading.lemma for reading in correct}
                own = tuple(r for r in word.readings if r.lemma not in others)
                words[n] = word._replace(readings=own or word.readings)
    return words


def _without_homographs(words: list[SentenceWord]) -> list[SentenceWord]:
    """Of a form before the first verb that may be a thing, only the readings in the case and number
    that the tagger reads: ru *Критика была острой* is criticism, *мнение критика* a critic's.
    """
    # Behind a verb the tagger takes too many objects for nominatives (uk "вона зустріла політика").
    for n, word in enumerate(words):
        if word.tags & VERBAL:
            break
        if word.may_be_thing:
            words[n] = word._replace(readings=_as_tagged(word) or word.readings)
    return words


def _drop_words_of_one_gender(words: list[SentenceWord], language: Language) -> None:
    """A word whose last letter could mean both genders, behind an article of one, is another word:
    pt *a morte* "death", beside *morto, morta*; but es *les niñes*.
    """
    for n, word in enumerate(words):
        if not word.is_inclusive or not word.form.isalpha() or n == 0 or not word.joined:
            continue
        allowed = language.determiners.get(words[n - 1].form, ())
        if {agreement.gender for agreement in allowed} in ({"m"}, {"f"}):
            words[n] = word._replace(readings=())


def _as_tagged(word: SentenceWord) -> tuple[NounReading, ...]:
    """The readings that can be in the case and number of the tagger; none where it reads no such
    thing.
    """
    cases = {value.lower() for value in word.cases}
    numbers = {NUMBER.get(value, "") for value in word.numbers}
    if not (cases and numbers):
        return ()
    cases.add("*")
    numbers.add("*")
    return tuple(r for r in word.readings if _may_stand_in(r, cases, numbers))


def _may_stand_in(reading: NounReading, cases: set[str], numbers: set[str]) -> bool:
    allowed = reading.agreements
    return not allowed or any(a.case in cases and a.number in numbers for a in allowed)


def _with_compounds(words: list[SentenceWord], language: Language) -> list[SentenceWord]:
    """Compounds of several words read as the plugin's table says: by their first word."""
    forms, n = [word.form for word in words], 0
    while n < len(words):
        # ar مدبرة المنزل "housekeeper", he ראש הממשלה "prime minister": the first word alone says
        # less. The longest compounds of the tables have three words.
        opens = not words[n].facts.bases.isdisjoint(language.phrases)
        # ar الأطباء النساء "the women doctors", with its article, but أطباء النساء "the doctors for
        # women".
        before_sex = n + 1 < len(forms) and forms[n + 1] in language.sex_adjectives
        if before_sex and language.is_definite(forms[n]):
            opens = False
        compound = language.phrase(forms[n : n + 4]) if opens else None
        n += 1
        if compound is None:
            continue
        size, reading = compound
        if all(word.joined for word in words[n : n + size - 1]):
            words[n - 1] = words[n - 1]._replace(readings=(reading,))
            for k in range(1, size):
                words[n] = words[n]._replace(compound=k)
                n += 1
    return words


def is_behind_pause(words: Sequence[SentenceWord], n: int) -> bool:
    """A comma, dash or opening bracket comes before the n-th word, and no end of a sentence."""
    mark = words[n].mark if 0 < n < len(words) else ""
    return bool(_PAUSE.intersection(mark)) and not _END.intersection(mark)


def is_relative(word: SentenceWord, language: Language) -> bool:
    """A relative pronoun by the table, or what the tagger reads as one."""
    if word.form in language.relatives:
        return True
    return any("Rel" in value for value in feature_values(word.tagged, "PronType"))


def word_before(words: Sequence[SentenceWord], n: int) -> SentenceWord | None:
    """The word right before the n-th, with nothing but blanks between."""
    return words[n - 1] if n > 0 and words[n].joined else None


def word_behind(words: Sequence[SentenceWord], n: int) -> SentenceWord | None:
    """The word right behind the n-th, with nothing but blanks between."""
    return words[n + 1] if n + 1 < len(words) and words[n + 1].joined else None


def feature_values(tagged: Iterable[Word], name: str) -> set[str]:
    """The values of the UD feature `name` on syntactic words, as far as they have it."""
    values: set[str] = set()
    for word in tagged:
        values.update(value for key, value in word.feats if key == name)
    return values


def tagged_gender(tagged: Iterable[Word]) -> tuple[Gender | None, str]:
    """The gender on which syntactic words agree by the tagger's ``Gender`` feature, and the
    feature's text; None if unclear.
    """
    values = feature_values(tagged, "Gender")
    if len(values) != 1:
        return None, ""
    (value,) = values
    return _GENDER.get(value), f"Gender={value}"


def compound_end(words: Sequence[SentenceWord], head: int) -> int:
    """Index of the last word of the compound that begins at `head`."""
    n = head
    while n + 1 < len(words) and words[n + 1].compound == n + 1 - head:
        n += 1
    return n


def numbers(word: SentenceWord) -> set[str]:
    """The numbers that a noun has by the plugin's table, else by the tagger (empty text: a
    dual).
    """
    known = {agreement.number for agreement in word.agreements} - {"*"}
    return known or {NUMBER.get(value, "") for value in word.numbers}


def governed(words: Sequence[SentenceWord], n: int) -> bool:
    """A preposition comes before the noun at `n`, with nothing but determiners and adjectives
    between.
    """
    while n > 0 and words[n].joined and words[n - 1].is_modifier:
        n -= 1
    return n > 0 and words[n].joined and "ADP" in words[n - 1].tags


def noun_governed(words: Sequence[SentenceWord], preposition: int) -> int | None:
    """Index of the noun that a preposition (or a word with one written onto it) governs; three
    words may come between (cs *ve svém novém domě*).
    """
    for n in range(preposition, min(preposition + 5, len(words))):
        if n > preposition and not words[n].joined:
            return None
        if words[n].tags & NOMINAL:
            return n
        if words[n].tags & {"PRON", *VERBAL, *CONJUNCTION}:
            return None
    return None


def evidence(
    rule_name: str,
    kind: str,
    words: Sequence[SentenceWord],
    gender: Gender | None,
    source: str,
    shows: str = "",
) -> Evidence:
    """Evidence of words in the order of the text."""
    span = Span(words[0].span.start, words[-1].span.end)
    text = " ".join(word.text for word in words)
    return Evidence(rule_name, kind, text, span, gender, source, shows)
