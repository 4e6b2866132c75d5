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
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtbias.coref.dataset import CorefDataset, DatasetScores, NamedNumber, shares_by_group
from mtbias.coref.documents import Answers, Clusters, CorefText
from mtbias.corpora.bug import INDEX_NOTE, BugRow, moved, read_rows, row_numbers, stands_at
from mtbias.english.words import count_pronouns
from mtbias.files.encodings import without_mojibake
from mtbias.stats.paired import NumberUnits
from mtbias.stats.resampling import interval_of_sum, wilson_percent
from mtbias.stats.results import Counts, Floats, Interval, enough, percent, source
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
    """Whether another word stands at one of the two indices."""


@dataclass(frozen=True)
class Bug(CorefDataset):
    """The rows that have a sentence."""

    rows: tuple[BugSentence, ...]
    skipped: int
    """Rows without a sentence."""
    moved: int
    """Rows whose number in the file's index is not their place."""
    files: Mapping[str, str]

    name = "bug"
    options = frozenset({"over"})
    signed = MappingProxyType({"contains": "inclusive", "bin": "floor(distance/5)"})

    @cached_property
    def texts(self) -> list[CorefText]:
        """The rows that have a sentence; one whose index is past its end has no gold cluster.

        An underscore stands for a word without characters, which no format can have and which
        indices count.
        """
        texts = []
        for row in self.rows:
            gold = tuple(
                (at, at) for at in sorted({row.profession, row.pronoun}) if at < len(row.words)
            )
            tokens = tuple("".join(word.split()) or "_" for word in row.words)
            of_both = (gold,) if len(gold) == 2 else ()
            pronoun = (row.pronoun, row.pronoun)
            texts.append(CorefText(row.id, tokens, " ".join(row.words), of_both, pronoun=pronoun))
        return texts

    def right(self, at: int, text: CorefText, answer: Clusters) -> bool:  # noqa: ARG002 - the base class's
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
        misplaced, several = sum(row.misplaced for row in self.rows), sum(n > 1 for n in linking)
        groups: dict[str, tuple[list[int], Sequence[int]]] = {"": ([0], range(len(self.rows)))}
        for by in _GROUPS:
            values = [by.value(row) for row in self.rows]
            for order, value in enumerate(sorted(set(values))):
                places_of = [at for at, other in enumerate(values) if other == value]
                groups[by.name(value)] = [by.stream, order], places_of
        numbers: list[NamedNumber] = []
        counts: dict[str, dict[str, float | None]] = {}
        places = [
            (_GENDERS.index(row.gender), _SIDES.index(row.stereotype), hits > 0)
            for row, hits in zip(self.rows, linking, strict=True)
        ]
        professions = [row.occupation for row in self.rows]
        units = {
            part: NumberUnits.of_cells(
                [places[at] for at in of], _SHAPE, [professions[at] for at in of], _numbers
            )
            for part, (_, of) in groups.items()
        }
        for part, (stream, _) in groups.items():
            kinds = _kinds(units[part].sums.sum(axis=0).astype(np.int64).reshape(_SHAPE))
            n = {kind: int(of.sum()) for kind, of in kinds.items()}
            found = units[part].estimates(
                resamples,
                source([seed, *stream]),
                n={key: sum(n[side] for side in sides) for key, (_, sides) in _NUMBERS.items()},
                intervals=[
                    key for key, (_, sides) in _NUMBERS.items() if all(n[side] for side in sides)
                ],
            )
            right = int(kinds["all"][1])
            found["accuracy"] = replace(found["accuracy"], interval=wilson_percent(right, n["all"]))
            for key in _DIFFERENCES if resamples else ():
                first, second = (kinds[side] for side in _NUMBERS[key][1])
                sizes = [int(first.sum()), int(second.sum())]
                if min(sizes) and (found[key].interval is None or not enough(sizes)):
                    found[key] = replace(found[key], interval=_newcombe(first, second))
            numbers += [
                NamedNumber(part, key, label, found[key], headline=not part)
                for key, (label, _) in _NUMBERS.items()
            ]
            counts[part or "all"] = {
                name: count
                for kind in n
                for name, count in ((kind, n[kind]), (f"{kind}, right", int(kinds[kind][1])))
            }
        noted = {
            f"{INDEX_NOTE} ({self.moved} rows)": self.moved,
            f"without a sentence, left out: {self.skipped} of {len(self.rows) + self.skipped} rows": self.skipped,
            f"with another word at an index, counted: {misplaced} rows": misplaced,
            f"linked by more than one cluster, counted once: {several} rows": several,
        }
        notes = tuple(note for note, rows in noted.items() if rows)
        by_gender = (
            (row.occupation, _GENDERS.index(row.gender), hits > 0)
            for row, hits in zip(self.rows, linking, strict=True)
            if row.gender is not Gender.NEUTRAL
        )
        return DatasetScores(
            tuple(numbers), {"": units[""]}, counts, notes, sides=shares_by_group(by_gender)
        )


_NUMBERS = {
    "accuracy": ("accuracy", ("all",)),
    "delta_g": ("ΔG", ("male", "female")),
    "delta_s": ("ΔS", ("stereotypical", "anti")),
}
"""By key, what a number is called, and the kinds of rows that it compares: where one has no rows,
it is undefined."""

_DIFFERENCES = ("delta_g", "delta_s")


class _Property(NamedTuple):
    """What rows are grouped by."""

    stream: int
    """Of random numbers: a new property leaves the intervals of the others as they are."""
    value: Callable[[BugSentence], Any]
    name: Callable[[Any], str]
    """What the group of a value is called."""


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
    return sum(
        all(any(start <= word <= end for start, end in cluster) for word in (first, second))
        for cluster in clusters
    )


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
