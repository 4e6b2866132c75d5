"""Plots of numbers with their intervals, and of men and women by entity, as SVG.

All take panels made from `metrics.json` and compute nothing but positions on the paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from markupsafe import Markup

from mtbias.report.page import render
from mtbias.report.report_runs import ReportRun
from mtbias.report.tables import cut, pixels
from mtbias.scoring.definitions import Number, Unit, breakdowns
from mtbias.scoring.metrics_records import GroupMetrics
from mtbias.scoring.women_share import WomenShares
from mtbias.stats.results import Estimate, enough, estimate_text, number_text
from mtbias.types import frozen

# The axes of plots: from values to places on the paper.


class Scale(NamedTuple):
    """A value axis: from `low` to `high` with a tick at every `step`; all three fit each other."""

    low: float
    high: float
    step: float

    @classmethod
    def around(
        cls, points: Iterable[tuple[float | None, Sequence[float] | None]], *more: float
    ) -> Scale:
        """An axis for 0, for values with their intervals where these are defined, and for `more`;
        at most 9 ticks.
        """
        values = [0.0, *more]
        for value, interval in points:
            values += [end for end in (value, *(interval or ())) if end is not None]
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
        """An axis for `values` alone, without 0 if they are far from it; at most 9 ticks."""
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
        """The place of `value` on the axis, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)

    def place(self, value: float, width: float) -> str:
        """The place of `value` on the axis drawn so many pixels wide, in pixels from its left."""
        return pixels(width * self.share(value))


PERCENT_SCALE = Scale(0, 100, 25)

