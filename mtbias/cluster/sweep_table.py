"""The table of the paper: a row a model, a column a language, for each data set; as text, CSV, Markdown and LaTeX.

Nothing is computed here: every number stands in a run's `metrics.json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from mtbias.cluster.sweep_tasks import Cell, Plan
from mtbias.errors import MissingTranslationsError, RunFolderError
from mtbias.files.writing import explained, write_atomic
from mtbias.report.paper_tables import PaperRun, latex_number, latex_text, paper_table, with_interval
from mtbias.report.text_columns import columns
from mtbias.runs.run_folder import RunFolder

MEASURES = (("accuracy", "Accuracy"), ("delta_g", "ΔG"), ("delta_s", "ΔS"))
FILES = ("table.txt", "table.md", "table.tex", "table.csv")
RECORD = "table.json"
"""Which runs the tables were made of, and the hashes of their files: the last one written."""

_Metrics = Mapping[str, Mapping[str, Any]]


def write_tables(plan: Plan) -> list[Path]:
    """Write the tables into the sweep's folder; those that are there are replaced one by one.

    Raises:
        MissingTranslationsError: a run is not complete; names the first.
        RunFolderError: a file cannot be written.
    """
    metrics = _read(plan)
    texts = dict(
        zip(FILES, (as_text(plan, metrics), as_markdown(plan, metrics), as_latex(plan, metrics)), strict=False)
    )
    texts["table.csv"] = as_csv(plan, metrics)
    out = plan.sweep.out
    for name, text in texts.items():
        write_atomic(out / name, text.encode())
    record = {"runs": _runs(metrics), "files": {name: _digest(text.encode()) for name, text in texts.items()}}
    write_atomic(out / RECORD, f"{json.dumps(record, indent=1)}\n".encode())
    return [out / name for name in texts]


def table_is_current(plan: Plan) -> bool:
    """Whether the tables are there, undamaged, and made of the runs as they are now."""
    out = plan.sweep.out
    try:
        record = json.loads((out / RECORD).read_bytes())
        whole = all(_digest((out / name).read_bytes()) == record["files"][name] for name in FILES)
        return bool(whole and record["runs"] == _runs(_read(plan)))
    except (OSError, ValueError, KeyError, TypeError, MissingTranslationsError):
        return False


def as_text(plan: Plan, metrics: _Metrics) -> str:
    """A block a data set and measure, in per cent with 95 % intervals."""
    blocks = []
    for dataset in plan.sweep.datasets:
        for key, title in MEASURES:
            rows = [
                [system, *(with_interval(metrics[c.id]["overall"], key) for c in cells)]
                for system, cells in _rows(plan, dataset)
            ]
            n = _denominators(plan, dataset, metrics)
            blocks.append(
                f"{title} on {dataset}, per cent{_how(plan, metrics)} (n {n})\n"
                + columns(["", *plan.sweep.languages], rows)
            )
    signatures = "".join(f"  {name}: {content['signature']}\n" for name, content in metrics.items())
    return "\n".join([*blocks, f"Signatures\n{signatures}"])


def as_markdown(plan: Plan, metrics: _Metrics) -> str:
    """The same as Markdown tables."""
    blocks = []
    for dataset in plan.sweep.datasets:
        for key, title in MEASURES:
            lines = [f"| {title}, {dataset} | " + " | ".join(plan.sweep.languages) + " |"]
            lines.append("| --- |" + " ---: |" * len(plan.sweep.languages))
            for system, cells in _rows(plan, dataset):
                lines.append(
                    f"| {system} | " + " | ".join(with_interval(metrics[c.id]["overall"], key) for c in cells) + " |"
                )
            n = _denominators(plan, dataset, metrics)
            blocks.append("\n".join([*lines, "", f"{title} in per cent{_how(plan, metrics)}; n {n}.", ""]))
    signatures = "".join(f"- {name}: `{content['signature']}`\n" for name, content in metrics.items())
    return "\n".join([*blocks, signatures])


def as_latex(plan: Plan, metrics: _Metrics) -> str:
    """The same as LaTeX (package booktabs), intervals in small type."""
    blocks = []
    for dataset in plan.sweep.datasets:
        n = _denominators(plan, dataset, metrics)
        lines = [f"% {dataset}; per cent{_how(plan, metrics)}; n {n}; \\usepackage{{booktabs}}"]
        lines += [f"% {c.id}: {metrics[c.id]['signature']}" for _, cells in _rows(plan, dataset) for c in cells]
        lines += [f"\\begin{{tabular}}{{ll{'r' * len(plan.sweep.languages)}}}", "\\toprule"]
        lines += [" & & " + " & ".join(plan.sweep.languages) + " \\\\"]
        for key, title in MEASURES:
            lines.append("\\midrule")
            name = title.replace("Δ", "$\\Delta$")
            for system, cells in _rows(plan, dataset):
                values = [latex_number(with_interval(metrics[c.id]["overall"], key)) for c in cells]
                lines.append(f"{name} & {latex_text(system)} & " + " & ".join(values) + " \\\\")
        blocks.append("\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""]))
    return "\n".join(blocks)


def as_csv(plan: Plan, metrics: _Metrics) -> str:
    """A line a run: all numbers unrounded, with intervals, denominators and signature."""
    return paper_table([PaperRun(cell.system, cell.lang, metrics[cell.id]) for cell in plan.cells], "csv")


def _read(plan: Plan) -> dict[str, Mapping[str, Any]]:
    metrics: dict[str, Mapping[str, Any]] = {}
    for cell in plan.cells:
        run = RunFolder(cell.folder)
        try:
            metrics[cell.id] = run.read_metrics()
        except RunFolderError as error:
            raise MissingTranslationsError(f"no table yet: {error}") from error
    return metrics


def _runs(metrics: _Metrics) -> dict[str, list[str]]:
    return {name: [content["fingerprint"], content["files"]["calls.jsonl"]] for name, content in metrics.items()}


def _rows(plan: Plan, dataset: str) -> list[tuple[str, list[Cell]]]:
    rows: dict[str, list[Cell]] = {}
    for cell in plan.cells:
        if cell.dataset == dataset:
            rows.setdefault(cell.system, []).append(cell)
    return list(rows.items())


def _denominators(plan: Plan, dataset: str, metrics: _Metrics) -> str:
    """``de 3,888, he 3,888``: the sentences, which are the same for all systems."""
    _, cells = _rows(plan, dataset)[0]
    return ", ".join(f"{cell.lang} {metrics[cell.id]['overall']['n']:,}" for cell in cells)


def _how(plan: Plan, metrics: _Metrics) -> str:
    """`` with 95 % intervals``; nothing where there are none."""
    found = metrics[plan.cells[0].id]["intervals"]
    return f" with {found['level']:g} % intervals" if found["resamples"] else ""


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def read_text(plan: Plan) -> str:
    """The table as text, once it is made."""
    path = plan.sweep.out / FILES[0]
    with explained(path, "read"):
        return path.read_text(encoding="utf-8")
