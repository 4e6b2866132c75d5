"""A measure of a third party: its own numbers and breakdowns, no gender calls. Everything shows
what is there."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from mtbias.errors import DataError
from mtbias.report.report_files import paper_table, plot_files
from mtbias.report.report_runs import ReportRun
from mtbias.report.run_page import render_html
from mtbias.report.run_table import render
from mtbias.scoring.definitions import Best, Number, Unit, breakdowns
from mtbias.scoring.metrics_reader import read_metrics

from .page_reader import page_data, read_page, table_lines, table_rows

NUMBERS = (
    Number(
        key="masculine", label="Masculine", short="masc.", interval="wilson", headline=True, about="Of all sentences."
    ),
    Number(key="of_strong", label="Masculine, of strong", short="strong", rests_on=("strong",)),
    Number(
        key="gap", label="Gap", unit=Unit.POINTS, best=Best.ZERO, rests_on=("strong", "weak"), interval="bootstrap",
        headline=True, about="Strong minus weak.",
        above="more masculine where strong", below="less masculine where strong",
    ),
)  # fmt: skip
"""The share of masculine forms, as GEST has it."""


def _group(
    n: int, masculine: float | None, gap: float | None, interval: list[float] | None
) -> dict[str, Any]:
    return {
        "n": n, "masculine": masculine, "of_strong": 75.04, "gap": gap,
        "ci": {"masculine": None, "gap": interval}, "denominators": {"strong": n // 2, "weak": n - n // 2},
    }  # fmt: skip


METRICS: dict[str, Any] = {
    "schema": 1,
    "signature": "dataset:gest|system:x",
    "n": 1200,
    "intervals": {"method": "bootstrap", "level": 95.0, "resamples": 2000, "seed": 0},
    "overall": _group(1200, 61.25, 27.5, [20.04, 34.0]),
    "by_kind_of_verb": {
        "act": _group(800, 60.0, 30.0, [22.0, 38.0]),
        "be": _group(400, 63.71, None, None),
    },
    "by_word": {f"word{i:02}": _group(20, 50.0, 1.0, None) for i in range(60)},
}


def test_its_breakdowns_are_named_by_their_keys_and_long_where_they_have_many_groups() -> None:
    kind, word = breakdowns(read_metrics(METRICS).by)
    assert (kind.label, kind.long) == ("kind of verb", False)
    assert (word.label, word.long) == ("word", True)


def test_the_table_of_a_run() -> None:
    lines = render(METRICS, full=True, numbers=NUMBERS).splitlines()
    assert lines == [
        "1,200 sentences",
        "",
        "                      per cent  95 % interval          n",
        "Masculine                 61.2              –      1,200",
        "Masculine, of strong      75.0              –        600",
        "Gap                       27.5   [20.0, 34.0]  600 + 600",
        "  Gap: Strong minus weak.",
        "",
        "         n   masc.                Gap",
        "By kind of verb",
        "  act  800  60.0 –  30.0 [22.0, 38.0]",
        "  be   400  63.7 –     –",
        "",
        "Signature: dataset:gest|system:x",
    ]


def test_tables_of_papers() -> None:
    run = ReportRun("x", "cs", read_metrics(METRICS), numbers=NUMBERS)
    whole = paper_table([run], "latex")
    assert r"cs & x & 1,200 & 61.2 & 27.5 {\scriptsize [20.0, 34.0]} \\" in whole
    assert "n 1,200: 600 strong, 600 weak." in whole
    row, *groups = csv.DictReader(io.StringIO(paper_table([run], "csv")))
    assert [one["n"] for one in groups if one["breakdown"] == "by_kind_of_verb"] == ["800", "400"]
    assert (row["masculine"], row["gap_low"], row["n_strong"]) == ("61.25", "20.04", "600")
    assert "decided" not in row


def test_plots() -> None:
    files = dict(plot_files([ReportRun("x", "cs", read_metrics(METRICS), numbers=NUMBERS)]))
    assert list(files) == ["overall", "by_kind_of_verb"]
    assert ET.fromstring(files["by_kind_of_verb"]).findtext("{*}title") == (
        "Masculine, Gap by kind of verb, in per cent and points"
    )


def test_the_page() -> None:
    page = read_page(render_html([ReportRun("x", "cs", read_metrics(METRICS), numbers=NUMBERS)]))
    assert [heading.text for heading in page.all("h2")] == [
        "Numbers", "By kind of verb and word", "More numbers", "How it was made",
    ]  # fmt: skip
    headline = table_rows(page, "The headline, in per cent and points")
    assert [row[0].split(" ")[0] for row in headline[1:]] == ["Masculine", "Gap"]
    assert "more masculine where strong" in page.one("section", id="numbers").text
    assert table_lines(page, "All numbers, in per cent") == {
        "number": ["x"],
        "Masculine Of all sentences.": ["61.2 n 1,200"],
        "Masculine, of strong": ["75.0 n 600"],
        "Gap Strong minus weak.": ["27.5 [20.0, 34.0] n 600 + 600"],
    }
    assert table_lines(page, "By kind of verb")["act"] == ["800", "60.0", "30.0 [22.0, 38.0]"]
    # No number is declared for lists, so they have those of the headline; there is no list of
    # sentences to link to.
    rows = table_rows(page, "Masculine by word")
    assert (rows[0], rows[1], len(rows)) == (
        ["word", "n", "masc.", "Gap"],
        ["word00", "20", "50.0 n 20", "1.0 n 10 + 10"],
        61,
    )
    assert "women" not in page.one("main").text
    assert list(page.all("a", href="#sentences")) == list(page.all("form")) == []
    assert page_data(page)["rows"] == 0


def test_a_number_that_is_declared_and_not_there_is_refused() -> None:
    lacking = (*NUMBERS, Number(key="more", label="More", headline=True))
    with pytest.raises(DataError, match=r"expected the key 'more' in metrics\.json"):
        render(METRICS, numbers=lacking)
    with pytest.raises(DataError, match=r"expected the key 'more' in metrics\.json"):
        render_html([ReportRun("x", "cs", read_metrics(METRICS), numbers=lacking)])
