"""Insertions between two marks, behind which the predicate of the noun before them follows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mtbias.reading.syntax.phrase import NounPhrase
from mtbias.reading.words import (
    NOMINAL,
    VERBAL,
    SentenceWord,
    feature_values,
    is_behind_pause,
    is_relative,
)

_MAX_WORDS = 25
"""Words behind a noun among which its predicate is looked for."""


def resumption(phrase: NounPhrase, end: int) -> int | None:
    """Index of the word with which the clause resumes behind what is between marks behind
    `end`: an adverb or the like before a verb, or the verb. None where nothing is there, or no
    verb follows it.

    Each subordinate clause that was opened takes one verb, and a stretch between two marks has at
    most one for each that it opens; a verb behind them is that of the clause itself.
    """
    words = phrase.words
    if not is_behind_pause(words, end + 1):
        return None
    open_clauses = 0
    for stretch in _stretches(words, end + 1):
        first, subordinate = stretch.start, open_clauses > 0
        resumes = first > end + 1 and not open_clauses and not opens_subordinate(phrase, first)
        if resumes and reaches_verb(phrase, first):
            return first
        has_verb = False
        for n in stretch:
            opens = opens_subordinate(phrase, n)
            relative = opens and relative_place(phrase, n) is not None
            if relative or (opens and n == first):
                open_clauses, subordinate, has_verb = open_clauses + 1, True, False
            elif is_finite_verb(words[n], phrase) or words[n].form in phrase.language.verbs.short:
                if not (subordinate or opens):
                    return None
                open_clauses -= open_clauses > 0 and not has_verb
                has_verb = True
        if not has_verb and open_clauses and _is_phrase(phrase, stretch):
            open_clauses -= 1
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
    """A conjunction with one word more is not a clause (ru *как известно*)."""
    opens = opens_subordinate(phrase, stretch.start)
    relative = relative_place(phrase, stretch.start) is not None
    nouns = [n for n in stretch if phrase.words[n].tags & NOMINAL]
    return opens and not relative and len(stretch) <= 2 and not nouns


def opens_subordinate(phrase: NounPhrase, n: int) -> bool:
    """A subordinate clause begins with the n-th word: a conjunction, or a relative or interrogative
    word, also behind a preposition.
    """
    words = phrase.words
    if relative_place(phrase, n) is not None:
        return True
    if n + 1 < len(words) and words[n].tags == {"ADP"} and words[n + 1].joined:
        n += 1
    opener = words[n].tagged[:1]
    if opener and opener[0].upos == "SCONJ":
        return True
    return is_relative(words[n], phrase.language) or "Int" in feature_values(opener, "PronType")


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


def relative_place(phrase: NounPhrase, n: int) -> int | None:
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
