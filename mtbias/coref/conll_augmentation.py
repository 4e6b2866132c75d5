"""Counterfactual data augmentation of CoNLL-2012 files: every document a second time, with all genders swapped.

Two kinds, which differ in what happens to first names: *anonymised* gives each an id (E1, E2, …), the same throughout
the file; *names* gives each its counterpart of the other gender. Only the word column and the document's name change,
so tags, parses and clusters stay as they are.

Source: the two kinds compared by Xie, Kocijan, Lukasiewicz and Camburu, *Counter-GAP* (EACL 2023), section 6, after
Zhao et al. (2018) and Hall Maudslay et al. (2019).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Literal

from mtbias.coref.conll import WORD, read_conll
from mtbias.english.gender_swap import match_case, swap_words
from mtbias.errors import DataError
from mtbias.files.reading import split_lines

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
