"""Plots: every point, whisker and bar where its number belongs, in SVG and in text."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest

from mtbias.errors import DataError
from mtbias.report.plots import ALL, Panel, Scale, panel, scale, svg_intervals, text_plot
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
    return ET.fromstring(svg_intervals(part, ident="p", **options))


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


def test_points_and_whiskers_stand_where_their_numbers_are() -> None:
    svg = _parsed(_panel({"1": ONE}))
    # 330 wide with margins of 44 and 8: two slots of 139, their middles at 113.5 and 252.5. The scale −10 to 15 goes
    # from y = 220 up to 30, 7.6 a point: 12.5 at 49, 14.9 at 30.76, 10.1 at 67.24; −4 at 174.4, 1 at 136.4, −9 at
    # 212.4.
    first, second = svg.findall(f"{SVG}g")
    whisker, point = first.findall(f"{SVG}path")
    assert point.get("transform") == "translate(113.5 49.0)"
    assert whisker.get("d") == "M109.5 30.8h8m-4 0V67.2m-4 0h8"
    assert first.findtext(f"{SVG}title") == "opus, all: 12.5 [10.1, 14.9], n 3,888"
    whisker, point = second.findall(f"{SVG}path")
    assert point.get("transform") == "translate(252.5 174.4)"
    assert whisker.get("d") == "M248.5 136.4h8m-4 0V212.4m-4 0h8"
    # Zero: 220 − 76 = 144.
    (zero,) = [path for path in svg.findall(f"{SVG}path") if path.get("class") == "zero"]
    assert zero.get("d") == "M44 144.0H322"
    texts = [text.text for text in svg.findall(f"{SVG}text")]
    assert texts[0] == "ΔG in points, 95 % interval"
    assert texts[1:7] == ["-10", "-5", "0", "5", "10", "15"]
    assert texts[7:] == ["all", "n 3,888", "1", "n 92", "domain"]


def test_without_an_interval_hollow_undefined_a_dash() -> None:
    svg = _parsed(_panel({"few": FEW, "none": UNDEFINED}))
    _, few, none = svg.findall(f"{SVG}g")
    (hollow,) = few.findall(f"{SVG}path")
    assert hollow.get("fill-opacity") == "0"
    assert [text.text for text in none.findall(f"{SVG}text")] == ["–"]
    assert none.find(f"{SVG}path") is None
    assert "few: 3.0, n 5; none: –, n 1." in (svg.findtext(f"{SVG}desc") or "")


def test_the_picture_says_what_it_shows() -> None:
    svg = _parsed(_panel({"1": ONE}))
    assert svg.get("role") == "img"
    named = {part.get("id"): part.text for part in svg if part.get("id")}
    assert svg.get("aria-labelledby") == " ".join(named) == "p-title p-desc"  # type: ignore[arg-type]
    assert named["p-title"] == "ΔG by domain"
    assert named["p-desc"] == (
        "ΔG in points, 95 % interval. opus: all: 12.5 [10.1, 14.9], n 3,888; 1: -4.0 [-9.0, 1.0], n 92."
    )


def test_runs_differ_in_shape_and_stand_beside_each_other() -> None:
    svg = _parsed(_panel(names=("a", "b")))
    marks = svg.findall(f"{SVG}g")
    assert [mark.get("class") for mark in marks] == ["c0", "c1"]
    shapes = [mark.findall(f"{SVG}path")[-1] for mark in marks]
    assert len({shape.get("d") for shape in shapes}) == 2
    # One slot from 44 to 322, its middle at 183; the runs 8 to either side. Two lines of legend, 18 each, move 0 to 16
    # down by 36: 12.5 at 30 + 36 + 190·(1 − 12.5/16) = 107.5625.
    assert [shape.get("transform") for shape in shapes] == ["translate(175.0 107.6)", "translate(191.0 107.6)"]
    # The axis has nine ticks, then comes the legend.
    assert [text.text for text in svg.findall(f"{SVG}text")][10:12] == ["a", "b"]


def test_groups_of_different_sizes_show_both() -> None:
    part = Panel("ΔG", "domain", "", (ALL,), (("a", {ALL: ALL_POINT}), ("b", {ALL: replace(ALL_POINT, n=3800)})))
    assert "n 3,800–3,888" in [text.text for text in _parsed(part).findall(f"{SVG}text")]


def test_many_groups_make_it_wider() -> None:
    svg = _parsed(_panel({f"domain number {i}": FEW for i in range(9)}))
    # Names are cut to 14 letters, which take 108: 44 + 10·108 + 8.
    assert svg.get("width") == "1132"
    assert "domain…umber 3" in [text.text for text in svg.findall(f"{SVG}text")]


def test_names_cannot_break_out() -> None:
    evil = '</title><script>"&\x00\x1b[31m'
    svg = _parsed(_panel({evil: FEW}, (evil, "b")))
    assert svg.findall(f".//{SVG}script") == []
    assert '</title><script>"&??[31m' in (svg.findtext(f"{SVG}g/{SVG}title") or "")
    assert "\x1b" not in text_plot([_panel({evil: FEW}, (evil, "b"))])


def test_text_bars_stand_where_their_numbers_are() -> None:
    # Name 3, n 5, number 4 and interval 12 wide with gaps of 2 leave 26 of 58 columns: with −10 to 15, a column a point
    # and zero in column 10. 12.5 is at 22 (22.5 rounds to even), 10.1 at 20, 14.9 at 25; −4 at 6, −9 at 1, 1 at 11.
    expected = (
        "ΔG in points by domain          -10 -5    0    5   10   15\n"
        "all  3,888  12.5  [10.1, 14.9]            │         ├─●──┤\n"
        "  1     92  -4.0  [-9.0, 1.0]    ├────●───┼┤\n"
    )
    assert text_plot([_panel({"1": ONE})], width=58) == expected


def test_text_without_an_interval_and_undefined() -> None:
    plot = text_plot([_panel({"few": FEW, "none": UNDEFINED})])
    _, _, few, none = plot.splitlines()
    assert "○" in few
    assert "[" not in few
    assert none.split() == ["none", "1", "–", "│"]


def test_all_panels_share_one_scale_with_zero_in_one_column() -> None:
    plot = text_plot(
        [panel([("a", _metrics()), ("b", _metrics())], "by_pronouns", key) for key in ("delta_g", "delta_s")]
    )
    first, second = plot.split("\n\n")
    assert first.splitlines()[0][30:].split() == second.splitlines()[0][30:].split() != []
    bars = [line for line in plot.splitlines() if "│" in line or "┼" in line]
    assert len({max(line.find("│"), line.find("┼")) for line in bars}) == 1
    # A line for each of four groups, and for each run in them, in both panels.
    assert len(bars) == 2 * (4 + 4 * 2)
    assert "    a " in first


@pytest.mark.parametrize("width", [80, 100, 140])
def test_text_keeps_within_the_terminal(width: int) -> None:
    named = {"1": ONE, "a very long name of some domain or other": replace(ONE, n=105_687)}
    plot = text_plot([_panel(named)], width=width)
    assert max(map(len, plot.splitlines())) <= width
    assert "  a very lo…ain or other" in plot


def test_the_widest_numbers_fit_into_a_hundred_columns() -> None:
    named = {"a very long name of some domain or other": Estimate(-100.0, (-100.0, 100.0), 105_687)}
    assert max(map(len, text_plot([_panel(named, ("x" * 50, "y" * 50))]).splitlines())) <= 100
