"""Words behind a mark that agree with the noun before it: relative pronouns, adjectives and
participles.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mtbias.language.grammar import Agreement, meet
from mtbias.reading.agreement import PERSONAL, fits, listed, only_gender
from mtbias.reading.rules import rule
from mtbias.reading.syntax.insertion import is_finite_verb, opens_subordinate, relative_place
from mtbias.reading.syntax.phrase import NounPhrase
from mtbias.reading.syntax.predicate import attributes_end, is_open_subject
from mtbias.reading.words import (
    NOMINAL,
    SentenceWord,
    evidence,
    feature_values,
    governed,
    is_behind_pause,
    numbers,
)
from mtbias.types import Evidence, Gender

_MAX_TO_PERSON = 4
"""Words behind a mark among which the first verb or pronoun that has a person is looked for."""
_DASH = frozenset("—–-")
_MAX_ADVERBS = 2
"""Adverbs before an attribute behind a mark (ru *врач, недавно приехавшая из Москвы, …*)."""


def behind_mark(phrase: NounPhrase) -> list[Evidence]:
    """The relative pronoun behind the phrase, and the adjective or participle behind a mark; silent
    where another noun may be the one with which they agree.
    """
    end = attributes_end(phrase)
    pieces = [relative_pronoun_behind(phrase, end)]
    # fr "en tant qu'électrochimiste, …" is not a subject.
    before = phrase.before()
    conjunction = before is not None and "SCONJ" in before.tags
    if not conjunction and is_open_subject(phrase):
        pieces.append(attribute_behind_mark(phrase, end))
    return [piece for piece in pieces if piece is not None]


@rule(otherwise=None)
def relative_pronoun_behind(phrase: NounPhrase, end: int) -> Evidence | None:
    """A relative pronoun agrees with the noun before it in gender, whatever its case: ru *врач,
    которая…*, *врач, с которой…*, ar *الباريستا التي*.

    Silent where another noun may be the one that it takes up (ru *врач больницы, которая
    закрылась*, *жалоба на судью, которая осталась без ответа*).
    """
    place = relative_place(phrase, end + 1)
    if place is None or _asks_for_noun(phrase, place):
        return None
    language, form = phrase.language, phrase.words[place].form
    article = language.determiners.get(phrase.words[place - 1].form, ())
    agreements = meet(language.relatives[form], article) or language.relatives[form]
    own = numbers(phrase.words[phrase.head]) - {""}
    allowed = [a for a in agreements if fits(a.number, phrase.number)]
    if own:
        allowed = [a for a in allowed if a.number in ("*", *own)]
    return _evidence_at("relative_pronoun", "pronoun", place, allowed, phrase, end)


def _asks_for_noun(phrase: NounPhrase, place: int) -> bool:
    """Before any verb a noun in the gender of the pronoun follows it, whose question word it
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
    nominatives = [a for a in word.facts.adjective if a.case in ("nom", "*")]
    allowed = [a for a in nominatives if fits(a.number, phrase.number or "sg")]
    return _evidence_at("attribute_behind_mark", "adjective", place, allowed, phrase, end)


def _has_noun_behind(phrase: NounPhrase, place: int) -> bool:
    """Before the next mark is another word that the adjective may belong to: a noun in an
    absolute phrase (it *finita la lezione*), the noun that it is the attribute of in a predicate
    (ru *уважаемая в обществе профессия*), or another person in a list (*больная и её муж*).
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


def _evidence_at(
    rule_name: str,
    kind: str,
    place: int,
    allowed: Sequence[Agreement],
    phrase: NounPhrase,
    end: int,
) -> Evidence | None:
    gender = only_gender(allowed) if allowed else None
    if gender not in PERSONAL:
        return None
    disputed = _another_noun_agrees(phrase, end, gender)
    # Whosever it is, a masculine one says nothing against a masculine noun.
    if disputed and gender is Gender.MALE:
        return None
    own = None if disputed else gender
    return evidence(rule_name, kind, [phrase.words[place]], own, "form", listed(allowed))


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
