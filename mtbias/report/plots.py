"""Plots of numbers with their intervals: SVG for a page, text for a terminal.

Both take panels made of `metrics.json` and compute nothing but where things stand on the paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from markupsafe import Markup

from mtbias.report.page import render
from mtbias.report.run_table import WIDTH, level, whole_metrics
from mtbias.report.tables import aligned, cut, printable
from mtbias.scoring.definitions import GENDER, Number, Unit, breakdown, breakdowns, named, plotted
from mtbias.stats.results import Estimate, interval_text, number_text

# The axes of plots: from values to places on the paper.


class Scale(NamedTuple):
    """A value axis: from `low` to `high` with a tick at every `step`; all three fit each other."""

    low: float
    high: float
    step: float

    @classmethod
    def around(cls, values: Iterable[float]) -> Scale:
        """An axis for all the values, with 0 and at most 9 ticks."""
        ends = [0.0, *values]
        low, high = min(ends), max(ends)
        if low == high:
            low, high = -10.0, 10.0
        for step in (1, 2, 5, 10, 20, 25, 50):
            axis = cls(math.floor(low / step) * step, math.ceil(high / step) * step, step)
            if len(axis.ticks) <= 9:
                break
        return axis

    @property
    def ticks(self) -> list[float]:
        """The values of the ticks, ascending."""
        return [self.low + i * self.step for i in range(round((self.high - self.low) / self.step) + 1)]

    def share(self, value: float) -> float:
        """How far along the axis `value` stands, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)


class Frame(NamedTuple):
    """The rectangle in which points are drawn, in pixels, with its value axis upwards."""

    left: float
    right: float
    top: float
    height: float
    axis: Scale

    @property
    def foot(self) -> float:
        """The y of the lowest value."""
        return self.top + self.height

    def y(self, value: float) -> float:
        """Where a value stands."""
        return self.top + self.height * (1 - self.axis.share(value))


ALL = "\x00all"
"""The group of a panel that is the whole corpus; no name of a file can be the same."""

_SHAPES = (
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z",  # circle
    "M-4 -4h8v8h-8z",
    "M0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z",
    "M0 -5.5l5 9.5h-10z",
    "M0 5.5l5 -9.5h-10z",
    "M-2 -5h4v3h3v4h-3v3h-4v-3h-3v-4h3z",  # plus
)
_LEFT, _RIGHT, _TOP, _HEIGHT, _BOTTOM, _LEGEND_LINE = 44, 8, 30, 190, 58, 18
_MIN_WIDTH = 330
_LABEL = 14
_MIN_BAR = 20


@dataclass(frozen=True, slots=True)
class Panel:
    """One number by one property of the rows, of one or more runs."""

    measure: str
    """Name of the number."""
    by: str
    """Name of the property."""
    level: str
    """``95 % interval``, or empty where there are no intervals."""
    groups: tuple[str, ...]
    """`ALL` first."""
    series: tuple[tuple[str, Mapping[str, Estimate]], ...]
    """Name of each run with its points by group; `n` are the rows of the group."""
    unit: Unit = Unit.POINTS

    @property
    def axis(self) -> str:
        """What the value axis shows, with its unit."""
        return f"{self.measure} in {self.unit}" + (f", {self.level}" if self.level else "")


def panel(
    runs: Sequence[tuple[str, Mapping[str, Any]]], by: str, measure: str, numbers: Sequence[Number] = GENDER
) -> Panel:
    """The panel of a number over a breakdown, by their keys; a run may lack the breakdown.

    `runs` are names with their `metrics.json`, `numbers` what the measure of the runs reports.

    Raises:
        DataError: a `metrics.json` lacks a key.
    """
    number = named(numbers, measure)
    with whole_metrics():
        series = tuple(
            (name, {group: number.of(part) for group, part in {ALL: found["overall"], **found.get(by, {})}.items()})
            for name, found in runs
        )
        levels = {level(metrics) for _, metrics in runs} - {""}
    groups = sorted({group for _, points in series for group in points}, key=_order)
    return Panel(number.label, breakdown(by).label, " or ".join(sorted(levels)), tuple(groups), series, number.unit)


def panels(runs: Sequence[tuple[str, Mapping[str, Any]]], numbers: Sequence[Number] = GENDER) -> dict[str, list[Panel]]:
    """The panels of a report: by the key of each breakdown that is plotted, one for each number that is.

    Raises:
        DataError: a `metrics.json` lacks a key.
    """
    reported = {number.key for number in numbers}
    present = breakdowns(*(metrics for _, metrics in runs))
    found = [each.key for each in present if each.plotted and each.undefined not in reported]
    return {by: [panel(runs, by, number.key, numbers) for number in plotted(numbers)] for by in found}


def _order(group: str) -> tuple[bool, bool, int, str]:
    """The whole first, then numbers, then names."""
    number = group.isascii() and group.isdigit()
    return (group != ALL, not number, int(group) if number else 0, group)


def label(group: str) -> str:
    """A group's name for people."""
    return "all" if group == ALL else printable(group)


