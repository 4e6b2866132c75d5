"""Rows of a corpus that people check: which are drawn, and what their judgements say of the corpus.

A row is right where its pronoun stands for the person whom its profession names. The rows are a simple random sample
without replacement, in random order, so that whoever stops early has judged a simple random sample too. The precision
is right / (right + wrong), with Wilson's interval; rows of which a reader is unsure are counted apart. The interval
knows nothing of the corpus's size: of a sample that is a large part of it, it is wider than it must be.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mtbias.corpora.bug import BugRow, stands_at
from mtbias.english.pronouns import GENDER_OF_PRONOUN
from mtbias.errors import DataError
from mtbias.files.reading import Record, Table, TextFile, parse_table, read_table, read_text
from mtbias.stats.resampling import wilson_percent
from mtbias.stats.results import Estimate, percent_of, rounded

RIGHT, WRONG, UNSURE = JUDGEMENTS = ("right", "wrong", "unsure")
"""What a reader may say of a row."""

_REQUIRED = ("sentence_text", "profession", "profession_first_index", "g", "g_first_index")
_EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Lower ends of the bins of confidence."""


@dataclass(frozen=True, slots=True)
class CheckedRow:
    """A row as a reader sees it, and what its judgement is grouped by."""

    key: str
    """What names it in a file of judgements: a hash of the sentence and the two indices, whatever the row's number."""
    words: tuple[str, ...]
    profession: int
    """Index of its word; so is `pronoun`."""
    pronoun: int
    pattern: str
    """Of a corpus that was mined here; else BUG's number of the query."""
    confidence: float | None
    gender: str
    """The pronoun's, in lower case."""
    record: Record


@dataclass(frozen=True, slots=True)
class CheckedCorpus:
    """The rows of a corpus in BUG's columns that can be checked."""

    table: Table
    rows: tuple[CheckedRow, ...]
    left_out: int
    """Rows without a sentence, or whose index is at another word."""


def read_corpus(path: Path) -> CheckedCorpus:
    """Read a corpus in BUG's columns, one that was mined here or another.

    Raises:
        DataError: no such file; a column is missing; an index or a confidence that is no such number.
    """
    table = read_table(path)
    table.require(*_REQUIRED)
    rows = [_row(record) for record in table.records]
    usable = tuple(row for row in rows if row is not None)
    if not usable:
        message = "expected rows with a profession and a pronoun at their indices, got none"
        raise table.file.error(message)
    return CheckedCorpus(table, usable, len(rows) - len(usable))


def _row(record: Record) -> CheckedRow | None:
    """None where there is no sentence, or another word at an index."""
    row = BugRow(record)
    words = tuple(row.sentence.strip().split(" "))
    if words == ("",):
        return None
    profession, pronoun = record.integer("profession_first_index"), record.integer("g_first_index")
    if not (stands_at(words, profession, row.profession) and stands_at(words, pronoun, record.get("g"))):
        return None
    named = "\t".join([" ".join(words), str(profession), str(pronoun)])
    return CheckedRow(
        key=hashlib.sha256(named.encode()).hexdigest()[:16],
        words=words,
        profession=profession,
        pronoun=pronoun,
        pattern=record.get("pattern") or record.get("data_index"),
        confidence=record.number("confidence", most=1) if record.get("confidence") else None,
        gender=GENDER_OF_PRONOUN.get(record.get("g").lower(), ""),
        record=record,
    )


def draw(rows: Sequence[CheckedRow], n: int, seed: int) -> list[CheckedRow]:
    """A simple random sample of `n` different rows in random order; all of them where there are fewer.

    With the same `seed` a smaller sample is the beginning of a larger one.
    """
    different = list({row.key: row for row in rows}.values())
    return [different[place] for place in np.random.default_rng(seed).permutation(len(different))[:n]]


