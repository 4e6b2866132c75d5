"""What stands behind the entity's noun phrase and a mark: relative pronouns, attributes, and the
clauses and phrases between two marks behind which the predicate follows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mtbias.language.grammar import Agreement, meet
from mtbias.reading.agreement import PERSONAL, fits, listed, only_gender
from mtbias.reading.rules import rule
from mtbias.reading.syntax.phrase import NounPhrase
from mtbias.reading.words import (
    MODIFIER,
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
_MAX_ADVERBS = 2
"""Adverbs before an attribute behind a mark (ru *врач, недавно приехавшая из Москвы, …*)."""


# Evidence


@rule(otherwise=None)
def relative_pronoun_behind(phrase: NounPhrase, end: int) -> Evidence | None:
    """A relative pronoun agrees with the noun before it in gender, whatever its case: ru *врач,
    которая…*, *врач, с которой…*, ar *الباريستا التي*.

    None where another noun may be the one that it takes up (ru *врач больницы, которая закрылась*).
    """
    place = _relative_place(phrase, end + 1)
    if place is None:
        return None
    language, form = phrase.language, phrase.words[place].form
    article = language.determiners.get(phrase.words[place - 1].form, ())
    agreements = meet(language.relatives[form], article) or language.relatives[form]
    own = numbers(phrase.words[phrase.head]) - {""}
    allowed = [a for a in agreements if fits(a.number, phrase.number)]
    if own:
        allowed = [a for a in allowed if a.number in ("*", *own)]
    return _shown("relative_pronoun", place, allowed, phrase, end)


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
    if not is_behind_pause(words, place):
        return None
    for _ in range(_MAX_ADVERBS):
        adverb = words[place].form in language.verbs.skip or words[place].tags == {"ADV"}
        if adverb and place + 1 < len(words) and words[place + 1].joined:
            place += 1
    word = words[place]
    if not _is_attribute(word, phrase) or phrase.syntax.belongs_to_following(words, place):
        return None
    allowed = [
        a
        for a in word.facts.adjective
        if a.case in ("nom", "*") and fits(a.number, phrase.number or "sg")
    ]
    return _shown("attribute_behind_mark", place, allowed, phrase, end)


def _is_attribute(word: SentenceWord, phrase: NounPhrase) -> bool:
    invariant = phrase.language.verbs.invariant
    if word.form in phrase.language.determiners or (invariant and re.search(invariant, word.form)):
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
    """A noun among the attributes of the phrase, or one that it is an attribute of, may be what the
    word behind the mark belongs to. A name is the person's own.
    """
    words = phrase.words
    for n in range(phrase.last + 1, end + 1):
        name = words[n].tags == {"PROPN"} and not governed(words, n)
        if words[n].tags & NOMINAL and not name:
            return True
    n = phrase.first
    while n > 0 and words[n].joined and (words[n - 1].tags <= {"ADP", "ADV", *MODIFIER}):
        n -= 1
    before = words[n - 1] if n > 0 and words[n].joined else None
    return before is not None and "NOUN" in before.tags and not before.cannot_agree(gender)


# Passing over


def resumption(phrase: NounPhrase, end: int) -> int | None:
    """Index of the word with which the clause resumes behind what stands between two marks behind
    `end`: an adverb or the like before a verb, or the verb. None where nothing stands there, or no
    verb follows it.

    Between the marks is no finite verb but that of a subordinate clause.
    """
    words, first = phrase.words, end + 1
    if not is_behind_pause(words, first):
        return None
    subordinate = opens_subordinate(phrase, first)
    for n in range(first, min(len(words), first + _MAX_WORDS)):
        if n > first and words[n].mark and not is_behind_pause(words, n) and not words[n].joined:
            return None
        if n > first and is_behind_pause(words, n) and not opens_subordinate(phrase, n):
            if reaches_verb(phrase, n):
                return n
            subordinate = False
        elif opens_subordinate(phrase, n):
            subordinate = True
        if not subordinate and is_finite_verb(words[n], phrase):
            return None
    return None


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
