"""The report of runs: one HTML file that needs nothing else, neither network nor server.

No number is computed here: all stand in `metrics.json`. Everything that comes from files is escaped, a content security
policy forbids the page to load or run anything but its own style and script (`mtbias.report.page`), and sentences reach
the page as data (`mtbias.report.sentence_data`) that the script writes as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from mtbias.errors import DataError
from mtbias.metrics.definitions import CONSISTENCY, GENDER, Breakdown, Number, breakdowns
from mtbias.metrics.women_share import WomenRelation, WomenShares
from mtbias.report.page import render_page
from mtbias.report.plots import panels, scale, svg_intervals
from mtbias.report.report_runs import ReportRun, Sentence, join_sentences
from mtbias.report.run_table import SCHEMA, filled, noticed, whole_metrics
from mtbias.report.scatter import WOMEN_MEASURES, correlation_text, svg_women, women_scale
from mtbias.report.sentence_data import CALLS, GENDERS, Columns, columns, data, entity_spans
from mtbias.types import Reason

__all__ = ["MAX_BYTES", "ReportRun", "render_html"]

MAX_BYTES = 15 * 1024 * 1024
"""Above this, the page holds the text of fewer sentences and says so."""

_NAMED = 3
"""Up to so many runs are named in the title."""
_WHY = {
    Reason.UNTRANSLATED.value: "there is no translation",
    Reason.UNALIGNED.value: "no word of the translation was found that renders the entity",
    Reason.NO_MORPHOLOGY.value: "the phrase shows no gender",
    Reason.AMBIGUOUS.value: "the evidence contradicts itself",
}


def render_html(
    runs: Sequence[ReportRun],
    *,
    women: Sequence[WomenRelation] | None = None,
    max_bytes: int = MAX_BYTES,
    numbers: Sequence[Number] = GENDER,
) -> str:
    """The page, as text to be written in UTF-8.

    The sentences of all runs stand in one list: those with the same id, source, entity, gold, stereotype, domain and
    number of pronouns are one. Where the page would become larger than `max_bytes`, it holds as many sentences
    as fit, spread evenly over the corpus, and says so; the numbers rest on all. Sections whose numbers `metrics.json`
    does not have, and the list where there are no calls, are not there.

    Args:
        runs: at least one, each under its own name.
        women: the entities of each run against their shares of women, where those are known.
        max_bytes: size of the page.
        numbers: what the measure of the runs reports.

    Raises:
        ValueError: there are no runs, or not one relation for each.
        DataError: two runs have one name, a `metrics.json` is not of schema 1 or lacks a key, or it was not computed
            from the calls beside it.
    """
    _check(runs)
    if women is not None and len(women) != len(runs):
        raise ValueError(f"expected shares of women for {len(runs)} runs, got {len(women)}")
    sentences = join_sentences(runs)
    shown, count = sentences, len(sentences)
    while True:
        with whole_metrics():
            page = _page(runs, women, shown, len(sentences), numbers)
        size = len(page.encode())
        if size <= max_bytes or not shown:
            return page
        count = min(count - 1, int(count * 0.97 * max_bytes / size))
        shown = [sentences[i * len(sentences) // count] for i in range(count)]


def _check(runs: Sequence[ReportRun]) -> None:
    if not runs:
        raise ValueError("expected at least one run, got none")
    for name, times in Counter(run.name for run in runs).items():
        if times > 1:
            raise DataError(f"expected a name of its own for each run, got {name!r} {times} times; rename one")
    for run in runs:
        found = run.metrics.get("schema")
        if found != SCHEMA:
            raise DataError(f"run {run.name!r}: expected metrics.json of schema {SCHEMA}, got schema {found!r}")
        rows = len(run.calls), sum(record.call.gender is not None for record in run.calls)
        told = run.metrics.get("n"), run.metrics.get("decided", rows[1])
        if run.calls and rows != told:
            raise DataError(
                f"run {run.name!r}: expected the calls that metrics.json was computed from ({told[0]}, {told[1]} "
                f"decided), got {rows[0]}, {rows[1]} decided; score the run again"
            )


def _page(
    runs: Sequence[ReportRun],
    women: Sequence[WomenRelation] | None,
    shown: Sequence[Sentence],
    total: int,
    numbers: Sequence[Number],
) -> str:
    filtered = columns(shown)
    found = breakdowns(*(run.metrics for run in runs))
    few, many = [by for by in found if not by.long], [by for by in found if by.long]
    content: dict[str, tuple[str, Any]] = {
        "numbers": ("Numbers", True),
        "groups": (f"By {_listed([by.label for by in few])}", _groups(runs, few, numbers)),
        "consistency": ("Consistency", _consistency(runs)),
        "entities": (f"By {_listed([by.label for by in many])}", [_entities(runs, by, filtered, women) for by in many]),
        "confusion": ("Gold and call", [_confusion(run, i) for i, run in enumerate(runs) if _is_table(run)]),
        "left-out": ("What was left out, and why", _left_out(runs)),
        "sentences": ("Sentences", total and _browser(runs, shown, total, filtered)),
        "how": ("How it was made", True),
    }
    names = [f"{run.name} ({run.lang})" for run in runs]
    corpora = sorted({(run.metrics.get("corpus") or {}).get("name", "") for run in runs} - {""})
    intro = f"Runs: {', '.join(names)}. " if len(runs) > _NAMED else ""
    return render_page(
        "run.html",
        data=data(runs, shown, filtered),
        title=f"Gender bias in translation: {', '.join(names) if len(runs) <= _NAMED else f'{len(runs)} runs'}",
        intro=intro + (f"Corpus: {', '.join(corpora)}. " if corpora else ""),
        sections={key: part for key, part in content.items() if part[1]},
        runs=runs,
        numbers=numbers,
        grouped=[*(n for n in numbers if n.coverage), *(n for n in numbers if n.headline or n.grouped)],
        listed=[n for n in numbers if n.listed] or [n for n in numbers if n.headline],
        heads=lambda *whats: [f"{run.name}:\n{what}" if len(runs) > 1 else what for run in runs for what in whats],
        reading=_reading,
        women=women,
        women_plots=_women_plots(runs, women or ()),
        measures=WOMEN_MEASURES,
        correlation_text=correlation_text,
        calls=CALLS,
        why=_WHY,
    )


def _listed(labels: Sequence[str]) -> str:
    """``domain, pronouns and stereotype``."""
    *others, last = labels or ("",)
    return f"{', '.join(others)} and {last}" if others else last


def _reading(number: Number, group: Mapping[str, Any]) -> str:
    """What the value or its interval says in words; nothing without either."""
    if not number.above:
        return filled(number.reading, group)
    ends = number.of(group).interval
    if ends is None:
        return ""
    none = "the interval holds 0: no difference shown"
    return number.above if ends[0] > 0 else number.below if ends[1] < 0 else none


_Part = Mapping[str, Any]
"""A group of `metrics.json`."""


def _by_group(runs: Sequence[ReportRun], by: Breakdown) -> dict[str, list[_Part | None]]:
    """For each group of a breakdown that any run has, what each run has of it."""
    tables = [run.metrics.get(by.key, {}) for run in runs]
    return {name: [table.get(name) for table in tables] for table in tables for name in table}


def _groups(
    runs: Sequence[ReportRun], shown: Sequence[Breakdown], numbers: Sequence[Number]
) -> list[tuple[Breakdown, list[Markup], dict[str, list[_Part | None]]]]:
    """Breakdowns with few groups: their plots, all on one scale, and their groups."""
    parts = panels([(run.name, run.metrics) for run in runs], numbers)
    axis = scale([part for found in parts.values() for part in found])
    return [
        (
            by,
            [svg_intervals(part, ident=f"{by.key}-{i}", axis=axis) for i, part in enumerate(parts.get(by.key, ()))],
            _by_group(runs, by),
        )
        for by in shown
    ]


def _consistency(runs: Sequence[ReportRun]) -> dict[str, Any] | None:
    """What gender alone changes, over pairs of sentences; nothing where no run has such pairs."""
    found = [run.metrics.get("consistency") for run in runs]
    notes: dict[str, list[str]] = {}
    for run, part in zip(runs, found, strict=True):
        notes.setdefault(_unpaired(part), []).append(run.name)
    # Said once where it is the same for all runs.
    said = [text if len(notes) == 1 else f"{', '.join(names)}: {text}" for text, names in notes.items()]
    return {"numbers": CONSISTENCY, "of_runs": found, "notes": said} if any(found) else None


def _unpaired(content: Mapping[str, Any] | None) -> str:
    if not content:
        return "No sentence has a partner of the other gender."
    said = [f"{reason}: {pairs:,}" for reason, pairs in content["left_out"].items() if pairs]
    text = f"Pairs without controls, which do not count in ΔI: {content['pairs_without_controls']:,}. "
    return text + (f"Not paired: {'; '.join(said)}." if said else "")


def _entities(
    runs: Sequence[ReportRun], by: Breakdown, columns: Columns, women: Sequence[WomenRelation] | None
) -> tuple[Breakdown, WomenShares | None, list[tuple[str, dict[str, int] | None, list[_Part | None]]]]:
    """A breakdown with many groups, most sentences first; the filters that choose their sentences; shares of women."""
    groups = _by_group(runs, by)
    name = by.key.removeprefix("by_")
    at = (
        {value: i for i, value in enumerate(columns[name][0])}
        if name in columns and any(r.calls for r in runs)
        else None
    )
    size = {group: next(part["n"] for part in parts if part) for group, parts in groups.items()}
    ordered = sorted(groups, key=lambda group: (-size[group], group))
    filters = {group: None if at is None else {name: at[group]} if group in at else {} for group in groups}
    shares = women[0].shares if women and name == "entity" else None
    return by, shares, [(group, filters[group], groups[group]) for group in ordered]


def _women_plots(runs: Sequence[ReportRun], women: Sequence[WomenRelation]) -> list[tuple[str, list[Markup]]]:
    """For each measure its caption and a plot for each run, on one scale."""
    found = []
    for measure, what in WOMEN_MEASURES.items() if women else ():
        axis = women_scale(women, measure)
        plots = [
            svg_women(relation, run.name, measure, ident=f"women-{measure}-{i}", axis=axis, colour=i % 6)
            for i, (run, relation) in enumerate(zip(runs, women, strict=True))
        ]
        found.append((f"{what[0].upper()}{what[1:]}, by share of women", plots))
    return found


def _is_table(run: ReportRun) -> bool:
    """Whether a run's counts have what is given beside the outcome."""
    return len(run.metrics.get("confusion_axes") or {}) > 1


