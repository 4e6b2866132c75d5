"""Reading of a language's two data files into the fields of a
`mtbias.language.definition.Language`.

``data/XX.toml`` holds the rules, a table each; ``data/XX_nouns.tsv`` the nouns for people.
"""

from __future__ import annotations

import gc
import hashlib
import tomllib
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import Field, fields
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from mtbias.errors import PluginError, choices
from mtbias.files.file_ledger import file_ledger
from mtbias.language.grammar import (
    CASES,
    Agreement,
    NounKind,
    NounReading,
    SpeakerRules,
    VerbRules,
)
from mtbias.types import JsonDict, JsonObject, Strategy, frozen

# Folding: the form of a word under which every table is asked for it.

_PRESENTATION_FORMS = (range(0xFB50, 0xFE00), range(0xFE70, 0xFF00))
"""The Unicode blocks Arabic Presentation Forms-A and -B."""


APOSTROPHES = "'`´‘’′ʹʼ＇"
"""Characters that are written for an apostrophe."""


class Folder:
    """Lower-cases, deletes ignorable marks, unifies variant letters and apostrophes.

    An Arabic presentation form, which is a letter in one of its shapes or a ligature of several,
    counts as the letters that Unicode's NFKC gives for it, and these are folded like any others.
    The result may be longer than the text, so it is for look-ups only.
    """

    def __init__(self, delete: str, fold: Mapping[str, str]) -> None:
        table: dict[int, str | None] = {ord(c): None for c in delete}
        table.update({0xAD: None, ord("‑"): "-", ord("״"): '"', ord("׳"): "'"})
        table.update({ord(apostrophe): "'" for apostrophe in APOSTROPHES})
        table.update({ord(k): v for k, v in fold.items() if len(k) == 1})
        for form in chain(*_PRESENTATION_FORMS):
            # That of a mark by itself has a blank as its carrier, which is dropped.
            letters = unicodedata.normalize("NFKC", chr(form)).strip()
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


# Agreements.

_VALUES = ({*"mfn*"}, CASES | {"*"}, {"sg", "pl", "*"})
"""Values of an agreement: genders, cases, numbers."""


def parse_agreements(text: str, *, where: str) -> tuple[Agreement, ...]:
    """Read ``"m.nom.sg f.dat.sg"``, or ``"f.sg"`` without case; ``-`` is none.

    Raises:
        PluginError: a value that is none of these.
    """
    agreements = []
    if text.strip() == "-":
        return ()
    for part in text.replace(",", " ").split():
        bits = part.split(".")
        if len(bits) == 2:
            bits.insert(1, "*")
        valid = [bit in allowed for bit, allowed in zip(bits, _VALUES, strict=False)]
        if len(bits) != 3 or not all(valid):
            raise PluginError(
                f"{where}: expected gender.case.number such as 'm.nom.sg', got {part!r}"
            )
        agreements.append(Agreement(*bits))
    return tuple(agreements)


# Reading of a language's table of nouns for people, ``XX_nouns.tsv``.

_Forms = list[tuple[str, tuple[Agreement, ...]]]
"""Forms, or the endings that make them, with what each agrees with."""


def read_nouns(
    text: str, paradigms: JsonObject, fold: Folder, file: str, prepositions: Collection[str] = ()
) -> JsonDict:
    """The fields `nouns`, `phrases` and `glossary` of the language whose table is `text`.

    A form that is also one of the (folded) `prepositions` is left out: it is hardly ever the noun
    (ru *после* "after", a locative of *посол* "ambassador"), and where its sentence has no other
    candidate it would be taken for it.

    Raises:
        PluginError: a column is missing; a row has no lemma, an unknown gender or paradigm, too
            many cells; with the row's line in `file`.
    """
    # Dictionaries serve as ordered sets: what occurs twice counts once, and every run sees the same
    # order.
    nouns: dict[str, dict[tuple[str, NounKind], tuple[Agreement, ...]]] = {}
    phrases: dict[str, dict[tuple[tuple[str, ...], NounReading], None]] = {}
    glossary: dict[str, set[str]] = {}
    for english, noun, forms in _read_rows(text, paradigms, file):
        folded = set()
        for form, agreements in forms:
            first, *others = fold(form).replace("_", " ").split()
            if first in prepositions and not others:
                continue
            folded.add(first)
            if others:
                phrases.setdefault(first, {})[tuple(others), NounReading(*noun, ())] = None
            else:
                readings = nouns.setdefault(first, {})
                known = readings.get(noun)
                readings[noun] = tuple(sorted({*known, *agreements})) if known else agreements
        for word in english if folded else ():
            glossary.setdefault(word, set()).update(folded)
    return {
        "nouns": {form: _readings(agreements) for form, agreements in nouns.items()},
        # The longest first, so that the first that fits is the longest.
        "phrases": {
            first: tuple(sorted(compounds, key=lambda compound: (-len(compound[0]), compound)))
            for first, compounds in phrases.items()
        },
        "glossary": {word: frozenset(forms) for word, forms in glossary.items()},
    }


