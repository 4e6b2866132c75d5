"""What the page of runs shows, as one record that its template (``run.html``) reads.

No number is computed here: all come from `metrics.json`, the `Comparison`, and
`mtbias.scoring.women_share`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from markupsafe import Markup

from mtbias.report import plots, run_table
from mtbias.report.plots import PERCENT_SCALE, Scale, entity_panel, svg_panel
from mtbias.report.report_runs import (
    ReportRun,
    citations_of,
)
from mtbias.report.run_table import published_table
from mtbias.report.sentence_data import Columns
from mtbias.report.tables import PrintedTable
from mtbias.runs.call_records import CallRecord
from mtbias.scoring.bias import UNKNOWN_GENDER
from mtbias.scoring.comparison_finding import SystemCalls, gender_statements
from mtbias.scoring.definitions import (
    BY_ENTITY,
    CONSISTENCY,
    GENDER_NUMBERS,
    Breakdown,
    Number,
    Unit,
    breakdowns,
)
from mtbias.scoring.finding import entity_gaps
from mtbias.scoring.metrics_records import Consistency, GroupMetrics, RunMetrics
from mtbias.scoring.statements import Quote, Statement
from mtbias.scoring.women_share import WomenShares, correlation, shipped_shares
from mtbias.stats.results import Difference, estimate_text

if TYPE_CHECKING:
    from mtbias.scoring.comparable_runs import SystemPair
    from mtbias.scoring.comparison import Comparison


RANKED = 3
"""From so many runs on, a page has a line for each, with its rank where they were compared."""


class LongBreakdown(NamedTuple):
    """A breakdown with many groups, as a table to sort."""

    by: Breakdown
    shares: WomenShares | None
    """Of women, where the groups are entities."""
    groups: Sequence[tuple[str, dict[str, int] | None, list[GroupMetrics | None]]]
    """Name, the filters that choose its sentences, and what each run has of it."""


class Women(NamedTuple):
    """The shares of women in the occupations, and how the numbers of runs go with them."""

    shares: WomenShares | None = None
    """None where they are not known."""
    lines: Sequence[str] = ()
    """One for each run; none without shares."""


def women_of(runs: Sequence[ReportRun], shares: WomenShares | None = None) -> Women:
    """The entities of `runs` and their `shares` of women, by default those that ship with mtbias.

    Nothing is known where the runs have another measure or no breakdown by entity, or where no
    entity has one of the shares that ship.
    """
    measured = all(run.numbers in (GENDER_NUMBERS, UNKNOWN_GENDER.numbers) for run in runs)
    if not measured or any(BY_ENTITY not in run.metrics.by for run in runs):
        return Women()
    known = shares or shipped_shares()
    entities = chain.from_iterable(run.metrics.by_entity for run in runs)
    if shares is None and all(known.share_of(entity) is None for entity in entities):
        return Women()
    return Women(known, [women_line(run, known) for run in runs])


def women_line(run: ReportRun, shares: WomenShares) -> str:
    """Whether women are translated better than men where more women do the work; where the source
    shows no gender, whether there are more feminine forms.
    """
    groups = run.metrics.by_entity

    def rho(key: str, less: str = "") -> str:
        estimate = correlation(shares, groups, key, less)
        value = estimate_text(estimate.value, estimate.interval, 2)
        return f"Spearman's ρ {value}, n {estimate.n}"

    if run.numbers == UNKNOWN_GENDER.numbers:
        text = f"more feminine forms where more women work? {rho('feminine')} entities"
    else:
        gap = rho("recall_female", "recall_male")
        text = f"women translated better than men where more women work? {gap} entities; "
        text += f"accuracy: {rho('accuracy')}"
    without = sum(shares.share_of(entity) is None for entity in groups)
    return f"{text}; without a share: {without:,}."


class PagePart(NamedTuple):
    """The runs, or their sentences of unknown gender where the corpus has others, too."""

    runs: Sequence[ReportRun]
    numbers: Sequence[Number]
    listed: Sequence[Number]
    """Of long lists of groups."""
    women: Women
    drawn: Sequence[tuple[ReportRun, Markup]]
    """Men and women by entity, a plot for each run that has any."""
    long: Sequence[LongBreakdown]
    """Breakdowns with many groups."""
    same_n: bool
    """Whether a group has as many sentences in each run."""


def page_part(runs: Sequence[ReportRun], women: Women, columns: Columns, ident: str) -> PagePart:
    """What the page shows of `runs`; `ident` begins the ids of their plots."""
    numbers, shares = runs[0].numbers, women.shares
    listed = [n for n in numbers if n.listed] or [n for n in numbers if n.headline]
    width = 300
    if len(runs) >= RANKED:
        gendered = {*chain.from_iterable(plots.GENDERED)}
        width, listed = 180, [n for n in listed if n.key in gendered] or listed
    drawn = []
    for i, run in enumerate(runs):
        for panel, beside in entity_panel(run, shares or shipped_shares()):
            svg = svg_panel(
                panel, ident=f"{ident}-{i}", axis=PERCENT_SCALE, beside=beside, width=width
            )
            drawn.append((run, svg))
    by_all = breakdowns(*(run.metrics.by for run in runs))
    long = [by for by in by_all if by.long]
    return PagePart(
        runs,
        numbers,
        listed,
        women,
        drawn,
        long=[_entities(runs, by, columns, shares) for by in long],
        same_n=all(_has_same_sizes(runs, by) for by in long),
    )


def _has_same_sizes(runs: Sequence[ReportRun], by: Breakdown) -> bool:
    """Whether each group of a breakdown has as many sentences in each run that has the group."""
    for groups in _by_group(runs, by).values():
        sizes = {group.n for group in groups if group}
        if len(sizes) > 1:
            return False
    return True


@dataclass(frozen=True, eq=False)
class RunPage:
    """What the page of runs shows, as its template reads it."""

    runs: Sequence[ReportRun]
    compared: Comparison | None
    ranks: Mapping[str, str] | None
    """The rank of each run by name, with `RANKED` runs or more; empty if nothing was tested."""
    parts: Sequence[PagePart]
    """The main sentences, then those of unknown gender where the corpus has others, too."""

    @property
    def numbers(self) -> Sequence[Number]:
        """What the measure of the runs reports."""
        return self.runs[0].numbers

    @property
    def headline(self) -> list[Number]:
        """The numbers at the head of the page."""
        return [number for number in self.numbers if number.headline]

    @property
    def group_numbers(self) -> list[Number]:
        """Those of them that groups have, too."""
        return [number for number in self.headline if not number.whole]

    @property
    def of_unknown_gender(self) -> bool:
        """Whether no sentence of the corpus shows a gender."""
        return self.numbers == UNKNOWN_GENDER.numbers

    @cached_property
    def statements(self) -> Sequence[Statement]:
        """What the runs show together, in sentences."""
        return (self.compared.finding if self.compared else ()) or _statements(self.runs)

    @cached_property
    def differences(self) -> list[DifferenceRow]:
        """All differences of the comparison."""
        return _differences(self.compared, self.numbers) if self.compared else []

    @cached_property
    def records(self) -> list[dict[str, CallRecord]]:
        """The calls of each run by id."""
        return [_by_id(run.calls) for run in self.runs]

    @cached_property
    def recalls(self) -> list[Number]:
        """The numbers that are drawn beside the finding."""
        return _recalls(self.runs, self.statements)

    @cached_property
    def few(self) -> list[tuple[Breakdown, dict[str, list[GroupMetrics | None]]]]:
        """The breakdowns with few groups, and what each run has of each group."""
        by_all = breakdowns(*(run.metrics.by for run in self.runs))
        return [(by, _by_group(self.runs, by)) for by in by_all if not by.long]

    @cached_property
    def axis(self) -> Scale:
        """The axis of the headline's numbers."""
        return _axis(self.runs, [by for by, _ in self.few])

    @cached_property
    def difference_axis(self) -> Scale:
        """The axis of the differences."""
        differences = [row.found for row in self.differences]
        return Scale.around((one.difference, one.interval) for one in differences)

    @cached_property
    def paired(self) -> list[Consistency | None]:
        """The numbers over pairs of sentences, of each run."""
        return [run.metrics.consistency for run in self.runs]

    @property
    def unpaired(self) -> list[str]:
        """Why sentences have no counterfactual pair in any run."""
        return _unpaired(self.paired)

    @property
    def published(self) -> dict[tuple[str, str], PrintedTable]:
        """What was published on the same data sets, by language and title."""
        return _published(self.runs)

    @cached_property
    def confusions(self) -> list[tuple[ReportRun, _Confusion]]:
        """Gold gender and call of the runs whose tables say it."""
        return [(run, _confusion(run)) for run in self.runs if len(_axes(run)) > 1]

    @property
    def details(self) -> list[tuple[str, list[tuple[ReportRun, list[str], list[list[str]]]], str]]:
        """Further tables: a title, the runs with header and rows, and a note."""
        return [(title, _with_rows(self.runs, rows_of), note) for title, rows_of, note in _DETAILS]

    @property
    def citations(self) -> list[str]:
        """What to cite beside the numbers."""
        return citations_of(self.runs)

    def heads(self, columns: Sequence[str]) -> list[str]:
        """The heads of `columns` for each run, after its name if there are several runs."""
        return _heads(self.runs, columns)

    def quoting(self, quote: Quote) -> list[ReportRun]:
        """The runs of the language whose translation is quoted, the quoted one first."""
        return _quoting(self.runs, quote)


