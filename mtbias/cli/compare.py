"""``mtbias compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from mtbias.api import compare, read_run
from mtbias.cli.shared import (
    Bootstrap,
    Flag,
    Full,
    Json,
    Names,
    Runs,
    TableFormat,
    checked_names,
    form_of,
)
from mtbias.errors import SettingError, UsageError, escaped
from mtbias.files.writing import check_table_name, write_atomic, write_table
from mtbias.report.comparison_tables import render_comparison
from mtbias.report.run_page import page_of_runs
from mtbias.runs.run_paths import run_folders
from mtbias.scoring.comparable_runs import differing_rows
from mtbias.settings import BootstrapSettings
from mtbias.types import JsonDict


def command(
    runs: Runs,
    /,
    *,
    names: Names = None,
    weighted: list[Literal["all", "pronouns", "distance", "length", "domain"]] | None = None,
    rows: Path | None = None,
    report: Path | None = None,
    format: TableFormat = None,
    full: Full = False,
    json: Json = False,
    different_evaluators: Flag = False,
    bootstrap: Bootstrap = BootstrapSettings(),
) -> None:
    """Compare systems, with significance tests.

    All runs have one corpus. Runs of one language are compared in pairs, with paired bootstrap
    intervals over sentences and randomisation tests with Holm's correction over all pairs of all
    languages; --full adds intervals over entities (occupations), the p values, McNemar's table and
    consistency. With --weighted one run is enough.

    Parameters
    ----------
    weighted
        Also print weighted ΔG and ΔS, balanced over this property, or over all that vary; one or
        several.
    rows
        Write the sentences whose calls differ into this file, a table (.csv, .tsv, .jsonl).
    report
        Write an HTML page of the comparison into this file: differences, systems, and the sentences
        whose calls differ.
    format
        Format of the tables (default: text).
    different_evaluators
        Compare runs although another release, plugin, aligner or Stanza evaluated them; the table
        says so.
    """
    form, runs = form_of(format, json=json), run_folders(runs)
    if len(runs) < 2 and not weighted:
        raise UsageError("expected two runs or more, got one; with --weighted one is enough")
    names = checked_names(names, runs)
    if rows is not None:
        check_table_name(rows, "rows")
    if report is not None and report.is_dir():
        raise SettingError("report", f"expected a file, got the folder {report}")
    all_or_some = "all" in weighted or list(weighted) if weighted else False

    finished = [read_run(path) for path in runs]
    options: JsonDict = {"names": names or None, "different_evaluators": different_evaluators}
    compared = compare(*finished, weighted=all_or_some, settings=bootstrap, **options)
    if report is not None:
        write_atomic(report, page_of_runs(finished, compared).encode())
    if rows is not None:
        write_table(rows, differing_rows(finished, **options), setting="rows")
    print(render_comparison(compared, form, finished[0].counting.numbers, full=full), end="")
    if report is not None and form == "text":
        print(f"Report: {escaped(str(report))}")
