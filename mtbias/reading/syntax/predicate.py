"""The predicate that agrees with the entity. It counts only where the noun phrase is silent, and
only where it surely is the entity's own.

Sure means: the phrase opens its clause (nothing, a conjunction or a punctuation mark before it),
holds no preposition, can be nominative, and the verb is right next to it, apart from negation,
clitics and adverbs. In languages with case, phrases that cannot be the subject by their case or
preposition may come before it and between the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mtbias.language.grammar import Agreement
from mtbias.reading.agreement import GENDER_OF_LETTER, PERSONAL, listed, only_gender
from mtbias.reading.rules import rule
from mtbias.reading.syntax.insertion import (
    is_finite_verb,
    opens_subordinate,
    reaches_verb,
    resumption,
)
from mtbias.reading.syntax.phrase import NounPhrase
from mtbias.reading.words import (
    CONJUNCTION,
    NOMINAL,
    VERBAL,
    SentenceWord,
    evidence,
    feature_values,
    governed,
    is_behind_pause,
    noun_governed,
    tagged_gender,
    word_behind,
)
from mtbias.types import Evidence, Gender, Word

_MAX_BETWEEN = 4
"""Words that may come between the phrase and its predicate: fr *L'interprète n'est pas venue* and
cs *Vyučující jí to už vysvětlil* need three."""


def find_predicate(phrase: NounPhrase) -> Evidence | None:
    """The gender that the entity's own predicate shows, or None."""
    syntax = phrase.syntax
    may_precede = phrase.language.verbs.order == "both"
    if not may_be_subject(phrase):
        return None
    if not syntax.is_nominative(phrase):
        return preceding(phrase, behind_object=True) if may_precede else None
    if is_open_subject(phrase):
        piece = _bare_predicate(phrase) or _following(phrase)
        if piece is not None:
            return None if syntax.may_be_object(phrase, piece) else piece
    return preceding(phrase) if may_precede else None


def is_open_subject(phrase: NounPhrase) -> bool:
    """The phrase may be the subject of its clause, and opens it."""
    if not (may_be_subject(phrase) and phrase.syntax.is_nominative(phrase)):
        return False
    return opens_clause(phrase) and not coordinated(phrase)


def is_out_of_sight(phrase: NounPhrase) -> bool:
    """A mark follows the subject and hides whether its predicate is feminine: the subject
    opens the sentence and no verb resumes it, or the verb may have another subject.
    """
    verbs = phrase.language.verbs
    if not (verbs.endings or verbs.words or verbs.copulas) or not is_open_subject(phrase):
        return False
    end = attributes_end(phrase)
    if not is_behind_pause(phrase.words, end + 1):
        return False
    n = resumption(phrase, end)
    if n is None:
        return phrase.first == 0
    piece = _behind(phrase, n - 1, begins=True)
    return piece is not None and _has_other_subject(phrase, piece)


def further_predicates(phrase: NounPhrase, gender: Gender) -> Iterator[tuple[int, Evidence]]:
    """Predicates in `gender` elsewhere in the sentence, each with its index: behind a pronoun of
    the third person in that gender, and those without a subject at the beginning of a clause. They
    may be somebody else's.
    """
    words = phrase.words
    for n in range(-1, len(words) - 1):
        begins = _begins_clause(words, n + 1)
        introduced = begins or is_pronoun(words[n], gender)
        piece = _behind(phrase, n, begins=True) if introduced else None
        if piece is None or piece.gender is not gender:
            continue
        place = next(k for k in range(n + 1, len(words)) if words[k].span == piece.span)
        subject = word_behind(words, place)
        own = subject is None or place + 1 == phrase.first
        if own or not (subject and subject.is_noun and subject.may_be_subject):
            yield place, piece


