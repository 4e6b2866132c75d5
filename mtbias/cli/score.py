"""``mtbias score``."""

from __future__ import annotations

from pathlib import Path

from mtbias.cli.shared import Bootstrap, Corpus, Device, Evaluator, Flag, Full, Json, Lang, RunOut
from mtbias.errors import escaped
from mtbias.evaluation.preparation import prepare_score
from mtbias.evaluation.stages import evaluate
from mtbias.machine.stage_progress import ProgressLine
from mtbias.report.run_table import render
from mtbias.runs.call_records import metrics_text
from mtbias.runs.finished_run import FinishedRun
from mtbias.settings import (
    BootstrapSettings,
    CorpusSettings,
    DeviceSettings,
    EvaluatorSettings,
    ScoreSettings,
    combined,
)
from mtbias.translate.given_translations import given_file


def command(
    *,
    translations: Path,
    lang: Lang,
    out: RunOut = None,
    system: str | None = None,
    allow_missing: Flag = False,
    clean: Flag = False,
    scores: Path | None = None,
    full: Full = False,
    json: Json = False,
    corpus: Corpus = CorpusSettings(),
    evaluator: Evaluator = EvaluatorSettings(),
    device: Device = DeviceSettings(),
    bootstrap: Bootstrap = BootstrapSettings(),
) -> None:
    """Report gender-bias metrics of given translations.

    The entity is aligned with the words of its translation, their gender is read, and the calls are scored. Nothing is
    downloaded.

    Parameters
    ----------
    translations
        Lines of "source ||| target"; a TSV, CSV or JSONL with "id" or "source" and "target"; or one target a line, in
        the corpus's order. `-` is standard input.
    system
        Name of the system, for tables and the signature (default: the file's name).
    allow_missing
        Score even if less than 95 % of the corpus is translated.
    clean
        The file has answers of a language model: remove what stands around the translation, and count an answer
        without one as untranslated. A JSONL or CSV keeps answers of several lines.
    scores
        File of a score for each sentence, COMET's or any, for means by gender and their gap (mt-geneval): a TSV, CSV or
        JSONL with the columns id or source, and one with the score's name.
    """
    settings = combined(ScoreSettings, corpus, evaluator, device, bootstrap, scores=scores)
    given = given_file(translations, name=system, allow_missing=allow_missing)
    if clean:
        from mtbias.translate.language_models.answers import cleaned_system

        given = cleaned_system(given, lang)
    show(evaluate(prepare_score(given, lang, settings), out=out, progress=ProgressLine()), out, json=json, full=full)


def show(run: FinishedRun, out: Path | None, *, json: bool, full: bool) -> None:
    """Print the table of a run, or its ``metrics.json``; with a folder, name its files."""
    if json:
        print(metrics_text(run.metrics), end="")
        return
    print(render(run.metrics, full=full, numbers=run.numbers), end="")
    if out is not None:
        print(f"Report: {escaped(str(out))}/report.html")
