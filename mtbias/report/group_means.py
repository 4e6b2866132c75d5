"""The page of a sweep's groups: each system's numbers by domain, number of pronouns or another
property of the sentences, as means over the languages, drawn and in tables.

Published means of the same data set are shown beside them: figures 6 and 7 of its paper for BUG's
sweep (Levy et al. 2021). Nothing is computed here but means: the numbers are those of
`metrics.json`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from markupsafe import Markup

from mtbias.report.page import render_page
from mtbias.report.plots import Panel, svg_panel
from mtbias.report.report_runs import ReportRun
from mtbias.report.run_table import PublishedLine, published_groups_note, published_lines
from mtbias.report.tables import PrintedTable
from mtbias.scoring.definitions import Breakdown, Number, Unit, breakdowns
from mtbias.stats.results import Estimate, number_text
from mtbias.types import frozen
from mtbias.version import __version__

Groups = Mapping[str, Estimate]
"""A number of each group, by its name."""


@frozen
class GroupSection:
    """What the page has of a data set and a property of its sentences."""

    plots: Sequence[Markup]
    """A plot of each number."""
    table: PrintedTable
    """The same numbers: a row for each number and system, a column for each group."""


_NOTHING = GroupSection((), PrintedTable((), ()))


def render_groups(by_dataset: Mapping[str, Sequence[ReportRun]]) -> str:
    """The page, as text to be written in UTF-8.

    The runs of a data set are of one measure, in an order of one's own; of several languages each
    system has a run in all.

    Raises:
        DataError: a `metrics.json` lacks a number.
    """
    sections = {}
    for dataset, runs in by_dataset.items():
        langs = list(dict.fromkeys(run.lang for run in runs))
        for by in breakdowns(*(run.metrics.by for run in runs)):
            if not by.long:
                heading = f"{dataset} by {by.label}, {mean_of(langs)}"
                section = _section(dataset, by, runs, f"{dataset}-{by.key}")
                sections[f"{dataset}-{by.key}"] = (heading, section)
    if not sections:
        sections["none"] = ("No data set here has groups of sentences", _NOTHING)
    return render_page(
        "groups.html",
        title="Systems by groups of sentences",
        intro=f"{', '.join(by_dataset)}; scored by mtbias {__version__}",
        sections=sections,
    )


def mean_of(langs: Sequence[str]) -> str:
    """What a number of these languages is: ``mean of 2 languages (de, he)``, or the one
    language.
    """
    return langs[0] if len(langs) == 1 else f"mean of {len(langs)} languages ({', '.join(langs)})"


def mean_over_languages(estimates: Sequence[Estimate | None]) -> Estimate:
    """The mean of a number over languages, with their lowest and highest value as its interval; `n`
    counts the rows of all together.

    For one language it is the number itself. Undefined where a language has none: otherwise a mean
    over fewer languages would appear beside means over all.
    """
    defined = [one for one in estimates if one is not None]
    if len(estimates) == 1 and defined:
        return defined[0]
    values = [one.value for one in defined if one.value is not None]
    n = sum(one.n or 0 for one in defined)
    if len(values) < len(estimates):
        return Estimate(None, None, n)
    return Estimate(sum(values) / len(values), (min(values), max(values)), n)


def group_panels(dataset: str, by: Breakdown, runs: Sequence[ReportRun]) -> Iterator[Panel]:
    """A panel for each number of the headline that any group has: its mean over the languages for
    each system and group, and the published ones.
    """
    langs = list(dict.fromkeys(run.lang for run in runs))
    systems: dict[str, list[ReportRun]] = {}
    for run in runs:
        systems.setdefault(run.name, []).append(run)
    by_run = [run.metrics.by.get(by.key, {}) for run in runs]
    groups = list(dict.fromkeys(chain.from_iterable(by_run)))
    whiskers = (
        runs[0].metrics.intervals.name if len(langs) == 1 else "least and most of the languages"
    )
    for number in runs[0].numbers:
        if not number.headline or number.whole or number.unit is Unit.OWN:
            continue
        means = {name: _means(by, groups, own, number) for name, own in systems.items()}
        if not any(map(_defined, means.values())):  # ΔS by stereotype, say
            continue
        published = _published(dataset, by, groups, number)
        series = []
        for name, own in means.items():
            series.append((name, own))
            if name in published:
                series.append((f"{name}, published", published.pop(name)))
        series += [(f"{name}, published", points) for name, points in published.items()]
        title = f"{number.label} by {by.label}, in {number.unit}"
        yield Panel(title, whiskers, groups, series)


def _means(
    by: Breakdown, groups: Sequence[str], runs: Sequence[ReportRun], number: Number
) -> Groups:
    """The mean of each group over the languages of one system."""
    means = {}
    for group in groups:
        parts = (run.metrics.by.get(by.key, {}).get(group) for run in runs)
        of_languages = [part.estimate(number) if part else None for part in parts]
        means[group] = mean_over_languages(of_languages)
    return means


def _defined(points: Groups) -> bool:
    """Whether any group has a number."""
    return any(point.value is not None for point in points.values())


def _published(
    dataset: str, by: Breakdown, groups: Sequence[str], number: Number
) -> dict[str, Groups]:
    """The published means of the groups, by system; without intervals and rows, which nobody
    published.
    """
    by_system: dict[str, dict[str, Estimate]] = {}
    for group, line in _published_lines(dataset, by, groups):
        if number.key in line.numbers:
            means = by_system.setdefault(line.system, {})
            means[group] = Estimate(line.numbers[number.key])
    return dict(by_system)


def _published_lines(
    dataset: str, by: Breakdown, groups: Sequence[str]
) -> Iterator[tuple[str, PublishedLine]]:
    """The published lines of these groups, each with the group."""
    for line in published_lines(dataset):
        group = _published_group(line.group, by)
        if group and group in groups:
            yield group, line


def _published_group(name: str, by: Breakdown) -> str:
    """How `metrics.json` calls a group of the published lines; empty where it is of another
    property. Their pronouns are as the corpus counts them.
    """
    pronouns = re.fullmatch(r"(\d+) pronouns?", name)
    if by.key == "by_corpus_pronouns":
        return pronouns[1] if pronouns else ""
    return name if by.key == "by_domain" and not pronouns else ""


def _section(dataset: str, by: Breakdown, runs: Sequence[ReportRun], ident: str) -> GroupSection:
    panels = list(group_panels(dataset, by, runs))
    plots = [svg_panel(panel, ident=f"{ident}-{n}") for n, panel in enumerate(panels)]
    rows = []
    for panel in panels:
        label = panel.title.partition(" by ")[0]
        for name, points in panel.series:
            cells = [_cell(points.get(group)) for group in panel.groups]
            rows.append([label, name, *cells])
    groups = panels[0].groups if panels else []
    has_published = any(_published_lines(dataset, by, groups))
    table = PrintedTable(
        ["", "system", *groups],
        rows,
        f"{dataset} by {by.label}",
        [published_groups_note(dataset)] if has_published else [],
        left=2,
    )
    return GroupSection(plots, table)


def _cell(mean: Estimate | None) -> str:
    """A number and its rows: ``71.1, n 3,888``; the published ones have no rows."""
    if mean is None:
        return ""
    rows = "" if mean.n is None else f", n {mean.n:,.0f}"
    return f"{number_text(mean.value)}{rows}"
