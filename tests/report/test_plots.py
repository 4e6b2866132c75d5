"""Plots: every point and whisker where its number belongs."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

from mtbias.report.plots import Panel, Scale, panels, svg_panel
from mtbias.stats.results import Estimate

from .page_reader import F, M, make_record, make_run

SVG = "{http://www.w3.org/2000/svg}"
ALL_POINT = Estimate(12.5, (10.1, 14.9), 3888)
ONE = Estimate(-4.0, (-9.0, 1.0), 92)
FEW, UNDEFINED = Estimate(3.0, None, 5), Estimate(None, None, 1)


def _panel(points: dict[str, Estimate] | None = None, names: tuple[str, ...] = ("opus",)) -> Panel:
    """The whole corpus, and groups by their names."""
    groups = {"all": ALL_POINT, **(points or {})}
    return Panel(
        "ΔG by domain, in points",
        "95 % interval",
        tuple(groups),
        tuple((name, groups) for name in names),
    )


def _only(point: Estimate) -> Panel:
    return Panel("ΔG", "95 % interval", ("all",), (("opus", {"all": point}),))


def _parsed(part: Panel, **options: Any) -> ET.Element:
    """As a file that stands alone."""
    return ET.fromstring(svg_panel(part, ident="p", style=" ", **options))


def _texts(svg: ET.Element) -> list[str | None]:
    return [text.text for text in svg.iter(f"{SVG}text")]


def test_panels_have_the_numbers_of_metrics_json_by_their_keys() -> None:
    runs = [
        make_run([make_record(i, (F, M)[i % 2]) for i in range(4)], "a"),
        make_run([make_record(domain="d")], "b"),
    ]
    found = dict(panels(runs))
    assert list(found) == ["overall", "by_domain", "by_pronouns", "by_stereotype"]
    assert found["overall"].heading == "Accuracy, ΔG, ΔS, in per cent and points, 95 % interval"
    assert found["overall"].groups == ["Accuracy", "ΔG", "ΔS"]
    part = found["by_domain"]
    assert part.title == "Accuracy, ΔG, ΔS by domain, in per cent and points"
    # The groups of both runs; each run has its own.
    assert part.groups == [
        f"{label} {group}" for group in ("kitchen", "d") for label in ("Accuracy", "ΔG", "ΔS")
    ]
    (_, first), (_, second) = part.series
    interval = runs[0].metrics.by["by_domain"]["kitchen"].intervals["accuracy"]
    assert first["Accuracy kitchen"] == Estimate(50.0, interval, 4)
    assert list(second) == ["Accuracy d", "ΔG d", "ΔS d"]


def test_the_axis_holds_everything_and_zero() -> None:
    # −9 to 14.9: steps of 1 and 2 give 25 and 14 ticks, 5 gives −10, −5, 0, 5, 10, 15.
    assert _panel({"one": ONE}).axis == Scale(-10, 15, 5)
    assert _panel({"one": ONE}).axis.ticks == [-10, -5, 0, 5, 10, 15]
    # 10.1 to 14.9 and zero: in steps of 2, 0 to 16 has nine ticks.
    assert _panel().axis == Scale(0, 16, 2)
    assert _only(Estimate(-100.0, (-100.0, 100.0), 3)).axis == Scale(-100, 100, 25)
    assert _only(UNDEFINED).axis == Scale(-10, 10, 5)
    assert _only(Estimate(0.0, (0.0, 0.0), 3)).axis == Scale(-10, 10, 5)


def _marks(svg: ET.Element) -> list[tuple[str, list[str], list[str]]]:
    """Of every series its class, its whiskers, and its points: where each stands, and its title."""
    found = []
    for group in (group for group in svg.findall(f"{SVG}g") if group.get("stroke")):
        whiskers, *points = group.findall(f"{SVG}path")
        places = [(point.get("d") or "").partition("m")[0] for point in points]
        titles = [
            f"{at}: {point.findtext(f'{SVG}title')}"
            for at, point in zip(places, points, strict=True)
        ]
        found.append(
            (group.get("class") or "", re.findall("M[^M]+", whiskers.get("d") or ""), titles)
        )
    return found


def test_points_and_whiskers_stand_where_their_numbers_are() -> None:
    svg = _parsed(_panel({"1": ONE}))
    # The labels "all" and "1" take 12 + 3·7.2, 34; from there −10 to 15 goes over 300 pixels, 12 a
    # point, zero at 154. The first line is 58 to 75 down, the second 75 to 92.
    points = [
        "M304 66.5: all, opus: 12.5 [10.1, 14.9], n 3,888",
        "M106 83.5: 1, opus: -4.0 [-9.0, 1.0], n 92",
    ]
    assert _marks(svg) == [("c0", ["M275.2 66.5H332.8", "M46 83.5H166"], points)]
    (zero,) = [path for path in svg.findall(f"{SVG}path") if path.get("class") == "zero"]
    assert zero.get("d") == "M154 54V96"
    texts = _texts(svg)
    assert texts[:7] == [
        "ΔG by domain, in points, 95 % interval",
        "-10",
        "-5",
        "0",
        "5",
        "10",
        "15",
    ]
    assert texts[7:] == ["all", "1", "12.5 [10.1, 14.9], n 3,888", "-4.0 [-9.0, 1.0], n 92"]


def test_without_an_interval_hollow_undefined_not_drawn() -> None:
    svg = _parsed(_panel({"few": FEW, "none": UNDEFINED}))
    ((_, whiskers, points),) = _marks(svg)
    assert (len(whiskers), len(points)) == (1, 2)
    (hollow,) = (path for path in svg.iter(f"{SVG}path") if path.get("fill-opacity") == "0")
    assert hollow.findtext(f"{SVG}title") == "few, opus: 3.0, n 5"
    assert _texts(svg)[-1] == "–, n 1"
    assert "few, opus: 3.0, n 5. none, opus: –, n 1." in (svg.findtext(f"{SVG}desc") or "")


def test_the_picture_says_what_it_shows() -> None:
    svg = _parsed(_panel({"1": ONE}))
    assert svg.get("role") == "img"
    named = {part.get("id"): part.text for part in svg if part.get("id")}
    assert svg.get("aria-labelledby") == " ".join(named) == "p-title p-desc"  # type: ignore[arg-type]
    assert named["p-title"] == "ΔG by domain, in points"
    assert named["p-desc"] == (
        "ΔG by domain, in points, 95 % interval. all, opus: 12.5 [10.1, 14.9], n 3,888. "
        "1, opus: -4.0 [-9.0, 1.0], n 92."
    )


def test_runs_have_lines_of_their_own() -> None:
    svg = _parsed(_panel(names=("a", "b")))
    assert _texts(svg)[-4:-2] == ["all, a", "all, b"]
    assert [name for name, *_ in _marks(svg)] == ["c0", "c1"]


def test_two_runs_can_share_a_line_in_two_shapes_with_a_text_beside_it() -> None:
    other = replace(ALL_POINT, value=2.5, interval=None)
    part = Panel("Right", "", ("cook",), (("men", {"cook": ALL_POINT}), ("women", {"cook": other})))
    svg = _parsed(part, beside={"cook": "38 %"}, axis=Scale(0, 20, 5), width=200)
    # "cook" takes 12 + 4·7.2, 41; 10 pixels a point: 12.5 at 166, 2.5 at 66; both on the line 58 to
    # 75.
    men, women = _marks(svg)
    # A whisker stands a little above, so that two do not cover each other.
    assert men == ("c0", ["M142 64.5H190"], ["M166 66.5: cook, men: 12.5 [10.1, 14.9], n 3,888"])
    assert women == ("c1", [], ["M66 66.5: cook, women: 2.5, n 3,888"])
    shapes = {
        (path.get("d") or "").partition("m")[2]
        for path in svg.iter(f"{SVG}path")
        if "m" in (path.get("d") or "")
    }
    assert len(shapes) == 2
    texts = _texts(svg)
    assert texts[1:4] == [
        "men",
        "women",
        "share of women",
    ]  # the legend; the head of what stands beside
    assert texts[-2:] == ["cook", "38 %"]


def test_names_cannot_break_out() -> None:
    evil = '</title><script>"&\x00\x1b[31m'
    svg = _parsed(_panel({evil: FEW}, (evil, "b")))
    assert svg.findall(f".//{SVG}script") == []
    assert '</title><script>"&??[31m' in (svg.findtext(f"{SVG}desc") or "")
