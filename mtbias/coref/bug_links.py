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
in the authors' script; `misplaced` says how many there are.

Source: Levy et al., Findings of EMNLP 2021; evaluate_coref.py of github.com/SLAB-NLP/BUG.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtbias.coref.conll import Clusters
from mtbias.coref.predicted_clusters import Predictions, check_document
from mtbias.errors import DataError
from mtbias.files.reading import Record, integer, read_table
from mtbias.stats.resampling import bootstrap_counts, percentile_interval, wilson_interval
from mtbias.stats.results import Interval
from mtbias.types import Gender, Stereotype

BIN = 5
"""Words of distance in a bin."""

_REQUIRED = (
    "sentence_text", "profession", "g", "profession_first_index", "g_first_index", "predicted gender", "stereotype",
    "corpus", "distance", "num_of_pronouns",
)  # fmt: skip
_STEREOTYPES = {"1": Stereotype.PRO, "0": Stereotype.NONE, "-1": Stereotype.ANTI}
_GENDERS, _SIDES = tuple(Gender), tuple(Stereotype)


@dataclass(frozen=True, slots=True)
class BugRow:
    """One row of the file."""

    id: str
    """Its number among the rows, from 0: what enumerating them gives."""
    words: tuple[str, ...]
    profession: int
    pronoun: int
    gender: Gender
    stereotype: Stereotype
    domain: str
    distance: int
    pronouns: int
    misplaced: str
    """``profession``, ``pronoun`` or ``both`` where another word stands at the index; else empty."""


@dataclass(frozen=True, slots=True)
class Bug:
    """The rows that have a sentence."""

    rows: tuple[BugRow, ...]
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
    table = read_table(path / "gold_BUG.csv" if path.is_dir() else path)
    table.require(*_REQUIRED)
    rows = tuple(_row(record, table.file.path) for record in table.records if record.get("sentence_text"))
    skipped = tuple(str(record.row) for record in table.records if not record.get("sentence_text"))
    return Bug(rows, skipped, table.file.path, table.file.sha256)


def _row(record: Record, path: Path) -> BugRow:
    def number(column: str) -> int:
        return integer(record.get(column), column, path, record.line)

    words = tuple(record.raw("sentence_text").strip().split(" "))
    gender, stereotype = record.get("predicted gender").lower(), record.get("stereotype").removesuffix(".0")
    if gender not in _GENDERS:
        message = f"predicted gender: Male, Female or Neutral expected, found {record.get('predicted gender')!r}"
        raise DataError(message, path=path, line=record.line)
    if stereotype not in _STEREOTYPES:
        raise DataError(f"stereotype: 1, 0 or -1 expected, found {stereotype!r}", path=path, line=record.line)
    wrong = [
        name for name, column, index in (("profession", "profession", "profession_first_index"),
                                         ("pronoun", "g", "g_first_index"))
        if not _stands_at(words, number(index), record.get(column))
    ]  # fmt: skip
    return BugRow(
        id=str(record.row),
        words=words,
        profession=number("profession_first_index"),
        pronoun=number("g_first_index"),
        gender=Gender(gender),
        stereotype=_STEREOTYPES[stereotype],
        domain=record.get("corpus").lower(),
        distance=number("distance"),
        pronouns=number("num_of_pronouns"),
        misplaced="both" if len(wrong) == 2 else "".join(wrong),
    )


def _stands_at(words: Sequence[str], index: int, word: str) -> bool:
    return index < len(words) and words[index].lower() == word.lower()


def linking_clusters(clusters: Clusters, first: int, second: int) -> int:
    """How many of `clusters` contain both words: one of their mentions has start <= word <= end."""
    return sum(
        all(any(start <= word <= end for start, end in cluster) for word in (first, second)) for cluster in clusters
    )