def _begins_clause(words: Sequence[SentenceWord], n: int) -> bool:
    """A mark or a conjunction comes before the word, or is written on (ar *وأصبحت* "and she
    became").
    """
    opener = words[n].tagged[0].upos if words[n].tagged else ""
    if not words[n].joined or opener in CONJUNCTION:
        return True
    return n > 0 and bool(words[n - 1].tags & CONJUNCTION)


def is_pronoun(word: SentenceWord, gender: Gender) -> bool:
    """A pronoun of the third person singular, or one written onto the word, whose gender the tagger
    reads so.
    """
    return "PRON" in word.tags and any(_is_third_person(w, gender) for w in word.tagged)


def _is_third_person(word: Word, gender: Gender) -> bool:
    third = word.feat("Person") == "3" and word.feat("Number") == "Sing"
    return word.upos == "PRON" and third and tagged_gender([word])[0] is gender


@rule()
def may_be_subject(phrase: NounPhrase) -> bool:
    """The phrase holds and follows no preposition, and can be a nominative.

    ru *Разработчику понадобилась обратная связь* "the developer needed feedback": a dative is no
    subject. *Попытка заклеймить профессора способствовала*: of one professor it is no nominative.
    """
    words, syntax = phrase.words, phrase.syntax
    # he כשהממונה, with "when" written on, which the tagger calls a preposition.
    if any("ADP" in words[n].tags for n in (*phrase.left, phrase.head)):
        return False
    before, oblique = phrase.before(), phrase.language.verbs.oblique
    if before is not None and ("ADP" in before.tags or before.form in oblique):
        return False
    if "nom" not in syntax.cases(phrase)[0]:
        return False
    singular = phrase.number == "sg"
    own = [a for a in phrase.agreements if not singular or a.number != "pl"] or phrase.agreements
    return any(a.case in ("nom", "*") for a in own)


@rule()
def opens_clause(phrase: NounPhrase) -> bool:
    """Nothing of its clause stands before the phrase but conjunctions and adverbs; a conjunction
    may be written on (he *שהמורה* "that the teacher").
    """
    words, first = phrase.words, phrase.first
    if first == 0 or not words[first].joined:
        return True
    if words[first].tagged and words[first].tagged[0].upos in CONJUNCTION:
        return True
    before = words[first - 1].tags
    if before and before <= {"CCONJ", "SCONJ", "ADV", "PART"}:
        return True
    return phrase.syntax.opens_clause(words, first)


@rule()
def coordinated(phrase: NounPhrase) -> bool:
    """The predicate of a plural behind "noun and" agrees with both (es *Juan y sus estudiantes
    están cansados*).
    """
    words, n = phrase.words, phrase.first - 1
    if phrase.number != "pl" or n < 1 or not words[n].joined or "CCONJ" not in words[n].tags:
        return False
    nominals = [w for w in words[n - 1].tagged if w.upos in ("NOUN", "PROPN", "PRON")]
    return any(feature_values([w], "Case") <= {"Nom"} for w in nominals)


def _bare_predicate(phrase: NounPhrase) -> Evidence | None:
    word = phrase.syntax.bare_predicate(phrase)
    return _predicative(word, phrase) if word is not None else None


def _following(phrase: NounPhrase) -> Evidence | None:
    """The predicate behind the phrase and its attributes."""
    end = attributes_end(phrase)
    start = phrase.syntax.predicate_behind_thing(phrase, end)
    piece = _behind(phrase, start) or _behind_insertion(phrase, end)
    if start == end or piece is None:
        return piece
    return piece if phrase.words[start].cannot_agree(piece.gender) else None


@rule(otherwise=None)
def _behind_insertion(phrase: NounPhrase, end: int) -> Evidence | None:
    """What stands between two marks behind the subject is passed over: ru *врач, которая жила в
    Москве, уволилась*, *врач, по словам соседей, уволилась*.
    """
    n = resumption(phrase, end)
    piece = None if n is None else _behind(phrase, n - 1, begins=True)
    return None if piece is None or _has_other_subject(phrase, piece) else piece


