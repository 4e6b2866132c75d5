"""The page on which rows are checked: whole, safe, and in headless Chromium what its keys and
buttons do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from mtbias.mining.corpus_check import CheckedRow, read_corpus, read_judgements, render_check_page
from scripts.look_at_report import WIDER
from tests.mining.mined_files import ROWS, write_mined
from tests.printing import check_prints

EVIL = "</script><script>alert(1)</script><img/src=x/onerror=alert(2)>"


def _rows(folder: Path) -> tuple[CheckedRow, ...]:
    return read_corpus(write_mined(folder / "ward.tsv")).rows


def _data(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_the_pieces_are_the_sentence_with_its_two_marks(tmp_path: Path) -> None:
    page = render_check_page(_rows(tmp_path), tmp_path / "ward.tsv", "abc")
    data = _data(page)
    assert (data["store"], data["file"]) == ("mtbias-check-abc", "ward.judgements.tsv")
    assert ["".join(text for _, text in row["pieces"]) for row in data["texts"]] == [
        row[0] for row in ROWS
    ]
    assert [[piece for piece in row["pieces"] if piece[0]] for row in data["texts"]][3:] == [
        [["head", "clerk"], ["other", "his"]], [["other", "His"], ["head", "doctor"]],
    ]  # fmt: skip
    assert not {"object", "conjunct", "0.92"} & set(re.findall(r"[\w.]+", json.dumps(data))), (
        "would sway the reader"
    )


def test_the_command_can_be_pasted_into_a_shell(tmp_path: Path) -> None:
    page = unescape(render_check_page(_rows(tmp_path), tmp_path / "ward 1.tsv", "abc"))
    assert (
        "mtbias corpora check --data 'ward 1.tsv' --judgements 'ward 1.judgements.tsv'</code>"
        in page
    )


def test_the_page_loads_nothing_and_markup_in_the_data_is_text(tmp_path: Path) -> None:
    row = (f"The cook left her {EVIL} .", "cook", "her", "Female", 1, "object", 1.0)
    rows = read_corpus(write_mined(tmp_path / "ward.tsv", [row])).rows
    page = render_check_page(rows, tmp_path / "ward.tsv", "abc")
    assert page.count("<script") == 2
    assert "<img" not in page
    assert "default-src 'none'; style-src 'sha256-" in unescape(page)
    assert not re.search(r"(?:src|href)=\"(?!#|data:,)", page)


def test_the_page_is_printed(tmp_path: Path) -> None:
    check_prints(render_check_page(_rows(tmp_path), tmp_path / "ward.tsv", "abc"), tmp_path)


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens the page of the small corpus, and fails where it asks for anything else, or writes an
    error."""
    troubles: list[str] = []
    path = tmp_path / "check.html"

    def of(width: int = 1280) -> Any:
        path.write_text(
            render_check_page(_rows(tmp_path), tmp_path / "ward.tsv", "abc"), encoding="utf-8"
        )
        page = browser.new_context(viewport={"width": width, "height": 900}).new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda request: troubles.append(request.url))
        page.goto(path.as_uri())
        return page

    yield of
    assert [one for one in troubles if not one.startswith((path.as_uri(), "data:,", "blob:"))] == []


def _seen(page: Any) -> tuple[str, ...]:
    return tuple(page.text_content(one) for one in ("#sentence", "#status", "#counts"))


def test_keys_give_judgements_and_go_back(opened: Callable[..., Any]) -> None:
    page = opened()
    assert _seen(page) == (
        "The nurse lost her keys .",
        "Row 1 of 5; 0 judged.",
        "0 right, 0 wrong, 0 unsure.",
    )
    assert page.text_content("#question") == "Does “her” stand for the “nurse”?"
    for key in "r2U":
        page.keyboard.press(key)
    assert _seen(page) == (
        "The clerk and his friends slept .",
        "Row 4 of 5; 3 judged.",
        "1 right, 1 wrong, 1 unsure.",
    )
    page.keyboard.press("b")
    assert page.get_attribute("[data-judgement=unsure]", "aria-pressed") == "true"
    page.keyboard.press("r")
    assert _seen(page)[1:] == ("Row 4 of 5; 3 judged.", "2 right, 1 wrong, 0 unsure.")
    page.uncheck("#keys")
    page.keyboard.press("r")
    assert _seen(page)[1] == "Row 4 of 5; 3 judged."


def test_judgements_outlast_the_page_and_are_downloaded(
    opened: Callable[..., Any], tmp_path: Path
) -> None:
    page = opened()
    assert page.is_disabled("#download")
    for judgement in ("wrong", "right", "right", "unsure"):
        page.click(f"[data-judgement={judgement}]")
    page.reload()
    assert _seen(page)[1:] == ("Row 5 of 5; 4 judged.", "2 right, 1 wrong, 1 unsure.")
    page.click("[data-judgement=right]")
    assert _seen(page)[1] == "Row 5 of 5; 5 judged. All are judged: download the judgements."
    with page.expect_download() as found:
        page.click("#download")
    assert found.value.suggested_filename == "ward.judgements.tsv"
    found.value.save_as(tmp_path / "v.tsv")
    _, judgements = read_judgements(tmp_path / "v.tsv")
    keys = [row.key for row in _rows(tmp_path)]
    assert judgements == dict(
        zip(keys, ["wrong", "right", "right", "unsure", "right"], strict=True)
    )


@pytest.mark.slow
def test_on_a_phone_nothing_juts_out(opened: Callable[..., Any]) -> None:
    assert opened(width=390).evaluate(WIDER) == 0
