"""The alarms of a run in words, for the place above numbers that may be wrong.

Nothing is computed here; everything is in `metrics.json` (`alarms`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import NamedTuple

from mtbias.errors import escaped
from mtbias.report.tables import aligned
from mtbias.scoring.alarms import DECLARED
from mtbias.scoring.definitions import CLASSES, Number
from mtbias.scoring.metrics_records import Alarms, RunMetrics
from mtbias.stats.results import estimate_text, number_text

_NAMED = 3
"""The most other languages, or unusual characters, that a warning names."""


def warnings(alarms: Alarms | None) -> list[str]:
    """A line for each sign above its limit: how many rows, of how many, the limit, and what to do.

    A run of an earlier release has no alarms.
    """
    if alarms is None:
        return []
    return [_warning(key, alarms) for key in alarms.raised if key in DECLARED]


def _warning(key: str, alarms: Alarms) -> str:
    sign, checked = DECLARED[key], alarms.shares[key]
    share = checked.share
    allowed = f"limit {checked.limit:g} %"
    if not checked.measured:
        allowed += ", the widest of all languages"
    counted = f"{share.n:,} of {share.of:,} {sign.of}"
    text = f"{counted} {sign.they} ({number_text(share.percent)} %, {allowed})"
    if key == "other_language":
        text += _most_frequent(alarms.other_languages, "{}")
    elif key == "damaged":
        text += _most_frequent(alarms.unusual_characters, "‘{}’")
    return f"{text}; {sign.advice}"


def _most_frequent(counts: Mapping[str, int], form: str) -> str:
    """``: ru 12, en 3, …``, the most frequent first; empty without any."""
    named = [f"{form.format(escaped(what))} {n:,}" for what, n in list(counts.items())[:_NAMED]]
    more = ["…"] if len(counts) > _NAMED else []
    return f": {', '.join([*named, *more])}" if named else ""


def named_warnings(runs: Sequence[tuple[str, Alarms | None]]) -> list[str]:
    """The `warnings` of several runs, each after its run's name."""
    lines = []
    for name, alarms in runs:
        lines += [f"{name}: {text}" for text in warnings(alarms)]
    return lines


def shown_without(metrics: RunMetrics, numbers: Sequence[Number]) -> list[tuple[str, str, str]]:
    """The numbers of the headline with and without the sentences in doubt: label, with, without;
    empty without any.

    The first line is how many sentences there are.
    """
    overall, without = metrics.overall, None
    if metrics.alarms is not None:
        without = metrics.alarms.without
    if without is None:
        return []
    lines = [("n", f"{overall.n:,}", f"{without.n:,}")]
    for number in numbers:
        if number.headline:
            with_all, rest = overall.estimate(number), without.estimate(number)
            first = estimate_text(with_all.value, with_all.interval)
            lines.append((number.label, first, estimate_text(rest.value, rest.interval)))
    return lines


def alarm_block(metrics: RunMetrics, numbers: Sequence[Number], width: int, *, full: bool) -> str:
    """The warnings above the numbers in a terminal of that width; empty where nothing is above its
    limit.

    With `full` the numbers without the sentences concerned, too.
    """
    lines = []
    for warning in warnings(metrics.alarms):
        lines += wrap(f"WARNING: {warning}", width, subsequent_indent="  ")
    if metrics.alarms is not None and metrics.alarms.concerned == metrics.n:
        lines.append("  All sentences are concerned.")
    both = shown_without(metrics, numbers) if full else []
    if both:
        table = [["  of all sentences, and without those concerned", "all", "without"]]
        table += [[f"  {label}", *cells] for label, *cells in both]
        lines += aligned(table, "<>>")
    return "\n".join(lines)


class CheckRow(NamedTuple):
    """A share as tables show it."""

    label: str
    counted: str
    """``n of N translations``."""
    percent: str
    """With its interval."""
    limit: str
    above: bool


def check_rows(metrics: RunMetrics) -> list[CheckRow]:
    """Each checked share, with its limit."""
    rows = []
    for key, checked in metrics.alarms.shares.items() if metrics.alarms else ():
        if key in DECLARED:
            sign, share = DECLARED[key], checked.share
            counted = f"{share.n:,} of {share.of:,} {sign.of}"
            limit = f"{checked.limit:g}"
            rows.append(CheckRow(sign.label, counted, share.text, limit, checked.above))
    return rows


def checks_block(metrics: RunMetrics) -> str:
    """The checked shares for a terminal, where one is above its limit; and how often the readers
    agree.
    """
    rows = check_rows(metrics)
    if not rows:
        return ""
    alike = [f"{name} {percent} % of {of:,}" for name, of, percent in reader_rows(metrics) if of]
    readers = [f"Stanza's features agree: {', '.join(alike)}"] if alike else []
    if not any(row.above for row in rows):  # which the finding says
        return "\n".join(readers)
    table = [
        [f"  {row.label}", row.counted, row.percent, f"{row.limit}{'  <<' * row.above}"]
        for row in rows
    ]
    return "\n".join([*aligned([["Checks", "", "per cent", "limit"], *table], "<>><"), *readers])


def reader_rows(metrics: RunMetrics) -> list[tuple[str, int, str]]:
    """Men and women: how many both readers call, and per cent of these that they call alike, with
    its interval.

    Edge cases: empty for a run of an earlier release, or of another measure.
    """
    shares = metrics.readers.by_gender if metrics.readers else {}
    rows = []
    for key, name in CLASSES.items():
        if key in shares:
            rows.append((name, shares[key].of, shares[key].text))
    return rows
