"""The people whom a text names: their mentions, and each one's gender by title or first name; and
first names.

Names come as spans, from whatever finds proper names. A mention is a name with the title that tells
a gender before it ("Mr Day", "Aunt Ann"), but without other words before its first name ("Officer
Pam Day"). Two mentions are of one person where the words of one, titles aside, are among those of
the other and the genders do not contradict each other.

A first name has a vector of frequencies, and a counterpart of the other gender. The list that comes
with mtbias, ``first_names.tsv``, is an example: common names, with our own coarse judgement (0
unknown, 1 rare, 2 usual, 3 very usual) of how usual each is in six groups of languages, not counts.
A list of real frequencies is an argument.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from itertools import dropwhile, takewhile, zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtbias.english.gender_swap import gendered_words, word_gender
from mtbias.files.reading import TextFile, parse_table, read_text
from mtbias.types import Gender, Span, frozen

_TITLE = re.compile(r"([A-Z][a-z]+)\.? $")
_WORD = re.compile(r"[^\W_](?:[^\W_]|[-.'’](?=[^\W_]))*")
_OFFICES = """
    Dr Doctor Prof Professor Captain Capt Colonel Col General Gen Major Sergeant Sgt Lieutenant Lt
    Admiral Officer Inspector Detective Agent Judge Justice President Senator Governor Mayor
    Minister Secretary Reverend Rev Saint Bishop Cardinal Pope Rabbi Coach
    """
OFFICES = frozenset(_OFFICES.split())
"""Titles that show no gender: they stay where they are."""
OWN_TITLES = frozenset(("Uncle", "Aunt", *gendered_words().titles))
"""Titles that are replaced with the name behind them; others that tell a gender ("Sister Ann") are
swapped as words."""
_NOWHERE = Span(0, 0)
_DATE_OR_PLACE = re.compile(r"(?:\d|\b[Ii]n) $")
_POSSESSIVE = re.compile(r"['’][sS]$")


class Person(NamedTuple):
    """Somebody whom a text names."""

    name: str
    """The name of a known person; of another one the commonest mention, or the longest of several
    as common."""
    gender: Gender | None
    mentions: tuple[Span, ...]
    """Where the text names the person, in order."""


class _Mention(NamedTuple):
    span: Span
    words: frozenset[str]
    gender: Gender | None
    title_gender: Gender | None


def bare_name(name: str) -> str:
    """`name` without the "'s" that some annotations count as a part of it."""
    return _POSSESSIVE.sub("", name)


def proper_names(text: str, words: Iterable[tuple[Span, bool]]) -> list[Span]:
    """The names of `text`: proper nouns with nothing but a blank between them.

    Args:
        text: the text.
        words: where each word is, and whether it is a proper noun, in the text's order.
    """
    names: list[Span] = []
    for span, is_proper in words:
        if not is_proper or not text[span.start].isupper():
            continue
        if names and text[names[-1].end : span.start] == " ":
            names[-1] = Span(names[-1].start, span.end)
        else:
            names.append(span)
    return names


def people(
    text: str,
    names: Iterable[Span],
    genders: Mapping[str, Gender],
    known: Mapping[str, Gender] = MappingProxyType({}),
) -> list[Person]:
    """The people of `text`: first the `known` ones, then the others in the order in which they are
    named.

    A mention that may be of several people counts for none of them.

    Args:
        text: the text.
        names: where proper names are.
        genders: of first names.
        known: people by name, with their genders; their names are found wherever they occur as
            words.
    """
    mentions = list(_mentions(text, names, genders))
    groups = {name: [_Mention(_NOWHERE, _words(name), known[name], None)] for name in known}
    for name, span in _known_names(text, mentions, known):
        groups[name].append(_Mention(span, _words(name), None, None))
        mentions = [mention for mention in mentions if not mention.span.overlaps(span)]

    others: list[list[_Mention]] = []
    for mention in sorted(mentions, key=lambda mention: (-len(mention.words), mention.span)):
        fitting = [group for group in (*groups.values(), *others) if _fits(mention, group)]
        fitting = [group for group in fitting if _has_words(group, mention.words)] or fitting
        if not fitting:
            others.append([mention])
        elif len(fitting) == 1:
            fitting[0].append(mention)
    persons = [_person(text, name, group) for name, group in groups.items()]
    unknown = [_person(text, "", group) for group in others]
    return [*persons, *sorted(unknown, key=lambda person: person.mentions[0])]


def _has_words(group: Iterable[_Mention], words: frozenset[str]) -> bool:
    return any(mention.words == words for mention in group)


def _known_names(
    text: str, mentions: Sequence[_Mention], known: Mapping[str, Gender]
) -> Iterator[tuple[str, Span]]:
    """Where the names of known people are, with the titles before and the surnames behind
    them.
    """
    if not known:
        return
    alternatives = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
    matches = list(re.finditer(rf"(?<![^\W_])(?:{alternatives})(?![^\W_])", text))
    for match, following in zip_longest(matches, matches[1:]):
        span = Span(*match.span())
        around = [mention for mention in mentions if mention.span.overlaps(span)]
        if all(mention.title_gender in {None, known[match[0]]} for mention in around):
            title = _TITLE.search(text, 0, span.start)
            start = title.start() if title and title[1] in OWN_TITLES else span.start
            limit = following.start() if following else len(text)
            ends = [mention.span.end for mention in around if mention.span.end <= limit]
            yield match[0], Span(start, max([span.end, *ends]))


def _person(text: str, name: str, group: Sequence[_Mention]) -> Person:
    spans = sorted(mention.span for mention in group if mention.span != _NOWHERE)
    forms = Counter(text[slice(*span)] for span in spans)
    commonest = max(forms, key=lambda form: (forms[form], len(form)), default="")
    gender = next((mention.gender for mention in group if mention.gender), None)
    return Person(name or commonest, gender, tuple(spans))


def _fits(mention: _Mention, group: list[_Mention]) -> bool:
    """Whether `mention` may be of the person of `group`; a part of a name may be a surname,
    whatever its gender.
    """
    is_part = any(mention.words < other.words for other in group)
    genders = {other.gender for other in group}
    genders.add(mention.title_gender if is_part else mention.gender)
    if len(genders - {None}) > 1:
        return False
    return is_part or any(other.words <= mention.words for other in group)


def _words(name: str) -> frozenset[str]:
    """The words of a name without the titles before them."""
    words = _WORD.findall(bare_name(name))
    while len(words) > 1 and (words[0] in OFFICES or word_gender(words[0])):
        words = words[1:]
    return frozenset(words)


def _mentions(
    text: str, names: Iterable[Span], genders: Mapping[str, Gender]
) -> Iterator[_Mention]:
    for name in names:
        title = _TITLE.search(text, 0, name.start)
        start = title.start() if title and word_gender(title[1]) else name.start
        end = name.start + len(bare_name(text[slice(*name)]))
        words = [*dropwhile(lambda word: word[0] in OFFICES, _WORD.finditer(text, start, end))]
        titles = [*takewhile(bool, (word_gender(word[0]) for word in words[:-1]))]
        if len(words) == len(titles):
            continue
        first_name = words[len(titles)][0]
        start = words[0].start()
        # A date (May 13), or a place (in Paris), by what is beside it.
        before = _DATE_OR_PLACE.search(text, 0, start) and not text.startswith(("'s", "’s"), end)
        is_person = not before and not text[end + 1 : end + 2].isdigit()
        if is_person and (titles or not word_gender(first_name)):
            span = Span(start, words[-1].end())
            title_gender = titles[0] if titles else None
            gender = title_gender or genders.get(first_name)
            yield _Mention(span, _words(text[slice(*span)]), gender, title_gender)


Floats = NDArray[np.float64]

EXAMPLE_NAMES = Path(str(resources.files("mtbias.english"))) / "first_names.tsv"
"""The list that comes with mtbias."""

CLASSES = {
    "male": ("sure", Gender.MALE),
    "female": ("sure", Gender.FEMALE),
    "mostly_male": ("mostly", Gender.MALE),
    "mostly_female": ("mostly", Gender.FEMALE),
}
"""Values of the column ``gender`` → the class within which names are matched, and the gender."""

GENDERS = (Gender.MALE, Gender.FEMALE)

MAX_NAMES = 2000
"""How many names of each gender are matched by default, the most frequent first."""

_ALPHA = 12 / 11
"""As the program published with Counter-GAP has it: above 1, so that names of like direction still
differ in length."""


@frozen
class Name:
    """A first name."""

    text: str
    group: str
    """Names are matched within a group: sure ones with sure ones, those given mostly to one gender
    among themselves."""
    gender: Gender
    frequencies: tuple[float, ...]


@dataclass(frozen=True)
class NameList:
    """Names as they were read."""

    sha256: str
    names: tuple[Name, ...]

    @cached_property
    def gender(self) -> dict[str, Gender]:
        """The gender of each name."""
        return {name.text: name.gender for name in self.names}

    @cached_property
    def counterparts(self) -> dict[str, str]:
        """`match_names` of all."""
        return match_names(self.names)

    def like(self, name: str, gender: Gender, taken: str) -> str | None:
        """A name of `gender` for a person now called `name`, which does not occur in the text
        `taken`.

        The counterpart of the name's first word if it has one and is free, else the most frequent
        free name; None where all are taken.
        """
        first = self.counterparts.get(name.split(maxsplit=1)[0], "") if name.strip() else ""
        sure = (name for name in self.names if name.group == "sure")
        for candidate in (first, *(frequent.text for frequent in by_frequency(sure, gender))):
            if self.gender.get(candidate) is gender and candidate not in taken:
                return candidate
        return None


def read_names(path: Path, *, as_published: bool = False) -> NameList:
    """Read a table (TSV or CSV) with the columns name, gender, and one or more columns of
    frequencies.

    gender is male, female, mostly_male or mostly_female; frequencies are numbers of 0 or more, on
    any scale, such as one column a country. A file whose name ends in .txt has the format of
    gender-guesser's nam_dict.txt; `as_published` reads that one as the program published with
    Counter-GAP does (`_as_published`).

    Raises:
        DataError: a column is missing; an unknown gender; a name twice; a frequency that is not
            a number of 0 or more; `as_published` with a table.
    """
    file = read_text(path)
    if path.suffix == ".txt":
        return _as_published(file) if as_published else _gender_guesser_names(file)
    if as_published:
        raise file.error(
            "expected gender-guesser's nam_dict.txt, to be read as published, got a table", 1
        )
    table = parse_table(file)
    table.require("name", "gender")
    columns = [column for column in table.columns if column not in {"name", "gender"}]
    if not columns:
        raise table.file.error(
            "expected one or more columns of frequencies beside name and gender, got none", 1
        )
    names: dict[str, Name] = {}
    for record in table.records:
        text, gender = record.get("name"), record.get("gender").lower()
        if not text or gender not in CLASSES:
            raise record.error(
                f"expected a name and one of {', '.join(CLASSES)}, got {text!r} and {gender!r}"
            )
        if text in names:
            raise record.error(f"the name {text!r} occurs twice")
        frequencies = tuple(record.number(column) for column in columns)
        names[text] = Name(text, *CLASSES[gender], frequencies)
    return NameList(table.file.sha256, tuple(names.values()))


_KINDS = {
    "M": "male",
    "F": "female",
    "1M": "mostly_male",
    "?M": "mostly_male",
    "1F": "mostly_female",
    "?F": "mostly_female",
    "?": "",
}
"""Kinds of gender-guesser's lines → `CLASSES`; nothing for a name of either gender."""
_COUNTRIES = slice(30, 85)
"""The columns of its lines with a frequency for each of 55 countries, a hexadecimal digit or a
blank."""
_DIGITS = {" ": 0.0, **{f"{n:X}": float(n) for n in range(1, 14)}}


