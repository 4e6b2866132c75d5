"""What `mtbias report` writes: the page, tables, and plots as SVG that needs no page around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mtbias.errors import DataError, SettingError, UsageError, choices
from mtbias.files.writing import make_folder, write_atomic
from mtbias.report.paper_tables import paper_table
from mtbias.report.plots import PERCENT_SCALE, entity_panel, panels, svg_panel
from mtbias.report.report_runs import ReportRun, unique_names, unknown_parts
from mtbias.report.run_page import render_html
from mtbias.runs.finished_run import FinishedRun, read_run
from mtbias.scoring.women_share import WomenShares, read_women, shipped_shares


def write_report(
    folders: Sequence[Path],
    out: Path | None = None,
    form: str = "html",
    *,
    by: str | None = None,
    names: Sequence[str] = (),
    women: Path | None = None,
    women_column: str | None = None,
    plots: Path | None = None,
) -> tuple[str, dict[Path, str]]:
    """Write the page or a table of the runs in `folders`, and their plots.

    Args:
        folders: of finished runs.
        out: the file to write; without it a table is given back.
        form: html, csv, latex or markdown.
        by: break a table down by one property.
        names: of the systems (default: the runs' own).
        women: table with the share of women by occupation (`mtbias.scoring.women_share.read_women`).
        women_column: its column of shares.
        plots: folder for the plots.

    Returns:
        The table where it was not written; and the files that were, with a line about each.

    Raises:
        UsageError: options that do not go together.
        DataError: a run cannot be read; runs of several measures in a page.
        RunFolderError: a file cannot be written.
    """
    page = form == "html"
    wrong = {
        "--by: expected --format csv, latex or markdown, got html; the page has all breakdowns": page and by,
        "expected --out FILE.html for the page, --plots DIR, or --format csv, latex or markdown; got none": (
            page and out is None and plots is None
        ),
        f"--women: expected the page or --plots DIR, got --format {form}; a table has no column for it": (
            (women or women_column) and not page and plots is None
        ),
    }
    for message, holds in wrong.items():
        if holds:
            raise UsageError(message)
    shares = read_women(women, women_column) if women else shipped_shares(women_column) if women_column else None
    runs = [read_run(folder) for folder in folders]
    systems = names or [run.system for run in runs]
    table = "" if page else _table_of(runs, systems, form, by)
    files: dict[Path, tuple[bytes, str]] = {}
    if table and out is not None:
        files[out], table = (table.encode(), f"Table: {out}"), ""
    if page or plots is not None:
        unique = unique_names([(system, run.lang) for system, run in zip(systems, runs, strict=True)])
        shown = [ReportRun.of(run, name) for run, name in zip(runs, unique, strict=True)]
        if any(run.numbers != shown[0].numbers for run in shown):
            raise DataError("expected runs of one measure in a page, got several; make one for each")
        if page and out is not None:
            content = render_html(shown, shares=shares).encode()
            size = f"{len(content) / 2**20:.1f} MiB, nothing else is needed to open it"
            files[out] = content, f"Report: {out} ({size})"
        if plots is not None:
            make_folder(plots)
            for name, svg in plot_files(shown, shares):
                files[plots / f"{name}.svg"] = svg.encode(), f"Plot: {plots / name}.svg"
    for path, (content, _) in files.items():
        write_atomic(path, content)
    return table, {path: line for path, (_, line) in files.items()}


def _table_of(runs: Sequence[FinishedRun], systems: Sequence[str], form: str, by: str | None) -> str:
    there = [key.removeprefix("by_") for key in runs[0].metrics if key.startswith("by_")]
    if by is not None and by not in there:
        raise SettingError("by", f"expected what these runs are broken down by, got {by!r}; {choices(by, there)}")
    named = zip(systems, runs, strict=True)
    return paper_table([ReportRun(name, run.lang, run.metrics, numbers=run.numbers) for name, run in named], form, by)


# Plots as files.

_STYLE = """
svg { color: #1b1b1f; } text { stroke: none; } .quiet { fill: #55585e; }
.grid { stroke: #c9ccd1; stroke-opacity: 1; } .zero { stroke: #1b1b1f; }
.c0 { fill: #0b57d0; stroke: #0b57d0; } .c1 { fill: #b3400a; stroke: #b3400a; } .c2 { fill: #00705a; stroke: #00705a; }
.c3 { fill: #8a2da5; stroke: #8a2da5; } .c4 { fill: #6b5900; stroke: #6b5900; } .c5 { fill: #a3261d; stroke: #a3261d; }
"""
_NAME = 40


def plot_files(runs: Sequence[ReportRun], shares: WomenShares | None = None) -> Iterator[tuple[str, str]]:
    """The plots of a report, each with the name of its file without ending.

    ``overall``, ``by_domain`` and the like show all runs; ``entities-1-NAME`` one run, ``entities-unknown-1-NAME`` its
    sentences of unknown gender beside others. `runs` are at least one, all of one measure; `shares` are by default
    those that ship with mtbias.

    Raises:
        DataError: a `metrics.json` lacks a key.
    """
    for key, part in panels(runs):
        yield key, str(svg_panel(part, ident="plot", style=_STYLE))
    for kind, shown in (("", runs), ("unknown-", unknown_parts(runs))):
        for i, run in enumerate(shown, start=1):
            for part, beside in entity_panel(run, shares or shipped_shares()):
                plain = re.sub(r"[^A-Za-z0-9.]+", "-", run.name).strip("-.")[:_NAME]
                name = f"entities-{kind}{i}-{plain}".rstrip("-")
                yield name, str(svg_panel(part, ident="plot", axis=PERCENT_SCALE, beside=beside, style=_STYLE))
