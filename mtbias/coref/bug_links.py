"""BUG as a coreference data set: accuracy, ΔG and ΔS of linking a profession and its pronoun.

A row is correct if some cluster contains the word at ``profession_first_index`` and the word at
``g_first_index``; a cluster contains a word if one of its mentions does, both ends included. (The
authors' script adds up *how many* clusters do; here a row counts once, and a note says where it
would not.) Indices count ``strip().split(" ")`` of the sentence: a doubled space makes an empty
word.

* Accuracy = correct rows / rows, all stereotypes included.
* ΔG = accuracy of male rows − accuracy of female rows; ΔS = accuracy of stereotypical rows (1) − of
  anti-stereotypical rows (−1), both in points. **Not** the ΔG of machine translation, which is a
  difference of F1.
* Distance bins are ⌊distance/5⌋: 0 to 4, 5 to 9 and so on; the authors' plot labels them 1-5, 6-10,
  and joins the last two. Where a group lacks one side of a difference, the difference is None (the
  authors' script stops with an error).
* Two pronoun counts: mtbias's own (``pronouns 2``, `mtbias.english.words.count_pronouns`), and the
  corpus's ``num_of_pronouns`` (``corpus pronouns 2``), which is the paper's, mostly leaves out
  *him* and can be 0.

Rows without a sentence are left out. Rows whose index is not at the profession or the pronoun count
nevertheless, as in the authors' script; a note counts them.

Source: Levy et al., Findings of EMNLP 2021; evaluate_coref.py of github.com/SLAB-NLP/BUG.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtbias.coref.dataset import CorefDataset, DatasetScores, NamedNumber, shares_by_group
from mtbias.coref.documents import Answers, Cluster, Clusters, CorefText
from mtbias.corpora.bug import INDEX_NOTE, BugRow, moved, read_rows, row_numbers, stands_at
from mtbias.english.words import count_pronouns
from mtbias.files.encodings import without_mojibake
from mtbias.stats.paired import NumberUnits
from mtbias.stats.resampling import interval_of_sum, wilson_percent
from mtbias.stats.results import Counts, Estimate, Floats, Interval, enough, percent, source
from mtbias.types import Gender, Stereotype, frozen

BIN = 5
"""Words of distance in a bin."""

_GENDERS, _SIDES = tuple(Gender), tuple(Stereotype)
_SHAPE = (len(_GENDERS), len(_SIDES), 2)
"""Of tables of rows: gender, stereotype, and wrong or right."""


@frozen
class BugSentence:
    """A row of the file that has a sentence."""

    id: str
    """The row's number: the file's own index, else its place from 0 (`mtbias.corpora.bug`)."""
    words: tuple[str, ...]
    profession: int
    """The index of its word, as the file has it; so has `pronoun`."""
    pronoun: int
    gender: Gender
    stereotype: Stereotype
    domain: str
    distance: int
    pronouns: int
    """As mtbias counts them."""
    corpus_pronouns: int
    """As the file has it."""
    occupation: str
    """The profession, in lower case."""
    misplaced: bool
    """Whether one of the two indices is that of another word."""


_SIGNED = MappingProxyType({"contains": "inclusive", "bin": "floor(distance/5)"})


@dataclass(frozen=True)
class Bug(CorefDataset):
    """The rows that have a sentence."""

    rows: tuple[BugSentence, ...]
    skipped: int
    """Rows without a sentence."""
    moved: int
    """Rows whose number in the file's index is not their place."""
    files: Mapping[str, str]
    signed: Mapping[str, object] = field(default_factory=lambda: _SIGNED)

    name = "bug"
    options = frozenset({"over"})

    @cached_property
    def texts(self) -> list[CorefText]:
        """The rows that have a sentence; one whose index is past its end has no gold cluster.

        An underscore replaces a word without characters, which indices count but no format can
        have.
        """
        texts = []
        for row in self.rows:
            places = sorted({row.profession, row.pronoun})
            cluster = tuple((place, place) for place in places if place < len(row.words))
            gold = (cluster,) if len(cluster) == 2 else ()
            tokens = tuple("".join(word.split()) or "_" for word in row.words)
            pronoun = (row.pronoun, row.pronoun)
            texts.append(CorefText(row.id, tokens, " ".join(row.words), gold, pronoun=pronoun))
        return texts

    def right(
        self,
        at: int,
        text: CorefText,  # noqa: ARG002 - the base class's
        answer: Clusters,
    ) -> bool:
        """See `CorefDataset`; where a cluster has both words."""
        row = self.rows[at]
        return linking_clusters(answer, row.profession, row.pronoun) > 0

    def score(self, answers: Answers, *, seed: int = 0, resamples: int = 10_000) -> DatasetScores:
        """See `CorefDataset`; each group of rows has its own stream of random numbers.

        Intervals: Wilson's for accuracy; of ΔG and ΔS the percentile bootstrap's over the group's
        rows, and Newcombe's, from Wilson's of both sides, where a side has fewer than `MIN_ROWS` or
        the bootstrap knows one value alone.
        """
        linking = [
            linking_clusters(answers.of[row.id], row.profession, row.pronoun) for row in self.rows
        ]
        is_right = [hits > 0 for hits in linking]
        cells = [
            (_GENDERS.index(row.gender), _SIDES.index(row.stereotype), right)
            for row, right in zip(self.rows, is_right, strict=True)
        ]

        groups = self._groups()
        units: dict[str, NumberUnits] = {}
        for part, (_, places) in groups.items():
            professions = [self.rows[place].occupation for place in places]
            cells_of_part = [cells[place] for place in places]
            units[part] = NumberUnits.of_cells(cells_of_part, _SHAPE, professions, _numbers)

        numbers: list[NamedNumber] = []
        counts: dict[str, dict[str, float | None]] = {}
        for part, (stream, _) in groups.items():
            estimates = _estimates(units[part], resamples, [seed, *stream])
            for key, (label, _) in _NUMBERS.items():
                numbers.append(NamedNumber(part, key, label, estimates[key], headline=not part))
            counts[part or "all"] = _counts(_kinds(_table(units[part])))

        by_gender = (
            (row.occupation, _GENDERS.index(row.gender), right)
            for row, right in zip(self.rows, is_right, strict=True)
            if row.gender is not Gender.NEUTRAL
        )
        return DatasetScores(
            tuple(numbers),
            {"": units[""]},
            counts,
            self._notes(linking),
            sides=shares_by_group(by_gender),
        )

    def _groups(self) -> dict[str, tuple[list[int], Sequence[int]]]:
        """By group of rows, the number of its random stream and the places of its rows."""
        groups: dict[str, tuple[list[int], Sequence[int]]] = {"": ([0], range(len(self.rows)))}
        for by in _GROUPS:
            values = [by.value(row) for row in self.rows]
            for order, value in enumerate(sorted(set(values))):
                places = [place for place, other in enumerate(values) if other == value]
                groups[by.name(value)] = [by.stream, order], places
        return groups

    def _notes(self, linking: Sequence[int]) -> tuple[str, ...]:
        """The notes on rows, given how many clusters link each."""
        total = len(self.rows) + self.skipped
        misplaced = sum(row.misplaced for row in self.rows)
        several = sum(clusters > 1 for clusters in linking)
        rows_of = {
            f"{INDEX_NOTE} ({self.moved} rows)": self.moved,
            f"without a sentence, left out: {self.skipped} of {total} rows": self.skipped,
            f"with another word at an index, counted: {misplaced} rows": misplaced,
            f"linked by more than one cluster, counted once: {several} rows": several,
        }
        return tuple(note for note, rows in rows_of.items() if rows)


