"""The order of the stages: translate → align → analyse → decide → score. The only module that knows it."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mtbias import __version__
from mtbias.align import Aligner, Pair
from mtbias.decide import FormVotes, decide
from mtbias.errors import MissingTranslationsError, RunFolderError
from mtbias.metrics import score
from mtbias.morphology import Analyser, StanzaAnalyser
from mtbias.plugin import Language
from mtbias.report.html import ReportRun, render_html
from mtbias.runs import (
    CallRecord,
    Json,
    KeptBatches,
    RunFolder,
    RunManifest,
    budget_of_run,
    join_records,
    read_shard_reports,
    remove_chunks,
    write_shard_report,
)
from mtbias.runs import progress as progress_of
from mtbias.translate.generate import NOTICED, Memory, Output, Tally, count_outputs, is_noticed
from mtbias.translate.shards import Shard, batches_of
from mtbias.types import Alignment, GenderCall, Instance, Reason, Translation

if TYPE_CHECKING:
    from mtbias.corpora import Corpus
    from mtbias.translate.given import GivenTranslations
    from mtbias.translate.translator import Prepared, Translator

REPORT = "report.html"

Progress = Callable[[str, int, int], object]
"""Called as ``progress(stage, done, total)``."""


def _quiet(stage: str, done: int, total: int) -> None:
    """No progress wanted."""


def call_genders(
    instances: Sequence[Instance],
    translations: Sequence[Translation],
    language: Language,
    aligner: Aligner,
    analyser: Analyser,
    *,
    progress: Progress = _quiet,
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
    pairs: Sequence[Pair], language: Language, aligner: Aligner, analyser: Analyser, *, progress: Progress = _quiet
) -> tuple[GenderCall, ...]:
    """One call for each of `pairs`; those without a head only help the statistics of alignment and of the tagger."""
    total = len(pairs)
    progress("align", 0, total)
    alignments = aligner.align(pairs, language)
    progress("align", total, total)
    texts = [p.text for p in pairs]
    distinct = dict.fromkeys(texts)
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
    return tuple(_decide_all(pairs, alignments, language, analyser, votes, progress))


def _decide_all(
    pairs: Sequence[Pair],
    alignments: Sequence[Alignment],
    language: Language,
    analyser: Analyser,
    votes: FormVotes,
    progress: Progress,
) -> list[GenderCall]:
    calls = []
    for done, (pair, alignment) in enumerate(zip(pairs, alignments, strict=True), 1):
        if pair.head is not None:
            calls.append(decide(alignment, analyser.analysis(pair.text), language, votes))
        if done % 1000 == 0 or done == len(pairs):
            progress("decide", done, len(pairs))
    return calls


@dataclass(frozen=True, kw_only=True)
class _Request:
    """What scoring depends on, wherever the translations come from."""

    corpus: Corpus
    language: Language
    aligner: Aligner
    analyser: Analyser
    seed: int = 0
    n_resamples: int = 2000

    def _identity(self, made_by: Mapping[str, Json]) -> dict[str, Json]:
        return {
            "dataset": self.corpus.name,
            "data": dict(sorted(self.corpus.files.items())),
            "language": self.language.code,
            **made_by,
            "aligner": self.aligner.signature,
            "stanza": self.analyser.signature,
            "plugin": f"{self.language.code}/{self.language.version}",
            "mtbias": __version__,
            "seed": self.seed,
            "resamples": self.n_resamples,
        }


@dataclass(frozen=True, kw_only=True)
class ScoreRequest(_Request):
    """All that scoring given translations depends on."""

    given: GivenTranslations
    system: str
    """Name of the system that made the translations, for the signature."""

    def identity(self) -> dict[str, Json]:
        """What changes results."""
        return self._identity({"system": self.system, "translations": self.given.sha256})


@dataclass(frozen=True, kw_only=True)
class EvalRequest(_Request):
    """All that translating a corpus and scoring the translations depends on."""

    translator: Translator
    analyse_beside: bool | None = None
    """Whether the analyser's other processes work while translations are made; None: where a GPU makes them."""

    def identity(self) -> dict[str, Json]:
        """What changes results."""
        return self._identity(self.translator.identity())


