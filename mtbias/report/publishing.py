"""Published results: checked runs as lines of numbers without sentences, tested against each other
in pairs.

A line describes itself: it says which numbers the measure has, what they are called and which
values are best, so that a page can be made where the measure is not installed.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from mtbias.errors import DataError
from mtbias.files.reading import input_bytes, sha256_of, sha256_of_file
from mtbias.files.strict_json import EXACT, decoded, load_json, once
from mtbias.files.writing import write_atomic
from mtbias.language.installed import get_language
from mtbias.report.alarm_texts import warnings
from mtbias.runs.finished_run import FinishedRun, read_run
from mtbias.runs.manifest import canonical
from mtbias.runs.run_folder import CALLS, MANIFEST, METRICS, TRANSLATIONS, RunFolder
from mtbias.scoring.comparable_runs import SystemPair
from mtbias.scoring.comparison import compare_runs
from mtbias.scoring.definitions import Best, Number, Unit
from mtbias.scoring.metrics_reader import read_metrics
from mtbias.scoring.metrics_records import RunMetrics
from mtbias.stats.results import N_RESAMPLES, Estimate, Interval, minus, rounded
from mtbias.types import JsonDict, JsonObject, frozen
from mtbias.version import __version__

RESULTS = "results.jsonl"
SCHEMA = 1
"""Version of the shape of a line."""

_HASH = "sha256"
_BY_HAND = ("link", "note", "licence", _HASH)
"""What may be edited without the run: the line's own hash does not cover it."""


@frozen
class PublishedNumber:
    """One number of all sentences, with what it is and what it rests on."""

    __pydantic_config__: ClassVar = EXACT

    key: str
    label: str
    unit: Unit
    decimals: int
    """With which the page shows it."""
    best: Best
    shown: bool
    """Whether the page shows it."""
    compared: bool
    """Whether systems are tested against each other in it."""
    about: str
    """One sentence for readers."""
    value: float | None
    """In its unit, rounded to 6 decimals; None where undefined."""
    interval: Interval | None
    """95 %, over sentences."""
    interval_entities: Interval | None
    """95 %, over entities, where the measure has such."""
    method: str | None
    """How `interval` was made: ``wilson`` or ``bootstrap``; None where the number has none."""
    rows: Mapping[str, int]
    """The denominators: rows of each class that it rests on."""


@frozen
class PublishedDifference:
    """A number of the run minus that of another, on the same sentences."""

    __pydantic_config__: ClassVar = EXACT

    difference: float | None
    interval: Interval | None
    p: float | None
    """Two-sided, paired randomisation over sentences, not corrected: over how many tests is known
    on the page alone."""

    def turned(self) -> PublishedDifference:
        """The difference seen from the other run."""
        ends = None if self.interval is None else (-self.interval[1], -self.interval[0])
        return PublishedDifference(minus(0.0, self.difference), ends, self.p)


@frozen
class PublishedComparison:
    """The paired tests of a run against another one."""

    __pydantic_config__: ClassVar = EXACT

    fingerprint: str
    """Of the other run."""
    calls: str
    """SHA-256 of the other's `calls.jsonl`: an endpoint's runs may share a fingerprint and differ
    here."""
    resamples: int
    seed: int
    numbers: Mapping[str, PublishedDifference]
    """By key."""


@frozen
class PublishedCorpus:
    """Which sentences: two results are on one corpus where name and files are the same."""

    __pydantic_config__: ClassVar = EXACT

    name: str
    files: Mapping[str, str]
    """SHA-256 of each file."""


@dataclass(frozen=True)
class PublishedResult:
    """What a line of `results.jsonl` holds."""

    __pydantic_config__: ClassVar = EXACT

    mtbias: str
    """Release that published it."""
    system: str
    language: str
    corpus: PublishedCorpus
    evaluator: JsonObject
    """What read the translations: aligner, Stanza and its models, language plugin, release; the
    measure where it is another than the gender of an entity."""
    signature: str
    fingerprint: str
    calls: str
    """SHA-256 of the run's `calls.jsonl`."""
    sentences: int
    numbers: tuple[PublishedNumber, ...]
    resamples: int
    """Of the intervals over sentences, with `seed`; 0: no intervals."""
    seed: int
    warnings: tuple[str, ...]
    """The run's alarms in words; the page shows them all."""
    alarms: JsonObject
    """The alarms as numbers, as `metrics.json` has them."""
    comparisons: tuple[PublishedComparison, ...]
    """With runs that were published together with it; both lines hold a comparison, each from its
    own side."""
    link: str | None = None
    """Where more about the run is."""
    note: str | None = None
    licence: str | None = None
    """Of the system's translations."""

    def __post_init__(self) -> None:
        check_link(self.link)

    @property
    def identity(self) -> tuple[str, str]:
        """What makes it this run and no other: fingerprint, and hash of its calls."""
        return self.fingerprint, self.calls

    @cached_property
    def place(self) -> str:
        """Corpus and language, as one text."""
        return json.dumps(
            [self.corpus.name, dict(self.corpus.files), self.language], sort_keys=True
        )

    @cached_property
    def block(self) -> str:
        """What results have in common that are tested against each other and ranked together, as
        one text.
        """
        return json.dumps([self.place, dict(self.evaluator)], sort_keys=True)

    def number(self, key: str) -> PublishedNumber | None:
        """The number called `key`, where it has it."""
        return next((number for number in self.numbers if number.key == key), None)

    def estimate(self, number: PublishedNumber) -> Estimate:
        """The result's own value of a number, as a group of `metrics.json` gives it."""
        own = self.number(number.key)
        return Estimate(None) if own is None else Estimate(own.value, own.interval)

    def to_json(self) -> JsonDict:
        """The content of the line: numbers rounded to 6 decimals, its own hash last."""
        content: JsonDict = {
            "schema": SCHEMA,
            **{key: rounded(part) for key, part in asdict(self).items()},
        }
        return {**content, _HASH: own_hash(content)}


