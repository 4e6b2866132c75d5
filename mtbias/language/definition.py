"""What a language plugin is made of, and all that it may import from mtbias.

A language is data: `Language.from_package` reads ``data/XX.toml`` (rules) and ``data/XX_nouns.tsv`` (nouns for people)
from a plugin's package; ``languages/README.md`` describes both files. A plugin that needs more than data subclasses
`Language` and overrides a method.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib import resources
from typing import Any, Literal, NamedTuple, Self, get_args

from mtbias.errors import PluginError
from mtbias.language.data_files import Agreement, Folder, NounKind, NounReading, longest, parse_agreements, read_nouns
from mtbias.types import Span

_MARKS = "\u00ad\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0640\u200d\u200c"
_WORD = re.compile(rf"[\w{_MARKS}]+(?:(?:\'\'|[’'ʼ\"״׳‑-])[\w{_MARKS}]+|[*:](?:in|innen|r|e)\b)*['’׳]?", re.UNICODE)
_INCLUSIVE_ENDING = re.compile(r"[*:_/](?:in|innen|r|e)$")


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
    words: Mapping[str, Agreement] = field(default_factory=dict)
    """Whole finite verbs, looked up before the endings."""
    feminine: str = ""
    """Regular expression that a form must match for the tagger's feminine to be believed; empty believes it always."""
    oblique: frozenset[str] = frozenset()
    """Words that mark what follows as no subject (he *את*), beside what the tagger calls a preposition."""
    short: Mapping[str, Agreement] = field(default_factory=dict)
    """Predicative forms that need no copula (ru *готова*)."""
    auxiliaries: frozenset[str] = frozenset()
    """Forms that may stand right before a copula (fr *a été*)."""
    reflexives: frozenset[str] = frozenset()
    reflexive_copulas: frozenset[str] = frozenset()
    """Forms that are copulas only behind one of `reflexives` (es *se sentía cansada*)."""


Direction = Literal["ltr", "rtl"]
"""How a script is written: left to right or right to left."""


