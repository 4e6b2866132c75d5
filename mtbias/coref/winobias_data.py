"""WinoBias's files: sentences with two occupations and a pronoun of one of them.

A document of a CoNLL file is one sentence with one gold cluster: an occupation, then its pronoun or
pronouns. The number at the end of its name, plus 1, is its line in the text file; documents are not
in that order in the file. The occupations and their stereotypes are those of the two lists beside
the files.

Source: Zhao et al., NAACL 2018 (N18-2003); github.com/uclanlp/corefBias.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise, product
from pathlib import Path

from mtbias.coref.dataset import CONDITIONS
from mtbias.coref.documents import (
    Cluster,
    Clusters,
    ConllDocument,
    Mention,
    read_conll,
    repeated,
)
from mtbias.english.words import GENDER_OF_PRONOUN
from mtbias.errors import DataError
from mtbias.files.reading import read_text, split_lines
from mtbias.types import Gender, Stereotype, frozen

SPLITS = ("dev", "test")
TYPES = (1, 2)
_DETERMINERS = {"the", "a", "an"}


@frozen
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


@frozen
class WinoBiasDocument:
    """One sentence."""

    id: str
    line: int
    """1-based line in the text file: 1 more than the number at the end of its id. Counterparts
    share it."""
    words: tuple[str, ...]
    gold: Clusters
    occupations: tuple[Occupation, ...]
    """All of the sentence, in its order."""
    occupation: Occupation
    """The one in the gold cluster."""
    pronouns: tuple[int, ...]
    """The words that are pronouns of the gold cluster, one or more."""

    @property
    def others(self) -> tuple[Occupation, ...]:
        """The occupations that the pronoun does not refer to."""
        return tuple(other for other in self.occupations if other.name != self.occupation.name)


SetKey = tuple[str, int, Stereotype]
"""Split, type and condition: one of the eight files."""


@frozen
class WinoBiasFiles:
    """The files that there are."""

    sets: Mapping[SetKey, tuple[WinoBiasDocument, ...]]
    """Each in the order of its text file."""
    hashes: Mapping[str, str]
    """SHA-256 by the names of files, those of the lists of occupations first."""


def read_sets(folder: Path) -> WinoBiasFiles:
    """Read the CoNLL files in `folder` (or in ``conll_format`` inside it) and the two lists of
    occupations.

    Of the eight ``{dev,test}_type{1,2}_{pro,anti}_stereotype.v4_auto_conll`` those that are there.

    Raises:
        DataError: none of the files, or no lists; what `read_conll` raises; a document without
            exactly one cluster, one occupation and a pronoun in it; ids that do not end in a
            number, or are in two files.
    """
    hashes: dict[str, str] = {}
    occupations: dict[tuple[str, ...], Gender] = {}
    for gender in (Gender.MALE, Gender.FEMALE):
        text = read_text(folder / f"{gender}_occupations.txt")
        hashes[text.path.name] = text.sha256
        occupations |= {
            tuple(line.lower().split()): gender for line in split_lines(text.text) if line.strip()
        }
    sets: dict[SetKey, tuple[WinoBiasDocument, ...]] = {}
    path_of: dict[str, Path] = {}
    """By the ids of the documents that have been read."""
    for split, type_, condition in product(SPLITS, TYPES, CONDITIONS):
        name = file_name(split, type_, condition)
        path = next(
            (path for path in (folder / name, folder / "conll_format" / name) if path.is_file()),
            None,
        )
        if path is None:
            continue
        conll = read_conll(path)
        hashes[name] = conll.file.sha256
        for document in conll.documents:
            if document.id in path_of:
                message = f"document {document.id!r} is in {path_of[document.id].name} already"
                raise DataError(message, path=path, line=document.line)
            path_of[document.id] = path
        documents = (_document(document, occupations, path) for document in conll.documents)
        sets[split, type_, condition] = _in_order(documents, path)
    if not sets:
        example = "dev_type1_pro_stereotype.v4_auto_conll"
        raise DataError(f"expected files such as {example} in this folder, got none", path=folder)
    return WinoBiasFiles(sets, hashes)


def _in_order(documents: Iterable[WinoBiasDocument], path: Path) -> tuple[WinoBiasDocument, ...]:
    """The documents of a file by their lines, which must differ."""
    in_order = tuple(sorted(documents, key=lambda document: document.line))
    for one, other in pairwise(in_order):
        if one.line == other.line:
            message = (
                f"document {other.id!r}: expected another number at its end than {one.id!r} has"
            )
            raise DataError(message, path=path)
    return in_order


def file_name(split: str, type_: int, condition: Stereotype) -> str:
    """What the file of a set is called."""
    return f"{split}_type{type_}_{condition}_stereotype.v4_auto_conll"


def _document(
    conll: ConllDocument, occupations: Mapping[tuple[str, ...], Gender], path: Path
) -> WinoBiasDocument:
    def error(message: str) -> DataError:
        return DataError(f"document {conll.id!r}: {message}", path=path, line=conll.line)

    words, end = conll.words, conll.name.rpartition("/")[2]
    in_sentence = _occupations(words, occupations)
    if len(conll.clusters) != 1 or repeated(conll.clusters):
        raise error(f"expected one cluster, of different mentions, got {len(conll.clusters)}")
    gold = conll.clusters[0]
    pronouns = sorted(
        at for at, last in gold if at == last and words[at].lower() in GENDER_OF_PRONOUN
    )
    named = [occupation for occupation in in_sentence if _covers(gold, occupation.head)]
    if len(named) != 1 or not pronouns:
        raise error("expected a cluster of one occupation and a pronoun, got another")
    if not (end.isascii() and end.isdigit()):
        raise error(f"expected a number at the end of its id, got {end!r}")
    return WinoBiasDocument(
        conll.id, int(end) + 1, words, conll.clusters, in_sentence, named[0], tuple(pronouns)
    )


def _covers(cluster: Cluster, word: int) -> bool:
    return any(start <= word <= last for start, last in cluster)


def _occupations(
    words: tuple[str, ...], known: Mapping[tuple[str, ...], Gender]
) -> tuple[Occupation, ...]:
    lower = tuple(word.lower() for word in words)
    longest = max(map(len, known), default=0)
    mentions: list[Occupation] = []
    at = 0
    while at < len(lower):
        phrases = (lower[at : at + n] for n in range(longest, 0, -1))
        name = next((phrase for phrase in phrases if phrase in known), None)
        if name is None:
            at += 1
            continue
        start = at - 1 if at and lower[at - 1] in _DETERMINERS else at
        at += len(name)
        mentions.append(Occupation(" ".join(name), known[name], (start, at - 1)))
    return tuple(mentions)


def differing_pairs(
    pro: Iterable[WinoBiasDocument], anti: Iterable[WinoBiasDocument]
) -> tuple[int, ...]:
    """Lines of the counterparts that differ in more than gendered pronouns, or in the places of
    their gold mentions.
    """

    def masked(document: WinoBiasDocument) -> tuple[tuple[str, ...], frozenset[Mention]]:
        words = tuple("" if word.lower() in GENDER_OF_PRONOUN else word for word in document.words)
        return words, frozenset(document.gold[0])

    others = {document.line: document for document in anti}
    return tuple(d.line for d in pro if d.line in others and masked(d) != masked(others[d.line]))
