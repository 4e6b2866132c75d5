"""The plan of a sweep as text."""

from __future__ import annotations

from collections.abc import Sequence

from mtbias.cluster.model_sizes import score_speed
from mtbias.cluster.sweep_tasks import SweepPlan, estimate
from mtbias.report.tables import UNDEFINED, columns

_MINUTE, _HOUR = 60, 3600


def plan_text(plan: SweepPlan, *, gpu: bool) -> str:
    """One line per cell (sentences, shards, estimated time), the totals, and what the estimate rests on."""
    blocks = [_cells(plan, gpu=gpu)] if plan.cells else []
    if (coref := plan.sweep.coref) is not None:
        on = ", ".join(coref.datasets) or "all data sets that are found"
        blocks.append(f"Coreference: {', '.join(coref.systems)} on {on}; how long it takes is not estimated\n")
    return "\n".join(blocks)


def _cells(plan: SweepPlan, *, gpu: bool) -> str:
    names = [cell.id for cell in plan.cells]
    numbers: list[tuple[float | None, ...]] = []
    for cell in plan.cells:
        guess = estimate(plan, cell, gpu=gpu)
        numbers.append((cell.sentences, cell.shards, guess.translate, guess.score))
    numbers.append(tuple(_total(column) for column in zip(*numbers, strict=True)))
    rows = [
        [name, UNDEFINED if sentences is None else f"{sentences:,}", str(shards), duration(translate), duration(score)]
        for name, (sentences, shards, translate, score) in zip([*names, f"{len(names)} cells"], numbers, strict=True)
    ]
    return (
        f"{columns(['', 'sentences', 'shards', 'translate', 'score'], rows)}\n"
        f"{len(plan.tasks)} tasks. Times are estimates, for one task after the other, as if nothing were done:\n"
        + "".join(f"  {line}\n" for line in _grounds(plan, gpu=gpu))
    )


def _total(values: Sequence[float | None]) -> float | None:
    """The sum; None where one of them is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def duration(seconds: float | None) -> str:
    """``45 s``, ``12 min``, ``3.4 h``."""
    if seconds is None:
        return UNDEFINED
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE:.0f} min" if seconds < _HOUR else f"{seconds / _HOUR:.1f} h"


def _grounds(plan: SweepPlan, *, gpu: bool) -> list[str]:
    device = "a GPU" if gpu else "a CPU"
    grounds = []
    for model in plan.sweep.models:
        cell = next(c for c in plan.cells if c.model == model)
        told = f"speed on {device} not known; give it under [speeds] in the sweep's file"
        if speed := estimate(plan, cell, gpu=gpu).speed:
            told = f"{speed.value:g} sentences/s ({speed.source})"
        grounds.append(f"{model}: {told}")
    scoring = score_speed()
    return [*grounds, f"scoring: {scoring.value:g} sentences/s ({scoring.source}), each distinct translation once"]
