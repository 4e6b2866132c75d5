"""The page of `mtbias coref eval` and `mtbias coref score --report`: whom systems favour, drawn,
all numbers, and the sentences with what each system found.

The page is one HTML file that needs nothing else. No number is computed here. Everything that comes
from files is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from markupsafe import Markup

from mtbias.coref.coref_finding import CONTRASTS, Contrast, gap_of, parts
from mtbias.coref.dataset import TextResult
from mtbias.coref.evaluation import Evaluation, NumberDifference
from mtbias.report import page
from mtbias.report.coref_tables import (
    SEVERAL,
    TITLES,
    all_numbers,
    finding_texts,
    labelled,
    notes,
    system_table,
)
from mtbias.report.plots import MOST, PERCENT_SCALE, Panel, Scale, svg_panel
from mtbias.report.sentence_data import FIRST, MAX_BYTES, Columns, fitting, marked, script_data
from mtbias.report.tables import printable
from mtbias.stats.results import ALPHA, LEVEL, Estimate, number_text
from mtbias.types import JsonDict, Span, frozen
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

    @property
    def found(self) -> list[tuple[Span, ...]]:
        """What each system found."""
        return [result.found if result else () for result in self.results]

    def outcome(self, at: int) -> int | None:
        """The place in `_OUTCOMES` of what the system at a place got; None without an answer."""
        result = self.results[at]
        return None if result is None else int(not result.right)


def _groups(evaluations: Sequence[Evaluation]) -> list[list[_Row]]:
    """The documents of the first system by group; first the groups in which it gets some documents
    right and some wrong.
    """
    groups: list[list[_Row]] = []
    for dataset, of_first in evaluations[0].results.items():
        others = [_texts(one, dataset) for one in evaluations[1:]]
        members: dict[str, list[TextResult]] = {}
        for text in of_first.texts:
            members.setdefault(text.group or f" {text.id}", []).append(text)
        for group in members.values():
            right = {text.right for text in group}
            kind = _FLIP if len(right) > 1 else "all alike"
            kind = kind if len(group) > 1 else "alone"
            rows = []
            for text in group:
                of_others = [of.get(text.id) for of in others]
                rows.append(_Row(dataset, kind, text, (text, *of_others)))
            groups.append(rows)
    return sorted(groups, key=lambda group: group[0].members != _FLIP)


def _texts(evaluation: Evaluation, dataset: str) -> dict[str, TextResult]:
    """The documents of a data set by id; none where the system does not have it."""
    result = evaluation.results.get(dataset)
    return {text.id: text for text in result.texts} if result else {}


_FLIP = "some right, some wrong"
_OUTCOMES = ("right", "wrong")


def _column(values: Sequence[str]) -> tuple[list[str], list[int]]:
    """The different values, sorted, and the place of each row's value among them."""
    known = sorted(set(values))
    return known, [known.index(one) for one in values]


@frozen
class _Sentences:
    """What the page shows of its sentences."""

    shown: int
    total: int
    first: Sequence[_Row]
    """Those that can be read without the script."""
    columns: Columns
    data: JsonDict
    """For the script."""


def _sentences(evaluations: Sequence[Evaluation], rows: Sequence[_Row], total: int) -> _Sentences:
    """What the page shows of `rows`, of `total`."""
    properties = {"data set": [row.dataset for row in rows], "group": [row.members for row in rows]}
    columns = {name: _column(of) for name, of in properties.items()}

    def block(some: Sequence[_Row]) -> JsonDict:
        return {
            "id": [row.first.id for row in some],
            "text": [[list(marked(row.first.text, row.first.gold))] for row in some],
            "found": [row.found for row in some],
        }

    calls = []
    for at, one in enumerate(evaluations):
        calls.append(("en", "ltr", one.name, [row.outcome(at) for row in rows]))
    about = {
        "outcomes": _OUTCOMES,
        "calls": ["as in the gold cluster", "otherwise"],
        "about": list(columns),
    }
    data = {**about, **script_data(rows, columns, calls, block)}
    return _Sentences(len(rows), total, rows[:FIRST], columns, data)


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
        rows = [*chain.from_iterable(shown)]
        return _page(
            evaluations, differences, _sentences(evaluations, rows, total), _example(groups)
        )

    return fitting(page_of, groups, max_bytes)


def _example(groups: Sequence[Sequence[_Row]]) -> Sequence[_Row]:
    """The shortest group that the first system gets half right: a document of either kind."""
    flips = [group for group in groups if group[0].members == _FLIP]
    if not flips:
        return ()
    shortest = min(flips, key=lambda group: len(group[0].first.text))
    of_outcome = {row.first.right: row for row in reversed(shortest)}
    return [of_outcome[True], of_outcome[False]]


