"""What a corpus is measured by: a measure takes a corpus with translations and gives records,
counts and scores.

A corpus names its measure (`mtbias.corpora.corpus.Corpus.measure`); measures are found by that name
under the entry-point group ``mtbias.measures``, the built-in one (``gender``: the gender of an
entity by morphology) like a third party's. A `MeasureKind` is what can be known without anything
else: its numbers, its settings, how its records are read back and scored. Opened for a language it
is a `Measure`, which judges translations. What is usual is a default of these classes; whatever
differs from measure to measure is asked of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from mtbias.corpora.corpus import GENDER, Corpus
from mtbias.entry_points import load, refuse
from mtbias.files.text_repair import KINDS
from mtbias.scoring.counting import Counting
from mtbias.scoring.scores import Scores, score_records
from mtbias.settings import EvaluatorSettings
from mtbias.types import Json, JsonObject, Progress, Translation, frozen

GROUP = "mtbias.measures"


class MeasureRecord(Protocol):
    """A line of `calls.jsonl`: a sentence, its translation, and what was found in it."""

    @property
    def id(self) -> str:
        """The id of the instance."""
        ...

    @property
    def source(self) -> str:
        """Its sentence."""
        ...

    @property
    def translation(self) -> str | None:
        """None if there is none."""
        ...

    def to_json(self) -> JsonObject:
        """The object of the line, keys in their order; among them ``id``, ``source`` and
        ``translation``.
        """
        ...


class Measure(ABC):
    """A measure that is ready for one language."""

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Json]:
        """What its findings depend on: a part of the run's identity."""

    @property
    def execution(self) -> Mapping[str, Json]:
        """Circumstances for the manifest that change no number."""
        return {}

    def check(  # noqa: B027 - most have nothing to refuse
        self, instances: Sequence[Any], translations: Sequence[Translation]
    ) -> None:
        """Refuse given translations before anything is written; by default none are.

        Raises:
            DataError: they cannot be judged; says why.
        """

    def hint(self, texts: Iterable[str]) -> None:  # noqa: B027 - most do not begin early
        """Called with translations that were just made while others still are, so that a measure
        may begin with them.
        """

    def expect(self, texts: Iterable[str]) -> None:  # noqa: B027 - see `hint`
        """Called with all translations of a system that will be judged, while those of another are,
        so that a measure may begin with them.
        """

    def abandon(self) -> None:  # noqa: B027 - see `hint`
        """End what `hint` and `expect` began: the translations will not be judged."""

    @abstractmethod
    def judge(
        self, instances: Sequence[Any], translations: Sequence[Translation], progress: Progress
    ) -> Sequence[MeasureRecord]:
        """One record for each instance, in their order.

        Args:
            instances: the corpus.
            translations: one for each instance, joined by id.
            progress: see `mtbias.types.Progress`.
        """


@frozen
class MeasureOptions:
    """What a measure is opened with."""

    lang: str
    """ISO 639-1 code of the target language."""
    settings: EvaluatorSettings
    device: str | None
    """Where models run; None is a GPU where there is one."""
    source_lang: str = "en"
    """That of the source language."""
    demo: bool = False
    """Whether model and corpus are the demo's: its own Stanza models are the default then."""
    made: bool = False
    """Whether translations are made by a system; else somebody has them."""
    scores: Path | None = None
    """File of scores that the user gives for the translations."""
    fetch: Callable[[str], object] | None = None
    """Called with a line before something is downloaded; None where nothing may be."""


class MeasureKind(ABC):
    """A measure, as far as it does not depend on a language."""

    counting: Counting
    """Its numbers, and how they follow from counts of its records."""
    uses: frozenset[str] = frozenset()
    """Which of the settings ``aligner``, ``evidence``, ``scores`` and ``variant`` change something;
    the others are refused where they are set."""
    repairs: Collection[str] = KINDS
    """What is undone in damaged translations, of `mtbias.files.text_repair.KINDS`."""
    judges: frozenset[str] = frozenset()
    """The measures on whose corpora a user may ask for this one (``--measure``): their instances
    are what it judges, too."""
    needs_stanza: bool = False
    """Whether it reads translations by Stanza's models."""
    parses_sources: bool = False
    """Whether it parses English sources by Stanza's models."""
    reads_entities: bool = False
    """Whether its records are calls of an entity's gender (`mtbias.runs.call_records.CallRecord`):
    then pages list them, and alarms look at the calls too."""
    reads_persons: bool = False
    """Whether its records are whole persons (`mtbias.scoring.whole_person.PersonRecord`): then
    pages list those whose words disagree with the source."""

    def check_asked(self, corpus: Corpus[Any]) -> None:  # noqa: B027 - what `judges` says is enough
        """Refuse a corpus of another measure, of one of `judges`, that this one cannot judge.

        Raises:
            SettingError: says what is expected.
        """

    @abstractmethod
    def open(self, options: MeasureOptions) -> Measure:
        """The measure for one language.

        Raises:
            MtbiasError: the language is not installed, or something is missing and may not be
                downloaded.
        """

    @abstractmethod
    def read(self, line: bytes) -> MeasureRecord:
        """The record of a line of `calls.jsonl`.

        Raises:
            ValueError: it is something else.
        """

    def score(self, records: Sequence[Any], *, n_resamples: int, seed: int) -> Scores:
        """The scores of a corpus's records; by default those that `counting` makes of them.

        Raises:
            DataError: there are no records.
        """
        return score_records(records, self.counting, n_resamples=n_resamples, seed=seed)

    def counting_of(self, metrics: JsonObject) -> Counting:  # noqa: ARG002 - it has one
        """What made these numbers of `metrics.json`; by default `counting`, whatever they are."""
        return self.counting


def find_measure(name: str) -> MeasureKind:
    """The measure that is registered under `name`.

    Raises:
        UsageError: nobody registers it; the message lists what is installed.
        PluginError: several distributions do, or it fails to load.
    """
    kind = load(GROUP, name, "measure")
    if not isinstance(kind, MeasureKind):
        expected = "expected a mtbias.scoring.measure.MeasureKind"
        raise refuse(GROUP, name, "measure", f"{expected}, got {kind!r:.80}")
    return kind


def measure_entry(name: str) -> dict[str, Json]:
    """How files name the measure of a run: not at all where it is `GENDER`."""
    return {} if name == GENDER else {"measure": name}


def measure_in(identity: Mapping[str, Json]) -> str:
    """The name of the measure that `measure_entry` put into a run's identity."""
    return str(identity.get("measure", GENDER))
