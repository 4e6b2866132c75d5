"""What a page shows of several runs, of shares of women and of consistency; and the names of
runs."""

from __future__ import annotations

import pytest

from mtbias.errors import DataError
from mtbias.report.report_runs import corpus_name, unique_names
from mtbias.report.run_page import render_html
from mtbias.scoring.women_share import WomenShares
from mtbias.types import Stereotype

from .page_reader import (
    EVIL,
    F,
    M,
    make_page,
    make_record,
    make_run,
    read_page,
    table_lines,
    table_rows,
)


def test_names_are_systems_and_with_their_language_where_these_are_not_unique() -> None:
    assert unique_names([("google", "de"), ("bing", "de")]) == ["google", "bing"]
    assert unique_names([("google", "de"), ("bing", "de"), ("google", "he")]) == [
        "google, de",
        "bing",
        "google, he",
    ]
    with pytest.raises(
        DataError, match="expected one run of a system and language, got 2 of 'x' in de"
    ):
        unique_names([("x", "de"), ("x", "de")])


def test_many_runs_are_counted_in_the_title_and_named_below() -> None:
    page = make_page(*(make_run([make_record()], f"run{i}") for i in range(4)))
    assert page.one("h1").text == "4 systems: gender in translations from English into German (de)"
    # All are alike: by their names.
    assert [row[0] for row in table_rows(page, "Systems by accuracy, in per cent and points")][
        1:
    ] == [f"run{i}" for i in range(4)]


def test_the_share_of_women_stands_beside_the_entities() -> None:
    records = [
        make_record(0, F), make_record(1, M, gold=M), make_record(2, M, entity="guest"),
        make_record(3, M, gold=M, entity="guest"), make_record(4, F, entity="stranger"),
    ]  # fmt: skip
    run = make_run(records)
    page = make_page(
        run,
        shares=WomenShares("stats.tsv", "share", "0123456789abcdef", {"cook": 60.25, "guest": 20}),
    )
    assert table_rows(page, "Accuracy by entity") == [
        ["entity", "share of\nwomen, %", "n", "accuracy", "right for men", "right for women"],
        ["guest", "20.0", "2", "50.0 [9.5, 90.5]", "100.0 [20.7, 100.0]", "0.0 [0.0, 79.3]"],
        ["cook", "60.2", "2", "100.0 [34.2, 100.0]", "100.0 [20.7, 100.0]", "100.0 [20.7, 100.0]"],
        ["stranger", "–", "1", "100.0 [20.7, 100.0]", "–", "100.0 [20.7, 100.0]"],
    ]
    # Gaps: cook 100 − 100 = 0 at 60.25 %, guest 0 − 100 = −100 at 20 %: both rise, ρ = 1 over two.
    # So do the accuracies, 50 and 100.
    groups = page.one("section", id="groups")
    assert (
        "women translated better than men where more women work? Spearman's ρ 1.00, n 2 entities; "
        "accuracy: Spearman's ρ 1.00, n 2; without a share: 1." in groups.text
    )
    (plot,) = groups.all("svg", role="img")
    # Neither has ten sentences of each, so both are drawn.
    assert [title.text for title in plot.all("title")][1:] == [
        "guest, men: 100.0 [20.7, 100.0], n 1", "cook, men: 100.0 [20.7, 100.0], n 1",
        "guest, women: 0.0 [0.0, 79.3], n 1", "cook, women: 100.0 [20.7, 100.0], n 1",
    ]  # fmt: skip
    assert "stats.tsv|column:share|sha256:0123456789ab" in page.one("section", id="how").text


def test_a_correlation_that_is_not_defined_is_a_dash() -> None:
    records = [make_record(0, F), make_record(1, M, gold=M)]  # of one entity
    groups = make_page(make_run(records)).one("section", id="groups")
    assert "accuracy: Spearman's ρ –, n 1; without a share: 0." in groups.text


def test_entities_stand_against_the_statistics_that_ship_where_no_others_are_given() -> None:
    page = make_page(make_run([make_record(entity="Nurse"), make_record(1, entity="nobody")]))
    text = page.one("section", id="groups").text
    assert (
        "Shares of women: U.S. Bureau of Labor Statistics, 2015 to 2017 (with Rudinger et al. 2018;"
        in text
    )
    # "nurse 89.58 2015" in Winogender's file.
    assert table_lines(page, "Accuracy by entity")["Nurse"][0] == "89.6"
    assert table_lines(page, "Accuracy by entity")["nobody"][0] == "–"


