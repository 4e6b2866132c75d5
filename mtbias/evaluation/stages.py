"""The order of the stages: translate → judge (align → analyse → decide) → score → report. Known here alone."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mtbias.evaluation.translation import Request, host_facts, planned, translate_corpus
from mtbias.files.kept_work import remove_parts
from mtbias.runs.finished_run import FinishedRun
from mtbias.runs.manifest import RunManifest
from mtbias.runs.run_folder import SHA256, RunFolder
from mtbias.scoring.alarms import checks
from mtbias.scoring.measure import Judged
from mtbias.stats.results import percent_of, rounded
from mtbias.translate.system import Translated
from mtbias.types import Progress, quiet

REPORT = "report.html"


def evaluate(
    request: Request, *, out: Path | None = None, generate: bool = True, progress: Progress = quiet
) -> FinishedRun:
    """Translate the corpus, judge every translation, and score.

    With `out`, the run folder is written there, every part of the translations as soon as it is made: a run that was
    killed resumes, with what `translate_shard` kept there too; one that is complete is read instead of made again; one
    that belongs to another run is refused.

    Without `out` everything stays in memory. With `generate` what is missing is translated; without it all translations
    must be there.

    Raises:
        MissingTranslationsError: without `generate`, parts are missing or damaged; nothing else was done.
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
        manifest = RunManifest(identity, execution)
        records, metrics = _measured(request, translated, manifest, progress)
        return FinishedRun(manifest, metrics, request.corpus.measure, records)
    with RunFolder(out).open_or_create(identity, host_facts()) as folder:
        if not folder.is_complete():
            start = time.perf_counter()
            translated, execution = translate_corpus(request, plan, folder, progress, generate=generate)
            records, metrics = _measured(request, translated, folder.manifest, progress)
            for time_, each in enumerate((translated.translations, *translated.repeats), start=1):
                folder.write_translations(each, time_)
            folder.write_calls(record.to_json() for record in records)
            circumstances = getattr(request.measure, "execution", {})  # a third party's measure need not have any
            folder.record_execution({**execution, **circumstances, "seconds": round(time.perf_counter() - start, 3)})
            folder.write_metrics(metrics)
        remove_parts(folder.path)
        run = FinishedRun.read(folder)
        computed_again = SHA256 not in run.metrics  # since the file was changed
        if computed_again:
            folder.write_metrics(run.metrics)
            run = FinishedRun.read(folder)
        if computed_again or not folder.has(REPORT):
            from mtbias.report.report_runs import ReportRun
            from mtbias.report.run_page import render_html

            folder.write_atomic(REPORT, render_html([ReportRun.of(run)]).encode())
        return run


def _measured(
    request: Request, translated: Translated, manifest: RunManifest, progress: Progress
) -> tuple[Sequence[Judged], Mapping[str, Any]]:
    """The records of the corpus, and the content of `metrics.json`."""
    records = request.measure.judge(request.corpus.instances, translated.translations, progress)
    scores = request.kind.score(records, n_resamples=request.n_resamples, seed=request.seed)
    corpus = request.corpus
    drawn = {"n_resamples": request.n_resamples, "seed": request.seed}
    return records, {
        **scores.to_json(signature=manifest.signature(), fingerprint=manifest.fingerprint),
        **checks(records, request.lang, corpus.measure, **drawn),
        "corpus": {
            "name": corpus.name,
            "rows": corpus.rows,
            "skipped": len(corpus.skipped),
            "notes": dict(corpus.notes),
        },
        "translations": dict(translated.noticed),
        **repeat_numbers(request, translated, records, progress),
    }


def repeat_numbers(
    request: Request, translated: Translated, first: Sequence[Judged], progress: Progress
) -> dict[str, Any]:
    """`repeats` of `metrics.json`; empty where everything was translated once.

    A sentence has changed where its translations (or calls) are not the same every time:
    ``percent = 100 × changed / n``. The spread of a number is its greatest value minus its least, in points.

    Args:
        request: the run.
        translated: its translations, of every time.
        first: the records of the first time, whose numbers are those of the run.
        progress: see `mtbias.types.Progress`.
    """
    if not translated.repeats:
        return {}
    instances = request.corpus.instances
    records = [first, *(request.measure.judge(instances, each, progress) for each in translated.repeats)]
    texts = [[each.text for each in time] for time in (translated.translations, *translated.repeats)]
    calls = [[_call(record) for record in time] for time in records]
    # No intervals here: those of the first time are those of the run.
    groups = [request.kind.score(time, n_resamples=0, seed=request.seed).overall for time in records]
    scores = [group.to_json() for group in groups]
    return {
        "repeats": {
            "times": len(records),
            "n": len(instances),
            "translations_changed": _changed(texts),
            "calls_changed": _changed(calls),
            "numbers": {
                number.key: _values([number.of(overall).value for overall in scores])
                for number in groups[0].counting.numbers
                if number.headline
            },
        }
    }


def _call(record: Judged) -> tuple[Any, ...]:
    """What a record says of its sentence: of a gender, the gender or why there is none; else all but the words."""
    line = record.to_json()
    if "gender" in line and "reason" in line:
        return (line["gender"], line["reason"])
    return tuple((key, repr(value)) for key, value in line.items() if key != "translation")


def _changed(times: Sequence[Sequence[object]]) -> dict[str, Any]:
    """How many sentences are not the same every time."""
    count = sum(any(value != row[0] for value in row) for row in zip(*times, strict=True))
    return {"count": count, "percent": rounded(percent_of(count, len(times[0])))}


def _values(values: Sequence[float | None]) -> Mapping[str, Any]:
    """The values of a number, each time, and their spread; None where one of them is undefined."""
    known = [value for value in values if value is not None]
    spread = rounded(max(known) - min(known)) if len(known) == len(values) else None
    return {"values": list(values), "spread": spread}
