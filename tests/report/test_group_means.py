"""Means of groups of sentences over the languages of a sweep, beside the published ones."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mtbias.report.group_means import group_panels, mean_over_languages, render_groups
from mtbias.report.plots import Panel
from mtbias.report.report_runs import ReportRun
from mtbias.scoring.definitions import BREAKDOWNS
from mtbias.scoring.metrics_reader import read_metrics
from mtbias.stats.results import Estimate
from mtbias.types import JsonDict

DOMAIN, _, CORPUS_PRONOUNS = BREAKDOWNS[:3]


def _group(n: int, accuracy: float, delta_s: float | None = 20.0) -> JsonDict:
    ci = {"accuracy": [accuracy - 5, accuracy + 5]}
    return {"n": n, "accuracy": accuracy, "delta_g": 10.0, "delta_s": delta_s, "ci": ci}


def _run(system: str, lang: str, accuracy: float, delta_s: float | None = 20.0) -> ReportRun:
    """Wikipedia as given, PubMed 10 lower; one pronoun as given, two 20 lower."""
    return ReportRun(system, lang, read_metrics(_metrics(accuracy, delta_s)))


def _metrics(accuracy: float, delta_s: float | None = 20.0) -> dict[str, Any]:
    return {
        "overall": _group(150, accuracy),
        "intervals": {"level": 95.0, "resamples": 2000},
        "by_domain": {
            "wikipedia": _group(100, accuracy),
            "pubmed": _group(50, accuracy - 10, delta_s),
        },
        "by_corpus_pronouns": {"1": _group(120, accuracy), "2": _group(30, accuracy - 20)},
    }


RUNS = [
    _run("mbart50", "de", 80.0),
    _run("mbart50", "he", 60.0, delta_s=None),
    _run("own", "de", 50.0),
    _run("own", "he", 40.0),
]


def _panels(dataset: str = "bug", runs: list[ReportRun] = RUNS) -> dict[str, Panel]:
    return {panel.title.split()[0]: panel for panel in group_panels(dataset, DOMAIN, runs)}


def test_a_mean_over_languages_has_their_least_and_most() -> None:
    found = mean_over_languages([Estimate(10.0, (5, 15), 7), Estimate(-4.0, None, 5)])
    assert found == Estimate(3.0, (-4.0, 10.0), 12)
    # One language alone keeps its own interval.
    assert mean_over_languages([Estimate(10.0, (5, 15), 7)]) == Estimate(10.0, (5, 15), 7)


@pytest.mark.parametrize("lacking", [None, Estimate(None, None, 3)])
def test_no_mean_over_fewer_languages(lacking: Estimate | None) -> None:
    """A language without the group, or without the number in it."""
    found = mean_over_languages([Estimate(10.0, (5, 15), 7), lacking])
    assert (found.value, found.interval) == (None, None)


def test_panels_have_the_means_of_the_systems_and_the_published_ones() -> None:
    panels = _panels()
    assert list(panels) == ["Accuracy", "ΔG", "ΔS"]
    accuracy = panels["Accuracy"]
    assert accuracy.heading == ("Accuracy by domain, in per cent, least and most of the languages")
    assert accuracy.groups == ["wikipedia", "pubmed"]
    series = dict(accuracy.series)
    # A system's published numbers stand behind its own.
    assert list(series) == [
        "mbart50",
        "mbart50, published",
        "own",
        "m2m100, published",
        "opus-mt, published",
    ]
    # (80 + 60) / 2, of 100 sentences in each language; PubMed is 10 lower.
    assert series["mbart50"] == {
        "wikipedia": Estimate(70.0, (60.0, 80.0), 200),
        "pubmed": Estimate(60.0, (50.0, 70.0), 100),
    }
    assert series["own"]["wikipedia"] == Estimate(45.0, (40.0, 50.0), 200)
    # BUG, figure 6, by the authors' result files.
    assert series["mbart50, published"] == {"wikipedia": Estimate(71.1), "pubmed": Estimate(74.3)}
    delta_s = dict(panels["ΔS"].series)
    assert delta_s["mbart50"]["pubmed"].value is None  # Hebrew has none
    assert delta_s["m2m100, published"]["pubmed"] == Estimate(-3.6)
    # Of another data set nothing was published by group.
    assert [name for name, _ in _panels("winomt")["Accuracy"].series] == ["mbart50", "own"]


def test_published_numbers_of_pronouns_are_as_the_corpus_counts_them() -> None:
    found = {p.title.split()[0]: p for p in group_panels("bug", CORPUS_PRONOUNS, RUNS)}
    series = dict(found["ΔS"].series)
    # BUG, figure 7, by the authors' result files.
    assert series["mbart50, published"] == {"1": Estimate(12.2), "2": Estimate(24.1)}
    assert series["opus-mt, published"] == {"1": Estimate(13.6), "2": Estimate(23.2)}


def test_a_number_that_no_group_has_is_not_drawn() -> None:
    """ΔS compares stereotypes: a group of one stereotype has none."""
    groups = {"by_stereotype": {"pro": _group(9, 70.0, None), "anti": _group(9, 50.0, None)}}
    runs = [ReportRun("own", "de", read_metrics({**_metrics(60.0), **groups}))]
    stereotype = BREAKDOWNS[3]
    assert [p.title for p in group_panels("bug", stereotype, runs)] == [
        "Accuracy by stereotype, in per cent",
        "ΔG by stereotype, in points",
    ]


def test_one_language_keeps_its_intervals() -> None:
    panel = _panels(runs=RUNS[::2])["Accuracy"]
    assert panel.level == "95 % interval"
    assert dict(panel.series)["mbart50"]["wikipedia"] == Estimate(80.0, (75.0, 85.0), 100)


def test_the_page_has_a_section_for_each_property_with_plots_and_a_table() -> None:
    page = render_groups({"bug": RUNS})
    headings = re.findall(r"<h2[^>]*>([^<]+)</h2>", page)
    assert headings == [
        "bug by domain, mean of 2 languages (de, he)",
        "bug by pronouns as the corpus counts them, mean of 2 languages (de, he)",
    ]
    assert page.count('role="img"') == 6
    row = re.search(r"<tr><th[^>]*>Accuracy</th><th[^>]*>mbart50</th>(.*?)</tr>", page)
    assert row is not None
    assert re.findall(r"<td>([^<]*)</td>", row[1]) == ["70.0, n 200", "60.0, n 100"]
    published = re.search(r"<th[^>]*>mbart50, published</th>(.*?)</tr>", page)
    assert published is not None
    assert re.findall(r"<td>([^<]*)</td>", published[1]) == ["71.1", "74.3"]
    assert "figures 6 and 7 print no numbers" in page
    assert "between whiskers the least and the most" in page


def test_a_page_without_groups() -> None:
    """A data set none of whose breakdowns is short has no section, and the page is there."""
    metrics = {"overall": _group(10, 50.0), "intervals": {"level": 95.0, "resamples": 0}}
    page = render_groups({"own": [ReportRun("a", "de", read_metrics(metrics))]})
    assert "<h1>Systems by groups of sentences</h1>" in page
    assert re.findall(r"<h2[^>]*>([^<]+)</h2>", page) == [
        "No data set here has groups of sentences"
    ]
    assert "<table" not in page
