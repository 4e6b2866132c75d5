"""Runs become published results: each is checked against its own calls first, and those that can be are compared."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from mtbias import __version__
from mtbias.errors import DataError
from mtbias.files.strict_json import load_json
from mtbias.files.writing import explained, write_atomic
from mtbias.language.installed import get_language
from mtbias.report.alarm_texts import warnings
from mtbias.report.result_file import (
    PublishedComparison,
    PublishedCorpus,
    PublishedDifference,
    PublishedNumber,
    PublishedResult,
)
from mtbias.runs.finished_run import FinishedRun, read_run
from mtbias.runs.run_folder import CALLS, MANIFEST, METRICS, RunFolder, is_as_written
from mtbias.scoring.comparison import compare_runs
from mtbias.scoring.definitions import Number
from mtbias.scoring.measure import GENDER
from mtbias.stats.results import N_RESAMPLES


@dataclass(frozen=True, slots=True)
class DescribedRun:
    """What the user says about a run."""

    name: str | None = None
    """Of the system, on the page; by default the run's own."""
    link: str | None = None
    note: str | None = None
    licence: str | None = None


def read_checked(path: Path) -> FinishedRun:
    """A finished run whose every number follows from its calls.

    Raises:
        RunFolderError: the run is not complete, a file was changed, or its fingerprint is not that of its identity.
        DataError: `metrics.json` is not as it was written, or says what does not follow from the calls.
        MtbiasError: its language is not installed, without which the alarms cannot be checked.
    """
    folder = RunFolder(path)
    again = "run `mtbias eval` or `mtbias score` into the folder again"
    if not is_as_written(folder.read_metrics()):
        raise DataError(f"expected the file as mtbias wrote it, got other content; {again}", path=path / METRICS)
    run = read_run(path)
    stated = load_json((path / MANIFEST).read_bytes())["signature"]
    for name, signature in ((MANIFEST, stated), (METRICS, run.metrics["signature"])):
        if signature != run.signature:
            raise DataError(f"expected the signature {run.signature}, got {signature}; {again}", path=path / name)
    if run.measure == GENDER:
        get_language(run.lang)
    missing = [] if "alarms" in run.metrics else ["alarms"]  # of an older release
    if differing := [*missing, *run.not_following()]:
        raise DataError(
            f"expected what follows from {CALLS}, got other content ({', '.join(differing)}); {again}",
            path=path / METRICS,
        )
    return run


