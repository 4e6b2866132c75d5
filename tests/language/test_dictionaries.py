"""The tables of nouns against dictionaries by others: genders and forms.

Where a table and a dictionary differ, one of them is wrong, or each means another thing. What is
known to differ stands in ``dictionary_differences.tsv``, each with its reason: a difference that is
not there fails, and so does one that is there and is none any more.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from mtbias.plugin import Language
from scripts.labelled import shipped_language
from tests.language.dictionaries import Cell, Dictionary, Entry, open_dictionary

ALLOWED = Path(__file__).parent / "dictionary_differences.tsv"
GENDERS = {
    "m": frozenset("m"),
    "generic": frozenset("m"),
    "f": frozenset("f"),
    "common": frozenset("mf"),
    "fixed": frozenset("mfn"),
}
"""Of a kind of noun, the grammatical genders that it may have; a thing is asked nothing."""

Forms = Mapping[str, frozenset[Cell]]


class Difference(NamedTuple):
    """What differs between a noun of the table and the dictionary."""

    lemma: str
    kind: str
    what: str
    """``gender``: the dictionary has another one; ``ours``: a form that the table alone has, or has
    in this place; ``theirs``: one that the table lacks."""
    forms: str
    """Genders, or forms; a form that both have in different places with these places."""


def nouns_of(language: Language) -> Mapping[tuple[str, str], Forms]:
    """The forms of every noun of one word, by lemma and kind; without a place it may be any."""
    nouns: dict[tuple[str, str], dict[str, set[Cell]]] = defaultdict(lambda: defaultdict(set))
    for form, readings in language.nouns.items():
        for reading in readings:
            cells = {Cell(agreement.case, agreement.number) for agreement in reading.agreements}
            nouns[reading.lemma, str(reading.kind)][form] |= cells or {Cell("*", "*")}
    return {
        noun: {form: frozenset(cells) for form, cells in forms.items()}
        for noun, forms in sorted(nouns.items())
        if noun[1] in GENDERS and " " not in noun[0]
    }


def readings_of(language: Language, form: str, genders: frozenset[str]) -> frozenset[Cell]:
    """The places where the table has a form, of all nouns that may have one of these genders."""
    cells: set[Cell] = set()
    for reading in language.nouns.get(form, ()):
        if GENDERS.get(reading.kind, frozenset()) & genders:
            cells |= {Cell(a.case, a.number) for a in reading.agreements} or {Cell("*", "*")}
    return frozenset(cells)


def covers(cells: frozenset[Cell], cell: Cell) -> bool:
    """One of `cells` is `cell`, or has ``*`` where it differs, or the other way round."""
    return any(
        all(one == other or "*" in (one, other) for one, other in zip(own, cell, strict=True))
        for own in cells
    )


def missing(cells: frozenset[Cell], other: frozenset[Cell] | None, form: str) -> list[str]:
    """The places of a form that the other side lacks; the form alone where it lacks all of it."""
    if not other:
        return [form]
    return [
        f"{form}/{cell.case}.{cell.number}" for cell in sorted(cells) if not covers(other, cell)
    ]


def compared(cells: frozenset[Cell], entry: Entry) -> frozenset[Cell]:
    """The places of a form that are compared: no accusative of what the dictionary has as a thing."""
    if entry.animate:
        return cells
    return frozenset(cell for cell in cells if cell.case != "acc")


def is_plain(form: str, lemma: str, kind: str) -> bool:
    """Whether a Hebrew form is the lemma, a plural or a construct: it has no possessive suffix."""
    construct = form.endswith("ת") if kind == "f" else form.endswith("י") and form[-2:] != "יי"
    return form == lemma or construct or form.endswith(("ים", "ות"))


def differences(language: Language, dictionary: Dictionary) -> Iterator[Difference]:
    """All differences between a language's table and a dictionary."""
    for (lemma, kind), forms in nouns_of(language).items():
        genders = GENDERS[kind]
        entry = dictionary(lemma, genders)
        if entry is None:
            continue
        if entry.genders and not entry.genders & genders:
            yield Difference(lemma, kind, "gender", " ".join(sorted(entry.genders)))
            continue
        ours, theirs = [], []
        for form, cells in sorted(forms.items()):
            if not (entry.suffixed or is_plain(form, lemma, kind)):
                continue
            ours += missing(compared(cells, entry), entry.forms.get(form), form)
        for form, cells in sorted(entry.usual.items()):
            own = forms.get(form, frozenset()) | readings_of(language, form, genders)
            theirs += missing(compared(cells, entry), own, form)
        if ours:
            yield Difference(lemma, kind, "ours", " ".join(ours))
        if theirs:
            yield Difference(lemma, kind, "theirs", " ".join(theirs))


def counts(language: Language, dictionary: Dictionary, found: set[Difference]) -> str:
    """How many nouns and forms were compared, and how many differ, in one line."""
    nouns = nouns_of(language)
    known = [noun for noun in nouns if dictionary(noun[0], GENDERS[noun[1]])]
    forms = sum(len(nouns[noun]) for noun in known)
    differing = {
        what: sum(len(each.forms.split()) for each in found if each.what == what)
        for what in ("gender", "ours", "theirs")
    }
    return (
        f"{language.code}: {len(known):,} of {len(nouns):,} nouns, {forms:,} forms; "
        f"genders that differ {differing['gender']}, forms of ours {differing['ours']}, "
        f"of theirs {differing['theirs']}"
    )


def allowed(code: str) -> list[Difference]:
    """The known differences of a language; in some a ``*`` stands for the stem of any noun."""
    with ALLOWED.open(encoding="utf-8", newline="") as file:
        lines = (line for line in file if not line.startswith("#"))
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert all(row["reason"] for row in rows)
    return [
        Difference(row["lemma"], row["gender"], row["difference"], row["forms"])
        for row in rows
        if row["lang"] == code
    ]


def allows(known: Difference, difference: Difference, language: Language) -> bool:
    """Whether a known difference is this one, with this noun's stem where it has a ``*``."""
    ending = known.lemma.removeprefix("*")
    if ending == known.lemma:
        return known == difference
    stem = language.fold(difference.lemma.removesuffix(ending))
    forms = known.forms.replace("*", stem)
    return difference.lemma.endswith(ending) and difference == known._replace(
        lemma=difference.lemma, forms=forms
    )


@pytest.mark.parametrize("code", ["he", "ru", "uk"])
def test_genders_and_forms_are_those_of_the_dictionary(code: str) -> None:
    language = shipped_language(code)
    dictionary = open_dictionary(language)
    unexplained = set(differences(language, dictionary))
    print(counts(language, dictionary, unexplained))  # pytest -s shows them
    stale = []
    for known in allowed(code):
        explained = {each for each in unexplained if allows(known, each, language)}
        unexplained -= explained
        if not explained:
            stale.append(known)
    assert sorted(unexplained) == []
    assert stale == []
