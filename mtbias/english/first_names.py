"""English first names with their gender, and each name's counterpart of the other gender.

A name has a vector of frequencies. The list that comes with mtbias, ``first_names.tsv``, is an example: common names,
with our own coarse judgement (0 unknown, 1 rare, 2 usual, 3 very usual) of how usual each is in six groups of
languages, not counts. A list of real frequencies is an argument.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mtbias.files.reading import TextFile, parse_table, read_text
from mtbias.types import Gender, frozen

Floats = NDArray[np.float64]

EXAMPLE_NAMES = Path(str(resources.files("mtbias.english"))) / "first_names.tsv"
"""The list that comes with mtbias."""

CLASSES = {
    "male": ("sure", Gender.MALE),
    "female": ("sure", Gender.FEMALE),
    "mostly_male": ("mostly", Gender.MALE),
    "mostly_female": ("mostly", Gender.FEMALE),
}
"""What the column ``gender`` may hold: the class within which names are matched, and the gender."""

GENDERS = (Gender.MALE, Gender.FEMALE)

MAX_NAMES = 2000
"""How many names of each gender are matched by default, the most frequent first."""

_ALPHA = 12 / 11
"""As the program published with Counter-GAP has it: above 1, so that names of like direction still differ in length."""


@frozen
class Name:
    """A first name."""

    text: str
    group: str
    """Names are matched within a group: sure ones with sure ones, those given mostly to one gender among themselves."""
    gender: Gender
    frequencies: tuple[float, ...]


@dataclass(frozen=True)
class NameList:
    """Names as they were read."""

    sha256: str
    names: tuple[Name, ...]

    @cached_property
    def gender(self) -> dict[str, Gender]:
        """The gender of each name."""
        return {name.text: name.gender for name in self.names}

    @cached_property
    def counterparts(self) -> dict[str, str]:
        """`match_names` of all."""
        return match_names(self.names)

    def like(self, name: str, gender: Gender, taken: str) -> str | None:
        """A name of `gender` for a person now called `name`, which does not occur in the text `taken`.

        The counterpart of the name's first word if it has one and is free, else the most frequent free name; None
        where all are taken.
        """
        first = self.counterparts.get(name.split(maxsplit=1)[0], "") if name.strip() else ""
        sure = (name for name in self.names if name.group == "sure")
        candidates = (first, *(frequent.text for frequent in by_frequency(sure, gender)))
        return next((c for c in candidates if self.gender.get(c) is gender and c not in taken), None)


def read_names(path: Path) -> NameList:
    """Read a table (TSV or CSV) with the columns name, gender, and one or more columns of frequencies.

    gender is male, female, mostly_male or mostly_female; frequencies are numbers of 0 or more, on any scale, such as
    one column a country. A file whose name ends in .txt has the format of gender-guesser's nam_dict.txt.

    Raises:
        DataError: a column is missing; an unknown gender; a name twice; a frequency that is no number of 0 or more.
    """
    file = read_text(path)
    if path.suffix == ".txt":
        return _of_gender_guesser(file)
    table = parse_table(file)
    table.require("name", "gender")
    columns = [column for column in table.columns if column not in {"name", "gender"}]
    if not columns:
        raise table.file.error("expected one or more columns of frequencies beside name and gender, got none", 1)
    names: dict[str, Name] = {}
    for record in table.records:
        text, gender = record.get("name"), record.get("gender").lower()
        if not text or gender not in CLASSES:
            raise record.error(f"expected a name and one of {', '.join(CLASSES)}, got {text!r} and {gender!r}")
        if text in names:
            raise record.error(f"the name {text!r} stands twice")
        names[text] = Name(text, *CLASSES[gender], tuple(record.number(column) for column in columns))
    return NameList(table.file.sha256, tuple(names.values()))


_KINDS = {"M": "male", "F": "female", "1M": "mostly_male", "?M": "mostly_male", "1F": "mostly_female",
          "?F": "mostly_female", "?": ""}  # fmt: skip
"""Kinds of gender-guesser's lines → `CLASSES`; nothing for a name of either gender."""
_COUNTRIES = slice(30, 85)
"""The columns of its lines with a frequency for each of 55 countries, a hexadecimal digit or a blank."""
_DIGITS = {" ": 0.0, **{f"{n:X}": float(n) for n in range(1, 14)}}