def _by_id(records: Sequence[CallRecord]) -> dict[str, CallRecord]:
    return {record.id: record for record in records}


def _heads(runs: Sequence[ReportRun], columns: Sequence[str]) -> list[str]:
    """The heads of `columns` for each run, after its name if there are several runs."""
    if len(runs) == 1:
        return [*columns]
    heads = []
    for run in runs:
        heads += [f"{run.name}:\n{column}" for column in columns]
    return heads


def _published(runs: Sequence[ReportRun]) -> dict[tuple[str, str], PrintedTable]:
    """What was published on the runs' data sets, by language and title."""
    tables = {}
    for run in runs:
        table = published_table(run.metrics)
        if table is not None:
            tables[run.lang, table.title] = table
    return tables


def _unpaired(paired: Sequence[Consistency | None]) -> list[str]:
    """Why sentences have no counterfactual pair in any run."""
    reasons = [part.left_out for part in paired if part is not None]
    return list(dict.fromkeys(chain.from_iterable(reasons)))


_Rows = Callable[[RunMetrics], tuple[list[str], list[list[str]]]]
_DETAILS: tuple[tuple[str, _Rows, str], ...] = (
    (
        run_table.STRATEGIES,
        run_table.strategy_rows,
        (
            "both: both genders are written; neutral: a word for a person that shows no gender; "
            "omitted: left out."
        ),
    ),
    (
        run_table.POST_EDITS,
        run_table.post_edit_rows,
        (
            "Wrong calls are men called women and women called men; "
            "words are those that show the gender."
        ),
    ),
)
"""Tables of each run: a title, header and rows of `metrics.json`, and a note."""


