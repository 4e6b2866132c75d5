"""Plots of numbers with their intervals: SVG for a page, text for a terminal.

Both take panels made of `metrics.json` and compute nothing but where things stand on the paper.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from mtbias.errors import DataError
from mtbias.report.markup import Markup, element
from mtbias.report.run_table import UNDEFINED, WIDTH, cut, interval_text, number_text, printable

ALL = "\x00all"
"""The group of a panel that is the whole corpus; no name of a file can be the same."""

MEASURES = {"delta_g": "ΔG", "delta_s": "ΔS"}
BREAKDOWNS = {"by_domain": "domain", "by_pronouns": "pronouns in the source"}

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


class Point(NamedTuple):
    """A number of one group of rows."""

    group: str
    value: float | None
    interval: tuple[float, float] | None
    n: int
    """Rows of the group."""

    @property
    def text(self) -> str:
        """The number and its interval, one decimal."""
        return (
            number_text(self.value)
            if self.interval is None
            else f"{number_text(self.value)} {interval_text(self.interval)}"
        )


@dataclass(frozen=True, slots=True)
class Panel:
    """One measure by one property of the rows, of one or more runs."""

    measure: str
    by: str
    level: str
    """``95 % interval``, or empty where there are no intervals."""
    groups: tuple[str, ...]
    """`ALL` first."""
    series: tuple[tuple[str, Mapping[str, Point]], ...]
    """Name of each run with its points by group."""

    @property
    def axis(self) -> str:
        """What the value axis shows, with its unit."""
        return f"{self.measure} in points" + (f", {self.level}" if self.level else "")


class Scale(NamedTuple):
    """A value axis: from `low` to `high` with a tick at every `step`; all three fit each other, and 0 is on it."""

    low: float
    high: float
    step: float

    @property
    def ticks(self) -> list[float]:
        """The values of the ticks, ascending."""
        return [self.low + i * self.step for i in range(round((self.high - self.low) / self.step) + 1)]

    def share(self, value: float) -> float:
        """How far along the axis `value` stands, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)


def panel(runs: Sequence[tuple[str, Mapping[str, Any]]], breakdown: str, measure: str) -> Panel:
    """The panel of a measure (a key of `MEASURES`) over a breakdown (a key of `BREAKDOWNS`).

    Args:
        runs: names with their `metrics.json`.
        breakdown: which groups stand beside the whole corpus.
        measure: which number.

    Raises:
        DataError: a `metrics.json` lacks a key.
    """
    try:
        series = tuple((name, _points(metrics, breakdown, measure)) for name, metrics in runs)
        how = [metrics["intervals"] for _, metrics in runs]
    except KeyError as error:
        raise DataError(f"expected the key {error} in metrics.json, got none; score the run again") from error
    levels = {f"{part['level']:g} % interval" for part in how if part["resamples"]}
    groups = sorted({group for _, points in series for group in points}, key=_order)
    return Panel(MEASURES[measure], BREAKDOWNS[breakdown], " or ".join(sorted(levels)), tuple(groups), series)


def _points(metrics: Mapping[str, Any], breakdown: str, measure: str) -> dict[str, Point]:
    return {
        name: Point(name, group[measure], None if pair is None else (pair[0], pair[1]), group["n"])
        for name, group in {ALL: metrics["overall"], **metrics[breakdown]}.items()
        for pair in (None if group[measure] is None else group["ci"].get(measure),)
    }


def _order(group: str) -> tuple[bool, bool, int, str]:
    """The whole first, then numbers, then names."""
    number = group.isascii() and group.isdigit()
    return (group != ALL, not number, int(group) if number else 0, group)


def label(group: str) -> str:
    """A group's name for people."""
    return "all" if group == ALL else printable(group)


def scale(panels: Iterable[Panel]) -> Scale:
    """An axis for all points and intervals of the panels, with 0 and at most 9 ticks."""
    points = [point for part in panels for _, series in part.series for point in series.values()]
    ends = [end for point in points for end in (point.value, *(point.interval or ())) if end is not None]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    if low == high:
        low, high = -10.0, 10.0
    for step in (1, 2, 5, 10, 20, 25, 50):
        axis = Scale(math.floor(low / step) * step, math.ceil(high / step) * step, step)
        if len(axis.ticks) <= 9:
            break
    return axis


