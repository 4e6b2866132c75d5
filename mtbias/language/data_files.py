"""The two data files of a language, read: forms with what they allow, nouns with their inflection.

What a plugin may import of this is in `mtbias.language.definition`.
"""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Iterable, Mapping
from enum import StrEnum
from itertools import chain
from typing import Any, NamedTuple

from mtbias.errors import PluginError

_GENDERS = frozenset("mfn*")
_NUMBERS = frozenset(("sg", "pl", "*"))
_CASES = frozenset(("nom", "gen", "dat", "acc", "ins", "loc", "voc", "*"))

_PRESENTATION_FORMS = (range(0xFB50, 0xFE00), range(0xFE70, 0xFF00))
"""The Unicode blocks Arabic Presentation Forms-A and -B."""


class NounKind(StrEnum):
    """What the form of a noun for a person says about that person."""

    MASCULINE = "m"
    FEMININE = "f"
    COMMON = "common"
    """One form for both; only an article, an adjective or the predicate tells."""
    GENERIC = "generic"
    """Masculine in form and used of women too: feminine agreement overrules it."""
    INCLUSIVE = "inclusive"
    """A form written so as to mean both genders (de *Lehrer*in*): it says neutral."""
    FIXED = "fixed"
    """A noun whose grammatical gender says nothing about the person (*persona*, *Person*, *жертва*)."""


class Agreement(NamedTuple):
    """One analysis that a form allows; ``*`` stands for any value."""

    gender: str
    case: str
    number: str


class NounReading(NamedTuple):
    """One reading of a form found in the plugin's table of nouns for people."""

    lemma: str
    kind: NounKind
    agreements: tuple[Agreement, ...]
    """What the form's ending allows, empty where the table does not say."""


def parse_agreements(text: str, *, where: str) -> tuple[Agreement, ...]:
    """Read ``"m.nom.sg f.dat.sg"``, or ``"f.sg"`` without case, into analyses; ``-`` is none.

    Raises:
        PluginError: a value that is none of these.
    """
    found = []
    if text.strip() == "-":
        return ()
    for part in text.replace(",", " ").split():
        bits = part.split(".")
        if len(bits) == 2:
            bits.insert(1, "*")
        if len(bits) != 3 or bits[0] not in _GENDERS or bits[1] not in _CASES or bits[2] not in _NUMBERS:
            raise PluginError(f"{where}: expected gender.case.number such as 'm.nom.sg', got {part!r}")
        found.append(Agreement(*bits))
    return tuple(found)


class Folder:
    """Lower-cases, deletes ignorable marks, unifies variant letters and apostrophes.

    An Arabic presentation form, which is a letter in one of its shapes or a ligature of several, counts as the letters
    that Unicode's NFKC gives for it, and these are folded like any others. The result may be longer than the text, so
    it is for look-ups only.
    """

    def __init__(self, delete: str, fold: Mapping[str, str]) -> None:
        table: dict[int, str | None] = {ord(c): None for c in delete}
        table.update({0xAD: None, ord("’"): "'", ord("ʼ"): "'", ord("‑"): "-", ord("״"): '"', ord("׳"): "'"})
        table.update({ord(k): v for k, v in fold.items() if len(k) == 1})
        for form in chain(*_PRESENTATION_FORMS):
            letters = _letters(chr(form))
            if letters != chr(form):
                table.setdefault(form, letters.translate(table))
        self._table = table
        self._long = tuple((k, v) for k, v in fold.items() if len(k) > 1)

    def __call__(self, text: str) -> str:
        """`text` folded."""
        folded = text.lower().translate(self._table)
        for old, new in self._long:
            folded = folded.replace(old, new)
        return folded


def _letters(char: str) -> str:
    """The letters of a presentation form; that of a mark by itself has a blank as its carrier, which is dropped."""
    return unicodedata.normalize("NFKC", char).strip()


def longest(items: Iterable[str]) -> tuple[str, ...]:
    """The distinct `items`, longest first, so that the first that fits is the longest."""
    return tuple(sorted(set(items), key=lambda s: (-len(s), s)))


def read_nouns(
    text: str, paradigms: Mapping[str, Any], fold: Folder, *, where: str
) -> tuple[
    dict[str, tuple[NounReading, ...]],
    dict[str, tuple[tuple[tuple[str, ...], NounReading], ...]],
    dict[str, frozenset[str]],
]:
    """The table of nouns, that of compounds of several words, and the glossary that follows from both."""
    phrases: dict[str, dict[tuple[tuple[str, ...], str, str], None]] = {}
    table: dict[str, dict[tuple[str, str], set[Agreement]]] = {}
    glossary: dict[str, set[str]] = {}
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    header = lines[0][1].split("\t") if lines else []
    if not {"english", "lemma", "gender"} <= set(header):
        raise PluginError(
            f"{where}_nouns.tsv:1: expected columns english, lemma, gender, paradigm, forms; got {header}"
        )
    for number, line in lines[1:]:
        place = f"{where}_nouns.tsv:{number}"
        cells = next(csv.reader([line], delimiter="\t", quoting=csv.QUOTE_NONE))
        if len(cells) > len(header):
            raise PluginError(f"{place}: expected at most {len(header)} columns, got {len(cells)}")
        row = dict(zip(header, cells, strict=False))
        lemma, kind = row.get("lemma", "").strip(), row.get("gender", "")
        if not lemma or kind not in set(NounKind):
            raise PluginError(f"{place}: expected a lemma and one of {', '.join(NounKind)}; got {lemma!r}, {kind!r}")
        for form, agreements in _forms(lemma, row, paradigms, place):
            first, *others = fold(form).replace("_", " ").split()
            if others:
                phrases.setdefault(first, {})[tuple(others), lemma, kind] = None
            else:
                table.setdefault(first, {}).setdefault((lemma, kind), set()).update(agreements)
            for english in row["english"].split("|"):
                if english.strip():
                    glossary.setdefault(english.strip().lower(), set()).add(first)
    readings = {
        form: tuple(NounReading(lemma, NounKind(kind), tuple(sorted(a))) for (lemma, kind), a in sorted(found.items()))
        for form, found in table.items()
    }
    compounds = {
        first: tuple(
            (others, NounReading(lemma, NounKind(kind), ()))
            for others, lemma, kind in sorted(found, key=lambda f: (-len(f[0]), f))
        )
        for first, found in phrases.items()
    }
    return readings, compounds, {k: frozenset(v) for k, v in glossary.items()}


def _forms(
    lemma: str, row: Mapping[str, str], paradigms: Mapping[str, Any], place: str
) -> Iterable[tuple[str, tuple[Agreement, ...]]]:
    name = row.get("paradigm", "").strip()
    if name:
        paradigm = paradigms.get(name)
        if paradigm is None:
            raise PluginError(f"{place}: no paradigm {name!r} in [paradigms]; there are {', '.join(sorted(paradigms))}")
        strip = paradigm.get("strip", "")
        if not lemma.endswith(strip):
            raise PluginError(f"{place}: {lemma!r} does not end in {strip!r}, which paradigm {name!r} cuts")
        stem = lemma[: len(lemma) - len(strip)] if strip else lemma
        for ending in paradigm.get("endings", ()):
            letters, _, tags = ending.partition("/")
            yield stem + letters, parse_agreements(tags, where=f"{place} paradigm {name}")
    else:
        yield lemma, ()
    for form in row.get("forms", "").split():
        yield form, ()
