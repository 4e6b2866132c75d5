"""A user's own score for each sentence, such as COMET's: a table that is read and joined to a corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from mtbias.errors import DataError
from mtbias.files.reading import Record, Table, read_table
from mtbias.types import SourceSentence

_KEYS = ("id", "source")


@dataclass(frozen=True, slots=True)
class GivenScores:
    """The scores of a file, by id or by source."""

    table: Table
    name: str
    """Of the score: the name of its column."""
    key: str
    """The column that joins: ``id``, else ``source``."""
    scores: Mapping[str, float]
    """By what stands in that column."""

    @property
    def label(self) -> str:
        """``NAME#HASH`` with 16 digits of the file's SHA-256, for signatures."""
        return f"{self.name}#{self.table.file.sha256[:16]}"

    def of(self, instances: Sequence[SourceSentence]) -> dict[str, float]:
        """The score of each instance, by id.

        Raises:
            DataError: an instance has none, or a row belongs to no instance, with its line; by source, two instances
                have one source.
        """
        keys = {str(getattr(each, self.key)): each.id for each in instances}
        if len(keys) != len(instances):
            raise self.table.file.error(
                "expected the column 'id', since two sentences have one source, got 'source' alone", 1
            )
        for record in self.table.records:
            if record.get(self.key) not in keys:
                raise record.error(
                    f"expected the {self.key} of a sentence of the corpus, got {record.get(self.key)!r:.80}; "
                    "check --dataset and --lang"
                )
        missing = [key for key in keys if key not in self.scores]
        if missing:
            raise self.table.file.error(
                f"expected a score for each of {len(keys)} sentences, got none for {len(missing)}, the first is "
                f"{missing[0]!r:.80}"
            )
        return {id_: self.scores[key] for key, id_ in keys.items()}


def read_scores(path: Path) -> GivenScores:
    """Read the table `path` (``.tsv``, ``.csv`` or ``.jsonl``): ``id``, ``source`` or both, and one column of scores.

    Raises:
        DataError: no table; neither ``id`` nor ``source``; no other column, or several; a row without a key, with one
            that stood before, or with no finite number; with the line.
    """
    table = read_table(path)
    keys = [key for key in _KEYS if key in table.columns]
    names = [column for column in table.columns if column not in _KEYS]
    if not keys or len(names) != 1:
        message = "expected the columns 'id' or 'source', and one with the name of the score; got "
        raise DataError(message + table.listing, path=path, line=1)
    key, name = keys[0], names[0]
    scores: dict[str, float] = {}
    for record in table.records:
        said = record.get(key)
        if not said:
            raise record.error(f"the row has no {key}")
        if said in scores:
            raise record.error(f"{key} {said!r:.80} stood before; keep one of the rows")
        scores[said] = _number(record, name)
    return GivenScores(table, name, key, scores)


def _number(record: Record, name: str) -> float:
    try:
        value = float(record.get(name))
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise record.error(f"{name}: expected a number, got {record.get(name)!r:.80}")
    return value
