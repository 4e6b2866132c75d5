"""The tables of coreference and the page of `mtbias coref eval`: numbers, differences between
systems, counts.

The page is one HTML file that needs nothing else. No number is computed here. Everything that comes
from files is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from mtbias.coref.dataset import NamedNumber, TextResult
from mtbias.coref.evaluation import Evaluation, NumberDifference
from mtbias.report import page
from mtbias.report.sentence_data import FIRST, MAX_BYTES, fitting, marked, script_data
from mtbias.report.tables import PrintedTable, as_csv, cut, draw, number, printable
from mtbias.stats.results import ALPHA, UNDEFINED, estimate_text, p_text
from mtbias.types import JsonDict, JsonObject, frozen
from mtbias.version import __version__


def render_evaluation(
    evaluations: Sequence[Evaluation],
    differences: Sequence[NumberDifference],
    form: str,
    *,
    every: bool = False,
    counts: bool = False,
) -> str:
    """The tables in one of the forms ``text``, ``markdown``, ``latex``, ``csv``; ends in a newline.

    `evaluations` are the system's, then those it was compared with; `differences` are the first's
    from the others. CSV has every number, the others those of the headline, unless `every`;
    `counts` adds what was counted.
    """
    if form == "csv":
        return as_csv(_records(evaluations, differences))
    first, *others = evaluations
    shown = [one for one in differences if every or one.number.headline]
    tables = [
        _numbers(evaluations, every),
        *(_differences(first.name, other.name, shown) for other in others),
    ]
    tables += [table for one in evaluations for table in _counts(one)] if counts else []
    signatures = [
        (", ".join([one.name] * bool(others) + [name] * (len(one.results) > 1)), result.signature)
        for one in evaluations
        for name, result in one.results.items()
    ]
    return draw(tables, form, signatures)


_P_DECIMALS = 4
"""As many as 10,000 resamples can tell apart."""


def labelled(one: NamedNumber) -> str:
    """The number's label with the part of the data set that it is of."""
    return f"{one.part}: {one.label}" if one.part else one.label


def all_numbers(
    evaluations: Sequence[Evaluation], dataset: str
) -> list[tuple[NamedNumber, list[NamedNumber | None]]]:
    """Each number of a data set, as the first system that has it names it, with those of all
    systems.
    """
    of_systems = [
        e.results[dataset].scores.by_key if dataset in e.results else {} for e in evaluations
    ]
    named: dict[tuple[str, str], NamedNumber] = {}
    for numbers in of_systems:
        named = numbers | named
    return [(one, [numbers.get(key) for numbers in of_systems]) for key, one in named.items()]


def _value(one: NamedNumber | None) -> str:
    """A number with its interval; a dash where there is none."""
    return (
        UNDEFINED
        if one is None
        else estimate_text(one.estimate.value, one.estimate.interval, one.decimals)
    )


