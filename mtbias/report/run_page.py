"""The report of runs, and of their comparison: one HTML file that needs nothing else, neither
network nor server.

No number is computed here: all stand in `metrics.json` and in the `Comparison`. Everything that
comes from files is escaped, a content security policy forbids the page to load or run anything but
its own style and script (`mtbias.report.page`), and sentences reach the page as data
(`mtbias.report.sentence_data`) that the script writes as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from string import Formatter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from markupsafe import Markup

from mtbias.report import alarm_texts, person_list, plots, run_table
from mtbias.report.call_steps import WHY
from mtbias.report.page import render_page
from mtbias.report.plots import PERCENT_SCALE, Scale, entity_panel, relations, svg_panel
from mtbias.report.report_runs import (
    ReportRun,
    Sentence,
    citations_of,
    join_sentences,
    language_name,
    listed,
    report_run,
    title_and_intro,
    unique_names,
    unknown_parts,
)
from mtbias.report.run_table import noticed, published_table
from mtbias.report.sentence_data import MAX_BYTES, Columns, fitting, sentence_list
from mtbias.report.tables import PrintedTable
from mtbias.runs.call_records import CallRecord
from mtbias.runs.finished_run import FinishedRun
from mtbias.scoring.bias import UNKNOWN_GENDER
from mtbias.scoring.comparison_finding import SystemCalls, gender_statements
from mtbias.scoring.definitions import (
    CONSISTENCY,
    GENDER_NUMBERS,
    Breakdown,
    Number,
    Unit,
    breakdowns,
    decisive,
)
from mtbias.scoring.finding import entity_gaps, expected_text, few_found
from mtbias.scoring.metrics_reader import UNKNOWN
from mtbias.scoring.metrics_records import Consistency, GroupMetrics, RunMetrics
from mtbias.scoring.ranking import distance, ranks, relation
from mtbias.scoring.statements import Quote, Statement
from mtbias.scoring.women_share import WomenRelation, WomenShares, shipped_shares
from mtbias.stats.results import ALPHA, MIN_ROWS, Difference, number_text

if TYPE_CHECKING:
    from mtbias.scoring.comparable_runs import SystemPair
    from mtbias.scoring.comparison import Comparison

RANKED = 3
"""From so many runs on, a page has a line for each, with its rank where they were compared."""


class _Filling(Formatter):
    """Fills in numbers as they are shown: counts as whole numbers, per cent with one decimal."""

    def format_field(self, value: object, _: str) -> str:
        return number_text(value) if value is None or isinstance(value, float) else f"{value:,}"


def filled(template: str, group: GroupMetrics) -> str:
    """The format string of a declaration (`Number.reading`) with the numbers of a group."""
    return _Filling().vformat(template, (), group.by_key())


def render_html(
    runs: Sequence[ReportRun],
    compared: Comparison | None = None,
    *,
    shares: WomenShares | None = None,
    max_bytes: int = MAX_BYTES,
) -> str:
    """The page, as text to be written in UTF-8.

    The sentences of all runs stand in one list: those with the same id, source, entity, gold,
    stereotype, domain and number of pronouns are one. With a comparison of the runs there are its
    differences, and the list has the sentences on which calls of one language differ (a gender and
    none are different). Where the page would become larger than `max_bytes`, it holds as many
    sentences as fit, spread evenly, and says so; the numbers rest on all. Sections whose numbers
    `metrics.json` does not have, and the list where there are no calls, are not there. `runs` are
    of one measure, each under its own name; `shares` of women are by default those that ship with
    mtbias.

    Raises:
        DataError: a `metrics.json` lacks a number.
    """
    number = decisive(n for n in runs[0].numbers if n.headline) if len(runs) >= RANKED else None
    ordered = _ordered(runs, number)
    ranked = None if number is None else _ranks(runs, compared, number)
    unknown = unknown_parts(ordered)
    sentences = join_sentences(ordered)
    if compared is not None:
        sentences = [sentence for sentence in sentences if _differs(ordered, sentence)]
    women = relations(ordered, shares)
    same_shares = women[0].shares if women else None
    related = women, relations(unknown, same_shares) if unknown else []
    page = partial(_page, ordered, unknown, compared, ranked, related, total=len(sentences))
    return fitting(page, sentences, max_bytes)


def page_of_runs(runs: Sequence[FinishedRun], compared: Comparison | None = None) -> str:
    """`render_html` of runs in any order, under the names of the comparison, if they were compared,
    else their own.
    """
    names = {run.fingerprint: run.system for run in runs}
    names |= {system.fingerprint: system.system for system in compared.systems} if compared else {}
    unique = unique_names([(names[run.fingerprint], run.lang) for run in runs])
    return render_html([report_run(*each) for each in zip(runs, unique, strict=True)], compared)


def _differs(runs: Sequence[ReportRun], sentence: Sentence) -> bool:
    calls: dict[str, set[object]] = {}
    for run, record in zip(runs, sentence.records, strict=True):
        if record is not None:
            calls.setdefault(run.lang, set()).add(record.call.gender)
    return any(len(genders) > 1 for genders in calls.values())


def _ordered(runs: Sequence[ReportRun], number: Number | None) -> list[ReportRun]:
    """The runs language by language, of each the best first (`mtbias.scoring.ranking`)."""
    if number is None:
        return [*runs]
    langs = list(dict.fromkeys(run.lang for run in runs))

    def place(run: ReportRun) -> tuple[int, float, str]:
        return langs.index(run.lang), distance(number.best, _value(run, number)), run.name

    return sorted(runs, key=place)


def _value(run: ReportRun, number: Number) -> float | None:
    return run.metrics.overall.estimate(number).value


def _ranks(
    runs: Sequence[ReportRun], compared: Comparison | None, number: Number
) -> dict[str, str]:
    """By name the rank of each run among those of its language; empty where nothing was tested in
    pairs.
    """
    if compared is None or not compared.n_resamples:
        return {}
    names = {run.name for run in runs}

    def run_name(system: str, lang: str) -> str:
        # Where systems are not unique, runs are named with their language (`unique_names`).
        with_language = f"{system}, {lang}"
        return with_language if with_language in names else system

    relations = {}
    for pair in compared.pairs:
        plain = pair.plain[number.key]
        names_of_pair = run_name(pair.first, pair.lang), run_name(pair.second, pair.lang)
        relations[names_of_pair] = relation(number.best, plain.first, plain.second, plain.p_holm)
    texts: dict[str, str] = {}
    for lang in dict.fromkeys(run.lang for run in runs):
        peers = [run for run in runs if run.lang == lang and _value(run, number) is not None]
        ranked = ranks([run.name for run in peers], relations)
        texts |= {name: rank.text for name, rank in ranked.items()}
    return texts


class LongBreakdown(NamedTuple):
    """A breakdown with many groups, as a table to sort."""

    by: Breakdown
    shares: WomenShares | None
    """Of women, where the groups are entities."""
    groups: Sequence[tuple[str, dict[str, int] | None, list[GroupMetrics | None]]]
    """Name, the filters that choose its sentences, and what each run has of it."""


class _Part(NamedTuple):
    """The runs, or their sentences of unknown gender where the corpus has others, too."""

    runs: Sequence[ReportRun]
    numbers: Sequence[Number]
    listed: Sequence[Number]
    """Of long lists of groups."""
    women: Sequence[WomenRelation]
    """The entities of each run against their shares of women; empty where these are not known."""
    drawn: Sequence[tuple[ReportRun, Markup]]
    """Men and women by entity, a plot for each run that has any."""
    long: Sequence[LongBreakdown]
    """Breakdowns with many groups."""
    same_n: bool
    """Whether a group has as many sentences in each run."""


def _part(
    runs: Sequence[ReportRun], women: Sequence[WomenRelation], columns: Columns, ident: str
) -> _Part:
    """What the page shows of `runs`; `ident` begins the ids of their plots."""
    numbers, shares = runs[0].numbers, women[0].shares if women else None
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
    return _Part(
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


def _page(
    runs: Sequence[ReportRun],
    unknown: Sequence[ReportRun],
    compared: Comparison | None,
    ranked: Mapping[str, str] | None,
    related: tuple[Sequence[WomenRelation], Sequence[WomenRelation]],
    shown: Sequence[Sentence],
    *,
    total: int,
) -> str:
    sentences = sentence_list(runs, shown, total)
    women, of_unknown = related
    parts = [_part(runs, women, sentences["columns"], "entities")]
    if unknown:
        parts.append(_part(unknown, of_unknown, sentences["columns"], "unknown"))
    page = RunPage(runs, compared, ranked, parts)
    title, intro = title_and_intro(runs)
    return render_page(
        "run.html",
        title=title,
        intro=intro,
        sections=_sections(page, has_women=bool(women), n_sentences=total),
        page=page,
        runs=runs,
        percent=PERCENT_SCALE,
        pair_numbers=CONSISTENCY,
        shipped=shipped_shares().name,
        min_rows=MIN_ROWS,
        alpha=ALPHA,
        why=WHY,
        few_found=few_found,
        language_name=language_name,
        filled=filled,
        expected_text=expected_text,
        reasons_by_gold=_reasons_by_gold,
        alarms=alarm_texts,
        tables=run_table,
        plots=plots,
        persons=person_list,
        **sentences,
    )


def _sections(page: RunPage, *, has_women: bool, n_sentences: int) -> dict[str, tuple[str, Any]]:
    """The headings, each with what its section shows; a section that shows nothing is left out."""
    runs, compared = page.runs, page.compared
    by_all = breakdowns(*(run.metrics.by for run in runs))
    by_group = "Men and women by occupation"
    if not has_women:
        by_group = f"By {listed([by.label for by in by_all])}"
    has_weights = compared is not None and any(system.weighted for system in compared.systems)
    content: dict[str, tuple[str, Any]] = {
        "finding": ("Finding", page.statements or any(_says_something(run) for run in runs)),
        "numbers": ("Numbers", True),
        "differences": ("Differences", page.differences or has_weights),
        "groups": (by_group, by_all),
        "unknown": ("Sentences of unknown gender", page.parts[1:]),
        "persons": ("Persons with a word in the other gender", person_list.by_run(runs)),
        "left-out": ("What was left out", [run for run in runs if _leaves_out(run)]),
        "more": ("More numbers", True),
        "how": ("How it was made", True),
        "sentences": (
            "Sentences on which the calls differ" if compared else "Sentences",
            n_sentences and any(run.calls for run in runs),
        ),
    }
    return {key: part for key, part in content.items() if part[1]}


@dataclass(frozen=True, eq=False)
class RunPage:
    """What the page of runs shows, as its template reads it."""

    runs: Sequence[ReportRun]
    compared: Comparison | None
    ranks: Mapping[str, str] | None
    """The rank of each run by name, where there are `RANKED` runs or more; empty where nothing was
    tested."""
    parts: Sequence[_Part]
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
    def differences(self) -> list[_Row]:
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
        """The heads of `columns` for each run, behind its name where there are several runs."""
        return _heads(self.runs, columns)

    def quoting(self, quote: Quote) -> list[ReportRun]:
        """The runs of the language whose translation is quoted, the quoted one first."""
        return _quoting(self.runs, quote)


def _by_id(records: Sequence[CallRecord]) -> dict[str, CallRecord]:
    return {record.id: record for record in records}


def _says_something(run: ReportRun) -> bool:
    """Whether a run has a finding or a raised alarm."""
    return bool(run.finding or run.metrics.raised)


def _leaves_out(run: ReportRun) -> bool:
    """Whether some sentences of a run have no call, or something was noticed in its input."""
    metrics = run.metrics
    has_calls = metrics.reasons is not None or metrics.evidence is not None
    return has_calls or any(noticed(metrics))


def _heads(runs: Sequence[ReportRun], columns: Sequence[str]) -> list[str]:
    """The heads of `columns` for each run, behind its name where there are several runs."""
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
    return Scale.around(((point.value, point.interval) for point in points), 100)


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


class _Row(NamedTuple):
    """A difference as the table shows it."""

    pair: SystemPair
    label: str
    found: Difference


def _differences(compared: Comparison, numbers: Sequence[Number]) -> list[_Row]:
    """All differences: plain, weighted, over pairs of sentences, and of the sentences of unknown
    gender.
    """
    rows = []
    for pair in compared.pairs:
        plain = [n for n in numbers if n.key in pair.plain]
        rows += [_Row(pair, number.label, pair.plain[number.key]) for number in plain]
        rows += [
            _Row(pair, f"{n.label}, weighted", pair.weighted[n.key])
            for n in plain
            if n.key in pair.weighted
        ]
        rows += [
            _Row(pair, n.label, pair.consistency[n.key])
            for n in CONSISTENCY
            if n.key in pair.consistency
        ]
    if compared.unknown is not None:
        of_unknown = _differences(compared.unknown, UNKNOWN_GENDER.numbers)
        rows += [row._replace(label=f"{row.label}, unknown gender") for row in of_unknown]
    return rows


def _reasons_by_gold(run: ReportRun) -> Counter[tuple[str, str]]:
    """How many sentences have no call, by reason and gold gender; empty without calls."""
    return Counter(
        (str(r.call.reason), str(r.gold or UNKNOWN)) for r in run.calls if r.call.gender is None
    )


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
