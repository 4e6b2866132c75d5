"""What `mtbias report` writes: the page, the tables that papers need, and plots as files that need
no page around them.

Tables are made from `metrics.json`: CSV with all numbers, Markdown and LaTeX with the headline. A
row is a system in a language, or a group of its sentences. No number is computed here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import chain
from pathlib import Path

from mtbias.errors import DataError, DependencyError, UsageError
from mtbias.files.writing import make_folder, write_atomic
from mtbias.report.alarm_texts import named_warnings
from mtbias.report.plots import PERCENT_SCALE, entity_panel, panels, svg_panel
from mtbias.report.report_runs import ReportRun, report_run, unique_names, unknown_parts
from mtbias.report.run_page import render_html
from mtbias.report.tables import PrintedTable, as_csv, draw
from mtbias.runs.finished_run import read_run
from mtbias.scoring.definitions import CLASSES, DELTA_S, Number
from mtbias.scoring.finding import CAUTION, Share, caution_text, few_found
from mtbias.scoring.metrics_reader import UNKNOWN, read_metrics
from mtbias.scoring.metrics_records import GroupMetrics
from mtbias.scoring.women_share import WomenShares, read_women, shipped_shares
from mtbias.stats.results import UNDEFINED, number_text


def write_report(
    folders: Sequence[Path],
    out: Path | None = None,
    form: str = "html",
    *,
    names: Sequence[str] = (),
    women: Path | None = None,
    women_column: str | None = None,
    plots: Path | None = None,
    plot_format: str = "svg",
) -> tuple[str, dict[Path, str]]:
    """Write the page or a table of the runs in `folders`, and their plots.

    Args:
        folders: of finished runs.
        out: the file to write; without it a table is given back.
        form: html, csv, latex or markdown.
        names: of the systems (default: the runs' own).
        women: table with the share of women by occupation
            (`mtbias.scoring.women_share.read_women`).
        women_column: its column of shares.
        plots: folder for the plots.
        plot_format: svg or png.

    Returns:
        The table where it was not written; and the files that were, with a line about each.

    Raises:
        UsageError: options that do not go together.
        DependencyError: PNG without the extra ``plots``.
        DataError: a run cannot be read; runs of several measures in a page.
        RunFolderError: a file cannot be written.
        OutputError: a file is one of those that are read, or a run's own, but for the page of the
            one run.
    """
    page = form == "html"
    if page and out is None and plots is None:
        raise UsageError(
            "expected --out FILE.html for the page, --plots DIR, "
            "or --format csv, latex or markdown; got none"
        )
    if (women or women_column) and not page and plots is None:
        raise UsageError(
            f"--women: expected the page or --plots DIR, got --format {form}; "
            "a table has no column for it"
        )
    shares = _shares(women, women_column)
    runs = [read_run(folder) for folder in folders]
    systems = names or [run.system for run in runs]
    named = list(zip(systems, runs, strict=True))
    table = ""
    files: dict[Path, tuple[bytes, str]] = {}
    drawn = _drawer(plot_format) if plots is not None else None
    if not page:
        rows = []
        for name, run in named:
            metrics = read_metrics(run.metrics)
            rows.append(ReportRun(name, run.lang, metrics, numbers=run.numbers))
        table = paper_table(rows, form)
    if table and out is not None:
        files[out], table = (table.encode(), f"Table: {out}"), ""
    if page or plots is not None:
        unique = unique_names([(system, run.lang) for system, run in named])
        shown = [report_run(run, name) for run, name in zip(runs, unique, strict=True)]
        if any(run.numbers != shown[0].numbers for run in shown):
            raise DataError(
                "expected runs of one measure in a page, got several; make one for each"
            )
        if page and out is not None:
            content = render_html(shown, shares=shares).encode()
            size = f"{len(content) / 2**20:.1f} MiB, nothing else is needed to open it"
            files[out] = content, f"Report: {out} ({size})"
        if plots is not None and drawn is not None:
            make_folder(plots)
            for name, svg in plot_files(shown, shares):
                path = plots / f"{name}.{plot_format}"
                files[path] = drawn(svg), f"Plot: {path}"
    page_of = folders[0] if page and len(folders) == 1 else None
    for path, (content, _) in files.items():
        write_atomic(path, content, page_of=page_of)
    return table, {path: line for path, (_, line) in files.items()}


def _shares(women: Path | None, column: str | None) -> WomenShares | None:
    """The shares of women that the user names; None where nothing is named."""
    if women:
        return read_women(women, column)
    return shipped_shares(column) if column else None


# Plots as files.

_ZOOM = 2
"""Pixels of a PNG for each of its SVG."""


def _drawer(form: str) -> Callable[[str], bytes]:
    """A function that makes the bytes of a file from a plot.

    Raises:
        DependencyError: what draws PNG is not installed.
    """
    if form == "svg":
        return str.encode
    try:
        resvg = import_module("resvg_py")
    except ImportError as error:
        raise DependencyError("PNG plots need resvg: pip install 'mtbias[plots]'") from error
    return lambda svg: bytes(resvg.svg_to_bytes(svg_string=svg, zoom=_ZOOM))


_STYLE = (
    "\nsvg { color: #1b1b1f; } text { stroke: none; } .quiet { fill: #55585e; }\n"
    ".grid { stroke: #c9ccd1; stroke-opacity: 1; } .zero { stroke: #1b1b1f; }\n"
    ".c0 { fill: #0b57d0; stroke: #0b57d0; } .c1 { fill: #b3400a; stroke: #b3400a; } "
    ".c2 { fill: #00705a; stroke: #00705a; }\n"
    ".c3 { fill: #8a2da5; stroke: #8a2da5; } .c4 { fill: #6b5900; stroke: #6b5900; } "
    ".c5 { fill: #a3261d; stroke: #a3261d; }\n"
)
_NAME = 40


def plot_files(
    runs: Sequence[ReportRun], shares: WomenShares | None = None
) -> Iterator[tuple[str, str]]:
    """The plots of a report, each with the name of its file without ending.

    ``overall``, ``by_domain`` and the like show all runs; ``entities-1-NAME`` one run,
    ``entities-unknown-1-NAME`` its sentences of unknown gender beside others. `runs` are at least
    one, all of one measure; `shares` are by default those that ship with mtbias.

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
                svg = svg_panel(part, ident="plot", axis=PERCENT_SCALE, beside=beside, style=_STYLE)
                yield name, str(svg)


def paper_table(runs: Sequence[ReportRun], form: str) -> str:
    """The table in one of the forms ``csv``, ``markdown``, ``latex``; ends in a newline.

    Languages are in the order in which they first occur, systems within a language as given. CSV
    has the numbers of the whole corpus and of the groups of every breakdown, as in `metrics.json`.

    Raises:
        DataError: a `metrics.json` lacks a number; a table for people would mix runs of different
            measures.
    """
    langs = list(dict.fromkeys(run.lang for run in runs))
    ordered = sorted(runs, key=lambda run: langs.index(run.lang))
    unknown = [run.unknown for run in ordered if run.unknown is not None]
    if form == "csv":
        records = [*chain.from_iterable(map(_records, ordered))]
        of_unknown = chain.from_iterable(map(_records, unknown))
        records += [{**record, "gender": UNKNOWN} for record in of_unknown]
        return as_csv(records)
    if any(run.numbers != runs[0].numbers for run in runs):
        raise DataError(
            "expected runs of one measure in a table, got several; make one for each, or CSV"
        )
    tables = [_table(ordered)]
    tables += [replace(_table(unknown), title="Sentences of unknown gender")] if unknown else []
    signatures = [
        (f"{run.name}, {run.lang}", run.metrics.signature or UNDEFINED) for run in ordered
    ]
    return draw(tables, form, signatures)


def _records(run: ReportRun) -> Iterator[dict[str, object]]:
    """All numbers as `metrics.json` has them (per cent), with the names that `Scores.to_frame`
    gives them.
    """
    metrics, intervals = run.metrics, run.metrics.intervals
    for breakdown, groups in {"overall": {"": metrics.overall}, **metrics.by}.items():
        for name, group in groups.items():
            yield {
                "corpus": run.corpus,
                "lang": run.lang,
                "system": run.name,
                "breakdown": breakdown,
                "group": name,
                **group.flat_row(run.numbers),
                "level": intervals.level,
                "resamples": intervals.resamples,
                "seed": intervals.seed,
                "signature": metrics.signature,
            }


def _table(runs: Sequence[ReportRun]) -> PrintedTable:
    """The table for people; it names the corpora where there are several."""
    numbers, groups = runs[0].numbers, [run.metrics.overall for run in runs]
    headline = [number for number in numbers if number.headline]
    columns = {"Language": [run.lang for run in runs], "System": [run.name for run in runs]}
    if len({run.corpus for run in runs}) > 1:
        columns = {"Corpus": [run.corpus for run in runs], **columns}
    left = len(columns)
    columns["n"] = [f"{group.n:,}" for group in groups]
    for number in numbers:
        if number.coverage:
            shares = [number_text(group.estimate(number).value) for group in groups]
            columns[f"{number.label}, %"] = shares
    for number in headline:
        columns[number.label] = [_with_caution(group, number) for group in groups]
    notes = [*_notes(runs, headline), *dict.fromkeys(_sizes(group, headline) for group in groups)]
    if any(number.key == DELTA_S.key for number in headline):
        named = zip(runs, map(_few_found, groups), strict=True)
        notes += [f"{caution_text(run.label, least)}." for run, least in named if least is not None]
    alarms = [(run.label, run.metrics.alarms) for run in runs]
    return PrintedTable(
        head=list(columns),
        rows=list(zip(*columns.values(), strict=True)),
        warnings=list(dict.fromkeys(named_warnings(alarms))),
        notes=[" ".join(notes)],
        left=left,
        parts=[(run.corpus, run.lang) for run in runs],
    )


def _few_found(group: GroupMetrics) -> Share | None:
    """The gender that a run finds too seldom for its ΔS to mean much."""
    return few_found(group.confusion) if group.value(DELTA_S) is not None else None


def _with_caution(group: GroupMetrics, number: Number) -> str:
    """A number with its interval; ΔS with a mark where few men or few women are found."""
    text = group.text(number)
    marked = number.key == DELTA_S.key and _few_found(group) is not None
    return f"{text} {CAUTION}" if marked else text


def _notes(runs: Sequence[ReportRun], headline: Sequence[Number]) -> list[str]:
    """What the numbers are, and how their intervals were made."""
    about = [f"{number.label}: {number.about}" for number in headline if number.about]
    methods_used = []
    for run in runs:
        intervals, methods = run.metrics.intervals, run.metrics.interval_methods
        if intervals.resamples:
            shares = [n.label for n in headline if methods.get(n.key) == "wilson"]
            wilson = f"{', '.join(shares)}: Wilson; else " if shares else ""
            drawn = f"{intervals.resamples:,} resamples, seed {intervals.seed}"
            how = f"{wilson}{intervals.method}, {drawn}"
            methods_used.append(f"{intervals.level:g} % intervals in brackets ({how}).")
    return [*about, *dict.fromkeys(methods_used)]


def _sizes(group: GroupMetrics, headline: Sequence[Number]) -> str:
    """How many rows there are, and how many in the classes that the headline compares."""
    classes = []
    for number in headline:
        if len(number.rests_on) > 1:
            rows = zip(number.rests_on, group.rows(number), strict=True)
            classes.append(", ".join(f"{n:,} {CLASSES.get(name, name)}" for name, n in rows))
    return f"n {group.n:,}{': ' if classes else ''}{'; '.join(classes)}."
