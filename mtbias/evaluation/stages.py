"""The order of the stages: translate → judge (align → analyse → decide) → score → report. Known
here alone.
"""

from __future__ import annotations

import logging
import platform
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from mtbias.corpora import Corpus
from mtbias.errors import MissingTranslationsError, RunFolderError
from mtbias.files.file_ledger import REPORT
from mtbias.files.kept_work import (
    PartStore,
    PlanRecord,
    read_plan,
    remove_parts,
)
from mtbias.language.source import ENGLISH_CODE
from mtbias.report.report_runs import report_run
from mtbias.report.run_page import render_html
from mtbias.runs.finished_run import FinishedRun
from mtbias.runs.manifest import RunManifest
from mtbias.runs.run_folder import CALLS, METRICS, RunFolder, begun, run_progress
from mtbias.scoring.finding import conclusions
from mtbias.scoring.measure import Measure, MeasureKind, MeasureRecord, measure_entry
from mtbias.stats.results import N_RESAMPLES, percent_of, rounded
from mtbias.translate.outputs import Shard, repaired
from mtbias.translate.system import MemoryStore, Plan, System, Tally, Translated
from mtbias.types import Json, JsonDict, JsonObject, Progress, Translation, frozen, quiet
from mtbias.version import __version__

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A corpus to be translated by a system and measured."""

    corpus: Corpus[Any]
    lang: str
    """ISO 639-1 code of the target language."""
    system: System
    measure: Measure
    """The corpus's measure, ready for the language."""
    kind: MeasureKind
    """And what does not depend on the language: how its records are scored."""
    seed: int = 0
    n_resamples: int = N_RESAMPLES

    def identity(self, plan: Plan) -> dict[str, Json]:
        """What the results depend on, with the translations made by `plan`."""
        return {
            "dataset": self.corpus.name,
            "data": dict(sorted(self.corpus.files.items())),
            "language": self.lang,
            **(
                {}
                if self.corpus.source_lang == ENGLISH_CODE
                else {"source_language": self.corpus.source_lang}
            ),
            **plan.identity,
            **measure_entry(self.corpus.measure),
            **self.measure.identity,
            "mtbias": __version__,
            "seed": self.seed,
            "resamples": self.n_resamples,
        }


def evaluate(
    request: Request, *, out: Path | None = None, generate: bool = True, progress: Progress = quiet
) -> FinishedRun:
    """Translate the corpus, judge every translation, and score.

    With `out`, the run folder is written there, every part of the translations as soon as it is
    made: a run that was killed resumes, with what `translate_shard` kept there too; one that is
    complete is read instead of made again; one that belongs to another run is refused.

    Without `out` everything stays in memory. With `generate` what is missing is translated; without
    it all translations must be there.

    Raises:
        MissingTranslationsError: without `generate`, parts are missing or damaged; nothing else was
            done.
        ModelError: the checkpoint cannot be loaded, or a sentence does not fit into memory.
        DataError: given translations do not fit the corpus.
        RunFolderError: the folder belongs to another run or cannot be written.
        ValueError: without `generate`, and without a folder that could have translations.
    """
    if out is None and not generate:
        raise ValueError("expected a run folder, whose translations are to be scored")
    plan = planned(request, out)
    identity = request.identity(plan)
    if out is None:
        translated, execution = translate_corpus(request, plan, None, progress, generate=True)
        manifest = RunManifest(identity, {**execution, "date": _today()})
        records, metrics = _measured(request, translated, manifest, progress)
        return FinishedRun(manifest, metrics, request.corpus.measure, records)
    with RunFolder(out).open_or_create(identity, host_facts()) as folder:
        begun_here = not folder.is_complete()
        if begun_here and folder.has_changed_metrics():
            _log.warning(
                "%s: expected what was written there; its numbers are computed again from %s",
                out / METRICS,
                CALLS,
            )
            folder.write_metrics(FinishedRun.recomputed(folder).metrics)
        elif begun_here:
            start = time.perf_counter()
            translated, execution = translate_corpus(
                request, plan, folder, progress, generate=generate
            )
            records, metrics = _measured(request, translated, folder.manifest, progress)
            for time_, each in enumerate((translated.translations, *translated.repeats), start=1):
                folder.write_translations(each, time_)
            folder.write_calls(record.to_json() for record in records)
            seconds = round(time.perf_counter() - start, 3)
            folder.record_execution(
                {**execution, **request.measure.execution, "date": _today(), "seconds": seconds}
            )
            folder.write_metrics(metrics)
        remove_parts(folder.path)
        run = FinishedRun.read(folder)
        if begun_here or not folder.has(REPORT):
            folder.write_atomic(REPORT, render_html([report_run(run)]).encode())
        return run


