"""The page of `mtbias validate`: how far the evaluator agrees with people, and what its errors do to a run's numbers.

One HTML file that needs nothing else and has no script. No number is computed here. Everything that comes from files is
escaped, and a content security policy forbids the page to load or run anything but its own style.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from mtbias.corpora.human_labels import HumanLabel
from mtbias.language.definition import Direction
from mtbias.report import page
from mtbias.report import validation_table as rows
from mtbias.report.plots import ALL, Panel, scale, svg_intervals
from mtbias.report.sentence_data import evidence_code, evidence_words, marked
from mtbias.scoring.definitions import Unit
from mtbias.scoring.human_agreement import LABELS
from mtbias.stats.results import Estimate
from mtbias.types import GenderCall

MAX_ROWS = 2000
"""More disagreements than these are not shown, and the page says so."""

_LEVEL = "95 % interval"
_KINDS = {"plain": "as called", "corrected": "corrected"}


@dataclass(frozen=True)
class LabelledLanguage:
    """A language as it enters the page."""

    numbers: Mapping[str, Any]
    """`Validation.to_json`."""
    direction: Direction
    """In which direction the language is written."""
    differing: Sequence[tuple[HumanLabel, GenderCall]]
    """The rows on which label and call, or the heads, differ."""


def render_page(
    languages: Sequence[LabelledLanguage],
    together: Mapping[str, Any],
    corrections: Sequence[Mapping[str, Any]],
) -> str:
    """The page, as text to be written in UTF-8.

    `together` is `Validation.to_json` of all languages together (or of the one), `corrections` has
    `CorrectedRun.to_json` of each run that was corrected.
    """
    each = [part.numbers for part in languages]
    several = [together] if len(each) > 1 else []
    differing = [(part, label, call) for part in languages for label, call in part.differing]
    named = [(rows.run_name(run, corrections), run) for run in corrections]
    content: dict[str, tuple[str, Any]] = {
        "agreement": ("Agreement with human labels", [*each, *several]),
        "basis": ("By what the label rests on", together["by_basis"] and [*several, *each]),
        "evidence": ("By what the call rests on", [*several, *each]),
        "confusion": ("Label and call", each),
        "corrected": ("Runs, corrected", named),
        "rows": ("Where label and call differ", {"shown": differing[:MAX_ROWS]}),  # said where there are none, too
        "how": ("How it was made", True),
    }
    return page.render_page(
        "validation.html",
        title=f"How far to trust the evaluator: {', '.join(part['lang'] for part in each)}",
        sections=content,
        languages=each,
        plot=_agreement_plot(
            dict.fromkeys((ALL,) if several else (), together) | {part["lang"]: part for part in each}
        ),
        label_counts=rows.label_counts,
        basis_rows=rows.basis_rows,
        evidence_rows=rows.evidence_rows,
        reason_rows=rows.reason_rows,
        genders=list(rows.GENDERS),
        corrections=named,
        numbers=rows.CORRECTED,
        plots=_corrected_plots(dict(named)),
        heads=[f"{number.label},\n{kind}" for number in rows.CORRECTED for kind in _KINDS.values()],
        notes=rows.notes,
        total=len(differing),
        labels=LABELS,
        bases=rows.BASES,
        pieces=marked,
        evidence_words=evidence_words,
        evidence_code=evidence_code,
    )


def _agreement_plot(languages: Mapping[str, Mapping[str, Any]]) -> Markup:
    points = {
        name: _estimate(part["agreement"], part["agreement_interval"], part["n"]) for name, part in languages.items()
    }
    panel = Panel("Agreement", "language", _LEVEL, tuple(points), (("evaluator", points),), Unit.PERCENT)
    return svg_intervals(panel, ident="agreement-plot")


def _corrected_plots(runs: Mapping[str, Mapping[str, Any]]) -> list[Markup]:
    """A plot for each number, as called beside corrected; those in points on one scale."""
    panels = []
    for number in rows.CORRECTED:
        series = []
        for kind, title in _KINDS.items():
            found = {name: (run[kind][number.key], run["n"]) for name, run in runs.items()}
            series.append((title, {name: _estimate(e["value"], e["interval"], n) for name, (e, n) in found.items()}))
        panels.append(Panel(number.label, "run", _LEVEL, tuple(runs), tuple(series), number.unit))
    axis = scale([part for part in panels if part.unit is Unit.POINTS])
    return [
        svg_intervals(part, ident=f"corrected-{i}", axis=axis if part.unit is Unit.POINTS else None)
        for i, part in enumerate(panels if runs else ())
    ]


def _estimate(value: float | None, interval: Sequence[float] | None, n: int) -> Estimate:
    return Estimate(value, None if interval is None else (interval[0], interval[1]), n)
