"""The order of the stages: translate → align → analyse → decide → score. The only module that knows it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtbias.align import Aligner, Pair
from mtbias.decide import FormVotes, decide
from mtbias.evaluation.request import EvalRequest, Progress, Request, ScoreRequest, quiet
from mtbias.evaluation.translation import Translated, host_facts, take_budget, translate_corpus
from mtbias.language.definition import Language
from mtbias.language.split_texts import SplitTexts
from mtbias.metrics import score
from mtbias.morphology import Analyser
from mtbias.report.run_page import ReportRun, render_html
from mtbias.runs import CallRecord, Json, RunFolder, RunManifest, join_records, remove_chunks
from mtbias.types import Alignment, GenderCall, Instance, Reason, Translation

if TYPE_CHECKING:
    from mtbias.translate.given_translations import GivenTranslations

REPORT = "report.html"


def call_genders(
    instances: Sequence[Instance],
    translations: Sequence[Translation],
    language: Language,
    aligner: Aligner,
    analyser: Analyser,
    *,
    progress: Progress = quiet,
) -> tuple[GenderCall, ...]:
    """The gender in which each entity stands in its translation, in the order of `instances`.

    Args:
        instances: the corpus.
        translations: one for each instance, joined by id.
        language: the plugin of the target language.
        aligner: finds the entity's words; it sees the whole corpus at once.
        analyser: reads their morphology.
        progress: see `Progress`.
    """
    texts = {t.id: t.text for t in translations}
    missing = [i.id for i in instances if i.id not in texts]
    if missing:
        raise ValueError(
            f"no translation, not even an empty one, for {len(missing)} instances, the first is {missing[0]}"
        )
    pairs = [Pair.of(i, text) for i in instances if (text := texts[i.id]) is not None]
    calls = {c.id: c for c in call_pairs(pairs, language, aligner, analyser, progress=progress)}
    return tuple(calls.get(i.id) or GenderCall(i.id, None, Reason.UNTRANSLATED) for i in instances)


def call_pairs(
    pairs: Sequence[Pair], language: Language, aligner: Aligner, analyser: Analyser, *, progress: Progress = quiet
) -> tuple[GenderCall, ...]:
    """One call for each of `pairs`; those without a head only help the statistics of alignment and of the tagger."""
    total = len(pairs)
    progress("align", 0, total)
    split = SplitTexts(language)
    alignments = aligner.align(pairs, split)
    progress("align", total, total)
    distinct = dict.fromkeys(p.text for p in pairs)
    done = 0

    def count(n: int) -> None:
        nonlocal done
        done += n
        progress("analyse", done, len(distinct))

    progress("analyse", 0, len(distinct))
    analyser.prepare(distinct, count)
    progress("analyse", len(distinct), len(distinct))  # those that the cache had, too
    votes = FormVotes()
    for text in distinct:
        votes.add(analyser.analysis(text), language)
    return tuple(_decide_all(pairs, alignments, split, analyser, votes, progress))


def _decide_all(
    pairs: Sequence[Pair],
    alignments: Sequence[Alignment],
    texts: SplitTexts,
    analyser: Analyser,
    votes: FormVotes,
    progress: Progress,
) -> list[GenderCall]:
    calls = []
    for done, (pair, alignment) in enumerate(zip(pairs, alignments, strict=True), 1):
        if pair.head is not None:
            calls.append(decide(alignment, analyser.analysis(pair.text), texts, votes))
        if done % 1000 == 0 or done == len(pairs):
            progress("decide", done, len(pairs))
    return calls


def score_translations(
    request: ScoreRequest, *, out: Path | None = None, progress: Progress = quiet
) -> Mapping[str, Any]:
    """Call every instance's gender and score the calls: the content of ``metrics.json``.

    With `out`, the run folder is written there; a folder in which the same run is complete is read instead of computed
    again, one in which it was killed is completed, one that belongs to another run is refused.

    Raises:
        RunFolderError: the folder belongs to another run or cannot be written.
    """
    given = Translated(request.given.translations, _given_counts(request.given), {})
    return _run(request, request.identity(), lambda _: given, out, progress)


def evaluate(
    request: EvalRequest, *, out: Path | None = None, generate: bool = True, progress: Progress = quiet
) -> Mapping[str, Any]:
    """Translate the corpus, then as `score_translations`.

    With `out`, every batch of translations is kept there as soon as it is made, so that a run that was killed goes on,
    with what `translate_shard` kept there too. Without `generate` all of them must be there.

    Raises:
        MissingTranslationsError: without `generate`, batches are missing or damaged; nothing else was done.
        ModelError: the checkpoint cannot be loaded, or a sentence does not fit into memory.
        RunFolderError: the folder belongs to another run or cannot be written.
        ValueError: without `generate`, and without `out`.
    """
    if out is None and not generate:
        raise ValueError("expected a run folder with translations, got none")
    if out is not None:
        take_budget(request, out)

    def translate(folder: RunFolder | None) -> Translated:
        return translate_corpus(request, folder, progress, generate=generate)

    return _run(request, request.identity(), translate, out, progress)


def run_in_memory(
    request: ScoreRequest | EvalRequest, *, progress: Progress = quiet
) -> tuple[RunManifest, Mapping[str, Any], tuple[CallRecord, ...]]:
    """`score_translations` or `evaluate` without a folder: manifest, metrics, and the records of ``calls.jsonl``.

    Raises:
        ModelError: as in `evaluate`.
    """
    if isinstance(request, EvalRequest):
        translated = translate_corpus(request, None, progress, generate=True)
    else:
        translated = Translated(request.given.translations, _given_counts(request.given), {})
    manifest = RunManifest(request.identity(), translated.execution)
    metrics, calls = _compute(request, translated, manifest, progress)
    return manifest, metrics, tuple(join_records(request.corpus.instances, translated.translations, calls))


def _run(
    request: Request,
    identity: Mapping[str, Json],
    translate: Callable[[RunFolder | None], Translated],
    out: Path | None,
    progress: Progress,
) -> Mapping[str, Any]:
    if out is None:
        return _compute(request, translate(None), RunManifest(identity, {}), progress)[0]
    with RunFolder(out).open_or_create(identity, host_facts()) as folder:
        if not folder.is_complete():
            start = time.perf_counter()
            translated = translate(folder)
            metrics, calls = _compute(request, translated, folder.manifest, progress)
            folder.write_translations(translated.translations)
            folder.write_calls(join_records(request.corpus.instances, translated.translations, calls))
            seconds = round(time.perf_counter() - start, 3)
            folder.record_execution({**translated.execution, "seconds": seconds})
            folder.write_metrics(metrics)
        remove_chunks(folder.path)
        metrics = folder.read_metrics()
        if not folder.has(REPORT):
            run = ReportRun(
                _name(identity), request.language.code, metrics, folder.read_calls(), request.language.direction
            )
            folder.write_atomic(REPORT, render_html([run]).encode())
        return metrics


def _name(identity: Mapping[str, Json]) -> str:
    return str(identity.get("system") or identity["model"])


def _compute(
    request: Request, translated: Translated, manifest: RunManifest, progress: Progress
) -> tuple[dict[str, Any], tuple[GenderCall, ...]]:
    instances = request.corpus.instances
    calls = call_genders(
        instances, translated.translations, request.language, request.aligner, request.analyser, progress=progress
    )
    scores = score(instances, calls, n_resamples=request.n_resamples, seed=request.seed)
    metrics = scores.to_json(signature=manifest.signature(), fingerprint=manifest.fingerprint)
    metrics["corpus"] = {
        "name": request.corpus.name,
        "rows": request.corpus.rows,
        "skipped": len(request.corpus.skipped),
        "notes": dict(request.corpus.notes),
    }
    metrics["translations"] = dict(translated.counts)
    return metrics, calls


def _given_counts(given: GivenTranslations) -> dict[str, Any]:
    """What reading the translations noticed, with the first examples of each kind."""
    kinds = ("missing", "empty", "extra", "duplicates", "shared", "normalised")
    return {
        "form": given.form,
        **{kind: getattr(given, kind) for kind in kinds},
        "examples": {kind: list(names) for kind, names in given.examples.items()},
    }
