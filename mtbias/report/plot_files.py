"""Plots as files: SVG that needs no page around it, and PNG."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from mtbias.errors import DependencyError
from mtbias.machine.installation import install_command
from mtbias.report.plots import panels, scale, svg_intervals
from mtbias.report.report_runs import ReportRun, unknown_parts
from mtbias.report.scatter import relations, svg_women, women_scale
from mtbias.scoring.definitions import plotted
from mtbias.scoring.women_share import WomenRelation

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
        for number, part in zip(plotted(runs[0].numbers), parts, strict=True):
            yield f"{number.key}-{by}", str(svg_intervals(part, ident="plot", axis=axis, style=_STYLE))
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
