"""Every kind of page is printed with all that is folded away open, and on a phone nothing is cut
off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mtbias.evaluation.validation import together
from mtbias.report.publishing import read_results
from mtbias.report.results_page import make_blocks, render_results
from mtbias.report.run_page import page_of_runs
from mtbias.report.validation_page import render_page
from mtbias.runs.finished_run import read_run
from mtbias.scoring.comparison import compare_runs
from tests.printing import PHONE, check_prints, clipped

from .run_maker import make_records, write_run
from .test_validation_page import GERMAN, HEBREW, _corrected, _language

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results" / "results.jsonl"
SCROLLING = """
() => [...document.querySelectorAll('.scroll')]
  .filter((table) => !table.closest('details:not([open])') && table.scrollWidth > table.clientWidth + 1)
  .map((table) => `${table.ariaLabel}: ${table.scrollWidth} > ${table.clientWidth}`)
"""


def _one(demo_run: Path, _: Path) -> str:
    return page_of_runs([read_run(demo_run)])


def _several(_: Path, folder: Path) -> str:
    """Six systems in two languages, compared; a third of their sentences is wrong, of women more."""
    runs = []
    for lang in ("de", "he"):
        for n, name in enumerate("abcdef"):
            right = [row % 2 == 0 or row % (n + 2) == 1 for row in range(60)]
            runs.append(
                read_run(write_run(folder / f"{name}-{lang}", name, make_records(right), lang))
            )
    return page_of_runs(runs, compare_runs(runs, n_resamples=100))


def _results(*_: Path) -> str:
    return render_results(make_blocks(read_results(RESULTS)))


def _validation(*_: Path) -> str:
    languages = [_language(GERMAN), _language(HEBREW, "rtl")]
    return render_page(languages, together([GERMAN, HEBREW]).to_json(), [_corrected()])


PAGES: dict[str, Callable[..., str]] = {
    "one run": _one,
    "several systems": _several,
    "published results": _results,
    "validation": _validation,
}


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_is_printed_with_all_folds_open(kind: str, demo_run: Path, tmp_path: Path) -> None:
    check_prints(PAGES[kind](demo_run, tmp_path), tmp_path)


@pytest.mark.parametrize("kind", PAGES)
def test_on_a_phone_nothing_is_cut_off(
    browser: Any, kind: str, demo_run: Path, tmp_path: Path
) -> None:
    assert clipped(browser, PAGES[kind](demo_run, tmp_path), tmp_path) == []


@pytest.mark.parametrize("kind", ["one run", "several systems"])
def test_on_a_phone_no_table_that_is_not_folded_away_has_to_be_scrolled(
    browser: Any, kind: str, demo_run: Path, tmp_path: Path
) -> None:
    path = tmp_path / "page.html"
    path.write_text(PAGES[kind](demo_run, tmp_path), encoding="utf-8")
    page = browser.new_page(viewport={"width": PHONE, "height": 844})
    page.goto(path.as_uri())
    assert page.evaluate(SCROLLING) == []


def test_in_print_a_caption_is_plain_text(browser: Any, demo_run: Path, tmp_path: Path) -> None:
    """As a block that is a share of its table wide, and may break anywhere, it kept Chromium
    laying out for minutes."""
    path = tmp_path / "page.html"
    path.write_text(_one(demo_run, tmp_path), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.emulate_media(media="print")
    style = "() => { const s = getComputedStyle(document.querySelector('caption span')); return [s.display, s.maxWidth] }"
    assert page.evaluate(style) == ["inline", "none"]
