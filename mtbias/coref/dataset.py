"""A data set of coreference: its documents, how a system's answers to them are read, and the numbers that they make.

Each data set is one class, and all of them give `DatasetScores`: what scores one system, runs it on all data sets or
compares two knows no data set.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from mtbias.coref.conll import Clusters
from mtbias.coref.documents import Answers, CorefText, DatasetName, Predictions, Spans, check_complete
from mtbias.coref.output_reading import read_output
from mtbias.coref.paired_systems import NumberUnits
from mtbias.errors import UsageError
from mtbias.files.signatures import signature_line
from mtbias.settings import BootstrapSettings
from mtbias.stats.results import Estimate
from mtbias.types import Stereotype

T = TypeVar("T")

RATIO = 3
"""Decimals of ratios and correlations; numbers in per cent and points have two."""
CONDITIONS = (Stereotype.PRO, Stereotype.ANTI)
"""The stereotype fits, or it does not."""


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
    """What it is to be linked to the right person, or not, and to a wrong one, or not."""
    return Link.BOTH if right and wrong else Link.RIGHT if right else Link.WRONG if wrong else Link.NONE


def pro_against_anti(pro: float | None, anti: float | None) -> tuple[float | None, float | None]:
    """Mean and difference of a number where the stereotype fits and where not; None where either is undefined."""
    return (None, None) if pro is None or anti is None else ((pro + anti) / 2, pro - anti)


@dataclass(frozen=True, slots=True)
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
    """Whether it stands in a table that has little room."""
    decimals: int = 2

    @property
    def p(self) -> float | None:
        """The two-sided p of the test that the data set makes of it."""
        return self.estimate.p if self.estimate.p_two_sided is None else self.estimate.p_two_sided

    @property
    def p_one_sided(self) -> float | None:
        """The one-sided p of the data set's paper, where it has one."""
        return None if self.estimate.p_two_sided is None else self.estimate.p


@dataclass(frozen=True, slots=True)
class DatasetScores:
    """The numbers of one system on one data set."""

    numbers: tuple[NamedNumber, ...]
    units: Mapping[str, NumberUnits]
    """By part: what the numbers rest on in which systems are compared."""
    counts: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    """What was counted, by a row's name and the count's."""
    notes: tuple[str, ...] = ()
    """What is to be said beside them."""

    def __getitem__(self, name: str | tuple[str, str]) -> Estimate:
        """The number of a key, or of a part and a key.

        Raises:
            KeyError: there is none.
        """
        part, key = ("", name) if isinstance(name, str) else name
        return {(one.part, one.key): one.estimate for one in self.numbers}[part, key]


class CorefDataset(ABC, Generic[T]):
    """A data set, whose systems answer each document with a T."""

    name: ClassVar[DatasetName]
    options: ClassVar[frozenset[str]] = frozenset()
    """The options of `mtbias coref score` that not all data sets have and this one has."""
    signed: Mapping[str, object]
    """What a signature says of how its numbers are made."""
    files: Mapping[str, str]
    """SHA-256 by name of what it was read from."""

    @property
    @abstractmethod
    def texts(self) -> Sequence[CorefText]:
        """Its documents."""

    @abstractmethod
    def read(self, paths: Sequence[Path], *, ids: Path | None = None, spans: Spans | None = None) -> Answers[T]:
        """A system's answers in the files at `paths`; `ids` and `spans` as `mtbias.coref.output_reading` has them.

        Raises:
            DataError: files that are not about the data, or that lack documents which they must have.
        """

    def baseline(self, rule: str) -> Answers[T]:
        """The answers of a rule system.

        Raises:
            UsageError: the data set does not have it.
        """
        raise UsageError(f"--baseline: {self.name} has no rule system {rule!r}")

    @abstractmethod
    def score(self, answers: Answers[T], *, seed: int = 0, resamples: int = 10_000) -> DatasetScores:
        """The numbers of a system, with intervals and tests from so many resamples."""

    def signature(self, answers: Answers[T], settings: BootstrapSettings, **more: object) -> str:
        """``coref:<name>|…``: what the numbers of a system rest on (`mtbias.files.signatures.signature_line`)."""
        options = {**self.signed, **answers.signed, **more, "seed": settings.seed, "resamples": settings.resamples}
        return signature_line(f"coref:{self.name}", {"data": self.files, "predictions": answers.files}, options)


class ClusterDataset(CorefDataset[Clusters]):
    """A data set that is answered with clusters."""

    must_be_complete: ClassVar[bool] = True
    """Whether each document needs a prediction."""

    @property
    def without_text(self) -> Collection[str]:
        """Ids that the data has without a text: what is said of them is passed over."""
        return ()

    def read(self, paths: Sequence[Path], *, ids: Path | None = None, spans: Spans | None = None) -> Predictions:
        """See `CorefDataset`."""
        predictions = read_output(self.texts, paths, ids=ids, spans=spans, also=self.without_text)
        if self.must_be_complete:
            check_complete(predictions.of, [text.id for text in self.texts], "documents", paths[0])
        return predictions
