"""A sweep of coreference on this machine: its tasks in processes of their own, and one table of all
systems.

A task whose result is there is passed over, so a sweep that was stopped resumes with the same
command.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path

from mtbias.cluster.coref_sweep_file import CorefSweep, read_coref_sweep
from mtbias.cluster.coref_tasks import (
    FORMS,
    LOGS,
    PAGE,
    CorefTask,
    datasets_of,
    is_done,
    run_task,
    tasks_of,
)
from mtbias.cluster.task_places import OFFLINE
from mtbias.cluster.task_runs import Failure
from mtbias.cluster.task_schedule import LocalRun, Schedule
from mtbias.errors import DataError, MtbiasError, UsageError, choices
from mtbias.files.reading import parse_json_by_id, read_text, sha256_of, sha256_of_file
from mtbias.files.writing import explained, make_folder, write_json

_IDENTITY = "sweep.json"
_PAUSE = 0.2
"""Seconds between two checks whether a task has ended."""

Say = Callable[[str], object]


def coref_sweep(
    file: Path,
    changes: Sequence[str] = (),
    *,
    dry_run: bool = False,
    list_tasks: bool = False,
    task: str | None = None,
    jobs: int = 1,
    say: Say,
) -> None:
    """Run the sweep in `file` and write its tables, or run its `task` alone in this process.

    Tasks run in processes of their own, `jobs` at a time. `say` is called with lines for the user;
    with `list_tasks` these are the names of tasks, with `dry_run` the names with what each needs.

    Raises:
        MtbiasError: the sweep cannot be read, its folder is another sweep's, or tasks failed.
    """
    sweep = read_coref_sweep(file, changes)
    tasks = tasks_of(sweep)
    if task is None and not list_tasks:
        datasets_of(sweep)  # what is missing of them is said before systems are trained
    if list_tasks or dry_run:
        for each in tasks:
            say(f"{each.id}: after {', '.join(each.needs)}" if dry_run and each.needs else each.id)
        return
    names = [each.id for each in tasks]
    if task is not None and task not in names:
        raise UsageError(f"--task: this sweep has no task {task!r}; {choices(task, names)}")
    _claim(sweep)
    if task is not None:
        run_task(sweep, task, say)
        return
    make_folder(sweep.out / LOGS)
    failures = _CorefRun(file, changes, sweep, jobs, say).run()
    if failures:
        raise MtbiasError(
            f"{len(failures)} of {len(tasks)} tasks failed: {', '.join(failures)}; "
            f"{sweep.out / LOGS} has why; the same command does only what is missing"
        )
    say(f"\n{(sweep.out / 'table.txt').read_text(encoding='utf-8')}")
    say(f"Files:  {', '.join(str(sweep.out / name) for name in (*FORMS, PAGE))}")


def _claim(sweep: CorefSweep) -> None:
    """Write down what the folder is of.

    Raises:
        DataError: it is of another sweep, or was begun with other documents, names or swaps.
    """
    settings = asdict(sweep)
    settings["training"] = {**settings["training"], "device": ""}  # it changes no result
    settings = {key: value for key, value in settings.items() if key not in {"name", "out"}}
    digest = sha256_of(repr(sorted(settings.items())))
    path = sweep.out / _IDENTITY
    make_folder(sweep.out)
    if not path.exists():
        identity = {"sweep": "coreference", "sha256": digest, "files": _inputs(sweep)}
        write_json(path, identity, own=True)
        return
    before = parse_json_by_id(read_text(path))
    if digest != before.get("sha256"):
        message = (
            "this folder is of a sweep with other settings: choose another with --set out=FOLDER"
        )
        raise DataError(message, path=path)
    files = before.get("files", {})
    for name, content in _inputs(sweep).items():
        if files.get(name) != content:
            message = (
                "expected the file that this sweep began with, got another: choose another folder "
                "with --set out=FOLDER"
            )
            raise DataError(message, path=Path(name))


def _inputs(sweep: CorefSweep) -> dict[str, str]:
    """The SHA-256 of the files that documents and copies are made of, by path."""
    paths = [source.data for source in chain.from_iterable(sweep.documents.values())]
    paths += [path for path in (sweep.names, sweep.swaps) if path is not None]
    files: list[Path] = []
    for path in paths:
        files += sorted(path.iterdir()) if path.is_dir() else [path]
    return {str(path): sha256_of_file(path) for path in files if not path.is_dir()}


class _CorefRun(LocalRun[CorefTask]):
    """A sweep of coreference that runs on this machine."""

    _schedule: _CorefSchedule

    def __init__(
        self, file: Path, changes: Sequence[str], sweep: CorefSweep, jobs: int, say: Say
    ) -> None:
        """No task is begun yet."""
        super().__init__(_CorefSchedule(sweep, say), jobs, say)
        self._command = [sys.executable, "-m", "mtbias", "sweep", str(file)]
        for change in changes:
            self._command += ["--set", change]
        self._logs = sweep.out / LOGS
        self._processes: dict[int, tuple[CorefTask, subprocess.Popen[bytes]]] = {}
        """The running tasks by the numbers of their places."""

    def begin_next(self, place: int) -> CorefTask | None:
        """See `LocalRun`. Each task has a process of its own."""
        task = None if place in self._processes else self._schedule.next_task()
        if task is None:
            return None
        log = self._log(task)
        with explained(log, "write"), log.open("wb") as printed:
            process = subprocess.Popen(
                [*self._command, "--task", task.id],
                stdout=printed,
                stderr=subprocess.STDOUT,
                env={**os.environ, **OFFLINE},
            )
        self._processes[place] = task, process
        return task

    def ended(self) -> list[tuple[CorefTask, Failure | None]]:
        """See `LocalRun`."""
        ended = []
        for place, (task, process) in list(self._processes.items()):
            code = process.poll()
            if code is not None:
                del self._processes[place]
                ended.append((task, self._failure(task, code)))
        if self._processes and not ended:
            time.sleep(_PAUSE)
        return ended

    def end_all(self) -> None:
        """See `LocalRun`."""
        for _, process in self._processes.values():
            process.terminate()
            process.wait()

    def _failure(self, task: CorefTask, code: int) -> Failure | None:
        """The last line of the task's log; None where it ended well."""
        if code == 0:
            return None
        log = self._log(task)
        text = log.read_text(encoding="utf-8", errors="replace")
        return Failure(text.strip().rpartition("\n")[2] or f"exit code {code}", str(log))

    def _log(self, task: CorefTask) -> Path:
        return self._logs / f"{task.id.replace(':', '+')}.log"


class _CorefSchedule(Schedule[CorefTask]):
    """Which task of a sweep of coreference comes next."""

    def __init__(self, sweep: CorefSweep, say: Say) -> None:
        """Begin with all tasks waiting; `say` is called with a line about tasks that are done."""
        super().__init__(tasks_of(sweep))
        self._sweep, self._say = sweep, say

    def next_task(self) -> CorefTask | None:
        """The next task (`take`)."""
        return self.take(self.waiting)

    def needs(self, task: CorefTask) -> tuple[str, ...]:
        """See `Schedule`."""
        return task.needs

    def is_done(self, task: CorefTask) -> bool:
        """See `Schedule`."""
        return is_done(self._sweep, task.id)

    def skip(self, task: CorefTask) -> None:
        """See `Schedule`."""
        self._say(f"{task.id}: done already")

    def refusal(self, task: CorefTask) -> str:
        """See `Schedule`."""
        failed = [need for need in task.needs if need in self.failures]
        return f"not begun, since {failed[0]} failed" if failed else ""