def notes(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    """What is to be said of the data sets, each note with its data set."""
    for one in evaluations:
        for name, result in one.results.items():
            of = f"{one.name}, {name}" if len(evaluations) > 1 else name
            yield from (f"{of}: {note}" for note in result.scores.notes)


def _numbers(evaluations: Sequence[Evaluation], every: bool) -> PrintedTable:
    rows: list[list[str]] = []
    tested = every and any(
        one.estimate.p is not None
        for e in evaluations
        for result in e.results.values()
        for one in result.scores.numbers
    )
    for dataset in evaluations[0].results:
        for one, of_systems in all_numbers(evaluations, dataset):
            if one.headline or every:
                p = map(_p, of_systems) if tested else []
                rows.append(
                    [dataset, labelled(one), *map(_value, of_systems), *p, _count(one.estimate.n)]
                )
    return PrintedTable(
        head=[
            "data set",
            "number",
            *(cut(one.name) for one in evaluations),
            *(["p"] * len(evaluations) * tested),
            "n",
        ],
        rows=rows,
        title="Coreference: per cent and points, but for correlations and biases (F/M)"
        + (" [95 % interval]" if evaluations[0].settings.resamples else ""),
        notes=list(notes(evaluations)),
        left=2,
        parts=[row[0] for row in rows],
    )


def _p(one: NamedNumber | None) -> str:
    """The two-sided p of a number, then the one-sided one of its paper; empty where it is not
    tested.
    """
    if one is None or one.estimate.p is None:
        return ""
    two_sided, one_sided = one.estimate.p, one.estimate.p_one_sided
    text = p_text(two_sided, _P_DECIMALS)
    return text if one_sided is None else f"{text} (one-sided {p_text(one_sided, _P_DECIMALS)})"


def _counts(evaluation: Evaluation) -> Iterator[PrintedTable]:
    for dataset, result in evaluation.results.items():
        counts = result.scores.counts
        names = list(dict.fromkeys(name for of in counts.values() for name in of))
        rows = [[row, *(_count(of.get(name)) for name in names)] for row, of in counts.items()]
        yield PrintedTable(["", *names], rows, f"{evaluation.name}, {dataset}: counted")


def _count(value: float | None) -> str:
    return f"{value:,}" if isinstance(value, int) else number(value)


def _differences(first: str, other: str, differences: Sequence[NumberDifference]) -> PrintedTable:
    rows: list[list[str]] = []
    for one in differences:
        if one.second == other:
            d = one.difference
            text = (
                estimate_text(d.difference, d.interval, one.number.decimals) + "*" * d.significant
            )
            pvalues = (p_text(p, _P_DECIMALS) for p in (d.p, d.p_holm))
            rows.append([one.dataset, labelled(one.number), text, *pvalues])
    return PrintedTable(
        head=["data set", "number", "difference", "p", "p, Holm"],
        rows=rows,
        title=f"{first} minus {other}",
        notes=[
            f"*: significant, p below {ALPHA:g} corrected by Holm over all differences of the data set, here or not"
        ],
        left=2,
        parts=[row[0] for row in rows],
    )


def _records(
    evaluations: Sequence[Evaluation], differences: Sequence[NumberDifference]
) -> Iterator[JsonObject]:
    """A line of CSV for each number, and for each difference: of a system, `minus` another."""
    for evaluation in evaluations:
        for dataset, result in evaluation.results.items():
            of = {"system": evaluation.name, "minus": None, "dataset": dataset}
            made = {**vars(evaluation.settings), "signature": result.signature}
            yield from ({**of, **_ends(one.to_json()), **made} for one in result.scores.numbers)
    for one in differences:
        d = one.difference
        found = {"value": d.difference, "interval": d.interval, "p": d.p, "p_holm": d.p_holm}
        yield {
            "system": one.first, "minus": one.second, "dataset": one.dataset, **one.number.named(), **_ends(found),
        }  # fmt: skip


def _ends(values: JsonDict) -> JsonDict:
    lower, upper = values.pop("interval") or (None, None)
    return {**values, "lower": lower, "upper": upper}


_TITLES = {
    "winobias": "WinoBias",
    "winogender": "Winogender",
    "gap": "GAP",
    "counter-gap": "Counter-GAP",
    "bug": "BUG",
    "sowinobias": "SoWinoBias",
    "conll": "CoNLL-2012",
}


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
        **{f"data-{dataset}": (_TITLES[dataset], rows) for dataset, rows in tables.items()},
        "sentences": ("Sentences", sentences if sentences["shown"] else None),
        "how": ("How it was made", True),
    }
    return page.render_page(
        "coref.html",
        data=sentences["data"] if sentences["shown"] else None,
        pieces=marked,
        title=f"Gender bias in coreference: {', '.join(printable(one.name) for one in evaluations)}",
        intro=f"{', '.join(_TITLES[dataset] for dataset in tables)} · mtbias {__version__}",
        sections={key: part for key, part in content.items() if part[1]},
        evaluations=evaluations,
        several=len(evaluations) > 1,
        labelled=labelled,
        notes=list(notes(evaluations)),
        alpha=ALPHA,
    )
