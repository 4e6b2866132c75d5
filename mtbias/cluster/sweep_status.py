"""The status of a sweep, from the files of its runs, Slurm's queue and the locks of running tasks;
no clock is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from mtbias.cluster.slurm import log_of, queue_states
from mtbias.cluster.sweep_tasks import TABLE, SweepPlan
from mtbias.cluster.task_runs import (
    Failure,
    RunStates,
    is_done,
    is_running,
    read_failure,
    run_state,
)
from mtbias.report.tables import columns
from mtbias.stats.results import UNDEFINED
from mtbias.types import JsonDict, frozen

STATES = ("done", "running", "queued", "failed", "left")


@frozen
class CellStatus:
    """The state of a run, and how many parts of its translations exist."""

    cell: str
    """Id of the cell."""
    state: str
    """One of `STATES`."""
    parts_done: int
    parts: int | None
    """None where nothing is planned yet."""


@frozen
class SweepStatus:
    """The state of a sweep."""

    cells: Sequence[CellStatus]
    tasks: Mapping[str, str]
    """States by the ids of tasks."""
    failures: Mapping[str, Failure]
    """Failures by the ids of tasks."""

    def counts(self) -> Mapping[str, int]:
        """Tasks by state."""
        counts = Counter(self.tasks.values())
        return {state: counts[state] for state in STATES}


def sweep_status(plan: SweepPlan) -> SweepStatus:
    """The state of every task and cell.

    A task is done where its result exists; else running or queued where Slurm or a lock says so;
    else failed where it recorded an error, or was submitted and is no longer in the queue; else
    left.

    Raises:
        MtbiasError: Slurm does not answer, or a folder cannot be read.
    """
    queue = queue_states(plan.sweep.out)
    states: RunStates = {}
    tasks: dict[str, str] = {}
    failures: dict[str, Failure] = {}
    by_cell: dict[str, set[str]] = {cell.id: set() for cell in plan.cells}
    for task in plan.tasks:
        if is_done(plan, task, states):
            state = "done"
        elif is_running(plan.sweep.out, task):
            state = "running"
        elif task.id in queue:
            state = queue[task.id]
        elif failure := read_failure(plan.sweep.out, task):
            state, failures[task.id] = "failed", failure
        elif log := log_of(plan.sweep.out, task):
            state = "failed"
            failures[task.id] = Failure("ended without a result: killed, or its node died", log)
        else:
            state = "left"
        tasks[task.id] = state
        for cell in () if task.kind == TABLE else task.cells:
            by_cell[cell.id].add(state)
    cells = []
    for cell in plan.cells:
        run = run_state(plan.sweep, cell, states)
        of_interest = ("failed", "running", "queued")
        state = next((each for each in of_interest if each in by_cell[cell.id]), "left")
        parts = run.progress.parts_done, run.progress.parts
        cells.append(CellStatus(cell.id, "done" if run.current else state, *parts))
    return SweepStatus(cells, tasks, failures)


def status_text(status: SweepStatus) -> str:
    """One line per cell, the numbers of tasks, and the failures with their logs."""
    rows = []
    for cell in status.cells:
        parts = UNDEFINED if cell.parts is None else f"{cell.parts:,}"
        rows.append([cell.cell, cell.state, f"{cell.parts_done:,} of {parts}"])
    counts = ", ".join(f"{n} {state}" for state, n in status.counts().items())
    failed = "".join(
        f"{name}: {failure.error}\n" + (f"  {failure.log}\n" if failure.log else "")
        for name, failure in status.failures.items()
    )
    blocks = (
        columns(["", "state", "parts"], rows),
        f"{len(status.tasks)} tasks: {counts}\n",
        failed,
    )
    return "\n".join(block for block in blocks if block)


def status_json(status: SweepStatus) -> JsonDict:
    """A sweep's status as JSON."""
    return {
        "tasks": dict(status.counts()),
        "cells": [asdict(cell) for cell in status.cells],
        "failed": [{"task": name, **asdict(failure)} for name, failure in status.failures.items()],
    }