_SHAPES = ("m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "m0-5 5 5-5 5-5-5z")
"""A circle and a diamond, in turn."""
_TOP, _LINE, _LETTER = 58, 17, 7.2
"""Pixels of a plot: the space above the lines, a line's height, and a letter's width, on the
generous side."""
_LABEL = 26


@frozen
class Panel:
    """What a plot shows."""

    title: str
    """With its unit."""
    level: str
    """``95 % interval``, or empty without intervals."""
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
        points = chain.from_iterable(points.values() for _, points in self.series)
        return Scale.around((point.value, point.interval) for point in points)


def panels(runs: Sequence[ReportRun]) -> Iterator[tuple[str, Panel]]:
    """The headline's numbers in per cent and points: of all sentences, and by each breakdown with
    few groups.

    Each with its key in `metrics.json`; runs are of one measure and may lack a breakdown.

    Raises:
        DataError: a `metrics.json` lacks a key.
    """
    headline = [n for n in runs[0].numbers if n.headline and n.unit is not Unit.OWN]
    levels = " or ".join(sorted({run.metrics.intervals.name for run in runs} - {""}))

    def panel(
        numbers: Sequence[Number], by: str, parts: Sequence[Mapping[str, GroupMetrics]]
    ) -> Panel:
        series = [
            (run.name, _points(numbers, groups)) for run, groups in zip(runs, parts, strict=True)
        ]
        lines = dict.fromkeys(chain.from_iterable(points for _, points in series))
        title = f"{', '.join(n.label for n in numbers)}{by}, in per cent and points"
        return Panel(title, levels, list(lines), series)

    yield "overall", panel(headline, "", [{"": run.metrics.overall} for run in runs])
    of_groups = [n for n in headline if not n.whole]
    for by in breakdowns(*(run.metrics.by for run in runs)):
        if not by.long:
            parts = [run.metrics.by.get(by.key, {}) for run in runs]
            yield by.key, panel(of_groups, f" by {by.label}", parts)


def _points(numbers: Sequence[Number], groups: Mapping[str, GroupMetrics]) -> dict[str, Estimate]:
    """Each number of each group, by the label of its line."""
    points = {}
    for number in numbers:
        for name, group in groups.items():
            points[f"{number.label} {name}".strip()] = group.estimate(number)
    return points


# --- SVG ---


class Line(NamedTuple):
    """A line of a plot."""

    label: str
    marks: Sequence[tuple[int, str, Estimate]]
    """Number and name of a series, and its point."""
    beside: str
    """The text at its right."""


def point_text(point: Estimate) -> str:
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

    Each group and run has a line with its numbers in words; with `beside`, the text at the right of
    each group, all runs of a group share a line, in two shapes. Without a style sheet the plot is
    black on a transparent ground; with one, colours follow the classes ``grid``, ``zero``,
    ``quiet``, ``c0`` to ``c5``. A point without an interval is hollow, an undefined one is not
    drawn. The description of a plot with a style of its own holds every number.

    `beside_title` is the heading of `beside`; `ident` is a prefix for ids, unique in the page; by
    default the axis is the panel's own, `width` pixels long; `style`, a style sheet, comes with a
    white ground.
    """
    lines = list(_lines(part, beside))
    left = _text_width(line.label for line in lines)
    right = 60 if beside is not None else _text_width(line.beside for line in lines)
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
        point_text=point_text,
        style=style,
    )


def _text_width(texts: Iterable[str]) -> int:
    """Pixels that the longest of `texts` takes, with some space around it."""
    return 12 + math.ceil(_LETTER * max(map(len, texts), default=0))


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
                yield Line(label, [(k, run, point)], point_text(point))


# --- Men and women by entity ---

GENDERED = (
    {"recall_male": "men", "recall_female": "women"},
    {"masculine": "masculine", "feminine": "feminine"},
)
"""The two numbers of an entity that are drawn on one line, with their names for people."""

MOST = 40
"""The most entities that are drawn."""


def entity_panel(run: ReportRun, shares: WomenShares) -> Iterator[tuple[Panel, dict[str, str]]]:
    """Men and women by entity, for `mtbias.report.plots.svg_panel`, with the share of women to show
    beside each entity.

    For sentences of unknown gender, masculine and feminine forms. Entities are ordered by their
    shares of women. Those without a share and those with few rows of either gender (`MIN_ROWS`) are
    left out, unless there are no others; beyond `MOST`, so are those with the fewest sentences. At
    most one panel, and none for a measure without men and women, or without entities.

    Raises:
        DataError: `metrics.json` lacks a key.
    """
    declared = {one.key: one for one in run.numbers}
    pair = next((pair for pair in GENDERED if pair.keys() <= declared.keys()), None)
    if pair is None or not run.metrics.by_entity:
        return
    numbers = [declared[key] for key in pair]
    points = _entity_points(run.metrics.by_entity, numbers)
    entities = _drawn_entities(points, shares)
    if not entities:
        return
    series = []
    for place, name in enumerate(pair.values()):
        series.append((name, {entity: points[entity][place] for entity in entities}))
    what = "Right" if "men" in pair.values() else "Forms"
    panel = Panel(f"{what} by entity, in per cent", run.metrics.intervals.name, entities, series)
    yield panel, {entity: _share_text(shares.share_of(entity)) for entity in entities}


_EntityPoints = Mapping[str, Sequence[Estimate]]
"""By entity its two points, of men and of women; `n` are the rows of the gender."""


def _entity_points(
    by_entity: Mapping[str, GroupMetrics], numbers: Sequence[Number]
) -> _EntityPoints:
    """The points of the entities in which all `numbers` are defined."""
    points = {}
    for name, group in by_entity.items():
        both = [replace(group.estimate(number), n=group.rows(number)[0]) for number in numbers]
        if all(point.value is not None for point in both):
            points[name] = both
    return points


def _drawn_entities(points: _EntityPoints, shares: WomenShares) -> list[str]:
    """The entities of `points` that are drawn, in the order of their shares of women."""

    def rows(entity: str) -> list[int]:
        return [int(point.n or 0) for point in points[entity]]

    many = [entity for entity in points if enough(rows(entity))] or list(points)
    known = [entity for entity in many if shares.share_of(entity) is not None] or many
    most = sorted(known, key=lambda entity: (-sum(rows(entity)), entity))[:MOST]
    return sorted(most, key=lambda entity: (shares.share_of(entity) or 0, entity))


def _share_text(share: float | None) -> str:
    return "" if share is None else f"{number_text(share, 0)} %"
