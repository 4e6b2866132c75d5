"""Gender-swapped copies of the documents of CoNLL-2012 files.

The kinds of copies differ in what happens to names: *anonymised* gives each word of one an id (E1, E2, …), the same
throughout the file; *names* gives each first name its counterpart of the other gender; *words* leaves them. Only the
word column and the document's name change, so tags, parses and clusters stay as they are.

Source: *anonymised* and *names* are a-CDA and n-CDA of Xie, Kocijan, Lukasiewicz and Camburu, *Counter-GAP* (EACL
2023), section 5, after Zhao et al. (2018) and Hall Maudslay et al. (2019); *words* is what Dawkins, *SoWinoBias* (2021)
trains on.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Literal

from mtbias.coref.conll import WORD, read_conll
from mtbias.english.first_names import EXAMPLE_NAMES, MAX_NAMES, match_names, read_names
from mtbias.english.gender_swap import GenderedWords, match_case, read_swaps, swap_words
from mtbias.errors import DataError
from mtbias.files.reading import split_lines
from mtbias.files.writing import signature_line, write_atomic
from mtbias.types import frozen

TAG = 4
"""The column of the part-of-speech tag."""
ENTITY = 10
"""The column of named entities."""
NAME_TAGS = frozenset({"NNP", "NNPS"})
_UNTAGGED = frozenset({"-", "_", "*"})
_COLUMN = re.compile(r"\S+")
_BEGIN = re.compile(r"(\s*#\s*begin document\s+\()(.*)(\);.*)")


Kind = Literal["anonymised", "names", "words"]
"""What becomes of names: ids (E1, E2, … in the order in which their words first occur in the file), counterparts of the
other gender, or nothing."""

_SUFFIX = "_a"
"""Behind the name of each copy, so that ids differ."""


@frozen
class MadeFile:
    """A file of data that was made from another one."""

    counts: Mapping[str, int]
    ambiguous: Sequence[str]
    """Each *her* and *his* whose reading is a guess: where, and the words around."""
    out: str
    signature: str
    failed: Sequence[str] = ()
    """Why something could not be made, a reason each."""


def augment(
    data: Path,
    kind: Kind,
    out: Path,
    *,
    names: Path | None = None,
    swaps: Path | None = None,
    max_names: int = MAX_NAMES,
    only_copies: bool = False,
) -> MadeFile:
    """Write the CoNLL-2012 file `data` with a gender-swapped copy of each of its documents to `out`.

    Names are the words of the file's PERSON entities, of which those of `names` (in this spelling) are first names. In
    a file without such entities a word is a first name where it is one of `names` and its tag is NNP or NNPS, or where
    the file has no tag for it and it has a capital; other names stay. *her* and *his* are read by their tag PRP or
    PRP$, or without one by the words around; where both readings are usual, that is a guess. The white space between
    columns stays as it is.

    Args:
        data: the file.
        kind: what becomes of names.
        out: the file to write.
        names: first names, as `read_names` takes them; None: the list that comes with mtbias.
        swaps: pairs of words (`read_swaps`); None: those that come with mtbias.
        max_names: of each gender that are matched (`match_names`), for the kind *names*.
        only_copies: without the documents themselves.

    Raises:
        DataError: what `read_conll`, `read_names` and `read_swaps` raise; a copy would have the name of a document in
            the file.
    """
    listed, parsed = read_names(names or EXAMPLE_NAMES), read_conll(data)
    ids = {document.name for document in parsed.documents}
    if clash := sorted(name + _SUFFIX for name in ids if name + _SUFFIX in ids):
        raise DataError(f"the copy would be named {clash[0]!r}, as a document is already; rename it", path=data)
    matched = kind == "names"
    counterparts = match_names(listed.names, max_names=max_names) if matched else {}
    table = read_swaps(swaps)
    rows = (row for document in parsed.documents for sentence in document.sentences for row in sentence)
    has_entities = any(_entity(row).startswith(_PERSON) for row in rows)
    work = _Work(kind, set(listed.gender), counterparts, table.words, has_entities)
    original = split_lines(parsed.file.text)
    copies: list[str] = []
    document = ""
    for is_sentence, part in groupby(original, lambda line: bool(line.strip()) and not line.lstrip().startswith("#")):
        if is_sentence:
            copies += work.sentence(list(part), document)
            continue
        for line in part:
            header = _BEGIN.fullmatch(line)
            document = header[2] if header else document
            copies.append(f"{header[1]}{document}{_SUFFIX}{header[3]}" if header else line)
    write_atomic(out, [*([] if only_copies else original), *copies])
    counts = {
        "documents": len(parsed.documents),
        "gendered words swapped": work.swapped,
        "words of names replaced": work.replaced,
        "first names without counterpart": work.alone,
        "her or his that may be read either way": len(work.ambiguous),
    }
    options = {"kind": kind, "list": "given" if names else "example", "copies": "only" if only_copies else "added"}
    signature = signature_line(
        "coref:augment",
        {"data": parsed.file.hashes, "names": {"names": listed.sha256}, "swaps": table.files},
        {**options, **({"max-names": max_names} if matched else {})},
    )
    return MadeFile(counts, work.ambiguous, str(out), signature)


_PERSON = "(PERSON"


def _entity(row: Sequence[str]) -> str:
    """What the column of named entities has in a row: the last column is that of clusters."""
    return row[ENTITY] if len(row) > ENTITY + 1 else ""


@dataclass(slots=True)
class _Work:
    """The file's running totals, and the ids that words of names have got."""

    kind: Kind
    names: Collection[str]
    counterparts: Mapping[str, str]
    table: GenderedWords
    has_entities: bool
    ids: dict[str, str] = field(default_factory=dict)
    swapped: int = 0
    replaced: int = 0
    alone: int = 0
    ambiguous: list[str] = field(default_factory=list)

    def sentence(self, lines: list[str], document: str) -> Iterator[str]:
        """The lines of a sentence with their words replaced."""
        columns = [list(_COLUMN.finditer(line)) for line in lines]
        rows = [[column[0] for column in row] for row in columns]
        words = [row[WORD] for row in rows]
        tags = [row[TAG] if len(row) > TAG + 1 else "-" for row in rows]
        are_names = set(self._names_in(rows, tags))
        new = {n: self._name(words[n]) for n in sorted(are_names)}
        for swap in swap_words(words, tags=tags, fixed=are_names, table=self.table):
            new[swap.index] = swap.new
            self.swapped += 1
            if swap.ambiguous:
                around = words[max(0, swap.index - 3) : swap.index + 4]
                self.ambiguous.append(f"{document}: {' '.join(around)}")
        for n, (line, row) in enumerate(zip(lines, columns, strict=True)):
            first, word = row[0], row[WORD]
            head = f"{line[: first.end()]}{_SUFFIX}{line[first.end() : word.start()]}"
            yield f"{head}{new.get(n, word[0])}{line[word.end() :]}"

    def _names_in(self, rows: Sequence[Sequence[str]], tags: Sequence[str]) -> Iterator[int]:
        """The words of names; without entities first names alone."""
        inside = False
        for n, (row, tag) in enumerate(zip(rows, tags, strict=True)):
            word, entity = row[WORD], _entity(row)
            inside = inside or entity.startswith(_PERSON)
            is_name = word in self.names and (tag in NAME_TAGS or (tag in _UNTAGGED and word[:1].isupper()))
            if inside and word[:1].isalpha() if self.has_entities else is_name:
                yield n
            inside = inside and not entity.endswith(")")

    def _name(self, word: str) -> str:
        if self.kind == "words" or (self.kind == "names" and word not in self.names):
            return word
        if self.kind == "names" and word not in self.counterparts:
            self.alone += 1
            return word
        self.replaced += 1
        if self.kind == "names":
            return match_case(self.counterparts[word], word)
        return self.ids.setdefault(word, f"E{len(self.ids) + 1}")
