"""The page of `mtbias coref eval`: every number of every data set with what it rests on, and systems side by side.

One HTML file that needs nothing else and has no script. No number is computed here. Everything that comes from files is
escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mtbias.coref.evaluation import Evaluation, NumberDifference
from mtbias.report import page
from mtbias.report.coref_tables import all_numbers, labelled, notes
from mtbias.report.tables import printable
from mtbias.stats.results import ALPHA


def render_coref_page(evaluations: Sequence[Evaluation], differences: Sequence[NumberDifference]) -> str:
    """The page, as text to be written in UTF-8: of the first system, with those that it was compared with."""
    first = evaluations[0]
    tables = {dataset: all_numbers(evaluations, dataset) for dataset in first.results}
    content: dict[str, tuple[str, Any]] = {
        "headline": ("In short", {name: [row for row in rows if row[0].headline] for name, rows in tables.items()}),
        "differences": ("Differences", differences),
        **{f"data-{dataset}": (_TITLES[dataset], rows) for dataset, rows in tables.items()},
        "how": ("How it was made", True),
    }
    return page.render_page(
        "coref.html",
        title=f"Gender bias in coreference: {', '.join(printable(one.name) for one in evaluations)}",
        sections={key: part for key, part in content.items() if part[1]},
        evaluations=evaluations,
        several=len(evaluations) > 1,
        labelled=labelled,
        notes=list(notes(evaluations)),
        alpha=ALPHA,
    )


_TITLES = {
    "winobias": "WinoBias",
    "winogender": "Winogender",
    "gap": "GAP",
    "counter-gap": "Counter-GAP",
    "bug": "BUG",
    "sowinobias": "SoWinoBias",
}
