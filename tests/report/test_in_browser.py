"""What the page's script does, in headless Chromium: search, order, long tables; nothing runs and
nothing is loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mtbias.report.run_page import render_html
from mtbias.types import (
    Evidence,
    Reason,
    Span,
    Trust,
)
from scripts.look_at_report import WIDER, wait_until_ready

from .page_reader import EVIL, F, M, cook_evidence, make_record, make_run, read_page

Opened = Callable[..., Any]


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Opened]:
    """Opens a page of records, and fails where it asks for anything else, or writes an error."""
    troubles: list[str] = []

    def refuse(dialog: Any) -> None:
        troubles.append(dialog.message)
        dialog.dismiss()

    def of(*records: Any, width: int = 1280, explain: str = "") -> Any:
        path = tmp_path / "page.html"
        run = replace(make_run(records), explain=explain)
        path.write_text(render_html([run]), encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", refuse)
        page.on(
            "request",
            lambda r: troubles.append(r.url) if r.url not in {path.as_uri(), "data:,"} else None,
        )
        page.goto(path.as_uri())
        wait_until_ready(page)
        return page

    yield of
    assert troubles == []


def _ids(page: Any) -> list[str]:
    """The ids of the sentences that are shown, in their order."""
    return [
        text.split(" · ")[0]
        for text in page.locator("#list > li > p:first-child").all_inner_texts()
    ]


def _search(page: Any, text: str, expected: list[str]) -> None:
    """Search, and wait until these sentences alone are shown."""
    shown = "[...document.querySelectorAll('#list > li > p:first-child')].map((p) => p.textContent.split(' · ')[0])"
    page.fill("[name=search]", text)
    page.wait_for_function(f"(ids) => {shown}.join() === ids", arg=",".join(expected))


def test_the_search_ignores_case_and_diacritics_and_finds_all_words(opened: Opened) -> None:
    page = opened(
        make_record(0, F, translation="Die Köchin aß."),
        make_record(
            1, F, translation="La médica habló.", entity="doctor", source="The doctor spoke."
        ),
        make_record(
            2, F, translation="Врачиха пришла.", source="The Physician came.", entity="physician"
        ),
    )
    _search(page, "KOCHIN", ["demo-1"])
    _search(page, "medica SPÓKE", ["demo-2"])
    _search(page, "physician врачиха", ["demo-3"])
    _search(page, "kochin spoke", [])
    _search(page, "(", [])
    page.click("[type=reset]")
    page.wait_for_function("() => document.querySelector('#status').textContent.startsWith('3 of')")


def test_the_wrong_ones_come_first_and_the_order_of_sources_can_be_chosen(opened: Opened) -> None:
    page = opened(
        make_record(0, F),
        make_record(1, None),
        make_record(2, M),
        make_record(3, F),
        make_record(4, M),
    )
    assert _ids(page) == ["demo-3", "demo-5", "demo-2", "demo-1", "demo-4"]
    page.select_option("[name=order]", "source")
    page.wait_for_function(
        "() => document.querySelector('#list small').textContent.startsWith('demo-1 ')"
    )
    assert _ids(page) == [f"demo-{i}" for i in range(1, 6)]


def test_the_script_makes_the_folds_that_stand_in_the_page_without_it(opened: Opened) -> None:
    """As the page without the script has the first sentences: of both the tests read the same."""
    records = [
        make_record(0, M, translation="Die Köchin <b> & der Koch", stanza_gender=F, basis="links",
                    trust=Trust.ALIGNED, evidence=(cook_evidence(F), cook_evidence(M))),
        make_record(1, None, source="The cook ate.", target=(), evidence=()),
        make_record(2, None, source="The cook sat.", translation=None, target=(), evidence=(),
                    reason=Reason.UNTRANSLATED),
        make_record(3, F, source="The cook slept.", id="it's 4"),
    ]  # fmt: skip
    without = read_page(render_html([replace(make_run(records), explain="mtbias explain run")]))
    expected = [fold.text for fold in without.one("ol", id="list").all("details")]
    assert len(expected) == len(records)
    page = opened(*records, explain="mtbias explain run")
    made = page.locator("#list details").all_text_contents()
    assert ["".join(fold.split()) for fold in made] == ["".join(fold.split()) for fold in expected]


def test_a_fold_opens_and_shows_the_rule_of_the_call(opened: Opened) -> None:
    page = opened(make_record(0, M, evidence=(cook_evidence(M),)))
    rule = page.locator("#list .steps code")
    assert not rule.is_visible()
    page.click("#list summary")
    assert rule.is_visible()
    assert rule.inner_text() == "feminine_noun"


def test_a_long_table_shows_its_first_rows_until_it_is_asked_for_all(opened: Opened) -> None:
    page = opened(*(make_record(i, F, entity=f"entity {i:02}") for i in range(25)))
    page.click("text=All 25 groups by entity")  # it is folded away
    rows = page.locator(".tall tbody tr:visible")
    assert rows.count() == 20
    page.click("text=Show all 25 rows")
    assert rows.count() == 25
    page.click("text=Show the first 20 rows")
    page.click(".tall thead button >> nth=0")
    assert rows.first.locator("th").inner_text() == "entity 00"
    assert rows.count() == 20


def test_on_a_phone_nothing_but_tables_scrolls_sideways(opened: Opened) -> None:
    page = opened(
        *(make_record(i, (F, M)[i % 2], entity="nurse", domain="d" * 60) for i in range(25)),
        width=390,
    )
    assert page.evaluate(WIDER) == 0


def test_markup_in_the_data_runs_nothing(opened: Opened) -> None:
    read = (Evidence("masculine_noun", "noun", EVIL, Span(0, len(EVIL)), M, "lexicon", EVIL),)
    page = opened(
        make_record(
            0, M, source=f"{EVIL} cook", translation=EVIL, entity=EVIL, domain=EVIL, evidence=read
        )
    )
    page.fill("[name=search]", "alert(1)")
    page.wait_for_function("() => document.querySelector('#status').textContent.startsWith('1 of')")
    assert page.locator("#list img, #list script").count() == 0
