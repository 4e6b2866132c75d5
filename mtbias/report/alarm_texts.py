"""The alarms of a run in words: what stands above its numbers where they may not be believed.

Nothing is computed here; all stands in `metrics.json` (`alarms`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import NamedTuple

from mtbias.errors import escaped
from mtbias.report.tables import aligned
from mtbias.scoring.alarms import DECLARED
from mtbias.scoring.definitions import CLASSES, Number
from mtbias.stats.results import estimate_text, number_text
from mtbias.types import JsonObject

_NAMED = 3
"""So many other languages, and unusual characters, are named."""


def warnings(alarms: JsonObject | None) -> list[str]:
    """A line for each sign above its limit: how many rows, of how many, the limit, and what to do.

    `alarms` is that of `metrics.json`; a file of an earlier release has none.
    """
    return [_warning(key, alarms) for key in alarms["raised"] if key in DECLARED] if alarms else []


def _warning(key: str, alarms: JsonObject) -> str:
    sign, share = DECLARED[key], alarms["shares"][key]
    allowed = f"limit {share['limit']:g} %"
    if not share.get("measured", True):
        allowed += ", the widest of all languages"
    counted = f"{share['n']:,} of {share['of']:,} {sign.of}"
    text = f"{counted} {sign.they} ({number_text(share['percent'])} %, {allowed})"
    if key == "other_language":
        text += _most_frequent(alarms["other_languages"], "{}")
    elif key == "damaged":
        text += _most_frequent(alarms.get("unusual_characters", {}), "‘{}’")
    return f"{text}; {sign.advice}"


def _most_frequent(counts: Mapping[str, int], form: str) -> str:
    """``: ru 12, en 3, …``, the most frequent first; empty without any."""
    named = [f"{form.format(escaped(what))} {n:,}" for what, n in list(counts.items())[:_NAMED]]
    more = ["…"] if len(counts) > _NAMED else []
    return f": {', '.join([*named, *more])}" if named else ""


def named_warnings(runs: Sequence[tuple[str, JsonObject | None]]) -> list[str]:
    """The `warnings` of several runs, each behind its run's name."""
    lines = []
    for name, alarms in runs:
        lines += [f"{name}: {text}" for text in warnings(alarms)]
    return lines


def shown_without(metrics: JsonObject, numbers: Sequence[Number]) -> list[tuple[str, str, str]]:
    """The numbers of the headline with and without the sentences in doubt: label, with, without;
    empty without any.

    The first line is how many sentences there are.
    """
    without = (metrics.get("alarms") or {}).get("without")
    if without is None:
        return []
    overall = metrics["overall"]
    lines = [("n", f"{overall['n']:,}", f"{without['n']:,}")]
    for number in numbers:
        if number.headline:
            both = (number.of(group) for group in (overall, without))
            first, second = (estimate_text(found.value, found.interval) for found in both)
            lines.append((number.label, first, second))
    return lines


def alarm_block(metrics: JsonObject, numbers: Sequence[Number], width: int, *, full: bool) -> str:
    """What stands above the numbers in a terminal of that width; empty where nothing is above its
    limit.

    With `full` the numbers without the sentences concerned, too.
    """
    lines = []
    for warning in warnings(metrics.get("alarms")):
        lines += wrap(f"WARNING: {warning}", width, subsequent_indent="  ")
    if (metrics.get("alarms") or {}).get("concerned") == metrics["n"]:
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


def check_rows(metrics: JsonObject) -> Iterator[CheckRow]:
    """What was checked."""
    for key, share in (metrics.get("alarms") or {}).get("shares", {}).items():
        if key in DECLARED:
            sign = DECLARED[key]
            counted = f"{share['n']:,} of {share['of']:,} {sign.of}"
            percent = estimate_text(share["percent"], share["interval"])
            yield CheckRow(sign.label, counted, percent, f"{share['limit']:g}", share["above"])


def checks_block(metrics: JsonObject) -> str:
    """What was checked, for a terminal: every share where one is above its limit; and how often the
    readers agree.
    """
    rows = list(check_rows(metrics))
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


def reader_rows(metrics: JsonObject) -> list[tuple[str, int, str]]:
    """Men and women: how many both readers call, and per cent of these that they call alike, with
    its interval.

    Edge cases: empty where `metrics.json` says nothing of it.
    """
    found = metrics.get("readers") or {}
    return [
        (name, found[key]["of"], estimate_text(found[key]["percent"], found[key]["interval"]))
        for key, name in CLASSES.items()
        if key in found
    ]