def _with_rows(
    runs: Sequence[ReportRun], rows_of: _Rows
) -> list[tuple[ReportRun, list[str], list[list[str]]]]:
    """The runs that have rows in such a table, with its header and rows."""
    tables = []
    for run in runs:
        head, rows = rows_of(run.metrics)
        if rows:
            tables.append((run, head, rows))
    return tables


def _axis(runs: Sequence[ReportRun], few: Sequence[Breakdown]) -> Scale:
    """One axis for all numbers of the headline in per cent and points, of all runs and their few
    groups.
    """
    headline = [n for n in runs[0].numbers if n.headline and n.unit is not Unit.OWN]
    of_groups = [number for number in headline if not number.whole]
    points = []
    for run in runs:
        points += [run.metrics.overall.estimate(number) for number in headline]
        for by in few:
            for group in run.metrics.by.get(by.key, {}).values():
                points += [group.estimate(number) for number in of_groups]
    return Scale.around([(point.value, point.interval) for point in points], 100)


def _statements(runs: Sequence[ReportRun]) -> list[Statement]:
    """What runs that were not compared say together (`mtbias.scoring.comparison_finding`)."""
    if runs[0].numbers[: len(GENDER_NUMBERS)] != GENDER_NUMBERS:
        return []
    calls = [
        SystemCalls(run.lang, run.name, run.metrics.overall.confusion, run.calls, run.source_lang)
        for run in runs
    ]
    return list(gender_statements(calls))


