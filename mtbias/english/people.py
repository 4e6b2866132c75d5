"""The people whom a text names: their mentions, and each one's gender by title or first name.

Names come as spans, from whatever finds proper names. A mention is a name with the title that tells a gender before it
("Mr Day", "Aunt Ann"), but without other words before its first name ("Officer Pam Day"). Two mentions are of one
person where the words of one, titles aside, are among those of the other and the genders do not contradict each other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile, takewhile, zip_longest
from types import MappingProxyType
from typing import NamedTuple

from mtbias.english.gender_swap import gendered_words, word_gender
from mtbias.types import Gender, Span

_TITLE = re.compile(r"([A-Z][a-z]+)\.? $")
_WORD = re.compile(r"[^\W_](?:[^\W_]|[-.'’](?=[^\W_]))*")
_OFFICES = """
    Dr Doctor Prof Professor Captain Capt Colonel Col General Gen Major Sergeant Sgt Lieutenant Lt Admiral Officer
    Inspector Detective Agent Judge Justice President Senator Governor Mayor Minister Secretary Reverend Rev Saint
    Bishop Cardinal Pope Rabbi Coach
    """
OFFICES = frozenset(_OFFICES.split())
"""Titles that tell no gender: they stay where they are."""
OWN_TITLES = frozenset(("Uncle", "Aunt", *gendered_words().titles))
"""Titles that are replaced with the name behind them; others that tell a gender ("Sister Ann") are swapped as words."""
_NOWHERE = Span(0, 0)
_DATE_OR_PLACE = re.compile(r"(?:\d|\b[Ii]n) $")
_POSSESSIVE = re.compile(r"['’][sS]$")


class Person(NamedTuple):
    """Somebody whom a text names."""

    name: str
    """As it was given, else the commonest of the mentions, of equals the longest."""
    gender: Gender | None
    mentions: tuple[Span, ...]
    """In the text's order."""


class _Mention(NamedTuple):
    span: Span
    words: frozenset[str]
    gender: Gender | None
    of_title: Gender | None


def bare_name(name: str) -> str:
    """`name` without the "'s" that some annotations count as a part of it."""
    return _POSSESSIVE.sub("", name)


def proper_names(text: str, words: Iterable[tuple[Span, bool]]) -> list[Span]:
    """The names of `text`: proper nouns with nothing but a blank between them.

    Args:
        text: the text.
        words: where each word stands, and whether it is a proper noun, in the text's order.
    """
    names: list[Span] = []
    for start, end in (span for span, is_proper in words if is_proper and text[span.start].isupper()):
        is_next = bool(names) and text[names[-1].end : start] == " "
        names.append(Span(names.pop().start if is_next else start, end))
    return names


def people(
    text: str,
    names: Iterable[Span],
    genders: Mapping[str, Gender],
    given: Mapping[str, Gender] = MappingProxyType({}),
) -> list[Person]:
    """The people of `text`: first those that are `given`, then the others in the order in which they are named.

    A mention that may be of several people is of none.

    Args:
        text: the text.
        names: where proper names stand.
        genders: of first names.
        given: people who are known, with their genders; their names are found wherever they stand as words.
    """
    mentions = list(_mentions(text, names, genders))
    groups = [[_Mention(_NOWHERE, _words(name), gender, None)] for name, gender in given.items()]
    for name, span in _given(text, mentions, given):
        groups[[*given].index(name)].append(_Mention(span, _words(name), None, None))
        mentions = [one for one in mentions if not one.span.overlaps(span)]
    for mention in sorted(mentions, key=lambda one: (-len(one.words), one.span)):
        fitting = [group for group in groups if _fits(mention, group)]
        fitting = [group for group in fitting if mention.words in {one.words for one in group}] or fitting
        if not fitting:
            groups.append([mention])
        elif len(fitting) == 1:
            fitting[0].append(mention)
    persons = [_person(text, name or "", group) for name, group in zip_longest(given, groups)]
    return [*persons[: len(given)], *sorted(persons[len(given) :], key=lambda person: person.mentions[0])]


def _given(text: str, mentions: Sequence[_Mention], given: Mapping[str, Gender]) -> Iterator[tuple[str, Span]]:
    """Where names stand that are given, with the titles before and the surnames behind them."""
    alternatives = "|".join(re.escape(name) for name in sorted(given, key=len, reverse=True))
    found = [*re.finditer(rf"(?<![^\W_])(?:{alternatives})(?![^\W_])", text)] if given else []
    for match, following in zip_longest(found, found[1:]):
        around = [one for one in mentions if one.span.overlaps(Span(*match.span()))]
        if all(one.of_title in {None, given[match[0]]} for one in around):
            title = _TITLE.search(text, 0, match.start())
            start = title.start() if title and title[1] in OWN_TITLES else match.start()
            ends = [one.span.end for one in around if not following or one.span.end <= following.start()]
            yield match[0], Span(start, max([match.end(), *ends]))


def _person(text: str, name: str, group: Sequence[_Mention]) -> Person:
    spans = sorted(one.span for one in group if one.span != _NOWHERE)
    forms = Counter(text[slice(*span)] for span in spans)
    commonest = max(forms, key=lambda form: (forms[form], len(form)), default="")
    return Person(name or commonest, next((one.gender for one in group if one.gender), None), tuple(spans))


def _fits(mention: _Mention, group: list[_Mention]) -> bool:
    """Whether `mention` may be of the person of `group`; a part of a name may be a surname, whatever its gender."""
    is_part = any(mention.words < one.words for one in group)
    own = mention.of_title if is_part else mention.gender
    if len({gender for gender in (own, *(one.gender for one in group)) if gender}) > 1:
        return False
    return is_part or any(one.words <= mention.words for one in group)


def _words(name: str) -> frozenset[str]:
    """The words of a name without the titles before them."""
    words = _WORD.findall(bare_name(name))
    while len(words) > 1 and (words[0] in OFFICES or word_gender(words[0])):
        words = words[1:]
    return frozenset(words)


def _mentions(text: str, names: Iterable[Span], genders: Mapping[str, Gender]) -> Iterator[_Mention]:
    for name in names:
        title = _TITLE.search(text, 0, name.start)
        start = title.start() if title and word_gender(title[1]) else name.start
        end = name.start + len(bare_name(text[slice(*name)]))
        words = [*dropwhile(lambda word: word[0] in OFFICES, _WORD.finditer(text, start, end))]
        told = [*takewhile(bool, (word_gender(word[0]) for word in words[:-1]))]
        own = words[len(told) :]
        if own and not _is_no_person(text, words[0].start(), end) and (told or not word_gender(own[0][0])):
            span, of_title = Span(words[0].start(), words[-1].end()), told[0] if told else None
            yield _Mention(span, _words(text[slice(*span)]), of_title or genders.get(own[0][0]), of_title)


def _is_no_person(text: str, start: int, end: int) -> bool:
    """Whether a name is a date's (May 13) or a place's (in Paris) by what stands beside it."""
    before = _DATE_OR_PLACE.search(text, 0, start) and not text.startswith(("'s", "’s"), end)
    return bool(before) or text[end + 1 : end + 2].isdigit()
