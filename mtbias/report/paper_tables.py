"""The tables that papers need, made of `metrics.json`: CSV with all numbers, Markdown and LaTeX with the headline.

A row is a system in a language, or a group of its sentences. No number is computed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mtbias.errors import DataError
from mtbias.report.alarm_texts import named_warnings
from mtbias.report.report_runs import ReportRun
from mtbias.report.run_table import whole_metrics
from mtbias.report.tables import PrintedTable, as_csv, draw
from mtbias.scoring.definitions import CLASSES, Number, breakdown, group_label
from mtbias.scoring.scores import UNKNOWN, flat_row
from mtbias.stats.results import UNDEFINED, estimate_text, number_text
from mtbias.types import JsonObject


@dataclass(frozen=True)
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
    with whole_metrics():
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
