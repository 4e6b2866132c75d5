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
from mtbias.translate.shape_table import Wanted

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
        translations of several; {lang} in FILE stands for the language. Each has a run, in
        OUT/NAME-LANG; they are compared, on one page.
    system
        Name of the system, for tables and the signature (default: the file's name).
    allow_missing
        Score even if less than 95 % of the corpus is translated: what is missing counts as wrong.
    part
        Score a part of the data set: only the sentences that the file has; the signature says which
        they are.
    clean
        The file has answers of a language model: remove what stands around the translation, and
        count an answer without one as untranslated. A JSONL or CSV keeps answers of several lines.
    scores
        File of a score for each sentence, COMET's or any, for means by gender and their gap
        (mt-geneval): a TSV, CSV or JSONL with the columns id or source, and one with the score's
        name.
    """
    settings = combined(
        ScoreSettings, corpus, evaluator, device, bootstrap, scores=scores, part=part
    )
    files = named_files(translations)
    if len(files) > 1 or len(lang) > 1 or _several_in(files, lang[0], settings):
        if out is None or system is not None or scores is not None:
            option = (
                "--out FOLDER"
                if out is None
                else "no --system"
                if system is not None
                else "no --scores"
            )
            raise UsageError(f"expected {option} with several systems or languages")
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
    """Whether the one file has the translations of several systems, or by several prompts."""
    (file,) = files.values()
    wanted = Wanted(lang, settings.source_lang, settings.dataset or WINOMT)
    return len(parts_in(Path(file.replace(LANG, lang)), wanted)) > 1


def show_systems(
    runs: Sequence[FinishedRun], compared: Comparison | None, out: Path, *, json: bool, full: bool
) -> None:
    """Print the comparison of runs, or their finding each where there is none, and name the
    files.
    """
    if json:
        found = {str(run.path): run.metrics for run in runs}
        print_json(
            {"runs": found, "comparison": compared.to_json() if compared else None}, indent=None
        )
        return
    if compared is not None:
        from mtbias.report.comparison_tables import render_comparison

        print(render_comparison(compared, "text", runs[0].counting.numbers, full=full), end="")
    for run in runs if compared is None else ():
        print(f"{run.lang}\n{render(run.metrics, full=full, numbers=run.numbers)}")
    print(f"Runs: {', '.join(escaped(str(run.path)) for run in runs)}")
    print(f"Report: {escaped(str(out))}/{REPORT}")


def show(run: FinishedRun, out: Path | None, *, json: bool, full: bool) -> None:
    """Print the table of a run, or its ``metrics.json``; with a folder, name its files."""
    if json:
        print(metrics_text(run.metrics), end="")
        return
    print(render(run.metrics, full=full, numbers=run.numbers), end="")
    if out is not None:
        print(f"Report: {escaped(str(out))}/report.html")
