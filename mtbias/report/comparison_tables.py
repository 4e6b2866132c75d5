"""The tables of a comparison as text for a terminal, Markdown, LaTeX, CSV or JSON. Nothing is computed here."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mtbias.metrics.comparison import Comparison
from mtbias.metrics.comparison import SystemPair as Pair
from mtbias.metrics.run_matching import DifferingRow
from mtbias.metrics.weighted import Weighting
from mtbias.report.run_table import cut, interval_text, number_text, printable
from mtbias.report.text_columns import UNDEFINED, columns
from mtbias.stats.results import Difference, Estimate

FORMATS = ("text", "json", "markdown", "csv", "latex")

_NAMES = {"accuracy": "accuracy", "delta_g": "ΔG", "delta_s": "ΔS"}
_TWINS = {"across": "I_across", "delta_i": "ΔI"}
_LEAST = 0.001
_UNMARKED = "  "
"""As wide as the mark of a significant difference, so that numbers stand below each other."""


@dataclass(frozen=True, slots=True)
class _Table:
    """A title, a header, rows, and what is to be said below; the first two columns hold text."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()


def render_comparison(comparison: Comparison, form: str = "text") -> str:
    """The comparison in one of `FORMATS`, ending in a newline.

    Text, Markdown and LaTeX have the numbers of all systems and their differences, language by language; the tests; the
    sentences on which the systems differ; weighted numbers and what the weights are; and the signature. CSV has
    `Comparison.table`, a number a row, with the signature as its last column. JSON is `Comparison.to_json`.

    Raises:
        ValueError: another format.
    """
    if form == "json":
        return json.dumps(comparison.to_json(), ensure_ascii=False, allow_nan=False) + "\n"
    if form == "csv":
        return _csv([{**row, "signature": comparison.signature} for row in comparison.table()])
    if form not in FORMATS:
        raise ValueError(f"expected a format of {', '.join(FORMATS)}, got {form!r}")
    draw = {"text": _text, "markdown": _markdown, "latex": _latex}[form]
    return draw(_tables(comparison), comparison.signature)


def render_rows(rows: Sequence[DifferingRow], form: str = "text") -> str:
    """The sentences on which calls differ, as ``text``, ``csv`` or ``jsonl``; ends in a newline where there are any.

    Raises:
        ValueError: another format.
    """
    if form == "csv":
        return _csv([row.to_json() for row in rows], DifferingRow.__dataclass_fields__)
    if form == "jsonl":
        return "".join(json.dumps(row.to_json(), ensure_ascii=False) + "\n" for row in rows)
    if form != "text":
        raise ValueError(f"expected a format of text, csv, jsonl, got {form!r}")
    return "\n".join(_differing(row) for row in rows)


def _tables(c: Comparison) -> list[_Table]:
    tables = [_numbers(c)]
    if c.pairs:
        tables += [_tests(c), _sentences(c)]
    if any(p.consistency for p in c.pairs):
        tables.append(_consistency(c))
    if c.weightings:
        tables += [_weighted(c), _weights(c.weightings)]
    return tables


def _numbers(c: Comparison) -> _Table:
    rows: list[list[str]] = []
    for lang in dict.fromkeys(system.lang for system in c.systems):
        here = [[cut(s.system), *map(_estimate, s.plain.values())] for s in c.systems if s.lang == lang]
        here += [[_name(p), *map(_difference, p.plain.values())] for p in c.pairs if p.lang == lang]
        rows += [[lang if n == 0 else "", *row] for n, row in enumerate(here)]
    r = c.rows
    title = (
        f"{printable(c.dataset)}: {r['n']:,} sentences, gold male {r['male']:,}, female {r['female']:,}; "
        f"pro stereotype {r['pro']:,}, anti {r['anti']:,}. Per cent"
    )
    title += " [95 % interval]" if c.n_resamples else ""
    notes = [
        f"{lang}: read by different evaluators: {printable('; '.join(phrases))}"
        for lang, phrases in c.evaluators.items()
    ]
    if c.pairs:
        notes.insert(0, f'"A - B": the difference in points; *: significant, {_family(c)}')
    if c.too_few_resamples:
        notes.insert(1, f"{c.n_resamples:,} resamples are too few for any of {c.tests:,} tests to be significant")
    return _Table(title, ["", "", *(name + _UNMARKED for name in _NAMES.values())], rows, notes)


