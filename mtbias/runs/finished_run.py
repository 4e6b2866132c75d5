"""A finished run as one value: what commands, reports, comparison and the Python API work on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from mtbias.corpora.corpus import GENDER
from mtbias.errors import DataError
from mtbias.files.strict_json import decoded
from mtbias.language.source import ENGLISH_CODE
from mtbias.runs.manifest import RunManifest
from mtbias.runs.run_folder import CALLS, METRICS, RunFolder
from mtbias.scoring.counting import Counting
from mtbias.scoring.definitions import Number
from mtbias.scoring.finding import conclusions
from mtbias.scoring.measure import MeasureKind, find_measure, measure_entry, measure_in
from mtbias.scoring.metrics_reader import UNKNOWN, unknown_part
from mtbias.scoring.scores import SCHEMA, Scores
from mtbias.types import JsonDict, JsonObject, frozen

_BESIDE = ("corpus", "translations", "repeats")
"""What of `metrics.json` does not follow from the calls."""


@frozen
class _ReadRows:
    """`corpus` of `metrics.json`, as far as the calls tell it."""

    rows: int
    skipped: int = 0


@dataclass(frozen=True)
class FinishedRun:
    """A run: its numbers, its sentences, and how they were made."""

    manifest: RunManifest
    """Identity (what changes results) and execution (what does not)."""
    metrics: JsonObject
    """The content of `metrics.json`: per cent, rounded to 6 decimals, None where undefined."""
    measure: str = GENDER
    """Name of the measure that made the records."""
    records: Sequence[Any] | None = field(default=None, repr=False)
    """The records of a run without a folder."""
    folder: RunFolder | None = field(default=None, repr=False)

    @classmethod
    def read(cls, folder: RunFolder) -> Self:
        """The run in a folder, checked; its sentences are read when they are first used. Errors are
        those of `read_run`.
        """
        metrics = folder.read_metrics()
        manifest = folder.manifest
        if metrics.get("schema") != SCHEMA:
            schemas = f"expected schema {SCHEMA}, got {metrics.get('schema')!r}"
            raise DataError(
                f"{schemas}; read it with the mtbias that wrote it", path=folder.path / METRICS
            )
        return cls(manifest, metrics, measure_in(manifest.identity), folder=folder)

    @classmethod
    def recomputed(cls, folder: RunFolder) -> Self:
        """The run in a folder whose `metrics.json` was changed, with the numbers that follow from
        its calls.

        Raises:
            DataError: a line of `calls.jsonl` is damaged, or other calls were counted; with path.
        """
        manifest, metrics = folder.manifest, folder.read_metrics(changed=True)
        run = cls(manifest, metrics, measure_in(manifest.identity), folder=folder)
        if "corpus" in run.not_following():
            raise DataError(
                f"other sentences were counted than {CALLS} has", path=folder.path / METRICS
            )
        return replace(
            run,
            metrics={
                **run._following(),
                **{key: metrics[key] for key in _BESIDE if key in metrics},
            },
        )

    def not_following(self) -> list[str]:
        """The keys of its metrics whose content is not what follows from its calls.

        Raises:
            DataError: a line of `calls.jsonl` is damaged; with path.
        """
        again = self._following()
        differing = [
            key
            for key, value in again.items()
            if key != "mtbias" and self.metrics.get(key) != value
        ]
        try:
            corpus = decoded(_ReadRows, json.dumps(self.metrics.get("corpus")))
        except ValueError:
            return [*differing, "corpus"]
        return (
            differing if corpus.rows - corpus.skipped == len(self.calls) else [*differing, "corpus"]
        )

    def _following(self) -> JsonDict:
        """What of its metrics follows from its calls; resamples and seed are the identity's, which
        its fingerprint protects.
        """
        identity = self.manifest.identity
        drawn: Any = {"n_resamples": identity["resamples"], "seed": identity["seed"]}
        scores = self.kind.score(self.calls, **drawn)
        again = scores.to_json(signature=self.signature, fingerprint=self.fingerprint)
        noticed = self.metrics.get("translations") or {}
        again |= conclusions(again, self.calls, self.lang, self.measure, self.source_lang, noticed)
        followed: JsonDict = json.loads(json.dumps(again))  # as it would be read
        return followed

    @property
    def fingerprint(self) -> str:
        """The hash of everything that changes results."""
        return self.manifest.fingerprint

    @property
    def path(self) -> Path | None:
        """The run's folder; None where it was not written."""
        return None if self.folder is None else self.folder.path

    @cached_property
    def calls(self) -> Sequence[Any]:
        """The lines of `calls.jsonl`, in the corpus's order: for gender calls
        `mtbias.runs.call_records.CallRecord`.

        Raises:
            DataError: the file is damaged; with path and line.
        """
        if self.folder is None:
            return self.records or ()
        return self.folder.read_calls(find_measure(self.measure).read)

    @cached_property
    def answers(self) -> Mapping[str, str]:
        """The whole answers of a language model by id, where they are more than the translation;
        empty without a folder.

        Raises:
            DataError: `translations.jsonl` is damaged; with path and line.
        """
        if self.folder is None or not (self.metrics.get("translations") or {}).get("cleaned"):
            return {}
        lines = self.folder.read_translations()
        return {
            line.id: line.raw
            for line in lines
            if line.raw is not None and line.raw.strip() != line.text
        }

    @property
    def system(self) -> str:
        """The system that was given, or the model that translated; a language model with the name
        of its prompt.
        """
        identity = self.manifest.identity
        prompt = str(identity.get("prompt") or "").partition("/")[0]
        return str(identity.get("system") or identity["model"]) + (f" ({prompt})" if prompt else "")

    @property
    def lang(self) -> str:
        """Code of the target language."""
        return str(self.manifest.identity["language"])

    @property
    def source_lang(self) -> str:
        """Code of the source language."""
        return str(self.manifest.identity.get("source_language", ENGLISH_CODE))

    @property
    def corpus(self) -> tuple[str, Mapping[str, str]]:
        """Name of the corpus, and the SHA-256 of each of its files: what two runs share that can be
        compared.
        """
        identity = self.manifest.identity
        data = identity["data"]
        return str(identity["dataset"]), {str(k): str(v) for k, v in data.items()} if isinstance(
            data, Mapping
        ) else {}

    @property
    def evaluator(self) -> JsonObject:
        """What read the translations: measure, aligner, Stanza and its models, language plugin,
        release of mtbias.
        """
        identity = self.manifest.identity
        content = {key: identity.get(key) for key in ("aligner", "stanza", "plugin", "mtbias")}
        content |= {
            key: identity[key]
            for key in ("evidence", "parser", "source_plugin", "variant", "context")
            if key in identity
        }
        return {**measure_entry(self.measure), **content}

    @property
    def signature(self) -> str:
        """How the numbers were made, in one line to be printed beside them."""
        return self.manifest.signature()

    @cached_property
    def kind(self) -> MeasureKind:
        """The measure; finding it reads all that is installed.

        Raises:
            UsageError: it is not installed.
        """
        return find_measure(self.measure)

    @cached_property
    def counting(self) -> Counting:
        """The measure's numbers, and how they follow from counts."""
        return self.kind.counting_of(self.metrics)

    @property
    def known(self) -> Self:
        """The run without its sentences of unknown gender, where it has others, too: those of its
        main numbers.
        """
        if UNKNOWN not in self.metrics:
            return self
        return replace(
            self, records=[record for record in self.calls if record.gold is not None], folder=None
        )

    @property
    def unknown(self) -> Self | None:
        """The run of its sentences of unknown gender alone, with their numbers; None where it has
        no others, or none.

        The measure's own numbers are those of unknown gender in a run that has no others.
        """
        part = unknown_part(self.metrics)
        if part is None:
            return None
        rows = [record for record in self.calls if record.gold is None]
        return replace(self, metrics=part, records=rows, folder=None)

    @property
    def numbers(self) -> tuple[Number, ...]:
        """The numbers of all sentences: the measure's, and those beside them that were computed."""
        overall = self.metrics.get("overall", {})
        return (
            *self.counting.numbers,
            *(each for each in self.counting.beside if each.key in overall),
        )

    @cached_property
    def scores(self) -> Scores:
        """The numbers as typed objects, computed from `calls`: unrounded, with counts, intervals
        and denominators.
        """
        intervals = self.metrics["intervals"]
        return self.kind.score(
            self.calls, n_resamples=intervals["resamples"], seed=intervals["seed"]
        )


def read_run(path: Path | str) -> FinishedRun:
    """Read the folder of a finished run.

    Raises:
        RunFolderError: there is no run, it is not finished, or a file that `metrics.json` was
            computed from was changed; the message says which.
        DataError: a file is damaged; with path and line.
    """
    return FinishedRun.read(RunFolder(path))
