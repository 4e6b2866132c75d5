"""``mtbias report``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mtbias.cli.shared import Flag, Names, Runs, checked_names
from mtbias.errors import DataError, SettingError, UsageError, choices, escaped
from mtbias.files.special_files import own_descriptor

if TYPE_CHECKING:
    from mtbias.report.report_runs import ReportRun
    from mtbias.runs.finished_run import FinishedRun
    from mtbias.scoring.women_share import WomenRelation


def command(
    runs: Runs,
    /,
    *,
    out: Path | None = None,
    format: Literal["html", "csv", "latex", "markdown"] = "html",
    by: str | None = None,
    names: Names = None,
    women: Path | None = None,
    women_column: str | None = None,
    plots: Path | None = None,
    png: Flag = False,
) -> None:
    """Write an HTML report, tables for papers and plots of finished runs.

    The page needs nothing else, neither network nor server: numbers with their intervals, plots, and the sentences
    behind them. Several runs, of one language or of several, stand side by side.

    Parameters
    ----------
    out
        The file to write; a table is printed without it.
    format
        html: the page; else a table of systems and languages: accuracy, ΔG, ΔS with intervals (csv: all numbers).
    by
        Break the table down by one property: domain, pronouns, stereotype, entity.
    women
        Table with the share of women by occupation (columns entity or occupation, and share), for the page and the
        plots (default: labour statistics of the United States, 2015 to 2017, for WinoMT's occupations).
    women_column
        The column of shares (default: share, percent, bls_pct_female or bergsma_pct_female).
    plots
        Write the plots as SVG files into this folder.
    png
        With --plots: write PNG files too.
    """
    names = checked_names(names, runs)
    if format == "html":
        if by:
            raise UsageError("--by: expected --format csv, latex or markdown, got html; the page has all breakdowns")
        if out is None and plots is None:
            raise UsageError(
                "expected --out FILE.html for the page, --plots DIR, or --format csv, latex or markdown; got none"
            )
    elif women and plots is None:
        raise UsageError(
            f"--women: expected the page or --plots DIR, got --format {format}; a table has no column for it"
        )
    if png and plots is None:
        raise UsageError("--png: expected --plots DIR beside it, got none; add it")
    if women_column and not women:
        raise UsageError("--women-column: expected --women FILE beside it, got none; add it")

    from mtbias.report.report_runs import ReportRun, unique_names
    from mtbias.report.scatter import relations
    from mtbias.runs.finished_run import read_run
    from mtbias.scoring.women_share import read_women

    read = [read_run(path) for path in runs]
    systems = names or [run.system for run in read]
    if format != "html":
        _write_table(out, read, systems, format, by)
    if format == "html" or plots is not None:
        unique = unique_names([(system, run.lang) for system, run in zip(systems, read, strict=True)])
        shown = [ReportRun.of(run, name) for run, name in zip(read, unique, strict=True)]
        if any(run.numbers != shown[0].numbers for run in shown):
            raise DataError("expected runs of one measure in a page, got several; make one for each")
        related = relations(shown, read_women(women, women_column) if women else None)
        if format == "html" and out is not None:
            _write_page(out, shown, related)
        if plots is not None:
            _write_plots(plots, shown, related, with_png=png)


def _write_page(path: Path, runs: Sequence[ReportRun], women: Sequence[WomenRelation]) -> None:
    from mtbias.files.writing import write_atomic
    from mtbias.report.run_page import render_html

    page = render_html(runs, women=women or None).encode()
    write_atomic(path, page)
    _say(path, f"Report: {escaped(str(path))} ({len(page) / 2**20:.1f} MiB, nothing else is needed to open it)")


def _write_table(
    out: Path | None, runs: Sequence[FinishedRun], systems: Sequence[str], form: str, by: str | None
) -> None:
    from mtbias.files.writing import write_atomic
    from mtbias.report.paper_tables import paper_table
    from mtbias.report.report_runs import ReportRun

    there = [key.removeprefix("by_") for key in runs[0].metrics if key.startswith("by_")]
    if by is not None and by not in there:
        raise SettingError("by", f"expected what these runs are broken down by, got {by!r}; {choices(by, there)}")
    shown = [
        ReportRun(system, run.lang, run.metrics, numbers=run.numbers) for system, run in zip(systems, runs, strict=True)
    ]
    table = paper_table(shown, form, by)
    if out is None:
        print(table, end="")
    else:
        write_atomic(out, table.encode())
        _say(out, f"Table: {escaped(str(out))}")


def _say(written: Path, text: str) -> None:
    """Say what was written; where that went to standard output, nothing may follow it there."""
    print(text, file=sys.stderr if own_descriptor(written) == 1 else sys.stdout)


def _write_plots(folder: Path, runs: Sequence[ReportRun], women: Sequence[WomenRelation], *, with_png: bool) -> None:
    from mtbias.files.writing import make_folder, write_atomic
    from mtbias.report.scatter import plot_files, png

    make_folder(folder)
    for name, svg in plot_files(runs, women):
        files = {".svg": svg.encode(), **({".png": png(svg)} if with_png else {})}
        for suffix, content in files.items():
            write_atomic(folder / f"{name}{suffix}", content)
            print(escaped(f"Plot: {folder / name}{suffix}"))
