"""Tasks of Inspect (``inspect_ai``): ``mtbias/winomt``, ``mtbias/bug_gold``, ``mtbias/demo``, and
their scorer.

Inspect finds them by its entry points. Arguments (``-T``) are ``lang``, settings of `mtbias.score`,
and ``out`` for the folder of the run. Whether the call of a sample is right is known only when all
are answered, and is then written into the log.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.hooks import Hooks, TaskEnd, hooks
from inspect_ai.log import read_eval_log_async, write_eval_log_async
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    NOANSWER,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    metric,
    scorer,
)
from inspect_ai.solver import TaskState, generate

from mtbias.adapters.benchmark import Benchmark, numbers
from mtbias.api import Run
from mtbias.errors import UsageError

SCORER = "gender"


@task
def winomt(lang: str, **settings: object) -> Task:
    """WinoMT, translated into `lang`."""
    return _task("winomt", lang, settings)


@task
def bug_gold(lang: str, **settings: object) -> Task:
    """The sentences of BUG that people checked, translated into `lang`."""
    return _task("bug-gold", lang, settings)


@task
def demo(lang: str, **settings: object) -> Task:
    """The corpus that ships with mtbias, translated into `lang`."""
    return _task("demo", lang, settings)


def _task(dataset: str, lang: str, settings: dict[str, object]) -> Task:
    benchmark = Benchmark(dataset, lang, json.dumps(settings))
    samples = [Sample(id=id_, input=question) for id_, question in benchmark.questions().items()]
    return Task(
        dataset=MemoryDataset(samples, name=dataset),
        solver=generate(),
        scorer=gender(**asdict(benchmark)),
    )


@metric(scores="unreduced")
def bias() -> Metric:
    """Accuracy, ΔG and ΔS of all answers, with intervals and counts; see
    `mtbias.adapters.benchmark.numbers`.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        if not scores:
            return {}
        run = _run([(str(each.sample_id), each.score) for each in scores])
        values = numbers(run).items()
        return {key: math.nan if value is None else value for key, value in values}

    return compute


@scorer(metrics=[bias()], name=SCORER)
def gender(dataset: str, lang: str, options: str = "{}") -> Scorer:
    """Reads the gender of the person in each answer, a translation into `lang`; see `Benchmark`."""
    benchmark = asdict(Benchmark(dataset, lang, options))

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        return Score(value=NOANSWER, answer=state.output.completion, metadata=benchmark)

    return score


@hooks(name="mtbias", description="Writes into the log which gender mtbias read in each answer")
class CallsInLog(Hooks):
    """Writes the call of each sample into the log at the end of a task: right, wrong, or none with
    the reason.
    """

    async def on_task_end(self, data: TaskEnd) -> None:
        """See `inspect_ai.hooks.Hooks`."""
        scorers = [each.name for each in data.log.eval.scorers or ()]
        if data.log.status != "success" or SCORER not in scorers:
            return
        log = await read_eval_log_async(data.log.location)
        samples = [sample for sample in log.samples or () if sample.scores]
        scores = {str(sample.id): sample.scores[SCORER] for sample in samples}
        for record in _run(list(scores.items()), written=True).calls:
            score, call = scores[record.id], record.call
            if call.gender is not None and record.gold is not None:
                score.value = CORRECT if call.gender is record.gold else INCORRECT
            score.explanation = call.decided_by
            score.metadata |= record.to_json()
        await write_eval_log_async(log)


def _run(scores: Sequence[tuple[str, Score]], *, written: bool = False) -> Run:
    """The run of all answers, by the ids of their samples."""
    answers = {id_: score.answer or "" for id_, score in scores}
    if len(answers) < len(scores):
        raise UsageError("expected one answer to each sentence, got several; leave out --epochs")
    metadata = scores[0][1].metadata or {}
    benchmark = Benchmark(metadata["dataset"], metadata["lang"], metadata["options"])
    return benchmark.score(answers, written=written)
