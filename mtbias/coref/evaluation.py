"""A coreference system on several data sets: run, kept and scored in one folder, and compared with others.

The folder has for each data set what the system found (``winobias.jsonl``, as `mtbias.coref.running` writes it) and a
record of it (``winobias.run.json``: the system, the hash of the documents, the hash of the file), then ``metrics.json``
with the numbers of all. An evaluation that was stopped resumes within a data set, and passes over those whose record is
there. The records are what other evaluations are compared by: scores come from the clusters themselves each time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from mtbias import __version__
from mtbias.coref.coref_datasets import CorefDataset
from mtbias.coref.dataset_scores import DatasetScores, NamedNumber
from mtbias.coref.paired_systems import compare_systems, corrected
from mtbias.coref.running import CorefSystem, run_system, texts_digest
from mtbias.errors import DataError, UsageError
from mtbias.files.folder_lock import FolderLock
from mtbias.files.reading import read_bytes
from mtbias.files.strict_json import DecodingError, decoded
from mtbias.files.writing import explained, write_atomic
from mtbias.settings import BootstrapSettings
from mtbias.stats.results import LEVEL, Difference, rounded
from mtbias.types import Progress, quiet

METRICS = "metrics.json"
SCHEMA = 1
_RECORD = ".run.json"


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class DatasetResult:
    """One data set of an evaluation."""

    documents: int
    files: Mapping[str, str]
    """SHA-256 by name of what the data set was read from."""
    found: FoundClusters
    scores: DatasetScores

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of it."""
        return (*self.found.notes, *self.scores.notes)

    def to_json(self) -> dict[str, Any]:
        """Plain values, numbers unrounded."""
        return {
            "documents": self.documents,
            "data": dict(self.files),
            "predictions": self.found.sha256,
            "signature": self.scores.signature,
            "notes": self.notes,
            "numbers": [_number_json(one) for one in self.scores.numbers],
        }


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A system on several data sets."""

    name: str
    system: str
    """Its signature."""
    settings: BootstrapSettings
    results: Mapping[str, DatasetResult]
    """By data set."""

    def to_json(self) -> dict[str, Any]:
        """As ``metrics.json`` has it, numbers rounded."""
        content = {
            "schema": SCHEMA,
            "mtbias": __version__,
            "system": self.system,
            "intervals": {"level": 100 * LEVEL, **vars(self.settings)},
            "datasets": {name: result.to_json() for name, result in self.results.items()},
        }
        return {key: rounded(value) for key, value in content.items()}


def _number_json(one: NamedNumber) -> dict[str, Any]:
    of = one.estimate
    named = {"part": one.part, "key": one.key, "label": one.label}
    return {**named, "value": of.value, "interval": of.interval, "n": of.n, "p": of.p}


def evaluate(
    system: CorefSystem,
    datasets: Sequence[CorefDataset],
    out: Path,
    settings: BootstrapSettings,
    progress: Progress = quiet,
) -> Evaluation:
    """Run `system` on what is missing of `datasets`, score all of them, and write ``metrics.json`` into `out`.

    Raises:
        DataError: `out` has what another system found, or found in other documents, or files of other origin that would
            be written over; what the system raises.
        RunFolderError: `out` cannot be written, or another process writes there.
    """
    with explained(out, "make the folder"):
        out.mkdir(parents=True, exist_ok=True)
    lock = FolderLock(out)
    lock.acquire()
    try:
        _check_folder(out, system)
        results = {data.name: _result(data, out, settings, _run(system, data, out, progress)) for data in datasets}
        evaluation = Evaluation(out.resolve().name, system.signature, settings, results)
        write_atomic(out / METRICS, f"{json.dumps(evaluation.to_json(), ensure_ascii=False, indent=1)}\n".encode())
        return evaluation
    finally:
        lock.release()


def is_evaluated(out: Path, system: CorefSystem, datasets: Sequence[str], settings: BootstrapSettings) -> bool:
    """Whether ``metrics.json`` in `out` has these data sets, of this system's clusters, with these settings."""
    try:
        content = json.loads((out / METRICS).read_bytes())
        found = {name: result["predictions"] for name, result in content["datasets"].items()}
        same = {**content, "schema": SCHEMA, "system": system.signature} == content
        same &= {**content["intervals"], **vars(settings)} == content["intervals"]
        return bool(
            same and [*found] == [*datasets] and all(_digest(out / f"{name}.jsonl") == of for name, of in found.items())
        )
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError, DataError):
        return False


def read_evaluation(out: Path, datasets: Sequence[CorefDataset], settings: BootstrapSettings) -> Evaluation:
    """Score again what `evaluate` left in `out`, of those of `datasets` that are finished there.

    Raises:
        DataError: none of them is; a file was changed, is of other documents, or of another system than the others.
    """
    found = {data.name: _record(path) for data in datasets if (path := _record_of(data, out)).is_file()}
    if not found:
        names = ", ".join(data.name for data in datasets)
        raise DataError(f"expected a folder of `mtbias coref eval` with {names}, or one of them, got none", path=out)
    systems = sorted({one.system for one in found.values()})
    if len(systems) > 1:
        raise DataError(f"expected what one system found, got {' and '.join(systems)}", path=out)
    for data in datasets:
        if data.name in found:
            _check(data, out, found[data.name])
    results = {data.name: _result(data, out, settings, found[data.name]) for data in datasets if data.name in found}
    return Evaluation(out.resolve().name, systems[0], settings, results)


