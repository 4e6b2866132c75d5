"""The page on which names are marked: in headless Chromium what selecting, its keys and its buttons
do, and that its file is read back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from mtbias.cli import main
from mtbias.coref.gap_data import GapInstance, Labels
from mtbias.mining.marking_page import render_marking_page
from mtbias.mining.quadruple_check import Marks, read_marks
from mtbias.types import Span
from scripts.look_at_report import WIDER
from tests.mining.test_quadruple_check import write_quadruples
from tests.printing import check_prints

TEXT = "😀 Ann Lee told Bea's aunt that she won </script><script>alert(1)</script>."
INSTANCE = GapInstance(
    "7-control", TEXT, Span(31, 34), (Span(2, 9), Span(15, 18)), Labels(a=True, b=False)
)
OTHER = GapInstance("8", "Cy saw Al. He ran.", Span(11, 13), (Span(0, 2), Span(7, 9)), Labels(1, 0))
SELECT = """([first, last]) => {
  const at = (offset) => {
    let left = offset;
    for (const piece of document.getElementById("sentence").childNodes) {
      if (left <= piece.textContent.length) return [piece.firstChild, left];
      left -= piece.textContent.length;
    }
  };
  getSelection().setBaseAndExtent(...at(first), ...at(last));
}"""
"""Selects units of UTF-16 of the text."""


def _page(folder: Path) -> str:
    return render_marking_page([INSTANCE, OTHER], folder / "c gap.tsv", "abc")


def test_neither_labels_nor_candidates_are_on_the_page(tmp_path: Path) -> None:
    page = _page(tmp_path)
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    assert [sorted(text) for text in data["texts"]] == [["id", "pronoun", "text"]] * 2
    assert (data["store"], data["file"]) == ("mtbias-marks-abc", "c gap.marks.tsv")
    assert page.count("<script") == 2
    assert "default-src 'none'; style-src 'sha256-" in unescape(page)
    pasted = "mtbias corpora check --data 'c gap.tsv' --judgements 'c gap.marks.tsv'</code>"
    assert pasted in unescape(page)


def test_the_page_is_printed(tmp_path: Path) -> None:
    check_prints(_page(tmp_path), tmp_path)


def test_the_command_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = write_quadruples(tmp_path / "q.tsv", {"1": "he"})
    out = tmp_path / "marks.html"
    words = ["corpora", "check", "--data", str(data), "--out", str(out), "--rows", "3"]
    assert main(words) == 0
    assert "texts 4 drawn 3" in " ".join(capsys.readouterr().out.split())
    assert "Text" in out.read_text(encoding="utf-8")


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """The page of two texts; fails where it asks for anything else, or writes an error."""
    troubles: list[str] = []
    path = tmp_path / "marks.html"
    path.write_text(_page(tmp_path), encoding="utf-8")
    page = browser.new_context(viewport={"width": 390, "height": 900}).new_page()
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda request: troubles.append(request.url))
    page.goto(path.as_uri())
    yield page
    assert [one for one in troubles if not one.startswith((path.as_uri(), "data:,", "blob:"))] == []


def test_names_are_marked_and_downloaded(opened: Any, tmp_path: Path) -> None:
    """The face has two units in UTF-16 and is one character."""
    assert opened.text_content("#status") == "Text 1 of 2; 0 read."
    assert opened.text_content("#sentence") == TEXT
    assert opened.text_content("#question") == "Whom does “she” mean? Nothing is marked yet."
    opened.keyboard.press("Enter")
    assert opened.text_content("#status") == "Text 1 of 2; 0 read."
    opened.evaluate(SELECT, [32, 34])  # a part of the pronoun
    opened.keyboard.press("m")
    assert opened.text_content("#question").endswith("Nothing is marked yet.")
    opened.evaluate(SELECT, [2, 9])  # the blank before "Ann Lee", and not its last letter
    opened.click("#mark")
    assert opened.text_content("#question") == "Whom does “she” mean? Marked: Ann Lee."
    opened.evaluate(SELECT, [16, 18])  # "Be"
    opened.keyboard.press("m")
    assert opened.text_content("#question") == "Whom does “she” mean? Marked: Ann Lee, Bea."
    assert opened.locator("mark.head").all_text_contents() == ["Ann Lee", "Bea"]
    opened.check("[data-problem='real person']")
    opened.check("[data-problem=contradiction]")
    opened.keyboard.press("Enter")
    opened.locator("h1").click()
    opened.keyboard.press("Enter")
    assert opened.text_content("#status") == "Text 2 of 2; 1 read."
    opened.reload()
    assert opened.text_content("#status") == "Text 2 of 2; 1 read."
    opened.keyboard.press("n")
    assert "All are read: download the marks." in opened.text_content("#status")
    with opened.expect_download() as found:
        opened.click("#download")
    assert found.value.suggested_filename == "c gap.marks.tsv"
    found.value.save_as(tmp_path / "m.tsv")
    assert read_marks(tmp_path / "m.tsv")[1] == {
        "7-control": Marks((Span(2, 9), Span(15, 18)), contradicts=True, real=True),
        "8": Marks((), contradicts=False, real=False),
    }
    assert TEXT[2:9] == "Ann Lee"


def test_marks_are_cleared_and_gone_back_to(opened: Any) -> None:
    opened.keyboard.press("n")
    assert opened.get_attribute("#none", "aria-pressed") == "true"
    opened.click("#next")
    opened.keyboard.press("b")
    assert opened.text_content("#status") == "Text 1 of 2; 1 read."
    opened.click("#clear")
    assert opened.text_content("#status") == "Text 1 of 2; 0 read."
    opened.uncheck("#keys")
    opened.keyboard.press("n")
    assert opened.text_content("#status") == "Text 1 of 2; 0 read."
    assert opened.evaluate(WIDER) == 0