def _table(units: NumberUnits) -> Counts:
    """The table of the rows of a group, of `_SHAPE`."""
    return np.asarray(units.sums.sum(axis=0), dtype=np.int64).reshape(_SHAPE)


def _estimates(units: NumberUnits, resamples: int, stream: Sequence[int]) -> dict[str, Estimate]:
    """The numbers of a group of rows with their intervals, drawn from its own random stream."""
    kinds = _kinds(_table(units))
    n = {kind: int(rows.sum()) for kind, rows in kinds.items()}
    denominators: dict[str, float] = {}
    defined: list[str] = []
    for key, (_, compared) in _NUMBERS.items():
        sizes = [n[kind] for kind in compared]
        denominators[key] = sum(sizes)
        if all(sizes):
            defined.append(key)
    estimates = units.estimates(resamples, source(stream), n=denominators, intervals=defined)

    right = int(kinds["all"][1])
    accuracy = replace(estimates["accuracy"], interval=wilson_percent(right, n["all"]))
    estimates["accuracy"] = accuracy
    for key in _DIFFERENCES if resamples else ():
        first, second = (kinds[kind] for kind in _NUMBERS[key][1])
        sizes = [int(first.sum()), int(second.sum())]
        if min(sizes) and (estimates[key].interval is None or not enough(sizes)):
            estimates[key] = replace(estimates[key], interval=_newcombe(first, second))
    return estimates


def _counts(kinds: Mapping[str, Counts]) -> dict[str, float | None]:
    """The rows and the right rows of each kind."""
    counts: dict[str, float | None] = {}
    for kind, rows in kinds.items():
        counts[kind] = int(rows.sum())
        counts[f"{kind}, right"] = int(rows[1])
    return counts