def _confusion(run: ReportRun, number: int) -> tuple[ReportRun, str, str, list[str], list[tuple[str, list[Any], int]]]:
    """Counts by the last two axes of a run's table: what the sentence says, and what the translation shows.

    A cell is a count, its classes (a shade by its share of the row, and whether it is right), and the filters that
    choose its sentences.
    """
    *others, (given, golds), (outcome, calls) = run.metrics["confusion_axes"].items()
    counts = np.sum(run.metrics["overall"]["confusion"], axis=tuple(range(len(others)))).tolist()
    rows = []
    for gold, of_gold in zip(golds, counts, strict=True):
        cells = []
        for call, count in zip(calls, of_gold, strict=True):
            shade = min(4, int(5 * count / max(1, sum(of_gold))))
            filters: dict[str, object] | None = None
            if count and run.calls and gold in GENDERS and call in {None, *GENDERS}:
                filters = {"run": number, "gold": GENDERS.index(gold)}
                filters |= {"outcome": "none"} if call is None else {"call": GENDERS.index(call)}
            cells.append((count, f"q{shade} hit" if call == gold else f"q{shade}", filters))
        rows.append((gold, cells, sum(of_gold)))
    return run, given, outcome, [call or f"no {outcome}" for call in calls], rows


def _left_out(runs: Sequence[ReportRun]) -> list[tuple[ReportRun, list[tuple[str, int, str]]]]:
    """Runs that say what has no call or what calls rest on, or in whose input something was noticed, with that."""
    found = [(run, list(noticed(run.metrics))) for run in runs]
    return [(run, rows) for run, rows in found if rows or {"reasons", "evidence"} & run.metrics.keys()]


def _browser(runs: Sequence[ReportRun], shown: Sequence[Sentence], total: int, columns: Columns) -> dict[str, Any]:
    """The filters of the list of sentences (name, label, options by value), and what is missing in it."""
    outcomes = {"right": "right", "wrong": "wrong", "none": "no call"}
    outcomes |= {"differ": "the runs differ"} if len(runs) > 1 else {}
    called = [call if i < len(GENDERS) else f"none: {call}" for i, call in enumerate(CALLS)]
    numbered = {"called": ("call", called), **{name: (name, values) for name, (values, _) in columns.items()}}
    filters: list[tuple[str, str, Mapping[Any, str]]] = [("outcome", "outcome", {"": "all", **outcomes})]
    filters += [(name, label, {"": "all", **dict(enumerate(v))}) for label, (name, v) in numbered.items()]
    if len(runs) > 1:
        filters.insert(0, ("run", "calls of", dict(enumerate(run.name for run in runs))))
    unmarked = sum(not entity_spans(sentence.first) for sentence in shown)
    return {"filters": filters, "unmarked": unmarked, "shown": len(shown), "total": total}