def svg_intervals(part: Panel, *, ident: str, axis: Scale | None = None) -> Markup:
    """A panel as SVG: a point with its whiskers for each group and run, groups side by side, a line at zero.

    Colours are black on nothing where there is no style sheet, and follow the classes ``grid``, ``zero``, ``quiet``,
    ``c0`` to ``c5`` where there is one; runs differ in shape too. A point without an interval is hollow, an undefined
    one a dash at the foot. The description holds every number.

    Args:
        part: what to draw.
        ident: a prefix for the ids of title and description, unique in the page.
        axis: the value axis; by default the panel's own.
    """
    axis = axis or scale([part])
    many = len(part.series) > 1
    top = _TOP + (_LEGEND_LINE * len(part.series) if many else 0)
    names = [_cut_to(label(group), _LABEL) for group in part.groups]
    slot = max(58, 7 * max(map(len, names)) + 10, 16 * len(part.series) + 16)
    width = max(_MIN_WIDTH, _LEFT + slot * len(names) + _RIGHT)
    slot_width = (width - _LEFT - _RIGHT) / len(names)
    drawn = [
        element("text", part.axis, x=_LEFT - 38, y=16, font_weight="bold"),
        *(_legend(part.series) if many else ()),
        *_grid(axis, top, width),
    ]
    for i, group in enumerate(part.groups):
        middle = _LEFT + (i + 0.5) * slot_width
        points = [(k, name, series[group]) for k, (name, series) in enumerate(part.series) if group in series]
        drawn += [_mark(point, name, k, middle + 16 * (k - (len(part.series) - 1) / 2), top, axis)
                  for k, name, point in points]  # fmt: skip
        drawn += [
            element("text", names[i], x=middle, y=top + _HEIGHT + 16, text_anchor="middle"),
            element("text", _rows(p.n for _, _, p in points), x=middle, y=top + _HEIGHT + 31, **_QUIET),
        ]
    height = top + _HEIGHT + _BOTTOM
    drawn.append(element("text", part.by, x=_LEFT + (width - _LEFT) / 2, y=height - 8, **_QUIET))
    return element(
        "svg", element("title", f"{part.measure} by {part.by}", id=f"{ident}-title"),
        element("desc", _description(part), id=f"{ident}-desc"), *drawn,
        xmlns="http://www.w3.org/2000/svg", role="img", aria_labelledby=f"{ident}-title {ident}-desc",
        viewBox=f"0 0 {width} {height}", width=width, height=height, font_family="sans-serif", font_size=12,
        fill="currentColor",
    )  # fmt: skip


_QUIET = {"class_": "quiet", "text_anchor": "middle"}


def _grid(axis: Scale, top: int, width: int) -> list[Markup]:
    lines = []
    for tick in axis.ticks:
        y = _y(tick, top, axis)
        cls, opacity = ("zero", 1.0) if tick == 0 else ("grid", 0.25)
        line = f"M{_LEFT} {y:.1f}H{width - _RIGHT}"
        lines.append(element("path", d=line, class_=cls, stroke="currentColor", stroke_opacity=opacity))
        lines.append(element("text", f"{tick:g}", x=_LEFT - 8, y=y + 4, text_anchor="end"))
    return lines


def _legend(series: Sequence[tuple[str, object]]) -> list[Markup]:
    lines = []
    for k, (name, _) in enumerate(series):
        y = _TOP + _LEGEND_LINE * k
        place = f"translate({_LEFT - 32} {y})"
        lines.append(element("path", d=_SHAPES[k % 6], transform=place, class_=_colour(k)))
        lines.append(element("text", _cut_to(printable(name), 44), x=_LEFT - 20, y=y + 4))
    return lines


