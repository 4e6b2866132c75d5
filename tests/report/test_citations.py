"""What a page says is to be cited."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mtbias
from mtbias.report.report_runs import ReportRun, citations_of, report_run
from mtbias.scoring.metrics_records import CorpusMetrics
from mtbias.settings import ScoreSettings


def test_a_page_has_the_citations_of_its_runs(tmp_path: Path) -> None:
    settings = ScoreSettings(
        stanza_dir=Path("mtbias:demo"), cache_dir=tmp_path, device="cpu", resamples=0
    )
    run = mtbias.score(
        ["Die Ärztin kam.", "Der Arzt kam."],
        "de",
        sources=["The doctor said that she came.", "The doctor said that he came."],
        entities=["doctor", "doctor"],
        genders=["female", "male"],
        settings=settings,
    )
    page = run.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "To cite" in page
    assert "@software{mtbias," in page
    own = report_run(run)
    assert [entry.partition(",")[0] for entry in citations_of([own])] == ["@software{mtbias"]

    def named(name: str) -> ReportRun:
        return replace(own, metrics=replace(own.metrics, corpus=CorpusMetrics(name)))

    runs = [named("winomt-40-of-3888-0123abcd"), named("bug-gold"), named("bug")]
    assert [entry.partition(",")[0] for entry in citations_of(runs)] == [
        "@inproceedings{stanovsky-etal-2019-evaluating",
        "@inproceedings{levy-etal-2021-collecting-large",
        "@software{mtbias",
    ]
