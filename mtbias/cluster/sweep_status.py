"""How far a sweep is: by the files of its runs, Slurm's queue and the locks of running tasks; no clock is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mtbias.cluster.slurm import log_of, queue_states
from mtbias.cluster.sweep_tasks import TABLE, Cell, SweepPlan, Task
from mtbias.cluster.task_runs import Failure, Looked, is_done, is_running, look, read_failure
from mtbias.report.tables import UNDEFINED, columns
from mtbias.runs.run_folder import RunProgress

STATES = ("done", "running", "queued", "failed", "left")


@dataclass(frozen=True, slots=True)
class TaskStatus:
    """The state of a task, one of `STATES`, and why it failed."""

    task: Task
    state: str
    failure: Failure | None


@dataclass(frozen=True, slots=True)
class CellStatus:
    """The state of a run and how many parts of its translations are there."""

    cell: Cell
    state: str
    parts_done: int
    parts: int | None
    """None where nothing was planned yet."""


@dataclass(frozen=True, slots=True)
class SweepStatus:
    """The state of a sweep."""

    cells: Sequence[CellStatus]
    tasks: Sequence[TaskStatus]

    def counts(self) -> Mapping[str, int]:
        """Tasks by state."""
        found = Counter(status.state for status in self.tasks)
        return {state: found[state] for state in STATES}

    def failures(self) -> Mapping[str, Failure]:
        """By the ids of tasks."""
        return {status.task.id: status.failure for status in self.tasks if status.failure is not None}


def sweep_status(plan: SweepPlan) -> SweepStatus:
    """The state of every task and cell.

    A task is done where its result is there, else running or queued where Slurm or a lock says so, else failed where it
    left word of an error or was submitted and is no longer there, else left.

    Raises:
        MtbiasError: Slurm does not answer, or a folder cannot be read.
    """
    out = plan.sweep.out
    queue = queue_states(out)
    looked: Looked = {}
    tasks = [_task(plan, task, queue, looked) for task in plan.tasks]
    by_cell = {
        cell.id: [status for status in tasks if status.task.kind != TABLE and cell in status.task.cells]
        for cell in plan.cells
    }
    return SweepStatus([_cell(cell, by_cell[cell.id], look(cell, looked)) for cell in plan.cells], tasks)


def _task(plan: SweepPlan, task: Task, queue: Mapping[str, str], looked: Looked) -> TaskStatus:
    out = plan.sweep.out
    if is_done(plan, task, looked):
        return TaskStatus(task, "done", None)
    if is_running(out, task):
        return TaskStatus(task, "running", None)
    if task.id in queue:
        return TaskStatus(task, queue[task.id], None)
    failure = read_failure(out, task)
    if failure is None:
        log = log_of(out, task)
        failure = Failure("ended without a result: killed, or its node died", log) if log else None
    return TaskStatus(task, "left" if failure is None else "failed", failure)


def _cell(cell: Cell, tasks: Sequence[TaskStatus], found: RunProgress) -> CellStatus:
    """Of several states, the one that tells most: failed, running, queued, left."""
    states = {status.state for status in tasks}
    state = next((s for s in ("failed", "running", "queued") if s in states), "left")
    return CellStatus(cell, "done" if found.complete else state, found.parts_done, found.parts)


def status_text(status: SweepStatus) -> str:
    """One line per cell, the numbers of tasks, and the failures with their logs."""
    rows = [
        [c.cell.id, c.state, f"{c.parts_done:,} of {UNDEFINED if c.parts is None else f'{c.parts:,}'}"]
        for c in status.cells
    ]
    counts = ", ".join(f"{n} {state}" for state, n in status.counts().items())
    failed = "".join(
        f"{name}: {failure.error}\n" + (f"  {failure.log}\n" if failure.log else "")
        for name, failure in status.failures().items()
    )
    blocks = (columns(["", "state", "parts"], rows), f"{len(status.tasks)} tasks: {counts}\n", failed)
    return "\n".join(block for block in blocks if block)


def status_json(status: SweepStatus) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "tasks": dict(status.counts()),
        "cells": [
            {"cell": c.cell.id, "state": c.state, "parts_done": c.parts_done, "parts": c.parts} for c in status.cells
        ],
        "failed": [{"task": name, **asdict(failure)} for name, failure in status.failures().items()],
    }
