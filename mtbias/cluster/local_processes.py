"""The tasks of a sweep on this machine, in processes at its places; a failed one stops no other."""

from __future__ import annotations

import queue
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mtbias.cluster.inventory import refuse_missing
from mtbias.cluster.sweep_file import read_sweep, to_toml
from mtbias.cluster.sweep_table import FILES
from mtbias.cluster.sweep_tasks import TABLE, SweepPlan, Task, make_plan, plan_text
from mtbias.cluster.task_places import (
    STANDARD_INPUT_OF_TASKS,
    Place,
    TaskProcess,
    end_all,
    task_places,
)
from mtbias.cluster.task_runs import (
    LOGS,
    Failure,
    RunStates,
    forget_failure,
    is_done,
    is_running,
    log_file,
    pages,
    read_failure,
    recorded,
    run_task,
    translation_device,
    write_failure,
)
from mtbias.cluster.task_schedule import LocalRun, Schedule
from mtbias.cluster.task_sequence import run_named
from mtbias.errors import STANDARD_INPUT, MtbiasError, SettingError
from mtbias.files.writing import explained, make_folder, write_atomic
from mtbias.machine.devices import gpu_count
from mtbias.machine.stage_progress import ProgressLine

_PAUSE = 0.5
"""Seconds between two checks of what other processes do."""


def sweep(
    file: Path,
    changes: Sequence[str] = (),
    *,
    dry_run: bool = False,
    list_tasks: bool = False,
    task: str | None = None,
    device: str | None = None,
    gpus: int = 0,
    jobs: int | None = None,
    say: Callable[[str], object],
) -> None:
    """Run the sweep in `file` on this machine and write its tables; or only its `task`, in this
    process; or with ``-`` the tasks whose ids are on standard input.

    With `changes` (`read_sweep`) the sweep as it runs is written to ``OUT/sweep.toml``, which
    `mtbias status` and `mtbias submit` take. With `dry_run` only the plan is shown, with
    `list_tasks` the ids of the tasks.

    Raises:
        MtbiasError: the sweep cannot be read, something that it needs is missing here, or tasks
            failed.
    """
    plan = make_plan(read_sweep(file, changes))
    if list_tasks:
        for each in plan.tasks:
            say(each.id)
        return
    if gpus > gpu_count():
        raise SettingError(
            "gpus", f"asked for {gpus}, torch sees {gpu_count()} here; leave it out for the CPU"
        )
    where = device or ("cuda" if gpus else plan.sweep.device)
    if task is not None and task in (STANDARD_INPUT_OF_TASKS, STANDARD_INPUT):
        run_named(plan, sys.stdin, device=where, say=say)
        return
    single = None if task is None else plan.task(task)
    translates = single is None or single.shard is not None
    if translates or where == "auto":  # what a GPU translated is scored without one, too
        where = translation_device(where)
    if single is not None:
        with recorded(plan, single, _own_log()):
            run_task(plan, single, device=where, say=say, progress=ProgressLine())
        return

    copy = plan.sweep.out / "sweep.toml"
    if changes and not dry_run and copy.exists() and copy.samefile(file):
        advice = "change that file, or name another folder with --set out=FOLDER"
        message = f"the sweep with its changes would be written over {file}, which was read"
        raise SettingError("set", f"{message}; {advice}")
    say(plan_text(plan))
    if dry_run:
        return
    if changes:
        file = copy
        make_folder(file.parent)
        write_atomic(file, to_toml(plan.sweep).encode())
    refuse_missing(plan.sweep, file)
    places = task_places(gpus=gpus or int(where == "cuda"), jobs=jobs)
    failed = run_locally(plan, file.resolve(), device=where, places=places, say=say)
    _report_end(plan, failed, say)


def _report_end(
    plan: SweepPlan, failed: Mapping[str, Failure], say: Callable[[str], object]
) -> None:
    """Show the failures, or the table, its files and the pages.

    Raises:
        MtbiasError: tasks failed.
    """
    if failed:
        say(f"\n{len(plan.tasks) - len(failed)} of {len(plan.tasks)} tasks are done; failed:")
        for name, failure in failed.items():
            say(f"  {name}: {failure.error}" + (f"\n    {failure.log}" if failure.log else ""))
        raise MtbiasError(
            f"{len(failed)} of {len(plan.tasks)} tasks failed; correct what is wrong and run the "
            "same command again: it does only what is missing"
        )
    tables = [plan.sweep.out / name for name in FILES]
    say(f"\n{tables[0].read_text(encoding='utf-8')}\nFiles:  {', '.join(map(str, tables))}")
    for task in plan.tasks:
        if task.kind == "score":
            for page in pages(plan.sweep, task):
                say(f"Page:   {page}")


def _own_log() -> str:
    """The file that this process prints errors to; empty where they go elsewhere."""
    path = Path("/proc/self/fd/2").resolve()
    return str(path) if path.is_file() else ""


