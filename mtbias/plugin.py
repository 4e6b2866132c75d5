"""What a language plugin is made of, and all that it may import from mtbias.

A language is data: `Language.from_package` reads ``data/XX.toml`` (rules) and ``data/XX_nouns.tsv`` (nouns for people)
from a plugin's package; ``languages/README.md`` describes both files. A plugin that needs more than data subclasses
`Language` and overrides a method.
"""

from __future__ import annotations

import csv
import hashlib
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from importlib import resources
from typing import Any, NamedTuple, Self

from mtbias.errors import PluginError
from mtbias.types import Span

__all__ = ["Agreement", "Language", "NounKind", "NounReading", "SurfaceToken", "VerbRules", "parse_agreements"]

_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0640\u200d\u200c"
_WORD = re.compile(rf"[\w{_MARKS}]+(?:[’'ʼ\"״׳‑-][\w{_MARKS}]+|[*:](?:in|innen|r|e)\b)*['’׳]?", re.UNICODE)
_INCLUSIVE_ENDING = re.compile(r"[*:_/](?:in|innen|r|e)$")
_GENDERS = frozenset("mfn*")
_NUMBERS = frozenset(("sg", "pl", "*"))
_CASES = frozenset(("nom", "gen", "dat", "acc", "ins", "loc", "voc", "*"))


class NounKind(StrEnum):
    """What the form of a noun for a person says about that person."""

    MASCULINE = "m"
    FEMININE = "f"
    COMMON = "common"
    """One form for both; only an article, an adjective or the predicate tells."""
    GENERIC = "generic"
    """Masculine in form and used of women too: feminine agreement overrules it."""
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


class SurfaceToken(NamedTuple):
    """A word of a text as the aligner and the phrase reader see it, elided articles split off."""

    span: Span
    text: str
    form: str
    """`text` folded for look-ups: lower case, marks deleted, variant letters unified."""


@dataclass(frozen=True, slots=True)
class VerbRules:
    """How a predicate shows the gender of its subject."""

    order: str = "after"
    skip: frozenset[str] = frozenset()
    copulas: frozenset[str] = frozenset()
    endings: tuple[tuple[str, Agreement], ...] = ()
    """Ending of a finite verb → the gender and number of its subject, longest first."""
    short: Mapping[str, Agreement] = field(default_factory=dict)
    """Predicative forms that need no copula (ru *готова*)."""
    auxiliaries: frozenset[str] = frozenset()
    """Forms that may stand right before a copula (fr *a été*)."""
    reflexives: frozenset[str] = frozenset()
    reflexive_copulas: frozenset[str] = frozenset()
    """Forms that are copulas only behind one of `reflexives` (es *se sentía cansada*)."""


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


