"""``mtbias score``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mtbias.api import score, score_systems
from mtbias.cli.shared import (
    Bootstrap,
    Corpus,
    Device,
    Evaluator,
    Flag,
    Full,
    Json,
    Langs,
    RunOut,
    named_files,
    print_json,
)
from mtbias.corpora.corpus_kinds import WINOMT
from mtbias.errors import UsageError, escaped
from mtbias.files.file_ledger import REPORT
from mtbias.report.run_table import render
from mtbias.runs.call_records import metrics_text
from mtbias.runs.finished_run import FinishedRun
from mtbias.settings import (
    LANG,
    BootstrapSettings,
    CorpusSettings,
    DeviceSettings,
    EvaluatorSettings,
    ScoreSettings,
    combined,
)
from mtbias.translate.file_shapes import parts_in
from mtbias.translate.shape_table import Selection

if TYPE_CHECKING:
    from mtbias.scoring.comparison import Comparison


def command(
    *,
    translations: list[str],
    lang: Langs,
    out: RunOut = None,
    system: str | None = None,
    allow_missing: Flag = False,
    part: Flag = False,
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

    The entity is aligned with the words of its translation, their gender is read, and the calls are
    scored. Nothing is downloaded.

    Parameters
    ----------
    translations
        Lines of "source ||| target"; a TSV, CSV or JSONL with "id" or "source" and "target"; one
        target a line, in the corpus's order; or what other programs write (docs/corpora.md), packed
        by gzip or not. `-` is standard input. Several systems: NAME=FILE each, or a file with the
        translations of several, with {lang} in FILE for the language. Each gets a run in
        OUT/NAME-LANG; one page compares them.
    system
        Name of the system, for tables and the signature (default: the file's name).
    allow_missing
        Score even if less than 95 % of the corpus is translated; missing translations count as
        wrong.
    part
        Score only the sentences of the data set that the file has; the signature tells which.
    clean
        The file has answers of a language model: remove text around the translation, and count an
        answer without a translation as untranslated. JSONL and CSV can hold answers of several
        lines.
    scores
        File with a score for each sentence, COMET's or any other, for means by gender and their gap
        (mt-geneval): a TSV, CSV or JSONL with the columns id or source, and one with the score's
        name.
    """
    settings = combined(
        ScoreSettings, corpus, evaluator, device, bootstrap, scores=scores, part=part
    )
    files = named_files(translations)
    if len(files) > 1 or len(lang) > 1 or _several_in(files, lang[0], settings):
        several = "with several systems or languages"
        if out is None:
            raise UsageError(f"expected --out FOLDER {several}")
        for option, value in (("system", system), ("scores", scores)):
            if value is not None:
                raise UsageError(f"expected no --{option} {several}")
        runs, compared = score_systems(
            files,
            lang,
            out,
            allow_missing=allow_missing,
            clean=clean,
            settings=settings,
            progress=True,
        )
        show_systems(runs, compared, out, json=json, full=full)
        return
    ((name, file),) = files.items()
    own = name if "=" in translations[0] and file != translations[0] else None
    run = score(
        file.replace(LANG, lang[0]),
        lang[0],
        system=system or own,
        out=out,
        allow_missing=allow_missing,
        clean=clean,
        settings=settings,
        progress=True,
    )
    show(run, out, json=json, full=full)


def _several_in(files: Mapping[str, str], lang: str, settings: ScoreSettings) -> bool:
    """Whether the only file has the translations of several systems or prompts."""
    (file,) = files.values()
    selection = Selection(lang, settings.source_lang, settings.dataset or WINOMT)
    return len(parts_in(Path(file.replace(LANG, lang)), selection)) > 1


def show_systems(
    runs: Sequence[FinishedRun], compared: Comparison | None, out: Path, *, json: bool, full: bool
) -> None:
    """Print the comparison of runs, or the table of each without one, and the files."""
    if json:
        metrics = {str(run.path): run.metrics for run in runs}
        comparison = compared.to_json() if compared else None
        print_json({"runs": metrics, "comparison": comparison}, indent=None)
        return
    if compared is not None:
        from mtbias.report.comparison_tables import render_comparison

        print(render_comparison(compared, "text", runs[0].counting.numbers, full=full), end="")
    for run in runs if compared is None else ():
        print(f"{run.lang}\n{render(run.metrics, full=full, numbers=run.numbers)}")
    print(f"Runs: {', '.join(escaped(str(run.path)) for run in runs)}")
    print(f"Report: {escaped(str(out))}/{REPORT}")


def show(run: FinishedRun, out: Path | None, *, json: bool, full: bool) -> None:
    """Print the table of a run, or its ``metrics.json``; with a folder, also its page."""
    if json:
        print(metrics_text(run.metrics), end="")
        return
    print(render(run.metrics, full=full, numbers=run.numbers), end="")
    if out is not None:
        print(f"Report: {escaped(str(out))}/report.html")
