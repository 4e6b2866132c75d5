"""What stands behind the entity's noun phrase and a mark: relative pronouns, attributes, and the
clauses and phrases between two marks behind which the predicate follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mtbias.language.grammar import Agreement, meet
from mtbias.reading.agreement import PERSONAL, fits, listed, only_gender
from mtbias.reading.rules import rule
from mtbias.reading.syntax.phrase import NounPhrase
from mtbias.reading.words import (
    NOMINAL,
    VERBAL,
    SentenceWord,
    evidence,
    feature_values,
    governed,
    is_behind_pause,
    numbers,
)
from mtbias.types import Evidence, Gender

_MAX_WORDS = 25
"""Words between two marks that are passed over."""
_MAX_TO_PERSON = 4
"""Words behind a mark among which the first verb or pronoun that has a person stands."""
_DASH = frozenset("—–-")
_MAX_ADVERBS = 2
"""Adverbs before an attribute behind a mark (ru *врач, недавно приехавшая из Москвы, …*)."""


# Evidence


@rule(otherwise=None)
def relative_pronoun_behind(phrase: NounPhrase, end: int) -> Evidence | None:
    """A relative pronoun agrees with the noun before it in gender, whatever its case: ru *врач,
    которая…*, *врач, с которой…*, ar *الباريستا التي*.

    None where another noun may be the one that it takes up (ru *врач больницы, которая закрылась*,
    *жалоба на судью, которая осталась без ответа*).
    """
    place = _relative_place(phrase, end + 1)
    if place is None or _asks_for_noun(phrase, place):
        return None
    language, form = phrase.language, phrase.words[place].form
    article = language.determiners.get(phrase.words[place - 1].form, ())
    agreements = meet(language.relatives[form], article) or language.relatives[form]
    own = numbers(phrase.words[phrase.head]) - {""}
    allowed = [a for a in agreements if fits(a.number, phrase.number)]
    if own:
        allowed = [a for a in allowed if a.number in ("*", *own)]
    return _shown("relative_pronoun", place, allowed, phrase, end)


def _asks_for_noun(phrase: NounPhrase, place: int) -> bool:
    """Before any verb a noun in the gender of the pronoun stands behind it, whose question word it
    is: uk *запитай колегу, яка сьогодні погода*.
    """
    words = phrase.words
    for n in range(place + 1, len(words)):
        if not words[n].joined:
            return False
        agrees = words[n].tags & NOMINAL and words[n].agrees_with(words[place])
        if agrees and not governed(words, n):
            return True
        if is_finite_verb(words[n], phrase):
            return False
    return False


def _relative_place(phrase: NounPhrase, n: int) -> int | None:
    """Index of the relative pronoun: the n-th word, or behind a preposition and an article there
    (it *con la quale*).
    """
    words, language = phrase.words, phrase.language
    last = n + 2 if is_behind_pause(words, n) else n
    for place in range(n, min(last + 1, len(words))):
        if words[place].form in language.relatives:
            return place
        if "ADP" not in words[place].tags and words[place].form not in language.determiners:
            return None
    return None


@rule(otherwise=None)
def attribute_behind_mark(phrase: NounPhrase, end: int) -> Evidence | None:
    """An adjective or participle behind a mark agrees with the subject before it: ru *врач,
    уставшая после смены, …*, fr *L'architecte, arrivée hier, …*. One that has a noun behind it is
    that one's (ru *врач, старая подруга Анны, …*).
    """
    words, language = phrase.words, phrase.language
    place = end + 1
    # A dash may stand for the copula: ru "Судья — уважаемая в обществе профессия".
    if not is_behind_pause(words, place) or _DASH.intersection(words[place].mark):
        return None
    for _ in range(_MAX_ADVERBS):
        adverb = words[place].form in language.verbs.skip or words[place].tags == {"ADV"}
        if adverb and place + 1 < len(words) and words[place + 1].joined:
            place += 1
    word = words[place]
    if not _is_attribute(word, phrase) or phrase.syntax.belongs_to_following(words, place):
        return None
    if _has_noun_behind(phrase, place) or _speaks_to(phrase, place):
        return None
    allowed = [
        a
        for a in word.facts.adjective
        if a.case in ("nom", "*") and fits(a.number, phrase.number or "sg")
    ]
    return _shown("attribute_behind_mark", place, allowed, phrase, end)


def _has_noun_behind(phrase: NounPhrase, place: int) -> bool:
    """Before the next mark stands what the adjective may belong to: a noun in an absolute phrase
    (it *finita la lezione*), the noun of which it is the attribute in a predicate (ru *уважаемая в
    обществе профессия*), or another person in a list (*больная и её муж*).
    """
    words = phrase.words
    for n in range(place + 1, len(words)):
        if not words[n].joined:
            return False
        if "CCONJ" in words[n].tags:
            adjective = n + 1 < len(words) and words[n + 1].is_adjective
            return phrase.syntax.case and n == place + 1 and not adjective
        if words[n].tags & NOMINAL and _may_own(phrase, place, n):
            return True
    return False


def _may_own(phrase: NounPhrase, place: int, noun: int) -> bool:
    """With case it is a nominative that agrees. Without it has an article and no preposition, and
    its gender does not count, or a date would silence men alone (fr *née le 5 mars*, *né le 5
    mars*).
    """
    words = phrase.words
    if phrase.syntax.case:
        nominative = words[noun].may_be_subject and not governed(words, noun)
        return nominative and words[place].agrees_with(words[noun])
    article = noun - 1
    if words[article].tags == {"ADJ"}:
        article -= 1
    if article <= place or words[article].form not in phrase.language.determiners:
        return False
    return "ADP" not in words[article].tags | words[article - 1].tags


def _speaks_to(phrase: NounPhrase, place: int) -> bool:
    """The clause behind the next mark speaks of "I" or "you": the noun addresses somebody (ru
    *доктор, измученная болью, я не спала*).
    """
    words, n = phrase.words, place + 1
    while n < len(words) and words[n].joined:
        n += 1
    for word in words[n : n + _MAX_TO_PERSON]:
        persons = feature_values(word.tagged, "Person")
        if persons:
            return bool(persons & {"1", "2"}) and "3" not in persons
    return False


def _is_attribute(word: SentenceWord, phrase: NounPhrase) -> bool:
    invariant = phrase.language.verbs.invariant
    if word.readings or word.form in phrase.language.determiners:
        return False
    if invariant and re.search(invariant, word.form):
        return False
    participle = word.tags == {"VERB"} and feature_values(word.tagged, "VerbForm") == {"Part"}
    finite = phrase.language.verbs.ending(word.form) is not None
    return word.is_adjective or (participle and not finite)


def _shown(
    name: str, place: int, allowed: Sequence[Agreement], phrase: NounPhrase, end: int
) -> Evidence | None:
    gender = only_gender(allowed) if allowed else None
    if gender not in PERSONAL or _another_noun_agrees(phrase, end, gender):
        return None
    return evidence(name, "adjective", [phrase.words[place]], gender, "form", listed(allowed))


def _another_noun_agrees(phrase: NounPhrase, end: int, gender: Gender) -> bool:
    """A noun among the attributes of the phrase (ru *посол Франции, которая…*), or one before it in
    its clause, may be what the word behind the mark belongs to.
    """
    words = phrase.words
    if any(words[n].tags & NOMINAL for n in range(phrase.last + 1, end + 1)):
        return True
    before = [words[n] for n in _places_before(phrase)]
    return any("NOUN" in word.tags and not word.cannot_agree(gender) for word in before)


def _places_before(phrase: NounPhrase) -> list[int]:
    """Indices of the words before the phrase in its clause, back to the verb; in a relative clause
    those before that, too (es *la carta que recibió su colega, la cual…*).
    """
    words, n = phrase.words, phrase.first
    places: list[int] = []
    behind_verb: list[int] = []
    while n > 0 and words[n].joined:
        n -= 1
        relative = bool(words[n].tags & {"PRON", "ADV", "DET"}) and opens_subordinate(phrase, n)
        if relative and n > 0:
            places += behind_verb
            behind_verb = []
        elif behind_verb or is_finite_verb(words[n], phrase):
            behind_verb.append(n)
        else:
            places.append(n)
    return places


# Passing over


def resumption(phrase: NounPhrase, end: int) -> int | None:
    """Index of the word with which the clause resumes behind what stands between marks behind
    `end`: an adverb or the like before a verb, or the verb. None where nothing stands there, or no
    verb follows it.

    Each subordinate clause that was opened takes one verb, and a stretch between two marks has at
    most one for each that it opens; a verb behind them is that of the clause itself.
    """
    words = phrase.words
    if not is_behind_pause(words, end + 1):
        return None
    opened = 0
    for stretch in _stretches(words, end + 1):
        first, subordinate = stretch.start, opened > 0
        resumes = first > end + 1 and not opened and not opens_subordinate(phrase, first)
        if resumes and reaches_verb(phrase, first):
            return first
        has_verb = False
        for n in stretch:
            opens = opens_subordinate(phrase, n)
            relative = opens and _relative_place(phrase, n) is not None
            if relative or (opens and n == first):
                opened, subordinate, has_verb = opened + 1, True, False
            elif is_finite_verb(words[n], phrase) or words[n].form in phrase.language.verbs.short:
                if not (subordinate or opens):
                    return None
                opened -= opened > 0 and not has_verb
                has_verb = True
        if not has_verb and opened and _is_phrase(phrase, stretch):
            opened -= 1
    return None


def _stretches(words: Sequence[SentenceWord], first: int) -> Iterator[range]:
    """The words between two marks each, up to the end of the sentence."""
    start = first
    for n in range(first + 1, min(len(words), first + _MAX_WORDS)):
        if not words[n].mark or words[n].joined:
            continue
        if not is_behind_pause(words, n):
            return
        yield range(start, n)
        start = n
    yield range(start, min(len(words), first + _MAX_WORDS))


def _is_phrase(phrase: NounPhrase, stretch: range) -> bool:
    """A conjunction with one word more is no clause (ru *как известно*)."""
    opens = opens_subordinate(phrase, stretch.start)
    relative = _relative_place(phrase, stretch.start) is not None
    nouns = [n for n in stretch if phrase.words[n].tags & NOMINAL]
    return opens and not relative and len(stretch) <= 2 and not nouns


def opens_subordinate(phrase: NounPhrase, n: int) -> bool:
    """A subordinate clause begins with the n-th word: a conjunction, or a relative or interrogative
    word, also behind a preposition.
    """
    words = phrase.words
    if _relative_place(phrase, n) is not None:
        return True
    if n + 1 < len(words) and words[n].tags == {"ADP"} and words[n + 1].joined:
        n += 1
    opener = words[n].tagged[:1]
    if opener and opener[0].upos == "SCONJ":
        return True
    return bool(feature_values(opener, "PronType") & {"Rel", "Int", "Int,Rel"})


def reaches_verb(phrase: NounPhrase, n: int) -> bool:
    """From the n-th word on a verb follows, with nothing before it but adverbs and what can be no
    subject.
    """
    words, verbs, syntax = phrase.words, phrase.language.verbs, phrase.syntax
    end = min(len(words), n + 5)
    first = n
    while n < end and (n == first or words[n].joined):
        word = words[n]
        if is_finite_verb(word, phrase) or word.form in verbs.short:
            return True
        oblique = syntax.oblique_end(words, n)
        if oblique is not None:
            n = oblique
        elif not (word.form in verbs.skip or word.tags <= {"ADV", "PART", "PRON"}):
            return False
        n += 1
    return False


def is_finite_verb(word: SentenceWord, phrase: NounPhrase) -> bool:
    """A verb that can have a subject of its own: no infinitive, and no participle but one of the
    past tense.
    """
    verbs = phrase.language.verbs
    if word.form in verbs.copulas or word.form in verbs.words:
        return True
    if not word.tags & VERBAL:
        return False
    if verbs.ending(word.form):
        return True
    forms = feature_values((w for w in word.tagged if w.upos in VERBAL), "VerbForm")
    return not forms & {"Inf", "Part", "Conv", "Ger", "Vnoun"}
