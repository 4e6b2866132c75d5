"""Reading of a language's table of nouns for people, ``XX_nouns.tsv``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from mtbias.errors import PluginError
from mtbias.language.folding import Folder
from mtbias.language.grammar import Agreement, NounKind, NounReading, parse_agreements

_Forms = list[tuple[str, tuple[Agreement, ...]]]
"""Forms, or the endings that make them, with what each agrees with."""


class _Noun(NamedTuple):
    """One row: what the noun translates, and its forms."""

    english: list[str]
    lemma: str
    kind: NounKind
    forms: _Forms


def read_nouns(
    text: str, paradigms: Mapping[str, Any], fold: Folder, file: str, prepositions: Collection[str] = ()
) -> dict[str, Any]:
    """The fields `nouns`, `phrases` and `glossary` of the language whose table is `text`.

    A form that is one of the (folded) `prepositions` too is left out: it is next to never the noun (ru *после* "after",
    a locative of *посол* "ambassador"), and alone in its sentence it would win.

    Raises:
        PluginError: a column is missing; a row has no lemma, an unknown gender or paradigm, too many cells; with the
            row's line in `file`.
    """
    # Dictionaries serve as ordered sets: what stands twice counts once, and every run sees the same order.
    nouns: dict[str, dict[tuple[str, NounKind], set[Agreement]]] = {}
    phrases: dict[str, dict[tuple[tuple[str, ...], NounReading], None]] = {}
    glossary: dict[str, set[str]] = {}
    for noun in _read_rows(text, paradigms, file):
        for form, agreements in noun.forms:
            first, *others = fold(form).replace("_", " ").split()
            if first in prepositions and not others:
                continue
            if others:
                phrases.setdefault(first, {})[tuple(others), NounReading(noun.lemma, noun.kind, ())] = None
            else:
                nouns.setdefault(first, {}).setdefault((noun.lemma, noun.kind), set()).update(agreements)
            for word in noun.english:
                glossary.setdefault(word, set()).add(first)
    return {
        "nouns": {
            form: tuple(NounReading(*noun, tuple(sorted(agreements))) for noun, agreements in sorted(readings.items()))
            for form, readings in nouns.items()
        },
        # The longest first, so that the first that fits is the longest.
        "phrases": {first: tuple(sorted(found, key=lambda f: (-len(f[0]), f))) for first, found in phrases.items()},
        "glossary": {word: frozenset(forms) for word, forms in glossary.items()},
    }


def _read_rows(text: str, paradigms: Mapping[str, Any], file: str) -> list[_Noun]:
    """The rows; blank lines and comments are passed over."""
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    header = lines[0][1].split("\t") if lines else []
    if not set(header) >= {"english", "lemma", "gender"}:
        raise PluginError(f"{file}:1: expected columns english, lemma, gender, paradigm, forms; got {header}")
    parsed: dict[str, tuple[str, _Forms]] = {"": ("", [("", ())])}  # without a paradigm the lemma is the only form
    found = []
    for number, line in lines[1:]:
        place, cells = f"{file}:{number}", line.split("\t")
        if len(cells) > len(header):
            raise PluginError(f"{place}: expected at most {len(header)} columns, got {len(cells)}")
        row = dict(zip(header, cells, strict=False))
        lemma, kind, name = row.get("lemma", "").strip(), row.get("gender", ""), row.get("paradigm", "").strip()
        if not lemma or kind not in set(NounKind):
            raise PluginError(f"{place}: expected a lemma and one of {', '.join(NounKind)}; got {lemma!r}, {kind!r}")
        if name not in parsed:
            parsed[name] = _paradigm(name, paradigms, place)
        strip, endings = parsed[name]
        if not lemma.endswith(strip):
            raise PluginError(f"{place}: {lemma!r} does not end in {strip!r}, which paradigm {name!r} cuts")
        forms: _Forms = [(lemma.removesuffix(strip) + letters, agreements) for letters, agreements in endings]
        forms += [(form, ()) for form in row.get("forms", "").split()]
        english = [word.strip().lower() for word in row["english"].split("|") if word.strip()]
        found.append(_Noun(english, lemma, NounKind(kind), forms))
    return found


def _paradigm(name: str, paradigms: Mapping[str, Any], place: str) -> tuple[str, _Forms]:
    """What a paradigm cuts from a lemma's end, and what it puts there."""
    found = paradigms.get(name)
    if found is None:
        raise PluginError(f"{place}: no paradigm {name!r} in [paradigms]; there are {', '.join(sorted(paradigms))}")
    endings = (ending.partition("/") for ending in found.get("endings", ()))
    where = f"{place} paradigm {name}"
    return found.get("strip", ""), [(letters, parse_agreements(tags, where=where)) for letters, _, tags in endings]
