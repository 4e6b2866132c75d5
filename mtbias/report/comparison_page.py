"""The page of `mtbias compare`: differences with intervals and p, each system's numbers, the sentences that differ.

One HTML file that needs nothing else. No number is computed here: all stand in the `Comparison`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from markupsafe import Markup

from mtbias.report.alarm_texts import named_warnings
from mtbias.report.axes import Scale
from mtbias.report.page import render_page
from mtbias.report.plots import Panel, scale, svg_intervals
from mtbias.report.report_runs import ReportRun, Sentence, findings, join_sentences, title_and_intro, unique_names
from mtbias.report.run_page import check_runs
from mtbias.report.sentence_list import MAX_BYTES, fitting, sentence_list
from mtbias.runs.finished_run import FinishedRun
from mtbias.scoring.comparable_runs import SystemPair
from mtbias.scoring.comparison import Comparison
from mtbias.scoring.definitions import CONSISTENCY, Number, Unit
from mtbias.scoring.unknown_gender import UNKNOWN_GENDER
from mtbias.stats.results import ALPHA, Difference, Estimate


class _Row(NamedTuple):
    """A difference as the table shows it."""

    pair: SystemPair
    label: str
    found: Difference


class _Unknown(NamedTuple):
    """The comparison of the sentences of unknown gender, with its numbers."""

    compared: Comparison
    numbers: Sequence[Number]


def page_of_runs(runs: Sequence[FinishedRun], compared: Comparison) -> str:
    """`render_comparison_page` of the runs that were compared, in any order, under the names of the comparison."""
    names = {system.fingerprint: system.system for system in compared.systems}
    unique = unique_names([(names[run.manifest.fingerprint], run.lang) for run in runs])
    return render_comparison_page([ReportRun.of(*each) for each in zip(runs, unique, strict=True)], compared)


def render_comparison_page(runs: Sequence[ReportRun], compared: Comparison, *, max_bytes: int = MAX_BYTES) -> str:
    """The page, as text to be written in UTF-8.

    `runs` are those that were compared, in any order, each under its own name. Their sentences are listed where the
    calls of two runs of one language differ (a gender and none are different); where the page would become larger than
    `max_bytes`, as many as fit, spread evenly.

    Raises:
        ValueError: there are no runs.
        DataError: as `mtbias.report.run_page.check_runs`.
    """
    check_runs(runs)
    differing = [sentence for sentence in join_sentences(runs) if _differs(runs, sentence)]
    return fitting(partial(_page, runs, compared, total=len(differing)), differing, max_bytes)


def _differs(runs: Sequence[ReportRun], sentence: Sentence) -> bool:
    calls: dict[str, set[object]] = {}
    for run, record in zip(runs, sentence.records, strict=True):
        if record is not None:
            calls.setdefault(run.lang, set()).add(record.call.gender)
    return any(len(found) > 1 for found in calls.values())


def _page(runs: Sequence[ReportRun], compared: Comparison, shown: Sequence[Sentence], *, total: int) -> str:
    numbers = [number for number in runs[0].numbers if number.compared]
    rows = [row for pair in compared.pairs for row in _rows(pair, numbers)]
    unknown = None if compared.unknown is None else _Unknown(compared.unknown, UNKNOWN_GENDER.compared)
    if unknown is not None:
        found = (row for pair in unknown.compared.pairs for row in _rows(pair, unknown.numbers))
        rows += [row._replace(label=f"{row.label}, unknown gender") for row in found]
    listed = any(run.calls for run in runs)
    content: dict[str, tuple[str, Any]] = {
        "differences": ("Differences", rows),
        "systems": ("Each system", True),
        "sentences": ("Sentences on which the calls differ", listed and total),
        "how": ("How it was made", True),
    }
    title, intro = title_and_intro("Comparison", runs)
    return render_page(
        "comparison.html",
        title=title,
        intro=f"{intro}Corpus: {compared.dataset}. ",
        sections={key: part for key, part in content.items() if part[1]},
        runs=runs,
        compared=compared,
        numbers=numbers,
        unknown=unknown,
        findings=findings(runs),
        warned=named_warnings([(run.label, run.metrics.get("alarms")) for run in runs]),
        axis=Scale.around(
            end for row in rows for end in (row.found.difference, *(row.found.interval or ())) if end is not None
        ),
        plots=_plots(compared, numbers),
        family=_family(compared),
        alpha=ALPHA,
        several=len({run.lang for run in runs}) > 1,
        **sentence_list(runs, shown, total),
    )


def _rows(pair: SystemPair, numbers: Sequence[Number]) -> list[_Row]:
    """All differences of a pair: plain, weighted, and over pairs of sentences."""
    found = [_Row(pair, number.label, pair.plain[number.key]) for number in numbers]
    found += [_Row(pair, f"{n.label}, weighted", pair.weighted[n.key]) for n in numbers if n.key in pair.weighted]
    found += [_Row(pair, n.label, pair.consistency[n.key]) for n in CONSISTENCY if n.key in pair.consistency]
    return found


def _family(compared: Comparison) -> str:
    """How p was corrected, and where no test can be significant."""
    if compared.tests == 1:
        return "One test of each number: nothing is corrected."
    text = f"Corrected by Holm over the {compared.tests:,} tests of the same number."
    if compared.too_few_resamples:
        text += f" {compared.n_resamples:,} resamples are too few for any of them to be significant."
    return text


def _plots(compared: Comparison, numbers: Sequence[Number]) -> list[Markup]:
    """A plot for each number: the systems side by side, in each language; those in points on one scale."""
    systems = tuple(dict.fromkeys(system.system for system in compared.systems))
    level = "95 % interval" if compared.n_resamples else ""
    panels = []
    for number in numbers:
        series: dict[str, dict[str, Estimate]] = {}
        for system in compared.systems:
            estimate = replace(system.plain[number.key], n=compared.rows["n"])
            series.setdefault(system.lang, {})[system.system] = estimate
        panels.append(Panel(number.label, "system", level, systems, tuple(series.items()), number.unit))
    axes = {unit: scale([part for part in panels if part.unit is unit]) for unit in Unit}
    return [svg_intervals(part, ident=f"systems-{i}", axis=axes[part.unit]) for i, part in enumerate(panels)]
