"""The files of a draft: a project that can be installed, with every question that its data must answer."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from mtbias.entry_points import installed
from mtbias.errors import DataError, SettingError, UsageError
from mtbias.files.reading import commented_rows, input_bytes
from mtbias.files.strict_json import load_json
from mtbias.files.writing import explained, write_atomic
from mtbias.language.installed import GROUP, is_language_code
from mtbias.morphology.stanza_models import PROCESSORS
from mtbias.new_language.lexica import Lexicon
from mtbias.new_language.noun_draft import CHECK, FILL, DraftNouns, draft_nouns
from mtbias.new_language.policy_rows import occupations

if TYPE_CHECKING:
    from jinja2 import Environment

_FOR = {"tokenize": "words", "mwt": "contractions are split", "pos": "parts of speech and gender"}


def prospects(code: str, stanza: Path) -> tuple[str, ...]:
    """What is to be said, a line each: who registers the language already, and which models Stanza has in the folder
    `stanza`.

    Raises:
        DataError: Stanza's index there is damaged.
    """
    there = installed(GROUP).get(code, ())
    twice = [f"{' and '.join(there)} registers {code} already: two plugins for one code are refused"] if there else []
    return (*twice, _stanza_line(code, stanza))


def _stanza_line(code: str, folder: Path) -> str:
    index = folder / "resources.json"
    try:
        listed = load_json(input_bytes(index))
        entry = listed.get(code, {})
        entry = listed.get(entry["alias"], {}) if "alias" in entry else entry
        default = entry.get("packages", {}).get("default") or entry.get("default_processors", {})
    except (FileNotFoundError, NotADirectoryError):
        return (
            "Stanza: not known: the folder of its models has no index of them; once the draft is installed, "
            f"`mtbias fetch --lang {code}` gets both"
        )
    except (ValueError, AttributeError, TypeError) as error:
        message = f"not Stanza's index of resources ({error}): delete it, then fetch the models of any language"
        raise DataError(message, path=index) from None
    if not default:
        return f"Stanza: the index of models (resources.json) has no {code}; without models nothing can be scored"
    lacking = [f"no {name} ({_FOR[name]})" for name in PROCESSORS if name not in default]
    has = ", ".join(f"{name} {default[name]}" for name in PROCESSORS if name in default)
    return f"Stanza: {has}{'; ' + ', '.join(lacking) if lacking else ''}"


_PACKAGE = "mtbias.new_language"


@dataclass(frozen=True, slots=True)
class Draft:
    """A language's plugin as it is drafted."""

    code: str
    name: str
    """In English."""
    lexica: tuple[Lexicon, ...] = ()
    prospects: tuple[str, ...] = ()
    """What Stanza knows of the language, a line each."""

    @property
    def package(self) -> str:
        """The name of its package: ``mtbias_upper_sorbian``."""
        return f"mtbias_{re.sub('[ -]', '_', self.name.lower())}"

    def nouns(self) -> DraftNouns:
        """What its lexica give for the table of nouns."""
        return draft_nouns(self.lexica, occupations())


def check_draft(code: str, name: str, out: Path) -> None:
    """Check what the user named, before anything is read.

    Raises:
        UsageError: `code` is none of `is_language_code`.
        SettingError: `name` can be no package's; `out` has something in it.
    """
    if not is_language_code(code):
        raise UsageError(
            "CODE: expected one of ISO 639-1, such as pl, or, where that has none, one of ISO 639-3 that Stanza knows; "
            f"got {code!r}"
        )
    if not re.fullmatch(r"[A-Za-z]+(?:[ -][A-Za-z]+)*", name):
        raise SettingError("name", f"expected the language's English name, such as Polish; got {name!r}")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SettingError("out", f"expected a folder that is empty or not there yet; {out} has something in it")


def write_draft(draft: Draft, out: Path) -> DraftNouns:
    """Write the project into the folder `out`; gives what its table of nouns holds.

    Raises:
        RunFolderError: the folder cannot be written.
    """
    nouns = draft.nouns()
    for place, text in _files(draft, nouns):
        path = out / place
        with explained(path, "write"):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, text.encode())
    return nouns


def _files(draft: Draft, nouns: DraftNouns) -> Iterator[tuple[str, str]]:
    """The files with their places."""
    package, code = draft.package, draft.code
    view = {
        "code": code,
        "name": draft.name,
        "package": package,
        "distribution": package.replace("_", "-"),
        "constant": package.removeprefix("mtbias_").upper(),
        "direction": _direction(nouns),
        "prospects": draft.prospects,
        "lexica": draft.lexica,
        "nouns": nouns,
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
    yield f"challenge/{code}.tsv", "".join(f"{line}\n" for line in _challenge())


def _challenge() -> Iterator[str]:
    """The sentences to translate; the example in another language is beside them."""
    yield "kind\tevidence\tcall\tsource\ttarget\texample"
    text = resources.files(_PACKAGE).joinpath("challenge_sentences.tsv").read_text(encoding="utf-8")
    for row in commented_rows(text):
        yield "\t".join((row["kind"], row["evidence"], row["call"], row["source"], "", row["example"]))


def _direction(nouns: DraftNouns) -> str:
    """How the nouns of the draft are written; ``ltr`` where there are none."""
    first = next((noun.noun for noun in nouns.nouns if noun.noun), "a")
    return "rtl" if unicodedata.bidirectional(first[0]) in ("R", "AL") else "ltr"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(  # noqa: S701 - the files are no HTML
        loader=PackageLoader(_PACKAGE),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # Strings and keys of TOML may be written as JSON's.
    environment.filters["quoted"] = lambda text: json.dumps(text, ensure_ascii=False)
    return environment
