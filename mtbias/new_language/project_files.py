"""The files of a draft: a project that can be installed, with every question that its data must
answer.

Its nouns are those of the lists that the user names, with gender and forms where a lexicon has
them. No row is used before somebody has checked it: each is a comment that begins with `CHECK` or,
where the noun is missing, with `FILL`. Whoever removes the mark answers for the row.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pandas as pd

from mtbias.entry_points import installed
from mtbias.errors import MissingResourceError, SettingError, UsageError
from mtbias.files.writing import explained, write_atomic
from mtbias.language.definition import Language
from mtbias.language.grammar import Agreement, NounKind, shared_beginning
from mtbias.language.installed import GROUP, get_language, is_language_code
from mtbias.morphology.stanza_models import PROCESSORS, read_index
from mtbias.new_language.lexica import Lexicon
from mtbias.new_language.policy_rows import occupations
from mtbias.reading.known_translations import KnownTranslations
from mtbias.types import frozen

if TYPE_CHECKING:
    from jinja2 import Environment

_FOR = {"tokenize": "words", "mwt": "contractions are split", "pos": "parts of speech and gender"}


def prospects(code: str, stanza: Path) -> tuple[str, ...]:
    """Lines for the user: the plugins that register the language already, and Stanza's models of
    it in the folder `stanza`.

    Raises:
        DataError: Stanza's index there is damaged.
    """
    line = _stanza_line(code, stanza)
    plugins = " and ".join(installed(GROUP).get(code, ()))
    if not plugins:
        return (line,)
    return f"{plugins} registers {code} already: two plugins for one code are refused", line


def _stanza_line(code: str, folder: Path) -> str:
    try:
        _, default = read_index(code, folder, PROCESSORS, "fetch the models of any language")
    except MissingResourceError:
        return (
            "Stanza: not known: the folder of its models has no index of them; once the draft is"
            f" installed, `mtbias fetch --lang {code}` gets both"
        )
    if not default:
        return (
            f"Stanza: the index of models (resources.json) has no {code};"
            " without models nothing can be scored"
        )
    lacking = [f"no {name} ({_FOR[name]})" for name in PROCESSORS if name not in default]
    has = ", ".join(f"{name} {package}" for name, package in default.items())
    return f"Stanza: {has}{'; ' + ', '.join(lacking) if lacking else ''}"


# The nouns


CHECK, FILL = "# check ", "# fill "
"""Beginnings of a row that must be checked, and of one that lacks its noun."""
_UNKNOWN = "?"
"""Stands for a gender that no lexicon gives. The format has no such gender, so that the row cannot
be used unchecked."""
_KINDS = {"m": "m", "f": "f", "mf": "common", "n": "fixed"}
"""A neuter noun for a person says nothing about that person (de *das Kind*)."""
_CASES = ("*", "nom", "gen", "dat", "acc", "ins", "loc", "voc")

Slots = tuple[tuple[str, Agreement], ...]
"""Forms or endings with the case and number of each."""


@frozen
class DraftNoun:
    """One row of the table of nouns."""

    english: tuple[str, ...]
    noun: str
    kind: str
    paradigm: str = ""
    forms: tuple[str, ...] = ()

    def line(self) -> str:
        """The row as in the file, with its mark."""
        cells = ("|".join(self.english), self.noun, self.kind, self.paradigm, " ".join(self.forms))
        return CHECK + "\t".join(cells)


@frozen
class DraftParadigm:
    """How some of the nouns make their forms."""

    name: str
    strip: str
    endings: tuple[str, ...]
    """As in ``[paradigms]``: ``s/*.*.pl``."""
    nouns: tuple[str, ...]


@frozen
class DraftNouns:
    """All that the lexica give for the table of nouns."""

    nouns: tuple[DraftNoun, ...] = ()
    paradigms: tuple[DraftParadigm, ...] = ()
    unfilled: tuple[tuple[str, str], ...] = ()
    """Occupations with the gender for which there is no noun."""


@dataclass
class _LexiconNoun:
    """One noun in lists and lexica."""

    english: dict[str, None] = field(default_factory=dict)
    genders: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    """Genders by the lists, which come before those of lexica."""
    slots: dict[tuple[str, Agreement], None] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        if "common" in self.listed:
            return "common"
        genders = self.listed or self.genders
        return _KINDS.get("".join(g for g in "mfn" if g in genders), _UNKNOWN)


def draft_nouns(lexica: Sequence[Lexicon], occupations: Iterable[str]) -> DraftNouns:
    """The nouns of the lists among `lexica` with their counterparts of the other gender, and the
    `occupations` that lack one.
    """
    entries: dict[str, _LexiconNoun] = {}
    for row in chain.from_iterable(lexicon.rows for lexicon in lexica):
        entry = entries.setdefault(row.noun, _LexiconNoun())
        entry.english |= {word.strip(): None for word in row.english.split("|") if word.strip()}
        entry.listed |= {row.gender} - {""}
    entries = _with_counterparts(entries, lexica)
    for lexicon in lexica:
        _add_forms(entries, lexicon)

    paradigms = _paradigms(entries)
    names: dict[str, str] = {}
    for paradigm in paradigms:
        names |= dict.fromkeys(paradigm.nouns, paradigm.name)
    nouns = []
    for noun, entry in entries.items():
        forms = () if noun in names else _forms(noun, entry)
        english = tuple(entry.english)
        nouns.append(DraftNoun(english, noun, entry.kind, names.get(noun, ""), forms))
    return DraftNouns(tuple(nouns), paradigms, tuple(_unfilled(entries, occupations)))


def _with_counterparts(
    entries: Mapping[str, _LexiconNoun], lexica: Iterable[Lexicon]
) -> dict[str, _LexiconNoun]:
    """The nouns, each followed by its counterpart of the other gender, with the same English, where
    a lexicon has both under one lemma.
    """
    counterparts: dict[str, tuple[str, str]] = {}
    for citations in chain.from_iterable(lexicon.citations.values() for lexicon in lexica):
        man, woman = citations.get("m"), citations.get("f")
        if man is not None and woman is not None and man != woman:
            counterparts.setdefault(man, (woman, "f"))
            counterparts.setdefault(woman, (man, "m"))
    nouns: dict[str, _LexiconNoun] = {}
    for noun, entry in entries.items():
        nouns[noun] = entry
        other, gender = counterparts.get(noun, ("", ""))
        if other and other not in entries:
            counterpart = nouns.setdefault(other, _LexiconNoun())
            counterpart.english |= entry.english
            counterpart.genders.add(gender)
    return nouns


def _add_forms(entries: Mapping[str, _LexiconNoun], lexicon: Lexicon) -> None:
    """Add genders and forms from `lexicon`, which may have a woman's noun under the lemma of a
    man's.
    """
    lemmas: dict[str, dict[str, str]] = {noun: {"*": noun} for noun in entries}
    for lemma, genders in lexicon.citations.items():
        for gender, citation in genders.items():
            if citation in entries:
                entries[citation].genders.add(gender)
                lemmas.setdefault(lemma, {})[gender] = citation
    for lemma, form, (gender, case, number) in lexicon.forms(lemmas):
        owner = lemmas[lemma].get(gender)
        if owner is None and gender not in lexicon.citations.get(lemma, {}):
            owner = lemmas[lemma].get("*")
        if owner is not None:
            entries[owner].slots[form, Agreement("*", case, number)] = None


def _paradigms(entries: Mapping[str, _LexiconNoun]) -> tuple[DraftParadigm, ...]:
    """The paradigms of the nouns whose forms are all known, the most frequent first."""
    alike: dict[tuple[str, Slots], list[str]] = defaultdict(list)
    for noun, entry in entries.items():
        words = [form for form, _ in entry.slots]
        if not words or any(" " in word for word in (noun, *words)):
            continue
        stem = len(shared_beginning(noun, *words))
        endings = tuple((form[stem:], where) for form, where in sorted(entry.slots, key=_slot_rank))
        alike[noun[stem:], endings].append(noun)
    ranked = sorted(alike.items(), key=lambda item: (-len(item[1]), item[0]))
    times: Counter[str] = Counter()
    paradigms = []
    for (strip, endings), nouns in ranked:
        times[strip] += 1
        name = f"{strip or 'whole'}{times[strip]}"
        paradigms.append(DraftParadigm(name, strip, _endings(endings), tuple(nouns)))
    return tuple(paradigms)


def _slot_rank(slot: tuple[str, Agreement]) -> tuple[bool, int, str]:
    """Singular first, by case, then by form."""
    form, agreement = slot
    return agreement.number != "sg", _CASES.index(agreement.case), form


def _endings(slots: Slots) -> tuple[str, ...]:
    """``ów/*.gen.pl,*.acc.pl``: each ending once, with all its cases and numbers."""
    endings: dict[str, list[str]] = {}
    for letters, where in slots:
        endings.setdefault(letters, []).append(".".join(where))
    return tuple(f"{letters}/{','.join(allowed)}" for letters, allowed in endings.items())


def _forms(noun: str, entry: _LexiconNoun) -> tuple[str, ...]:
    words = dict.fromkeys(form.replace(" ", "_") for form, _ in entry.slots)
    return tuple(word for word in words if word != noun.replace(" ", "_"))


def _unfilled(
    entries: Mapping[str, _LexiconNoun], occupations: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Occupations with a gender for which there is no noun."""
    kinds: dict[str, set[str]] = defaultdict(set)
    for entry in entries.values():
        for word in entry.english:
            kinds[word].add(entry.kind)
    for word in occupations:
        known = kinds.get(word, set())
        # A noun of both genders, or of an unknown one, may serve for both.
        if not known - {"m", "f"}:
            yield from ((word, gender) for gender in ("m", "f") if gender not in known)


# The project

_PACKAGE = "mtbias.new_language"


@frozen
class Draft:
    """A language's plugin as it is drafted."""

    code: str
    name: str
    """The language's name in English."""
    lexica: tuple[Lexicon, ...] = ()
    prospects: tuple[str, ...] = ()
    """Lines on other plugins for the language and on Stanza's models."""

    @property
    def package(self) -> str:
        """The name of its package: ``mtbias_upper_sorbian``."""
        return f"mtbias_{re.sub('[ -]', '_', self.name.lower())}"


def check_draft(code: str, name: str | None, out: Path | None) -> tuple[str, Path]:
    """Check the user's choices before anything is read; returns the language's name, by default
    Stanza's, and the folder, by default ``mtbias-NAME``.

    Raises:
        UsageError: `code` is not a language code (`is_language_code`).
        SettingError: `name` cannot be a package's; `out` is not empty.
    """
    if not is_language_code(code):
        raise UsageError(
            "CODE: expected one of ISO 639-1, such as pl, or, where that has none, one of ISO 639-3"
            f" that Stanza knows; got {code!r}"
        )
    if name is None:
        from stanza.models.common.constant import lcode2lang

        name = lcode2lang.get(code, "").replace("_", " ")
    if not re.fullmatch(r"[A-Za-z]+(?:[ -][A-Za-z]+)*", name):
        raise SettingError(
            "name", f"expected the language's English name, such as Polish; got {name!r}"
        )
    if out is None:
        out = Path(f"mtbias-{name.lower().replace(' ', '-')}")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SettingError(
            "out", f"expected a folder that is empty or not there yet; {out} has something in it"
        )
    return name, out


def write_draft(draft: Draft, out: Path) -> DraftNouns:
    """Write the project into the folder `out`; returns the content of its table of nouns.

    Raises:
        RunFolderError: the folder cannot be written.
    """
    nouns = draft_nouns(draft.lexica, occupations())
    for place, text in _files(draft, nouns):
        path = out / place
        with explained(path, "write"):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, text.encode())
    return nouns


def _files(draft: Draft, nouns: DraftNouns) -> Iterator[tuple[str, str]]:
    """The files with their places."""
    package, code = draft.package, draft.code
    from stanza.models.common.constant import is_right_to_left

    related = get_language(relatives(code)[0])
    view = {
        "code": code,
        "name": draft.name,
        "package": package,
        "distribution": package.replace("_", "-"),
        "constant": package.removeprefix("mtbias_").upper(),
        "direction": "rtl" if is_right_to_left(code) else "ltr",
        "prospects": draft.prospects,
        "lexica": draft.lexica,
        "nouns": nouns,
        "winomt": occupations(winomt=True),
        "related": related,
        "hints": _hints(related, [word for word, _ in nouns.unfilled]),
        "CHECK": CHECK,
        "FILL": FILL,
    }
    places = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        f"{package}/__init__.py": "package.py",
        f"{package}/data/{code}.toml": "rules.toml",
        f"{package}/data/{code}_nouns.tsv": "nouns.tsv",
        "tests/test_contract.py": "test_contract.py",
    }
    for place, template in places.items():
        yield place, _environment().get_template(f"{template}.jinja").render(**view)
    yield f"challenge/{code}.tsv", _challenge(code)


_FAMILIES = (
    "hsb dsb pl sk cs uk be ru bg mk sr hr sl",
    "pt gl es ca oc fr it ro la",
    "en fy nl af de lb sv da nb nn no is",
    "mt ar he am",
)
"""Codes of related languages, neighbours beside each other."""
_PLACES: dict[str, int] = {}
for _n, _family in enumerate(_FAMILIES):
    _PLACES |= {code: 100 * _n + place for place, code in enumerate(_family.split())}


def relatives(code: str) -> list[str]:
    """The languages of the policy's sentences but `code` itself, those nearest to it first; Spanish
    where none is.
    """
    here = _PLACES.get(code, _PLACES["es"])
    return sorted({*_policy()["language"]} - {code}, key=lambda other: abs(_PLACES[other] - here))


@cache
def _policy() -> pd.DataFrame:
    text = resources.files(_PACKAGE).joinpath("policy_sentences.tsv").read_text(encoding="utf-8")
    return pd.read_csv(StringIO(text), sep="\t", quoting=csv.QUOTE_NONE)


def _challenge(code: str) -> str:
    """The sentences to translate, one for each kind and evidence; beside each that of the nearest
    language.
    """
    near = {other: place for place, other in enumerate(relatives(code))}
    rows = _policy().assign(near=_policy()["language"].map(near)).dropna()
    rows = rows.sort_values("near", kind="stable")
    rows = rows.drop_duplicates(["kind", "evidence"]).sort_index()
    rows = rows.assign(example=rows["language"] + ": " + rows["target"], target="")
    columns = ["kind", "evidence", "call", "source", "target", "example"]
    return rows.to_csv(None, sep="\t", columns=columns, index=False, quoting=csv.QUOTE_NONE)


def _hints(language: Language, words: Iterable[str]) -> dict[str, str]:
    """The translations of `words` into `language`: the first noun for men and the first for women
    in its table.
    """
    translations = KnownTranslations(language)
    order = {form: place for place, form in enumerate(language.nouns)}
    hints = {}
    for word in dict.fromkeys(words):
        first: dict[bool, str] = {}
        for form in sorted(translations.forms(word) & order.keys(), key=order.__getitem__):
            for noun in language.nouns[form]:
                if noun.kind.is_personal:
                    first.setdefault(noun.kind is NounKind.FEMININE, noun.lemma)
        hints[word] = ", ".join(first[woman] for woman in sorted(first))
    return hints


def _shown(table: Mapping[str, object] | Iterable[tuple[str, object]]) -> str:
    """The first two entries of a related language's table, as comments of TOML."""
    entries = list(dict(table).items())[:2]
    lines = [f"# {_quoted(key)} = {_quoted(_value_text(value))}" for key, value in entries]
    return "\n".join(lines) or "# none"


def _value_text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or "-"
    if isinstance(value, Agreement):
        return ".".join(value)
    return " ".join(sorted(map(_value_text, cast(Iterable[object], value))))


def _quoted(text: str) -> str:
    """A string or key of TOML, which may be written as JSON's."""
    return json.dumps(text, ensure_ascii=False)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(  # noqa: S701 - the files are not HTML
        loader=PackageLoader(_PACKAGE),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["quoted"] = _quoted
    environment.filters["shown"] = _shown
    return environment
