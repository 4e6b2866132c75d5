"""What `mtbias report` writes: the page, the tables that papers need, and plots as SVG that needs no page around it.

Tables are made of `metrics.json`: CSV with all numbers, Markdown and LaTeX with the headline. A row is a system in a
language, or a group of its sentences. No number is computed here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from mtbias.errors import DataError, SettingError, UsageError, choices
from mtbias.files.writing import make_folder, write_atomic
from mtbias.report.alarm_texts import named_warnings
from mtbias.report.plots import PERCENT_SCALE, entity_panel, panels, svg_panel
from mtbias.report.report_runs import ReportRun, unique_names, unknown_parts
from mtbias.report.run_page import render_html
from mtbias.report.tables import PrintedTable, as_csv, draw
from mtbias.runs.finished_run import FinishedRun, read_run
from mtbias.scoring.definitions import CLASSES, Number, breakdown, group_label
from mtbias.scoring.scores import UNKNOWN, flat_row
from mtbias.scoring.women_share import WomenShares, read_women, shipped_shares
from mtbias.stats.results import UNDEFINED, estimate_text, number_text
from mtbias.types import JsonObject, frozen


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


@frozen
class _Row:
    run: ReportRun
    group: str
    numbers: JsonObject


def paper_table(runs: Sequence[ReportRun], form: str, by: str | None = None) -> str:
    """The table in one of the forms ``csv``, ``markdown``, ``latex``; ends in a newline.

    Languages follow each other as they first come, systems within a language as given, groups as in `metrics.json`.
    `by` is a breakdown of `metrics.json` without ``by_``; by default there are the numbers of the whole corpus.

    Raises:
        DataError: a `metrics.json` lacks a key; or runs of measures that differ are to stand in one table for people.
    """
    langs = list(dict.fromkeys(run.lang for run in runs))
    ordered = sorted(runs, key=lambda run: langs.index(run.lang))
    rows = _rows(ordered, by)
    parts = [run.unknown for run in ordered if run.unknown is not None]
    of_unknown = _rows([part for part in parts if by is None or f"by_{by}" in part.metrics], by)
    if form == "csv":
        own = [_record(row, by) for row in rows]
        return as_csv([*own, *({**_record(row, by), "gender": UNKNOWN} for row in of_unknown)])
    signatures = [(f"{row.run.name}, {row.run.lang}", row.run.metrics["signature"] or UNDEFINED) for row in rows]
    if any(run.numbers != runs[0].numbers for run in runs):
        raise DataError("expected runs of one measure in a table, got several; make one for each, or CSV")
    tables = [_table(rows, by, runs[0].numbers)]
    if of_unknown:
        table = _table(of_unknown, by, of_unknown[0].run.numbers)
        tables.append(replace(table, title="Sentences of unknown gender"))
    return draw(tables, form, signatures)


def _rows(runs: Sequence[ReportRun], by: str | None) -> list[_Row]:
    if by is None:
        return [_Row(run, "", run.metrics["overall"]) for run in runs]
    return [_Row(run, group, part) for run in runs for group, part in run.metrics[f"by_{by}"].items()]


def _record(row: _Row, by: str | None) -> dict[str, object]:
    """All numbers as `metrics.json` has them (per cent), with the names that `Scores.to_frame` gives them."""
    run, group = row.run, row.numbers
    record: dict[str, object] = {"corpus": run.corpus, "lang": run.lang, "system": run.name}
    record |= {"breakdown": "overall" if by is None else f"by_{by}", "group": row.group}
    record |= flat_row(group, run.numbers)
    record |= {key: run.metrics["intervals"][key] for key in ("level", "resamples", "seed")}
    return record | {"signature": run.metrics["signature"]}


def _table(rows: Sequence[_Row], by: str | None, numbers: Sequence[Number]) -> PrintedTable:
    """What people read: a corpus is named where there are several; with a breakdown, so are languages and systems."""
    coverage = [number for number in numbers if number.coverage and by is None]
    headline = [number for number in numbers if number.headline and (by is None or not number.whole)]
    names = {
        "Corpus": [row.run.corpus for row in rows],
        "Language": [row.run.lang for row in rows],
        "System": [row.run.name for row in rows],
    }
    columns = [
        (name, column) for name, column in names.items() if len(set(column)) > 1 or (by is None and name != "Corpus")
    ]
    notes = _notes(rows, headline)
    if by is None:
        notes += dict.fromkeys(_sizes(row.numbers, headline) for row in rows)
    else:
        same = [f"{name}: {names[name][0]}" for name in ("System", "Language") if len(set(names[name])) == 1]
        notes += [f"{'; '.join(same)}."] if same else []
        columns.append(
            (
                breakdown(f"by_{by}").short.capitalize(),
                [group_label(row.group, row.numbers) or UNDEFINED for row in rows],
            )
        )
    left = len(columns)
    columns.append(("n", [f"{row.numbers['n']:,}" for row in rows]))
    columns += [(f"{n.label}, %", [number_text(n.of(row.numbers).value) for row in rows]) for n in coverage]
    columns += [(n.label, [with_interval(row.numbers, n) for row in rows]) for n in headline]
    return PrintedTable(
        head=[name for name, _ in columns],
        rows=list(zip(*(column for _, column in columns), strict=True)),
        warnings=list(dict.fromkeys(named_warnings([(r.run.label, r.run.metrics.get("alarms")) for r in rows]))),
        notes=[" ".join(notes)],
        left=left,
        parts=[(row.run.corpus, row.run.lang, row.run.name if by else "") for row in rows],
    )


def with_interval(group: JsonObject, number: Number) -> str:
    """A number of a group of `metrics.json` with its interval, where it has one: ``24.8 [22.4, 27.3]``."""
    found = number.of(group)
    return estimate_text(found.value, found.interval, number.decimals)


def _notes(rows: Sequence[_Row], headline: Sequence[Number]) -> list[str]:
    """What the numbers are, and how their intervals were made."""
    how: dict[str, None] = {}
    for metrics in (row.run.metrics for row in rows):
        part, methods = metrics["intervals"], metrics.get("interval_methods", {})
        shares = ", ".join(number.label for number in headline if methods.get(number.key) == "wilson")
        other = f"{shares}: Wilson; else " if shares else ""
        if part["resamples"]:
            how[
                f"{part['level']:g} % intervals in brackets ({other}{part['method']}, {part['resamples']:,} resamples, "
                f"seed {part['seed']})."
            ] = None
    return [*(f"{number.label}: {number.about}" for number in headline if number.about), *how]


def _sizes(group: JsonObject, headline: Sequence[Number]) -> str:
    """How many rows there are, and how many in the classes that the headline compares."""
    classes = []
    for number in headline:
        if len(number.rests_on) > 1:
            rows = zip(number.rests_on, number.rows(group), strict=True)
            classes.append(", ".join(f"{n:,} {CLASSES.get(name, name)}" for name, n in rows))
    return f"n {group['n']:,}{': ' if classes else ''}{'; '.join(classes)}."
