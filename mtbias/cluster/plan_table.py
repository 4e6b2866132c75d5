"""The plan of a sweep as text."""

from __future__ import annotations

from mtbias.cluster.model_sizes import score_speed
from mtbias.cluster.sweep_tasks import Plan, estimate, totals
from mtbias.report.tables import UNDEFINED, columns

_MINUTE, _HOUR = 60, 3600


def plan_text(plan: Plan, *, gpu: bool) -> str:
    """A line a cell (sentences, shards, estimated time), the totals, and what the estimate rests on."""
    estimates = [estimate(plan, cell, gpu=gpu) for cell in plan.cells]
    rows = [
        [
            cell.id,
            UNDEFINED if cell.sentences is None else f"{cell.sentences:,}",
            str(cell.shards),
            duration(guess.translate),
            duration(guess.score),
        ]
        for cell, guess in zip(plan.cells, estimates, strict=True)
    ]
    known = [cell.sentences for cell in plan.cells if cell.sentences is not None]
    sums = totals(estimates)
    rows.append(
        [
            f"{len(plan.cells)} cells",
            f"{sum(known):,}" if len(known) == len(plan.cells) else UNDEFINED,
            str(sum(cell.shards for cell in plan.cells)),
            duration(sums["translate"]),
            duration(sums["score"]),
        ]
    )
    body = columns(["", "sentences", "shards", "translate", "score"], rows)
    lines = [f"  {line}" for line in _grounds(plan, gpu=gpu)]
    tasks = len(plan.tasks)
    return (
        f"{body}\n{tasks} tasks. Times are estimates, for one task after the other, as if nothing were done:\n"
        + "".join(f"{line}\n" for line in lines)
    )


def duration(seconds: float | None) -> str:
    """``45 s``, ``12 min``, ``3.4 h``."""
    if seconds is None:
        return UNDEFINED
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE:.0f} min" if seconds < _HOUR else f"{seconds / _HOUR:.1f} h"


def _grounds(plan: Plan, *, gpu: bool) -> list[str]:
    device = "a GPU" if gpu else "a CPU"
    grounds = []
    for model in plan.sweep.models:
        cell = next(c for c in plan.cells if c.model == model)
        speed = estimate(plan, cell, gpu=gpu).speed
        told = (
            f"{speed.value:g} sentences/s ({speed.source})"
            if speed
            else f"speed on {device} not known; give it under [speeds] in the sweep's file"
        )
        grounds.append(f"{model}: {told}")
    scoring = score_speed()
    return [*grounds, f"scoring: {scoring.value:g} sentences/s ({scoring.source}), each distinct translation once"]
