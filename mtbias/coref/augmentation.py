"""Gender-swapped copies of the documents of CoNLL-2012 files, to train a coreference system on.

Copies differ in what happens to names: *anonymised* gives each word of one an id (E1, E2, …), the
same throughout the file; *names* gives each first name its counterpart of the other gender; *words*
leaves them. Only the word column and the document's name change, so tags, parses and clusters stay
as they are.

**Names** are the words of the file's PERSON entities. A file without such entities has first names
alone, which are words of a list that are proper nouns: by the file's tags NNP and NNPS, or, in
sentences without any tag, by whatever finds proper nouns (`ProperNouns`; `mtbias coref augment`
takes Stanza's English tagger). How a word is spelt is not enough: lists of names of many languages
have *The*. An article is not a name, and neither is the word after one. Names of the list with a
blank in them (*Anna Maria*) are left out, since a word of CoNLL has none.

Source: *anonymised* and *names* are a-CDA and n-CDA of Xie, Kocijan, Lukasiewicz and Camburu,
*Counter-GAP* (EACL 2023), section 5, after Zhao et al. (2018) and Hall Maudslay et al. (2019);
*words* is what Dawkins, *SoWinoBias* (2021) trains on.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from pathlib import Path
from typing import Literal

from mtbias.coref.documents import NO_TAG, NO_TAGS, TAG, WORD, read_conll
from mtbias.english.gender_swap import (
    GenderedWords,
    has_listed_words,
    match_case,
    read_swaps,
    swap_words,
)
from mtbias.english.people import (
    EXAMPLE_NAMES,
    MAX_NAMES,
    match_names,
    read_names,
)
from mtbias.errors import DataError
from mtbias.files.reading import TextFile, split_lines
from mtbias.files.writing import signature_line, write_atomic
from mtbias.types import frozen

_log = logging.getLogger(__name__)

ENTITY = 10
"""The column of named entities."""
NAME_TAGS = frozenset({"NNP", "NNPS"})
_PERSON = "(PERSON"
_ARTICLES = frozenset({"a", "an", "the"})
_COLUMN = re.compile(r"\S+")
_BEGIN = re.compile(r"(\s*#\s*begin document\s+\(?)(.*?)((?:\);.*)?\s*)")
_SUFFIX = "_a"
"""Behind the name of each copy, so that ids differ."""


Kind = Literal["anonymised", "names", "words"]
"""What becomes of names: ids (E1, E2, … in the order in which their words first occur in the file),
counterparts of the other gender, or nothing."""

ProperNouns = Callable[[Sequence[Sequence[str]]], tuple[Sequence[Collection[int]], str]]
"""Gives for each sentence, a list of words, which of them are proper nouns; and what found them."""


@frozen
class MadeFile:
    """A file of data that was made from another one."""

    counts: Mapping[str, int]
    ambiguous: Sequence[str]
    """Each *her* and *his* whose reading is a guess: where, and the words around."""
    out: str
    signature: str
    failed: Sequence[str] = ()
    """A reason for each item that could not be made."""


def augment(
    data: Path,
    kind: Kind,
    out: Path,
    *,
    names: Path | None = None,
    swaps: Path | None = None,
    max_names: int = MAX_NAMES,
    as_published: bool = False,
    only_copies: bool = False,
    proper_nouns: ProperNouns | None = None,
) -> MadeFile:
    """Write the CoNLL-2012 file `data` with a gender-swapped copy of each document to `out`.

    The module says which words are names. *her* and *his* are read by their tag PRP or PRP$, or
    without one by the words around; where both readings are usual, that is a guess. The white space
    between columns stays as it is. A warning is logged if no name was replaced, or nothing was
    changed.

    Args:
        data: the file.
        kind: what becomes of names.
        out: the file to write.
        names: first names, as `read_names` takes them; None: the list that comes with mtbias.
        swaps: pairs of words (`read_swaps`); None: those that come with mtbias.
        max_names: of each gender that are matched (`match_names`), for the kind *names*.
        as_published: read `names` as `read_names` has it.
        only_copies: without the documents themselves.
        proper_nouns: called once, with the sentences without tags in which it matters whether a
            word of the list is a name; None: such a file is refused.

    Raises:
        DataError: what `read_conll`, `read_names` and `read_swaps` raise; a copy would have the
            name of a document in the file; parts of speech are needed and nothing gives them.
        OutputError: `out` is one of the files.
    """
    listed = read_names(names or EXAMPLE_NAMES, as_published=as_published)
    parsed = read_conll(data)
    ids = {document.name for document in parsed.documents}
    if clash := sorted(name + _SUFFIX for name in ids if name + _SUFFIX in ids):
        message = f"the copy would be named {clash[0]!r}, as a document is already; rename it"
        raise DataError(message, path=data)
    matched = kind == "names"
    of_one_word = [name for name in listed.names if len(name.text.split()) == 1]
    counterparts = match_names(of_one_word, max_names=max_names) if matched else {}
    table = read_swaps(swaps)
    lines = split_lines(parsed.file.text)
    parts = _parts(lines)
    sentences = [part for part in parts if isinstance(part, _Sentence)]
    has_entities = any(sentence.has_persons for sentence in sentences)
    work = _Work(kind, set(listed.gender), counterparts, table.words, has_entities)
    found_by = work.find_proper_nouns(sentences, proper_nouns, parsed.file)
    copies = list(work.copies(parts))
    write_atomic(out, [*([] if only_copies else lines), *copies])
    work.warn(data)
    in_file = chain.from_iterable(sentence.words for sentence in sentences)
    if swaps and not has_listed_words(in_file, table.words):
        _log.warning("%s: no word of %s is in it: pronouns alone are swapped", data, swaps)
    counts = {
        "documents": len(parsed.documents),
        "gendered words swapped": work.swapped,
        "words of names replaced": work.replaced,
        "first names without counterpart": work.alone,
        "her or his that may be read either way": len(work.ambiguous),
    }
    files = {
        "data": parsed.file.hashes,
        "names": {"names": listed.sha256},
        "swaps": table.files,
    }
    options: dict[str, object] = {
        "kind": kind,
        "list": "given" if names else "example",
        **({"reading": "published"} if as_published else {}),
        "copies": "only" if only_copies else "added",
    }
    options |= {"max-names": max_names} if matched else {}
    options |= {"proper-nouns": found_by} if found_by else {}
    signature = signature_line("coref:augment", files, options)
    return MadeFile(counts, work.ambiguous, str(out), signature)


@frozen
class _Sentence:
    """The lines of a sentence, and their columns by word."""

    line: int
    """1-based line of the first."""
    lines: tuple[str, ...]
    columns: tuple[tuple[re.Match[str], ...], ...]
    words: tuple[str, ...]
    tags: tuple[str, ...]
    """Parts of speech."""
    entities: tuple[str, ...]
    """The column of named entities; empty strings if the file has none."""

    @classmethod
    def from_lines(cls, line: int, lines: tuple[str, ...]) -> _Sentence:
        """The sentence of `lines`, which begins at `line`; the last column is that of clusters."""
        columns = tuple(tuple(_COLUMN.finditer(text)) for text in lines)
        rows = [text.split() for text in lines]
        words = tuple(row[WORD] for row in rows)
        tags = tuple(row[TAG] if len(row) > TAG + 1 else NO_TAG for row in rows)
        entities = tuple(row[ENTITY] if len(row) > ENTITY + 1 else "" for row in rows)
        return cls(line, lines, columns, words, tags, entities)

    @property
    def is_tagged(self) -> bool:
        """Whether any word has a part of speech."""
        return not NO_TAGS.issuperset(self.tags)

    @property
    def has_persons(self) -> bool:
        """Whether a PERSON entity begins in it."""
        return any(entity.startswith(_PERSON) for entity in self.entities)


def _parts(lines: Sequence[str]) -> list[_Sentence | str]:
    """Sentences, and the lines between them."""

    def has_word(line: str) -> bool:
        return bool(line.strip()) and not line.lstrip().startswith("#")

    parts: list[_Sentence | str] = []
    number = 1
    for is_sentence, group in groupby(lines, has_word):
        some = tuple(group)
        parts += [_Sentence.from_lines(number, some)] if is_sentence else some
        number += len(some)
    return parts


@dataclass(slots=True)
class _Work:
    """The file's running totals, and the ids that replace the words of names."""

    kind: Kind
    names: Collection[str]
    counterparts: Mapping[str, str]
    table: GenderedWords
    has_entities: bool
    proper: dict[int, Collection[int]] = field(default_factory=dict)
    """The proper nouns of sentences without tags, by the sentence's first line."""
    ids: dict[str, str] = field(default_factory=dict)
    swapped: int = 0
    replaced: int = 0
    alone: int = 0
    ambiguous: list[str] = field(default_factory=list)

    def find_proper_nouns(
        self,
        sentences: Sequence[_Sentence],
        proper_nouns: ProperNouns | None,
        file: TextFile,
    ) -> str:
        """Find the proper nouns of the sentences that need them.

        Returns what found them; empty if no sentence needs them.
        """
        untagged = [sentence for sentence in sentences if self._needs_tags(sentence)]
        if not untagged:
            return ""
        if proper_nouns is None:
            message = "expected parts of speech in the fifth column, to know names by, got none"
            raise file.error(f"{message}; tag the file, or give `proper_nouns`", untagged[0].line)

        places, tagger = proper_nouns([sentence.words for sentence in untagged])
        self.proper = {
            sentence.line: of_sentence
            for sentence, of_sentence in zip(untagged, places, strict=True)
        }
        return tagger

    def _needs_tags(self, sentence: _Sentence) -> bool:
        """Whether tags decide what a word of the copy is, and the file has none."""
        if self.has_entities or sentence.is_tagged:
            return False
        candidates = set(self._in_list(sentence.words))
        if self.kind == "words":  # names stay, and so does what is no gendered word
            swaps = swap_words(sentence.words, table=self.table)
            return any(swap.index in candidates for swap in swaps)
        return bool(candidates)

    def copies(self, parts: Sequence[_Sentence | str]) -> Iterator[str]:
        """The lines of the copies."""
        document = ""
        for part in parts:
            if isinstance(part, _Sentence):
                yield from self._sentence(part, document)
            elif header := _BEGIN.fullmatch(part):
                document = header[2]
                yield f"{header[1]}{document}{_SUFFIX}{header[3]}"
            else:
                yield part

    def _sentence(self, sentence: _Sentence, document: str) -> Iterator[str]:
        """The lines of a sentence with their words replaced."""
        words = sentence.words
        are_names = set(self._names_in(sentence))
        new = {n: self._name(words[n]) for n in sorted(are_names)}
        for swap in swap_words(words, tags=sentence.tags, fixed=are_names, table=self.table):
            new[swap.index] = swap.new
            self.swapped += 1
            if swap.ambiguous:
                around = words[max(0, swap.index - 3) : swap.index + 4]
                self.ambiguous.append(f"{document}: {' '.join(around)}")
        for n, (line, row) in enumerate(zip(sentence.lines, sentence.columns, strict=True)):
            first, word = row[0], row[WORD]
            head = f"{line[: first.end()]}{_SUFFIX}{line[first.end() : word.start()]}"
            yield f"{head}{new.get(n, word[0])}{line[word.end() :]}"

    def _names_in(self, sentence: _Sentence) -> Iterator[int]:
        """The words of names; without entities first names alone."""
        if self.has_entities:
            yield from _persons_in(sentence)
            return
        proper = self.proper.get(sentence.line, ())
        for n in self._in_list(sentence.words):
            is_proper = sentence.tags[n] in NAME_TAGS if sentence.is_tagged else n in proper
            if is_proper:
                yield n

    def _in_list(self, words: Sequence[str]) -> Iterator[int]:
        """The words that the list of names has, and that may be names by the words around."""
        for n, word in enumerate(words):
            behind_article = n > 0 and words[n - 1].lower() in _ARTICLES
            if word in self.names and word.lower() not in _ARTICLES and not behind_article:
                yield n

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

    def warn(self, path: Path) -> None:
        """Warn if no name was replaced, or nothing changed."""
        if self.kind == "words":
            reason = "" if self.swapped else "there are no gendered words"
        elif self.replaced:
            reason = ""
        elif self.alone:
            reason = f"the list has no counterpart of the {self.alone} first names (--names)"
        elif self.has_entities:
            reason = "no person among the named entities has a name of the list"
        else:
            reason = "no word is a name of the list"
        if reason:
            as_they_are = "the copies are the documents as they are"
            changed = "no name was replaced" if self.swapped else as_they_are
            _log.warning("%s: %s: %s", path, changed, reason)


def _persons_in(sentence: _Sentence) -> Iterator[int]:
    """The words of PERSON entities, without articles."""
    inside = False
    for n, (word, entity) in enumerate(zip(sentence.words, sentence.entities, strict=True)):
        inside = inside or entity.startswith(_PERSON)
        if inside and word[:1].isalpha() and word.lower() not in _ARTICLES:
            yield n
        inside = inside and not entity.endswith(")")
