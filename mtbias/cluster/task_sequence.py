"""Tasks of a sweep one after another in one process, each with a log of its own."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path

from mtbias.cluster.sweep_tasks import SweepPlan, Task
from mtbias.cluster.task_runs import (
    LOGS,
    LastCell,
    log_file,
    recorded,
    run_task,
    translation_device,
)
from mtbias.errors import MtbiasError, one_line
from mtbias.files.writing import explained, make_folder
from mtbias.machine.stage_progress import ProgressLine

DONE, FAILED = "done", "failed"
"""What is printed behind the name of a task that has ended."""
_STREAMS = (1, 2)
"""Numbers of standard output and standard error."""


def run_named(
    plan: SweepPlan, names: Iterable[str], *, device: str, say: Callable[[str], object]
) -> None:
    """Do the tasks of these names one after another in this process, each with its own log.

    Cells of one model share its weights (`LastCell`). A task that fails stops no other; blank names
    are ignored. `say` is called with a line when a task has ended: `DONE`, or `FAILED` and why.

    Raises:
        UsageError: the sweep has no task of a name.
        RunFolderError: a log cannot be written.
        MtbiasError: tasks failed; all were tried.
    """
    last = LastCell()
    results: list[str] = []
    for name in filter(None, map(str.strip, names)):
        task = plan.task(name)
        results.append(_result(plan, task, device, last))
        say(f"{task.id}: {results[-1]}")
    failed = sum(result != DONE for result in results)
    if failed:
        logs = plan.sweep.out / LOGS
        raise MtbiasError(
            f"{failed} of the {len(results)} tasks of this process failed; {logs} has what each "
            "printed; the same command does only what is missing"
        )


def _result(plan: SweepPlan, task: Task, device: str, last: LastCell) -> str:
    """Do a task that prints into its log; gives `DONE`, or `FAILED` and why."""
    log = log_file(plan, task)
    with printed_into(log):
        try:
            with recorded(plan, task, log):
                here = translation_device(device) if task.computes_here else device
                say = partial(print, flush=True)  # looked up when it is called: into the log
                run_task(plan, task, device=here, say=say, progress=ProgressLine(), last=last)
        except MtbiasError as error:
            sys.stderr.write(f"mtbias: {error}\n")
            return f"{FAILED}: {error}"
        except Exception as error:  # noqa: BLE001 - it is one task's, and the others go on
            traceback.print_exc()
            return f"{FAILED}: {one_line(repr(error))}"
    return DONE


@contextmanager
def printed_into(path: Path) -> Iterator[None]:
    """Print into a file whatever this process and its libraries print within the block.

    Raises:
        RunFolderError: it cannot be written.
    """
    make_folder(path.parent)
    with explained(path, "write"):
        path.write_bytes(b"")
        log = path.open("a", encoding="utf-8", buffering=1)
    with log, redirect_stdout(log), redirect_stderr(log):
        own = [os.dup(number) for number in _STREAMS]
        try:
            for number in _STREAMS:
                os.dup2(log.fileno(), number)
            yield
        finally:
            for number, before in zip(_STREAMS, own, strict=True):
                os.dup2(before, number)
                os.close(before)
