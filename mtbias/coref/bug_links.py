"""BUG as a coreference data set: accuracy, ΔG and ΔS of linking a profession and its pronoun.

A row is correct if some cluster contains the word at ``profession_first_index`` and the word at ``g_first_index``; a
cluster contains a word if one of its mentions does, both ends included. (The authors' script adds up *how many*
clusters do; here a row counts once, and `several` says where it would not.) Indices count ``strip().split(" ")`` of
the sentence: a doubled space makes an empty word.

* Accuracy = correct rows / rows, all stereotypes included.
* ΔG = accuracy of male rows − accuracy of female rows; ΔS = accuracy of stereotypical rows (1) − of anti-stereotypical
  rows (−1), both in points. **Not** the ΔG of machine translation, which is a difference of F1.
* Distance bins are ⌊distance/5⌋: 0 to 4, 5 to 9 and so on; the authors' plot labels them 1-5, 6-10, and joins the last
  two. Where a group lacks one side of a difference, the difference is None (the authors' script stops with an error).
* Pronoun counts are the corpus's own ``num_of_pronouns``, which mostly leaves out *him* and can be 0.

Rows without a sentence are left out. Rows whose index is not at the profession or the pronoun count nevertheless, as
in the authors' script; `misplaced` counts them.

Source: Levy et al., Findings of EMNLP 2021; evaluate_coref.py of github.com/SLAB-NLP/BUG.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtbias.coref.conll import Clusters
from mtbias.coref.paired_systems import NumberUnits
from mtbias.coref.predicted_clusters import Predictions, check_complete, check_document, check_known
from mtbias.corpora.bug import BugRow, read_rows, stands_at
from mtbias.stats.resampling import bootstrap_counts, estimate, wilson_percent
from mtbias.stats.results import Estimate, Floats, percent, percent_of
from mtbias.types import Gender, Stereotype

BIN = 5
"""Words of distance in a bin."""

_GENDERS, _SIDES = tuple(Gender), tuple(Stereotype)
_SHAPE = (len(_GENDERS), len(_SIDES), 2)
"""Of the tables that `count_bug` gives."""


@dataclass(frozen=True, slots=True)
class BugSentence:
    """A row of the file that has a sentence."""

    id: str
    """The row's number in the file, from 0: what enumerating them gives."""
    words: tuple[str, ...]
    profession: int
    """The index of its word, as the file has it; so has `pronoun`."""
    pronoun: int
    gender: Gender
    stereotype: Stereotype
    domain: str
    distance: int
    pronouns: int
    occupation: str
    """The profession, in lower case."""
    misplaced: str
    """``profession``, ``pronoun`` or ``both`` where another word stands at the index; else empty."""


@dataclass(frozen=True, slots=True)
class Bug:
    """The rows that have a sentence."""

    rows: tuple[BugSentence, ...]
    skipped: tuple[str, ...]
    """Ids of the rows without a sentence."""
    path: Path
    sha256: str

    @property
    def misplaced(self) -> dict[str, int]:
        """Rows whose index is at another word, by which index it is."""
        kinds = [row.misplaced for row in self.rows]
        return {kind: kinds.count(kind) for kind in ("both", "pronoun", "profession")}


def read_bug(path: Path) -> Bug:
    """Read a file of BUG, or ``gold_BUG.csv`` in the folder `path`.

    Raises:
        DataError: no such file; columns missing; a number, gender or stereotype that cannot be read.
    """
    file, rows = read_rows(path, "bug-gold", "g", "g_first_index", "distance", "num_of_pronouns")
    sentences = tuple(_sentence(row) for row in rows if row.sentence.strip())
    skipped = tuple(str(row.record.row) for row in rows if not row.sentence.strip())
    return Bug(sentences, skipped, file.path, file.sha256)