@dataclass(frozen=True, slots=True)
class Precision:
    """What was said of some rows."""

    name: str
    right: int
    wrong: int
    unsure: int
    confidence: float | None
    """Mean confidence of the rows right or wrong: where it is calibrated, about the precision / 100."""

    @property
    def estimate(self) -> Estimate:
        """Right / (right + wrong), in per cent."""
        n = self.right + self.wrong
        return Estimate(percent_of(self.right, n), wilson_percent(self.right, n), n)

    @property
    def strict(self) -> Estimate:
        """Right / all judged, in per cent: as if all that a reader was unsure of were wrong."""
        n = self.right + self.wrong + self.unsure
        return Estimate(percent_of(self.right, n), wilson_percent(self.right, n), n)

    def to_json(self) -> dict[str, Any]:
        """A plain value, numbers rounded to 6 decimals."""
        content = {
            "name": self.name,
            "right": self.right,
            "wrong": self.wrong,
            "unsure": self.unsure,
            "precision": self.estimate.value,
            "interval": self.estimate.interval,
            "unsure_as_wrong": self.strict.value,
            "unsure_as_wrong_interval": self.strict.interval,
            "mean_confidence": self.confidence,
        }
        return {key: rounded(value) for key, value in content.items()}


@dataclass(frozen=True, slots=True)
class CheckedSample:
    """The judgements on a corpus."""

    together: Precision
    by_pattern: tuple[Precision, ...]
    by_confidence: tuple[Precision, ...]
    """By bins of confidence, from the lowest; empty where the corpus has none."""
    by_gender: tuple[Precision, ...]
    """Where more rows of one gender are wrong, a system's ΔG on the corpus is off by that alone."""
    unknown: int
    """Judgements on rows that the corpus does not have."""


def read_judgements(path: Path) -> tuple[TextFile, dict[str, str]]:
    """The judgements that the page has saved, by the keys of their rows: a TSV with the columns key and judgement.

    Raises:
        DataError: no such file, or another one; a judgement that is none of `JUDGEMENTS`; a key twice.
    """
    file = read_text(path)
    table = parse_table(file)
    table.require("key", "judgement")
    found: dict[str, str] = {}
    for record in table.records:
        key, judgement = record.get("key"), record.get("judgement")
        if judgement not in JUDGEMENTS:
            raise record.error(f"judgement: expected {', '.join(JUDGEMENTS)}, got {judgement!r}")
        if key in found:
            raise record.error(f"expected one judgement a row, got a second for {key!r}; remove one of the two")
        found[key] = judgement
    return file, found


def precision_of(rows: Sequence[CheckedRow], judgements: Mapping[str, str], path: Path) -> CheckedSample:
    """What `judgements`, of the file at `path`, say of the corpus with these `rows`.

    Raises:
        DataError: none of them is about a row of the corpus.
    """
    judged = list({row.key: row for row in rows if row.key in judgements}.values())
    if not judged:
        raise DataError("expected judgements on rows of this corpus, got none; give its own --data", path=path)

    def of(name: str, chosen: Iterable[CheckedRow]) -> Precision:
        said = [(judgements[row.key], row.confidence) for row in chosen]
        right, wrong, unsure = (sum(judgement == one for judgement, _ in said) for one in JUDGEMENTS)
        sure = [confidence for judgement, confidence in said if judgement != UNSURE and confidence is not None]
        return Precision(name, right, wrong, unsure, sum(sure) / len(sure) if sure else None)

    def grouped(name_of: Callable[[CheckedRow], str]) -> tuple[Precision, ...]:
        names = sorted({name_of(row) for row in judged} - {""})
        return tuple(of(name, [row for row in judged if name_of(row) == name]) for name in names)

    return CheckedSample(
        together=of("all", judged),
        by_pattern=grouped(lambda row: row.pattern),
        by_confidence=grouped(lambda row: "" if row.confidence is None else _bin(row.confidence)),
        by_gender=grouped(lambda row: row.gender),
        unknown=len(judgements) - len(judged),
    )


def _bin(confidence: float) -> str:
    at = max(n for n, edge in enumerate(_EDGES) if edge <= confidence)
    upper = _EDGES[at + 1] if at + 1 < len(_EDGES) else 1.0
    return f"{_EDGES[at]:.1f} to {upper:.1f}"