def _of_gender_guesser(file: TextFile) -> NameList:
    """The names of a file in gender-guesser's format, + in a name being nothing, a blank or a hyphen.

    Of several lines of a name, as its program has it, that counts which has frequencies in more countries, then the one
    with the larger ones.
    """
    best: dict[str, tuple[tuple[int, float], Name | None]] = {}
    for at, line in file.filled_lines():
        if line[0] in "#=":
            continue
        kind, spelt = (*line.split(maxsplit=2), "")[:2]
        try:
            frequencies = tuple(_DIGITS[digit] for digit in line[_COUNTRIES].ljust(55))
            kind = _KINDS[kind]
        except KeyError:
            message = f"expected a line of gender-guesser's nam_dict.txt, a kind ({', '.join(_KINDS)}), a name and"
            raise file.error(f"{message} frequencies from column 31 on, got {line!r}", at) from None
        rank = (sum(f > 0 for f in frequencies), sum(frequencies))
        for text in {spelt.replace("+", between) for between in ("", " ", "-")}:
            if rank > best.get(text, ((0, 0.0), None))[0]:
                best[text] = rank, Name(text, *CLASSES[kind], frequencies) if kind else None
    return NameList(file.sha256, tuple(name for _, name in best.values() if name))


def by_frequency(names: Iterable[Name], gender: Gender) -> list[Name]:
    """The names of `gender`, the most frequent first (sum of the vector; ties by spelling)."""
    return sorted((n for n in names if n.gender is gender), key=lambda n: (-sum(n.frequencies), n.text))


def distances(first: Floats, second: Floats) -> Floats:
    """How unlike two names' vectors of frequencies are: ``‖u − v‖ · (12/11 − cos(u, v))``, ``[m, n]``; 0 and more.

    The cosine of a vector of zeros is 0.

    Source: the program published with Counter-GAP (Xie et al., 2023).
    """
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    norms = [np.linalg.norm(vectors, axis=1) for vectors in (first, second)]
    product = first @ second.T
    scale = np.outer(*norms)
    cosine = np.divide(product, scale, out=np.zeros_like(product), where=scale > 0)
    squared = norms[0][:, None] ** 2 + norms[1][None, :] ** 2 - 2 * product
    return np.asarray(np.sqrt(np.maximum(squared, 0)) * (_ALPHA - cosine), dtype=np.float64)


def match_names(names: Iterable[Name], *, max_names: int = MAX_NAMES) -> dict[str, str]:
    """Each name's counterpart of the other gender: a one-to-one matching of least total distance, both ways.

    Within each group the `max_names` most frequent names of each gender take part (`by_frequency`); of the more
    numerous gender only as many as the other has. Names left over have no counterpart.

    Source: Xie et al. (2023), after Hall Maudslay et al. (2019); the assignment is solved exactly.
    """
    from scipy.optimize import linear_sum_assignment

    groups: dict[str, list[Name]] = {}
    for name in names:
        groups.setdefault(name.group, []).append(name)
    counterparts: dict[str, str] = {}
    for group in groups.values():
        males, females = (by_frequency(group, gender) for gender in GENDERS)
        size = min(len(males), len(females), max_names)
        if not size:
            continue
        vectors = [np.array([n.frequencies for n in side[:size]]) for side in (males, females)]
        for row, column in zip(*linear_sum_assignment(distances(*vectors)), strict=True):
            counterparts[males[row].text] = females[column].text
            counterparts[females[column].text] = males[row].text
    return counterparts