def _sentence(row: BugRow) -> BugSentence:
    # As the authors' script counts words. A translated sentence is repaired first and counted otherwise (corpora.bug);
    # here indices must mean the words that a system was given.
    words = tuple(row.sentence.strip().split(" "))
    profession, pronoun = (row.record.integer(column) for column in ("profession_first_index", "g_first_index"))
    wrong = [
        name
        for name, index, word in (("profession", profession, row.profession), ("pronoun", pronoun, row.record.get("g")))
        if not stands_at(words, index, word)
    ]
    return BugSentence(
        id=str(row.record.row),
        words=words,
        profession=profession,
        pronoun=pronoun,
        gender=row.gold,
        stereotype=row.stereotype,
        domain=row.domain,
        distance=row.record.integer("distance"),
        pronouns=row.record.integer("num_of_pronouns"),
        occupation=row.profession.strip().lower(),
        misplaced="both" if len(wrong) == 2 else "".join(wrong),
    )


def linking_clusters(clusters: Clusters, first: int, second: int) -> int:
    """How many of `clusters` contain both words: one of their mentions has start <= word <= end."""
    return sum(
        all(any(start <= word <= end for start, end in cluster) for word in (first, second)) for cluster in clusters
    )


class LinkShare(NamedTuple):
    """Correct rows of a kind."""

    correct: int
    n: int


@dataclass(frozen=True, slots=True)
class BugGroup:
    """The scores of all rows, or of those of a group; in per cent and points."""

    shares: Mapping[str, LinkShare]
    """Of ``all``, ``male``, ``female``, ``stereotypical`` and ``anti`` rows."""
    numbers: Mapping[str, Estimate]
    """``accuracy`` of all, with Wilson's interval; ``delta_g``, accuracy of male less that of female rows, and
    ``delta_s``, of stereotypical less that of anti-stereotypical rows, with the percentile bootstrap's over the group's
    rows."""

    def to_json(self) -> dict[str, Any]:
        """Plain values, numbers unrounded."""
        return {
            **{kind: share._asdict() for kind, share in self.shares.items()},
            **{name: one.value for name, one in self.numbers.items()},
            **{f"{name}_interval": one.interval for name, one in self.numbers.items()},
        }


@dataclass(frozen=True, slots=True)
class BugScores:
    """All rows, and the groups."""

    overall: BugGroup
    groups: Mapping[str, Mapping[str, BugGroup]]
    """``by_distance`` (by bin, such as ``0-4``), ``by_pronouns`` and ``by_domain``."""
    several: int
    """Rows whose profession and pronoun are together in more than one cluster."""

    def to_json(self) -> dict[str, Any]:
        """Plain values, numbers unrounded."""
        groups = {by: {key: group.to_json() for key, group in of.items()} for by, of in self.groups.items()}
        return {"overall": self.overall.to_json(), **groups, "rows_in_several_clusters": self.several}


def score_bug(data: Bug, predictions: Predictions, *, seed: int = 0, resamples: int = 10_000) -> BugScores:
    """Score `predictions`, whose ids are the rows' numbers from 0.

    Raises:
        DataError: an id that is no row, or a row without a prediction (rows without a sentence need none, and theirs
            is not looked at); what `check_document` raises.
    """
    return compute_bug(data.rows, _answers(data, predictions), seed=seed, resamples=resamples)


def bug_units(data: Bug, predictions: Predictions) -> NumberUnits:
    """What a system's ``accuracy``, ``delta_g`` and ``delta_s`` rest on; a unit is a row.

    Raises:
        DataError: as `score_bug`.
    """
    answers = _answers(data, predictions)
    tables = [
        count_bug([row], [linking_clusters(answers[row.id], row.profession, row.pronoun) > 0]) for row in data.rows
    ]
    sums = np.array(tables, dtype=np.float64).reshape(len(tables), _SHAPE[0] * _SHAPE[1] * _SHAPE[2])
    return NumberUnits(sums, tuple(row.occupation for row in data.rows), _numbers)


def _numbers(sums: Floats) -> dict[str, Floats]:
    tables = sums.reshape(-1, *_SHAPE)
    right, n = (part.sum(axis=(1, 2)) for part in (tables[..., 1], tables.sum(axis=-1)))
    return {"accuracy": percent(right, n), **_gaps(tables)}