def _gender_guesser_names(file: TextFile) -> NameList:
    """The names of a file in gender-guesser's format, + in a name being nothing, a blank or a
    hyphen.

    Of several lines of a name that one counts which has frequencies in more countries, then the one
    with the larger sum, as in gender-guesser itself.
    """
    best: dict[str, tuple[tuple[int, float], Name | None]] = {}
    for kind, texts, frequencies in _gender_guesser_lines(file):
        rank = (sum(f > 0 for f in frequencies), sum(frequencies))
        for text in texts:
            if rank > best.get(text, ((0, 0.0), None))[0]:
                best[text] = rank, Name(text, *CLASSES[kind], frequencies) if kind else None
    return NameList(file.sha256, tuple(name for _, name in best.values() if name))


def _as_published(file: TextFile) -> NameList:
    """The same names as Counter-GAP's program reads them, with three faults: the first country,
    Great Britain, is left out; of several lines of a name and a kind the last counts, whatever its
    frequencies; and of several kinds that with the largest sum of frequencies, in however few
    countries.

    Source: x-zb/Counter-GAP, ``cda/name.py``.
    """
    vectors: dict[str, dict[str, tuple[float, ...]]] = {}
    for kind, texts, frequencies in _gender_guesser_lines(file):
        for text in texts:
            vectors.setdefault(text, {})[kind] = frequencies[1:]
    names = []
    for text, by_kind in vectors.items():
        kind, frequencies = max(by_kind.items(), key=lambda item: sum(item[1]))
        if kind:
            names.append(Name(text, *CLASSES[kind], frequencies))
    return NameList(file.sha256, tuple(names))


