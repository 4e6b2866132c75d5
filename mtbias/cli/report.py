"""``mtbias report``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

from mtbias.cli.shared import Names, Runs, checked_names
from mtbias.errors import escaped
from mtbias.files.reading import own_descriptor
from mtbias.runs.run_paths import run_folders


def command(
    runs: Runs,
    /,
    *,
    out: Path | None = None,
    format: Literal["html", "csv", "latex", "markdown"] = "html",
    names: Names = None,
    women: Path | None = None,
    women_column: str | None = None,
    plots: Path | None = None,
    plot_format: Literal["svg", "png"] = "svg",
) -> None:
    """Write an HTML report, tables for papers and plots of finished runs.

    The page has numbers with their intervals, plots, and the sentences behind them, and needs
    neither network nor server. Several runs, of one language or more, are shown side by side.

    Parameters
    ----------
    out
        The file to write; a table is printed without it.
    format
        html: the page; else a table of systems and languages: accuracy, ΔG, ΔS with intervals (csv:
        all numbers, also of the groups of every breakdown).
    women
        Table with the share of women by occupation (columns entity or occupation, and share), for
        the page and the plots (default: labour statistics of the United States, 2015 to 2017, for
        WinoMT's occupations).
    women_column
        The column of shares (default: share, percent, bls_pct_female or bergsma_pct_female);
        without --women: winobias, the 40 occupations of WinoBias's table 1.
    plots
        Write the plots into this folder.
    plot_format
        Format of the plots; png, twice as large for print and slides, needs the extra `plots`.
    """
    from mtbias.report.report_files import write_report

    runs = run_folders(runs)
    table, written = write_report(
        runs,
        out,
        format,
        names=checked_names(names, runs),
        women=women,
        women_column=women_column,
        plots=plots,
        plot_format=plot_format,
    )
    print(table, end="")
    for path, line in written.items():
        # Nothing may follow a file on standard output.
        stream = sys.stderr if own_descriptor(path) == 1 else sys.stdout
        print(escaped(line), file=stream)