def _answers(data: Bug, predictions: Predictions) -> dict[str, Clusters]:
    """Clusters by id of the rows that have a sentence, checked against the data."""
    rows = {row.id: row for row in data.rows}
    check_known(predictions, [*rows, *data.skipped], f"the rows of {data.path.name}")
    check_complete(predictions.documents, rows, f"rows of {data.path.name} that have a sentence")
    for row in data.rows:
        check_document(predictions.documents[row.id], row.words)
    return {row.id: predictions.documents[row.id].clusters for row in data.rows}


def compute_bug(
    rows: Sequence[BugSentence], answers: Mapping[str, Clusters], *, seed: int = 0, resamples: int = 10_000
) -> BugScores:
    """The scores of `answers` (clusters by id) on `rows`; each group has its own stream of random numbers."""
    linking = [linking_clusters(answers[row.id], row.profession, row.pronoun) for row in rows]

    def group(at: Sequence[int], *stream: int) -> BugGroup:
        table = count_bug([rows[n] for n in at], [linking[n] > 0 for n in at])
        return _group(table, np.random.default_rng([seed, *stream]), resamples)

    def groups(kind: int, key: Callable[[BugSentence], Any], name: Callable[[Any], str] = str) -> dict[str, BugGroup]:
        members: dict[Any, list[int]] = {}
        for n, row in enumerate(rows):
            members.setdefault(key(row), []).append(n)
        return {name(value): group(members[value], kind, order) for order, value in enumerate(sorted(members))}

    return BugScores(
        overall=group(range(len(rows)), 0),
        groups={
            "by_distance": groups(
                1, lambda row: row.distance // BIN, lambda bin_: f"{BIN * bin_}-{BIN * bin_ + BIN - 1}"
            ),
            "by_pronouns": groups(2, lambda row: row.pronouns),
            "by_domain": groups(3, lambda row: row.domain),
        },
        several=sum(n > 1 for n in linking),
    )


def count_bug(rows: Sequence[BugSentence], correct: Sequence[bool]) -> NDArray[np.int64]:
    """Rows by gender (male, female, neutral), stereotype (pro, anti, none) and correctness (wrong, right)."""
    table = np.zeros(_SHAPE, dtype=np.int64)
    for row, right in zip(rows, correct, strict=True):
        table[_GENDERS.index(row.gender), _SIDES.index(row.stereotype), int(right)] += 1
    return table


def _group(table: NDArray[np.int64], rng: np.random.Generator, resamples: int) -> BugGroup:
    shares = {kind: LinkShare(int(n[1]), int(n.sum())) for kind, n in _kinds(table).items()}
    both_sides = {"delta_g": ("male", "female"), "delta_s": ("stereotypical", "anti")}
    gaps = estimate(
        table[None],
        _gaps,
        partial(bootstrap_counts, table, n_resamples=resamples, rng=rng),
        n={},
        intervals=[gap for gap, sides in both_sides.items() if all(shares[side].n for side in sides)],
    )
    accuracy = Estimate(percent_of(*shares["all"]), wilson_percent(*shares["all"]), shares["all"].n)
    return BugGroup(shares, {"accuracy": accuracy, **gaps})


def _kinds(tables: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Wrong and right rows of each kind, ``[…, 2]``, of tables ``[…, gender, stereotype, wrong/right]``."""
    gender, side = tables.sum(axis=-2), tables.sum(axis=-3)
    return {
        "all": gender.sum(axis=-2),
        "male": gender[..., _GENDERS.index(Gender.MALE), :],
        "female": gender[..., _GENDERS.index(Gender.FEMALE), :],
        "stereotypical": side[..., _SIDES.index(Stereotype.PRO), :],
        "anti": side[..., _SIDES.index(Stereotype.ANTI), :],
    }


def _gaps(tables: NDArray[Any]) -> dict[str, Floats]:
    """ΔG and ΔS of such tables, NaN where a side has no rows."""
    accuracy = {kind: percent(n[..., 1], n.sum(axis=-1)) for kind, n in _kinds(tables).items()}
    return {
        "delta_g": accuracy["male"] - accuracy["female"],
        "delta_s": accuracy["stereotypical"] - accuracy["anti"],
    }