@dataclass(frozen=True)
class Language:
    """The data of one language. All look-ups take any surface form and fold it themselves."""

    code: str
    name: str
    direction: Direction = "ltr"
    preposed: bool = True
    """Attributive adjectives may stand before their noun."""
    postposed: bool = True
    """Attributive adjectives may follow their noun."""
    determiners_follow: bool = False
    """A demonstrative or numeral may follow its noun (he *המורה הזה*)."""
    elisions: tuple[str, ...] = ()
    proclitics: tuple[str, ...] = ()
    vowels: str = ""
    """Letters before which a determiner is not that of `determiners_before_consonant` (fr: mute *h* too)."""
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
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], NounReading], ...]] = field(default_factory=dict)
    """First word of a compound of several words → (its other words, reading), longest first (he *רואה חשבון*)."""
    glossary: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """English noun → folded forms that may translate it."""
    definite: str = ""
    """Regular expression for forms with a written-on article, which an adjective shares with its noun (ar, he)."""
    perhaps_definite: str = ""
    """Regular expression for forms that do not show whether they have one (he *למורה*)."""
    inclusive: str = ""
    """Regular expression for words written so as to mean both genders (de *Lehrer*in*, *LehrerInnen*): neutral."""
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
        where, version = f"{package}/data/{code}", hashlib.sha256(rules + b"\0" + nouns).hexdigest()[:8]
        try:
            toml = tomllib.loads(rules.decode("utf-8"))
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise PluginError(f"{where}.toml: {error}") from error
        try:
            return cls._from_data(toml, nouns.decode("utf-8"), where=where, version=version)
        except UnicodeDecodeError as error:
            raise PluginError(f"{where}_nouns.tsv: expected UTF-8: {error}") from error
        except (AttributeError, TypeError, ValueError) as error:
            raise PluginError(f"{where}.toml: a value is of another type than the format has: {error}") from error

    @classmethod
    def _from_data(cls, toml: Mapping[str, Any], nouns: str, *, where: str, version: str) -> Self:
        unknown = set(toml) - _TABLES
        if unknown:
            raise PluginError(f"{where}.toml: unknown table [{min(unknown)}]; known: {', '.join(sorted(_TABLES))}")
        for name, keys in _KEYS.items():
            odd = set(toml.get(name, {})) - keys
            if odd:
                raise PluginError(f"{where}.toml [{name}]: unknown key {min(odd)!r}; known: {', '.join(sorted(keys))}")
        head = toml.get("language", {})
        if not isinstance(head.get("code"), str) or not isinstance(head.get("name"), str):
            raise PluginError(f"{where}.toml: [language] needs code and name")
        tokens, align, verbs = toml.get("tokens", {}), toml.get("align", {}), toml.get("verbs", {})
        folder = Folder(tokens.get("delete", ""), tokens.get("fold", {}))
        table, phrases, glossary = read_nouns(nouns, toml.get("paradigms", {}), folder, where=where)

        def agreements(name: str) -> dict[str, tuple[Agreement, ...]]:
            rows = toml.get(name, {})
            return {folder(k): parse_agreements(v, where=f"{where}.toml [{name}] {k}") for k, v in rows.items()}

        def choices(name: str, allowed: tuple[str, ...]) -> dict[str, str]:
            for key, value in toml.get(name, {}).items():
                if value not in allowed:
                    raise PluginError(
                        f"{where}.toml [{name}] {key}: expected one of {', '.join(allowed)}; got {value!r}"
                    )
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
            direction=_direction(head, where),
            preposed=bool(head.get("preposed", True)),
            determiners_follow=bool(head.get("determiners_follow", False)),
            postposed=bool(head.get("postposed", True)),
            definite=head.get("definite", ""),
            perhaps_definite=head.get("perhaps_definite", ""),
            inclusive=head.get("inclusive", ""),
            compounds=bool(head.get("compounds", False)),
            elisions=longest(folder(e) for e in tokens.get("elisions", ())),
            proclitics=longest(folder(p) for p in tokens.get("proclitics", ())),
            vowels=tokens.get("vowels", ""),
            delete=tokens.get("delete", ""),
            fold_letters=dict(tokens.get("fold", {})),
            align_endings=longest(folder(e) for e in align.get("endings", ())),
            min_stem=int(align.get("min_stem", 4)),
            determiners=agreements("determiners"),
            determiners_before_consonant=agreements("determiners_before_consonant"),
            adjective_endings=agreements("adjective_endings"),
            noun_endings=kinds("noun_endings"),
            noun_endings_except=kinds("noun_endings_except"),
            first_parts=kinds("first_parts"),
            silent_determiners={
                folder(k): frozenset(folder(d) for d in v.split())
                for k, v in toml.get("silent_determiners", {}).items()
            },
            prefixes=longest(folder(e) for e in tokens.get("prefixes", ())),
            names=choices("names", ("m", "f")),
            prepositions={
                folder(k): frozenset(str(v).replace(",", " ").split()) for k, v in toml.get("prepositions", {}).items()
            },
            verbs=VerbRules(
                order=verbs.get("order", "after"),
                skip=frozenset(folder(w) for w in verbs.get("skip", ())),
                copulas=frozenset(folder(w) for w in verbs.get("copulas", ())),
                auxiliaries=frozenset(folder(w) for w in verbs.get("auxiliaries", ())),
                reflexives=frozenset(folder(w) for w in verbs.get("reflexives", ())),
                reflexive_copulas=frozenset(folder(w) for w in verbs.get("reflexive_copulas", ())),
                endings=tuple(sorted(verb_forms("endings").items(), key=lambda r: (-len(r[0]), r))),
                short=verb_forms("short"),
                words=verb_forms("words"),
                feminine=verbs.get("feminine", ""),
                oblique=frozenset(folder(w) for w in verbs.get("oblique", ())),
            ),
            nouns=table,
            phrases=phrases,
            glossary=glossary,
            extra=dict(toml.get("extra", {})),
            version=version,
        )

    @cached_property
    def _folder(self) -> Folder:
        return Folder(self.delete, self.fold_letters)

    def fold(self, text: str) -> str:
        """`text` as look-ups see it: lower case, ignorable marks deleted, variant letters unified."""
        return self._folder(text)

    def tokens(self, text: str) -> list[SurfaceToken]:
        """Words of `text` in order, elided articles and prepositions (``l'``, ``dell'``) split off, punctuation
        dropped.
        """
        found = []
        for match in self._word.finditer(text):
            start, word = match.start(), match.group()
            form = self.fold(word)
            for elision in self.elisions:
                if form.startswith(elision) and len(form) > len(elision):
                    cut = start + len(elision)
                    found.append(SurfaceToken(Span(start, cut), text[start:cut], elision))
                    start, word = cut, text[cut : match.end()]
                    form = self.fold(word)
                    break
            if word[-1] in "'’׳" and not self._apostrophe_belongs(form):
                word = word[:-1]
                form = self.fold(word)
            if word:
                found.append(SurfaceToken(Span(start, start + len(word)), word, form))
        return found

    @cached_property
    def _word(self) -> re.Pattern[str]:
        """A word; an abbreviated title with its full stop (it *sig.ra*, es *sra.*) is one."""
        dotted = "|".join(re.escape(name) for name in longest(self.names) if "." in name)
        return re.compile(rf"(?<!\w)(?i:{dotted})|{_WORD.pattern}") if dotted else _WORD

    def _apostrophe_belongs(self, form: str) -> bool:
        """The apostrophe at a word's end is no quotation mark (it *l'*, he *גב'*)."""
        known = form in self.elisions or form in self.names
        return known or any(base in self.nouns for _, base in self.bases(form))

    def bases(self, form: str) -> list[tuple[str, str]]:
        """(proclitic, rest) splits of a folded form, the unsplit one first: ``("", "למנהל"), ("ל", "מנהל")``."""
        splits = [("", form)]
        splits += [(p, form[len(p) :]) for p in self.proclitics if form.startswith(p) and len(form) - len(p) >= 2]
        splits += [("", form[len(part) :]) for part in self.first_parts if form.startswith(part) and form != part]
        if self.inclusive:
            splits += [("", stem) for stem in (_INCLUSIVE_ENDING.sub("", form),) if stem != form]
        return splits

    def noun(self, form: str) -> tuple[NounReading, ...]:
        """Readings of a surface form in the table of nouns for people, the unsplit form first; empty if unknown."""
        known = self._read.get(form)
        if known is None:
            known = self._read[form] = self._look_up(form)
        return known

    @cached_property
    def _read(self) -> dict[str, tuple[NounReading, ...]]:
        """What `noun` has answered: a corpus asks the same words over and over."""
        return {}

    def _look_up(self, form: str) -> tuple[NounReading, ...]:
        folded = self.fold(form)
        if self.inclusive and re.search(self.inclusive, form):
            return (NounReading(form, NounKind.INCLUSIVE, ()),)
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

    def phrase(self, forms: Sequence[str]) -> tuple[int, NounReading] | None:
        """(number of words, reading) of the longest compound that `forms` begin with, or None.

        Written-on articles and prepositions are allowed on every word (he *לרואה החשבון*).
        """
        for _, first in self.bases(forms[0]):
            for others, reading in self.phrases.get(first, ()):
                rest = forms[1 : 1 + len(others)]
                if len(rest) == len(others) and all(
                    any(base == word for _, base in self.bases(form)) for form, word in zip(rest, others, strict=True)
                ):
                    return 1 + len(others), reading
        return None

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

    def same_definiteness(self, noun: str, adjective: str) -> bool:
        """Whether an adjective may belong to a noun: both have the written-on article or neither, as forms show."""
        if not self.definite:
            return True
        if self.perhaps_definite and (
            re.search(self.perhaps_definite, noun) or re.search(self.perhaps_definite, adjective)
        ):
            return True
        return bool(re.search(self.definite, noun)) == bool(re.search(self.definite, adjective))

    def stem(self, form: str) -> str:
        """A folded form with its longest inflectional ending cut, as the aligner counts it."""
        for ending in self.align_endings:
            if form.endswith(ending) and len(form) - len(ending) >= self.min_stem:
                return form[: len(form) - len(ending)]
        return form


def _direction(head: Mapping[str, Any], where: str) -> Direction:
    found: Direction = head.get("direction", "ltr")
    if found not in get_args(Direction):
        raise PluginError(f"{where}.toml [language] direction: expected ltr or rtl; got {found!r}")
    return found


_TABLES = frozenset(
    (
        *("language", "tokens", "align", "paradigms", "determiners", "determiners_before_consonant"),
        *("adjective_endings", "noun_endings", "noun_endings_except", "first_parts", "silent_determiners"),
        *("names", "prepositions", "verbs", "extra"),
    )
)
_KEYS = {
    "language": frozenset(
        (
            *("code", "name", "direction", "preposed", "postposed", "determiners_follow"),
            *("definite", "perhaps_definite", "inclusive", "compounds"),
        )
    ),
    "tokens": frozenset(("elisions", "proclitics", "prefixes", "vowels", "delete", "fold")),
    "align": frozenset(("endings", "min_stem")),
    "verbs": frozenset(f.name for f in fields(VerbRules)),
}
