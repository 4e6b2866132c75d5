"""A plot of the entities against their shares of women, as SVG; and plots as files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import hypot
from typing import NamedTuple

from markupsafe import Markup

from mtbias.errors import DependencyError
from mtbias.machine.installation import install_command
from mtbias.report.page import render
from mtbias.report.plots import Frame, Scale, panels, scale, svg_intervals
from mtbias.report.report_runs import ReportRun, unknown_parts
from mtbias.report.run_table import whole_metrics
from mtbias.report.tables import cut, interval, number
from mtbias.scoring.definitions import GENDER, plotted
from mtbias.scoring.unknown_gender import UNKNOWN_GENDER
from mtbias.scoring.women_share import WomenRelation, WomenShares, relate, shipped_shares
from mtbias.stats.results import Estimate

WOMEN_MEASURES = {"gap": "right for women minus for men", "accuracy": "accuracy", "feminine": "feminine forms"}
"""What stands against the share of women (a field of `EntityPoint`), with its name for people."""

_UNITS = {"gap": "points", "accuracy": "per cent", "feminine": "per cent"}
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 56, 42
_WIDTH, _HEIGHT = 440, 270
_SHARES = Scale(0, 100, 25)
_NAME, _LETTER, _LINE = 18, 6.2, 12
"""Letters of a name at most; the width of a letter and the height of a line in pixels, both rather too large."""
_CLOSE = 9
"""A name further from its point than this has a line to it."""


class Label(NamedTuple):
    """A name beside its point: where its base line begins and ends."""

    text: str
    x: float
    y: float
    end: float
    point: tuple[float, float]

    @property
    def leader(self) -> tuple[float, float] | None:
        """Where a line from the point to the name ends; None where the name stands close by."""
        x, y = self.point
        at = min(max(x, self.x - 2), self.end + 2), min(max(y, self.y - _LINE), self.y + 2)
        return at if hypot(at[0] - x, at[1] - y) > _CLOSE else None

    @property
    def anchor(self) -> tuple[float, str]:
        """Where the text is fixed, towards its point, since letters are narrower than is reckoned."""
        if self.end <= self.point[0]:
            return self.end, "end"
        return (self.x, "start") if self.x >= self.point[0] else ((self.x + self.end) / 2, "middle")

    def clashes(self, other: Label) -> bool:
        """Whether names overlap, or the line of one goes through the other."""
        near = self.x < other.end + 3 and other.x < self.end + 3 and abs(self.y - other.y) < _LINE
        return near or any(map(self.holds, other.line())) or any(map(other.holds, self.line()))

    def line(self) -> list[tuple[float, float]]:
        """Points along the line to the name."""
        (x, y), end = self.point, self.leader
        return [(x + (end[0] - x) * k / 12, y + (end[1] - y) * k / 12) for k in range(13)] if end else []

    def holds(self, place: tuple[float, float], aside: float = 1, above: float = 0, below: float = 3) -> bool:
        """Whether a place is within the name, or so near to it."""
        x, y = place
        return self.x - aside < x < self.end + aside and self.y - _LINE - above < y < self.y + below

    def cost(self, points: Iterable[tuple[float, float]]) -> float:
        """How bad the place is: other points that it covers or stands close to, then the way from its own."""
        covered = sum(self.holds(point, aside=6, above=6, below=9) for point in points if point != self.point)
        middle = (self.x + self.end) / 2
        return 60 * covered + hypot((middle - self.point[0]) / 2, self.y - 4 - self.point[1])


def relations(runs: Sequence[ReportRun], shares: WomenShares | None = None) -> list[WomenRelation]:
    """The entities of each run against their shares of women, by default those that ship with mtbias.

    Empty where the runs have another measure or no breakdown by entity, or where no entity has one of the shares that
    ship.

    Raises:
        DataError: a `metrics.json` lacks a key.
    """
    if any(run.numbers not in (GENDER, UNKNOWN_GENDER.numbers) or "by_entity" not in run.metrics for run in runs):
        return []
    with whole_metrics():
        found = [relate(run.metrics["by_entity"], shares or shipped_shares()) for run in runs]
    return found if shares or any(relation.points for relation in found) else []


def women_scale(relations: Sequence[WomenRelation], measure: str) -> Scale:
    """The axis of values for the plots of all relations: the gap's own with 0 on it, 0 to 100 for shares."""
    if _UNITS[measure] == "per cent":
        return Scale(0, 100, 20)
    return Scale.around(p.gap for relation in relations for p in relation.points if p.gap is not None)


