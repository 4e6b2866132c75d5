"""The page of a comparison: its numbers, the sentences that differ, and markup that stays text."""

from __future__ import annotations

from dataclasses import replace

from mtbias.report.report_runs import ReportRun, unique_names
from mtbias.report.run_page import render_html
from mtbias.scoring.comparison import Comparison
from mtbias.types import Reason

from .page_reader import (
    EVIL,
    F,
    M,
    Node,
    make_record,
    make_run,
    page_data,
    read_page,
    sentence_ids,
    table_rows,
)
from .test_comparison_tables import FIRST, PAIR, PLAIN, SECOND

CAPTION = "Differences, A minus B, in points"


def _runs(lang: str = "de") -> list[ReportRun]:
    """Two runs whose calls differ on the second and the fourth sentence; the third has none, for
    two reasons."""
    first = [make_record(0, F), make_record(1, M), make_record(2, None), make_record(3, F)]
    second = [
        make_record(0, F),
        make_record(1, F),
        make_record(2, None, reason=Reason.AMBIGUOUS),
        make_record(3, None),
    ]
    return [make_run(first, "alpha", lang), make_run(second, "beta", lang)]


def _named(*runs: ReportRun) -> list[ReportRun]:
    names = unique_names([(run.name, run.lang) for run in runs])
    return [replace(run, name=name) for run, name in zip(runs, names, strict=True)]


def _page(compared: Comparison = PLAIN, *runs: ReportRun) -> Node:
    return read_page(render_html(runs or _runs(), compared))


def test_differences_stand_with_interval_and_p() -> None:
    page = _page()
    assert table_rows(page, CAPTION) == [
        ["A", "B", "number", "A", "B", "difference", "p", "corrected p", ""],
        [
            "alpha",
            "beta",
            "Accuracy",
            "52.9",
            "70.3",
            "-17.4 [-18.8, -16.1]",
            "<0.001",
            "0.002",
            "significant",
        ],
        ["alpha", "beta", "ΔG", "24.8", "3.9", "20.9", "0.040", "0.120", ""],
        ["alpha", "beta", "ΔS", "–", "15.5", "–", "–", "–", ""],
        [
            "alpha",
            "beta",
            "I_across",
            "74.7",
            "38.0",
            "36.7 [34.1, 39.2]",
            "<0.001",
            "0.001",
            "significant",
        ],
    ]
    mcnemar = next(
        t for t in page.all("table") if t.one("caption").text.startswith("Sentences by which")
    )
    cells = [
        cell.text for cell in mcnemar.one("tbody").one("tr").children if isinstance(cell, Node)
    ]
    assert cells == ["alpha", "beta", "948", "1,962", "95", "772", "1,059", "<0.001"]
    assert (
        "One test of each number: nothing is corrected."
        in page.one("section", id="differences").text
    )
    assert PLAIN.signature in page.one("section", id="how").text


def test_the_sentences_are_those_on_which_calls_differ_within_a_language() -> None:
    assert sentence_ids(page_data(_page())) == ["demo-2", "demo-4"]
    # Runs of two languages are not compared: their calls may differ as they like.
    page = _page(PLAIN, _runs("de")[0], replace(_runs("he")[1]))
    assert list(page.all("section", id="sentences")) == []


def test_each_language_is_named_where_there_are_several() -> None:
    hebrew = [replace(FIRST, lang="he"), replace(SECOND, lang="he")]
    compared = replace(
        PLAIN, systems=(FIRST, SECOND, *hebrew), pairs=(PAIR, replace(PAIR, lang="he"))
    )
    page = _page(compared, *_named(*_runs(), *_runs("he")))
    rows = table_rows(page, CAPTION)
    assert rows[0][:4] == ["A", "B", "language", "number"]
    assert [row[2] for row in rows[1:]] == ["de"] * 4 + ["he"] * 4
    assert (
        "Corrected by Holm over the 2 tests of the same number."
        in page.one("section", id="differences").text
    )
    assert (
        page.one("h1").text
        == "4 runs: gender in translations from English into German (de) and Hebrew (he)"
    )
    # By the tests: beta is significantly better in each language.
    ranked = table_rows(page, "Systems by accuracy, in per cent and points")[1:]
    assert sorted([row[0], row[1], row[2]] for row in ranked) == [
        ["1", "beta", "German (de)"], ["1", "beta", "Hebrew (he)"],
        ["2", "alpha", "German (de)"], ["2", "alpha", "Hebrew (he)"],
    ]  # fmt: skip


def test_a_system_of_two_languages_is_ranked_with_a_rival_of_one() -> None:
    runs = _named(*_runs(), _runs("he")[0])
    assert [run.name for run in runs] == ["alpha, de", "beta", "alpha, he"]
    ranked = table_rows(_page(PLAIN, *runs), "Systems by accuracy, in per cent and points")[1:]
    assert sorted(row[:3] for row in ranked) == [
        ["1", "alpha", "Hebrew (he)"],
        ["1", "beta", "German (de)"],
        ["2", "alpha", "German (de)"],
    ]


def test_one_run_with_weights_has_no_differences() -> None:
    compared = replace(
        PLAIN, systems=(replace(FIRST, weighted={"delta_g": FIRST.plain["delta_s"]}),), pairs=()
    )
    page = _page(compared, _runs()[0])
    assert list(page.all("section", id="sentences")) == []
    assert table_rows(page, "Each system, plain and weighted, in per cent")[1:] == [
        ["alpha", "de", "ΔG", "24.8 [23.8, 25.8]", "18.8 [17.8, 19.8]"]
    ]
    assert not any(table.one("caption").text == CAPTION for table in page.all("table"))


def test_markup_stays_text_and_nothing_is_loaded() -> None:
    evil = replace(PLAIN, dataset=EVIL, systems=(replace(FIRST, system=EVIL), SECOND), evaluators={EVIL: (EVIL,)},
                   pairs=(replace(PAIR, first=EVIL),))  # fmt: skip
    runs = [replace(_runs()[0], name=EVIL), _runs()[1]]
    text = render_html(runs, evil)
    page = read_page(text)
    assert [script.attributes for script in page.all("script")] == [
        {"type": "application/json", "id": "data"},
        {},
    ]
    assert list(page.all("img")) == []
    assert EVIL in page.one("h1").text
    policy = (
        page.one("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"] or ""
    )
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


def test_a_page_that_would_be_too_large_has_fewer_sentences() -> None:
    first = make_run(
        [make_record(i, F, source=f"The cook ate {i * i} {i**3}.") for i in range(3000)], "alpha"
    )
    second = make_run(
        [make_record(i, M, source=f"The cook ate {i * i} {i**3}.") for i in range(3000)], "beta"
    )
    whole = len(render_html([first, second], PLAIN).encode())
    text = render_html([first, second], PLAIN, max_bytes=whole - 10_000)
    assert len(text.encode()) <= whole - 10_000
    assert "of 3,000 sentences, spread evenly" in text