def publish(
    runs: Sequence[FinishedRun],
    described: Sequence[DescribedRun] | None = None,
    *,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> list[PublishedResult]:
    """A result for each run, in their order, compared with all others of its corpus, language and evaluator.

    Args:
        runs: of `read_checked`.
        described: one for each run.
        n_resamples: rearrangements of each paired test; with 0 nothing is tested.
        seed: of the tests.

    Raises:
        DataError: a run twice; two runs that would be compared have one name; as `mtbias.scoring.comparison`.
    """
    said = [DescribedRun()] * len(runs) if described is None else list(described)
    names = [about.name or run.system for run, about in zip(runs, said, strict=True)]
    _refuse_twice(runs, names)
    comparisons: dict[str, list[PublishedComparison]] = {run.manifest.fingerprint: [] for run in runs}
    if n_resamples:
        for group in _comparable(runs):
            _compare(group, comparisons, n_resamples, seed)
    return [
        _result(run, name, about, comparisons[run.manifest.fingerprint])
        for run, name, about in zip(runs, names, said, strict=True)
    ]


def write_results(results: Sequence[PublishedResult], folder: Path) -> list[Path]:
    """Write each result into its file; one of the same run that is there is replaced.

    Raises:
        RunFolderError: the folder cannot be made or written.
    """
    with explained(folder, "make the folder"):
        folder.mkdir(parents=True, exist_ok=True)
    written = []
    for result in results:
        path = folder / result.file_name
        write_atomic(path, f"{json.dumps(result.to_json(), ensure_ascii=False, indent=1)}\n".encode())
        written.append(path)
    return written


def _together(run: FinishedRun) -> str:
    """What runs have in common that are compared and ranked together, as one text."""
    name, files = run.corpus
    return json.dumps([name, run.lang, files, run.evaluator], sort_keys=True)


def _comparable(runs: Sequence[FinishedRun]) -> list[list[FinishedRun]]:
    """The runs that can be compared with each other; those alone are left out."""
    groups: dict[str, list[FinishedRun]] = {}
    for run in runs:
        groups.setdefault(_together(run), []).append(run)
    return [group for group in groups.values() if len(group) > 1]


def _refuse_twice(runs: Sequence[FinishedRun], names: Sequence[str]) -> None:
    for fingerprint, times in Counter(run.manifest.fingerprint for run in runs).items():
        if times > 1:
            raise DataError(f"expected each run once, got {fingerprint} {times} times; leave one out")
    places = Counter((_together(run), name) for run, name in zip(runs, names, strict=True))
    for run, name in zip(runs, names, strict=True):
        if (times := places[_together(run), name]) > 1:
            raise DataError(
                f"expected a name for each system, got {times} runs of {name!r} on {run.corpus[0]} in {run.lang}; give "
                "each run a name of its own with --name"
            )


def _compare(
    group: Sequence[FinishedRun], into: dict[str, list[PublishedComparison]], n_resamples: int, seed: int
) -> None:
    """Test all pairs of the runs, and note each pair at both."""
    # The names are those of the fingerprints, which tell the runs of a pair apart.
    names = [run.manifest.fingerprint for run in group]
    by_name = dict(zip(names, group, strict=True))
    compared = compare_runs(group, n_resamples=n_resamples, seed=seed, names=names)
    for pair in compared.pairs:
        found = {key: PublishedDifference.of(difference) for key, difference in pair.plain.items()}
        turned = {key: difference.turned() for key, difference in found.items()}
        for one, other, numbers in ((pair.first, pair.second, found), (pair.second, pair.first, turned)):
            into[one].append(PublishedComparison(other, _calls_hash(by_name[other]), n_resamples, seed, numbers))


def _calls_hash(run: FinishedRun) -> str:
    if run.path is None:
        raise DataError("expected a run in a folder, got one that was not written; evaluate it with out=DIR")
    return sha256((run.path / CALLS).read_bytes()).hexdigest()


def _result(
    run: FinishedRun, name: str, about: DescribedRun, comparisons: Sequence[PublishedComparison]
) -> PublishedResult:
    corpus, files = run.corpus
    made: dict[str, Any] = run.metrics["intervals"]
    return PublishedResult(
        mtbias=__version__,
        system=name,
        language=run.lang,
        corpus=PublishedCorpus(corpus, files),
        evaluator=run.evaluator,
        signature=run.signature,
        fingerprint=run.manifest.fingerprint,
        calls=_calls_hash(run),
        sentences=len(run.calls),
        numbers=tuple(_number(number, run) for number in run.numbers),
        resamples=made["resamples"],
        seed=made["seed"],
        warnings=tuple(warnings(run.metrics["alarms"])),
        alarms=run.metrics["alarms"],
        comparisons=tuple(comparisons),
        link=about.link,
        note=about.note,
        licence=about.licence,
    )


def _number(number: Number, run: FinishedRun) -> PublishedNumber:
    overall = run.metrics["overall"]
    found = number.of(overall)
    over_entities = (overall.get("ci_entities") or {}).get(number.key)
    return PublishedNumber(
        key=number.key,
        label=number.label,
        unit=number.unit,
        decimals=number.decimals,
        best=number.best,
        shown=number.headline or number.coverage,
        compared=number.compared,
        about=number.about,
        value=found.value,
        interval=found.interval,
        interval_entities=None if over_entities is None else (over_entities[0], over_entities[1]),
        method=run.metrics["interval_methods"].get(number.key),
        rows=dict(zip(number.rests_on, number.rows(overall), strict=True)),
    )