@dataclass(frozen=True)
class Language:
    """The data of one language. All look-ups take any surface form and fold it themselves."""

    code: str
    name: str
    direction: str = "ltr"
    postposed: bool = True
    """Attributive adjectives may follow their noun."""
    elisions: tuple[str, ...] = ()
    proclitics: tuple[str, ...] = ()
    delete: str = ""
    fold_letters: Mapping[str, str] = field(default_factory=dict)
    align_endings: tuple[str, ...] = ()
    min_stem: int = 4
    determiners: Mapping[str, tuple[Agreement, ...]] = field(default_factory=dict)
    determiners_before_consonant: Mapping[str, tuple[Agreement, ...]] = field(default_factory=dict)
    """What a determiner says where the next word begins with a consonant (fr *son collègue*)."""
    adjective_endings: Mapping[str, tuple[Agreement, ...]] = field(default_factory=dict)
    noun_endings: Mapping[str, NounKind | None] = field(default_factory=dict)
    """Ending → what it says; None: nothing, whatever a shorter ending says."""
    noun_endings_except: Mapping[str, NounKind | None] = field(default_factory=dict)
    silent_determiners: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Noun → determiners that say nothing right before it (es *el ama*)."""
    first_parts: Mapping[str, NounKind | None] = field(default_factory=dict)
    """Beginnings that decide for the whole word (ru *женщина-врач*)."""
    prefixes: tuple[str, ...] = ()
    """Prefixes that may be cut before a noun is looked up (cs *exministryně*, *spolumajitel*)."""
    names: Mapping[str, str] = field(default_factory=dict)
    prepositions: Mapping[str, frozenset[str]] = field(default_factory=dict)
    verbs: VerbRules = VerbRules()
    nouns: Mapping[str, tuple[NounReading, ...]] = field(default_factory=dict)
    glossary: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """English noun → folded forms that may translate it."""
    inclusive: str = ""
    """Regular expression for words written so as to mean both genders (de *Lehrer*in*, *LehrerInnen*): no evidence."""
    compounds: bool = False
    """Nouns are compounded without a space (German): an unknown noun is looked up by its longest known last part."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""
    """Short hash of the data, part of a run's identity."""

    @classmethod
    def from_package(cls, package: str, code: str) -> Self:
        """Read ``data/CODE.toml`` and ``data/CODE_nouns.tsv`` inside `package`.

        Raises:
            PluginError: a file is missing or says something that the format does not allow.
        """
        base = resources.files(package) / "data"
        try:
            rules = (base / f"{code}.toml").read_bytes()
            nouns = (base / f"{code}_nouns.tsv").read_bytes()
        except OSError as error:
            raise PluginError(f"language {code!r}: {package} lacks a data file: {error}") from error
        try:
            toml = tomllib.loads(rules.decode("utf-8"))
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise PluginError(f"{package}/data/{code}.toml: {error}") from error
        version = hashlib.sha256(rules + b"\0" + nouns).hexdigest()[:8]
        return cls._from_data(toml, nouns.decode("utf-8"), where=f"{package}/data/{code}", version=version)

    @classmethod
    def _from_data(cls, toml: Mapping[str, Any], nouns: str, *, where: str, version: str) -> Self:
        unknown = set(toml) - _TABLES
        if unknown:
            raise PluginError(f"{where}.toml: unknown table [{min(unknown)}]; known: {', '.join(sorted(_TABLES))}")
        head = toml.get("language", {})
        if not isinstance(head.get("code"), str) or not isinstance(head.get("name"), str):
            raise PluginError(f"{where}.toml: [language] needs code and name")
        tokens, align, verbs = toml.get("tokens", {}), toml.get("align", {}), toml.get("verbs", {})
        folder = _Folder(tokens.get("delete", ""), tokens.get("fold", {}))
        table, glossary = _read_nouns(nouns, toml.get("paradigms", {}), folder, where=where)

        def agreements(name: str) -> dict[str, tuple[Agreement, ...]]:
            rows = toml.get(name, {})
            return {folder(k): parse_agreements(v, where=f"{where}.toml [{name}] {k}") for k, v in rows.items()}

        def choices(name: str, allowed: tuple[str, ...]) -> dict[str, str]:
            for key, value in toml.get(name, {}).items():
                if value not in allowed:
                    raise PluginError(f"{where}.toml [{name}] {key}: expected one of {', '.join(allowed)}; got {value!r}")
            return {folder(k): v for k, v in toml.get(name, {}).items()}

        def kinds(name: str) -> dict[str, NounKind | None]:
            return {k: None if v == "-" else NounKind(v) for k, v in choices(name, (*NounKind, "-")).items()}

        def verb_forms(name: str) -> dict[str, Agreement]:
            found = {}
            for key, value in verbs.get(name, {}).items():
                text = value if "." in value else f"{value}.*"
                agreement = parse_agreements(text, where=f"{where}.toml [verbs.{name}] {key}")
                found[folder(key)] = agreement[0]
            return found

        return cls(
            code=head["code"],
            name=head["name"],
            direction=head.get("direction", "ltr"),
            postposed=bool(head.get("postposed", True)),
            inclusive=head.get("inclusive", ""),
            compounds=bool(head.get("compounds", False)),
            elisions=_longest(folder(e) for e in tokens.get("elisions", ())),
            proclitics=_longest(folder(p) for p in tokens.get("proclitics", ())),
            delete=tokens.get("delete", ""),
            fold_letters=dict(tokens.get("fold", {})),
            align_endings=_longest(folder(e) for e in align.get("endings", ())),
            min_stem=int(align.get("min_stem", 4)),
            determiners=agreements("determiners"),
            determiners_before_consonant=agreements("determiners_before_consonant"),
            adjective_endings=agreements("adjective_endings"),
            noun_endings=kinds("noun_endings"),
            noun_endings_except=kinds("noun_endings_except"),
            first_parts=kinds("first_parts"),
            silent_determiners={
                folder(k): frozenset(folder(d) for d in v.split()) for k, v in toml.get("silent_determiners", {}).items()
            },
            prefixes=_longest(folder(e) for e in tokens.get("prefixes", ())),
            names=choices("names", ("m", "f")),
            prepositions={folder(k): frozenset(str(v).replace(",", " ").split()) for k, v in toml.get("prepositions", {}).items()},
            verbs=VerbRules(
                order=verbs.get("order", "after"),
                skip=frozenset(folder(w) for w in verbs.get("skip", ())),
                copulas=frozenset(folder(w) for w in verbs.get("copulas", ())),
                auxiliaries=frozenset(folder(w) for w in verbs.get("auxiliaries", ())),
                reflexives=frozenset(folder(w) for w in verbs.get("reflexives", ())),
                reflexive_copulas=frozenset(folder(w) for w in verbs.get("reflexive_copulas", ())),
                endings=tuple(sorted(verb_forms("endings").items(), key=lambda r: (-len(r[0]), r))),
                short=verb_forms("short"),
            ),
            nouns=table,
            glossary=glossary,
            extra=dict(toml.get("extra", {})),
            version=version,
        )

    @cached_property
    def _folder(self) -> _Folder:
        return _Folder(self.delete, self.fold_letters)

    def fold(self, text: str) -> str:
        """`text` as look-ups see it: lower case, ignorable marks deleted, variant letters unified."""
        return self._folder(text)

    def tokens(self, text: str) -> list[SurfaceToken]:
        """Words of `text` in order, elided articles and prepositions (``l'``, ``dell'``) split off, punctuation dropped."""
        found = []
        for match in _WORD.finditer(text):
            start, word = match.start(), match.group()
            form = self.fold(word)
            for elision in self.elisions:
                if form.startswith(elision) and len(form) > len(elision):
                    cut = start + len(elision)
                    found.append(SurfaceToken(Span(start, cut), text[start:cut], elision))
                    start, word = cut, text[cut : match.end()]
                    form = self.fold(word)
                    break
            if word[-1] in "'’׳" and form not in self.elisions:
                word = word[:-1]
                form = self.fold(word)
            if word:
                found.append(SurfaceToken(Span(start, start + len(word)), word, form))
        return found

    def bases(self, form: str) -> list[tuple[str, str]]:
        """(proclitic, rest) splits of a folded form, the unsplit form first: Hebrew ``("", "למנהל"), ("ל", "מנהל")``."""
        splits = [("", form)]
        splits += [(p, form[len(p) :]) for p in self.proclitics if form.startswith(p) and len(form) - len(p) >= 2]
        splits += [("", form[len(part) :]) for part in self.first_parts if form.startswith(part) and form != part]
        if self.inclusive:
            splits += [("", stem) for stem in (_INCLUSIVE_ENDING.sub("", form),) if stem != form]
        return splits

    def noun(self, form: str) -> tuple[NounReading, ...]:
        """Readings of a surface form in the table of nouns for people; the longest unsplit form wins; empty if unknown."""
        folded = self.fold(form)
        if self.inclusive and re.search(self.inclusive, form):
            return (NounReading(form, NounKind.FIXED, ()),)
        for part, kind in self.first_parts.items():
            if kind and folded.startswith(part) and len(folded) > len(part):
                return (NounReading(folded, kind, ()),)
        for _, base in self.bases(folded):
            readings = self.nouns.get(base)
            if readings:
                return readings
        for prefix in self.prefixes:
            readings = self.nouns.get(folded.removeprefix(prefix)) if folded.startswith(prefix) else None
            if readings:
                return readings
        return self._compound(folded) if self.compounds and form[:1].isupper() else ()

    def _compound(self, folded: str) -> tuple[NounReading, ...]:
        if folded in self.noun_endings_except:
            return ()
        for start in range(3, len(folded) - 3):
            readings = self.nouns.get(folded[start:])
            if readings and folded[:start].replace("-", "").isalpha():
                return readings
        return ()

    def ending(self, form: str) -> tuple[str, NounKind] | None:
        """(ending, kind) by the longest ending that tells, or None; the exceptions are looked up first."""
        folded = self.fold(form)
        for _, base in self.bases(folded):
            if base in self.noun_endings_except:
                kind = self.noun_endings_except[base]
                return None if kind is None else (base, kind)
        for size in range(len(folded) - 2, 0, -1):
            ending = folded[-size:]
            if ending in self.noun_endings:
                found = self.noun_endings[ending]
                return (ending, found) if found else None
        return None

    @cached_property
    def latin(self) -> bool:
        """The language is written in Latin letters."""
        form = next(iter(self.nouns), "a")
        return unicodedata.name(form[0], "").startswith("LATIN")

    def stem(self, form: str) -> str:
        """A folded form with its longest inflectional ending cut, as the aligner counts it."""
        for ending in self.align_endings:
            if form.endswith(ending) and len(form) - len(ending) >= self.min_stem:
                return form[: len(form) - len(ending)]
        return form