def _gender_guesser_lines(file: TextFile) -> Iterator[tuple[str, set[str], tuple[float, ...]]]:
    """Each line's class (empty: a name of either gender), the spellings of its name, and the
    frequencies by country.

    Raises:
        DataError: another kind, or no frequency where one is expected.
    """
    for number, line in file.filled_lines():
        if line[0] in "#=":
            continue
        kind, name = (*line.split(maxsplit=2), "")[:2]
        try:
            frequencies = tuple(_DIGITS[digit] for digit in line[_COUNTRIES].ljust(55))
            kind = _KINDS[kind]
        except KeyError:
            raise file.error(
                "expected a line of gender-guesser's nam_dict.txt, a kind"
                f" ({', '.join(_KINDS)}), a name and frequencies from column 31 on, got {line!r}",
                number,
            ) from None
        yield kind, {name.replace("+", between) for between in ("", " ", "-")}, frequencies


def by_frequency(names: Iterable[Name], gender: Gender) -> list[Name]:
    """The names of `gender`, the most frequent first (sum of the vector; ties by spelling)."""
    own = [name for name in names if name.gender is gender]
    return sorted(own, key=lambda name: (-sum(name.frequencies), name.text))


def distances(first: Floats, second: Floats) -> Floats:
    """How unlike two names' vectors of frequencies are: ``‖u − v‖ · (12/11 − cos(u, v))``, ``[m,
    n]``; 0 and more.

    The cosine of a vector of zeros is 0.

    Source: the program published with Counter-GAP (Xie et al., 2023).
    """
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    norms = [np.linalg.norm(vectors, axis=1) for vectors in (first, second)]
    product = first @ second.T
    scale = np.outer(*norms)
    cosine = np.divide(product, scale, out=np.zeros_like(product), where=scale > 0)
    squared = norms[0][:, None] ** 2 + norms[1][None, :] ** 2 - 2 * product
    return np.asarray(np.sqrt(np.maximum(squared, 0)) * (_ALPHA - cosine), dtype=np.float64)


