"""A finished run as one value: what commands, reports, comparison and the Python API work on."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from mtbias.errors import DataError
from mtbias.files.strict_json import decoded
from mtbias.runs.manifest import RunManifest
from mtbias.runs.run_folder import CALLS, METRICS, SHA256, RunFolder, is_as_written
from mtbias.scoring.counting import Counting
from mtbias.scoring.definitions import Number
from mtbias.scoring.finding import conclusions
from mtbias.scoring.measure import GENDER, find_measure
from mtbias.scoring.scores import SCHEMA, UNKNOWN, Scores, unknown_part
from mtbias.scoring.unknown_gender import UNKNOWN_GENDER

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _ReadRows:
    """`corpus` of `metrics.json`."""

    rows: int
    skipped: int = 0
    name: str = ""
    notes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Noticed:
    """`translations` of `metrics.json`, without its counts."""

    form: str = ""
    examples: Mapping[str, list[str]] = field(default_factory=dict)
    answered_as: str | None = None
    cleaned: Mapping[str, int] = field(default_factory=dict)
    untranslated: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Changed:
    count: int
    percent: float | None


@dataclass(frozen=True, slots=True)
class _RepeatedNumber:
    values: list[float | None]
    spread: float | None


@dataclass(frozen=True, slots=True)
class _Repeats:
    """`repeats` of `metrics.json`."""

    times: int
    n: int
    translations_changed: _Changed
    calls_changed: _Changed
    numbers: Mapping[str, _RepeatedNumber]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beside:
    """What of `metrics.json` does not follow from the calls."""

    corpus: _ReadRows | None = None
    translations: _Noticed | None = None
    repeats: _Repeats | None = None
    files: Mapping[str, str]


@dataclass(frozen=True)
class FinishedRun:
    """A run: its numbers, its sentences, and how they were made."""

    manifest: RunManifest
    """Identity (what changes results) and execution (what does not)."""
    metrics: Mapping[str, Any]
    """The content of `metrics.json`: per cent, rounded to 6 decimals, None where undefined."""
    measure: str = GENDER
    """Name of the measure that made the records."""
    records: Sequence[Any] | None = field(default=None, repr=False)
    """The records of a run without a folder."""
    folder: RunFolder | None = field(default=None, repr=False)

    @classmethod
    def read(cls, folder: RunFolder) -> Self:
        """The run in a folder, checked (errors as of `read_run`); its sentences are read when they are asked for.

        Where `metrics.json` is not as it was written, its numbers are computed again from `calls.jsonl`.
        """
        metrics = folder.read_metrics()
        manifest = folder.manifest
        run = cls(manifest, metrics, str(manifest.identity.get("measure", GENDER)), folder=folder)
        if not is_as_written(metrics):
            return run._recomputed()
        if metrics.get("schema") != SCHEMA:
            found = f"expected schema {SCHEMA}, got {metrics.get('schema')!r}"
            raise DataError(f"{found}; read it with the mtbias that wrote it", path=folder.path / METRICS)
        return run

    def _recomputed(self) -> Self:
        """The run with the numbers that follow from its calls; a warning where they are not those of its metrics.

        Bootstrap and seed are those of the identity, which its fingerprint protects.

        Raises:
            DataError: what does not follow from the calls has another shape, or other calls were counted; with path.
        """
        kept = self._kept()
        again, changed = self._computed_again()
        if changed or SHA256 in self.metrics:  # a file without a hash is an older release's
            what = ", ".join(changed) or "what does not follow from the calls"
            _log.warning(
                "%s: expected what was written there, got other content (%s); its numbers are computed again from %s",
                (self.path or Path()) / METRICS, what, CALLS,
            )  # fmt: skip
        return replace(self, metrics={**again, **kept})

    def not_following(self) -> list[str]:
        """The keys of its metrics whose content is not what follows from its calls.

        Raises:
            DataError: a line of `calls.jsonl` is damaged, or resamples or seed are no numbers; what does not follow
                from the calls has another shape, or other calls were counted; with path.
        """
        self._kept()
        return self._computed_again()[1]

    def _computed_again(self) -> tuple[dict[str, Any], list[str]]:
        """All that follows from the calls, as `metrics.json` has it, and the keys that differ there."""
        n_resamples, seed = (self._bootstrap(key) for key in ("resamples", "seed"))
        scores = find_measure(self.measure).score(self.calls, n_resamples=n_resamples, seed=seed)
        again = scores.to_json(signature=self.manifest.signature(), fingerprint=self.manifest.fingerprint)
        checked = conclusions(again, self.calls, self.lang, self.measure)
        again = json.loads(json.dumps({**again, **checked}))  # as it would be read
        absent = {"mtbias", *(key for key in checked if key not in self.metrics)}  # of an older release
        changed = [key for key, value in again.items() if key not in absent and self.metrics.get(key) != value]
        return again, changed

    def _kept(self) -> dict[str, Any]:
        """What the metrics say that does not follow from the calls, checked: nothing else can put it right."""
        kept = {key: self.metrics[key] for key in _Beside.__dataclass_fields__ if key in self.metrics}
        absent = [key for key, value in kept.items() if value is None]
        try:
            corpus = decoded(_Beside, json.dumps(kept)).corpus
        except ValueError as error:
            raise self._damaged(str(error)) from error
        if absent:
            raise self._damaged(f"{absent[0]}: expected a table, got null")
        for key, count in kept.get("translations", {}).items():
            if key not in _Noticed.__dataclass_fields__ and (not isinstance(count, int) or count < 0):
                raise self._damaged(f"translations.{key}: expected a number of 0 or more, got {count!r}")
        if corpus is not None and corpus.rows - corpus.skipped != len(self.calls):
            found = f"{corpus.rows - corpus.skipped} in {METRICS}"
            raise self._damaged(f"expected as many sentences as {CALLS} has, {len(self.calls)}, got {found}")
        return kept

    def _bootstrap(self, key: str) -> int:
        """Resamples or seed: of the identity, or in an older run of the metrics."""
        made = self.metrics.get("intervals")
        value = self.manifest.identity.get(key, made.get(key, 0) if isinstance(made, Mapping) else 0)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self._damaged(f"{key}: expected a whole number, got {value!r}")
        return value

    def _damaged(self, message: str) -> DataError:
        return DataError(f"{message}; run again into another folder", path=(self.path or Path()) / METRICS)

    @property
    def path(self) -> Path | None:
        """The run's folder; None where it was not written."""
        return None if self.folder is None else self.folder.path

    @cached_property
    def calls(self) -> Sequence[Any]:
        """The lines of `calls.jsonl`, in the corpus's order: for gender calls `mtbias.runs.call_records.CallRecord`.

        Raises:
            DataError: the file is damaged; with path and line.
        """
        if self.folder is None:
            return self.records or ()
        return self.folder.read_calls(find_measure(self.measure).read)

    @cached_property
    def answers(self) -> Mapping[str, str]:
        """By id the whole answer of a language model, where it is more than the translation; empty without a folder.

        Raises:
            DataError: `translations.jsonl` is damaged; with path and line.
        """
        if self.folder is None or not (self.metrics.get("translations") or {}).get("cleaned"):
            return {}
        found = self.folder.read_translations()
        return {line.id: line.raw for line in found if line.raw is not None and line.raw.strip() != line.text}

    @property
    def system(self) -> str:
        """The system that was given, or the model that translated; a language model with the name of its prompt."""
        identity = self.manifest.identity
        prompt = str(identity.get("prompt") or "").partition("/")[0]
        return str(identity.get("system") or identity["model"]) + (f" ({prompt})" if prompt else "")

    @property
    def lang(self) -> str:
        """Code of the target language."""
        return str(self.manifest.identity["language"])

    @property
    def corpus(self) -> tuple[str, Mapping[str, str]]:
        """Name of the corpus, and the SHA-256 of each of its files: what two runs share that can be compared."""
        identity = self.manifest.identity
        data = identity["data"]
        return str(identity["dataset"]), {str(k): str(v) for k, v in data.items()} if isinstance(data, Mapping) else {}

    @property
    def evaluator(self) -> Mapping[str, Any]:
        """What read the translations: measure, aligner, Stanza and its models, language plugin, release of mtbias."""
        identity = self.manifest.identity
        found = {key: identity.get(key) for key in ("aligner", "stanza", "plugin", "mtbias")}
        found |= {key: identity[key] for key in ("evidence", "variant", "context") if key in identity}
        return found if self.measure == GENDER else {"measure": self.measure, **found}

    @property
    def signature(self) -> str:
        """How the numbers were made, in one line to be printed beside them."""
        return self.manifest.signature()

    @cached_property
    def counting(self) -> Counting:
        """The measure's numbers, and how they follow from counts; finding the measure reads all that is installed."""
        axes = self.metrics.get("confusion_axes") or {}
        if self.measure == GENDER and axes.keys() == UNKNOWN_GENDER.axes.keys():
            return UNKNOWN_GENDER
        return find_measure(self.measure).counting

    @property
    def known(self) -> Self:
        """The run without its sentences of unknown gender, where it has others, too: those of its main numbers."""
        if UNKNOWN not in self.metrics:
            return self
        return replace(self, records=[record for record in self.calls if record.gold is not None], folder=None)

    @property
    def unknown(self) -> Self | None:
        """The run of its sentences of unknown gender alone, with their numbers; None where it has no others, or none.

        The measure's own numbers are those of unknown gender in a run that has no others.
        """
        part = unknown_part(self.metrics)
        if part is None:
            return None
        rows = [record for record in self.calls if record.gold is None]
        return replace(self, metrics=part, records=rows, folder=None)

    @property
    def numbers(self) -> tuple[Number, ...]:
        """What it reports of all sentences: the measure's numbers, and those beside them that were computed."""
        found = self.metrics.get("overall", {})
        return (*self.counting.numbers, *(each for each in self.counting.beside if each.key in found))

    @cached_property
    def scores(self) -> Scores:
        """The numbers as typed objects, computed from `calls`: unrounded, with counts, intervals and denominators."""
        made = self.metrics["intervals"]
        kind = find_measure(self.measure)
        return kind.score(self.calls, n_resamples=made["resamples"], seed=made["seed"])


def read_run(path: Path | str) -> FinishedRun:
    """Read the folder of a finished run.

    Raises:
        RunFolderError: there is no run, it is not finished, or a file that `metrics.json` was computed from was
            changed; the message says which.
        DataError: a file is damaged; with path and line.
    """
    return FinishedRun.read(RunFolder(path))
