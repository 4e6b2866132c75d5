"""Reading of lexica for a draft: a UniMorph table, a UD treebank in CoNLL-U, or a list with a header.

Files are read line by line, twice: first which nouns there are and of which gender, then the forms of those that are
wanted. In memory there are citation forms, so that a lexicon of millions of lines is no matter.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from mtbias.errors import DataError
from mtbias.files.reading import unreadable
from mtbias.files.special_files import open_input
from mtbias.language.grammar import Agreement

LIST_COLUMNS = ("english", "noun", "masculine", "feminine")
_UNIMORPH_TAGS = {
    "MASC": "m", "FEM": "f", "NEUT": "n", "SG": "sg", "PL": "pl", "NOM": "nom", "GEN": "gen", "DAT": "dat",
    "ACC": "acc", "INS": "ins", "ESS": "loc", "IN+ESS": "loc", "LOC": "loc", "VOC": "voc",
}  # fmt: skip
"""UniMorph's features; its locative of the Slavic languages is an essive."""
_UD_TAGS = {
    "Masc": "m", "Fem": "f", "Neut": "n", "Sing": "sg", "Plur": "pl", "Nom": "nom", "Gen": "gen", "Dat": "dat",
    "Acc": "acc", "Ins": "ins", "Loc": "loc", "Voc": "voc",
}  # fmt: skip
_FEATURES = re.compile(r"[A-Z0-9][A-Z0-9+./{}_-]*(?:;[A-Za-z0-9+./{}_-]+)*")


class LexiconFormat(StrEnum):
    """The formats that a lexicon may have."""

    UNIMORPH = "UniMorph table"
    CONLLU = "CoNLL-U treebank"
    LIST = "list"


class LexiconForm(NamedTuple):
    """A form of a noun or determiner as a lexicon has it; a value that it does not say is ``*``."""

    lemma: str
    form: str
    agreement: Agreement


class ListRow(NamedTuple):
    """A noun of a list."""

    english: str
    """Empty where the list has no English."""
    noun: str
    gender: str
    """``m``, ``f`` or ``common`` where the columns say so, else empty."""


@dataclass(frozen=True)
class Lexicon:
    """What one file says, but for the forms of its nouns (`Lexicon.forms`)."""

    path: Path
    format: LexiconFormat
    citations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Lemma → gender → citation form of that gender; of a treebank, whose lemmas are often masculine (*professora* of
    *professor*), that of a woman is a word of its own here."""
    determiners: Mapping[str, Mapping[Agreement, int]] = field(default_factory=dict)
    """Determiners and contractions with one, of a treebank: what each agrees with, and how often."""
    rows: tuple[ListRow, ...] = ()
    """Those of a list."""

    def forms(self, lemmas: Collection[str]) -> Iterator[LexiconForm]:
        """The forms of the nouns with one of `lemmas`, in the order of the file."""
        if self.format is not LexiconFormat.LIST:
            read = _unimorph_nouns if self.format is LexiconFormat.UNIMORPH else _treebank_nouns
            yield from (found for found in read(self.path) if found.lemma in lemmas)


def read_lexicon(path: Path) -> Lexicon:
    """Read the lexicon at `path`, in the format that its first line has.

    Raises:
        DataError: there is no such file, it is not UTF-8, or it has none of the formats; with the line.
    """
    first = next(((n, line) for n, line in _lines(path) if line.strip() and not line.startswith("#")), None)
    if first is None:
        raise DataError("the lexicon is empty", path=path, line=1)
    number, cells = first[0], [cell.strip() for cell in first[1].split("\t")]
    if len(cells) == 10:
        determiners: dict[str, Counter[Agreement]] = defaultdict(Counter)

        def count(form: str, agreement: Agreement) -> None:
            determiners[form][agreement] += 1

        citations = _citations(_treebank_nouns(path, count))
        return Lexicon(path, LexiconFormat.CONLLU, citations, determiners)
    if len(cells) in (3, 4) and _FEATURES.fullmatch(cells[2]):
        return Lexicon(path, LexiconFormat.UNIMORPH, _citations(_unimorph_nouns(path)))
    if len(cells) >= 2 and set(cells) <= set(LIST_COLUMNS) and {"noun", "masculine", "feminine"} & set(cells):
        return Lexicon(path, LexiconFormat.LIST, rows=tuple(_list_rows(path, cells, number)))
    raise DataError(
        "expected a UniMorph table (lemma, form, features such as N;MASC;SG), CoNLL-U (10 columns), or a list whose "
        f"first line names columns of {', '.join(LIST_COLUMNS)}, all tab-separated; got {len(cells)} columns",
        path=path,
        line=number,
    )


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines without their ends, each with its 1-based number, read as they are asked for.

    Raises:
        DataError: there is no such file, or it cannot be read; a line is not UTF-8.
    """
    try:
        with open_input(path) as file:
            for number, line in enumerate(file, 1):
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(f"expected UTF-8: {error.reason}; save the file as UTF-8", path=path, line=number) from None
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error


