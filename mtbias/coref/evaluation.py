"""Coreference systems on data sets: scored, compared, and run and kept on several data sets in one
folder.

The folder of an evaluation has for each data set the system's clusters (``winobias.jsonl``, as
`mtbias.coref.systems` writes them) and a record of them (``winobias.run.json``: the system, the
hash of the documents, the hash of the file), then ``metrics.json`` with the numbers of all. An
evaluation that was stopped resumes within a data set, and passes over those whose record is there.
The records are what other evaluations are compared by: scores come from the clusters themselves
each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from mtbias.coref.coref_datasets import file_notes, open_dataset, refuse_others
from mtbias.coref.coref_finding import system_finding, systems_finding
from mtbias.coref.dataset import CorefDataset, DatasetScores, NamedNumber, TextResult
from mtbias.coref.documents import Answers, DatasetName, Spans
from mtbias.coref.systems import CorefSystem, run_system, texts_digest
from mtbias.errors import DataError, UsageError
from mtbias.files.file_ledger import is_run_folder
from mtbias.files.reading import read_bytes, sha256_of_file
from mtbias.files.strict_json import DecodingError, decoded
from mtbias.files.writing import explained, locked_folder, write_json
from mtbias.scoring.statements import Statement
from mtbias.settings import BootstrapSettings
from mtbias.stats.paired import Draw, NumberUnits, corrected
from mtbias.stats.results import LEVEL, Difference, rounded
from mtbias.types import JsonDict, Progress, frozen, quiet
from mtbias.version import __version__

METRICS = "metrics.json"
SCHEMA = 1
_RECORD = ".run.json"


@frozen
class FoundClusters:
    """The record of what a system found in a data set."""

    system: str
    """Its signature."""
    texts: str
    """`texts_digest` of the documents."""
    sha256: str
    """Of the file of clusters."""
    notes: tuple[str, ...]
    """How the system's own output was read."""


@frozen
class DatasetResult:
    """One system on one data set."""

    documents: int
    files: Mapping[str, str]
    """SHA-256 by name of what the data set was read from."""
    predictions: Mapping[str, str]
    """The same of the system's files."""
    signature: str
    scores: DatasetScores
    texts: tuple[TextResult, ...] = ()
    """Each document with what was found in it, for a page."""

    def to_json(self) -> JsonDict:
        """Plain values, numbers unrounded."""
        return {
            "documents": self.documents,
            "data": dict(self.files),
            "predictions": dict(self.predictions),
            "signature": self.signature,
            "notes": [*self.scores.notes, *self.scores.remarks],
            "numbers": [one.to_json() for one in self.scores.numbers],
            "counts": {row: dict(counts) for row, counts in self.scores.counts.items()},
        }


def score_answers(
    dataset: CorefDataset,
    answers: Answers,
    settings: BootstrapSettings,
    *,
    over: Draw = "rows",
    notes: Sequence[str] = (),
) -> DatasetResult:
    """Score what `CorefDataset.read` or `CorefDataset.baseline` gives.

    Args:
        dataset: the data set.
        answers: of a system.
        settings: of intervals and tests.
        over: ``occupations`` adds the numbers with intervals over occupations.
        notes: further notes on the numbers.
    """
    scores = dataset.score(answers, seed=settings.seed, resamples=settings.resamples)
    numbers = [*scores.numbers]
    if over == "occupations":
        named = scores.by_key
        for part, units in scores.units.items():
            for key, estimate in units.over(over, settings.resamples, settings.seed).items():
                one = named[part, key]
                label = f"{one.label}, over occupations"
                numbers.append(
                    replace(one, key=f"{key}:over_occupations", label=label, estimate=estimate)
                )
    signature = dataset.signature(answers, settings, **({"over": over} if over != "rows" else {}))
    every = (*notes, *file_notes(dataset), *answers.notes, *scores.notes)
    scores = replace(scores, numbers=tuple(numbers), notes=every)
    return DatasetResult(len(dataset.texts), dataset.files, answers.files, signature, scores)


@frozen
class Evaluation:
    """A system on one or several data sets."""

    name: str
    system: str
    """Its signature; empty if its answers came from files."""
    settings: BootstrapSettings
    results: Mapping[str, DatasetResult]
    """By data set."""

    def to_json(self) -> JsonDict:
        """As ``metrics.json`` has it, numbers rounded."""
        content: JsonDict = {
            "schema": SCHEMA,
            "mtbias": __version__,
            "system": self.system,
            "intervals": {"level": 100 * LEVEL, **vars(self.settings)},
            "datasets": {
                name: {
                    **result.to_json(),
                    "finding": _sentences(system_finding(name, result.scores)),
                }
                for name, result in self.results.items()
            },
        }
        return rounded(content)


def _sentences(statements: Iterable[Statement]) -> list[JsonDict]:
    return [one.to_json() for one in statements]


@frozen
class SystemOutput:
    """The files of a system."""

    name: str
    paths: Sequence[Path]
    ids: Path | None = None
    """As `CorefDataset.read` takes it, if the files have no ids or do not say what spans count."""
    spans: Spans | None = None