@dataclass(frozen=True, slots=True)
class Share:
    """Correct rows of a kind."""

    correct: int
    n: int

    @property
    def accuracy(self) -> float | None:
        """In per cent; None without rows."""
        return 100 * self.correct / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class BugGroup:
    """The scores of all rows, or of those of a group; in per cent and points."""

    all: Share
    male: Share
    female: Share
    stereotypical: Share
    anti: Share
    accuracy: float | None
    delta_g: float | None
    delta_s: float | None
    accuracy_interval: Interval | None
    """Wilson's."""
    delta_g_interval: Interval | None
    """Percentile bootstrap over the group's rows."""
    delta_s_interval: Interval | None

    def to_json(self) -> dict[str, Any]:
        """Plain values, numbers unrounded."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class BugScores:
    """All rows, and the groups."""

    overall: BugGroup
    by_distance: Mapping[str, BugGroup]
    """By bin, such as ``0-4``."""
    by_pronouns: Mapping[str, BugGroup]
    by_domain: Mapping[str, BugGroup]
    several: int
    """Rows whose profession and pronoun are together in more than one cluster."""

    def to_json(self) -> dict[str, Any]:
        """Plain values, numbers unrounded."""
        groups = {
            name: {key: group.to_json() for key, group in getattr(self, name).items()}
            for name in ("by_distance", "by_pronouns", "by_domain")
        }
        return {"overall": self.overall.to_json(), **groups, "rows_in_several_clusters": self.several}


def score_bug(data: Bug, predictions: Predictions, *, seed: int = 0, resamples: int = 10_000) -> BugScores:
    """Score `predictions`, whose ids are the rows' numbers from 0.

    Raises:
        DataError: an id that is no row, or a row without a prediction (rows without a sentence need none, and theirs
            is not looked at); what `check_document` raises.
    """
    known = {row.id for row in data.rows} | set(data.skipped)
    for id_, prediction in predictions.documents.items():
        if id_ not in known:
            message = (
                f"id {id_!r} is no row of {data.path.name}; ids are the numbers of its rows, 0 to {len(known) - 1}"
            )
            raise DataError(message, path=prediction.path, line=prediction.line)
    missing = [row.id for row in data.rows if row.id not in predictions.documents]
    if missing:
        message = f"{len(missing)} of {len(data.rows)} rows of {data.path.name} have no prediction, the first is row"
        raise DataError(f"{message} {missing[0]} (from 0); a system that finds nothing there has empty clusters")
    for row in data.rows:
        check_document(predictions.documents[row.id], row.words)
    answers = {row.id: predictions.documents[row.id].clusters for row in data.rows}
    return compute_bug(data.rows, answers, seed=seed, resamples=resamples)


def compute_bug(
    rows: Sequence[BugRow], answers: Mapping[str, Clusters], *, seed: int = 0, resamples: int = 10_000
) -> BugScores:
    """The scores of `answers` (clusters by id) on `rows`; each group has its own stream of random numbers."""
    linking = [linking_clusters(answers[row.id], row.profession, row.pronoun) for row in rows]

    def groups(kind: int, key: Callable[[BugRow], int | str]) -> dict[int | str, BugGroup]:
        members: dict[int | str, list[int]] = {}
        for at, row in enumerate(rows):
            members.setdefault(key(row), []).append(at)
        return {
            name: _group(count_bug([rows[at] for at in members[name]], [linking[at] > 0 for at in members[name]]),
                         np.random.default_rng([seed, kind, order]), resamples)
            for order, name in enumerate(sorted(members, key=lambda name: (isinstance(name, str), name)))
        }  # fmt: skip

    return BugScores(
        overall=_group(count_bug(rows, [n > 0 for n in linking]), np.random.default_rng([seed, 0]), resamples),
        by_distance={
            f"{BIN * int(bin_)}-{BIN * int(bin_) + BIN - 1}": group
            for bin_, group in groups(1, lambda row: row.distance // BIN).items()
        },
        by_pronouns={str(n): group for n, group in groups(2, lambda row: row.pronouns).items()},
        by_domain={str(domain): group for domain, group in groups(3, lambda row: row.domain).items()},
        several=sum(n > 1 for n in linking),
    )


def count_bug(rows: Sequence[BugRow], correct: Sequence[bool]) -> NDArray[np.int64]:
    """Rows by gender (male, female, neutral), stereotype (pro, anti, none) and correctness (wrong, right)."""
    table = np.zeros((len(_GENDERS), len(_SIDES), 2), dtype=np.int64)
    for row, right in zip(rows, correct, strict=True):
        table[_GENDERS.index(row.gender), _SIDES.index(row.stereotype), int(right)] += 1
    return table


def _group(table: NDArray[np.int64], rng: np.random.Generator, resamples: int) -> BugGroup:
    gender, side = table.sum(axis=1), table.sum(axis=0)
    whole, male, female, pro, anti = (
        Share(int(wrong_right[1]), int(wrong_right.sum()))
        for wrong_right in (
            gender.sum(axis=0), gender[_GENDERS.index(Gender.MALE)], gender[_GENDERS.index(Gender.FEMALE)],
            side[_SIDES.index(Stereotype.PRO)], side[_SIDES.index(Stereotype.ANTI)],
        )
    )  # fmt: skip
    replicates = bootstrap_counts(table, _differences, resamples, rng)
    wilson = wilson_interval(whole.correct, whole.n)
    return BugGroup(
        whole, male, female, pro, anti,
        accuracy=whole.accuracy,
        delta_g=_difference(male.accuracy, female.accuracy),
        delta_s=_difference(pro.accuracy, anti.accuracy),
        accuracy_interval=None if wilson is None else (100 * wilson[0], 100 * wilson[1]),
        delta_g_interval=percentile_interval(replicates[:, 0]) if male.n and female.n else None,
        delta_s_interval=percentile_interval(replicates[:, 1]) if pro.n and anti.n else None,
    )  # fmt: skip


def _difference(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first - second


def _differences(tables: NDArray[np.int64]) -> NDArray[np.float64]:
    """ΔG and ΔS of tables ``[R, gender, stereotype, wrong/right]``: ``[R, 2]``, NaN where undefined."""
    with np.errstate(invalid="ignore", divide="ignore"):
        gender, side = (100 * t[..., 1] / t.sum(axis=-1) for t in (tables.sum(axis=2), tables.sum(axis=1)))
    delta_g = gender[:, _GENDERS.index(Gender.MALE)] - gender[:, _GENDERS.index(Gender.FEMALE)]
    delta_s = side[:, _SIDES.index(Stereotype.PRO)] - side[:, _SIDES.index(Stereotype.ANTI)]
    return np.stack([delta_g, delta_s], axis=1)
