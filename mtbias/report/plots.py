"""Plots of numbers with their intervals, and of men and women by entity, as SVG.

All take panels made of `metrics.json` and compute nothing but where things stand on the paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from markupsafe import Markup

from mtbias.report.page import render
from mtbias.report.report_runs import ReportRun
from mtbias.report.run_table import level
from mtbias.report.tables import cut, number
from mtbias.scoring.bias import UNKNOWN_GENDER
from mtbias.scoring.definitions import GENDER_NUMBERS, Unit, breakdowns
from mtbias.scoring.women_share import WomenRelation, WomenShares, relate, shipped_shares
from mtbias.stats.results import Estimate, enough, estimate_text
from mtbias.types import frozen

# The axes of plots: from values to places on the paper.


class Scale(NamedTuple):
    """A value axis: from `low` to `high` with a tick at every `step`; all three fit each other."""

    low: float
    high: float
    step: float

    @classmethod
    def of(
        cls, found: Iterable[tuple[float | None, Sequence[float] | None]], *more: float
    ) -> Scale:
        """An axis for values and their intervals, where there are any, and for `more`; with 0 and
        at most 9 ticks.
        """
        ends = (
            end
            for value, interval in found
            for end in (value, *(interval or ()))
            if end is not None
        )
        values = [0.0, *more, *ends]
        low, high = min(values), max(values)
        if low == high:
            low, high = -10.0, 10.0
        for step in (1, 2, 5, 10, 20, 25, 50):
            axis = cls(math.floor(low / step) * step, math.ceil(high / step) * step, step)
            if len(axis.ticks) <= 9:
                break
        return axis

    @classmethod
    def near(cls, values: Sequence[float]) -> Scale:
        """An axis for `values` alone, without 0 where they lie far from it; at most 9 ticks."""
        low, high = min(values, default=0.0), max(values, default=0.0)
        for step in (1, 2, 5, 10, 20, 25, 50):
            start = math.floor(low / step) * step
            axis = cls(start, max(math.ceil(high / step) * step, start + step), step)
            if len(axis.ticks) <= 9:
                break
        return axis

    @property
    def ticks(self) -> list[float]:
        """The values of the ticks, ascending."""
        return [
            self.low + i * self.step for i in range(round((self.high - self.low) / self.step) + 1)
        ]

    def share(self, value: float) -> float:
        """How far along the axis `value` stands, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)


PERCENT_SCALE = Scale(0, 100, 25)

