"""The page of results: what stands in it, and that it does in a browser what it says."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from mtbias.report.publishing import PublishedCorpus, PublishedResult
from mtbias.report.results_page import make_blocks, render_results
from mtbias.scoring.definitions import Best, Unit
from scripts.look_at_report import WIDER

from .result_maker import make_number, make_result, with_tests

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'"


def results() -> list[PublishedResult]:
    """A and B tie, both are better than C, D was never tested; E was read by another plugin, F is
    Spanish."""
    values = {"A": 70.0, "B": 69.0, "C": 50.0, "D": 60.0}
    tested = with_tests(
        {"A B": 0.4, "A C": 0.001, "B C": 0.002},
        *(
            make_result(name, make_number(value), make_number(9.0, Best.ZERO, "gap"))
            for name, value in values.items()
        ),
    )
    other = make_result("E", make_number(99.0), evaluator={"aligner": "agree/1", "plugin": "de/2"})
    return [
        *tested,
        other,
        make_result("F", make_number(40.0), language="es", warnings=("5 of 80 loop",)),
    ]


def page_of(*found: PublishedResult) -> str:
    return render_results(make_blocks(found))


class Cells(HTMLParser):
    """The tables of a page: caption, and the texts of the cells of each row."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.open = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag in {"tr", "caption"}:
            self.tables[-1].append([])
        if tag in {"th", "td", "caption"}:
            self.tables[-1][-1].append("")
            self.open = True

    def handle_endtag(self, tag: str) -> None:
        self.open &= tag not in {"th", "td", "caption"}

    def handle_data(self, data: str) -> None:
        if self.open:
            self.tables[-1][-1][-1] += data


def table(page: str, caption: str) -> list[list[str]]:
    (found,) = (rows[1:] for rows in Cells(page).tables if rows[0][0].startswith(caption))
    return found


def test_a_block_shows_values_ranks_denominators_and_warnings() -> None:
    page = page_of(*results())
    head, *rows = table(page, "German (de): systems")
    assert head == ["rank", "system", "accuracy", "gap", "warnings"]
    assert [row[:3] for row in rows] == [
        ["1–3, 1 not tested", "A", "70.0n 80"],
        ["1–3, 1 not tested", "B", "69.0n 80"],
        ["1–4, 3 not tested", "D", "60.0n 80"],
        ["3–4, 1 not tested", "C", "50.0n 80"],
    ]
    assert table(page, "Spanish (es): systems")[1][-1] == "1"
    assert "F: 5 of 80 loop" in page


def test_a_sentence_says_which_system_is_best_and_which_cannot_be_told_from_it() -> None:
    page = page_of(*results())
    assert "A is the best of 4, accuracy 70.0 (rank not told apart from B, D); gap 9.0." in page
    assert "F: accuracy 40.0." in page


def test_no_system_is_best_in_a_number_that_is_best_nowhere() -> None:
    page = page_of(*(make_result(name, make_number(90.0, Best.OPEN, "masculine")) for name in "AB"))
    assert "2 systems; masculine 90.0." in page
    assert "the best of" not in page


def test_the_intervals_are_drawn_on_one_axis() -> None:
    wide = replace(make_number(-10.0, Best.ZERO, "gap"), interval=(-20.0, 5.0))
    page = page_of(make_result("A", make_number(70.0), wide))
    # −20 to 100 over 90 pixels, 0.75 each: −20 at 0, −10 at 7.5, 0 at 15, 5 at 18.75, 70 at 67.5.
    assert 'd="M0 7H18.75" class="c0"' in page
    assert re.findall(r'<circle cx="([^"]*)"', page) == ["67.5", "7.5"]


