"""BUG: sentences of Wikipedia, PubMed and COVID-19 papers with a profession and a pronoun (Levy et
al. 2021).

Two versions are read by the same code: the current release (columns with ``tokens``) and the
paper's first version (extra columns, a fourth corpus ``perseus``, damaged characters).

**Ids** are numbers of rows: the file's own index (the column without a name) if it has a different
whole number in each row, else the places of the rows, from 0. So rows are recognised in a file that
was shuffled, or from which rows were removed, with their index. (``data_index`` is not an index: it
is the number of the pattern.)

**Stereotype.** 1 is pro-stereotypical, 0 neither, -1 anti-stereotypical. The release's README has
it the other way round; the published ΔS, nearly all above 0, and mt_gender's converter both need
1 = pro.

**Characters.** The paper's version is UTF-8 that was read as Windows-1252 ("â€¢" for "•"); a
sentence is repaired if all of its characters can be (`mtbias.files.text_repair`), else it stays as
it is and is counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from mtbias.corpora import entity_place as locate
from mtbias.corpora.corpus import Corpus, Notes, gender
from mtbias.corpora.corpus_kinds import AskedCorpus, CorpusKind
from mtbias.english.words import count_pronouns
from mtbias.errors import DataError
from mtbias.files.encodings import without_mojibake
from mtbias.files.reading import Record, TextFile, read_table, refuse_long
from mtbias.files.text_repair import is_damaged
from mtbias.types import Gender, Instance, Stereotype, frozen

FILES = {
    "bug": "full_BUG.csv",
    "bug-balanced": "balanced_BUG.csv",
    "bug-gold": "gold_BUG.csv",
    "bug-gold-paper": "gold_BUG.csv",
}
"""The file of each dataset of the family."""

REQUIRED = (
    "sentence_text",
    "profession",
    "profession_first_index",
    "predicted gender",
    "stereotype",
    "corpus",
)
"""The columns that every use of BUG needs."""

STEREOTYPES = {"1": Stereotype.PRO, "0": Stereotype.NONE, "-1": Stereotype.ANTI}
"""Stereotypes by the values of the column."""


@frozen
class BugRow:
    """One row of the file, with fields that are checked when they are read, since a skipped row may
    be broken.
    """

    record: Record

    @property
    def sentence(self) -> str:
        """The sentence with its white space."""
        return self.record.raw("sentence_text")

    @property
    def profession(self) -> str:
        """The profession as the corpus writes it; `DataError` where it is empty."""
        profession = self.record.get("profession")
        if not profession:
            raise self.record.error("the profession is empty")
        return profession

    @property
    def gold(self) -> Gender:
        """The gender of the pronoun; `DataError` where the field is not a gender."""
        return gender(self.record.get("predicted gender"), self.record.path, self.record.line)

    @property
    def stereotype(self) -> Stereotype:
        """Whether the gender fits the profession; `DataError` for anything but 1, 0, -1."""
        text = self.record.get("stereotype").removesuffix(".0")
        if text not in STEREOTYPES:
            raise self.record.error(f"stereotype: expected 1, 0 or -1, got {text!r}")
        return STEREOTYPES[text]

    @property
    def domain(self) -> str:
        """The corpus of the sentence."""
        return self.record.get("corpus").lower()


_NUMBER = re.compile("[0-9]{1,9}")
INDEX = ""
"""The column of the file's own index, which pandas writes without a name."""


def row_numbers(rows: Sequence[BugRow]) -> tuple[int, ...]:
    """The number of each row of a file, for ids; see the module."""
    index = [row.record.get(INDEX).removesuffix(".0") for row in rows]
    numbers = tuple(int(text) for text in index if _NUMBER.fullmatch(text))
    is_index = len(set(numbers)) == len(rows)
    return numbers if is_index else tuple(range(len(rows)))


INDEX_NOTE = "row whose number in the file's index is not its place: ids have the number"


def moved(numbers: Sequence[int]) -> int:
    """The number of rows whose number is not their place."""
    return sum(number != place for place, number in enumerate(numbers))


def stands_at(words: Sequence[str], index: int, word: str) -> bool:
    """Whether `word` has this index in `words`, in any case."""
    return index < len(words) and words[index].lower() == word.lower()


