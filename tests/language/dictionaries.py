"""Dictionaries by others, as what they say of a noun: its gender, and its forms with their cases.

They are sources for tests alone: nothing of them is in the tables, for their licences are copyleft.

- Russian and Ukrainian: OpenCorpora and VESUM, as pymorphy3 reads them (PyPI: ``pymorphy3``,
  ``pymorphy3-dicts-ru``, ``pymorphy3-dicts-uk``)
- Hebrew: Hspell (Debian: ``hspell``)
"""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from collections import ChainMap, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mtbias.plugin import Language


class Cell(NamedTuple):
    """A place in a table of declension; ``*`` is any."""

    case: str
    number: str


@dataclass(frozen=True)
class Entry:
    """A noun as a dictionary has it, in the genders that it was asked for."""

    genders: frozenset[str]
    """``m``, ``f``, ``n``: of all readings of the lemma, whatever was asked for; empty where it has
    none."""
    forms: Mapping[str, frozenset[Cell]]
    """Folded forms, with the places where they may stand."""
    usual: Mapping[str, frozenset[Cell]]
    """Of `forms` what is neither rare nor archaic, colloquial or wrong."""
    animate: bool = True
    """The dictionary knows the noun as an animate one: its accusative is like its genitive."""
    suffixed: bool = True
    """It has forms with possessive suffixes (he *מזכירתו*), if the language has these."""


Dictionary = Callable[[str, frozenset[str]], Entry | None]
"""``dictionary(lemma, genders)``; None where it does not know the lemma as a noun."""


def open_dictionary(language: Language) -> Dictionary:
    """The dictionary of a language, or a skip that says what to install."""
    return _hspell() if language.code == "he" else _pymorphy(language)


# pymorphy3: OpenCorpora's tags.

_CASES = {
    "nomn": "nom",
    "gent": "gen",
    "datv": "dat",
    "accs": "acc",
    "ablt": "ins",
    "loct": "loc",
    "voct": "voc",
}
_FURTHER_CASES = {"gen1": "gen", "gen2": "gen", "acc2": "acc", "loc1": "loc", "loc2": "loc"}
"""Second genitives, accusatives and locatives, which nobody needs to make (в солдаты)."""
_ALL_CASES = frozenset((*_CASES, *_FURTHER_CASES))
_GENDERS = {"masc": "m", "femn": "f", "neut": "n"}
_BOTH = frozenset(("ms-f", "Ms-f"))
_NAMES = frozenset(("Name", "Surn", "Patr", "Geox", "Orgn", "Trad"))
_RARE = frozenset(
    ("Infr", "Arch", "Litr", "Erro", "Dist", "Slng", "V-oy", "V-ey", "V-be", "V-bi", "V-ie", "V-en")
)
_DEGREES = frozenset(("COMP", "Supr", "ADJS", "PRTS", "compc", "comps"))


def _pymorphy(language: Language) -> Dictionary:
    pymorphy3 = pytest.importorskip("pymorphy3", reason="pip install pymorphy3")
    package = f"pymorphy3_dicts_{language.code}"
    pytest.importorskip(package, reason=f"pip install {package.replace('_', '-')}")
    analyser = pymorphy3.MorphAnalyzer(lang=language.code)

    def look_up(lemma: str, genders: frozenset[str]) -> Entry | None:
        parses = [parse for parse in analyser.parse(lemma.lower()) if _is_lemma(parse)]
        nouns = [parse for parse in parses if "NOUN" in _grammemes(parse)]
        animate = [parse for parse in nouns if "anim" in _grammemes(parse)]
        chosen = animate or nouns or parses
        if not chosen:
            return None
        entry = _entry(language, chosen, genders, bool(animate or not nouns))
        if len(chosen) < len(parses):  # ведуча is a noun without a plural, and an adjective
            return replace(entry, forms=_entry(language, parses, genders, True).forms)
        return entry

    return look_up


def _grammemes(parse: Any) -> frozenset[str]:
    grammemes: frozenset[str] = parse.tag.grammemes
    # In VESUM some lexemes begin with a form without a case.
    return grammemes if grammemes & _ALL_CASES else grammemes | {"nomn"}


def _is_lemma(parse: Any) -> bool:
    """The dictionary has the word as a nominative of a noun, or of what declines like one."""
    tags = _grammemes(parse)
    declined = not tags.isdisjoint(("NOUN", "ADJF", "PRTF"))
    return parse.is_known and declined and "nomn" in tags and tags.isdisjoint(_NAMES)


def _genders_of(tags: frozenset[str]) -> frozenset[str]:
    if not tags.isdisjoint(_BOTH):
        return frozenset("mf")
    return frozenset(_GENDERS[tag] for tag in tags & set(_GENDERS))


def _entry(language: Language, parses: list[Any], genders: frozenset[str], animate: bool) -> Entry:
    """What several readings of a lemma say together."""
    forms: dict[str, set[Cell]] = defaultdict(set)
    usual: dict[str, set[Cell]] = defaultdict(set)
    of_lemma: set[str] = set()
    as_thing = {"inan"} if animate else set()
    for parse in parses:
        of_lemma |= _genders_of(_grammemes(parse))
        for word, tags in _declension(parse, genders):
            form, number = language.fold(word), "pl" if "plur" in tags else "sg"
            for tag in tags & _ALL_CASES:
                cell = Cell(_CASES.get(tag) or _FURTHER_CASES[tag], number)
                forms[form].add(cell)
                if tag in _CASES and tags.isdisjoint(_RARE | as_thing):
                    usual[form].add(cell)
    if language.code == "uk":
        for cells in usual.values():
            cells -= {Cell("acc", cell.number) for cell in cells if cell.case == "nom"}
    return Entry(frozenset(of_lemma), _frozen(forms), _frozen(usual), animate)