def svg_women(
    relation: WomenRelation, name: str, measure: str, *, ident: str, axis: Scale, colour: int = 0, style: str = ""
) -> Markup:
    """The entities as points: across, the share of women from 0 to 100 %; upwards, a key of `WOMEN_MEASURES`.

    Every point has its name and numbers as a title, and is hollow where it has few sentences (`EntityPoint.few`). A
    broken line is `WomenRelation.fit`; the points farthest from it have their names beside them. An entity without the
    number (no sentence about a woman, or none about a man; no call) is left out, and counted in the
    description.
    `name` is the run's, `colour` its number, 0 to 5; `ident` is a prefix for ids, unique in the page; `style`, a style
    sheet of its own, comes with a white ground.
    """
    what, found = WOMEN_MEASURES[measure], correlation_text(getattr(relation, measure))
    shown = [(point, value) for point in relation.points if (value := getattr(point, measure)) is not None]
    frame = Frame(_LEFT, _WIDTH - _RIGHT, _TOP, _HEIGHT, axis)
    places = {point.entity: (_x(point.share), frame.y(value)) for point, value in shown}
    named = {point.entity: places[point.entity] for point in relation.outliers(measure)}
    return render(
        "scatter.svg",
        ident=ident,
        name=name,
        what=what,
        unit=_UNITS[measure],
        found=found,
        width=_WIDTH,
        height=_TOP + _HEIGHT + _BOTTOM,
        frame=frame,
        shares=_SHARES,
        x=_x,
        shown=shown,
        left_out=len(relation.points) - len(shown),
        lacking="no call" if measure == "feminine" else "no sentences about men or none about women",
        line=_line(relation, measure, frame),
        labels=name_points(named, list(places.values()), frame),
        colour=f"c{colour}",
        style=style,
    )


def _x(share: float) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * _SHARES.share(share)


def _line(relation: WomenRelation, measure: str, frame: Frame) -> list[tuple[float, float]]:
    """The two ends of the fit within the frame; none where there is no fit."""
    fit, (low, high, _) = relation.fit(measure), frame.axis
    if fit is None:
        return []
    # Where the line leaves the frame above or below, it ends there.
    crossings = [(end - fit.intercept) / fit.slope for end in (low, high)] if fit.slope else []
    shares = [share for share in (0.0, *crossings, 100.0) if 0 <= share <= 100 and low <= fit.at(share) + 1e-9]
    inside = [share for share in shares if fit.at(share) <= high + 1e-9]
    return [(_x(share), frame.y(fit.at(share))) for share in (min(inside), max(inside))] if inside else []


def name_points(
    named: Mapping[str, tuple[float, float]], points: Sequence[tuple[float, float]], frame: Frame
) -> list[Label]:
    """Names beside their points, within the frame: no two overlap, no line crosses a name, few points are covered.

    A name that has no such place is left out; the first names choose first.
    """
    labels: list[Label] = []
    for name, (x, y) in named.items():
        text = cut(name, _NAME)
        width = _LETTER * len(text)
        # Beside, above and below the point; further away where it is crowded, with a line to the point.
        lefts = [x - width / 2, *(x + way for way in (7, 22, 45)), *(x - width - way for way in (7, 22, 45, 70))]
        bases = [y + 4 + _LINE * step for step in range(-7, 8)]
        places = [
            place
            for place in (Label(text, left, base, left + width, (x, y)) for left in lefts for base in bases)
            if place.x >= frame.left and place.end <= frame.right
            and frame.top <= place.y - _LINE and place.y <= frame.foot
            and not place.holds((x, y), aside=5, above=3, below=4) and not any(place.clashes(label) for label in labels)
        ]  # fmt: skip
        if places:
            labels.append(min(places, key=lambda place: place.cost(points)))
    return labels


def slope_text(found: Estimate) -> str:
    """``0.31 [0.05, 0.53] points for each point of the share``, two decimals."""
    ends = "" if found.value is None or found.interval is None else f" {interval(found.interval)}"
    return f"{number(found.value)}{ends} points for each point of the share"


