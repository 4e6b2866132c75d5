"""The first stage of a run: a corpus translated, whole or in shards, into memory or into a run folder."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtbias.errors import MissingTranslationsError, RunFolderError
from mtbias.evaluation.request import EvalRequest, Progress, quiet
from mtbias.morphology import StanzaAnalyser
from mtbias.runs import Json, KeptBatches, RunFolder, budget_of_run, read_shard_reports, write_shard_report
from mtbias.runs import progress as progress_of
from mtbias.translate.seq2seq.generation import NOTICED, Memory, Output, Tally, count_outputs, is_noticed
from mtbias.translate.seq2seq.shards import Shard, batches_of
from mtbias.types import Translation

if TYPE_CHECKING:
    from mtbias.translate.seq2seq.translator import Prepared


@dataclass(frozen=True, slots=True)
class Translated:
    """Translations, and what was noticed while they were read or made."""

    translations: Sequence[Translation]
    counts: Mapping[str, Any]
    execution: Mapping[str, Json]


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


def translate_shard(request: EvalRequest, shard: Shard, *, out: Path, progress: Progress = quiet) -> ShardReport:
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
                **host_facts(),
                "torch": version("torch"),
                **request.translator.execution(loaded=tally.generated > 0),
                **tally.to_json(),
                "batches": len(batches),
                "seconds": seconds,
            },
        )
        return ShardReport(len(batches), sentences, tally.generated, tally.resumed, tally.halved, seconds)


def take_budget(request: EvalRequest, out: Path) -> bool:
    """Plan as the run in `out` was planned, on whatever device it was begun; gives whether that changes anything."""
    begun, before = budget_of_run(out), request.translator.budget()
    if begun is not None:
        request.translator.use_budget(begun)
    return request.translator.budget() != before


def _open_shared(request: EvalRequest, out: Path) -> RunFolder:
    take_budget(request, out)
    try:
        return RunFolder(out).open_shared(request.identity(), host_facts())
    except RunFolderError:
        if not take_budget(request, out):  # else another device was faster to say how batches are made
            raise
        return RunFolder(out).open_shared(request.identity(), host_facts())


def _prepare_shared(request: EvalRequest, folder: RunFolder) -> tuple[Prepared, KeptBatches]:
    sources = [i.source for i in request.corpus.instances]
    prepared = request.translator.prepare(sources)
    try:
        return prepared, KeptBatches(folder.path, prepared, alone=False)
    except RunFolderError:
        if not take_budget(request, folder.path):  # as in `_open_shared`
            raise
    prepared = request.translator.prepare(sources)
    return prepared, KeptBatches(folder.path, prepared, alone=False)


def host_facts() -> dict[str, Json]:
    """Where this process runs, for the manifest's execution."""
    return {"host": platform.node(), "python": platform.python_version()}


def translate_corpus(
    request: EvalRequest, folder: RunFolder | None, progress: Progress, *, generate: bool
) -> Translated:
    """The translations of the corpus: those that `folder` has and, with `generate`, those that it lacks.

    Raises:
        MissingTranslationsError: without `generate`, batches are missing or damaged; nothing else was done.
        ModelError: the checkpoint cannot be loaded, or a sentence does not fit into memory.
    """
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
            analysing(request),
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
    return Translated(
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


def analysing(request: EvalRequest) -> Callable[[Sequence[Output]], object] | None:
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
