"""The tables of a sweep for a paper: for each data set one row per model, one column per language;
text, CSV, Markdown, LaTeX. And the page of its figures: the groups of sentences.

Nothing is computed here: every number comes from a run's `metrics.json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import MappingProxyType

from mtbias.cluster.sweep_tasks import Cell, SweepPlan
from mtbias.errors import MissingTranslationsError, MtbiasError, RunFolderError
from mtbias.files.reading import input_bytes
from mtbias.files.writing import write_atomic
from mtbias.report.alarm_texts import named_warnings
from mtbias.report.group_means import render_groups
from mtbias.report.report_files import paper_table
from mtbias.report.report_runs import ReportRun
from mtbias.report.tables import PrintedTable, draw
from mtbias.runs.finished_run import read_run
from mtbias.scoring.definitions import GENDER_NUMBERS, Number
from mtbias.scoring.metrics_reader import read_metrics
from mtbias.scoring.metrics_records import RunMetrics

FILES = {
    "table.txt": "text",
    "table.md": "markdown",
    "table.tex": "latex",
    "table.csv": "csv",
    "groups.csv": "groups",
    "groups.html": "page",
}
"""The files of the table, with their forms."""
_Metrics = Mapping[str, RunMetrics]
"""The numbers of runs by the ids of cells."""
Declared = Mapping[str, Sequence[Number]]
"""The numbers of the measure of each data set, by its name; `GENDER_NUMBERS` for one that is not
listed."""


def write_tables(plan: SweepPlan) -> list[Path]:
    """Write the tables into the sweep's folder, replacing earlier ones one by one.

    Raises:
        MissingTranslationsError: a run is not complete; names the first.
        RunFolderError: a file cannot be written.
    """
    texts = _texts(plan)
    for path, text in texts.items():
        write_atomic(path, text.encode(), own=True)
    return list(texts)


def table_is_current(plan: SweepPlan) -> bool:
    """Whether the tables exist, are undamaged, and show the runs as they are now."""
    try:
        return all(input_bytes(path) == text.encode() for path, text in _texts(plan).items())
    except (OSError, MtbiasError):
        return False


def _texts(plan: SweepPlan) -> dict[Path, str]:
    metrics, declared = _read(plan)
    return {
        plan.sweep.out / name: render_sweep(plan, metrics, form, declared)
        for name, form in FILES.items()
    }


def render_sweep(
    plan: SweepPlan, metrics: _Metrics, form: str, declared: Declared = MappingProxyType({})
) -> str:
    """The tables in a form of `FILES`, ending in a newline.

    Text and Markdown have one for each data set and number of the headline, LaTeX one for each data
    set; all say what the runs were made of. CSV has one line per run: all numbers unrounded, with
    intervals, denominators and signature; ``groups`` is CSV with a line for each group of sentences
    of a run too, such as a domain or a number of pronouns. ``page`` draws these groups, as means
    over the languages.
    """
    if form == "page":
        return _groups_page(plan, metrics, declared)
    if form in {"csv", "groups"}:
        runs = []
        for cell in plan.cells:
            shown = metrics[cell.id]
            if form == "csv":
                shown = replace(shown, by={})
            numbers = declared.get(cell.dataset, GENDER_NUMBERS)
            runs.append(ReportRun(cell.system, cell.lang, shown, numbers=numbers))
        return paper_table(runs, "csv")
    tables = []
    for dataset in plan.sweep.datasets:
        # Where systems differ in how many sentences have a result, the table shows that too: the
        # other numbers of some rest on few.
        headline = [
            n
            for n in declared.get(dataset, GENDER_NUMBERS)
            if n.headline or (n.coverage and n.compared)
        ]
        groups = [headline] if form == "latex" else [[number] for number in headline]
        tables += [_table(plan, dataset, metrics, group) for group in groups]
    warned = named_warnings([(cell.id, metrics[cell.id].alarms) for cell in plan.cells])
    tables[:1] = [replace(table, warnings=warned) for table in tables[:1]]
    signatures = [(cell.id, metrics[cell.id].signature or "") for cell in plan.cells]
    return draw(tables, form, signatures)


def _groups_page(plan: SweepPlan, metrics: _Metrics, declared: Declared) -> str:
    """The page of the groups of sentences, for each data set."""
    runs: dict[str, list[ReportRun]] = {}
    for cell in plan.cells:
        numbers = declared.get(cell.dataset, GENDER_NUMBERS)
        run = ReportRun(cell.system, cell.lang, metrics[cell.id], numbers=numbers)
        runs.setdefault(cell.dataset, []).append(run)
    return render_groups(runs)


def _table(
    plan: SweepPlan, dataset: str, metrics: _Metrics, numbers: Sequence[Number]
) -> PrintedTable:
    """One row per system and number, one column per language; for several numbers, a first column
    with their names.
    """
    cells: dict[str, list[Cell]] = {}
    for cell in plan.cells:
        if cell.dataset == dataset:
            cells.setdefault(cell.system, []).append(cell)

    rows = []
    for number, (system, cells_of_system) in product(numbers, cells.items()):
        values = [metrics[cell.id].overall.text(number) for cell in cells_of_system]
        rows.append([number.label, system, *values])

    # The sentences are the same for all systems.
    first = next(iter(cells.values()))
    n = ", ".join(f"{cell.lang} {metrics[cell.id].overall.n:,}" for cell in first)
    interval = metrics[first[0].id].intervals.name
    with_intervals = f" with {interval}s" if interval else ""
    labels = ", ".join(number.label for number in numbers)

    several = len(numbers) > 1
    return PrintedTable(
        head=["", ""][: 1 + several] + list(plan.sweep.languages),
        rows=[row if several else row[1:] for row in rows],
        title=f"{labels} on {dataset}, per cent{with_intervals} (n {n})",
        left=1 + several,
        parts=[row[0] for row in rows],
    )


def _read(plan: SweepPlan) -> tuple[dict[str, RunMetrics], dict[str, Sequence[Number]]]:
    metrics: dict[str, RunMetrics] = {}
    declared: dict[str, Sequence[Number]] = {}
    for cell in plan.cells:
        try:
            run = read_run(cell.folder)
        except RunFolderError as error:
            raise MissingTranslationsError(f"no table yet: {error}") from error
        metrics[cell.id] = read_metrics(run.metrics)
        declared[cell.dataset] = run.counting.numbers
    return metrics, declared