def _citations(forms: Iterator[LexiconForm]) -> dict[str, dict[str, str]]:
    """`Lexicon.citations` of the forms: of each gender the singular, in the nominative."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for lemma, form, (gender, case, number) in forms:
        if gender != "*" and number in ("sg", "*") and case in ("nom", "*"):
            # The lemma where it is one of the spellings.
            found[lemma][gender] = lemma if form == lemma else found[lemma].get(gender, form)
        elif gender == "m":
            found[lemma].setdefault("m", lemma)  # lemmas are masculine where a word has two genders
    return found


def _agreement(features: Collection[str], tags: Mapping[str, str]) -> Iterator[Agreement]:
    """Every gender, case and number that `features` allow, each ``*`` where they do not say."""
    said = {tags[name] for name in features if name in tags}
    genders = sorted(said & {"m", "f", "n"}) or ["*"]
    cases = sorted(said - {"m", "f", "n", "sg", "pl"}) or ["*"]
    numbers = sorted(said & {"sg", "pl"}) or ["*"]
    return (Agreement(g, c, n) for g in genders for c in cases for n in numbers)


def _unimorph_nouns(path: Path) -> Iterator[LexiconForm]:
    for number, line in _lines(path):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) not in (3, 4):
            raise DataError(f"expected lemma, form, features; got {len(cells)} columns", path=path, line=number)
        lemma, form, features = (cell.strip() for cell in cells[:3])
        names = features.split(";")
        if names[0] != "N" or "DU" in names or not lemma or not form:
            continue
        named = {one for name in names for one in name.strip("{}").split("/")}
        yield from (LexiconForm(lemma, form, each) for each in _agreement(named, _UNIMORPH_TAGS))


def _treebank_nouns(path: Path, count: Callable[[str, Agreement], None] | None = None) -> Iterator[LexiconForm]:
    """The nouns in the order of the text; `count` is told of each determiner and of each contraction with one."""
    whole, last = "", 0  # the token that was written in one, and its last word
    for number, line in _lines(path):
        if not line.strip() or line.startswith("#"):
            whole, last = "", 0
            continue
        cells = line.split("\t")
        if len(cells) != 10:
            raise DataError(f"expected the 10 columns of CoNLL-U, got {len(cells)}", path=path, line=number)
        place, form, lemma, upos = cells[0], cells[1].lower(), cells[2].lower(), cells[3]
        if "-" in place:
            end = place.partition("-")[2]
            if not end.isdecimal():
                message = f"expected words such as 3-4 in the first column, got {place!r}"
                raise DataError(message, path=path, line=number)
            whole, last = form, int(end)
        if not place.isdecimal():  # a token of several words, or a word that is not in the text
            continue
        features = dict(feature.partition("=")[::2] for feature in cells[5].split("|"))
        allowed = [v for name in ("Gender", "Case", "Number") for v in features.get(name, "").split(",")]
        if upos == "DET" and "Gender" in features and count is not None:
            for agreement in _agreement(allowed, _UD_TAGS):
                count(whole if whole and int(place) <= last else form, agreement)
        elif upos == "NOUN" and "_" not in (form, lemma):
            yield from (LexiconForm(lemma, form, each) for each in _agreement(allowed, _UD_TAGS))


def _list_rows(path: Path, columns: list[str], header: int) -> Iterator[ListRow]:
    for number, line in _lines(path):
        if number <= header or not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != len(columns):
            raise DataError(
                f"expected {len(columns)} columns, as in the header, got {len(cells)}", path=path, line=number
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
        else:
            yield from (ListRow(english, noun, gender) for noun, gender in ((man, "m"), (woman, "f")) if noun)