def test_delta_s_has_a_caution_beside_it_where_few_are_found() -> None:
    numbers = [make_number(4.6, key="recall_female"), make_number(80.0, key="recall_male")]
    shown = [make_number(45.0), make_number(9.0, Best.ZERO, "delta_s")]
    page = page_of(
        make_result(
            "A", *shown, *(replace(number, shown=False, compared=False) for number in numbers)
        )
    )
    assert (
        table(page, "German (de): systems")[1][4] == "9.0means little: finds 4.6 % of the womenn 80"
    )


def test_the_grid_has_every_system_in_every_block() -> None:
    head, *rows = table(page_of(*results()), "accuracy by system and language")
    assert head == ["system", "German (de)", "German (de), block 2", "Spanish (es)"]
    assert [row[0] for row in rows] == list("ABCDEF")
    assert rows[4] == ["E", "–", "99.0", "–"]


def test_pairs_say_which_is_better_that_it_is_a_tie_or_that_nobody_tested() -> None:
    head, *rows = table(page_of(*results()), "Differences, A minus B")
    assert head == ["A", "B", "accuracy", "gap"]
    # Holm over three tests: 0.4; 0.001 · 3; 0.002 · 2.
    assert {" ".join(row[:2]): row[2] for row in rows} == {
        "A B": "1.0, p 0.400: tie", "A D": "not tested", "A C": "20.0, p 0.003: A better", "B D": "not tested",
        "B C": "19.0, p 0.004: A better", "D C": "not tested",
    }  # fmt: skip
    assert {row[3] for row in rows} == {"not tested"}


def test_a_number_is_shown_with_its_own_decimals_and_unit() -> None:
    score = replace(
        make_number(0.8456, Best.OPEN, "score"), unit=Unit.OWN, decimals=3, interval=(0.8, 0.9)
    )
    page = page_of(make_result("A", score))
    assert table(page, "German (de): systems")[1][2] == "0.846 [0.800, 0.900]n 80"
    assert "score, in units of the score, best nowhere" in page


def test_systems_on_either_side_of_the_best_value_are_not_called_untested() -> None:
    results = (
        make_result(name, make_number(value, Best.ZERO))
        for name, value in (("A", 2.0), ("B", -9.0))
    )
    page = page_of(*with_tests({"A B": 0.001}, *results))
    assert table(page, "German (de): systems")[1][0] == "1–2, 1 on the other side of the best value"
    assert table(page, "Differences, A minus B")[1][2] == "11.0, p 0.001: different"


def test_another_evaluator_is_named_and_not_ranked() -> None:
    page = page_of(*results())
    assert "Not ranked with the first block of this language: plugin de/2 here, de/1 there." in page
    assert table(page, "German (de), block 2: systems")[1][0] == "–"


def test_two_versions_of_a_corpus_are_two_sections() -> None:
    other = make_result(
        "B", make_number(5.0), corpus=PublishedCorpus("own", {"own.tsv": "ff00" * 4})
    )
    page = page_of(make_result("A", make_number(5.0)), other)
    assert "own (files 00ff)" in page
    assert "own (files ff00ff00)" in page


def test_intervals_over_entities_stand_in_a_table_of_their_own_where_there_are_any() -> None:
    page = page_of(
        make_result("A", make_number(5.0, over_entities=(1.25, 9.75))),
        make_result("B", make_number(4.0)),
    )
    assert table(page, "95 % intervals over entities")[1:] == [["A", "[1.2, 9.8]"], ["B", "–"]]
    assert "intervals over entities (" not in page_of(make_result("B", make_number(4.0)))


def test_link_note_licence_and_signature_are_there() -> None:
    page = page_of(
        make_result(
            "A", make_number(5.0), link="https://example.org/a", note="Beam 5.", licence="MIT"
        )
    )
    for text in (
        'href="https://example.org/a"',
        "Beam 5.",
        "Licence of the translations: MIT.",
        "system:A",
    ):
        assert text in page


def test_a_note_that_all_share_stands_above_the_table() -> None:
    page = page_of(*(make_result(name, make_number(5.0), note="Small models.") for name in "AB"))
    assert page.count("Small models.") == 3
    assert page.index("Small models.") < page.index("<table>")


