"""A plot of the entities against their shares of women, as SVG."""

from __future__ import annotations

from collections.abc import Sequence

from mtbias.metrics.women_share import Correlation, EntityPoint, WomenRelation
from mtbias.report.markup import Markup, element
from mtbias.report.plots import ALL, Panel, Point, Scale, scale
from mtbias.report.run_table import UNDEFINED, number_text, printable

WOMEN_MEASURES = {"gap": "right for women minus for men", "accuracy": "accuracy"}
"""What stands against the share of women, with its name for people."""

_UNITS = {"gap": "points", "accuracy": "per cent"}
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 50, 42
_WIDTH, _HEIGHT, _NAME = 400, 240, 24
_SHARES = Scale(0, 100, 25)
_FEW = 10
"""With fewer sentences about men, or about women, a point is hollow."""


def women_scale(relations: Sequence[WomenRelation], measure: str) -> Scale:
    """The axis of values for the plots of all relations: the gap's own with 0 on it, 0 to 100 for the accuracy."""
    if measure == "accuracy":
        return Scale(0, 100, 20)
    points = {str(i): Point("", p.gap, None, p.n) for i, p in enumerate(p for r in relations for p in r.points)}
    return scale([Panel("", "", "", (ALL,), (("", points),))])


def svg_women(relation: WomenRelation, name: str, measure: str, *, ident: str, axis: Scale, colour: int = 0) -> Markup:
    """The entities as points: across, the share of women from 0 to 100 %; upwards, a key of `WOMEN_MEASURES`.

    Every point has its name and numbers as a title, and is hollow where it has few sentences about men or women. An
    entity without the number (no sentence about a woman, or none about a man) is left out, and counted in the
    description.

    Args:
        relation: the entities and shares.
        name: of the run.
        measure: which number.
        ident: a prefix for the ids of title and description, unique in the page.
        axis: the value axis.
        colour: number of the run, 0 to 5.
    """
    shown = [(point, value) for point in relation.points if (value := _value(point, measure)) is not None]
    drawn = [
        element("text", f"{WOMEN_MEASURES[measure]}, {_UNITS[measure]}", x=6, y=16, font_weight="bold"),
        element("text", f"{_cut_to(printable(name))}: {correlation_text(getattr(relation, measure))}", x=6, y=34),
        *_grid(axis),
        *(_spot(point, value, axis, colour) for point, value in shown),
        element("text", "share of women, per cent", x=_LEFT + (_WIDTH - _LEFT - _RIGHT) / 2,
                y=_TOP + _HEIGHT + _BOTTOM - 8, class_="quiet", text_anchor="middle"),
    ]  # fmt: skip
    title = f"{printable(name)}: {WOMEN_MEASURES[measure]}, by share of women"
    left_out = len(relation.points) - len(shown)
    about = (
        f"{len(shown)} entities. {correlation_text(getattr(relation, measure))}."
        + (f" {left_out} entities have no sentences about men or none about women." if left_out else "")
    )  # fmt: skip
    height = _TOP + _HEIGHT + _BOTTOM
    return element(
        "svg", element("title", title, id=f"{ident}-title"), element("desc", about, id=f"{ident}-desc"), *drawn,
        xmlns="http://www.w3.org/2000/svg", role="img", aria_labelledby=f"{ident}-title {ident}-desc",
        viewBox=f"0 0 {_WIDTH} {height}", width=_WIDTH, height=height, font_family="sans-serif", font_size=12,
        fill="currentColor",
    )  # fmt: skip


def correlation_text(found: Correlation) -> str:
    """``Spearman's ρ 0.31 [0.05, 0.53], n 58``, two decimals."""
    if found.rho is None:
        return f"Spearman's ρ {UNDEFINED}, n {found.n}"
    ends = "" if found.interval is None else f" [{_rho(found.interval[0])}, {_rho(found.interval[1])}]"
    return f"Spearman's ρ {_rho(found.rho)}{ends}, n {found.n}"


def _rho(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"


def _cut_to(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


def _value(point: EntityPoint, measure: str) -> float | None:
    return point.gap if measure == "gap" else point.accuracy


def _grid(axis: Scale) -> list[Markup]:
    lines = []
    for tick in axis.ticks:
        cls, opacity = ("zero", 1.0) if tick == 0 else ("grid", 0.25)
        path = f"M{_LEFT} {_y(tick, axis):.1f}H{_WIDTH - _RIGHT}"
        lines.append(element("path", d=path, class_=cls, stroke="currentColor", stroke_opacity=opacity))
        lines.append(element("text", f"{tick:g}", x=_LEFT - 8, y=_y(tick, axis) + 4, text_anchor="end"))
    for tick in _SHARES.ticks:
        path = f"M{_x(tick):.1f} {_TOP}V{_TOP + _HEIGHT}"
        lines.append(element("path", d=path, class_="grid", stroke="currentColor", stroke_opacity=0.25))
        lines.append(element("text", f"{tick:g}", x=_x(tick), y=_TOP + _HEIGHT + 16, text_anchor="middle"))
    return lines


def _spot(point: EntityPoint, value: float, axis: Scale, colour: int) -> Markup:
    text = (
        f"{printable(point.entity)}: {number_text(value)} at {number_text(point.share)} % women, "
        f"n {point.n:,} ({point.n_female:,} women, {point.n_male:,} men)"
    )
    few = min(point.n_female, point.n_male) < _FEW
    return element("circle", element("title", text), cx=_x(point.share), cy=_y(value, axis), r=4,
                   fill_opacity=0.0 if few else 0.65, class_=f"c{colour}")  # fmt: skip


def _x(share: float) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * _SHARES.share(share)


def _y(value: float, axis: Scale) -> float:
    return _TOP + _HEIGHT * (1 - axis.share(value))
