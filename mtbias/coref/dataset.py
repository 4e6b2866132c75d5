"""A data set of coreference: its documents, how a system's answers to them are read, and the
numbers that they make.

Each data set is one class, and all of them give `DatasetScores`: what scores one system, runs it on
all data sets or compares two knows no data set. Under every number are
`mtbias.stats.paired.NumberUnits`: sentences, lines of counterparts, quadruples or occupations, by
which intervals are drawn and two systems are paired.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mtbias.coref.documents import (
    Answers,
    Cluster,
    Clusters,
    CorefText,
    DatasetName,
    Mention,
    Spans,
)
from mtbias.coref.output_reading import IN_ORDER, read_output
from mtbias.coref.system_files import holds_clusters
from mtbias.errors import DataError, UsageError
from mtbias.files.reading import read_text
from mtbias.files.writing import signature_line
from mtbias.settings import BootstrapSettings
from mtbias.stats.paired import NumberUnits
from mtbias.stats.resampling import wilson_percent
from mtbias.stats.results import Estimate, Floats, percent_of
from mtbias.types import JsonDict, Span, Stereotype, frozen

RATIO = 3
"""Decimals of ratios and correlations; numbers in per cent and points have two."""
CONDITIONS = (Stereotype.PRO, Stereotype.ANTI)
"""The stereotype fits, or it does not."""
KINDS = {"pro": "pro", "anti": "anti", "average": "average", "difference": "pro − anti"}
"""What numbers by condition are called: of either, their mean, and their difference (`by_kind`)."""


class Link(StrEnum):
    """With whom the pronoun shares a cluster, of the person it means and the others."""

    RIGHT = "right"
    """With the right one alone."""
    WRONG = "wrong"
    """With others alone."""
    BOTH = "both"
    NONE = "none"
    """With nobody; or the pronoun is in no cluster."""


def link_to(*, right: bool, wrong: bool) -> Link:
    """The link of a pronoun, given whether it is linked to the right person and to a wrong one."""
    if right:
        return Link.BOTH if wrong else Link.RIGHT
    return Link.WRONG if wrong else Link.NONE


def by_kind(prefix: str, pro: Floats, anti: Floats) -> dict[str, Floats]:
    """A number of both conditions, its average and its difference, by `KINDS` after `prefix`."""
    values = (pro, anti, (pro + anti) / 2, pro - anti)
    return {f"{prefix}{kind}": value for kind, value in zip(KINDS, values, strict=True)}


@frozen
class NamedNumber:
    """A number of a data set."""

    part: str
    """The part of the data set that it is of, such as ``dev type 1``; empty for all of it."""
    key: str
    """Its name within the part, as a comparison of systems has it too (`DatasetScores.units`)."""
    label: str
    estimate: Estimate
    """In per cent or points, but for ratios and correlations."""
    headline: bool = False
    """Whether a small table shows it."""
    decimals: int = 2

    def named(self) -> JsonDict:
        """Which number it is."""
        return {"part": self.part, "key": self.key, "label": self.label}

    def to_json(self) -> JsonDict:
        """Plain values, unrounded."""
        estimate = self.estimate
        one_sided = {} if estimate.p_one_sided is None else {"p_one_sided": estimate.p_one_sided}
        return {
            **self.named(),
            "value": estimate.value,
            "interval": estimate.interval,
            "n": estimate.n,
            "p": estimate.p,
            **one_sided,
        }


@frozen
class Share:
    """Right answers of a group of sentences."""

    right: int
    n: int

    @property
    def percent(self) -> float | None:
        """Per cent right; None without sentences."""
        return percent_of(self.right, self.n)

    @property
    def estimate(self) -> Estimate:
        """The same with Wilson's interval."""
        return Estimate(self.percent, wilson_percent(self.right, self.n), self.n)


Sides = tuple[Share, Share]
"""Shares right on the two sides that a data set compares: pro and anti, or men and women."""


