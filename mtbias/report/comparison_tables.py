"""The tables of a comparison as text for a terminal, Markdown, LaTeX, CSV or JSON. Nothing is
computed here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any

from mtbias.report import tables
from mtbias.report.alarm_texts import named_warnings
from mtbias.report.run_table import quote_lines, wrapped
from mtbias.report.tables import PrintedTable, cut, draw
from mtbias.scoring.bias import UNKNOWN_GENDER
from mtbias.scoring.comparable_runs import SystemNumbers, SystemPair
from mtbias.scoring.comparison import Comparison
from mtbias.scoring.counting import QUESTIONS, EntityIntervals
from mtbias.scoring.definitions import CONSISTENCY, GENDER_NUMBERS, Number
from mtbias.scoring.finding import CAUTION, Share, Statement, caution_text, few_found
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

_FEW = 2
"""More systems of a language than these are ranked, and their differences shown when asked for."""

_UNMARKED = "  "
"""As wide as the marks of a significant difference and of a caution, so that numbers stand below
each other."""


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
    found = _tables(comparison, compared, full=full, short=short)
    if comparison.unknown is not None:
        names = {number.key: number.short for number in UNKNOWN_GENDER.compared}
        part, *more = _tables(comparison.unknown, names, full=full, short=short)
        found += [
            replace(part, title=f"Sentences of unknown gender, of {part.title}", warnings=()),
            *more,
        ]
    said = ""
    if form in {"text", "markdown"}:
        said = _finding(shown_finding(comparison, full=full), form)
    return said + draw(found, form, [("", comparison.signature)])


def shown_finding(comparison: Comparison, *, full: bool = False) -> list[Statement]:
    """The sentences of a comparison; without `full` of several pairs not what else differs."""
    every = full or len(comparison.pairs) == 1
    return [said for said in comparison.finding if every or said.rule != "bias_differs"]


def first_table(comparison: Comparison, numbers: Sequence[Number] = GENDER_NUMBERS) -> PrintedTable:
    """Systems and their differences, as a notebook shows them."""
    names = {number.key: number.short for number in numbers if number.compared}
    table = _numbers(comparison, names, ranked=False)
    return replace(table, notes=[*table.notes, f"Signature: {comparison.signature}"])


def _finding(finding: Sequence[Statement], form: str) -> str:
    if form == "markdown":
        return "".join(f"{tables.markdown_text(said.text)}\n\n" for said in finding)
    lines = []
    for said in finding:
        lines += wrapped(said.text)
        if said.quote is not None:
            lines += quote_lines(said.quote)
    return "".join(f"{line}\n" for line in [*lines, *[""] * bool(lines)])


def _tables(
    c: Comparison, names: Mapping[str, str], *, full: bool, short: bool
) -> list[PrintedTable]:
    many = max(Counter(system.lang for system in c.systems).values()) > _FEW
    found = [_numbers(c, names, ranked=short and many)]
    if full and c.over_entities is not None and c.over_entities.intervals is not None:
        found.append(_over_entities(c, names, c.over_entities))
    if full and c.pairs:
        found += [_tests(c, names), _sentences(c)]
    if full and any(p.consistency for p in c.pairs):
        found.append(_consistency(c))
    if c.weightings:
        found.append(_weighted(c, names))
    return found


def _table_rows(
    c: Comparison,
    cells: Callable[[SystemNumbers | SystemPair], Iterable[Any]],
    marks: Callable[[SystemNumbers], Iterable[str]] = lambda _: repeat(_UNMARKED),
) -> list[list[str]]:
    """Systems and then their differences, language by language; a language's name stands only where
    it begins. `marks` stand behind the numbers of a system.
    """
    found = []
    for s in c.systems:
        both = zip(cells(s), marks(s), strict=False)
        numbers = [estimate_text(e.value, e.interval) + mark for e, mark in both]
        found.append((s.lang, [cut(s.system), *numbers]))
    found += [(p.lang, [_name(p), *map(_difference, cells(p))]) for p in c.pairs]
    rows: dict[str, list[list[str]]] = {}
    for lang, row in found:
        here = rows.setdefault(lang, [])
        here.append(["" if here else lang, *row])
    return [row for here in rows.values() for row in here]


def _numbers(c: Comparison, names: Mapping[str, str], *, ranked: bool) -> PrintedTable:
    """Systems and differences; `ranked`: the systems alone, the highest in the first number
    first.
    """
    r = c.rows
    title = f"{c.dataset}: {r['n']:,} sentences"
    if "male" in r:  # a measure of one's own may have other classes, or none
        title += f", {r['male']:,} about men, {r['female']:,} about women; "
        title += f"pro stereotype {r['pro']:,}, anti {r['anti']:,}"
    title += ". Per cent"
    title += f" [95 % interval over {c.unit}]" if c.n_resamples else ""
    shares = [
        names[key] for key, method in c.methods.items() if method == "wilson" and key in names
    ]
    notes = (
        [f"Intervals: Wilson for the {', '.join(shares)} of a system, bootstrap for all others"]
        if shares
        else []
    )
    if c.pairs and ranked:
        notes.append(
            f"The {c.tests:,} pairs, each difference with its interval and corrected test: --full"
        )
    elif c.pairs:
        family = (
            f"corrected by Holm over the {c.tests:,} tests of the same number in this table"
            if c.tests > 1
            else "one test"
        )
        notes.append(f'"A - B": the difference in points; *: significant, p < {ALPHA:g}, {family}')
    if c.n_resamples and c.over_entities is not None and c.over_entities.intervals is None:
        notes.append(f"No intervals over entities: {c.over_entities.reason}")
    if c.too_few_resamples:
        notes.append(
            f"{c.n_resamples:,} resamples are too few for any of {c.tests:,} tests to be significant"
        )
    notes += [
        f"{lang}: read by different evaluators: {'; '.join(phrases)}"
        for lang, phrases in c.evaluators.items()
    ]
    head = ["", "", *(name + _UNMARKED for name in names.values())]
    warned = named_warnings([(f"{s.system} ({s.lang})", s.alarms) for s in c.systems])
    if ranked:
        first = next(iter(names))
        c = replace(
            c,
            systems=tuple(sorted(c.systems, key=lambda s: -(s.plain[first].value or 0))),
            pairs=(),
        )
    few = {s.fingerprint: least for s in c.systems if (least := _few_found(s)) is not None}
    several = len({s.lang for s in c.systems}) > 1
    for s in c.systems:
        if s.fingerprint in few:
            name = f"{s.system} ({s.lang})" if several else s.system
            notes.append(caution_text(name, few[s.fingerprint]))

    def marks(s: SystemNumbers) -> list[str]:
        return [
            f" {CAUTION}" if key == "delta_s" and s.fingerprint in few else _UNMARKED
            for key in names
        ]

    rows = _table_rows(c, lambda of: (of.plain[key] for key in names), marks)
    return PrintedTable(head, rows, title, warnings=warned, notes=notes, left=2)


def _few_found(system: SystemNumbers) -> Share | None:
    """Whom a system finds too seldom for its ΔS to mean much."""
    number = system.plain.get("delta_s")
    return few_found(system.group.counts) if number and number.value is not None else None


def _over_entities(c: Comparison, names: Mapping[str, str], over: EntityIntervals) -> PrintedTable:
    """The same numbers with their intervals over entities."""
    head = ["", "", *(name + _UNMARKED for name in names.values())]

    def cells(of: SystemNumbers | SystemPair) -> Iterable[Estimate | Difference]:
        for key in names:
            plain = of.plain[key]
            yield replace(
                plain, interval=None if of.over_entities is None else of.over_entities.of(key)
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
    head = ["", "", *(text for name in names.values() for text in (f"{name}: p", "corrected"))]
    rows = [
        [
            p.lang,
            _name(p),
            *(
                text
                for key in names
                for text in (p_text(p.plain[key].p), p_text(p.plain[key].p_holm))
            ),
        ]
        for p in c.pairs
    ]
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
    shown = [n for n in CONSISTENCY if n.compared and any(n.key in p.consistency for p in c.pairs)]
    head = [
        "",
        "",
        *(f"{n.short}{text}" for n in shown for text in (": A", " B", " A - B", " p", " corr.")),
    ]
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
    title = f"Consistency: {c.rows['pairs']:,} pairs that differ in gender alone"
    title += (
        f", {c.rows['quadruples']:,} quadruples with controls"
        if c.rows["quadruples"]
        else ", no controls"
    )
    title += ". Per cent of pairs right for one gender only"
    return PrintedTable(
        head, rows, title, ["Units of the intervals and tests are pairs and quadruples"], left=2
    )


def _weighted(c: Comparison, names: Mapping[str, str]) -> PrintedTable:
    head = [
        "",
        "",
        *(f"{names[n]}{text}{_UNMARKED}" for n in c.weightings for text in ("", " weighted")),
    ]
    rows = _table_rows(
        c, lambda of: (found for n, e in of.weighted.items() for found in (of.plain[n], e))
    )
    notes = [
        f"{names[number]}: {text}" for number, w in c.weightings.items() for text in _weights(w)
    ]
    return PrintedTable(
        head, rows, "Plain and weighted (mean 1; effective: Kish's sample size)", notes, left=2
    )


def _weights(weighting: Weighting) -> Iterator[str]:
    """What the weights are balanced over, and what that costs."""
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