def _family(c: Comparison) -> str:
    over = (
        f"corrected by Holm over the {c.tests:,} tests of the same number in this table" if c.tests > 1 else "one test"
    )
    return f"p < 0.05, {over}"


def _tests(c: Comparison) -> _Table:
    header = ["", "", *(text for name in _NAMES.values() for text in (f"{name}: p", "corrected"))]
    rows = [[p.lang, _name(p), *(text for d in p.plain.values() for text in (_p(d.p), _p(d.p_holm)))] for p in c.pairs]
    return _Table("Paired randomisation over sentences, two-sided", header, rows)


def _sentences(c: Comparison) -> _Table:
    header = ["", "", "calls differ", "both right", "only A", "only B", "neither", "McNemar's p"]
    rows = []
    for p in c.pairs:
        m = p.mcnemar
        counts = (p.differing, m.both, m.first_only, m.second_only, m.neither)
        rows.append([p.lang, _name(p), *(f"{count:,}" for count in counts), _p(m.p)])
    return _Table("Sentences by which system is right (McNemar's test: exact, two-sided, not corrected)", header, rows)


def _consistency(c: Comparison) -> _Table:
    shown = {number: name for number, name in _TWINS.items() if any(number in p.consistency for p in c.pairs)}
    header = ["", "", *(f"{name}{text}" for name in shown.values() for text in (": A", " B", " A - B", " p", " corr."))]
    rows = []
    for p in c.pairs:
        cells: list[str] = []
        for number in shown:
            d = p.consistency.get(number)
            if d is None:
                cells += [UNDEFINED] * 5
            else:
                cells += [number_text(d.first), number_text(d.second), _difference(d), _p(d.p), _p(d.p_holm)]
        rows.append([p.lang, _name(p), *cells])
    title = f"Consistency: {c.rows['twin_pairs']:,} pairs that differ in gender alone"
    title += f", {c.rows['quadruples']:,} quadruples with controls" if c.rows["quadruples"] else ", no controls"
    return _Table(
        f"{title}. Per cent of pairs right for one gender only",
        header,
        rows,
        ["Units of the intervals and tests are pairs and quadruples"],
    )


def _weighted(c: Comparison) -> _Table:
    rows: list[list[str]] = []
    for lang in dict.fromkeys(system.lang for system in c.systems):
        here = [
            [cut(s.system), *(text for n, e in s.weighted.items() for text in (_estimate(s.plain[n]), _estimate(e)))]
            for s in c.systems
            if s.lang == lang
        ]
        here += [
            [_name(p), *(text for n, d in p.weighted.items() for text in (_difference(p.plain[n]), _difference(d)))]
            for p in c.pairs
            if p.lang == lang
        ]
        rows += [[lang if n == 0 else "", *row] for n, row in enumerate(here)]
    header = ["", "", *(text for n in c.weightings for text in (f"{_NAMES[n]}  ", f"{_NAMES[n]} weighted  "))]
    return _Table("Plain and weighted", header, rows)


def _weights(weightings: Mapping[str, Weighting]) -> _Table:
    header = ["", "group", "sentences", "effective", "weight 0", "largest weights"]
    rows, notes = [], []
    for number, w in weightings.items():
        largest = ", ".join(f"{weight:.2f} ({printable(id_)})" for id_, weight in w.largest[:3])
        for n, (group, size, effective) in enumerate(zip(w.groups, w.sizes, w.effective_sizes, strict=True)):
            of_both = [f"{w.n_zero:,}", largest] if n == 0 else ["", ""]
            rows.append(["" if n else _NAMES[number], group, f"{size:,}", f"{effective:,.1f}", *of_both])
        said = f"{_NAMES[number]}: balanced over {', '.join(w.properties) or 'nothing'}"
        said += f"; the same in all sentences or not known: {', '.join(w.constant)}" if w.constant else ""
        said += f"; cannot be balanced, weight 0: {', '.join(map(printable, w.one_sided))}" if w.one_sided else ""
        notes.append(said)
    return _Table("The weights (mean 1; effective: Kish's sample size)", header, rows, notes)


def _name(pair: Pair) -> str:
    return f"{cut(pair.first)} - {cut(pair.second)}"