def shares_by_group(rows: Iterable[tuple[str, int, bool]]) -> dict[str, Sides]:
    """Both sides of each group, of rows with their group, side (0 or 1), and whether they are
    right; groups in alphabetical order.
    """
    counted: defaultdict[str, NDArray[np.int64]] = defaultdict(lambda: np.zeros((2, 2), np.int64))
    for group, side, is_right in rows:
        counted[group][side] += (is_right, 1)
    return {
        group: (Share(*map(int, first)), Share(*map(int, second)))
        for group, (first, second) in sorted(counted.items())
    }


@frozen
class DatasetScores:
    """The numbers of one system on one data set."""

    numbers: tuple[NamedNumber, ...]
    units: Mapping[str, NumberUnits]
    """By part: what the numbers rest on in which systems are compared."""
    counts: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    """What was counted, by a row's name and the count's."""
    notes: tuple[str, ...] = ()
    """Notes on the numbers."""
    remarks: tuple[str, ...] = ()
    """Notes on the data, which hold for every system."""
    sides: Mapping[str, Sides] = field(default_factory=dict)
    """By occupation, the shares right on the two sides that the data set compares."""

    @property
    def by_key(self) -> dict[tuple[str, str], NamedNumber]:
        """The numbers by part and key."""
        return {(one.part, one.key): one for one in self.numbers}

    def __getitem__(self, name: str | tuple[str, str]) -> Estimate:
        """The number of a key, or of a part and a key.

        Raises:
            KeyError: there is none.
        """
        return self.by_key[("", name) if isinstance(name, str) else name].estimate


@frozen
class TextResult:
    """A document with what a system found in it."""

    id: str
    text: str
    gold: tuple[Span, ...]
    found: tuple[Span, ...]
    """Mentions of the clusters that have the pronoun."""
    group: str
    right: bool


