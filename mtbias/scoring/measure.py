"""What a corpus is measured by: a measure takes a corpus with translations and gives records,
counts and scores.

A corpus names its measure (`mtbias.corpora.corpus.Corpus.measure`); measures are found by that name
under the entry-point group ``mtbias.measures``, the built-in one (``gender``: the gender of an
entity by morphology) like a third party's. A `MeasureKind` is what can be known without anything
else: its numbers, how its records are read back and scored. Opened for a language it is a
`Measure`, which judges translations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from mtbias.entry_points import load, refuse
from mtbias.scoring.counting import Counting
from mtbias.scoring.scores import Scores, score_records
from mtbias.settings import EvaluatorSettings
from mtbias.types import Json, JsonObject, Progress, Translation, frozen

GROUP = "mtbias.measures"
GENDER = "gender"
"""The measure of corpora that name no other."""


class Judged(Protocol):
    """A line of `calls.jsonl`: a sentence, its translation, and what was found in it."""

    @property
    def id(self) -> str:
        """The id of the instance."""
        ...

    def to_json(self) -> JsonObject:
        """The object of the line, keys in their order; among them ``id``, ``source`` and
        ``translation``.
        """
        ...


class Measure(Protocol):
    """A measure that is ready for one language.

    It may have more: ``hint(texts)``, called with translations that were just made while others
    still are, so that it may begin with them; ``abandon()``, where they will not be judged;
    ``check(instances, translations)``, which refuses given ones before anything is written;
    ``execution``, circumstances that change no number.
    """

    @property
    def identity(self) -> Mapping[str, Json]:
        """What its findings depend on: a part of the run's identity."""
        ...

    def judge(
        self, instances: Sequence[Any], translations: Sequence[Translation], progress: Progress
    ) -> Sequence[Judged]:
        """One record for each instance, in their order.

        Args:
            instances: the corpus.
            translations: one for each instance, joined by id.
            progress: see `mtbias.types.Progress`.
        """
        ...


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


@runtime_checkable
class MeasureKind(Protocol):
    """A measure, as far as it does not depend on a language.

    It may have ``repairs``: what is undone in damaged translations, all of
    `mtbias.files.text_repair.KINDS` by default.
    """

    @property
    def counting(self) -> Counting:
        """Its numbers, and how they follow from counts of its records."""
        ...

    def open(self, options: MeasureOptions) -> Measure:
        """The measure for one language.

        Raises:
            MtbiasError: the language is not installed, or something is missing and may not be
                downloaded.
        """
        ...

    def read(self, line: bytes) -> Judged:
        """The record of a line of `calls.jsonl`.

        Raises:
            ValueError: it is something else.
        """
        ...

    def score(self, records: Sequence[Any], *, n_resamples: int, seed: int) -> Scores:
        """The scores of a corpus's records; by default those that `counting` makes of them.

        Raises:
            DataError: there are no records.
        """
        return score_records(records, self.counting, n_resamples=n_resamples, seed=seed)


def find_measure(name: str) -> MeasureKind:
    """The measure that is registered under `name`.

    Raises:
        UsageError: nobody registers it; the message lists what is installed.
        PluginError: several distributions do, or it fails to load.
    """
    kind = load(GROUP, name, "measure")
    if not isinstance(kind, MeasureKind):
        raise refuse(
            GROUP, name, "measure", f"expected counting, open, read and score, got {kind!r:.80}"
        )
    return kind
