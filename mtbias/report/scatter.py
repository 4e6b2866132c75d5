"""A plot of the entities against their shares of women, as SVG."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from mtbias.metrics.women_share import WomenRelation
from mtbias.report.axes import Frame, Scale
from mtbias.report.page import render
from mtbias.report.tables import interval, number
from mtbias.stats.results import MIN_ROWS, Estimate

WOMEN_MEASURES = {"gap": "right for women minus for men", "accuracy": "accuracy"}
"""What stands against the share of women (a field of `EntityPoint`), with its name for people."""

_UNITS = {"gap": "points", "accuracy": "per cent"}
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 50, 42
_WIDTH, _HEIGHT = 400, 240
_SHARES = Scale(0, 100, 25)


def women_scale(relations: Sequence[WomenRelation], measure: str) -> Scale:
    """The axis of values for the plots of all relations: the gap's own with 0 on it, 0 to 100 for the accuracy."""
    if measure == "accuracy":
        return Scale(0, 100, 20)
    return Scale.around(p.gap for relation in relations for p in relation.points if p.gap is not None)


def svg_women(
    relation: WomenRelation, name: str, measure: str, *, ident: str, axis: Scale, colour: int = 0, style: str = ""
) -> Markup:
    """The entities as points: across, the share of women from 0 to 100 %; upwards, a key of `WOMEN_MEASURES`.

    Every point has its name and numbers as a title, and is hollow where it has few sentences about men or women. An
    entity without the number (no sentence about a woman, or none about a man) is left out, and counted in the
    description.
    `name` is the run's, `colour` its number, 0 to 5; `ident` is a prefix for ids, unique in the page; `style`, a style
    sheet of its own, comes with a white ground.
    """
    what, found = WOMEN_MEASURES[measure], correlation_text(getattr(relation, measure))
    shown = [(point, value) for point in relation.points if (value := getattr(point, measure)) is not None]
    return render(
        "scatter.svg",
        ident=ident,
        name=name,
        what=what,
        unit=_UNITS[measure],
        found=found,
        width=_WIDTH,
        height=_TOP + _HEIGHT + _BOTTOM,
        frame=Frame(_LEFT, _WIDTH - _RIGHT, _TOP, _HEIGHT, axis),
        shares=_SHARES,
        x=lambda share: _LEFT + (_WIDTH - _LEFT - _RIGHT) * _SHARES.share(share),
        shown=shown,
        left_out=len(relation.points) - len(shown),
        few=MIN_ROWS,
        colour=f"c{colour}",
        style=style,
    )


def correlation_text(found: Estimate) -> str:
    """``Spearman's ρ 0.31 [0.05, 0.53], n 58``, two decimals."""
    ends = "" if found.value is None or found.interval is None else f" {interval(found.interval)}"
    return f"Spearman's ρ {number(found.value)}{ends}, n {found.n}"