_TABLES = frozenset(
    ("language", "tokens", "align", "paradigms", "determiners", "determiners_before_consonant")
    + ("adjective_endings", "noun_endings", "noun_endings_except", "first_parts", "silent_determiners", "names", "prepositions", "verbs", "extra")
)


class _Folder:
    """Lower-cases, deletes ignorable marks, unifies variant letters and apostrophes."""

    def __init__(self, delete: str, fold: Mapping[str, str]) -> None:
        table: dict[int, str | None] = {ord(c): None for c in delete}
        table.update({ord("’"): "'", ord("ʼ"): "'", ord("‑"): "-", ord("״"): '"', ord("׳"): "'"})
        table.update({ord(k): v for k, v in fold.items() if len(k) == 1})
        self._table = table
        self._long = tuple((k, v) for k, v in fold.items() if len(k) > 1)

    def __call__(self, text: str) -> str:
        folded = text.lower().translate(self._table)
        for old, new in self._long:
            folded = folded.replace(old, new)
        return folded


def _longest(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(items), key=lambda s: (-len(s), s)))


def _read_nouns(
    text: str, paradigms: Mapping[str, Any], fold: _Folder, *, where: str
) -> tuple[dict[str, tuple[NounReading, ...]], dict[str, frozenset[str]]]:
    """The table of nouns and the glossary that follows from it."""
    table: dict[str, dict[tuple[str, str], set[Agreement]]] = {}
    glossary: dict[str, set[str]] = {}
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    header = lines[0][1].split("\t") if lines else []
    if not {"english", "lemma", "gender"} <= set(header):
        raise PluginError(f"{where}_nouns.tsv:1: expected columns english, lemma, gender, paradigm, forms; got {header}")
    for number, line in lines[1:]:
        place = f"{where}_nouns.tsv:{number}"
        row = dict(zip(header, next(csv.reader([line], delimiter="\t", quoting=csv.QUOTE_NONE)), strict=False))
        lemma, kind = row.get("lemma", "").strip(), row.get("gender", "")
        if not lemma or kind not in set(NounKind):
            raise PluginError(f"{place}: expected a lemma and one of {', '.join(NounKind)}; got {lemma!r}, {kind!r}")
        for form, agreements in _forms(lemma, row, paradigms, place):
            folded = fold(form)
            table.setdefault(folded, {}).setdefault((lemma, kind), set()).update(agreements)
            for english in row["english"].split("|"):
                if english.strip():
                    glossary.setdefault(english.strip().lower(), set()).add(folded)
    readings = {
        form: tuple(NounReading(lemma, NounKind(kind), tuple(sorted(a))) for (lemma, kind), a in sorted(found.items()))
        for form, found in table.items()
    }
    return readings, {k: frozenset(v) for k, v in glossary.items()}


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
