"""What the adapters share: a data set in a target language, what is asked of each sentence, the
numbers of the answers.

The tagger's majority readings and the aligner learn from all sentences together. So no answer can
be scored on its own, and a harness's numbers are those of `mtbias score` on the same answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from mtbias.api import Run
from mtbias.corpora import Corpus, load_entities
from mtbias.evaluation.preparation import prepare_score
from mtbias.evaluation.stages import evaluate
from mtbias.files.strict_json import converted, load_json
from mtbias.runs.finished_run import FinishedRun
from mtbias.scoring.metrics_reader import read_metrics
from mtbias.settings import ScoreSettings
from mtbias.translate.given_translations import GivenSystem, join_texts
from mtbias.translate.language_models.answers import cleaned_system
from mtbias.translate.language_models.prompt_files import load_prompt
from mtbias.types import Instance

DATASETS = ("winomt", "bug-gold", "demo")
"""The data sets that have tasks."""
KEYS = ("accuracy", "delta_g", "delta_s")


@dataclass(frozen=True)
class Benchmark:
    """A data set whose sentences a language model translates into `lang`."""

    dataset: str
    lang: str
    options: str = "{}"
    """JSON of settings of `mtbias.score` (`mtbias.settings.ScoreSettings`), of ``out``, the folder
    of the run, and of ``system``, the model's name in it."""

    @cached_property
    def _given(self) -> tuple[ScoreSettings, Path | None, str]:
        options = load_json(self.options)
        out, system = options.pop("out", None), options.pop("system", "answers")
        settings = converted(ScoreSettings, {**options, "dataset": self.dataset})
        return settings, None if out is None else Path(out), system

    @cached_property
    def corpus(self) -> Corpus[Instance]:
        """The sentences.

        Raises:
            MissingResourceError: they are not in the cache; the message names the command that
                fetches them.
            DecodingError: an option that is no setting of `mtbias.score`.
        """
        settings = self._given[0]
        return load_entities(self.dataset, settings.data, settings.cache_dir, settings.source_lang)

    def questions(self) -> dict[str, str]:
        """By id what is asked: the prompt ``plain`` of ``mtbias eval``."""
        prompt = load_prompt("plain")
        return {
            i.id: prompt.filled(i.source, self.lang, self.corpus.source_lang)[-1]["content"]
            for i in self.corpus.instances
        }

    def score(self, answers: Mapping[str, str], *, written: bool = True) -> Run:
        """The run of answers by id, cleaned as ``mtbias score --clean`` does; `written` into
        ``out``, if that is given.

        Where a harness asked for some sentences only (``--limit``), these are the corpus.

        Raises:
            MtbiasError: as `mtbias.score`.
        """
        return _scored(self, tuple(answers.items()), written and self._given[1] is not None)


@lru_cache(maxsize=8)  # a harness asks for each number on its own
def _scored(benchmark: Benchmark, answers: tuple[tuple[str, str], ...], written: bool) -> Run:
    corpus, (settings, out, name) = benchmark.corpus, benchmark._given
    texts = dict(answers)
    if any(instance.id not in texts for instance in corpus.instances):
        corpus = corpus.part(texts.keys())
    system = GivenSystem(name, lambda sources: join_texts(texts, sources.instances))
    request = prepare_score(
        cleaned_system(system, benchmark.lang), benchmark.lang, settings, corpus
    )
    done = evaluate(request, out=out if written else None)
    return Run(done.manifest, done.metrics, done.measure, done.records, done.folder)


def numbers(run: FinishedRun) -> dict[str, Any]:
    """Accuracy, ΔG and ΔS of all sentences by key, in per cent and points, with the ends of their
    intervals (``accuracy_low``, ``accuracy_high``), ``n`` sentences and ``calls`` of them; None
    where undefined.
    """
    overall = read_metrics(run.metrics).overall
    found: dict[str, Any] = {}
    for number in run.numbers:
        if number.key in KEYS:
            estimate = overall.estimate(number)
            low, high = estimate.interval or (None, None)
            found |= {
                number.key: estimate.value,
                f"{number.key}_low": low,
                f"{number.key}_high": high,
            }
    return {**found, "n": overall.n, "calls": overall.decided}