def scale(parts: Sequence[Panel]) -> Scale:
    """An axis for all points and intervals of the panels."""
    points = [point for part in parts for _, series in part.series for point in series.values()]
    return Scale.around(end for p in points for end in (p.value, *(p.interval or ())) if end is not None)


# --- SVG --------------------------------------------------------------------------------------------------------------


def svg_intervals(part: Panel, *, ident: str, axis: Scale | None = None, style: str = "") -> Markup:
    """A panel as SVG: a point with its whiskers for each group and run, groups side by side, a line at zero.

    Colours are black on nothing where there is no style sheet, and follow the classes ``grid``, ``zero``, ``quiet``,
    ``c0`` to ``c5`` where there is one; runs differ in shape too. A point without an interval is hollow, an undefined
    one a dash at the foot. The description holds every number.

    `ident` is a prefix for ids, unique in the page; by default the axis is the panel's own; `style`, a style sheet,
    comes with a white ground.
    """
    many = len(part.series) > 1
    names = {group: cut(label(group), _LABEL) for group in part.groups}
    slot = max(58, 7 * max(map(len, names.values())) + 10, 16 * len(part.series) + 16)
    width = max(_MIN_WIDTH, _LEFT + slot * len(names) + _RIGHT)
    top = _TOP + (_LEGEND_LINE * len(part.series) if many else 0)
    return render(
        "intervals.svg",
        ident=ident,
        part=part,
        many=many,
        width=width,
        height=top + _HEIGHT + _BOTTOM,
        frame=Frame(_LEFT, width - _RIGHT, top, _HEIGHT, axis or scale([part])),
        slot=(width - _LEFT - _RIGHT) / len(names),
        names=names,
        label=label,
        # No two of the first 36 runs share colour and shape.
        marks=[(_SHAPES[k % 6], f"c{(k + k // 6) % 6}") for k in range(len(part.series))],
        style=style,
    )


# --- Text -------------------------------------------------------------------------------------------------------------


def text_plot(parts: Sequence[Panel], *, width: int = WIDTH) -> str:
    """Panels as lines of text, all on one scale: name, n, number, interval, and a bar ``├──●──┤`` with zero as ``│``.

    A point without an interval is hollow (``○``); an undefined number is "–" and has no bar. `width` are the columns of
    the terminal; below about 80 the bars stop shrinking and lines run over.

    Edge cases: without panels there is no text.
    """
    if not parts:
        return ""
    axis = scale(parts)
    rows = [_text_rows(part) for part in parts]
    lines = iter(aligned([cells for part in rows for cells, _ in part], "<>><", strip=False))
    texts = [
        [f"{part.measure} in {part.unit} by {part.by}", *(next(lines) for _ in of_part)]
        for part, of_part in zip(parts, rows, strict=True)
    ]
    left = 2 + max(len(text) for block in texts for text in block)
    bar = max(_MIN_BAR, width - left)
    blocks = []
    for block, part in zip(texts, rows, strict=True):
        drawn = [_ruler(axis, bar), *(_bar(point, axis, bar) for _, point in part)]
        joined = [f"{text:<{left}}{right}".rstrip() for text, right in zip(block, drawn, strict=True)]
        blocks.append("".join(f"{line}\n" for line in joined))
    return "\n".join(blocks)


def _text_rows(part: Panel) -> list[tuple[list[str], Estimate | None]]:
    """The cells of every line (name, n, number, interval) with its point; a group of several runs has a line alone."""
    rows: list[tuple[list[str], Estimate | None]] = []
    many = len(part.series) > 1
    for group in part.groups:
        name = label(group) if group == ALL else f"  {label(group)}"
        if many:
            rows.append(([cut(name), "", "", ""], None))
        for run, points in part.series:
            if group in points:
                p = points[group]
                shown = cut(f"    {run}") if many else cut(name)
                ends = "" if p.interval is None else interval_text(p.interval)
                rows.append(([shown, f"{p.n:,}", number_text(p.value), ends], p))
    return rows


def _column(value: float, axis: Scale, width: int) -> int:
    return round(axis.share(value) * (width - 1))


def _ruler(axis: Scale, width: int) -> str:
    """The ticks' values, each in the middle over its column; those that would touch another are left out, 0 is not."""
    line = [" "] * width
    for tick in sorted(axis.ticks, key=lambda value: value != 0):
        text = f"{tick:g}"
        start = min(max(0, _column(tick, axis, width) - len(text) // 2), width - len(text))
        if set(line[max(0, start - 1) : start + len(text) + 1]) == {" "}:
            line[start : start + len(text)] = text
    return "".join(line)


def _bar(point: Estimate | None, axis: Scale, width: int) -> str:
    line = [" "] * width
    zero = _column(0, axis, width)
    line[zero] = "│"
    if point is None or point.value is None:
        return "".join(line)
    if point.interval is not None:
        low, high = (_column(end, axis, width) for end in point.interval)
        line[low : high + 1] = "─" * (high - low + 1)
        if low < zero < high:
            line[zero] = "┼"
        line[low], line[high] = "├", "┤"
    line[_column(point.value, axis, width)] = "○" if point.interval is None else "●"
    return "".join(line)