def score_systems(
    name: DatasetName,
    data: Path | None,
    systems: Sequence[SystemOutput],
    settings: BootstrapSettings,
    *,
    baselines: Sequence[str] = (),
    over: Draw = "rows",
    with_texts: bool = False,
    **options: Any,  # noqa: ANN401 - those of `open_dataset`
) -> tuple[list[Evaluation], tuple[NumberDifference, ...]]:
    """Score systems and then rule systems on one data set, and compare the first of them with each
    other.

    Args:
        name: of the data set.
        data: where it is, as `open_dataset` takes it, and `options` too.
        systems: their files.
        settings: of intervals and tests.
        baselines: names of rule systems.
        over: what intervals and tests of differences draw.
        with_texts: keep each document with the mentions found in it, for a page.
        options: of the data set.

    Raises:
        DataError: what the readers raise.
        UsageError: nothing to score; a system twice; an option that the data set does not have.
    """
    refuse_others(name, {"baseline": baselines, "over": over if over != "rows" else None})
    names = [*(system.name for system in systems), *baselines]
    if not names:
        raise UsageError(
            "nothing to score: give --predictions FILE, or --baseline NAME where the data set has "
            "some, or NAME=FILE for each of several systems"
        )
    if len(set(names)) != len(names):
        raise UsageError(f"expected systems that differ, got {', '.join(names)}")
    dataset = open_dataset(name, data, **options)
    answers = [dataset.read(system.paths, ids=system.ids, spans=system.spans) for system in systems]
    answers += [dataset.baseline(rule) for rule in baselines]
    evaluations = []
    for label, one in zip(names, answers, strict=True):
        result = score_answers(dataset, one, settings, over=over)
        if with_texts:
            result = replace(result, texts=tuple(dataset.results(one)))
        evaluations.append(Evaluation(label, "", settings, {str(name): result}))
    return evaluations, compare_evaluations(evaluations[0], evaluations[1:], settings, over=over)


def systems_json(
    evaluations: Sequence[Evaluation], differences: Sequence[NumberDifference]
) -> JsonDict:
    """What `score_systems` gives as plain values, numbers unrounded."""
    statements: list[Statement] = []
    if len(evaluations) > 1:
        for dataset in evaluations[0].results:
            statements += systems_finding(dataset, evaluations, differences)

    systems: list[JsonDict] = []
    for evaluation in evaluations:
        for dataset, result in evaluation.results.items():
            systems.append(
                {
                    "name": evaluation.name,
                    "dataset": dataset,
                    **result.to_json(),
                    "finding": _sentences(system_finding(dataset, result.scores)),
                }
            )
    return {
        "mtbias": __version__,
        "intervals": {"level": 100 * LEVEL, **vars(evaluations[0].settings)},
        "systems": systems,
        "differences": [one.to_json() for one in differences],
        "finding": _sentences(statements),
    }


def evaluate(
    system: CorefSystem,
    datasets: Sequence[CorefDataset],
    out: Path,
    settings: BootstrapSettings,
    progress: Progress = quiet,
) -> Evaluation:
    """Run `system` on what is missing of `datasets`, score all of them, and write ``metrics.json``
    into `out`.

    Raises:
        DataError: `out` has what another system found, or found in other documents, or files of
            other origin that would be written over; what the system raises.
        RunFolderError: `out` cannot be written, or another process writes there.
    """
    of_others = "this is of something else than `mtbias coref eval`: choose another --out"
    if is_run_folder(out):
        raise DataError(of_others, path=out)
    with locked_folder(out):
        records = sorted(out.glob(f"*{_RECORD}"))
        if not records and (out / METRICS).exists():
            raise DataError(of_others, path=out / METRICS)
        for path in records:
            if (other := _record(path).system) != system.signature:
                message = f"this was found by {other}, and now the system is {system.signature}"
                raise DataError(f"{message}: choose another folder", path=path)

        runs = [_DatasetRun(out, data) for data in datasets]
        # All are checked before the first is run.
        unfinished = [run for run in runs if not run.finished()]
        for run in unfinished:
            run.find(system, progress)
        evaluation = _evaluation(out, runs, settings)
        write_json(out / METRICS, evaluation.to_json(), own=True)
        return evaluation


def read_evaluation(
    out: Path, datasets: Sequence[CorefDataset], settings: BootstrapSettings
) -> Evaluation:
    """Score again what `evaluate` left in `out`, of those of `datasets` that are finished there.

    Raises:
        DataError: none of them is; a file was changed, is of other documents, or of another system
            than the others.
    """
    runs = [_DatasetRun(out, data) for data in datasets]
    runs = [run for run in runs if run.record.is_file()]
    if not runs:
        names = ", ".join(data.name for data in datasets)
        raise DataError(
            f"expected a folder of `mtbias coref eval` with {names}, or one of them, got none",
            path=out,
        )
    return _evaluation(out, runs, settings)