def correlation_text(found: Estimate) -> str:
    """``Spearman's ρ 0.31 [0.05, 0.53], n 58``, two decimals."""
    ends = "" if found.value is None or found.interval is None else f" {interval(found.interval)}"
    return f"Spearman's ρ {number(found.value)}{ends}, n {found.n}"


# Plots as files: SVG that needs no page around it, and PNG.

_STYLE = """
svg { color: #1b1b1f; } text { stroke: none; } .quiet { fill: #55585e; }
.grid { stroke: #c9ccd1; stroke-opacity: 1; } .zero { stroke: #1b1b1f; }
.c0 { fill: #0b57d0; stroke: #0b57d0; } .c1 { fill: #b3400a; stroke: #b3400a; } .c2 { fill: #00705a; stroke: #00705a; }
.c3 { fill: #8a2da5; stroke: #8a2da5; } .c4 { fill: #6b5900; stroke: #6b5900; } .c5 { fill: #a3261d; stroke: #a3261d; }
"""
_ZOOM = 2
_FAMILIES = ("Arial", "Liberation Sans", "DejaVu Sans", "Noto Sans", "Helvetica", "FreeSans")
"""Sans-serif fonts, one of which nearly every system has; the SVG files leave the choice to the reader's own."""
_NAME = 40


def plot_files(runs: Sequence[ReportRun], women: Sequence[WomenRelation] = ()) -> Iterator[tuple[str, str]]:
    """The plots of a report, each with the name of its file without ending.

    ``delta_g-by_domain`` and the like show all runs; ``women-gap-1-NAME`` and ``women-accuracy-1-NAME`` one run each,
    ``women-feminine-1-NAME`` its sentences of unknown gender.
    `runs` are at least one, all of one measure; `women` is empty where shares are not known.

    Raises:
        DataError: a `metrics.json` lacks a key.
    """
    found = panels([(run.name, run.metrics) for run in runs], runs[0].numbers)
    axis = scale([part for parts in found.values() for part in parts])
    for by, parts in found.items():
        for declared, part in zip(plotted(runs[0].numbers), parts, strict=True):
            yield f"{declared.key}-{by}", str(svg_intervals(part, ident="plot", axis=axis, style=_STYLE))
    yield from _women_files(runs, women)
    if of_unknown := unknown_parts(runs):
        yield from _women_files(of_unknown, relations(of_unknown, women[0].shares if women else None))


def _women_files(runs: Sequence[ReportRun], women: Sequence[WomenRelation]) -> Iterator[tuple[str, str]]:
    for measure in women[0].measures if women else ():
        shared = women_scale(women, measure)
        for i, (run, relation) in enumerate(zip(runs, women, strict=True)):
            name = f"women-{measure}-{i + 1}-{_file_name(run.name)}".rstrip("-")
            plot = svg_women(relation, run.name, measure, ident="plot", axis=shared, colour=i % 6, style=_STYLE)
            yield name, str(plot)


def png(svg: str) -> bytes:
    """A plot that `plot_files` made as PNG, two pixels for each of the SVG's.

    Raises:
        DependencyError: resvg is not installed, or none of `_FAMILIES` is.
    """
    try:
        from resvg_py import svg_to_bytes
    except ImportError as error:
        raise DependencyError(f"PNG files need resvg: {install_command('images')}; SVG files need nothing") from error
    family = _sans_serif()
    if family is None:
        raise DependencyError(
            f"--png: expected a sans-serif font ({', '.join(_FAMILIES)}), got none; install one (Debian: "
            "fonts-dejavu-core). SVG files need none here"
        )
    return bytes(svg_to_bytes(svg_string=svg, zoom=_ZOOM, sans_serif_family=family))


@cache
def _sans_serif() -> str | None:
    """The first family of `_FAMILIES` that is installed: in others resvg draws no letter, and says nothing."""
    from resvg_py import svg_to_bytes

    frame = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20" font-family="sans-serif">{}</svg>'
    blank, letter = frame.format(""), frame.format('<text y="16">M</text>')
    for family in _FAMILIES:
        drawn, empty = (bytes(svg_to_bytes(svg_string=svg, sans_serif_family=family)) for svg in (letter, blank))
        if drawn != empty:
            return family
    return None


def _file_name(name: str) -> str:
    """Letters, digits, dots and hyphens of a name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-.")[:_NAME]
