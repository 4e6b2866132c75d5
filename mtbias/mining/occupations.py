"""The occupations that mining looks for, and how many women and men work in them: BUG's table, or another country's.

A CSV file with the columns ``entities`` (words for the occupation, separated by commas: single nouns in the singular,
since patterns find those alone), ``M_workers`` and ``F_workers`` (how many men and women work in it, in any unit: only
which number is larger counts).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mtbias.corpora.catalog import cached_file
from mtbias.files.reading import read_table
from mtbias.types import Gender

BUG_TABLE = "bug-occupations"
"""BUG's table, by its name in the catalog."""


@dataclass(frozen=True, slots=True)
class Workers:
    """How many men and women work in an occupation."""

    men: float
    women: float

    @property
    def majority(self) -> Gender | None:
        """The gender of more than half of them; None where they are equally many."""
        if self.men == self.women:
            return None
        return Gender.MALE if self.men > self.women else Gender.FEMALE


@dataclass(frozen=True, slots=True)
class Occupations:
    """The words for occupations, in lower case, with their workers."""

    numbers: Mapping[str, Workers]
    sha256: str
    """Of the file."""

    @property
    def words(self) -> frozenset[str]:
        """All words."""
        return frozenset(self.numbers)

    def stereotype(self, word: str, gender: Gender) -> int:
        """1 if most workers of the occupation `word` (in any case) are of `gender`, -1 if of the other, else 0.

        Raises:
            KeyError: the word is none of the table's.
        """
        majority = self.numbers[word.lower()].majority
        return 0 if majority is None else 1 if majority is gender else -1


def read_occupations(path: Path | None = None, cache: Path | None = None) -> Occupations:
    """Read the table `path`, by default BUG's from the cache (``mtbias fetch --dataset bug-occupations``).

    A row without words is passed over. A word may stand in several rows as long as they have the same majority; the
    first one's numbers are kept.

    Raises:
        MissingResourceError: BUG's table is not in the cache.
        DataError: a column is missing; numbers that are none; no words; several words for one; a word in rows of
            different majorities; the file in the cache is damaged.
    """
    table = read_table(path or cached_file(BUG_TABLE, cache))
    table.require("entities", "M_workers", "F_workers")
    numbers: dict[str, Workers] = {}
    for record in table.records:
        words = [word.strip().lower() for word in record.get("entities").split(",") if word.strip()]
        if not words:
            continue
        workers = Workers(record.number("M_workers"), record.number("F_workers"))
        for word in words:
            if len(word.split()) > 1:
                raise record.error(f"entities: expected single words, got {word!r}; patterns find nouns of one word")
            if numbers.setdefault(word, workers).majority is not workers.majority:
                raise record.error(f"entities: {word!r} is in an earlier row whose majority is another; remove one")
    if not numbers:
        raise table.file.error("expected words for occupations in the column entities, got none")
    return Occupations(numbers, table.file.sha256)
