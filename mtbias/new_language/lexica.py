"""Reading of lexica for a draft: a UniMorph table, or a list with a header.

Files are read line by line, twice: first the nouns and their genders, then the forms of those that
the draft needs. Only citation forms are held in memory, so that a lexicon may have millions of
lines.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple

from mtbias.corpora.catalog import cached_file, fetched_source, tables
from mtbias.errors import DataError, SettingError
from mtbias.files.reading import open_input, unreadable
from mtbias.language.grammar import Agreement
from mtbias.types import frozen

LIST_COLUMNS = ("english", "noun", "masculine", "feminine")
_TAGS = {
    "MASC": "m",
    "FEM": "f",
    "NEUT": "n",
    "SG": "sg",
    "PL": "pl",
    "NOM": "nom",
    "GEN": "gen",
    "DAT": "dat",
    "ACC": "acc",
    "INS": "ins",
    "ESS": "loc",
    "IN+ESS": "loc",
    "LOC": "loc",
    "VOC": "voc",
}
"""UniMorph's features; its locative of the Slavic languages is an essive."""
_FEATURES = re.compile(r"[A-Z0-9][A-Z0-9+./{}_-]*(?:;[A-Za-z0-9+./{}_-]+)*")


class LexiconForm(NamedTuple):
    """A form of a noun or determiner in a lexicon; a value that is not given there is ``*``."""

    lemma: str
    form: str
    agreement: Agreement


class ListRow(NamedTuple):
    """A noun of a list."""

    english: str
    """Empty where the list has no English."""
    noun: str
    gender: str
    """``m``, ``f`` or ``common`` by the column; empty in the column ``noun``."""


@frozen
class Lexicon:
    """The content of one file but for the forms of its nouns (`Lexicon.forms`)."""

    path: Path
    format: str
    """``UniMorph table`` or ``list``."""
    citations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Lemma → gender → citation form of that gender."""
    rows: tuple[ListRow, ...] = ()
    """The rows of a list."""

    def forms(self, lemmas: Collection[str]) -> Iterator[LexiconForm]:
        """The forms of the nouns with one of `lemmas`, in the order of the file."""
        forms = iter(()) if self.format == "list" else _nouns(self.path)
        return (form for form in forms if form.lemma in lemmas)


def read_lexicon(path: Path) -> Lexicon:
    """Read the lexicon at `path`, in the format that its first line shows.

    Raises:
        DataError: there is no such file, it is not UTF-8, or it is in none of the formats; with the
            line.
    """
    filled = (item for item in _lines(path) if item[1].strip() and not item[1].startswith("#"))
    first = next(filled, None)
    if first is None:
        raise DataError("the lexicon is empty", path=path, line=1)
    number, line = first
    cells = [cell.strip() for cell in line.split("\t")]
    if len(cells) in (3, 4) and _FEATURES.fullmatch(cells[2]):
        return Lexicon(path, "UniMorph table", _citations(_nouns(path)))
    noun_columns = {"noun", "masculine", "feminine"} & set(cells)
    if len(cells) >= 2 and set(cells) <= set(LIST_COLUMNS) and noun_columns:
        return Lexicon(path, "list", rows=tuple(_list_rows(path, cells, number)))
    raise DataError(
        "expected a UniMorph table (lemma, form, features such as N;MASC;SG), or a list whose first"
        f" line names columns of {', '.join(LIST_COLUMNS)}, tab-separated;"
        f" got {len(cells)} columns",
        path=path,
        line=number,
    )


UNIMORPH = "unimorph-"
"""Beginning of the names of UniMorph's tables in the catalog; the language's code follows."""


def unimorph_table(code: str, cache: Path | None) -> tuple[Path, str]:
    """The fetched table of UniMorph's for a language, and a line on where it comes from and its
    licence.

    Raises:
        SettingError: the catalog has none.
        MissingResourceError: it was not fetched; the message names the command.
    """
    known = [name.removeprefix(UNIMORPH) for name in tables() if name.startswith(UNIMORPH)]
    if code not in known:
        raise SettingError(
            "lexicon",
            f"expected a file, for UniMorph is known for {', '.join(known)} alone; got {code}",
        )
    source = fetched_source(UNIMORPH + code)
    line = f"UniMorph: {source.licence}, {source.home} at {source.commit[:7]}"
    return cached_file(source.name, cache), line


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines without their ends, each with its 1-based number, read one by one.

    Raises:
        DataError: there is no such file, or it cannot be read; a line is not UTF-8.
    """
    try:
        with open_input(path) as file:
            for number, line in enumerate(file, 1):
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(
            f"expected UTF-8: {error.reason}; save the file as UTF-8", path=path, line=number
        ) from None
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error


def _citations(forms: Iterator[LexiconForm]) -> dict[str, dict[str, str]]:
    """`Lexicon.citations` of the forms: of each gender the singular, in the nominative."""
    citations: dict[str, dict[str, str]] = defaultdict(dict)
    for lemma, form, (gender, case, number) in forms:
        if gender != "*" and number in ("sg", "*") and case in ("nom", "*"):
            # The lemma where it is one of the spellings.
            by_gender = citations[lemma]
            by_gender[gender] = lemma if form == lemma else by_gender.get(gender, form)
        elif gender == "m":  # lemmas are masculine where a word has two genders
            citations[lemma].setdefault("m", lemma)
    return citations


def _nouns(path: Path) -> Iterator[LexiconForm]:
    """The forms of a UniMorph table, with every gender, case and number that its features allow."""
    for number, line in _lines(path):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) not in (3, 4):
            raise DataError(
                f"expected lemma, form, features; got {len(cells)} columns", path=path, line=number
            )
        lemma, form, features = (cell.strip() for cell in cells[:3])
        names = features.split(";")
        if names[0] != "N" or "DU" in names or not lemma or not form:
            continue
        alternatives = chain.from_iterable(name.strip("{}").split("/") for name in names)
        values = {_TAGS[name] for name in alternatives if name in _TAGS}
        genders = sorted(values & {"m", "f", "n"}) or ["*"]
        cases = sorted(values - {"m", "f", "n", "sg", "pl"}) or ["*"]
        numbers = sorted(values & {"sg", "pl"}) or ["*"]
        for agreement in product(genders, cases, numbers):
            yield LexiconForm(lemma, form, Agreement(*agreement))


def _list_rows(path: Path, columns: list[str], header: int) -> Iterator[ListRow]:
    for number, line in _lines(path):
        if number <= header or not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != len(columns):
            raise DataError(
                f"expected {len(columns)} columns, as in the header, got {len(cells)}",
                path=path,
                line=number,
            )
        row = dict(zip(columns, cells, strict=True))
        english = row.get("english", "").lower()
        if not any(row.get(name) for name in ("noun", "masculine", "feminine")):
            raise DataError(f"expected a noun, got {line!r}", path=path, line=number)
        if row.get("noun"):
            yield ListRow(english, row["noun"], "")
        man, woman = row.get("masculine", ""), row.get("feminine", "")
        if man and man == woman:
            yield ListRow(english, man, "common")
            continue
        if man:
            yield ListRow(english, man, "m")
        if woman:
            yield ListRow(english, woman, "f")