_SHAPES = ("m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "m0-5 5 5-5 5-5-5z")
"""A circle and a diamond, in turn."""
_TOP, _LINE, _LETTER = 58, 17, 7.2
"""Of a plot in pixels: what stands above the lines, a line, and a letter, rather too wide."""
_LABEL = 26


@frozen
class Panel:
    """What a plot shows."""

    title: str
    """With its unit."""
    level: str
    """``95 % interval``, or empty where there are no intervals."""
    groups: Sequence[str]
    series: Sequence[tuple[str, Mapping[str, Estimate]]]
    """Names, of runs or of genders, with points by group; `n` is what a point rests on."""

    @property
    def heading(self) -> str:
        """Its title, and what the whiskers are."""
        return f"{self.title}, {self.level}" if self.level else self.title

    @property
    def axis(self) -> Scale:
        """An axis for all its points and their intervals."""
        return Scale.of((p.value, p.interval) for _, series in self.series for p in series.values())


def panels(runs: Sequence[ReportRun]) -> Iterator[tuple[str, Panel]]:
    """The headline's numbers in per cent and points: of all sentences, and by each breakdown with
    few groups.

    With each the key of `metrics.json` that it is made of; runs are of one measure and may lack a
    breakdown.

    Raises:
        DataError: a `metrics.json` lacks a key.
    """
    headline = [n for n in runs[0].numbers if n.headline and n.unit is not Unit.OWN]
    few = {
        by.key: f" by {by.label}"
        for by in breakdowns(*(run.metrics for run in runs))
        if not by.long
    }
    for key, by in {"overall": "", **few}.items():
        shown = [n for n in headline if not (by and n.whole)]
        parts = [run.metrics.get(key, {}) if by else {"": run.metrics["overall"]} for run in runs]
        series = [
            (
                run.name,
                {
                    f"{n.label} {group}".strip(): n.of(part)
                    for n in shown
                    for group, part in found.items()
                },
            )
            for run, found in zip(runs, parts, strict=True)
        ]
        levels = {level(run.metrics) for run in runs} - {""}
        groups = list(dict.fromkeys(group for _, points in series for group in points))
        title = f"{', '.join(n.label for n in shown)}{by}, in per cent and points"
        yield key, Panel(title, " or ".join(sorted(levels)), groups, series)


# --- SVG --------------------------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """A line of a plot."""

    label: str
    marks: Sequence[tuple[int, str, Estimate]]
    """Number and name of a series, and its point."""
    beside: str
    """What stands at its right."""


def told(point: Estimate) -> str:
    """A point in words: ``12.5 [10.1, 14.9], n 3,888``; without n where its rows are not known."""
    rows = "" if point.n is None else f", n {point.n:,}"
    return f"{estimate_text(point.value, point.interval)}{rows}"


def svg_panel(
    part: Panel,
    *,
    ident: str,
    axis: Scale | None = None,
    beside: Mapping[str, str] | None = None,
    beside_title: str = "share of women",
    width: int = 300,
    style: str = "",
) -> Markup:
    """A panel as SVG: lines below each other, on each a point with its whiskers, across the value.

    Each group and run has a line with its numbers in words; with `beside`, what stands at the right
    of each group, all runs of a group share a line, in two shapes. Colours are black on nothing
    where there is no style sheet, and follow the classes ``grid``, ``zero``, ``quiet``, ``c0`` to
    ``c5`` where there is one. A point without an interval is hollow, an undefined one is not drawn.
    The description of a plot with a style of its own holds every number.

    `beside_title` says what stands beside; `ident` is a prefix for ids, unique in the page; by
    default the axis is the panel's own, `width` pixels long; `style`, a style sheet, comes with a
    white ground.
    """
    lines = list(_lines(part, beside))
    left = 12 + math.ceil(_LETTER * max((len(line.label) for line in lines), default=0))
    right = (
        60
        if beside is not None
        else 12 + math.ceil(_LETTER * max((len(e.beside) for e in lines), default=0))
    )
    own = axis or part.axis
    return render(
        "panel.svg",
        ident=ident,
        part=part,
        lines=lines,
        joined=beside is not None,
        beside_title=beside_title,
        axis=own,
        x=lambda value: left + width * own.share(value),
        top=_TOP,
        line=_LINE,
        width=left + width + right,
        height=_TOP + _LINE * len(lines) + 8,
        shapes=_SHAPES,
        told=told,
        style=style,
    )


def _lines(part: Panel, beside: Mapping[str, str] | None) -> Iterator[Line]:
    for group in part.groups:
        name = cut(group, _LABEL)
        marks = [
            (k, run, points[group])
            for k, (run, points) in enumerate(part.series)
            if group in points
        ]
        if beside is not None:
            yield Line(name, marks, beside[group])
        else:
            for k, run, point in marks:
                label = f"{name}, {cut(run)}" if len(part.series) > 1 else name
                yield Line(label, [(k, run, point)], told(point))


# --- Men and women by entity ---

GENDERED = (
    {"recall_male": "men", "recall_female": "women"},
    {"masculine": "masculine", "feminine": "feminine"},
)
"""The two numbers of an entity that are drawn on one line, with their names for people."""

MOST = 40
"""So many entities are drawn at most."""


def relations(runs: Sequence[ReportRun], shares: WomenShares | None = None) -> list[WomenRelation]:
    """The entities of each run against their shares of women, by default those that ship with
    mtbias.

    Empty where the runs have another measure or no breakdown by entity, or where no entity has one
    of the shares that ship.

    Raises:
        DataError: a `metrics.json` lacks a key.
    """
    if any(
        run.numbers not in (GENDER_NUMBERS, UNKNOWN_GENDER.numbers)
        or "by_entity" not in run.metrics
        for run in runs
    ):
        return []
    found = [relate(run.metrics["by_entity"], shares or shipped_shares()) for run in runs]
    return found if shares or any(relation.entities for relation in found) else []


def entity_panel(run: ReportRun, shares: WomenShares) -> Iterator[tuple[Panel, dict[str, str]]]:
    """Men and women by entity, for `mtbias.report.plots.svg_panel` with what stands beside each:
    its share of women.

    Of sentences of unknown gender, masculine and feminine forms. Entities stand in the order of
    their shares of women; left out are those without one and those with few rows of either gender
    (`MIN_ROWS`), unless there are no others; of more than `MOST`, those with fewer sentences. At
    most one, and none for a measure without men and women, or without entities.

    Raises:
        DataError: `metrics.json` lacks a key.
    """
    declared = {one.key: one for one in run.numbers}
    pair = next((pair for pair in GENDERED if pair.keys() <= declared.keys()), None)
    if pair is None or not run.metrics.get("by_entity"):
        return
    found = {
        name: [replace(declared[key].of(part), n=declared[key].rows(part)[0]) for key in pair]
        for name, part in run.metrics["by_entity"].items()
    }
    interval_level = level(run.metrics)
    defined = {
        name: both for name, both in found.items() if all(mark.value is not None for mark in both)
    }
    many = {
        name: both for name, both in defined.items() if enough([int(mark.n or 0) for mark in both])
    } or defined
    shared = [name for name in many if shares.of(name) is not None] or list(many)
    most = sorted(shared, key=lambda name: (-sum(mark.n or 0 for mark in many[name]), name))[:MOST]
    groups = sorted(most, key=lambda name: (shares.of(name) or 0, name))
    if not groups:
        return
    series = [
        (name, {group: many[group][k] for group in groups}) for k, name in enumerate(pair.values())
    ]
    what = "Right" if "men" in pair.values() else "Forms"
    yield (
        Panel(f"{what} by entity, in per cent", interval_level, groups, series),
        {
            name: f"{number(shares.of(name), 0)} %" if shares.of(name) is not None else ""
            for name in groups
        },
    )


def correlation_text(found: Estimate) -> str:
    """``Spearman's ρ 0.31 [0.05, 0.53], n 58``, two decimals."""
    return f"Spearman's ρ {estimate_text(found.value, found.interval, 2)}, n {found.n}"
