"""Plots as files: SVG that stands alone, PNG, and points where their numbers belong."""

from __future__ import annotations

import re
import struct
import sys
import xml.etree.ElementTree as ET
from itertools import combinations

import pytest

from mtbias.errors import DependencyError
from mtbias.machine.installation import install_command
from mtbias.report.plots import Scale
from mtbias.report.scatter import correlation_text, plot_files, png, svg_women, women_scale
from mtbias.scoring.women_share import EntityPoint, WomenRelation, WomenShares
from mtbias.stats.results import Estimate

from .page_reader import EVIL, F, M, make_record, make_run

SVG = "{http://www.w3.org/2000/svg}"
NURSE = EntityPoint("nurse", 75.0, 80, 40, 40, 90.0, 50.0)
GUARD = EntityPoint("guard", 25.0, 50, 45, 5, 60.0, -50.0)
ALONE = EntityPoint("alone", 50.0, 9, 9, 0, 10.0, None)


def _relation(*points: EntityPoint) -> WomenRelation:
    shares = WomenShares("stats.tsv", "share", "00ff", {})
    found = Estimate(0.306, (-0.004, 0.5), len(points))
    return WomenRelation(shares, points, 0, found, found, 95.0, 2000, 0)


def test_points_stand_where_their_numbers_are() -> None:
    svg = ET.fromstring(svg_women(_relation(GUARD, ALONE, NURSE), "opus", "gap", ident="p", axis=Scale(-50, 50, 25)))
    # 440 wide with margins of 44 and 12: 25 % at 44 + 384/4 = 140, 75 % at 332. −50 is at the foot (56 + 270), 50 on
    # top. An entity without a gap has no point.
    circles = svg.findall(f"{SVG}circle")
    assert [(c.get("cx"), c.get("cy")) for c in circles] == [("140", "326"), ("332", "56")]
    # Five sentences about women are few.
    assert [c.get("fill-opacity") for c in circles] == ["0", "0.65"]
    assert circles[0].findtext(f"{SVG}title") == "guard: -50.0 at 25.0 % women, n 50 (5 women, 45 men)"
    about = svg.findtext(f"{SVG}desc") or ""
    assert about.startswith("2 entities. Spearman's ρ 0.31 [0.00, 0.50], n 3.")
    assert "1 entities have no sentences about men or none about women." in about
    accuracy = svg_women(_relation(ALONE), "opus", "accuracy", ident="p", axis=Scale(0, 100, 20))
    # 10 %: 56 + 270·0.9.
    assert [c.get("cy") for c in ET.fromstring(accuracy).findall(f"{SVG}circle")] == ["299"]


def _crowd(n: int) -> WomenRelation:
    """Points in one corner, half of them on one spot, and a line of points far below it."""
    low = [EntityPoint(f"low {i:02}", 10.0 * i, 80, 40, 40, 50.0, -100.0) for i in range(10)]
    high = [EntityPoint(f"entity {i:02}", 90.0 + i // 2, 80, 40, 40, 90.0, 100.0 - i // 2) for i in range(n)]
    return _relation(*low, *high)


def test_the_farthest_points_are_named_and_no_names_overlap() -> None:
    svg = ET.fromstring(svg_women(_crowd(6), "opus", "gap", ident="p", axis=Scale(-100, 100, 25)))
    boxes = {}
    for text in svg.findall(f"{SVG}text"):
        if text.get("font-size") == "11":
            # At 11 pixels no letter of these names is wider than 6.2.
            x, width = float(text.get("x") or 0), 6.2 * len(text.text or "")
            left = x - {"end": width, "middle": width / 2}.get(text.get("text-anchor") or "", 0)
            boxes[text.text] = left, left + width, float(text.get("y") or 0)
    assert 5 <= len(boxes) <= 8
    assert set(boxes) <= {point.entity for point in _crowd(6).outliers("gap")}
    for (left, right, y), (other_left, other_right, other_y) in combinations(boxes.values(), 2):
        assert right <= other_left or other_right <= left or abs(y - other_y) >= 11
    for left, right, y in boxes.values():
        assert left >= 44
        assert right <= 428
        assert 56 <= y - 11 < y <= 326


def test_without_a_line_nothing_is_named() -> None:
    svg = ET.fromstring(svg_women(_relation(NURSE, GUARD), "opus", "gap", ident="p", axis=Scale(-50, 50, 25)))
    assert [text.text for text in svg.findall(f"{SVG}text") if text.get("font-size") == "11"] == []
    assert svg.findall(f"{SVG}path[@class='fit']") == []


def test_the_scale_holds_all_runs() -> None:
    assert women_scale([_relation(GUARD), _relation(NURSE)], "gap") == Scale(-60, 60, 20)
    assert women_scale([_relation(ALONE)], "gap") == Scale(-10, 10, 5)
    assert women_scale([_relation(GUARD)], "accuracy") == Scale(0, 100, 20)


def test_a_correlation_that_is_not_defined_is_a_dash() -> None:
    assert correlation_text(Estimate(None, None, 1)) == "Spearman's ρ –, n 1"
    assert correlation_text(Estimate(-0.5, None, 2)) == "Spearman's ρ -0.50, n 2"


def test_every_plot_is_a_file_that_stands_alone() -> None:
    runs = [
        make_run([make_record(i, (F, M)[i % 2], entity=EVIL) for i in range(12)], name) for name in (EVIL, "opus/2")
    ]
    files = dict(plot_files(runs, [_relation(NURSE, GUARD)] * 2))
    assert list(files) == [
        "delta_g-by_domain", "delta_s-by_domain", "delta_g-by_pronouns", "delta_s-by_pronouns",
        "women-gap-1-script-script-alert-1-script-img-src-x-o", "women-gap-2-opus-2",
        "women-accuracy-1-script-script-alert-1-script-img-src-x-o", "women-accuracy-2-opus-2",
    ]  # fmt: skip
    for text in files.values():
        svg = ET.fromstring(text.encode())
        assert svg.tag == f"{SVG}svg"
        # A style and a white ground first, so that the picture looks the same on any page.
        style, ground = list(svg)[:2]
        assert {f".c{i} " for i in range(6)} <= set(re.findall(r"\.c\d ", style.text or ""))
        assert (ground.tag, ground.get("fill"), ground.get("width")) == (f"{SVG}rect", "#fff", "100%")
        assert svg.findall(f".//{SVG}script") == svg.findall(f".//{SVG}img") == []
        assert set(re.findall(r"\w+://[^\"'\s<]*", text)) == {"http://www.w3.org/2000/svg"}
    assert len(list(plot_files(runs))) == 4


def test_png_files_are_twice_as_large() -> None:
    pytest.importorskip("resvg_py", reason="resvg is not installed: pip install 'mtbias[images]'")
    _, svg = next(plot_files([make_run([make_record()])]))
    data = png(svg)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    root = ET.fromstring(svg.encode())
    size = tuple(2 * int(root.get(side) or 0) for side in ("width", "height"))
    assert struct.unpack(">II", data[16:24]) == size


def test_png_without_resvg_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    _, svg = next(plot_files([make_run([make_record()])]))
    with pytest.raises(DependencyError, match=re.escape(install_command("images"))):
        png(svg)