def _evaluation(out: Path, runs: Sequence[_DatasetRun], settings: BootstrapSettings) -> Evaluation:
    records = [run.checked_record() for run in runs]
    systems = sorted({record.system for record in records})
    if len(systems) > 1:
        raise DataError(f"expected what one system found, got {' and '.join(systems)}", path=out)
    results = {}
    for run, record in zip(runs, records, strict=True):
        answers = run.data.read([run.clusters], spans="included")
        scored = score_answers(run.data, answers, settings, notes=record.notes)
        results[str(run.data.name)] = replace(scored, texts=tuple(run.data.results(answers)))
    return Evaluation(out.resolve().name, systems[0], settings, results)


class _DatasetRun:
    """The run of a system on one data set, in a folder."""

    def __init__(self, out: Path, data: CorefDataset) -> None:
        self.data = data
        self.clusters, self.record = out / f"{data.name}.jsonl", out / f"{data.name}{_RECORD}"
        self.new = out / f"{data.name}.jsonl.new"
        """The clusters until their record is there: so no file of others is lost."""

    def finished(self) -> bool:
        """Whether the run is finished.

        Raises:
            DataError: the file of clusters has no record; as `checked_record`.
        """
        if not self.record.is_file():
            if self.clusters.exists():
                message = f"this file is there already, without {self.record.name}"
                raise DataError(f"{message}: move it, or choose another --out", path=self.clusters)
            return False
        self._name()
        if not self.clusters.exists():
            return False
        self.checked_record()
        return True

    def find(self, system: CorefSystem, progress: Progress) -> None:
        """Let the system find the clusters."""
        # A file without its record lacks the notes on how the command's output was read.
        with explained(self.new, "remove"):
            self.new.unlink(missing_ok=True)

        texts = self.data.texts
        run_system(
            system,
            texts,
            self.new,
            lambda stage, *counts: progress(f"{stage} {self.data.name}", *counts),
        )
        digest = sha256_of_file(self.new)
        record = FoundClusters(system.signature, texts_digest(texts), digest, system.notes)
        write_json(self.record, asdict(record), own=True)
        self._name()

    def _name(self) -> None:
        with explained(self.clusters, "write"):
            if self.new.is_file():
                self.new.replace(self.clusters)

    def checked_record(self) -> FoundClusters:
        """The record, after a check that documents and clusters are the ones that it was made of.

        Raises:
            DataError: the documents, or the file of clusters, have changed since.
        """
        record = _record(self.record)
        if record.texts != texts_digest(self.data.texts):
            message = f"this was found in other documents than {self.data.name} has now"
            raise DataError(f"{message}: choose another folder", path=self.clusters)
        if record.sha256 != sha256_of_file(self.clusters):
            message = f"this file was changed since the system was run ({self.record.name})"
            raise DataError(f"{message}: choose another folder", path=self.clusters)
        return record


def _record(path: Path) -> FoundClusters:
    try:
        return decoded(FoundClusters, read_bytes(path))
    except DecodingError as error:
        raise DataError(
            f"expected a record of `mtbias coref eval`, got one in which {error}", path=path
        ) from None


@frozen
class NumberDifference:
    """One number of two systems on one data set."""

    dataset: str
    first: str
    """Names of the evaluations."""
    second: str
    number: NamedNumber
    """Of the first."""
    difference: Difference
    drawn: int
    """Units that intervals and tests draw: rows, lines, pairs, quadruples or occupations."""

    def to_json(self) -> JsonDict:
        """Plain values, numbers unrounded."""
        named = {
            "dataset": self.dataset,
            "first": self.first,
            "second": self.second,
            **self.number.named(),
        }
        values = asdict(self.difference)
        return {
            **named,
            "drawn": self.drawn,
            "values": [values.pop("first"), values.pop("second")],
            **values,
        }


def compare_evaluations(
    first: Evaluation,
    others: Sequence[Evaluation],
    settings: BootstrapSettings,
    *,
    over: Draw = "rows",
) -> tuple[NumberDifference, ...]:
    """`first` minus each of `others`, paired over rows or occupations (Winogender's rows are
    these), by data set.

    p is corrected by Holm over all differences of a data set.

    Raises:
        UsageError: one of `others` has no data set of the first.
    """
    for other in others:
        if not set(first.results) & set(other.results):
            have = " and ".join(", ".join(one.results) for one in (first, other))
            raise UsageError(f"{first.name} and {other.name} share no data set: they have {have}")
    differences: list[NumberDifference] = []
    for dataset, result in first.results.items():
        pairs: list[tuple[str, str, NumberUnits, NumberUnits]] = []
        for other in others:
            if dataset in other.results:
                theirs = other.results[dataset].scores.units
                for part, units in result.scores.units.items():
                    if part in theirs:
                        pairs.append((other.name, part, units, theirs[part]))

        by_pair = corrected(
            (
                ours.minus(theirs, over, settings.resamples, settings.seed)
                for _, _, ours, theirs in pairs
            ),
            together=True,
        )
        numbers = result.scores.by_key
        for (name, part, units, _), by_key in zip(pairs, by_pair, strict=True):
            drawn = len(units.drawn(over).sums)
            for key, difference in by_key.items():
                number = numbers[part, key]
                differences.append(
                    NumberDifference(dataset, first.name, name, number, difference, drawn)
                )
    return tuple(differences)