def check_link(link: str | None) -> None:
    """Refuse what a reader should not follow: a page is opened by people who did not make it.

    Raises:
        ValueError: it is not an http or https address.
    """
    if link is not None and not link.startswith(("https://", "http://")):
        raise ValueError(
            f"link: expected an address that begins with https:// or http://, got {link!r}"
        )


def own_hash(content: JsonObject) -> str:
    """SHA-256 of all that is not edited by hand, as canonical JSON.

    Raises:
        ValueError: a number is not finite.
    """
    return sha256_of(canonical({key: part for key, part in content.items() if key not in _BY_HAND}))


# --- The file ---


def read_results(path: Path) -> list[PublishedResult]:
    """All results of the file at `path`, in its order.

    Raises:
        DataError: the file is missing or empty; a line is damaged or of another schema, or a number
            in it was changed; a run occurs twice; two systems of a block have one name.
        OSError: the file cannot be read.
    """
    how = "`mtbias publish RUN --out DIR` writes them"
    if not path.is_file():
        raise DataError(f"expected a file of results, got none; {how}", path=path)
    lines = enumerate(input_bytes(path).splitlines(), start=1)
    results = [_read_line(line, path, number) for number, line in lines if line.strip()]
    if not results:
        raise DataError(f"expected results, got none; {how}", path=path)
    check_apart(results, path)
    return results


def _read_line(line: bytes, path: Path, number: int) -> PublishedResult:
    try:
        content = load_json(line, once)
        if not isinstance(content, dict) or "schema" not in content:
            raise DataError(
                "expected a result that `mtbias publish` wrote; leave it out",
                path=path,
                line=number,
            )
        if (schema := content.pop("schema")) != SCHEMA:
            message = f"expected schema {SCHEMA}, got {schema!r}; publish the run again, "
            message += "or read it with the mtbias that wrote it"
            raise DataError(message, path=path, line=number)
        stated = content.pop(_HASH, None)
        result = decoded(PublishedResult, json.dumps(content, ensure_ascii=False))
        if stated != own_hash({"schema": schema, **content}):
            message = (
                "expected the numbers as they were published, got others; publish the run again"
            )
            raise DataError(message, path=path, line=number)
    except ValueError as error:
        raise DataError(
            f"damaged: {error}; publish the run again", path=path, line=number
        ) from error
    return result


def check_apart(results: Sequence[PublishedResult], path: Path | None = None) -> None:
    """Refuse results that no page can tell apart.

    Raises:
        DataError: a run twice; two systems of a block with one name.
    """
    runs, names = set(), set()
    for result in results:
        if result.fingerprint in runs:
            raise DataError(
                f"expected each run once, got {result.fingerprint} twice; leave one out", path=path
            )
        if (result.block, result.system) in names:
            twice = f"{result.system!r} twice on {result.corpus.name} in {result.language}"
            raise DataError(
                f"expected a name for each system, got {twice}; "
                "leave one out, or publish it under a name of its own with --name",
                path=path,
            )
        runs.add(result.fingerprint)
        names.add((result.block, result.system))


def write_results(results: Iterable[PublishedResult], path: Path) -> None:
    """Write a line for each result, by corpus, language and fingerprint.

    Raises:
        RunFolderError: the file cannot be written.
    """
    ordered = sorted(
        results, key=lambda result: (result.corpus.name, result.language, result.fingerprint)
    )
    lines = (json.dumps(result.to_json(), ensure_ascii=False) for result in ordered)
    write_atomic(path, "".join(f"{line}\n" for line in lines).encode(), own=True)


# --- Runs ---


@frozen
class About:
    """What the user says about a run."""

    name: str | None = None
    """Of the system, on the page; by default the run's own."""
    link: str | None = None
    note: str | None = None
    licence: str | None = None


