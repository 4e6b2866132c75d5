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
    def _settings(self) -> tuple[ScoreSettings, Path | None, str]:
        options = load_json(self.options)
        out, system = options.pop("out", None), options.pop("system", "answers")
        settings = converted(ScoreSettings, {**options, "dataset": self.dataset})
        return settings, None if out is None else Path(out), system

    @cached_property
    def corpus(self) -> Corpus[Instance]:
        """The corpus of the data set.

        Raises:
            MissingResourceError: it is not in the cache; names the command that fetches it.
            DecodingError: an option is not a setting of `mtbias.score`.
        """
        settings = self._settings[0]
        return load_entities(self.dataset, settings.data, settings.cache_dir, settings.source_lang)

    def questions(self) -> dict[str, str]:
        """The question for each id, by the prompt ``plain`` of ``mtbias eval``."""
        prompt, corpus = load_prompt("plain"), self.corpus
        questions = {}
        for instance in corpus.instances:
            turns = prompt.filled(instance.source, self.lang, corpus.source_lang)
            questions[instance.id] = turns[-1]["content"]
        return questions

    def score(self, answers: Mapping[str, str], *, written: bool = True) -> Run:
        """The run of answers by id, cleaned as by ``mtbias score --clean``, and `written` into
        ``out`` if that is set.

        With a harness's ``--limit`` the answered sentences are the corpus.

        Raises:
            MtbiasError: as `mtbias.score`.
        """
        return _scored(self, tuple(answers.items()), written and self._settings[1] is not None)


@lru_cache(maxsize=8)  # a harness computes each number on its own
def _scored(benchmark: Benchmark, answers: tuple[tuple[str, str], ...], written: bool) -> Run:
    corpus, (settings, out, name) = benchmark.corpus, benchmark._settings
    texts = dict(answers)
    if any(instance.id not in texts for instance in corpus.instances):
        corpus = corpus.part(texts.keys())
    system = GivenSystem(name, lambda sources: join_texts(texts, sources.instances))
    request = prepare_score(
        cleaned_system(system, benchmark.lang), benchmark.lang, settings, corpus
    )
    run = evaluate(request, out=out if written else None)
    return Run(run.manifest, run.metrics, run.measure, run.records, run.folder)


def numbers(run: FinishedRun) -> dict[str, Any]:
    """Accuracy, ΔG and ΔS of all sentences by key, in per cent and points, with the ends of their
    intervals (``accuracy_low``, ``accuracy_high``), the number ``n`` of sentences and of their
    ``calls``; None where undefined.
    """
    overall = read_metrics(run.metrics).overall
    values: dict[str, Any] = {}
    for number in run.numbers:
        if number.key in KEYS:
            estimate = overall.estimate(number)
            low, high = estimate.interval or (None, None)
            values[number.key] = estimate.value
            values[f"{number.key}_low"] = low
            values[f"{number.key}_high"] = high
    return {**values, "n": overall.n, "calls": overall.decided}
