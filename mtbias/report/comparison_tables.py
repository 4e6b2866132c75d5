"""The tables of a comparison as text for a terminal, Markdown, LaTeX, CSV or JSON. Nothing is
computed here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, repeat
from typing import Any

from mtbias.report import tables
from mtbias.report.alarm_texts import named_warnings
from mtbias.report.run_table import quote_lines, wrapped
from mtbias.report.tables import PrintedTable, cut, draw
from mtbias.scoring.bias import UNKNOWN_GENDER
from mtbias.scoring.comparable_runs import SystemNumbers, SystemPair
from mtbias.scoring.comparison import PAIRS, QUADRUPLES, Comparison
from mtbias.scoring.counting import QUESTIONS, EntityIntervals
from mtbias.scoring.definitions import ALL_ROWS, CONSISTENCY, DELTA_S, GENDER_NUMBERS, Number
from mtbias.scoring.finding import CAUTION, Share, caution_text, few_found
from mtbias.scoring.metrics_reader import read_alarms
from mtbias.scoring.statements import Statement
from mtbias.scoring.weighted import Weighting
from mtbias.stats.results import (
    ALPHA,
    UNDEFINED,
    Difference,
    Estimate,
    estimate_text,
    number_text,
    p_text,
)
from mtbias.types import Gender, Stereotype

_FEW = 2
"""More systems of a language than these are ranked, and their differences shown when asked for."""

_UNMARKED = "  "
"""Blanks as wide as the mark of a significant difference or of a caution, so that numbers line up.
"""


def render_comparison(
    comparison: Comparison,
    form: str = "text",
    numbers: Sequence[Number] = GENDER_NUMBERS,
    *,
    full: bool = False,
) -> str:
    """The comparison as ``text``, ``markdown``, ``latex``, ``json`` or ``csv``, ending in a
    newline.

    Text, Markdown and LaTeX have the finding (but LaTeX); the numbers of all systems and their
    differences, language by language (text without `full` ranks more than two systems, without
    their differences); weighted numbers and what the weights are; and the signature; with `full`
    the intervals over entities, the tests, the sentences on which the systems differ, and
    consistency, too. CSV has `Comparison.table`, a number a row, with the signature as its last
    column. JSON is `Comparison.to_json`. `numbers` are what the measure of the runs reports.
    """
    if form == "json":
        return json.dumps(comparison.to_json(), ensure_ascii=False, allow_nan=False) + "\n"
    if form == "csv":
        return tables.as_csv(
            {**row, "signature": comparison.signature} for row in comparison.table()
        )
    compared = {number.key: number.short for number in numbers if number.compared}
    short = form == "text" and not full
    shown = _tables(comparison, compared, full=full, short=short)
    if comparison.unknown is not None:
        names = {number.key: number.short for number in UNKNOWN_GENDER.compared}
        part, *more = _tables(comparison.unknown, names, full=full, short=short)
        shown += [
            replace(part, title=f"Sentences of unknown gender, of {part.title}", warnings=()),
            *more,
        ]
    finding = ""
    if form in {"text", "markdown"}:
        finding = _finding(shown_finding(comparison, full=full), form)
    return finding + draw(shown, form, [("", comparison.signature)])


def shown_finding(comparison: Comparison, *, full: bool = False) -> list[Statement]:
    """The sentences of a comparison's finding; of several pairs, only `full` has the other
    differences.
    """
    every = full or len(comparison.pairs) == 1
    return [
        statement for statement in comparison.finding if every or statement.rule != "bias_differs"
    ]


def first_table(comparison: Comparison, numbers: Sequence[Number] = GENDER_NUMBERS) -> PrintedTable:
    """Systems and their differences, as a notebook shows them."""
    names = {number.key: number.short for number in numbers if number.compared}
    table = _numbers(comparison, names, ranked=False)
    return replace(table, notes=[*table.notes, f"Signature: {comparison.signature}"])


def _finding(finding: Sequence[Statement], form: str) -> str:
    if form == "markdown":
        return "".join(f"{tables.markdown_text(statement.text)}\n\n" for statement in finding)
    lines = []
    for statement in finding:
        lines += wrapped(statement.text)
        if statement.quote is not None:
            lines += quote_lines(statement.quote)
    return "".join(f"{line}\n" for line in [*lines, *[""] * bool(lines)])


def _tables(
    c: Comparison, names: Mapping[str, str], *, full: bool, short: bool
) -> list[PrintedTable]:
    many = max(Counter(system.lang for system in c.systems).values()) > _FEW
    shown = [_numbers(c, names, ranked=short and many)]
    if full and c.over_entities is not None and c.over_entities.intervals is not None:
        shown.append(_over_entities(c, names, c.over_entities))
    if full and c.pairs:
        shown += [_tests(c, names), _sentences(c)]
    if full and any(p.consistency for p in c.pairs):
        shown.append(_consistency(c))
    if c.weightings:
        shown.append(_weighted(c, names))
    return shown


def _table_rows(
    c: Comparison,
    cells: Callable[[SystemNumbers | SystemPair], Iterable[Any]],
    marks: Callable[[SystemNumbers], Iterable[str]] = lambda _: repeat(_UNMARKED),
) -> list[list[str]]:
    """Systems and then their differences, language by language; only a language's first row has its
    name. `marks` follow the numbers of a system.
    """
    named: list[tuple[str, list[str]]] = []
    for s in c.systems:
        both = zip(cells(s), marks(s), strict=False)
        numbers = [estimate_text(e.value, e.interval) + mark for e, mark in both]
        named.append((s.lang, [cut(s.system), *numbers]))
    named += [(p.lang, [_name(p), *map(_difference, cells(p))]) for p in c.pairs]
    by_language: dict[str, list[list[str]]] = {}
    for lang, row in named:
        rows = by_language.setdefault(lang, [])
        rows.append(["" if rows else lang, *row])
    return [*chain.from_iterable(by_language.values())]


def _numbers(c: Comparison, names: Mapping[str, str], *, ranked: bool) -> PrintedTable:
    """Systems and their differences; with `ranked` the systems alone, the highest in the first
    number first.
    """
    alarms = [(f"{s.system} ({s.lang})", read_alarms(s.alarms)) for s in c.systems]
    warned = named_warnings(alarms)
    shown = _by_first_number(c, next(iter(names))) if ranked else c
    few = {s.fingerprint: _few_found(s) for s in shown.systems}

    def cells(of: SystemNumbers | SystemPair) -> Iterator[Estimate | Difference]:
        return (of.plain[key] for key in names)

    def marks(s: SystemNumbers) -> list[str]:
        mark = _UNMARKED if few[s.fingerprint] is None else f" {CAUTION}"
        return [mark if key == DELTA_S.key else _UNMARKED for key in names]

    return PrintedTable(
        ["", "", *(name + _UNMARKED for name in names.values())],
        _table_rows(shown, cells, marks),
        _numbers_title(c),
        warnings=warned,
        notes=[*_numbers_notes(c, names, ranked=ranked), *_cautions(shown.systems, few)],
        left=2,
    )


def _by_first_number(c: Comparison, key: str) -> Comparison:
    """The systems without their pairs, the highest in the number called `key` first."""
    ordered = sorted(c.systems, key=lambda s: -(s.plain[key].value or 0))
    return replace(c, systems=tuple(ordered), pairs=())


def _numbers_title(c: Comparison) -> str:
    """The corpus, how many sentences of each class it has, and the unit of the numbers."""
    rows = c.rows
    title = f"{c.dataset}: {rows[ALL_ROWS]:,} sentences"
    if Gender.MALE in rows:  # a measure of one's own may have other classes, or none
        title += f", {rows[Gender.MALE]:,} about men, {rows[Gender.FEMALE]:,} about women; "
        title += f"pro stereotype {rows[Stereotype.PRO]:,}, anti {rows[Stereotype.ANTI]:,}"
    interval = f" [95 % interval over {c.unit}]" if c.n_resamples else ""
    return f"{title}. Per cent{interval}"


def _numbers_notes(c: Comparison, names: Mapping[str, str], *, ranked: bool) -> Iterator[str]:
    """How intervals and tests were made, and what is missing."""
    wilson = [key for key, method in c.methods.items() if method == "wilson"]
    shares = [names[key] for key in wilson if key in names]
    if shares:
        yield f"Intervals: Wilson for the {', '.join(shares)} of a system, bootstrap for all others"
    if c.pairs and ranked:
        yield f"The {c.tests:,} pairs, each difference with its interval and corrected test: --full"
    elif c.pairs:
        family = "one test"
        if c.tests > 1:
            family = (
                f"corrected by Holm over the {c.tests:,} tests of the same number in this table"
            )
        yield f'"A - B": the difference in points; *: significant, p < {ALPHA:g}, {family}'
    if c.n_resamples and c.over_entities is not None and c.over_entities.intervals is None:
        yield f"No intervals over entities: {c.over_entities.reason}"
    if c.too_few_resamples:
        few = f"{c.n_resamples:,} resamples are too few"
        yield f"{few} for any of {c.tests:,} tests to be significant"
    for lang, phrases in c.evaluators.items():
        yield f"{lang}: read by different evaluators: {'; '.join(phrases)}"


def _cautions(systems: Sequence[SystemNumbers], few: Mapping[str, Share | None]) -> Iterator[str]:
    """Why ΔS means little, for each system that finds few men or few women."""
    several = len({s.lang for s in systems}) > 1
    for s in systems:
        least = few[s.fingerprint]
        if least is not None:
            yield caution_text(f"{s.system} ({s.lang})" if several else s.system, least)


def _few_found(system: SystemNumbers) -> Share | None:
    """The gender that a system finds too seldom for its ΔS to mean much."""
    number = system.plain.get(DELTA_S.key)
    return few_found(system.group.counts) if number and number.value is not None else None


def _over_entities(c: Comparison, names: Mapping[str, str], over: EntityIntervals) -> PrintedTable:
    """The compared numbers with their intervals over entities."""
    head = ["", "", *(name + _UNMARKED for name in names.values())]

    def cells(of: SystemNumbers | SystemPair) -> Iterable[Estimate | Difference]:
        for key in names:
            plain = of.plain[key]
            yield replace(
                plain,
                interval=None if of.over_entities is None else of.over_entities.interval_of(key),
            )

    title = f"Per cent [95 % interval over {over.n:,} entities]"
    return PrintedTable(
        head,
        _table_rows(c, cells),
        title,
        [f"Intervals {QUESTIONS}; tests are over {c.unit}"],
        left=2,
    )


def _tests(c: Comparison, names: Mapping[str, str]) -> PrintedTable:
    head = ["", ""]
    for name in names.values():
        head += [f"{name}: p", "corrected"]
    rows = []
    for pair in c.pairs:
        row = [pair.lang, _name(pair)]
        for key in names:
            row += [p_text(pair.plain[key].p), p_text(pair.plain[key].p_holm)]
        rows.append(row)
    return PrintedTable(head, rows, f"Paired randomisation over {c.unit}, two-sided", left=2)


def _sentences(c: Comparison) -> PrintedTable:
    head = ["", "", "calls differ", "both right", "only A", "only B", "neither", "McNemar's p"]
    rows = []
    for p in c.pairs:
        m = p.mcnemar
        counts = (p.differing, m.both, m.first_only, m.second_only, m.neither)
        rows.append([p.lang, _name(p), *(f"{count:,}" for count in counts), p_text(m.p)])
    units = c.unit.capitalize()
    title = f"{units} by which system is right (McNemar's test: exact, two-sided, not corrected)"
    if not c.right_or_wrong:
        return PrintedTable(
            head[:3], [row[:3] for row in rows], f"{units} with another call", left=2
        )
    return PrintedTable(head, rows, title, left=2)


def _consistency(c: Comparison) -> PrintedTable:
    known = set(chain.from_iterable(pair.consistency for pair in c.pairs))
    shown = [n for n in CONSISTENCY if n.compared and n.key in known]
    head = ["", ""]
    for number in shown:
        head += [f"{number.short}{text}" for text in (": A", " B", " A - B", " p", " corr.")]
    rows = []
    for p in c.pairs:
        cells: list[str] = []
        for number in shown:
            d = p.consistency.get(number.key)
            if d is None:
                cells += [UNDEFINED] * 5
            else:
                cells += [
                    number_text(d.first),
                    number_text(d.second),
                    _difference(d),
                    p_text(d.p),
                    p_text(d.p_holm),
                ]
        rows.append([p.lang, _name(p), *cells])
    quadruples = c.rows[QUADRUPLES]
    title = f"Consistency: {c.rows[PAIRS]:,} pairs that differ in gender alone"
    title += f", {quadruples:,} quadruples with controls" if quadruples else ", no controls"
    title += ". Per cent of pairs right for one gender only"
    return PrintedTable(
        head, rows, title, ["Units of the intervals and tests are pairs and quadruples"], left=2
    )


def _weighted(c: Comparison, names: Mapping[str, str]) -> PrintedTable:
    head = ["", ""]
    notes = []
    for key, weighting in c.weightings.items():
        head += [f"{names[key]}{_UNMARKED}", f"{names[key]} weighted{_UNMARKED}"]
        notes += [f"{names[key]}: {text}" for text in _weights(weighting)]

    def cells(of: SystemNumbers | SystemPair) -> Iterator[Estimate | Difference]:
        for key, weighted in of.weighted.items():
            yield of.plain[key]
            yield weighted

    title = "Plain and weighted (mean 1; effective: Kish's sample size)"
    return PrintedTable(head, _table_rows(c, cells), title, notes, left=2)


def _weights(weighting: Weighting) -> Iterator[str]:
    """The properties that the weights balance, and their cost."""
    b = weighting.balance
    yield f"balanced over {', '.join(weighting.properties) or 'nothing'}"
    if weighting.constant:
        yield f"the same in all sentences or not known: {', '.join(weighting.constant)}"
    if b.one_sided:
        yield f"cannot be balanced, weight 0: {', '.join(b.one_sided)} ({b.n_zero:,} sentences)"
    groups = zip(b.groups, b.sizes, b.effective_sizes, strict=True)
    yield "effective sentences: " + ", ".join(
        f"{name} {effective:,.1f} of {n:,}" for name, n, effective in groups
    )
    yield "largest weights: " + ", ".join(
        f"{weight:.2f} ({id_})" for id_, weight in weighting.largest[:3]
    )


def _name(pair: SystemPair) -> str:
    return f"{cut(pair.first)} - {cut(pair.second)}"


def _difference(d: Difference) -> str:
    return estimate_text(d.difference, d.interval) + (" *" if d.significant else _UNMARKED)
