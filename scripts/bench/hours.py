"""From speeds to the hours of a paper's table: 3 families × 8 languages × BUG."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scripts.bench.work import CORPUS

LANGUAGES = 8
CPU_STAGES = {"align": 2.352, "analyse": 3.669, "decide": 0.528, "score": 0.007}
"""Seconds for 1,000 sentences of BUG's length on one thread (docs/performance.md, German);
analysing: Stanza's small models. `scripts/bench_scale.py --json` measures them on another
machine."""
PROCESSES = 2
"""That work beside generation, at least; on a machine of more cores all but two."""


def stage_seconds(results: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Seconds for 1,000 sentences by stage, of what `scripts/bench_scale.py --json` wrote, at its
    largest size.
    """
    count = max(results, key=int)
    return {stage: 1000 * results[count][stage]["cpu"] / int(count) for stage in CPU_STAGES}


def hours_of(rates: Mapping[str, float], stages: Mapping[str, float]) -> dict[str, float]:
    """Hours of every stage: each family translates 8 languages at its rate (sentences a second);
    the other stages, in seconds for 1,000 sentences, are of all families.
    """
    cell = LANGUAGES * CORPUS / 3600
    found = {f"translate {family}": cell / rate for family, rate in rates.items()}
    return found | {stage: cell * len(rates) * seconds / 1000 for stage, seconds in stages.items()}


def wall_hours(
    rates: Mapping[str, float], stages: Mapping[str, float], processes: int = PROCESSES
) -> float:
    """Hours from begin to end where so many processes align, analyse, decide and score while other
    sentences are translated, the last cell's alone when all is translated.
    """
    cell = LANGUAGES * CORPUS / 3600
    beside = sum(stages.values()) / 1000
    hours = sum(cell * max(1 / rate, beside / processes) for rate in rates.values())
    return hours + CORPUS / 3600 * beside