def _page(
    evaluations: Sequence[Evaluation],
    differences: Sequence[NumberDifference],
    sentences: _Sentences,
    example: Sequence[_Row],
) -> str:
    first = evaluations[0]
    tables = {dataset: all_numbers(evaluations, dataset) for dataset in first.results}
    several = len(evaluations) >= SEVERAL
    headline = {}
    for name, rows in tables.items():
        headline[name] = [row for row in rows if row[0].headline]
    finding = finding_texts(evaluations, differences)
    drawn = [*chain.from_iterable(_drawings(evaluations, dataset) for dataset in tables)]
    content: dict[str, tuple[str, Any]] = {
        "finding": ("Finding", finding),
        "drawn": ("Both sides", drawn),
        "numbers": ("Numbers", headline),
        "differences": ("Differences", differences),
        "sentences": ("Sentences", sentences if sentences.shown else None),
        "more": ("More numbers", tables),
        "how": ("How it was made", True),
    }
    names = [printable(one.name) for one in evaluations]
    whom = f"{len(names)} systems" if several else " and ".join(names)
    return page.render_page(
        "coref.html",
        data=sentences.data if sentences.shown else None,
        pieces=marked,
        title=f"Gender bias in coreference: {whom}",
        intro=f"{', '.join(TITLES[dataset] for dataset in tables)} · mtbias {__version__}",
        sections={key: part for key, part in content.items() if part[1]},
        evaluations=evaluations,
        several=len(evaluations) > 1,
        by_system=[system_table(evaluations, dataset) for dataset in tables] if several else [],
        example=example,
        occupations=[*_occupations(evaluations)],
        labelled=labelled,
        titles=TITLES,
        notes=notes(evaluations, full=True),
        alpha=ALPHA,
    )


def _drawings(evaluations: Sequence[Evaluation], dataset: str) -> Iterator[list[Markup]]:
    """What a data set compares, drawn: two sides and, unless it is a ratio, their difference."""
    level = f"{100 * LEVEL:g} % interval" if evaluations[0].settings.resamples else ""
    for place, contrast in enumerate(CONTRASTS[dataset]):
        first, second, gaps = _sides(evaluations, dataset, contrast)
        if not gaps:
            continue
        shorts = contrast.first.short, contrast.second.short
        sign = f"{shorts[1]} / {shorts[0]}" if contrast.is_ratio else f"{shorts[0]} − {shorts[1]}"
        decimals = 2 if contrast.is_ratio else 1
        beside = {label: number_text(one.value, decimals) for label, one in gaps.items()}
        title = f"{TITLES[dataset]}: {contrast.number}, in per cent"
        series = [(shorts[0], first), (shorts[1], second)]
        values = chain.from_iterable(map(_ends, [*first.values(), *second.values()]))
        drawn = [
            svg_panel(
                Panel(title, level, [*gaps], series), ident=f"{dataset}-{place}",
                axis=Scale.near([*values]), beside=beside, beside_title=sign, width=260,
            )
        ]  # fmt: skip
        if not contrast.is_ratio:
            panel = Panel(f"{contrast.number}: {sign}", level, [*gaps], [(sign, gaps)])
            drawn.append(svg_panel(panel, ident=f"{dataset}-{place}-gap", width=260))
        yield drawn


_Points = dict[str, Estimate]
"""By the label of a line."""


def _sides(
    evaluations: Sequence[Evaluation], dataset: str, contrast: Contrast
) -> tuple[_Points, _Points, _Points]:
    """Both sides and their difference, of each system and part."""
    first: _Points = {}
    second: _Points = {}
    gaps: _Points = {}
    for one in evaluations:
        if dataset not in one.results:
            continue
        scores = one.results[dataset].scores
        for part in parts(scores, contrast):
            label = _line_label(one.name, part, len(evaluations))
            both = contrast.estimates(scores, part)
            if both is not None and both[0].value is not None and both[1].value is not None:
                first[label], second[label] = both
                gaps[label] = scores[part, contrast.difference]
    return first, second, gaps


def _ends(one: Estimate) -> Sequence[float]:
    return [end for end in (one.value, *(one.interval or ())) if end is not None]


def _line_label(name: str, part: str, systems: int) -> str:
    """The system, if there are several, and the part of the data, if it has parts."""
    labels = [label for label, is_shown in ((name, systems > 1), (part, bool(part))) if is_shown]
    return ", ".join(labels) or name


def _occupations(evaluations: Sequence[Evaluation]) -> Iterator[tuple[str, Markup]]:
    """The occupations of each system with the widest gaps between the two sides, drawn."""
    for at, one in enumerate(evaluations):
        for dataset, result in one.results.items():
            if not result.scores.sides or not CONTRASTS[dataset]:
                continue
            contrast = CONTRASTS[dataset][0]
            widest = sorted(
                result.scores.sides, key=lambda name: (-gap_of(result.scores.sides[name]), name)
            )[:MOST]
            both = {name: result.scores.sides[name] for name in widest}
            first = {name: of[0].estimate for name, of in both.items()}
            second = {name: of[1].estimate for name, of in both.items()}
            series = [(contrast.first.short, first), (contrast.second.short, second)]
            title = f"{TITLES[dataset]}, right by occupation, in per cent"
            beside = {name: f"{gap_of(of):.0f}" for name, of in both.items()}
            panel = Panel(title, "", widest, series)
            drawn = svg_panel(
                panel, ident=f"occupations-{at}-{dataset}", axis=PERCENT_SCALE, beside=beside,
                beside_title="gap", width=260,
            )  # fmt: skip
            yield one.name, drawn
