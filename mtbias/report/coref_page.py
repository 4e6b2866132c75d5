"""The page of `mtbias coref eval` and `mtbias coref score --report`: what systems favour, drawn, all
numbers, and the sentences with what each system found.

The page is one HTML file that needs nothing else. No number is computed here. Everything that comes
from files is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from mtbias.coref.dataset import TextResult
from mtbias.coref.evaluation import Evaluation, NumberDifference
from mtbias.report import page
from mtbias.report.coref_tables import TITLES, all_numbers, labelled, notes
from mtbias.report.sentence_data import FIRST, MAX_BYTES, fitting, marked, script_data
from mtbias.report.tables import printable
from mtbias.stats.results import ALPHA
from mtbias.types import JsonDict, JsonObject, frozen
from mtbias.version import __version__


@frozen
class _Row:
    """A document with what each system found in it, None where the system does not have it."""

    dataset: str
    members: str
    """Whether the first system gets all documents of its group right or wrong alike."""
    first: TextResult
    results: tuple[TextResult | None, ...]
    """Of all systems, the first one's among them."""


def _groups(evaluations: Sequence[Evaluation]) -> list[list[_Row]]:
    """The documents of the first system by their groups, those first of which it gets some right
    and some wrong.
    """
    groups: list[list[_Row]] = []
    for dataset, of_first in evaluations[0].results.items():
        others = [
            {text.id: text for text in one.results[dataset].texts} if dataset in one.results else {}
            for one in evaluations[1:]
        ]
        members: dict[str, list[TextResult]] = {}
        for text in of_first.texts:
            members.setdefault(text.group or f" {text.id}", []).append(text)
        for group in members.values():
            right = {text.right for text in group}
            kind = "alone" if len(group) == 1 else _FLIP if len(right) > 1 else "all alike"
            groups.append(
                [
                    _Row(dataset, kind, text, (text, *(of.get(text.id) for of in others)))
                    for text in group
                ]
            )
    return sorted(groups, key=lambda group: group[0].members != _FLIP)


_FLIP = "some right, some wrong"
_OUTCOMES = ("right", "wrong")


def _sentences(evaluations: Sequence[Evaluation], rows: Sequence[_Row], total: int) -> JsonDict:
    """What the page shows of `rows`, of `total`, with its ``data`` for the script."""
    properties = {"data set": [row.dataset for row in rows], "group": [row.members for row in rows]}
    columns = {
        name: (values := sorted(set(of)), [values.index(one) for one in of])
        for name, of in properties.items()
    }

    def block(some: Sequence[_Row]) -> JsonDict:
        return {
            "id": [row.first.id for row in some],
            "text": [[list(marked(row.first.text, row.first.gold))] for row in some],
            "found": [[result.found if result else () for result in row.results] for row in some],
        }

    calls = [
        (
            "en",
            "ltr",
            one.name,
            [None if (of := row.results[at]) is None else int(not of.right) for row in rows],
        )
        for at, one in enumerate(evaluations)
    ]
    about = {
        "outcomes": _OUTCOMES,
        "calls": ["as in the gold cluster", "otherwise"],
        "about": list(columns),
    }
    data = {**about, **script_data(rows, columns, calls, block)}
    return {
        "shown": len(rows),
        "total": total,
        "first": rows[:FIRST],
        "columns": columns,
        "data": data,
    }


def render_coref_page(
    evaluations: Sequence[Evaluation],
    differences: Sequence[NumberDifference],
    max_bytes: int = MAX_BYTES,
) -> str:
    """The page, as text to be written in UTF-8: of the first system, with those that it was
    compared with.
    """
    groups = _groups(evaluations)
    total = sum(map(len, groups))

    def page_of(shown: Sequence[list[_Row]]) -> str:
        return _page(
            evaluations, differences, _sentences(evaluations, [*chain.from_iterable(shown)], total)
        )

    return fitting(page_of, groups, max_bytes)


def _page(
    evaluations: Sequence[Evaluation],
    differences: Sequence[NumberDifference],
    sentences: JsonObject,
) -> str:
    first = evaluations[0]
    tables = {dataset: all_numbers(evaluations, dataset) for dataset in first.results}
    content: dict[str, tuple[str, Any]] = {
        "headline": (
            "In short",
            {name: [row for row in rows if row[0].headline] for name, rows in tables.items()},
        ),
        "differences": ("Differences", differences),
        **{f"data-{dataset}": (TITLES[dataset], rows) for dataset, rows in tables.items()},
        "sentences": ("Sentences", sentences if sentences["shown"] else None),
        "how": ("How it was made", True),
    }
    return page.render_page(
        "coref.html",
        data=sentences["data"] if sentences["shown"] else None,
        pieces=marked,
        title=f"Gender bias in coreference: {', '.join(printable(one.name) for one in evaluations)}",
        intro=f"{', '.join(TITLES[dataset] for dataset in tables)} · mtbias {__version__}",
        sections={key: part for key, part in content.items() if part[1]},
        evaluations=evaluations,
        several=len(evaluations) > 1,
        labelled=labelled,
        notes=list(notes(evaluations)),
        alpha=ALPHA,
    )