def _has_other_subject(phrase: NounPhrase, piece: Evidence) -> bool:
    """The verb is followed by a noun that may be its subject (ru *коллега, по словам соседей, дома,
    приехала его мать*).
    """
    words = phrase.words
    n = next(k for k, word in enumerate(words) if word.span == piece.span) + 1
    while n < len(words) and words[n].joined and not words[n].tags & CONJUNCTION:
        nominal = words[n].tags & NOMINAL and not governed(words, n)
        if nominal and words[n].may_be_subject and not words[n].cannot_agree(piece.gender):
            return True
        n += 1
    return False


def _behind(phrase: NounPhrase, n: int, *, begins: bool = False) -> Evidence | None:
    """The predicate behind the word at `n`, with nothing between but what cannot be a subject;
    `begins`: a clause may begin there.
    """
    words, syntax, verbs = phrase.words, phrase.syntax, phrase.language.verbs
    copula = reflexive = False
    for _ in range(_MAX_BETWEEN + 1):
        n += 1
        if n >= len(words) or not (words[n].joined or begins):
            return None
        word, first, begins = words[n], begins, False
        if word.form in verbs.skip or _is_auxiliary(phrase, n):
            reflexive = reflexive or word.form in verbs.reflexives
            continue
        # Short forms are predicates by themselves (ru секретарь должна).
        if not copula and word.form in verbs.short:
            form = verbs.short[word.form]
            return _by_form("short_form", word, form, phrase, word.form, tagged=True)
        listed_verb = _is_listed_verb(phrase, word)
        between = None if copula or listed_verb else syntax.oblique_end(words, n)
        if between is not None:
            n = between
        elif word.tags & {"ADP", *CONJUNCTION} and not (listed_verb or first):
            return None
        elif _is_copula(word, phrase, reflexive=reflexive):
            piece = _copula_evidence(phrase, n)
            if piece:
                return piece
            copula = True
        elif (copula and word.tags & {"ADJ", *VERBAL}) or syntax.is_bare_participle(word):
            return None if _is_role_or_attribute(phrase, n) else _predicative(word, phrase)
        elif word.tags & VERBAL or listed_verb:
            return None if compound_tense(word, phrase) else _verb_evidence(word, phrase)
        # Another nominative may be the verb's subject.
        elif not (word.tags <= {"ADV", "PART"} or syntax.is_oblique(word)):
            return None
    return None


def _is_listed_verb(phrase: NounPhrase, word: SentenceWord) -> bool:
    return phrase.syntax.is_predicate_form(word) and word.form not in phrase.language.verbs.short


def _is_copula(word: SentenceWord, phrase: NounPhrase, *, reflexive: bool) -> bool:
    verbs = phrase.language.verbs
    return word.form in verbs.copulas or (reflexive and word.form in verbs.reflexive_copulas)


def _is_auxiliary(phrase: NounPhrase, n: int) -> bool:
    """An auxiliary right before a copula (fr *a été*)."""
    words, verbs = phrase.words, phrase.language.verbs
    following = words[n + 1].form if n + 1 < len(words) else ""
    return words[n].form in verbs.auxiliaries and following in verbs.copulas


def _copula_evidence(phrase: NounPhrase, n: int) -> Evidence | None:
    """The gender that a copula shows by itself (ru *аналитик была уверена*, he *האופה היה*). A
    pronoun in its place shows none (he *הוא*), nor does a copula behind an auxiliary (pt *tinha
    sido convidada*).
    """
    word = phrase.words[n]
    compound = compound_tense(word, phrase) or (n > 0 and _is_auxiliary(phrase, n - 1))
    return None if compound or "PRON" in word.tags else _verb_evidence(word, phrase)


@rule()
def _is_role_or_attribute(phrase: NounPhrase, n: int) -> bool:
    """A noun of fixed gender where the predicate stands (es *fue víctima* is said of men, too), or
    the adjective of a noun behind it (cs *je dobrá osoba*).
    """
    word = phrase.words[n]
    role = bool(word.readings) and not word.is_personal
    return role or phrase.syntax.belongs_to_following(phrase.words, n)


