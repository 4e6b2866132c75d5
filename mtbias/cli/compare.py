"""``mtbias compare``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mtbias.cli.shared import HERE, Bootstrap, Flag, Json, Names, Rows, Runs, checked_names, print_json
from mtbias.errors import SettingError, UsageError
from mtbias.settings import BootstrapSettings

if TYPE_CHECKING:
    from mtbias.runs.finished_run import FinishedRun
    from mtbias.scoring.comparison import Comparison


def command(
    runs: Runs,
    /,
    *,
    names: Names = None,
    weighted: list[Literal["all", "pronouns", "distance", "length", "domain"]] | None = None,
    rows: Rows = None,
    report: Path | None = None,
    format: Literal["text", "json", "markdown", "csv", "latex"] | None = None,
    json: Json = False,
    different_evaluators: Flag = False,
    bootstrap: Bootstrap = BootstrapSettings(),
) -> None:
    """Compare systems, with significance tests.

    All runs are on one corpus. Those of one language are compared in pairs, with paired bootstrap intervals over
    sentences and over entities (occupations), randomisation tests corrected by Holm over all pairs of all languages,
    and McNemar's table. With --weighted one run is enough.

    Parameters
    ----------
    weighted
        Weighted ΔG and ΔS too, balanced over this property, or over all that vary; may be given several times.
    rows
        Write the sentences on which calls differ into this file (.csv, .jsonl, else text); `-` prints them.
    report
        Write an HTML page of the comparison into this file: differences, systems, the sentences on which calls differ.
    format
        Of the tables (default: text).
    different_evaluators
        Compare runs although they were read by another release, plugin, aligner or Stanza; the table says so.
    """
    if json and format not in {None, "json"}:
        raise UsageError(f"--json and --format {format} exclude each other")
    form = "json" if json else format or "text"
    if len(runs) < 2 and not weighted:
        raise UsageError("expected two runs or more, got one; with --weighted one is enough")
    names = checked_names(names, runs)
    if rows == HERE and form in {"csv", "latex", "markdown"}:
        raise SettingError("rows", f"expected a file with --format {form}, got -")
    if rows is not None and rows.is_dir():
        raise SettingError("rows", f"expected a file, got the folder {rows}")
    if report is not None and report.is_dir():
        raise SettingError("report", f"expected a file, got the folder {report}")

    from mtbias.files.writing import write_atomic
    from mtbias.report.comparison_tables import render_comparison, render_rows
    from mtbias.runs.finished_run import read_run
    from mtbias.scoring.comparable_runs import differing_rows
    from mtbias.scoring.comparison import compare_runs

    read = [read_run(path) for path in runs]
    compared = compare_runs(
        read,
        weighted="all" in weighted or list(weighted) if weighted else False,
        n_resamples=bootstrap.resamples,
        seed=bootstrap.seed,
        names=names or None,
        different_evaluators=different_evaluators,
    )
    if report is not None:
        _write_page(report, read, compared)
    table = render_comparison(compared, form, read[0].counting.numbers)
    if rows is not None:
        found = list(differing_rows(read, names=names or None, different_evaluators=different_evaluators))
        if rows != HERE:
            write_atomic(rows, render_rows(found, {".csv": "csv", ".jsonl": "jsonl"}.get(rows.suffix, "text")).encode())
        elif form == "json":
            print_json({**compared.to_json(), "differing": [row.to_json() for row in found]}, indent=None)
            return
        else:
            table = f"{render_rows(found)}\n{table}"
    print(table, end="")
    if report is not None and form == "text":
        print(f"\nReport: {report}")


def _write_page(path: Path, runs: Sequence[FinishedRun], compared: Comparison) -> None:
    from mtbias.files.writing import write_atomic
    from mtbias.report.comparison_page import render_comparison_page
    from mtbias.report.report_runs import ReportRun, unique_names

    names = {system.fingerprint: system.system for system in compared.systems}
    unique = unique_names([(names[run.manifest.fingerprint], run.lang) for run in runs])
    shown = [ReportRun.of(run, name) for run, name in zip(runs, unique, strict=True)]
    write_atomic(path, render_comparison_page(shown, compared).encode())