def _readings(
    agreements: Mapping[tuple[str, NounKind], tuple[Agreement, ...]],
) -> tuple[NounReading, ...]:
    """The readings of one form, sorted."""
    return tuple(NounReading(*noun, allowed) for noun, allowed in sorted(agreements.items()))


def _read_rows(
    text: str, paradigms: JsonObject, file: str
) -> Iterator[tuple[list[str], tuple[str, NounKind], _Forms]]:
    """The English nouns of each row, its lemma and kind, and its forms; blank lines and comments
    are passed over.
    """
    lines = [
        (n, line)
        for n, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.startswith("#")
    ]
    header = lines[0][1].split("\t") if lines else []
    if not set(header) >= {"english", "lemma", "gender"}:
        raise PluginError(
            f"{file}:1: expected columns english, lemma, gender, paradigm, forms; got {header}"
        )
    # Without a paradigm the lemma is the only form.
    parsed: dict[str, tuple[str, _Forms]] = {"": ("", [("", ())])}
    for number, line in lines[1:]:
        place, cells = f"{file}:{number}", line.split("\t")
        if len(cells) > len(header):
            raise PluginError(f"{place}: expected at most {len(header)} columns, got {len(cells)}")
        row = dict(zip(header, cells, strict=False))
        lemma, kind = row.get("lemma", "").strip(), row.get("gender", "")
        name = row.get("paradigm", "").strip()
        if not lemma or kind not in set(NounKind):
            kinds = ", ".join(NounKind)
            raise PluginError(
                f"{place}: expected a lemma and one of {kinds}; got {lemma!r}, {kind!r}"
            )
        if name not in parsed:
            parsed[name] = _paradigm(name, paradigms, place)
        strip, endings = parsed[name]
        if not lemma.endswith(strip):
            raise PluginError(
                f"{place}: {lemma!r} does not end in {strip!r}, which paradigm {name!r} cuts"
            )
        stem = lemma.removesuffix(strip)
        forms: _Forms = [(stem + letters, agreements) for letters, agreements in endings]
        forms += [(form, ()) for form in row.get("forms", "").split()]
        english = [word.strip().lower() for word in row["english"].split("|") if word.strip()]
        yield english, (lemma, NounKind(kind)), forms


def _paradigm(name: str, paradigms: JsonObject, place: str) -> tuple[str, _Forms]:
    """The ending that a paradigm cuts from a lemma, and those that it puts there, with their
    agreements sorted.
    """
    paradigm = paradigms.get(name)
    if paradigm is None:
        raise PluginError(
            f"{place}: no paradigm {name!r} in [paradigms]; {choices(name, sorted(paradigms))}"
        )
    where = f"{place} paradigm {name}"
    endings = []
    for ending in paradigm.get("endings", ()):
        letters, _, tags = ending.partition("/")
        agreements = set(parse_agreements(tags, where=where))
        endings.append((letters, tuple(sorted(agreements))))
    return paradigm.get("strip", ""), endings


_AGREEMENTS = (
    "determiners",
    "determiners_before_consonant",
    "relatives",
    "adjective_endings",
    "adjectives",
)
_KINDS = ("noun_endings", "noun_endings_except", "first_parts")
_KEYS = {
    "language": {
        *("code", "name", "direction", "family", "case", "attributes_follow"),
        *(
            "definite",
            "perhaps_definite",
            "inclusive",
            "compounds",
            "weak",
            "agent_endings",
            "derivations",
            "adverbials",
        ),
    },
    "tokens": {
        "elisions",
        "proclitics",
        "prefixes",
        "vowels",
        "letters",
        "delete",
        "fold",
        "careless",
    },
    "align": {"endings", "min_stem"},
    "neutral_nouns": {"participle", "compound", "collective", "epicene"},
    "verbs": {f.name for f in fields(VerbRules)},
    "speaker": {f.name for f in fields(SpeakerRules)},
}
_SETS = ("silent_determiners", "prepositions_like_articles", "neutral_endings")
_LETTERS = ("names", "sex_adjectives", "possessors", "pronouns")
_TABLES = {*_KEYS, *_AGREEMENTS, *_KINDS, *_SETS, *_LETTERS, "paradigms", "prepositions"}