_NUMBERS = {
    "accuracy": ("accuracy", ("all",)),
    "delta_g": ("ΔG", ("male", "female")),
    "delta_s": ("ΔS", ("stereotypical", "anti")),
}
"""By key, the label of a number and the kinds of rows that it compares; it is undefined if one of
them has no rows."""

_DIFFERENCES = ("delta_g", "delta_s")


class _Property(NamedTuple):
    """A property that rows are grouped by."""

    stream: int
    """Of random numbers: a new property leaves the intervals of the others as they are."""
    value: Callable[[BugSentence], Any]
    name: Callable[[Any], str]
    """The name of the group of a value."""


_GROUPS = (
    _Property(
        1, lambda row: row.distance // BIN, lambda n: f"distance {BIN * n}-{BIN * (n + 1) - 1}"
    ),
    _Property(4, lambda row: row.pronouns, lambda n: f"pronouns {n}"),
    _Property(2, lambda row: row.corpus_pronouns, lambda n: f"corpus pronouns {n}"),
    _Property(3, lambda row: row.domain or "(no corpus)", str),  # "" is the group of all rows
)


def read_bug(path: Path) -> Bug:
    """Read a file of BUG, or ``gold_BUG.csv`` in the folder `path`.

    Raises:
        DataError: no such file; columns missing; a number, gender or stereotype that cannot be
            read.
    """
    file, rows = read_rows(path, "bug-gold", "g", "g_first_index", "distance", "num_of_pronouns")
    numbers = row_numbers(rows)
    numbered = zip(rows, map(str, numbers), strict=True)
    sentences = tuple(_sentence(row, id_) for row, id_ in numbered if row.sentence.strip())
    return Bug(sentences, len(rows) - len(sentences), moved(numbers), file.hashes)


def _sentence(row: BugRow, id_: str) -> BugSentence:
    # As the authors' script counts words. A translated sentence is repaired first and counted
    # otherwise (corpora.bug); here indices must mean the words that a system was given.
    words = tuple(row.sentence.strip().split(" "))
    profession, pronoun = (
        row.record.integer(column) for column in ("profession_first_index", "g_first_index")
    )
    placed = stands_at(words, profession, row.profession) and stands_at(
        words, pronoun, row.record.get("g")
    )
    return BugSentence(
        id=id_,
        words=words,
        profession=profession,
        pronoun=pronoun,
        gender=row.gold,
        stereotype=row.stereotype,
        domain=row.domain,
        distance=row.record.integer("distance"),
        pronouns=count_pronouns(without_mojibake(row.sentence, chance=0)),
        corpus_pronouns=row.record.integer("num_of_pronouns"),
        occupation=row.profession.strip().lower(),
        misplaced=not placed,
    )


def linking_clusters(clusters: Clusters, first: int, second: int) -> int:
    """How many of `clusters` contain both words: one of their mentions has start <= word <= end."""
    return sum(_contains(cluster, first) and _contains(cluster, second) for cluster in clusters)


def _contains(cluster: Cluster, word: int) -> bool:
    return any(start <= word <= end for start, end in cluster)


def _newcombe(first: Counts, second: Counts) -> Interval:
    """The interval of the difference in accuracy of two kinds of rows, as (wrong, right).

    Source: Newcombe, *Statistics in Medicine* 17 (1998), method 10, as `interval_of_sum` has it.
    """
    parts = []
    for sign, (wrong, right) in ((1, first), (-1, second)):
        ends = wilson_percent(int(right), int(wrong + right))
        assert ends is not None  # noqa: S101 - there are rows
        share = 100 * int(right) / int(wrong + right)
        lower, upper = sorted(sign * end for end in ends)
        parts.append((sign * share, (lower, upper)))
    return interval_of_sum(parts)


def _kinds(tables: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Wrong and right rows of each kind, ``[…, 2]``, of tables ``[…, gender, stereotype,
    wrong/right]``.
    """
    gender, side = tables.sum(axis=-2), tables.sum(axis=-3)
    return {
        "all": gender.sum(axis=-2),
        "male": gender[..., _GENDERS.index(Gender.MALE), :],
        "female": gender[..., _GENDERS.index(Gender.FEMALE), :],
        "stereotypical": side[..., _SIDES.index(Stereotype.PRO), :],
        "anti": side[..., _SIDES.index(Stereotype.ANTI), :],
    }


def _numbers(tables: NDArray[Any]) -> dict[str, Floats]:
    """Accuracy, ΔG and ΔS of such tables, NaN where a side has no rows."""
    accuracy = {kind: percent(n[..., 1], n.sum(axis=-1)) for kind, n in _kinds(tables).items()}
    return {
        "accuracy": accuracy["all"],
        "delta_g": accuracy["male"] - accuracy["female"],
        "delta_s": accuracy["stereotypical"] - accuracy["anti"],
    }