def _estimate(e: Estimate) -> str:
    text = UNDEFINED if e.value is None else f"{number_text(e.value)} {_interval(e.interval)}".rstrip()
    return text + _UNMARKED


def _difference(d: Difference) -> str:
    if d.difference is None:
        return UNDEFINED + _UNMARKED
    return f"{number_text(d.difference)} {_interval(d.interval)}".rstrip() + (" *" if d.significant else _UNMARKED)


def _interval(ends: tuple[float, float] | None) -> str:
    return "" if ends is None else interval_text(ends)


def _p(p: float | None) -> str:
    return UNDEFINED if p is None else f"<{_LEAST}" if p < _LEAST else f"{p:.3f}"


def _differing(row: DifferingRow) -> str:
    def said(name: str, call: object, reason: object, translation: str | None) -> str:
        return f"  {cut(name)}: {call or f'none ({reason})'} | {printable(translation or UNDEFINED)}\n"

    head = f"{row.lang} {printable(row.id)}: {printable(row.entity)}, gold {row.gold}, stereotype {row.stereotype}\n"
    return (
        f"{head}  {printable(row.source)}\n"
        + said(row.first, row.first_call, row.first_reason, row.first_translation)
        + said(row.second, row.second_call, row.second_reason, row.second_translation)
    )


# --- Drawing ----------------------------------------------------------------------------------------------------------


def _text(tables: Sequence[_Table], signature: str) -> str:
    blocks = [_text_table(table) + "".join(f"{note}\n" for note in table.notes) for table in tables]
    return "\n".join(blocks) + f"\nSignature: {printable(signature)}\n"


def _text_table(table: _Table) -> str:
    """As `columns`, with the text of the second column flush left too."""
    width = max(len(row[1]) for row in (table.header, *table.rows))
    head, *rows = ([row[0], f"{row[1]:<{width}}", *row[2:]] for row in (table.header, *table.rows))
    return f"{table.title}\n{columns(head, rows)}"


def _markdown(tables: Sequence[_Table], signature: str) -> str:
    blocks = []
    for table in tables:
        lines = [
            "| " + " | ".join(map(_escaped_markdown, table.header)) + " |",
            "|---|---|" + "---:|" * (len(table.header) - 2),
            *("| " + " | ".join(map(_escaped_markdown, row)) + " |" for row in table.rows),
        ]
        notes = "".join(f"\n{_escaped_markdown(note)}\n" for note in table.notes)
        blocks.append(f"{_escaped_markdown(table.title)}\n\n" + "\n".join(lines) + "\n" + notes)
    return "\n".join(blocks) + f"\nSignature: `{printable(signature).replace('`', '?')}`\n"


def _escaped_markdown(text: str) -> str:
    return re.sub(r"([\\`*_|<\[])", r"\\\1", text.strip())


def _latex(tables: Sequence[_Table], signature: str) -> str:
    blocks = []
    for table in tables:
        lines = [
            f"% {table.title}",
            rf"\begin{{tabular}}{{ll{'r' * (len(table.header) - 2)}}}",
            r"\toprule",
            " & ".join(map(_escaped_latex, table.header)) + r" \\",
            r"\midrule",
            *(" & ".join(map(_escaped_latex, row)) + r" \\" for row in table.rows),
            r"\bottomrule",
            r"\end{tabular}",
            *(f"% {note}" for note in table.notes),
        ]
        blocks.append("\n".join(lines) + "\n")
    return "% needs booktabs\n" + "\n".join(blocks) + f"% Signature: {printable(signature)}\n"


_LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "Δ": r"$\Delta$", "–": "--",
    "<": r"$<$", ">": r"$>$", "*": r"$^*$", **{c: f"\\{c}" for c in "&%$#_{}"},
}  # fmt: skip


def _escaped_latex(text: str) -> str:
    """Text for LaTeX; a minus sign as such; an opening bracket in braces, lest a row's end takes it for an option."""
    text = "".join(_LATEX.get(character, character) for character in text.strip())
    return re.sub(r"(?<![\w.}])-(?=\d)", "$-$", text).replace("[", "{[}")


def _csv(rows: Sequence[Mapping[str, object]], header: Sequence[str] | Mapping[str, object] = ()) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, list(header or rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()
