"""WinoBias's files: the eight sets, the occupations in their sentences, and rule systems to compare with.

A document of a CoNLL file is one sentence with one gold cluster: an occupation, then its pronoun or pronouns. The
number at the end of its name, plus 1, is its line in the text file; documents are not in that order in the file.
The occupations and their stereotypes are those of the two lists beside the files.

Source: Zhao et al., NAACL 2018 (N18-2003); github.com/uclanlp/corefBias.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal

from mtbias.coref.conll import Clusters, ConllDocument, Mention, read_conll, repeated
from mtbias.coref.pro_anti import CONDITIONS
from mtbias.english.pronouns import GENDER_OF_PRONOUN
from mtbias.errors import DataError
from mtbias.files.reading import read_text, split_lines
from mtbias.types import Gender, Stereotype

SPLITS = ("dev", "test")
TYPES = (1, 2)
_DETERMINERS = {"the", "a", "an"}


@dataclass(frozen=True, slots=True)
class Occupation:
    """An occupation in a sentence."""

    name: str
    stereotype: Gender
    mention: Mention
    """With the article before it."""

    @property
    def head(self) -> int:
        """Its last word."""
        return self.mention[1]


@dataclass(frozen=True, slots=True)
class WinoBiasDocument:
    """One sentence."""

    id: str
    line: int
    """1-based line in the text file: 1 more than the number at the end of its id. Counterparts share it."""
    words: tuple[str, ...]
    gold: Clusters
    occupations: tuple[Occupation, ...]
    """All of the sentence, in its order."""
    occupation: Occupation
    """The one in the gold cluster."""
    pronouns: tuple[int, ...]
    """The words that are pronouns of the gold cluster, one or more."""

    @property
    def gender(self) -> Gender:
        """Of the first pronoun."""
        return GENDER_OF_PRONOUN[self.words[self.pronouns[0]].lower()]

    @property
    def others(self) -> tuple[Occupation, ...]:
        """The occupations that the pronoun does not stand for."""
        return tuple(other for other in self.occupations if other.name != self.occupation.name)


SetKey = tuple[str, int, Stereotype]
"""Split, type and condition: one of the eight files."""


@dataclass(frozen=True, slots=True)
class WinoBias:
    """The sets that were found, each in the order of its text file, and the SHA-256 of the files read, by name."""

    sets: Mapping[SetKey, tuple[WinoBiasDocument, ...]]
    files: Mapping[str, str]

    @property
    def documents(self) -> dict[str, WinoBiasDocument]:
        """All documents by id."""
        return {document.id: document for documents in self.sets.values() for document in documents}


def read_winobias(folder: Path) -> WinoBias:
    """Read the CoNLL files in `folder` (or in ``conll_format`` inside it) and the two lists of occupations.

    Of the eight ``{dev,test}_type{1,2}_{pro,anti}_stereotype.v4_auto_conll`` those that are there.

    Raises:
        DataError: none of the files, or no lists; what `read_conll` raises; a document without exactly one cluster, one
            occupation and a pronoun in it; ids that do not end in a number, or are in two files.
    """
    files: dict[str, str] = {}
    occupations: dict[tuple[str, ...], Gender] = {}
    for gender in (Gender.MALE, Gender.FEMALE):
        text = read_text(folder / f"{gender}_occupations.txt")
        files[text.path.name] = text.sha256
        occupations |= {tuple(line.lower().split()): gender for line in split_lines(text.text) if line.strip()}
    sets: dict[SetKey, tuple[WinoBiasDocument, ...]] = {}
    seen: dict[str, Path] = {}
    for split, type_, condition in product(SPLITS, TYPES, CONDITIONS):
        name = f"{split}_type{type_}_{condition}_stereotype.v4_auto_conll"
        path = next((path for path in (folder / name, folder / "conll_format" / name) if path.is_file()), None)
        if path is None:
            continue
        conll = read_conll(path)
        files[name] = conll.file.sha256
        for document in conll.documents:
            if document.id in seen:
                message = f"document {document.id!r} is in {seen[document.id].name} already"
                raise DataError(message, path=path, line=document.line)
            seen[document.id] = path
        documents = (_document(document, occupations, path) for document in conll.documents)
        sets[split, type_, condition] = tuple(sorted(documents, key=lambda document: document.line))
    if not sets:
        raise DataError(
            "expected files such as dev_type1_pro_stereotype.v4_auto_conll in this folder, got none", path=folder
        )
    return WinoBias(sets, files)


def _document(conll: ConllDocument, occupations: Mapping[tuple[str, ...], Gender], path: Path) -> WinoBiasDocument:
    def error(message: str) -> DataError:
        return DataError(f"document {conll.id!r}: {message}", path=path, line=conll.line)

    words, end = conll.words, conll.name.rpartition("/")[2]
    found = _occupations(words, occupations)
    if len(conll.clusters) != 1 or repeated(conll.clusters):
        raise error(f"expected one cluster, of different mentions, got {len(conll.clusters)}")
    gold = conll.clusters[0]
    pronouns = sorted(at for at, last in gold if at == last and words[at].lower() in GENDER_OF_PRONOUN)
    named = [o for o in found if any(start <= o.head <= last for start, last in gold)]
    if len(named) != 1 or not pronouns:
        raise error("expected a cluster of one occupation and a pronoun, got another")
    if not (end.isascii() and end.isdigit()):
        raise error(f"expected a number at the end of its id, got {end!r}")
    return WinoBiasDocument(conll.id, int(end) + 1, words, conll.clusters, found, named[0], tuple(pronouns))


def _occupations(words: tuple[str, ...], known: Mapping[tuple[str, ...], Gender]) -> tuple[Occupation, ...]:
    lower = tuple(word.lower() for word in words)
    longest = max(map(len, known), default=0)
    found: list[Occupation] = []
    at = 0
    while at < len(lower):
        name = next((lower[at : at + n] for n in range(longest, 0, -1) if lower[at : at + n] in known), None)
        if name is None:
            at += 1
            continue
        start = at - 1 if at and lower[at - 1] in _DETERMINERS else at
        at += len(name)
        found.append(Occupation(" ".join(name), known[name], (start, at - 1)))
    return tuple(found)


Baseline = Literal["first", "nearest", "stereotype", "perfect", "empty", "wrong"]
"""Rule systems. The first three see the words and the lists of occupations only, the others the gold cluster.

First: all gendered pronouns with the first occupation. Nearest: with the last occupation before the first of them, the
first after it where there is none before. Stereotype: with the nearest occupation of the pronoun's gender by
stereotype, the nearest of any where there is none. Wrong: the gold pronouns with the first other occupation.
"""


def baseline(document: WinoBiasDocument, rule: Baseline) -> Clusters:
    """What the rule system `rule` answers."""
    if rule == "perfect":
        return document.gold
    if rule == "empty":
        return ()
    if rule == "wrong":
        gold = tuple((word, word) for word in document.pronouns)
        return ((document.others[0].mention, *gold),) if document.others else ()
    pronouns = [at for at, word in enumerate(document.words) if word.lower() in GENDER_OF_PRONOUN]
    chosen = list(document.occupations)
    if rule == "stereotype":
        gender = GENDER_OF_PRONOUN[document.words[pronouns[0]].lower()]
        chosen = [occupation for occupation in chosen if occupation.stereotype is gender] or chosen
    if rule != "first":
        chosen = [occupation for occupation in chosen if occupation.head < pronouns[0]][-1:] or chosen
    return ((chosen[0].mention, *((at, at) for at in pronouns)),)