def read_rows(path: Path, name: str, *columns: str) -> tuple[TextFile, tuple[BugRow, ...]]:
    """The rows of a file of BUG, or of the file of the dataset `name` in the folder `path`,
    including rows without a sentence.

    Raises:
        DataError: there is no such file; one of `REQUIRED` or of `columns` is missing.
    """
    if path.is_dir():
        # The release's archive has a folder "data".
        places = (path / FILES[name], path / "data" / FILES[name])
        main = next((file for file in places if file.is_file()), None)
        if main is None:
            raise DataError(
                f"expected {FILES[name]} in this folder (or in data/ inside it), got none",
                path=path,
            )
        path = main
    table = read_table(path, *REQUIRED, *columns)
    return table.file, tuple(BugRow(record) for record in table.records)


def read_bug(path: Path, name: str = "bug") -> Corpus[Instance]:
    """Read a file of BUG, or the file of the dataset `name` in the folder `path`.

    The profession's index counts tokens separated by single spaces, as in the release (a doubled
    space makes an empty token). If another token is there, the nearest occurrence of the profession
    in the sentence, in any case, is taken; a row without one is skipped, and so is a row without a
    sentence. `Instance.head` has no punctuation. Line breaks inside a sentence become spaces.
    `Instance.pronouns` is our own count; `Instance.corpus_pronouns` is the file's own number (0 in
    9 rows of the paper's version).

    The note "row that mt_gender drops" counts the rows whose token at the index is not the
    profession under mt_gender's own test (single spaces, lower case), repaired or skipped here.

    Raises:
        DataError: there is no such file; columns are missing; an index, gender or stereotype cannot
            be read.
    """
    file, rows = read_rows(path, name)
    notes = Notes()
    notes.add_file(file)
    numbers = row_numbers(rows)
    notes.add(INDEX_NOTE, moved(numbers))
    ids = (f"{name}-{number + 1:06d}" for number in numbers)
    all_rows = [_instance(row, id_, notes) for row, id_ in zip(rows, ids, strict=True)]
    instances = [instance for instance in all_rows if instance is not None]
    return notes.corpus(name, file, instances, len(all_rows) - len(instances))


class BugKind(CorpusKind):
    """The data sets of BUG's release, by their names."""

    def read(self, request: AskedCorpus) -> Corpus[Instance]:
        """See `CorpusKind`."""
        return read_bug(request.file, request.name)


BUG_KIND = BugKind()


def _instance(row: BugRow, id_: str, notes: Notes) -> Instance | None:
    """The instance of one row; None where it is skipped."""
    raw = row.sentence
    if not raw.strip():
        notes.add("no sentence: row skipped")
        return None
    refuse_long(raw, "sentence_text", row.record.path, row.record.line)
    profession = row.profession
    index = row.record.integer("profession_first_index")
    if not stands_at(raw.split(" "), index, profession):
        notes.add("row that mt_gender drops (another token at the index)")
    text = without_mojibake(raw, chance=0)
    source = re.sub(r"[\r\n]", " ", text).strip()
    place = _place(text, source, index, profession)
    if place is None:
        notes.add("profession not in the sentence: row skipped")
        return None
    if text != raw:
        notes.add("UTF-8 damage repaired")
    if is_damaged(text):
        notes.add("UTF-8 damage left")
    if "\n" in raw or "\r" in raw:
        notes.add("line break in the sentence")
    notes.add_place(source, place, profession)
    return Instance(
        id=id_,
        row=row.record.row,
        source=source,
        head=place.head,
        entity=profession.lower(),
        gold=row.gold,
        stereotype=row.stereotype,
        domain=row.domain,
        pronouns=count_pronouns(source),
        corpus_pronouns=row.record.optional_integer("num_of_pronouns"),
        distance=row.record.optional_integer("distance"),
    )


def _place(text: str, source: str, index: int, profession: str) -> locate.EntityPlace | None:
    """The place of the profession in `source`, the stripped `text`: at the index, else the nearest
    occurrence.
    """
    spans = locate.tokens(source)
    before = len(text) - len(text.lstrip())
    # The corpus counts the tokens separated by single spaces.
    indices = [text.count(" ", 0, span.start + before) for span in spans]
    token = indices.index(index) if index in indices else index
    return locate.locate(source, spans, token, profession)