def _check_folder(out: Path, system: CorefSystem) -> None:
    """Refuse a folder of another system, or of something else that has a ``metrics.json``."""
    records = sorted(out.glob(f"*{_RECORD}"))
    if not records and (out / METRICS).exists():
        raise DataError(
            "this is of something else than `mtbias coref eval`: choose another --out, or remove it", path=out / METRICS
        )
    for path in records:
        if (other := _record(path).system) != system.signature:
            raise DataError(
                f"this was found by {other}, and now the system is {system.signature}: choose another folder, or "
                "remove what is in this one",
                path=path,
            )


def _run(system: CorefSystem, data: CorefDataset, out: Path, progress: Progress) -> FoundClusters:
    """What the system finds in a data set, or has found before."""
    record, path = _record_of(data, out), _clusters_of(data, out)
    new = path.with_name(f"{path.name}.new")  # it gets its name when its record is there: no file of others is lost
    if not (record.is_file() and (path.exists() or new.exists())):
        if path.exists():
            raise DataError(
                f"this file is there already, without {record.name}: move it, or choose another --out", path=path
            )
        with explained(new, "remove"):  # whole, but how its command's output was read is not known
            new.unlink(missing_ok=True)
        run_system(system, data.texts, new, lambda stage, *counts: progress(f"{stage} {data.name}", *counts))
        found = FoundClusters(system.signature, texts_digest(data.texts), _digest(new), system.notes)
        write_atomic(record, f"{json.dumps(asdict(found), ensure_ascii=False, indent=1)}\n".encode())
    with explained(path, "write"):
        if new.is_file():
            new.replace(path)
    found = _record(record)
    _check(data, out, found)
    return found


def _result(data: CorefDataset, out: Path, settings: BootstrapSettings, found: FoundClusters) -> DatasetResult:
    return DatasetResult(len(data.texts), data.files, found, data.score(_clusters_of(data, out), settings))


def _check(data: CorefDataset, out: Path, found: FoundClusters) -> None:
    """Refuse what was found in other documents, or was changed since."""
    path = _clusters_of(data, out)
    if found.texts != texts_digest(data.texts):
        raise DataError(f"this was found in other documents than {data.name} has now: choose another folder", path=path)
    if found.sha256 != _digest(path):
        record = _record_of(data, out).name
        raise DataError(f"this file was changed since the system was run; remove it and {record}", path=path)


def _clusters_of(data: CorefDataset, out: Path) -> Path:
    return out / f"{data.name}.jsonl"


def _record_of(data: CorefDataset, out: Path) -> Path:
    return out / f"{data.name}{_RECORD}"


def _digest(path: Path) -> str:
    return sha256(read_bytes(path)).hexdigest()


def _record(path: Path) -> FoundClusters:
    try:
        return decoded(FoundClusters, read_bytes(path))
    except DecodingError as error:
        raise DataError(f"expected a record of `mtbias coref eval`, got one in which {error}", path=path) from None


@dataclass(frozen=True, slots=True)
class NumberDifference:
    """One number of two systems on one data set."""

    dataset: str
    first: str
    """Names of the evaluations."""
    second: str
    number: NamedNumber
    """Of the first."""
    difference: Difference

    def to_json(self) -> dict[str, Any]:
        """Plain values, numbers unrounded."""
        named = {"dataset": self.dataset, "first": self.first, "second": self.second}
        named |= {"part": self.number.part, "key": self.number.key, "label": self.number.label}
        values = asdict(self.difference)
        return named | {"values": [values.pop("first"), values.pop("second")], **values}


def compare_evaluations(
    first: Evaluation, others: Sequence[Evaluation], settings: BootstrapSettings
) -> tuple[NumberDifference, ...]:
    """`first` minus each of `others`, paired over rows (Winogender: occupations), data set by data set.

    p is corrected by Holm over all differences of a data set; with one other system they are those of the data set's
    own command with ``--against``.

    Raises:
        UsageError: one of `others` has no data set of the first.
    """
    for other in others:
        if not set(first.results) & set(other.results):
            have = " and ".join(", ".join(one.results) for one in (first, other))
            raise UsageError(f"{first.name} and {other.name} share no data set: they have {have}")
    found = []
    for dataset, result in first.results.items():
        labelled = {(one.part, one.key): one for one in result.scores.numbers}
        pairs = [
            (other.name, part, units, theirs)
            for other in others
            if dataset in other.results
            for part, units in result.scores.units.items()
            if (theirs := other.results[dataset].scores.units.get(part)) is not None
        ]
        compared = corrected(
            compare_systems(units, theirs, "rows", settings.resamples, settings.seed) for _, _, units, theirs in pairs
        )
        found += [
            NumberDifference(dataset, first.name, name, labelled[part, key], difference)
            for (name, part, *_), of in zip(pairs, compared, strict=True)
            for key, difference in of.items()
        ]
    return tuple(found)