def run_locally(
    plan: SweepPlan,
    file: Path,
    *,
    device: str,
    places: Sequence[Place],
    say: Callable[[str], object],
) -> dict[str, Failure]:
    """Run all tasks of the sweep in `file` that are not done; gives the failures by tasks' ids.

    A task begins when all that it needs have ended, well or not: what exists is scored. When this
    call ends, for whatever reason, so do the running tasks. `device` is ``cpu`` or ``cuda``,
    `places` come from `task_places`; `say` is called with a line at the beginning and end of a
    task.

    Raises:
        RunFolderError: the folder of logs cannot be written.
    """
    make_folder(plan.sweep.out / LOGS)
    return _SweepRun(plan, file, device, places, say).run()


class _SweepRun(LocalRun[Task]):
    """A sweep of translation that runs on this machine."""

    _schedule: SweepSchedule

    def __init__(
        self,
        plan: SweepPlan,
        file: Path,
        device: str,
        places: Sequence[Place],
        say: Callable[[str], object],
    ) -> None:
        """See `run_locally`; no task is begun yet."""
        super().__init__(SweepSchedule(plan), len(places), say)
        self._plan, self._file, self._device, self._shares = plan, file, device, places
        self._processes: dict[int, TaskProcess] = {}
        """The processes by the numbers of their places."""
        self._answers: queue.SimpleQueue[TaskProcess] = queue.SimpleQueue()

    def begin_next(self, place: int) -> Task | None:
        """See `LocalRun`. The process that is there does this task, too, if it can."""
        process = self._processes.get(place)
        if process is not None and process.task is not None:
            return None
        share, last = self._shares[place], None if process is None else process.last
        task = self._schedule.next_task(share, last, self._schedule.running)
        if task is None:
            return None
        log = log_file(self._plan, task)
        with explained(log, "write"):
            log.write_bytes(b"")
        if process is not None and not process.can_do(task):
            process.stop()
            process = None
        if process is None:
            process = TaskProcess(
                self._file, share, task, device=self._device, log=log, answers=self._answers
            )
            self._processes[place] = process
        process.begin(task)
        return task

    def ended(self) -> list[tuple[Task, Failure | None]]:
        """See `LocalRun`. It waits for at most `_PAUSE`, since other processes may do some."""
        try:
            task, code = self._answers.get(timeout=_PAUSE).finish()
        except queue.Empty:
            return []
        if task is None:
            return []
        return [(task, _why_failed(self._plan, task, code) if code else None)]

    def end_all(self) -> None:
        """See `LocalRun`."""
        end_all(self._processes.values())


class SweepSchedule(Schedule[Task]):
    """Which task of a sweep of translation comes next."""

    def __init__(self, plan: SweepPlan) -> None:
        """Begin with all tasks waiting."""
        super().__init__(plan.tasks)
        self._plan, self._out = plan, plan.sweep.out
        self._states: RunStates = {}
        self._languages = {lang: n for n, lang in enumerate(plan.sweep.languages)}

    def next_task(self, place: Place, last: Task | None, others: Sequence[Task]) -> Task | None:
        """The next task (`take`) for a place whose process did `last` before, while `others`
        run.
        """
        ordered = sorted(self.waiting, key=lambda each: self._order(each, last, others))
        task = self.take(each for each in ordered if place.takes(each))
        if task is not None:
            forget_failure(self._out, task)
        return task

    def needs(self, task: Task) -> list[str]:
        """See `Schedule`."""
        return [need.id for need in self._plan.needs(task)]

    def may_begin(self, task: Task) -> bool:
        """See `Schedule`. A task that another process is doing still waits."""
        return super().may_begin(task) and not is_running(self._out, task)

    def is_done(self, task: Task) -> bool:
        """See `Schedule`."""
        return is_done(self._plan, task, self._states)

    def skip(self, task: Task) -> None:
        """See `Schedule`."""
        forget_failure(self._out, task)

    def refusal(self, task: Task) -> str:
        """See `Schedule`. What exists is scored, but there is no table of a part."""
        if task.kind == TABLE and self.failures:
            return f"not begun, since {list(self.failures)[-1]} failed"
        return ""

    def has_ended(self, task: Task, failure: Failure | None) -> None:
        """See `Schedule`."""
        super().has_ended(task, failure)
        for cell in task.cells:
            self._states.pop(cell.id, None)

    def _order(self, task: Task, last: Task | None, others: Sequence[Task]) -> tuple[int, ...]:
        """The rank of a task: translations first, language by language; among these the cell that
        the process already has, then cells that no other process has, then the same weights.
        """
        if task.shard is None:
            return (1,)
        (cell,) = task.cells
        known = last.cells[0] if last is not None and last.shard is not None else None
        return (
            0,
            int(known is None or cell.id != known.id),
            int(any(cell in other.cells for other in others)),
            self._languages[cell.lang],
            int(known is None or (cell.model, cell.preset) != (known.model, known.preset)),
        )


def _why_failed(plan: SweepPlan, task: Task, code: int) -> Failure:
    """The failure that a task recorded; else how its process ended, which is recorded for it."""
    failure = read_failure(plan.sweep.out, task)
    if failure is None:
        error = f"ended by signal {-code}" if code < 0 else f"exit code {code}"
        if code == -signal.SIGKILL:
            error += ", as systems do where memory is short; fewer --jobs need less"
        failure = Failure(error, str(log_file(plan, task)))
        write_failure(plan.sweep.out, task, failure)
    return failure
