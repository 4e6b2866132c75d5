"""Plots: every point, whisker and bar where its number belongs."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest

from mtbias.errors import DataError
from mtbias.report.plots import ALL, Panel, Scale, panel, scale, svg_panel
from mtbias.stats.results import Estimate

SVG = "{http://www.w3.org/2000/svg}"
ALL_POINT = Estimate(12.5, (10.1, 14.9), 3888)
ONE = Estimate(-4.0, (-9.0, 1.0), 92)
FEW, UNDEFINED = Estimate(3.0, None, 5), Estimate(None, None, 1)


def _panel(points: dict[str, Estimate] | None = None, names: tuple[str, ...] = ("opus",)) -> Panel:
    """The whole corpus, and groups by their names."""
    groups = {ALL: ALL_POINT, **(points or {})}
    return Panel("ΔG", "domain", "95 % interval", tuple(groups), tuple((name, groups) for name in names))


def _only(point: Estimate) -> Panel:
    return Panel("ΔG", "domain", "95 % interval", (ALL,), (("opus", {ALL: point}),))


def _group(n: int, delta_g: float | None, interval: list[float] | None) -> dict[str, Any]:
    return {"n": n, "delta_g": delta_g, "delta_s": None, "ci": {"delta_g": interval, "delta_s": None}}


def _metrics(resamples: int = 2000) -> dict[str, Any]:
    return {
        "intervals": {"level": 95.0, "resamples": resamples},
        "overall": _group(3888, 12.5, [10.1, 14.9]),
        "by_pronouns": {"1": _group(92, -4.0, [-9.0, 1.0]), "2": _group(5, 3.0, None), "10": _group(1, None, None)},
        "by_domain": {},
    }


def _parsed(part: Panel, **options: Any) -> ET.Element:
    return ET.fromstring(svg_panel(part, ident="p", **options))


def test_a_panel_has_the_numbers_of_metrics_json() -> None:
    part = panel([("opus", _metrics())], "by_pronouns", "delta_g")
    assert (part.measure, part.by, part.axis) == ("ΔG", "pronouns in the source", "ΔG in points, 95 % interval")
    # The whole first, then by number: as text, 10 would stand before 2.
    assert part.groups == (ALL, "1", "2", "10")
    ((name, points),) = part.series
    assert name == "opus"
    assert points == {ALL: ALL_POINT, "1": ONE, "2": FEW, "10": UNDEFINED}
    assert panel([("opus", _metrics(0))], "by_pronouns", "delta_g").axis == "ΔG in points"


def test_an_undefined_number_has_no_interval() -> None:
    metrics = _metrics()
    metrics["overall"]["delta_g"] = None
    ((_, points),) = panel([("opus", metrics)], "by_domain", "delta_g").series
    assert points[ALL] == Estimate(None, None, 3888)


def test_a_panel_of_two_runs_has_the_groups_of_both() -> None:
    other = {**_metrics(), "by_pronouns": {"0": _group(7, 1.0, None)}}
    part = panel([("a", _metrics()), ("b", other)], "by_pronouns", "delta_g")
    assert part.groups == (ALL, "0", "1", "2", "10")
    assert [list(points) for _, points in part.series] == [[ALL, "1", "2", "10"], [ALL, "0"]]


def test_a_damaged_file_is_refused() -> None:
    metrics = _metrics()
    del metrics["overall"]["n"]
    with pytest.raises(DataError, match=r"expected the key 'n' in metrics\.json"):
        panel([("opus", metrics)], "by_domain", "delta_g")


def test_the_scale_holds_everything_and_zero() -> None:
    # −9 to 14.9: steps of 1 and 2 give 25 and 14 ticks, 5 gives −10, −5, 0, 5, 10, 15.
    assert scale([_panel({"one": ONE})]) == Scale(-10, 15, 5)
    assert scale([_panel({"one": ONE})]).ticks == [-10, -5, 0, 5, 10, 15]
    # 10.1 to 14.9 and zero: in steps of 2, 0 to 16 has nine ticks.
    assert scale([_panel()]) == Scale(0, 16, 2)
    assert scale([_only(Estimate(-100.0, (-100.0, 100.0), 3))]) == Scale(-100, 100, 25)
    assert scale([_only(UNDEFINED)]) == Scale(-10, 10, 5)
    assert scale([_only(Estimate(0.0, (0.0, 0.0), 3))]) == Scale(-10, 10, 5)
    assert scale([_panel(), _only(ONE)]) == Scale(-10, 15, 5)


def _marks(svg: ET.Element) -> list[tuple[str, str | None, str | None]]:
    """Of every point its title, its whisker and its place."""
    groups = svg.findall(f"{SVG}g")
    paths = [group.findall(f"{SVG}path") for group in groups]
    whiskers = [each[0].get("d") if len(each) > 1 else None for each in paths]
    titles = [group.findtext(f"{SVG}title") or "" for group in groups]
    return list(zip(titles, whiskers, (each[-1].get("transform") for each in paths), strict=True))


def test_points_and_whiskers_stand_where_their_numbers_are() -> None:
    svg = _parsed(_panel({"1": ONE}))
    # The labels "all" and "1" take 12 + 3·7.2, 34; from there −10 to 15 goes over 300 pixels, 12 a point, zero at 154.
    # The first line is 58 to 75 down, the second 75 to 92.
    assert _marks(svg) == [
        ("all, opus: 12.5 [10.1, 14.9], n 3,888", "M275.2 66.5H332.8", "translate(304 66.5)"),
        ("1, opus: -4.0 [-9.0, 1.0], n 92", "M46 83.5H166", "translate(106 83.5)"),
    ]
    (zero,) = [path for path in svg.findall(f"{SVG}path") if path.get("class") == "zero"]
    assert zero.get("d") == "M154 54V96"
    texts = [text.text for text in svg.findall(f"{SVG}text")]
    assert texts[:7] == ["ΔG in points, 95 % interval", "-10", "-5", "0", "5", "10", "15"]
    assert texts[7:] == ["all", "12.5 [10.1, 14.9], n 3,888", "1", "-4.0 [-9.0, 1.0], n 92"]


def test_without_an_interval_hollow_undefined_not_drawn() -> None:
    svg = _parsed(_panel({"few": FEW, "none": UNDEFINED}))
    _, few = svg.findall(f"{SVG}g")
    (hollow,) = few.findall(f"{SVG}path")
    assert hollow.get("fill-opacity") == "0"
    assert [text.text for text in svg.findall(f"{SVG}text")][-2:] == ["none", "–, n 1"]
    assert "few, opus: 3.0, n 5. none, opus: –, n 1." in (svg.findtext(f"{SVG}desc") or "")


def test_the_picture_says_what_it_shows() -> None:
    svg = _parsed(_panel({"1": ONE}))
    assert svg.get("role") == "img"
    named = {part.get("id"): part.text for part in svg if part.get("id")}
    assert svg.get("aria-labelledby") == " ".join(named) == "p-title p-desc"  # type: ignore[arg-type]
    assert named["p-title"] == "ΔG by domain"
    assert named["p-desc"] == (
        "ΔG in points, 95 % interval. all, opus: 12.5 [10.1, 14.9], n 3,888. 1, opus: -4.0 [-9.0, 1.0], n 92."
    )


def test_runs_have_lines_of_their_own() -> None:
    svg = _parsed(_panel(names=("a", "b")))
    assert [text.text for text in svg.findall(f"{SVG}text")][-4::2] == ["all, a", "all, b"]
    assert [mark.get("class") for mark in svg.findall(f"{SVG}g")] == ["c0", "c1"]


def test_two_runs_can_share_a_line_in_two_shapes_with_a_text_beside_it() -> None:
    other = replace(ALL_POINT, value=2.5, interval=None)
    part = Panel("Right", "entity", "", ("cook",), (("men", {"cook": ALL_POINT}), ("women", {"cook": other})))
    svg = _parsed(part, beside={"cook": "38 %"}, axis=Scale(0, 20, 5), width=200)
    # "cook" takes 12 + 4·7.2, 41; 10 pixels a point: 12.5 at 166, 2.5 at 66; both on the line 58 to 75.
    (men, interval, at_men), (women, none, at_women) = _marks(svg)
    assert (men, at_men) == ("cook, men: 12.5 [10.1, 14.9], n 3,888", "translate(166 66.5)")
    assert (women, none, at_women) == ("cook, women: 2.5, n 3,888", None, "translate(66 66.5)")
    assert interval == "M142 64.5H190"  # a little above, so that two do not cover each other
    shapes = [mark.findall(f"{SVG}path")[-1].get("d") for mark in svg.findall(f"{SVG}g")]
    assert len(set(shapes)) == 2
    texts = [text.text for text in svg.findall(f"{SVG}text")]
    assert texts[1:4] == ["men", "women", "women"]  # the legend; the head of what stands beside
    assert texts[-2:] == ["cook", "38 %"]


def test_names_cannot_break_out() -> None:
    evil = '</title><script>"&\x00\x1b[31m'
    svg = _parsed(_panel({evil: FEW}, (evil, "b")))
    assert svg.findall(f".//{SVG}script") == []
    assert '</title><script>"&??[31m' in (svg.findtext(f"{SVG}desc") or "")