@dataclass(frozen=True, slots=True)
class _Translated:
    """Translations, and what was noticed while they were read or made."""

    translations: Sequence[Translation]
    counts: Mapping[str, Any]
    execution: Mapping[str, Json]


def score_translations(
    request: ScoreRequest, *, out: Path | None = None, progress: Progress = _quiet
) -> Mapping[str, Any]:
    """Call every instance's gender and score the calls: the content of ``metrics.json``.

    With `out`, the run folder is written there; a folder in which the same run is complete is read instead of computed
    again, one in which it was killed is completed, one that belongs to another run is refused.

    Raises:
        RunFolderError: the folder belongs to another run or cannot be written.
    """
    given = _Translated(request.given.translations, _given_counts(request.given), {})
    return _run(request, request.identity(), lambda _: given, out, progress)


def evaluate(
    request: EvalRequest, *, out: Path | None = None, generate: bool = True, progress: Progress = _quiet
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
        _take_budget(request, out)

    def translate(folder: RunFolder | None) -> _Translated:
        return _translate(request, folder, progress, generate=generate)

    return _run(request, request.identity(), translate, out, progress)


@dataclass(frozen=True, slots=True)
class ShardReport:
    """What `translate_shard` did; all 0 but the seconds where the run was complete already."""

    batches: int
    sentences: int
    """Distinct sentences of the shard: `generated` and `resumed` together."""
    generated: int
    """Sentences translated now."""
    resumed: int
    """Sentences whose translations were there already."""
    halved: int
    """Times that a batch ran out of memory and was halved."""
    seconds: float


def translate_shard(request: EvalRequest, shard: Shard, *, out: Path, progress: Progress = _quiet) -> ShardReport:
    """Translate the batches of `shard` that are not in the run folder `out` yet, and keep them there.

    Many processes may do so at once, on whatever hosts; two on one shard write the same files. What they translate
    does not depend on the number of shards. `evaluate` completes the run.

    Raises:
        ModelError: the checkpoint cannot be loaded, or a sentence does not fit into memory.
        RunFolderError: the folder belongs to another run, holds another plan, is being completed by another process,
            or cannot be written.
    """
    start = time.perf_counter()
    with _open_shared(request, out) as folder:
        if folder.is_complete():
            return ShardReport(0, 0, 0, 0, 0, round(time.perf_counter() - start, 3))
        prepared, store = _prepare_shared(request, folder)
        batches = batches_of(prepared.plan, shard)
        tally = request.translator.translate_part(
            prepared, batches, store, lambda done, total: progress("translate", done, total)
        )
        sentences = sum(len(batch.rows) for batch in batches)
        seconds = round(time.perf_counter() - start, 3)
        write_shard_report(
            folder.path,
            str(shard),
            {
                **_host(),
                "torch": version("torch"),
                **request.translator.execution(loaded=tally.generated > 0),
                **tally.to_json(),
                "batches": len(batches),
                "seconds": seconds,
            },
        )
        return ShardReport(len(batches), sentences, tally.generated, tally.resumed, tally.halved, seconds)


def _take_budget(request: EvalRequest, out: Path) -> bool:
    """Plan as the run in `out` was planned, on whatever device it was begun; gives whether that changes anything."""
    begun, before = budget_of_run(out), request.translator.budget()
    if begun is not None:
        request.translator.use_budget(begun)
    return request.translator.budget() != before


def _open_shared(request: EvalRequest, out: Path) -> RunFolder:
    _take_budget(request, out)
    try:
        return RunFolder(out).open_shared(request.identity(), _host())
    except RunFolderError:
        if not _take_budget(request, out):  # else another device was faster to say how batches are made
            raise
        return RunFolder(out).open_shared(request.identity(), _host())


def _prepare_shared(request: EvalRequest, folder: RunFolder) -> tuple[Prepared, KeptBatches]:
    sources = [i.source for i in request.corpus.instances]
    prepared = request.translator.prepare(sources)
    try:
        return prepared, KeptBatches(folder.path, prepared, alone=False)
    except RunFolderError:
        if not _take_budget(request, folder.path):  # as in `_open_shared`
            raise
    prepared = request.translator.prepare(sources)
    return prepared, KeptBatches(folder.path, prepared, alone=False)


def _host() -> dict[str, Json]:
    return {"host": platform.node(), "python": platform.python_version()}


def run_in_memory(
    request: ScoreRequest | EvalRequest, *, progress: Progress = _quiet
) -> tuple[RunManifest, Mapping[str, Any], tuple[CallRecord, ...]]:
    """`score_translations` or `evaluate` without a folder: manifest, metrics, and the records of ``calls.jsonl``.

    Raises:
        ModelError: as in `evaluate`.
    """
    if isinstance(request, EvalRequest):
        translated = _translate(request, None, progress, generate=True)
    else:
        translated = _Translated(request.given.translations, _given_counts(request.given), {})
    manifest = RunManifest(request.identity(), translated.execution)
    metrics, calls = _compute(request, translated, manifest, progress)
    return manifest, metrics, tuple(join_records(request.corpus.instances, translated.translations, calls))


def _translate(request: EvalRequest, folder: RunFolder | None, progress: Progress, *, generate: bool) -> _Translated:
    instances = request.corpus.instances
    start = time.perf_counter()
    if folder is not None and not generate:
        found = progress_of(folder.path)
        if not found.translated:
            raise _missing(folder, len(found.missing), found.batches)
    prepared = request.translator.prepare([i.source for i in instances])
    kept = None if folder is None else KeptBatches(folder.path, prepared, alone=generate)
    if folder is None or kept is None or generate:
        outputs, tally = request.translator.translate(
            prepared,
            kept or Memory(),
            lambda done, total: progress("translate", done, total),
            _analysing(request),
        )
    else:
        gathered, missing = kept.gather()
        if gathered is None:
            raise _missing(folder, missing, len(prepared.plan))
        outputs, tally = gathered, Tally(resumed=len(prepared.distinct))
    shards = [] if folder is None else read_shard_reports(folder.path)
    translations = [
        Translation(i.id, o.text) if o.text else Translation(i.id, None, "empty")
        for i, o in zip(instances, outputs, strict=True)
    ]
    examples = {
        name: [i.id for i, o in zip(instances, outputs, strict=True) if is_noticed(o, name)][:5] for name in NOTICED
    }
    return _Translated(
        translations,
        {"form": "generated", **count_outputs(outputs), "examples": {k: v for k, v in examples.items() if v}},
        {
            **request.translator.execution(loaded=tally.generated > 0),
            **tally.to_json(),
            "batches": len(prepared.plan),
            "translate_seconds": round(time.perf_counter() - start, 3),
            **({"shards": shards} if shards else {}),
        },
    )


def _analysing(request: EvalRequest) -> Callable[[Sequence[Output]], object] | None:
    """Hands translations over to be analysed while later ones are made; None where they are not."""
    analyser, beside = request.analyser, request.analyse_beside
    if beside is None:
        beside = request.translator.device.startswith("cuda")  # on a CPU both would want the same cores
    if not beside or not isinstance(analyser, StanzaAnalyser):
        return None
    return lambda outputs: analyser.submit(output.text for output in outputs if output.text)


def _missing(folder: RunFolder, missing: int, batches: int | None) -> MissingTranslationsError:
    how_many = "no translations" if batches is None else f"{missing} of {batches} batches of translations are missing"
    return MissingTranslationsError(
        f"{folder.path}: {how_many}; `mtbias eval … --out {folder.path} --shard K/N` makes those of part K of N, "
        "without --shard it makes all and completes the run"
    )


def _run(
    request: _Request,
    identity: Mapping[str, Json],
    translate: Callable[[RunFolder | None], _Translated],
    out: Path | None,
    progress: Progress,
) -> Mapping[str, Any]:
    if out is None:
        return _compute(request, translate(None), RunManifest(identity, {}), progress)[0]
    with RunFolder(out).open_or_create(identity, _host()) as folder:
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
            run = ReportRun(_name(identity), request.language.code, metrics, folder.read_calls(), _direction(request))
            folder.write_atomic(REPORT, render_html([run]).encode())
        return metrics


def _name(identity: Mapping[str, Json]) -> str:
    return str(identity.get("system") or identity["model"])


def _direction(request: _Request) -> Literal["ltr", "rtl"]:
    return "rtl" if request.language.direction == "rtl" else "ltr"


def _compute(
    request: _Request, translated: _Translated, manifest: RunManifest, progress: Progress
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
