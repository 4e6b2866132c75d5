"""Which words of an English sentence cannot be nouns, as far as lists and endings tell without a
tagger.

The lists are those by which ``gender_swap.toml`` decides about *her*.
"""

from __future__ import annotations

from functools import cache

from mtbias.english.gender_swap import gendered_words
from mtbias.english.words import CONJUNCTIONS, DETERMINERS, PREPOSITIONS, QUANTIFIERS
from mtbias.types import Span

_ANYBODY = {"someone", "anyone", "everyone", "nobody"}
_PEOPLE = {"cook", "escort"}
"""Verbs of the lists that name people, too."""
_VERBS = (
    "bare_verbs",
    "bare_verb_after",
    "adjective_after",
    "two_objects_after",
    "ing_after",
    "home_after",
)


@cache
def _function_words() -> frozenset[str]:
    closed = gendered_words().her["object_before"] | DETERMINERS | PREPOSITIONS | CONJUNCTIONS
    return frozenset(closed - QUANTIFIERS - _ANYBODY)


@cache
def _verbs_and_adjectives() -> frozenset[str]:
    her = gendered_words().her
    verbs = frozenset[str]().union(*(her[name] for name in _VERBS))
    return frozenset((verbs - her["noun_verbs"] - _PEOPLE) | her["adjectives"])


def is_function_word(text: str, word: Span) -> bool:
    """Whether `word` is a determiner, pronoun, preposition, conjunction, auxiliary or adverb of a
    closed class.

    Those that stand for people are not (*someone*, *both*), nor is a word with a capital within the
    sentence (*May*).
    """
    return _form(text, word) in _function_words()


def is_no_noun(text: str, word: Span) -> bool:
    """Whether `word` is an adjective, verb or adverb by its form and the word before it: *busy*,
    *asked*, *quickly*.

    A word in *-ed* behind a determiner is taken for a noun (*the accused*). What is in no list
    passes, so this finds some of many wrong words, not a single one for certain.
    """
    form = _form(text, word)
    if form in _verbs_and_adjectives():
        return True
    her = gendered_words().her
    if form.endswith("ly"):
        return form not in her["noun_before"] | her["bare_verbs"]
    before = text[: word.start].split()
    return form.endswith("ed") and bool(before) and before[-1].lower() not in DETERMINERS


def _form(text: str, word: Span) -> str:
    """The word in lower case; empty where its capital is not that of the sentence's first word, nor
    that of *I*.
    """
    written = text[slice(*word)]
    first = not any(char.isalnum() for char in text[: word.start])
    return written.lower() if first or written.islower() or written == "I" else ""
