"""Gender-swapped copies of documents: first names with their counterparts, and CoNLL-2012 files with copies.

First names have a gender and a vector of frequencies. The list that comes with mtbias, ``names.tsv``, is an example:
common names, with our own coarse judgement (0 unknown, 1 rare, 2 usual, 3 very usual) of how usual each is in six
groups of languages, not counts. A list of real frequencies is an argument.

Two kinds of copies differ in what happens to first names: *anonymised* gives each an id (E1, E2, …), the same
throughout the file; *names* gives each its counterpart of the other gender. Only the word column and the document's
name change, so tags, parses and clusters stay as they are.

Source: the two kinds compared by Xie, Kocijan, Lukasiewicz and Camburu, *Counter-GAP* (EACL 2023), section 6, after
Zhao et al. (2018) and Hall Maudslay et al. (2019).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from itertools import chain, groupby
from pathlib import Path
from typing import Literal

import numpy as np

from mtbias.coref.conll import WORD, read_conll
from mtbias.english.gender_swap import match_case, swap_words
from mtbias.errors import DataError
from mtbias.files.reading import parse_table, read_text, split_lines
from mtbias.stats.results import Floats
from mtbias.types import Gender

EXAMPLE_NAMES = Path(str(resources.files("mtbias.coref"))) / "names.tsv"
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


@dataclass(frozen=True, slots=True)
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

    @cached_property
    def _frequent(self) -> dict[Gender, list[Name]]:
        """The names given to one gender only, the most frequent first."""
        sure = [name for name in self.names if name.group == "sure"]
        return {gender: by_frequency(sure, gender) for gender in GENDERS}

    def like(self, name: str, gender: Gender, taken: str) -> str | None:
        """A name of `gender` for a person now called `name`, which does not occur in the text `taken`.

        The counterpart of the name's first word if it has one and is free, else the most frequent free name; None
        where all are taken.
        """
        first = self.counterparts.get(name.split(maxsplit=1)[0], "") if name.strip() else ""
        candidates = chain([first], (frequent.text for frequent in self._frequent[gender]))
        return next((c for c in candidates if self.gender.get(c) is gender and c not in taken), None)


def read_names(path: Path) -> NameList:
    """Read a table (TSV or CSV) with the columns name, gender, and one or more columns of frequencies.

    gender is male, female, mostly_male or mostly_female; frequencies are numbers of 0 or more, on any scale, such as
    one column a country.

    Raises:
        DataError: a column is missing; an unknown gender; a name twice; a frequency that is no number of 0 or more.
    """
    table = parse_table(read_text(path))
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


TAG = 4
"""The column of the part-of-speech tag."""
NAME_TAGS = frozenset({"NNP", "NNPS"})
_UNTAGGED = frozenset({"-", "_", "*"})
_COLUMN = re.compile(r"\S+")
_BEGIN = re.compile(r"(\s*#\s*begin document\s+\()(.*)(\);.*)")


Kind = Literal["anonymised", "names"]
"""What becomes of a first name: an id (E1, E2, … in the order in which names first occur in the file), or its
counterpart of the other gender."""

COUNTED = (
    "documents",
    "sentences",
    "tokens",
    "gendered words swapped",
    "first names replaced",
    "first names without counterpart",
    "her, his by tag",
    "her, his by the words around",
    "of these ambiguous",
)
"""What is counted in the copies. *her* and *his* have the tag PRP or PRP$, or none and the words around decide; where
both readings are usual, that is a guess. First names without counterpart are of the kind *names* only."""


@dataclass(frozen=True, slots=True)
class Augmented:
    """The copies as lines of CoNLL, and what was done."""

    lines: tuple[str, ...]
    original: tuple[str, ...]
    """The lines of the file itself."""
    sha256: str
    counts: Mapping[str, int]
    """By `COUNTED`."""
    ambiguous: tuple[str, ...]
    """*her* and *his* whose reading is a guess: document, and the words around."""


def augment(
    path: Path, kind: Kind, names: Collection[str], counterparts: Mapping[str, str], *, suffix: str = "_a"
) -> Augmented:
    """Make the gender-swapped copy of each document of the CoNLL-2012 file at `path`.

    A word is a first name where it is one of `names` (in this spelling) and its tag is NNP or NNPS, or where the file
    has no tag for it and it has a capital. The kind *names* alone needs `counterparts` (`match_names`). The white space
    between columns stays as it is; `suffix` stands behind the name of each copy, so that ids differ.

    Raises:
        DataError: what `read_conll` raises; with the suffix a document has the name of one in the file.
    """
    parsed = read_conll(path)
    ids = {document.name for document in parsed.documents}
    clash = sorted(name + suffix for name in ids if name + suffix in ids)
    if clash:
        message = f"the copy would be named {clash[0]!r}, as a document is already; give another suffix"
        raise DataError(message, path=path)
    lines = split_lines(parsed.file.text)
    work = _Work(kind, names, counterparts)
    out: list[str] = []
    document = ""
    for is_sentence, part in groupby(lines, lambda line: bool(line.strip()) and not line.lstrip().startswith("#")):
        if is_sentence:
            out += work.sentence(list(part), document, suffix)
            continue
        for line in part:
            header = _BEGIN.fullmatch(line)
            document = header[2] if header else document
            out.append(f"{header[1]}{document}{suffix}{header[3]}" if header else line)
    work.total.update({"documents": len(parsed.documents), "of these ambiguous": len(work.ambiguous)})
    counts = {name: work.total[name] for name in COUNTED}
    return Augmented(tuple(out), tuple(lines), parsed.file.sha256, counts, tuple(work.ambiguous))


class _Work:
    """The file's running totals, and the ids that names have got."""

    def __init__(self, kind: Kind, names: Collection[str], counterparts: Mapping[str, str]) -> None:
        self.kind = kind
        self.names = names
        self.counterparts = counterparts
        self.ids: dict[str, str] = {}
        self.total: Counter[str] = Counter()
        self.ambiguous: list[str] = []

    def sentence(self, lines: list[str], document: str, suffix: str) -> Iterator[str]:
        """The lines of a sentence with their words replaced."""
        columns = [list(_COLUMN.finditer(line)) for line in lines]
        words = [row[WORD][0] for row in columns]
        tags = [row[TAG][0] if len(row) > TAG + 1 else "-" for row in columns]
        self.total["sentences"] += 1
        self.total["tokens"] += len(words)
        are_names = {n for n, (word, tag) in enumerate(zip(words, tags, strict=True)) if self._is_name(word, tag)}
        new = {n: self._name(words[n]) for n in sorted(are_names)}
        for swap in swap_words(words, tags=tags, fixed=are_names):
            new[swap.index] = swap.new
            self.total["gendered words swapped"] += 1
            if swap.old.lower() in {"her", "his"}:
                by = "tag" if tags[swap.index] in {"PRP", "PRP$"} else "the words around"
                self.total[f"her, his by {by}"] += 1
            if swap.ambiguous:
                around = words[max(0, swap.index - 3) : swap.index + 4]
                self.ambiguous.append(f"{document}: {' '.join(around)}")
        for n, (line, row) in enumerate(zip(lines, columns, strict=True)):
            first, word = row[0], row[WORD]
            head = f"{line[: first.end()]}{suffix}{line[first.end() : word.start()]}"
            yield f"{head}{new.get(n, word[0])}{line[word.end() :]}"

    def _is_name(self, word: str, tag: str) -> bool:
        return word in self.names and (tag in NAME_TAGS or (tag in _UNTAGGED and word[:1].isupper()))

    def _name(self, word: str) -> str:
        if self.kind == "names" and word not in self.counterparts:
            self.total["first names without counterpart"] += 1
            return word
        self.total["first names replaced"] += 1
        if self.kind == "names":
            return match_case(self.counterparts[word], word)
        return self.ids.setdefault(word, f"E{len(self.ids) + 1}")
