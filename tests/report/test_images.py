"""Plots as files: SVG that stands alone."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

from mtbias.report.report_files import plot_files
from mtbias.scoring.women_share import WomenShares

from .page_reader import EVIL, F, M, make_record, make_run

SVG = "{http://www.w3.org/2000/svg}"


def test_every_plot_is_a_file_that_stands_alone() -> None:
    runs = [
        make_run([make_record(i, M, gold=(F, M)[i % 2], entity=EVIL) for i in range(12)], name)
        for name in (EVIL, "opus/2")
    ]
    files = dict(plot_files(runs, WomenShares("stats.tsv", "share", "00ff", {})))
    assert list(files) == [
        "overall", "by_domain", "by_pronouns", "by_stereotype",
        "entities-1-script-script-alert-1-script-img-src-x-o", "entities-2-opus-2",
    ]  # fmt: skip
    for text in files.values():
        svg = ET.fromstring(text.encode())
        assert svg.tag == f"{SVG}svg"
        # A style and a white ground first, so that the picture looks the same on any page.
        style, ground = list(svg)[:2]
        assert {f".c{i} " for i in range(6)} <= set(re.findall(r"\.c\d ", style.text or ""))
        assert (ground.tag, ground.get("fill"), ground.get("width")) == (
            f"{SVG}rect",
            "#fff",
            "100%",
        )
        assert svg.findall(f".//{SVG}script") == svg.findall(f".//{SVG}img") == []
        assert set(re.findall(r"\w+://[^\"'\s<]*", text)) == {"http://www.w3.org/2000/svg"}
    without = []
    for run in runs:
        groups = {**run.metrics.by, "by_entity": {}}
        without.append(replace(run, metrics=replace(run.metrics, by=groups)))
    assert len(list(plot_files(without))) == 4