class Matching(NamedTuple):
    """The one-to-one matching of the names of a group."""

    group: str
    pairs: tuple[tuple[str, str], ...]
    """A male and a female name each."""
    distance: float
    """The sum of `distances` over the pairs: the least that there is."""


def matchings(names: Iterable[Name], *, max_names: int = MAX_NAMES) -> list[Matching]:
    """The one-to-one matching of least total distance within each group.

    The `max_names` most frequent names of each gender take part (`by_frequency`); of the more
    numerous gender only as many as the other has.

    Source: Xie et al. (2023), after Hall Maudslay et al. (2019); the assignment is solved exactly.
    """
    from scipy.optimize import linear_sum_assignment

    groups: dict[str, list[Name]] = {}
    for name in names:
        groups.setdefault(name.group, []).append(name)
    results = []
    for key, group in groups.items():
        males, females = (by_frequency(group, gender) for gender in GENDERS)
        size = min(len(males), len(females), max_names)
        if not size:
            continue
        between = distances(_vectors(males[:size]), _vectors(females[:size]))
        rows, columns = linear_sum_assignment(between)
        pairs = zip(rows, columns, strict=True)
        texts = tuple((males[row].text, females[column].text) for row, column in pairs)
        results.append(Matching(key, texts, float(between[rows, columns].sum())))
    return results


def _vectors(names: Iterable[Name]) -> Floats:
    return np.array([name.frequencies for name in names])


def match_names(names: Iterable[Name], *, max_names: int = MAX_NAMES) -> dict[str, str]:
    """Each name's counterpart of the other gender, both ways, by `matchings`; names left over have
    none.
    """
    counterparts: dict[str, str] = {}
    for matching in matchings(names, max_names=max_names):
        for male, female in matching.pairs:
            counterparts[male] = female
            counterparts[female] = male
    return counterparts