def attributes_end(phrase: NounPhrase) -> int:
    """Index of the last word of the phrase with its prepositional and genitive attributes (ru
    *менеджер по продажам*, *представитель министерства*) and the names behind it (uk *суддя
    Ковальчук*).
    """
    words, syntax, language = phrase.words, phrase.syntax, phrase.language
    n = syntax.genitives_end(phrase)
    while (word := word_behind(words, n)) and word.form not in language.verbs.short:
        if syntax.continues_attribute(word):
            n += 1
        elif "ADP" in word.tags or word.form in language.prepositions:
            noun = noun_governed(words, n + 1)
            if noun is None:
                break
            n = noun
        else:
            break
    return n


@rule()
def compound_tense(word: SentenceWord, phrase: NounPhrase) -> bool:
    """A bare past participle that no copula introduces (it *ha chiesto*) does not agree with the
    subject, unless its ending is one that marks gender (the Slavic l-participle, which taggers call
    a past participle too).

    Declined it is an attribute of something: ru *подписанная атташе нота*.
    """
    if phrase.language.verbs.ending(word.form):
        return False
    forms = feature_values((w for w in word.tagged if w.upos in VERBAL), "VerbForm")
    past = "Past" in feature_values(word.tagged, "Tense")
    silent = past or bool(feature_values(word.tagged, "Case"))
    return "Part" in forms and "Fin" not in forms and silent


def preceding(phrase: NounPhrase, *, behind_object: bool = False) -> Evidence | None:
    """The verb right before the phrase, where nothing before it in its clause can be its subject.

    Args:
        phrase: the entity's.
        behind_object: the phrase is taken for a subject only where the verb has its object before
            it (ru *ставку приняла крупье*): the form shows no case, and the tagger guesses one.
    """
    words, n = phrase.words, _place_before(phrase)
    piece = None if n is None else _verb_before(phrase, n)
    if piece is None or n is None:
        return None
    # An insertion in the clause of another verb: ru "Она упала, к счастью, врач живёт рядом".
    across = n < phrase.first - 1
    if across and reaches_verb(phrase, attributes_end(phrase) + 1):
        return None
    has_object = False
    # he האיכר נתן למורה "the farmer gave the teacher": the farmer is the subject. The search ends
    # at the conjunction that opens the clause: es "cuando fue despedida su asistente".
    while n > 0 and words[n].joined:
        n -= 1
        if words[n].tags & CONJUNCTION:
            # ru "вошла и неделю искала портье": the subject may be the one of the clause before.
            has_object = has_object and "CCONJ" not in words[n].tags
            break
        gender = piece.gender
        if words[n].may_be_subject and not phrase.syntax.cannot_be_subject(words[n], gender):
            return None
        has_object = has_object or _is_object(words, n)
    if across and n > 0:
        return None
    return piece if has_object or not behind_object else None


def _place_before(phrase: NounPhrase) -> int | None:
    """Index of the word right before the phrase, or before what comes between two marks there (ru
    *уволилась, по словам соседей, врач*); None if there is none.
    """
    words, first = phrase.words, phrase.first
    if first == 0 or words[first].joined:
        return first - 1 if first else None
    if not is_behind_pause(words, first):
        return None
    for n in range(first - 1, 0, -1):
        if is_finite_verb(words[n], phrase) or not (words[n].joined or is_behind_pause(words, n)):
            return None
        if is_behind_pause(words, n):
            return None if opens_subordinate(phrase, n) else n - 1
    return None