def _mark(point: Point, name: str, k: int, x: float, top: int, axis: Scale) -> Markup:
    title = element("title", f"{printable(name)}, {label(point.group)}: {point.text}, n {point.n:,}")
    if point.value is None:
        return element("g", title, element("text", UNDEFINED, x=x, y=top + _HEIGHT - 4, **_QUIET))
    shape = {"d": _SHAPES[k % 6], "transform": f"translate({x:.1f} {_y(point.value, top, axis):.1f})"}
    if point.interval is None:
        return element("g", title, element("path", **shape, fill_opacity=0.0, stroke_width=1.5),
                       class_=_colour(k), stroke="currentColor")  # fmt: skip
    low, high = (_y(end, top, axis) for end in point.interval)
    whisker = f"M{x - 4:.1f} {high:.1f}h8m-4 0V{low:.1f}m-4 0h8"
    lines = element("path", d=whisker, fill="none", stroke_width=1.5)
    return element("g", title, lines, element("path", **shape), class_=_colour(k), stroke="currentColor")


def _y(value: float, top: int, axis: Scale) -> float:
    return top + _HEIGHT * (1 - axis.share(value))


def _colour(k: int) -> str:
    """The class of the colour of run `k`: no two of the first 36 runs share colour and shape."""
    return f"c{(k + k // 6) % 6}"


def _rows(numbers: Iterable[int]) -> str:
    least, *more = sorted(set(numbers))
    return f"n {least:,}–{more[-1]:,}" if more else f"n {least:,}"


def _description(part: Panel) -> str:
    said = []
    for name, points in part.series:
        numbers = "; ".join(
            f"{label(group)}: {points[group].text}, n {points[group].n:,}" for group in part.groups if group in points
        )
        said.append(f"{printable(name)}: {numbers}.")
    return f"{part.axis}. {' '.join(said)}"


def _cut_to(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def text_plot(panels: Sequence[Panel], *, width: int = WIDTH) -> str:
    """Panels as lines of text, all on one scale: name, n, number, interval, and a bar ``├──●──┤`` with zero as ``│``.

    A point without an interval is hollow (``○``); an undefined number is "–" and has no bar.

    Args:
        panels: at least one.
        width: columns of the terminal; below about 80 the bars stop shrinking and lines run over.
    """
    axis = scale(panels)
    rows = [_text_rows(part) for part in panels]
    cells = [cells for part in rows for cells, _ in part]
    sizes = [max(map(len, column)) for column in zip(*cells, strict=True)]
    titles = [f"{part.measure} in points by {part.by}" for part in panels]
    left = max(sum(sizes) + 2 * len(sizes), *(len(title) + 2 for title in titles))
    bar = max(_MIN_BAR, width - left)
    blocks = []
    for title, part in zip(titles, rows, strict=True):
        lines = [f"{title:<{left}}{_ruler(axis, bar)}"]
        for row, point in part:
            name, *numbers = (f"{cell:{side}{size}}" for cell, side, size in zip(row, "<>><", sizes, strict=True))
            lines.append(f"{'  '.join((name, *numbers)):<{left}}{_bar(point, axis, bar)}")
        blocks.append("\n".join(line.rstrip() for line in lines))
    return "\n\n".join(blocks) + "\n"


def _text_rows(part: Panel) -> list[tuple[tuple[str, str, str, str], Point | None]]:
    """The cells of every line (name, n, number, interval) with its point; a group of several runs has a line alone."""
    rows: list[tuple[tuple[str, str, str, str], Point | None]] = []
    many = len(part.series) > 1
    for group in part.groups:
        name = label(group) if group == ALL else f"  {label(group)}"
        if many:
            rows.append(((cut(name), "", "", ""), None))
        for run, points in part.series:
            if group in points:
                p = points[group]
                interval = "" if p.interval is None else interval_text(p.interval)
                shown = cut(f"    {printable(run)}") if many else cut(name)
                rows.append(((shown, f"{p.n:,}", number_text(p.value), interval), p))
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


def _bar(point: Point | None, axis: Scale, width: int) -> str:
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