def evaluate_given(
    requests: Iterable[tuple[Request, Path]], *, progress: Progress = quiet
) -> Iterator[FinishedRun]:
    """`evaluate` each of the requests, of translations that are there, into its folder.

    They share a measure, which knows from the first what comes: it may begin with the later ones
    beside the work for the earlier ones. A folder that is there already is probably of a finished
    run.

    Raises:
        MtbiasError: as `evaluate`.
    """
    ready: list[tuple[Request, Path]] = []
    try:
        for request, out in requests:
            ready.append((request, out))
            if not out.exists():
                outputs = planned(request, None).collect(MemoryStore())
                if not isinstance(outputs, int):
                    texts = (each.text for each in outputs.translations)
                    request.measure.expect(text for text in texts if text is not None)
        for request, out in ready:
            yield evaluate(request, out=out, progress=progress)
    finally:
        for request, _ in ready:
            request.measure.abandon()


def _measured(
    request: Request, translated: Translated, manifest: RunManifest, progress: Progress
) -> tuple[Sequence[MeasureRecord], JsonObject]:
    """The records of the corpus, and the content of `metrics.json`."""
    records = request.measure.judge(request.corpus.instances, translated.translations, progress)
    scores = request.kind.score(records, n_resamples=request.n_resamples, seed=request.seed)
    corpus = request.corpus
    numbers = scores.to_json(signature=manifest.signature(), fingerprint=manifest.fingerprint)
    return records, {
        **numbers,
        **conclusions(
            numbers, records, request.lang, corpus.measure, corpus.source_lang, translated.noticed
        ),
        "corpus": {
            "name": corpus.name,
            "rows": corpus.rows,
            "skipped": corpus.skipped,
            "notes": dict(corpus.notes),
        },
        "translations": dict(translated.noticed),
        **repeat_numbers(request, translated, records, progress),
    }


def repeat_numbers(
    request: Request, translated: Translated, first: Sequence[MeasureRecord], progress: Progress
) -> JsonDict:
    """`repeats` of `metrics.json`; empty where everything was translated once.

    A sentence has changed where its translations (or calls) are not the same every time:
    ``percent = 100 × changed / n``. The spread of a number is its greatest value minus its least,
    in points.

    Args:
        request: the run.
        translated: its translations, of every time.
        first: the records of the first time, whose numbers are those of the run.
        progress: see `mtbias.types.Progress`.
    """
    if not translated.repeats:
        return {}
    instances = request.corpus.instances
    records = [first]
    texts = [_texts(translated.translations)]
    for repeat in translated.repeats:
        records.append(request.measure.judge(instances, repeat, progress))
        texts.append(_texts(repeat))
    # No intervals here: those of the first time are those of the run.
    groups = [
        request.kind.score(of_time, n_resamples=0, seed=request.seed).overall for of_time in records
    ]
    numbers: JsonDict = {}
    for number in groups[0].counting.numbers:
        if number.headline:
            values = [rounded(group[number.key].value) for group in groups]
            known = [value for value in values if value is not None]
            spread = rounded(max(known) - min(known)) if known == values else None
            numbers[number.key] = {"values": values, "spread": spread}
    return {
        "repeats": {
            "times": len(records),
            "n": len(instances),
            "translations_changed": _changed(texts),
            "calls_changed": _changed([list(map(_call, of_time)) for of_time in records]),
            "numbers": numbers,
        }
    }


def _texts(translations: Sequence[Translation]) -> list[str | None]:
    return [translation.text for translation in translations]


def _call(record: MeasureRecord) -> tuple[Any, ...]:
    """What a record says of its sentence: for a gender call, the gender or why there is none; else
    all but the words.
    """
    line = record.to_json()
    if "gender" in line and "reason" in line:
        return (line["gender"], line["reason"])
    return tuple((key, repr(value)) for key, value in line.items() if key != "translation")


def _changed(times: Sequence[Sequence[object]]) -> JsonDict:
    """How many sentences are not the same every time."""
    count = sum(row.count(row[0]) < len(row) for row in zip(*times, strict=True))
    return {"count": count, "percent": rounded(percent_of(count, len(times[0])))}


@frozen
class ShardReport:
    """What `translate_shard` did; all 0 but the seconds where the run was complete already."""

    parts: int
    sentences: int
    """Distinct sentences of the shard: `generated` and `resumed` together."""
    generated: int
    """Sentences translated now."""
    resumed: int
    """Sentences whose translations were there already."""
    seconds: float


def planned(request: Request, out: Path | None) -> Plan:
    """How the corpus is translated: as the run in `out` was begun, on whatever device."""
    corpus = request.corpus
    if corpus.inputs:  # other texts than its sources
        texts = [
            replace(each, source=corpus.inputs.get(each.id, each.source))
            for each in corpus.instances
        ]
        corpus = replace(corpus, instances=tuple(texts))
    return request.system.plan(corpus, {} if out is None else begun(out))