_PredicateRules = TypeVar("_PredicateRules", VerbRules, SpeakerRules)


@contextmanager
def _no_collection() -> Iterator[None]:
    """The garbage collector pauses: it would go through all the new tuples again and again, and
    free none.
    """
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


@_no_collection()
def read_language(package: str, code: str) -> JsonDict:
    """The fields of the language whose files are ``data/CODE.toml`` and ``data/CODE_nouns.tsv``
    inside `package`.

    Raises:
        PluginError: a file is missing or says something that the format does not allow.
    """
    base = resources.files(package) / "data"
    files = base / f"{code}.toml", base / f"{code}_nouns.tsv"
    for file in files:
        if isinstance(file, Path):  # and not within an archive
            file_ledger().note_input(file)
    try:
        rules, nouns = (file.read_bytes() for file in files)
    except OSError as error:
        raise PluginError(f"language {code!r}: {package} lacks a data file: {error}") from error
    where = f"{package}/data/{code}"
    try:
        toml = tomllib.loads(rules.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PluginError(f"{where}.toml: {error}") from error
    try:
        values = _fields(toml, nouns.decode("utf-8"), where)
    except UnicodeDecodeError as error:
        raise PluginError(f"{where}_nouns.tsv: expected UTF-8: {error}") from error
    except (AttributeError, TypeError, ValueError) as error:
        raise PluginError(
            f"{where}.toml: a value is of another type than the format has: {error}"
        ) from error
    return {**values, "version": hashlib.sha256(rules + b"\0" + nouns).hexdigest()[:8]}


def _fields(toml: JsonObject, nouns: str, where: str) -> JsonDict:
    _check_names(toml, where)
    tokens, align = toml.get("tokens", {}), toml.get("align", {})
    delete, letters = tokens.get("delete", ""), dict(tokens.get("fold", {}))
    rules = _Rules(toml, Folder(delete, letters), where)
    header = _header(toml.get("language", {}), where)
    prepositions = rules.table("prepositions")
    paradigms = toml.get("paradigms", {})
    noun_fields = read_nouns(nouns, paradigms, rules.fold, f"{where}_nouns.tsv", prepositions)
    token_names = ("elisions", "proclitics", "prefixes")
    return {
        **header,
        **noun_fields,
        **{name: rules.longest(tokens.get(name, ())) for name in token_names},
        "vowels": tokens.get("vowels", ""),
        "letters": tokens.get("letters", ""),
        "delete": delete,
        "fold_letters": letters,
        "careless": dict(tokens.get("careless", {})),
        "align_endings": rules.longest(align.get("endings", ())),
        "min_stem": int(align.get("min_stem", 4)),
        **{name: rules.agreements(name) for name in _AGREEMENTS},
        **{name: rules.kinds(name) for name in _KINDS},
        **{name: rules.sets(name) for name in _SETS},
        "neutral_nouns": rules.neutral_nouns(),
        **{name: rules.choices(name, ("m", "f")) for name in _LETTERS},
        "prepositions": {
            preposition: frozenset(str(cases).replace(",", " ").split())
            for preposition, cases in prepositions.items()
        },
        "verbs": _predicates(VerbRules, "verbs", rules),
        "speaker": _predicates(SpeakerRules, "speaker", rules),
    }


def _check_names(toml: JsonObject, where: str) -> None:
    """Refuse tables and keys that the format does not have: a rule under a mistyped name would
    never be applied.
    """
    unknown = min(set(toml) - _TABLES, default=None)
    if unknown is not None:
        known = choices(unknown, sorted(_TABLES))
        raise PluginError(f"{where}.toml: unknown table [{unknown}]; {known}")
    for name, keys in _KEYS.items():
        odd = set(toml.get(name, {})) - keys
        if odd:
            raise PluginError(
                f"{where}.toml [{name}] {min(odd)}: unknown key; {choices(min(odd), sorted(keys))}"
            )


def _header(head: JsonObject, where: str) -> JsonObject:
    """The table ``[language]``: its keys are fields of `Language`."""
    if not isinstance(head.get("code"), str) or not isinstance(head.get("name"), str):
        raise PluginError(f"{where}.toml: [language] needs code and name")
    if head.get("direction", "ltr") not in ("ltr", "rtl"):
        raise PluginError(
            f"{where}.toml [language] direction: expected ltr or rtl; got {head['direction']!r}"
        )
    return {
        **head,
        "weak": parse_agreements(head.get("weak", ""), where=f"{where}.toml [language] weak"),
        "agent_endings": tuple(head.get("agent_endings", ())),
        "derivations": tuple(head.get("derivations", ())),
        "adverbials": tuple(head.get("adverbials", ())),
    }


def _predicates(kind: type[_PredicateRules], name: str, rules: _Rules) -> _PredicateRules:
    """The table `name`, whose keys are the fields of `kind`; each value has the type of its field's
    default.
    """
    table = rules.toml.get(name, {})

    def read(field: Field[Any]) -> object:
        if isinstance(field.default, frozenset):
            return rules.folded(table.get(field.name, ()))
        if isinstance(field.default, bool | str):
            return type(field.default)(table.get(field.name, field.default))
        forms = rules.verb_forms(name, field.name)
        if field.default == ():  # the longest first
            return tuple(sorted(forms.items(), key=lambda item: (-len(item[0]), item)))
        return forms

    values: JsonDict = {field.name: read(field) for field in fields(kind)}
    return kind(**values)


@frozen
class _Rules:
    """The tables of rules, read with folded keys and checked values."""

    toml: JsonObject
    fold: Folder
    where: str

    def folded(self, words: Iterable[str]) -> frozenset[str]:
        return frozenset(self.fold(word) for word in words)

    def longest(self, words: Iterable[str]) -> tuple[str, ...]:
        """`words` folded, longest first, so that the first that fits is the longest."""
        return tuple(sorted(self.folded(words), key=lambda word: (-len(word), word)))

    def table(self, name: str) -> JsonDict:
        return {self.fold(key): value for key, value in self.toml.get(name, {}).items()}

    def sets(self, name: str) -> dict[str, frozenset[str]]:
        """A table whose values are words with blanks between."""
        return {key: self.folded(words.split()) for key, words in self.table(name).items()}

    def neutral_nouns(self) -> dict[str, Strategy]:
        """Endings of the table ``[neutral_nouns]`` with what each stands for."""
        strategies: dict[str, Strategy] = {}
        for name, endings in self.toml.get("neutral_nouns", {}).items():
            strategy = Strategy(f"neutral:{name}")
            strategies |= dict.fromkeys(self.folded(endings.split()), strategy)
        return strategies

    def agreements(self, name: str) -> dict[str, tuple[Agreement, ...]]:
        """A table of forms or endings with all that each agrees with."""
        return {
            self.fold(key): parse_agreements(value, where=f"{self.where}.toml [{name}] {key}")
            for key, value in self.toml.get(name, {}).items()
        }

    def choices(self, name: str, allowed: tuple[str, ...]) -> dict[str, str]:
        """A table whose values are among `allowed`."""
        expected = ", ".join(allowed)
        for key, value in self.toml.get(name, {}).items():
            if value not in allowed:
                raise PluginError(
                    f"{self.where}.toml [{name}] {key}: expected one of {expected}; got {value!r}"
                )
        return self.table(name)

    def kinds(self, name: str) -> dict[str, NounKind | None]:
        """A table of kinds of nouns; ``-`` is none."""
        letters = self.choices(name, (*NounKind, "-"))
        return {key: None if kind == "-" else NounKind(kind) for key, kind in letters.items()}

    def verb_forms(self, table: str, name: str) -> dict[str, Agreement]:
        """A table inside `table` of forms or endings with one gender and number each (``f``: in any
        number).
        """
        forms = {}
        for key, value in self.toml.get(table, {}).get(name, {}).items():
            text = value if "." in value else f"{value}.*"
            where = f"{self.where}.toml [{table}.{name}] {key}"
            forms[self.fold(key)] = parse_agreements(text, where=where)[0]
        return forms
