"""How much a run changed when everything was translated again, as `metrics.json` has it under `repeats`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mtbias.report.tables import UNDEFINED, aligned, interval_text, number_text
from mtbias.scoring.definitions import Number

EXPLAINED = "Spread: greatest minus least, of asking again. The interval is of drawing other sentences."


def repeat_lines(metrics: Mapping[str, Any], numbers: Sequence[Number]) -> list[list[str]]:
    """Label, the value of each time, spread, and the interval of the first time; empty where there are no repeats."""
    found = metrics.get("repeats")
    if not found:
        return []
    rows = []
    for number in numbers:
        if (part := found["numbers"].get(number.key)) is not None:
            values = ", ".join(map(number_text, part["values"]))
            spread = UNDEFINED if part["spread"] is None else number_text(part["spread"])
            rows.append([number.label, values, spread, interval_text(number.of(metrics["overall"]).interval)])
    return rows


def repeat_title(metrics: Mapping[str, Any]) -> str:
    """``Translated 3 times: 12 of 512 translations changed (2.3 %), 4 calls (0.8 %)``."""
    found = metrics["repeats"]
    translations, calls = found["translations_changed"], found["calls_changed"]
    return (
        f"Translated {found['times']} times: {translations['count']:,} of {found['n']:,} translations changed "
        f"({number_text(translations['percent'])} %), {calls['count']:,} calls ({number_text(calls['percent'])} %)"
    )


def repeat_block(metrics: Mapping[str, Any], numbers: Sequence[Number], level: str) -> str:
    """The same for a terminal; empty where there are no repeats."""
    rows = repeat_lines(metrics, numbers)
    if not rows:
        return ""
    table = [["", "each time", "spread", level], *([f"  {label}", *cells] for label, *cells in rows)]
    return "\n".join([repeat_title(metrics), *aligned(table, "<>>>"), f"  {EXPLAINED}"])