def read_checked(path: Path) -> FinishedRun:
    """A finished run whose every number follows from its calls.

    Raises:
        RunFolderError: the run is not complete, a file was changed, or its fingerprint is not that
            of its identity.
        DataError: `metrics.json` says what does not follow from the calls; these are of other
            translations than `translations.jsonl`.
        MtbiasError: its language is not installed, without which the alarms cannot be checked.
    """
    again = "run `mtbias eval` or `mtbias score` into the folder again"
    run = read_run(path)
    stated = load_json(input_bytes(path / MANIFEST))["signature"]
    if stated != run.signature:
        raise DataError(
            f"expected the signature {run.signature}, got {stated}; {again}", path=path / MANIFEST
        )
    if run.kind.reads_entities:
        get_language(run.lang)
    if differing := run.not_following():
        keys = ", ".join(differing)
        raise DataError(
            f"expected what follows from {CALLS}, got other content ({keys}); {again}",
            path=path / METRICS,
        )
    called = {record.id: record.translation for record in run.calls}
    if called != {line.id: line.text for line in RunFolder(path).read_translations()}:
        message = f"expected the translations of {CALLS}, got others; {again}"
        raise DataError(message, path=path / TRANSLATIONS)
    return run


def make_results(
    runs: Sequence[FinishedRun],
    about: Sequence[About] | None = None,
    *,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> list[PublishedResult]:
    """A result for each run, in their order, compared with all others of its corpus, language and
    evaluator.

    Args:
        runs: of `read_checked`.
        about: one for each run.
        n_resamples: rearrangements of each paired test; with 0 nothing is tested.
        seed: of the tests.

    Raises:
        DataError: a run twice; two runs that would be compared have one name; as
            `mtbias.scoring.comparison`.
    """
    results = [_result(*both) for both in zip(runs, about or [About()] * len(runs), strict=True)]
    check_apart(results)
    groups: dict[str, list[FinishedRun]] = defaultdict(list)
    for run, result in zip(runs, results, strict=True):
        groups[result.block].append(run)
    calls = {result.fingerprint: result.calls for result in results}
    comparisons: dict[str, list[PublishedComparison]] = defaultdict(list)
    for group in groups.values():
        if len(group) < 2 or not n_resamples:
            continue
        # The names are those of the fingerprints, which tell the runs of a pair apart.
        names = [run.fingerprint for run in group]
        for pair in compare_runs(group, n_resamples=n_resamples, seed=seed, names=names).pairs:
            for one, other, differences in _both_sides(pair):
                comparison = PublishedComparison(
                    other, calls[other], n_resamples, seed, differences
                )
                comparisons[one].append(comparison)
    return [
        replace(result, comparisons=tuple(comparisons[result.fingerprint])) for result in results
    ]


def _both_sides(pair: SystemPair) -> Iterator[tuple[str, str, dict[str, PublishedDifference]]]:
    """The names of a run and of the other one, and the differences seen from the first, for each
    of the two.
    """
    differences = {}
    for key, plain in pair.plain.items():
        differences[key] = PublishedDifference(plain.difference, plain.interval, plain.p)
    turned = {key: difference.turned() for key, difference in differences.items()}
    yield pair.first, pair.second, differences
    yield pair.second, pair.first, turned


def _result(run: FinishedRun, about: About) -> PublishedResult:
    if run.path is None:
        raise DataError(
            "expected a run in a folder, got one that was not written; evaluate it with out=DIR"
        )
    metrics = read_metrics(run.metrics)
    return PublishedResult(
        mtbias=__version__,
        system=about.name or run.system,
        language=run.lang,
        corpus=PublishedCorpus(*run.corpus),
        evaluator=run.evaluator,
        signature=run.signature,
        fingerprint=run.fingerprint,
        calls=sha256_of_file(run.path / CALLS),
        sentences=len(run.known.calls),
        numbers=tuple(_number(number, metrics) for number in run.numbers),
        resamples=metrics.intervals.resamples,
        seed=metrics.intervals.seed,
        warnings=tuple(warnings(metrics.alarms)),
        alarms=run.metrics["alarms"],
        comparisons=(),
        link=about.link,
        note=about.note,
        licence=about.licence,
    )


def _number(number: Number, metrics: RunMetrics) -> PublishedNumber:
    overall = metrics.overall
    estimate = overall.estimate(number)
    return PublishedNumber(
        key=number.key,
        label=number.label,
        unit=number.unit,
        decimals=number.decimals,
        best=number.best,
        compared=number.compared,
        about=number.about,
        shown=number.headline or number.coverage,
        value=estimate.value,
        interval=estimate.interval,
        interval_entities=overall.interval_over_entities(number),
        method=metrics.interval_methods.get(number.key),
        rows=dict(zip(number.rests_on, overall.rows(number), strict=True)),
    )