def test_where_no_entity_has_a_share_the_page_tells_how_to_give_others() -> None:
    text = make_page(make_run([make_record(entity="nobody")])).one("section", id="groups").text
    assert "None of these entities has a share of women" in text
    assert "mtbias report RUN --out FILE.html --women TABLE\ntakes others" in text.replace(
        " takes", "\ntakes"
    )


def test_consistency_over_counterfactual_pairs() -> None:
    # Three pairs: right for both; for the man only; for neither, as the woman's has no call.
    records = [
        make_record(0, F, pair="demo-2"), make_record(1, M, gold=M, pair="demo-1"),
        make_record(2, M, pair="demo-4"), make_record(3, M, gold=M, pair="demo-3"),
        make_record(4, None, pair="demo-6"), make_record(5, F, gold=M, pair="demo-5"),
    ]  # fmt: skip
    page = make_page(
        make_run(records, "a"), make_run([make_record(stereotype=Stereotype.NONE)], "b")
    )
    rows = table_lines(page, "Consistency over pairs, in per cent")
    assert rows["pairs"] == [
        "a:\nall pairs",
        "a:\nboth have a call",
        "b:\nall pairs",
        "b:\nboth have a call",
    ]
    assert rows["I_across Right for one gender only."] == [
        "33.3 [6.1, 79.2] n 3",
        "50.0 [9.5, 90.5] n 2",
        "–",
        "–",
    ]
    assert rows["man only Right for the man, not for the woman."][:2] == [
        "33.3 [6.1, 79.2] n 3",
        "50.0 [9.5, 90.5] n 2",
    ]
    assert rows["woman only Right for the woman, not for the man."][:2] == [
        "0.0 [0.0, 56.1] n 3",
        "0.0 [0.0, 65.8] n 2",
    ]
    assert rows["both (MPA) Right for both: minimal-pair accuracy (MPA)."][:2] == [
        "33.3 [6.1, 79.2] n 3",
        "50.0 [9.5, 90.5] n 2",
    ]
    assert rows["neither Right for neither."][:2] == ["33.3 n 3", "0.0 n 2"]
    assert rows["ΔI Across minus within, over quadruples."][:2] == ["– n 0", "– n 0"]
    # The run without pairs has dashes.
    assert rows["pairs without controls They do not count in ΔI."] == ["3", "", "–", ""]


def test_sentences_that_could_not_be_paired_are_counted_by_reason() -> None:
    # The second sentence names a partner that the corpus does not have.
    records = [
        make_record(0, F, pair="demo-2"),
        make_record(1, M, gold=M, pair="demo-1"),
        make_record(2, F, pair="gone"),
    ]
    run = make_run(records)
    assert run.metrics.consistency is not None
    ((reason, count),) = run.metrics.consistency.left_out.items()
    assert table_lines(make_page(run), "Consistency over pairs, in per cent")[
        f"not paired {reason}"
    ] == [
        str(count),
        "",
    ]


def test_without_pairs_there_is_no_section_of_consistency() -> None:
    assert "Consistency over pairs" not in make_page(make_run([make_record()])).one("main").text
    old = make_run([make_record()], consistency=None)
    assert "Consistency over pairs" not in make_page(old).one("main").text


def test_markup_in_names_entities_and_the_file_of_shares_stays_text() -> None:
    records = [
        make_record(0, F, entity=EVIL, pair="demo-2"),
        make_record(1, M, gold=M, entity=EVIL, pair="demo-1"),
    ]
    runs = [make_run(records, f"{EVIL}{i}") for i in range(2)]
    shares = WomenShares(EVIL, EVIL, EVIL, {" ".join(EVIL.casefold().split()): 40})
    page = read_page(render_html(runs, shares=shares))
    assert [script.attributes for script in page.all("script")] == [
        {"type": "application/json", "id": "data"},
        {},
    ]
    assert list(page.all("img")) == []
    entities = page.one("section", id="groups")
    assert f"Shares of women: {EVIL}, column {EVIL}." in entities.text
    assert [row[0] for row in table_rows(page, "Accuracy by entity")] == ["entity", EVIL]
    assert (
        f"{EVIL}0:\nall pairs" in table_lines(page, "Consistency over pairs, in per cent")["pairs"]
    )


def test_a_part_of_a_corpus_is_named_by_corpus_and_number() -> None:
    assert corpus_name("winomt") == "WinoMT"
    assert corpus_name("winomt-1024-of-3888-67dbe86e") == (
        "WinoMT: 1,024 of 3,888 sentences (67dbe86e)"
    )
    assert corpus_name("mine-of-2024") == "mine-of-2024"