def _frozen(forms: Mapping[str, set[Cell]]) -> dict[str, frozenset[Cell]]:
    return {form: frozenset(cells) for form, cells in forms.items() if cells}


def _declension(parse: Any, genders: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """The forms of a reading that are of one of these genders or show none; of participles those of
    the same tense and voice.
    """
    own = _grammemes(parse)
    kept = own & {"NOUN", "ADJF", "PRTF", "actv", "pssv", "past", "pres"}
    for form in parse.lexeme:
        tags = _grammemes(form)
        if not kept <= tags or not tags.isdisjoint(_DEGREES):
            continue
        if "NOUN" not in tags and "inan" in tags:
            continue
        shown = _genders_of(tags)
        if not shown or shown & genders or "plur" in tags:
            yield form.word, tags


# Hspell: a list of words, each as far as it differs from the one before, and a program that prints
# what each of them is: lemma(part of speech, gender, number, …).

_WORDS = Path("/usr/share/hspell/hebrew.wgz")
_OF_WORD = re.compile(r": ([^+\n]+)\n((?:\t.+\n)+)")
"""A word, and the lines below it; none with a +, which stands behind prepositions."""
_READING = re.compile(r"\t(.+)\((.+)\)")
_HEBREW_GENDERS = {"ז": "m", "נ": "f"}
_NOUN, _ADJECTIVE, _VERB, _PRESENT = "ע", "ת", "פ", "הווה"
_SUFFIXED = "כינוי"
_MAYBE_NOUN = re.compile(rf"\([{_NOUN}{_ADJECTIVE}]|{_PRESENT}")
_ANYWHERE = frozenset((Cell("*", "*"),))


class _HebrewForm(NamedTuple):
    lemma: str
    noun: bool
    gender: str
    suffixed: bool


def _hspell() -> Dictionary:
    if shutil.which("hspell") is None or not _WORDS.is_file():
        pytest.skip("apt install hspell")
    readings_of: dict[str, list[_HebrewForm]] = defaultdict(list)
    nouns_of: dict[str, list[tuple[str, _HebrewForm]]] = defaultdict(list)
    # Of a form any noun, adjective or participle of this gender will do: hspell has צרפתי as an
    # adjective, and its plural as one.
    words_of: dict[str, dict[str, frozenset[Cell]]] = defaultdict(dict)
    for word, form in _hebrew_forms():
        readings_of[word].append(form)
        words_of[form.gender][word] = _ANYWHERE
        if form.noun:
            nouns_of[form.lemma].append((word, form))

    def look_up(lemma: str, genders: frozenset[str]) -> Entry | None:
        """Participles stand under their verb, adjectives under their masculine: of these the lemma
        alone is there.
        """
        readings = [form for form in readings_of[lemma] if not form.suffixed]
        if not readings:
            return None
        own = [form for form in readings if form.noun and form.lemma == lemma]
        declined = [each for each in nouns_of[lemma] if each[1].gender in genders]
        return Entry(
            frozenset(form.gender for form in own or readings if form.gender),
            ChainMap(*(words_of[gender] for gender in (*sorted(genders), ""))),
            dict.fromkeys((word for word, form in declined if not form.suffixed), _ANYWHERE),
            suffixed=any(form.suffixed for _, form in declined),
        )

    return look_up


def _hebrew_forms() -> Iterator[tuple[str, _HebrewForm]]:
    """All nouns, adjectives and participles of Hspell's list, with what they are."""
    printed = subprocess.run(
        ["hspell", "-l"], input=_hebrew_words(), stdout=subprocess.PIPE, check=True
    )
    for word, readings in _OF_WORD.findall(printed.stdout.decode("iso-8859-8")):
        if not _MAYBE_NOUN.search(readings):
            continue
        for lemma, tags in _READING.findall(readings):
            kind, *others = tags.split(",")
            if kind in (_NOUN, _ADJECTIVE) or (kind == _VERB and _PRESENT in others):
                yield word, _HebrewForm(lemma, kind == _NOUN, *_hebrew_tags(tuple(others)))


@cache
def _hebrew_tags(tags: tuple[str, ...]) -> tuple[str, bool]:
    """The gender, and whether there is a possessive suffix."""
    gender = next((_HEBREW_GENDERS[tag] for tag in tags if tag in _HEBREW_GENDERS), "")
    return gender, any(tag.startswith(_SUFFIXED) for tag in tags)


def _hebrew_words() -> bytes:
    """Hspell's list, a word a line: behind each word stands how many of its letters the next one
    has not.
    """
    words, word = [], b""
    for letters, dropped in re.findall(rb"([^0-9]+)([0-9]*)", gzip.decompress(_WORDS.read_bytes())):
        word += letters
        words.append(word)
        word = word[: len(word) - int(dropped or 0)]
    return b"\n".join(words) + b"\n"
