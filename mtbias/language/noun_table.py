"""Reading of a language's table of nouns for people, ``XX_nouns.tsv``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from mtbias.errors import PluginError
from mtbias.language.folding import Folder
from mtbias.language.grammar import Agreement, NounKind, NounReading, parse_agreements


class NounTable(NamedTuple):
    """The nouns for people of a language, by folded form; see the fields of the same name of `Language`."""

    nouns: dict[str, tuple[NounReading, ...]]
    phrases: dict[str, tuple[tuple[tuple[str, ...], NounReading], ...]]
    glossary: dict[str, frozenset[str]]


class _Paradigm(NamedTuple):
    """What to cut from a lemma's end, and what to put there: letters, and what the form then agrees with."""

    strip: str
    endings: tuple[tuple[str, tuple[Agreement, ...]], ...]


_UNINFLECTED = _Paradigm("", (("", ()),))


class _Noun(NamedTuple):
    """One row: what the noun translates, and its forms with what they agree with."""

    english: list[str]
    lemma: str
    kind: str
    forms: list[tuple[str, tuple[Agreement, ...]]]


def read_nouns(text: str, paradigms: Mapping[str, Any], fold: Folder, *, where: str) -> NounTable:
    """The nouns in `text`, with the forms that their paradigms make.

    Raises:
        PluginError: a column is missing; a row has no lemma, an unknown gender or paradigm, too many cells; with the
            row's line.
    """
    # Dictionaries as ordered sets: what stands twice counts once, and two runs see the same order.
    nouns: dict[str, dict[tuple[str, str], set[Agreement]]] = {}
    phrases: dict[str, dict[tuple[tuple[str, ...], str, str], None]] = {}
    glossary: dict[str, set[str]] = {}
    for noun in _read_rows(text, paradigms, f"{where}_nouns.tsv"):
        for form, agreements in noun.forms:
            first, *others = fold(form).replace("_", " ").split()
            if others:
                phrases.setdefault(first, {})[tuple(others), noun.lemma, noun.kind] = None
            else:
                nouns.setdefault(first, {}).setdefault((noun.lemma, noun.kind), set()).update(agreements)
            for word in noun.english:
                glossary.setdefault(word, set()).add(first)
    return NounTable(
        {form: tuple(_reading(*key, found) for key, found in sorted(rows.items())) for form, rows in nouns.items()},
        # The longest first, so that the first that fits is the longest.
        {
            first: tuple((others, _reading(lemma, kind)) for others, lemma, kind in sorted(rows, key=_longest))
            for first, rows in phrases.items()
        },
        {word: frozenset(forms) for word, forms in glossary.items()},
    )


def _reading(lemma: str, kind: str, agreements: Iterable[Agreement] = ()) -> NounReading:
    return NounReading(lemma, NounKind(kind), tuple(sorted(agreements)))


def _longest(compound: tuple[tuple[str, ...], str, str]) -> tuple[int, tuple[tuple[str, ...], str, str]]:
    return -len(compound[0]), compound


def _read_rows(text: str, paradigms: Mapping[str, Any], file: str) -> list[_Noun]:
    """The rows; blank lines and comments are passed over."""
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    header = lines[0][1].split("\t") if lines else []
    if not set(header) >= {"english", "lemma", "gender"}:
        raise PluginError(f"{file}:1: expected columns english, lemma, gender, paradigm, forms; got {header}")
    parsed: dict[str, _Paradigm] = {}
    found = []
    for number, line in lines[1:]:
        place, cells = f"{file}:{number}", line.split("\t")
        if len(cells) > len(header):
            raise PluginError(f"{place}: expected at most {len(header)} columns, got {len(cells)}")
        row = dict(zip(header, cells, strict=False))
        lemma, kind, name = row.get("lemma", "").strip(), row.get("gender", ""), row.get("paradigm", "").strip()
        if not lemma or kind not in set(NounKind):
            raise PluginError(f"{place}: expected a lemma and one of {', '.join(NounKind)}; got {lemma!r}, {kind!r}")
        if name and name not in parsed:
            parsed[name] = _paradigm(name, paradigms, place)
        strip, endings = parsed[name] if name else _UNINFLECTED
        if not lemma.endswith(strip):
            raise PluginError(f"{place}: {lemma!r} does not end in {strip!r}, which paradigm {name!r} cuts")
        stem = lemma.removesuffix(strip)
        forms = [(stem + letters, agreements) for letters, agreements in endings]
        forms += [(form, ()) for form in row.get("forms", "").split()]
        english = [word.strip().lower() for word in row["english"].split("|") if word.strip()]
        found.append(_Noun(english, lemma, kind, forms))
    return found


def _paradigm(name: str, paradigms: Mapping[str, Any], place: str) -> _Paradigm:
    found = paradigms.get(name)
    if found is None:
        raise PluginError(f"{place}: no paradigm {name!r} in [paradigms]; there are {', '.join(sorted(paradigms))}")
    endings = (ending.partition("/") for ending in found.get("endings", ()))
    where = f"{place} paradigm {name}"
    forms = tuple((letters, parse_agreements(tags, where=where)) for letters, _, tags in endings)
    return _Paradigm(found.get("strip", ""), forms)