def _open(browser: Any, path: Path, page: str, troubles: list[str], **context: Any) -> Any:
    def refuse(dialog: Any) -> None:
        troubles.append(dialog.message)
        dialog.dismiss()

    path.write_text(page, encoding="utf-8")
    opened = browser.new_context(**context).new_page()
    opened.on("console", lambda message: troubles.append(message.text))
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    opened.on("dialog", refuse)
    opened.on(
        "request",
        lambda r: troubles.append(r.url) if r.url not in {path.as_uri(), "data:,"} else None,
    )
    opened.goto(path.as_uri())
    return opened


def test_no_text_of_a_result_turns_the_page_or_holds_a_control_character() -> None:
    odd = "\x1b[31m\x00\u202eabc\u2066\x85"
    result = make_result(
        odd, make_number(5.0), note=odd, licence=odd, signature=odd, warnings=(odd,), evaluator={odd: odd},
        corpus=PublishedCorpus(odd, {odd: odd}),
    )  # fmt: skip
    page = render_results(make_blocks([result]), odd)
    assert re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page) == []
    assert page.count("?[31m??abc??") > 5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_in_a_browser_nothing_juts_out_is_asked_for_or_fails(
    browser: Any, tmp_path: Path, width: int, scheme: str
) -> None:
    troubles: list[str] = []
    viewport = {"width": width, "height": 900}
    opened = _open(
        browser,
        tmp_path / "page.html",
        page_of(*results()),
        troubles,
        viewport=viewport,
        color_scheme=scheme,
    )
    opened.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert opened.evaluate(WIDER) == 0
    assert troubles == []


def test_a_head_sorts_its_own_table_and_says_so(browser: Any, tmp_path: Path) -> None:
    troubles: list[str] = []
    opened = _open(browser, tmp_path / "page.html", page_of(*results()), troubles)
    grid, block = (
        opened.locator("table").nth(0),
        opened.locator("table", has_text="German (de): systems"),
    )
    names, ranked = (f"(rows) => rows.map((row) => row.cells[{n}].textContent)" for n in range(2))
    grid.locator("thead button").nth(1).click()
    assert grid.locator("tbody tr").evaluate_all(names) == ["A", "B", "D", "C", "E", "F"]
    assert grid.locator("th").nth(1).get_attribute("aria-sort") == "descending"
    block.locator("thead button").nth(2).click()
    block.locator("thead button").nth(2).click()
    assert block.locator("tbody tr").evaluate_all(ranked) == ["C", "D", "B", "A"]
    assert block.locator("thead th").nth(2).get_attribute("aria-sort") == "ascending"
    assert grid.locator("th").nth(1).get_attribute("aria-sort") == "descending"
    assert troubles == []


def test_without_javascript_the_tables_are_sorted_by_the_first_number(
    browser: Any, tmp_path: Path
) -> None:
    troubles: list[str] = []
    opened = _open(
        browser, tmp_path / "page.html", page_of(*results()), troubles, java_script_enabled=False
    )
    block = opened.locator("table", has_text="German (de): systems")
    assert [
        text.split("\t")[1].strip() for text in block.locator("tbody tr").all_inner_texts()
    ] == ["A", "B", "D", "C"]
    assert troubles == []


@pytest.mark.slow
def test_markup_in_results_runs_nothing(browser: Any, tmp_path: Path) -> None:
    troubles: list[str] = []
    evil = make_result(
        EVIL, make_number(5.0), language="xx", note=EVIL, licence=EVIL, signature=EVIL, warnings=(EVIL,),
        evaluator={EVIL: EVIL}, corpus=PublishedCorpus(EVIL, {EVIL: EVIL}),
        link=f"https://example.org/{EVIL}",
    )  # fmt: skip
    opened = _open(browser, tmp_path / "page.html", page_of(evil), troubles)
    assert opened.locator("img").count() == 0
    assert troubles == []