@rule(otherwise=None)
def _verb_before(phrase: NounPhrase, place: int) -> Evidence | None:
    """A verb right before the phrase, or an adjective or participle behind a copula, shows the
    gender of its subject: ru *сказала коллега*, es *fue despedida su asistente*.
    """
    words, verbs = phrase.words, phrase.language.verbs
    word = words[place]
    if not word.tags & {"ADJ", *VERBAL}:
        return None
    n = place - 1
    while n > 0 and words[n + 1].joined and words[n].form in verbs.skip:
        n -= 1
    if n >= 0 and words[n + 1].joined and words[n].form in verbs.copulas:
        return _predicative(word, phrase)
    if "ADJ" in word.tags or compound_tense(word, phrase):
        return None
    return _verb_evidence(word, phrase)


def _is_object(words: Sequence[SentenceWord], n: int) -> bool:
    """A noun without a preposition, and no instrumental, which may be a time (ru *утром*)."""
    time = words[n].cases == {"Ins"}
    return bool(words[n].tags & NOMINAL) and not time and not governed(words, n)


def _predicative(word: SentenceWord, phrase: NounPhrase) -> Evidence | None:
    """An adjective or participle that a copula joins to its subject: its ending by the plugin's
    table, else the tagger.
    """
    ending = word.facts.adjective
    if not ending:
        tagged = [w for w in word.tagged if w.upos in ("ADJ", "VERB", "AUX")]
        return _tagged("predicate_by_tagger", word, tagged, phrase)
    gender = only_gender([a for a in ending if a.number in ("*", phrase.number or "sg")])
    if gender not in PERSONAL:
        return None
    return evidence("predicate_by_ending", "verb", [word], gender, "form", listed(ending))


def _tagged(
    rule_name: str, word: SentenceWord, tagged: Sequence[Word], phrase: NounPhrase
) -> Evidence | None:
    """The gender that the tagger reads on the syntactic words `tagged`, where it reads the entity's
    number on them.
    """
    gender, feature = tagged_gender(tagged)
    if gender not in PERSONAL or not _has_number(tagged, phrase):
        return None
    return evidence(rule_name, "verb", [word], gender, "tagger", feature)


def _has_number(tagged: Sequence[Word], phrase: NounPhrase) -> bool:
    return feature_values(tagged, "Number") <= {"Plur" if phrase.number == "pl" else "Sing"}


def _verb_evidence(word: SentenceWord, phrase: NounPhrase) -> Evidence | None:
    """The gender of a finite verb in the entity's number: by the plugin's endings, else by the
    tagger.

    Whole forms come first: he *הראה* "showed" (he) ends like the feminine verbs. Endings come
    before the tagger, which reads he *שכחה* "forgot" (she) as masculine, and ar *افتتح* as a
    feminine that the form, without ت, cannot be.
    """
    tagged, verbs = [w for w in word.tagged if w.upos in VERBAL], phrase.language.verbs
    whole = verbs.words.get(word.form)
    if whole:
        return _by_form("whole_verb", word, whole, phrase, word.form, tagged=True)
    ending = verbs.ending(word.form)
    if ending:
        fits = _has_number(tagged, phrase)
        shows = f"-{ending[0]}"
        return _by_form("verb_by_ending", word, ending[1], phrase, shows, tagged=fits)
    piece = _tagged("verb_by_tagger", word, tagged, phrase)
    if piece and piece.gender is Gender.FEMALE and verbs.feminine:
        return piece if re.search(verbs.feminine, word.form) else None
    return piece


def _by_form(
    rule_name: str,
    word: SentenceWord,
    agreement: Agreement,
    phrase: NounPhrase,
    shows: str,
    *,
    tagged: bool,
) -> Evidence | None:
    """Evidence of a form that shows gender, if it shows the entity's number (cs *Zloděj a účetní
    utekli* tells of two people); where it shows none, the tagger must agree.
    """
    number = agreement.number
    fits = tagged if number == "*" else number == (phrase.number or number)
    gender = GENDER_OF_LETTER.get(agreement.gender)
    if gender not in PERSONAL or not fits:
        return None
    return evidence(rule_name, "verb", [word], gender, "form", shows)
