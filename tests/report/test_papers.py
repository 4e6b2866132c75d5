"""Tables for papers: every number in CSV; what Markdown and LaTeX show, and that nothing breaks out
of its cell."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from mtbias.report.report_files import paper_table
from mtbias.report.report_runs import ReportRun
from mtbias.report.tables import PrintedTable, draw
from mtbias.runs.call_records import CallRecord
from mtbias.types import Stereotype

from .page_reader import F, M, make_record, make_run, metrics_json

NASTY = r"a&b|c_d%e#f\g{h}$i~j^k*l`m<n>[o](p)"


def _numbers(n: int, delta_g: float | None, interval: list[float] | None) -> dict[str, Any]:
    made = metrics_json([make_record()])["overall"]
    denominators = {"male": 1826, "female": 1822, "neutral": 240, "pro": 1584, "anti": 1583, "called_male": 1,
                    "called_female": 2}  # fmt: skip
    ci = {**made["ci"], "accuracy": [57.9, 60.96], "delta_g": interval}
    return {**made, "n": n, "decided_percent": 97.479424, "accuracy": 59.441, "delta_g": delta_g, "delta_s": None,
            "ci": ci, "denominators": denominators}  # fmt: skip


def _run(
    system: str, lang: str, delta_g: float | None = -3.4, interval: list[float] | None = None
) -> ReportRun:
    overall = _numbers(3888, delta_g, interval or [-10.44, 3.9])
    return make_run([make_record()], system, lang, overall=overall, corpus={"name": "winomt"})


def _records() -> list[CallRecord]:
    return [make_record(i, F if i % 3 else M, gold=(M, F)[i % 2], stereotype=list(Stereotype)[i % 3],
                           domain=("home", "work")[i % 2], pair=None) for i in range(60)]  # fmt: skip


def _rows_of(run: ReportRun) -> list[dict[str, str]]:
    """The rows of its CSV."""
    return list(csv.DictReader(io.StringIO(paper_table([run], "csv"))))


def test_csv_has_every_number_with_interval_and_denominator() -> None:
    row = _rows_of(make_run(_records()))[0]
    overall = metrics_json(_records())["overall"]
    assert (row["system"], row["lang"], row["breakdown"], row["group"]) == (
        "opus",
        "de",
        "overall",
        "",
    )
    assert row["signature"] == "dataset:demo|system:opus"
    for key in ("decided_percent", "accuracy", "precision_male", "f1_female", "delta_g", "delta_s"):
        assert float(row[key]) == overall[key]
    for key in overall["ci"]:
        assert [float(row[f"{key}_low"]), float(row[f"{key}_high"])] == overall["ci"][key]
    assert [float(row["accuracy_low_bound"]), float(row["accuracy_high_bound"])] == overall[
        "accuracy_bounds"
    ]
    counts = {
        key: overall["denominators"][key] for key in ("male", "female", "neutral", "pro", "anti")
    }
    assert {key: int(row[f"n_{key}"]) for key in counts} == counts
    assert int(row["called_female"]) == overall["denominators"]["called_female"]
    assert (row["level"], row["resamples"], row["seed"]) == ("95.0", "50", "0")
    # No number of a group is missing: all keys of `metrics.json` have a column.
    rates = {
        key
        for key, value in overall.items()
        if not isinstance(value, (dict, list)) and key != "ci_entities"
    }
    assert rates <= row.keys()


def test_csv_leaves_what_is_undefined_empty() -> None:
    row = _rows_of(_run("x", "de", None))[0]
    assert (row["delta_g"], row["delta_s"], row["delta_s_low"]) == ("", "", "")


def test_csv_has_a_row_for_each_group() -> None:
    run, metrics = make_run(_records()), metrics_json(_records())
    groups = [("overall", "", metrics["n"])]
    for by in ("domain", "pronouns", "stereotype", "entity"):
        groups += [(f"by_{by}", group, part["n"]) for group, part in metrics[f"by_{by}"].items()]
    assert [(row["breakdown"], row["group"], int(row["n"])) for row in _rows_of(run)] == groups


def test_markdown() -> None:
    text = paper_table(
        [_run("google", "de"), _run("bing", "es", 24.84, [22.4, 27.3]), _run("bing", "de", None)],
        "markdown",
    )
    lines = text.splitlines()
    assert lines[:5] == [
        "| Language | System | n | With a call, % | Accuracy | ΔG | ΔS |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
        # The systems of a language stand together.
        "| de | google | 3,888 | 97.5 | 59.4 [57.9, 61.0] | -3.4 [-10.4, 3.9] | – |",
        "| de | bing | 3,888 | 97.5 | 59.4 [57.9, 61.0] | – | – |",
        "| es | bing | 3,888 | 97.5 | 59.4 [57.9, 61.0] | 24.8 [22.4, 27.3] | – |",
    ]
    assert (
        "95 % intervals in brackets (Accuracy: Wilson; else percentile bootstrap over rows, 50 resamples, seed 0)."
        in text
    )
    assert "n 3,888: 1,826 men, 1,822 women; 1,584 with the stereotype, 1,583 against it." in text
    assert lines[-3:] == [
        f"- {name}: `dataset:demo|system:{system}`"
        for name, system in (("google, de", "google"), ("bing, de", "bing"), ("bing, es", "bing"))
    ]


def test_latex() -> None:
    text = paper_table([_run("google", "de"), _run("bing", "es", 24.84, [22.4, 27.3])], "latex")
    lines = text.splitlines()
    assert lines[0] == r"% \usepackage{booktabs} \usepackage[T1]{fontenc}"
    assert lines[1] == "% google, de: dataset:demo|system:google"
    body = lines[lines.index(r"\toprule") :]
    assert body[:7] == [
        r"\toprule",
        r"Language & System & n & With a call, \% & Accuracy & $\Delta G$ & $\Delta S$ \\",
        r"\midrule",
        r"de & google & 3,888 & 97.5 & 59.4 {\scriptsize [57.9, 61.0]} & $-$3.4 {\scriptsize [$-$10.4, 3.9]} & -- \\",
        r"\midrule",
        r"es & bing & 3,888 & 97.5 & 59.4 {\scriptsize [57.9, 61.0]} & 24.8 {\scriptsize [22.4, 27.3]} & -- \\",
        r"\bottomrule",
    ]


def test_names_cannot_break_out() -> None:
    markdown = paper_table([_run(f"{NASTY}\n| x |", "de")], "markdown").splitlines()
    assert markdown[2].startswith(
        r"| de | a\&b\|c\_d%e\#f\\g\{h\}$i\~j^k\*l\`m\<n\>\[o\](p)?\| x \| | 3,888 |"
    )
    latex = paper_table([_run(f"{NASTY}\n\\input{{x}}", "de")], "latex").splitlines()
    (row,) = (line for line in latex if line.startswith("de & "))
    assert row.startswith(
        r"de & a\&b\textbar{}c\_d\%e\#f\textbackslash{}g\{h\}\$i\textasciitilde{}j\textasciicircum{}k*l`m"
        r"\textless{}n\textgreater{}{[}o](p)?\textbackslash{}input\{x\} & 3,888"
    )
    assert all(line.startswith("%") for line in latex if "\\input{" in line)


@pytest.mark.latex
def test_pdflatex_takes_the_tables(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("no pdflatex here")
    marked = PrintedTable(
        ["", NASTY], [[NASTY, "-3.4 [-10.4, 3.9] *"], ["[b]", "<0.001"], ["[c]", NASTY]], NASTY
    )
    many = [_run(f"{NASTY} {i}", "de") for i in range(60)]
    parts = [paper_table(runs, "latex") for runs in ([_run(NASTY, "de"), _run("bing", "es")], many)]
    parts.append(draw([marked], "latex", [(NASTY, NASTY)]))
    head = r"\documentclass{article}\usepackage{booktabs}\usepackage{longtable}\usepackage[T1]{fontenc}"
    text = "\n".join([head, r"\begin{document}", *parts, r"\end{document}"])
    (tmp_path / "t.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
