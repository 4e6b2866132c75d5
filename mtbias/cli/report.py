"""One page to look at, tables for papers, and plots, from the folders of finished runs.

The page (--out FILE.html) needs nothing else, neither network nor server: numbers with their intervals, plots, and the
sentences behind them. Several runs, of one language or of several, stand side by side.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mtbias.errors import UsageError

if TYPE_CHECKING:
    from mtbias.metrics.women_share import WomenRelation
    from mtbias.report.report_runs import ReportRun
    from mtbias.runs import FinishedRun


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folder of a finished run")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="the file to write; a table goes to standard output without it"
    )
    parser.add_argument(
        "--format", choices=["html", "csv", "latex", "markdown"], default="html",
        help="html (default): the page; else a table of systems and languages: accuracy, ΔG, ΔS with intervals (csv: "
        "all numbers)",
    )  # fmt: skip
    parser.add_argument(
        "--by", choices=["domain", "pronouns", "stereotype", "entity"], help="break the table down by one property"
    )
    parser.add_argument(
        "--name", action="append", default=[], metavar="NAME",
        help="name of a system, once for each RUN in their order (default: the name that the run has)",
    )  # fmt: skip
    parser.add_argument(
        "--women", type=Path, metavar="FILE",
        help="table with the share of women by occupation (columns entity or occupation, and share), for the page and "
        "the plots",
    )  # fmt: skip
    parser.add_argument(
        "--women-column", metavar="NAME",
        help="the column of shares (default: share, percent, bls_pct_female or bergsma_pct_female)",
    )  # fmt: skip
    parser.add_argument("--plots", type=Path, metavar="DIR", help="write the plots as SVG files into this folder")
    parser.add_argument("--png", action="store_true", help="with --plots: write PNG files too")


def run(args: argparse.Namespace) -> None:
    """Write what is wanted, and say where it is."""
    from mtbias.report.paper_tables import PaperRun, paper_table
    from mtbias.report.report_runs import unique_names
    from mtbias.runs import read_run

    _check(args)
    runs = [read_run(path) for path in args.runs]
    systems: list[str] = args.name or [run.system for run in runs]
    if args.format != "html":
        papers = [PaperRun(system, run.lang, run.metrics) for system, run in zip(systems, runs, strict=True)]
        _write_table(args, paper_table(papers, args.format, args.by))
        if args.plots is None:
            return
    names = unique_names([(system, run.lang) for system, run in zip(systems, runs, strict=True)])
    shown = [_shown(name, run) for name, run in zip(names, runs, strict=True)]
    women = _women(args, runs)
    if args.format == "html" and args.out is not None:
        _write_page(args.out, shown, women)
    if args.plots is not None:
        _write_plots(args, shown, women)


def _check(args: argparse.Namespace) -> None:
    if args.name and len(args.name) != len(args.runs):
        raise UsageError(f"expected --name once for each of {len(args.runs)} runs, got it {len(args.name)} times")
    if args.format == "html" and args.by:
        raise UsageError("--by is for tables; the page has all breakdowns: add --format csv, latex or markdown")
    if args.format == "html" and args.out is None and args.plots is None:
        raise UsageError("expected --out FILE.html for the page, --plots DIR, or --format csv, latex or markdown")
    if args.png and args.plots is None:
        raise UsageError("--png goes with --plots DIR")
    if args.women and args.format != "html" and args.plots is None:
        raise UsageError("--women is for the page and the plots; a table has no room for it")
    if args.women_column and not args.women:
        raise UsageError("--women-column goes with --women FILE")


def _shown(name: str, run: FinishedRun) -> ReportRun:
    from mtbias.language.installed import get_language
    from mtbias.report.report_runs import ReportRun

    return ReportRun(name, run.lang, run.metrics, run.calls, get_language(run.lang).direction)


def _women(args: argparse.Namespace, runs: Sequence[FinishedRun]) -> list[WomenRelation] | None:
    if args.women is None:
        return None
    from mtbias.metrics.women_share import read_women, relate

    shares = read_women(args.women, args.women_column)
    return [relate(run.metrics["by_entity"], shares) for run in runs]


def _write_page(path: Path, runs: Sequence[ReportRun], women: Sequence[WomenRelation] | None) -> None:
    from mtbias.files.writing import write_atomic
    from mtbias.report.run_page import render_html

    page = render_html(runs, women=women).encode()
    write_atomic(path, page)
    print(f"Report: {path} ({len(page) / 2**20:.1f} MiB, nothing else is needed to open it)")


def _write_table(args: argparse.Namespace, table: str) -> None:
    from mtbias.files.writing import write_atomic

    if args.out is None:
        print(table, end="")
    else:
        write_atomic(args.out, table.encode())
        print(f"Table: {args.out}")


def _write_plots(args: argparse.Namespace, runs: Sequence[ReportRun], women: Sequence[WomenRelation] | None) -> None:
    from mtbias.files.writing import explained, write_atomic
    from mtbias.report.plot_files import plot_files, png

    with explained(args.plots, "make the folder"):
        args.plots.mkdir(parents=True, exist_ok=True)
    for name, svg in plot_files(runs, women):
        write_atomic(args.plots / f"{name}.svg", svg.encode())
        print(f"Plot: {args.plots / name}.svg")
        if args.png:
            write_atomic(args.plots / f"{name}.png", png(svg))
            print(f"Plot: {args.plots / name}.png")