def _quoting(runs: Sequence[ReportRun], quote: Quote) -> list[ReportRun]:
    """The runs of the language whose translation is quoted, the quoted one first."""
    has = {}
    for run in runs:
        for record in run.calls:
            if record.id == quote.id:
                has[run.name] = run, record.translation
    quoted = next((run for run, text in has.values() if text == quote.translation), runs[0])
    others = [run for run, _ in has.values() if run is not quoted and run.lang == quoted.lang]
    return [quoted, *others]


def _recalls(runs: Sequence[ReportRun], statements: Sequence[Statement]) -> list[Number]:
    """The shares of men and of women that are found, to be drawn for each of several runs where
    the finding begins with them.
    """
    if not statements or statements[0].rule != "genders":
        return []
    declared = {number.key: number for number in runs[0].numbers}
    return [declared[key] for key in plots.GENDERED[0]]


class DifferenceRow(NamedTuple):
    """A difference as the table shows it."""

    pair: SystemPair
    label: str
    found: Difference


def _differences(compared: Comparison, numbers: Sequence[Number]) -> list[DifferenceRow]:
    """All differences: plain, weighted, over pairs of sentences, and of the sentences of unknown
    gender.
    """
    rows = []
    for pair in compared.pairs:
        plain = [n for n in numbers if n.key in pair.plain]
        rows += [DifferenceRow(pair, number.label, pair.plain[number.key]) for number in plain]
        rows += [
            DifferenceRow(pair, f"{n.label}, weighted", pair.weighted[n.key])
            for n in plain
            if n.key in pair.weighted
        ]
        rows += [
            DifferenceRow(pair, n.label, pair.consistency[n.key])
            for n in CONSISTENCY
            if n.key in pair.consistency
        ]
    if compared.unknown is not None:
        of_unknown = _differences(compared.unknown, UNKNOWN_GENDER.numbers)
        rows += [row._replace(label=f"{row.label}, unknown gender") for row in of_unknown]
    return rows


def _by_group(runs: Sequence[ReportRun], by: Breakdown) -> dict[str, list[GroupMetrics | None]]:
    """For each group of a breakdown that any run has, what each run has of it."""
    tables = [run.metrics.by.get(by.key, {}) for run in runs]
    groups = {}
    for name in chain.from_iterable(tables):
        groups[name] = [table.get(name) for table in tables]
    return groups


def _entities(
    runs: Sequence[ReportRun], by: Breakdown, columns: Columns, shares: WomenShares | None
) -> LongBreakdown:
    """A breakdown with many groups, the filters that choose their sentences, and shares of women.

    Entities come in the order of the first run's gaps between men and women, other groups with most
    sentences first.
    """
    name = by.key.removeprefix("by_")
    gaps = entity_gaps(runs[0].metrics) if name == "entity" else []
    place_of = {gap.entity: place for place, gap in enumerate(gaps)}

    def order(group: tuple[str, list[GroupMetrics | None]]) -> tuple[int, int, str]:
        name, parts = group
        size = next(part.n for part in parts if part)
        return place_of.get(name, len(gaps)), -size, name

    groups = sorted(_by_group(runs, by).items(), key=order)
    shares = shares if name == "entity" else None
    if name not in columns or not any(run.calls for run in runs):
        return LongBreakdown(by, shares, [(group, None, parts) for group, parts in groups])
    at = {value: {name: i} for i, value in enumerate(columns[name][0])}
    # A page that is too large has not every group's sentences: such a name shows them all.
    rows = [(group, at.get(group, {}), parts) for group, parts in groups]
    return LongBreakdown(by, shares, rows)


_Axis = tuple[str, Sequence[str | None]]
"""An axis of a table of counts: its name, and those of its places."""


def _axes(run: ReportRun) -> list[_Axis]:
    """The axes of a run's table of counts; none of an earlier release's."""
    return list(run.metrics.axes.items())


_Confusion = tuple[_Axis, _Axis, list[list[int]]]
"""What the sentence says, what the translation shows, and the counts of both."""


def _confusion(run: ReportRun) -> _Confusion:
    """Counts by the last two axes of a run's table: what the sentence says, what the translation
    shows.
    """
    axes = _axes(run)
    counts = np.sum(run.metrics.overall.confusion, axis=tuple(range(len(axes) - 2)))
    return axes[-2], axes[-1], counts.tolist()