def translate_shard(
    request: Request, shard: Shard, *, out: Path, progress: Progress = quiet
) -> ShardReport:
    """Translate the parts of `shard` that are not in the run folder `out` yet, and keep them there.

    Many processes may do so at once, on whatever hosts; two on one shard write the same files. What
    they translate does not depend on the number of shards. `evaluate` completes the run.

    Raises:
        ModelError: the checkpoint cannot be loaded, or a sentence does not fit into memory.
        RunFolderError: the folder belongs to another run, holds another plan, is being completed by
            another process, or cannot be written.
    """
    start = time.perf_counter()
    folder, plan, store = _open_shared(request, out)
    with folder:
        if store is None:
            return ShardReport(0, 0, 0, 0, round(time.perf_counter() - start, 3))
        parts = shard.parts(len(plan.sizes))
        tally = plan.translate(store, parts, partial(progress, "translate"))
        seconds = round(time.perf_counter() - start, 3)
        return ShardReport(
            len(parts), sum(plan.sizes[n] for n in parts), tally.generated, tally.resumed, seconds
        )


def _open_shared(request: Request, out: Path) -> tuple[RunFolder, Plan, PartStore | None]:
    """The folder, open for many; the plan that all follow; and its store, None where the run is
    complete.
    """
    while True:
        plan = planned(request, out)
        try:
            folder = RunFolder(out).open_or_create(
                request.identity(plan), host_facts(), shared=True
            )
            try:
                return (
                    folder,
                    plan,
                    None if folder.is_complete() else _store(folder, plan, alone=False),
                )
            except BaseException:
                folder.close()
                raise
        except RunFolderError:
            # Another process, on another device, may just have been faster to write down how it
            # divides the work.
            if planned(request, out).settings == plan.settings:
                raise


def readable_store(plan: Plan, out: Path | None) -> MemoryStore:
    """The parts of `plan` that the run in `out` has, to be read only: nothing is written or
    removed.
    """
    store = MemoryStore()
    record = None if out is None else read_plan(out)
    if out is not None and record is not None and record.key == plan.key:
        parts = PartStore(out, record, alone=False)
        store.parts = {
            n: part for n in range(len(plan.sizes)) if (part := parts.get(n)) is not None
        }
    return store


def _store(folder: RunFolder, plan: Plan, *, alone: bool) -> PartStore:
    return PartStore(
        folder.path, PlanRecord(plan.key, plan.settings, tuple(plan.sizes)), alone=alone
    )


def host_facts() -> dict[str, Json]:
    """Where this process runs, for the manifest's execution."""
    return {"host": platform.node(), "python": platform.python_version()}


def _today() -> str:
    return time.strftime("%Y-%m-%d")


def translate_corpus(
    request: Request, plan: Plan, folder: RunFolder | None, progress: Progress, *, generate: bool
) -> tuple[Translated, dict[str, Json]]:
    """The translations of the corpus, those that `folder` has and, with `generate`, those that it
    lacks; and how.

    Raises:
        MissingTranslationsError: without `generate`, parts are missing or damaged; nothing else was
            done.
        ModelError: the checkpoint cannot be loaded, or a sentence does not fit into memory.
    """
    start = time.perf_counter()
    if folder is not None and not generate:
        progress_so_far = run_progress(folder.path)
        if not progress_so_far.translated:
            raise _missing(folder, len(progress_so_far.missing), progress_so_far.parts)
    if not plan.sizes:  # nothing is made
        return _collected(request, plan, MemoryStore(), folder), {}
    store = MemoryStore() if folder is None else _store(folder, plan, alone=generate)
    if generate:
        hint = request.measure.hint if plan.frees_cpu else None
        try:
            tally = plan.translate(
                store, range(len(plan.sizes)), partial(progress, "translate"), hint
            )
        except BaseException:
            request.measure.abandon()
            raise
    else:
        tally = Tally(resumed=sum(plan.sizes))
    translated = _collected(request, plan, store, folder)
    return translated, {
        **tally.execution,
        "sentences_resumed": tally.resumed,
        "sentences_generated": tally.generated,
        "parts": len(plan.sizes),
        "translate_seconds": round(time.perf_counter() - start, 3),
    }


def _collected(
    request: Request, plan: Plan, store: MemoryStore | PartStore, folder: RunFolder | None
) -> Translated:
    outputs = plan.collect(store)
    if isinstance(outputs, int):
        if folder is None:
            raise RuntimeError(f"expected all parts in memory, {outputs} are missing")
        raise _missing(folder, outputs, len(plan.sizes))
    return repaired(outputs, request.kind.repairs)


def _missing(folder: RunFolder, missing: int, parts: int | None) -> MissingTranslationsError:
    how_many = (
        "no translations"
        if parts is None
        else f"{missing} of {parts} parts of the translations are missing"
    )
    return MissingTranslationsError(
        f"{folder.path}: {how_many}; `mtbias eval … --out {folder.path} --shard K/N` makes those "
        "of shard K of N, without --shard it makes all and completes the run"
    )