class CorefDataset(ABC):
    """A data set of coreference.

    Its class declares how answers are read; `score` computes their numbers.
    """

    name: ClassVar[DatasetName]
    options: ClassVar[frozenset[str]] = frozenset()
    """The options of `mtbias coref score` that not all data sets have and this one has."""
    takes_labels: ClassVar[bool] = False
    """Whether answers may be a table of labels in place of clusters."""
    must_be_complete: ClassVar[bool] = True
    """Whether each document needs an answer."""
    keeps_unknown: ClassVar[bool] = False
    """Whether labels of other documents are allowed."""
    from_clusters: ClassVar[Mapping[str, object]] = {}
    """What a signature says where answers were made of clusters."""
    remarks: Sequence[str] = ()
    """Notes on its documents, shown with the numbers and where the documents are written."""
    left_out: Sequence[CorefText] = ()
    """Documents of parts that are not scored: answers to them are ignored."""
    signed: Mapping[str, object]
    """What a signature says of how its numbers are made."""
    files: Mapping[str, str]
    """SHA-256 by name of what it was read from."""

    @property
    @abstractmethod
    def texts(self) -> Sequence[CorefText]:
        """Its documents."""

    def answer(
        self,
        id_: str,  # noqa: ARG002 - some data sets need it
        clusters: Clusters,
    ) -> object:
        """The answer that `clusters` of tokens give to the document `id_`; here the clusters."""
        return clusters

    def read_labels(self, path: Path) -> Answers:
        """The answers in a table of labels, where the data set `takes_labels`."""
        raise NotImplementedError

    def read(
        self, paths: Sequence[Path], *, ids: Path | None = None, spans: Spans | None = None
    ) -> Answers:
        """A system's answers in the files at `paths`; `ids` and `spans` as
        `mtbias.coref.output_reading` has them.

        Whether they are clusters or a table of labels is told by the content.

        Raises:
            DataError: files that are not about the data, or that lack documents which they must
                have. A document that is missing cannot be told from one where a system finds
                nothing: a file that was cut off would only score lower.
        """
        if self.takes_labels and not paths[0].is_dir() and not holds_clusters(read_text(paths[0])):
            if len(paths) > 1:
                raise DataError(
                    f"expected one table of labels, got {len(paths)} files", path=paths[1]
                )
            if ids or spans:
                raise UsageError(
                    "--ids and --spans go with files of clusters, got a table of labels: it has "
                    "the data's ids"
                )
            answers = self.read_labels(paths[0])
        else:
            answers = self._read_clusters(paths, ids, spans)
        known = {text.id: None for text in self.texts}
        unknown = [] if self.keeps_unknown else [id_ for id_ in answers.of if id_ not in known]
        if unknown:
            raise DataError(
                f"predictions for {len(unknown)} ids that the data does not have: {unknown[0]!r}",
                path=paths[0],
            )
        missing = [id_ for id_ in known if id_ not in answers.of] if self.must_be_complete else []
        if missing:
            part = "; --part scores a part of the data" if "part" in self.options else ""
            raise DataError(
                f"no prediction for {len(missing)} of {len(known)} documents, the first "
                f"{missing[0]!r}; a system that finds nothing there says so (empty clusters, or "
                f"none){part}",
                path=paths[0],
            )
        return answers

    def _read_clusters(
        self, paths: Sequence[Path], ids: Path | None, spans: Spans | None
    ) -> Answers:
        """The answers that clusters in files give; documents that are `left_out` are ignored."""
        texts = self.texts if str(ids) == IN_ORDER else [*self.texts, *self.left_out]
        output = read_output(texts, paths, ids=ids, spans=spans)
        left_out = {text.id for text in self.left_out}
        clusters_of = {id_: clusters for id_, clusters in output.of.items() if id_ not in left_out}
        return replace(
            output,
            of={id_: self.answer(id_, clusters) for id_, clusters in clusters_of.items()},
            signed={**self.from_clusters, **output.signed},
            clusters=clusters_of,
        )

    def baseline(self, rule: str) -> Answers:
        """The answers of a rule system.

        Raises:
            UsageError: the data set does not have it.
        """
        raise UsageError(f"--baseline: {self.name} has no rule system {rule!r}")

    def right(
        self,
        at: int,
        text: CorefText,
        answer: Any,  # noqa: ANN401 - what `answer` returns
    ) -> bool:
        """Whether `answer` to the document at place `at` is right, as the data set's accuracy
        counts it.
        """
        raise NotImplementedError

    def results(self, answers: Answers) -> Iterator[TextResult]:
        """Each document that has an answer made of clusters, in the order of the data."""
        for at, text in enumerate(self.texts):
            if text.id in answers.clusters and text.pronoun:
                clusters = _containing(answers.clusters[text.id], text.pronoun)
                gold = text.places(chain.from_iterable(text.gold))
                mentions = text.places(chain.from_iterable(clusters))
                right = self.right(at, text, answers.of[text.id])
                yield TextResult(text.id, text.text, gold, mentions, text.group, right)

    @abstractmethod
    def score(self, answers: Answers, *, seed: int = 0, resamples: int = 10_000) -> DatasetScores:
        """The numbers of a system, with intervals and tests from so many resamples."""

    def signature(self, answers: Answers, settings: BootstrapSettings, **more: object) -> str:
        """``coref:<name>|…``: what the numbers of a system rest on
        (`mtbias.files.writing.signature_line`).
        """
        options = {
            **self.signed,
            **answers.signed,
            **more,
            "seed": settings.seed,
            "resamples": settings.resamples,
        }
        return signature_line(
            f"coref:{self.name}", {"data": self.files, "predictions": answers.files}, options
        )


def _containing(clusters: Clusters, pronoun: Mention) -> Iterator[Cluster]:
    """The clusters with a mention that is the pronoun or contains it."""
    first, last = pronoun
    for cluster in clusters:
        if any(start <= first and last <= end for start, end in cluster):
            yield cluster
