"""The tasks of a sweep as processes of this machine: one a GPU, or some on the CPU; one that fails
stops no other.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mtbias.cluster.inventory import refuse_missing
from mtbias.cluster.sweep_file import read_sweep, to_toml
from mtbias.cluster.sweep_table import FILES
from mtbias.cluster.sweep_tasks import TABLE, SweepPlan, Task, make_plan, plan_text
from mtbias.cluster.task_runs import (
    LOGS,
    Failure,
    Looked,
    forget_failure,
    is_done,
    is_running,
    read_failure,
    recorded,
    run_task,
    translation_device,
    write_failure,
)
from mtbias.errors import MtbiasError, SettingError
from mtbias.files.writing import explained, make_folder, write_atomic
from mtbias.machine.devices import gpu_count, usable_cores
from mtbias.machine.stage_progress import ProgressLine

_PAUSE = 0.05
_GRACE = 10.0
"""Seconds that a task has to end after SIGTERM."""

OFFLINE = {"MTBIAS_NO_NETWORK": "1", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
"""The environment of tasks, except of systems on other machines: any attempt to reach the network
is an error."""


def sweep(
    file: Path,
    changes: Sequence[str] = (),
    *,
    dry_run: bool = False,
    list_tasks: bool = False,
    task: str | None = None,
    device: str | None = None,
    gpus: int = 0,
    jobs: int = 1,
    say: Callable[[str], object],
) -> None:
    """Do the sweep in `file` on this machine and write its tables; or `task` of it alone, in this
    process.

    With `changes` (`read_sweep`) the sweep as it runs is written to ``OUT/sweep.toml``, which
    `mtbias status` and `mtbias submit` take. With `dry_run` only the plan is said, with
    `list_tasks` the ids of the tasks.

    Raises:
        MtbiasError: the sweep cannot be read, something that it needs is not here, or tasks failed.
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
    one = None if task is None else plan.task(task)
    if (
        one is None or one.shard is not None or where == "auto"
    ):  # what a GPU translated is scored without one, too
        where = translation_device(where)
    if one is not None:
        with recorded(plan, one, _own_log()):
            run_task(plan, one, device=where, say=say, progress=ProgressLine())
        return
    written = plan.sweep.out / "sweep.toml"
    if changes and not dry_run and written.exists() and written.samefile(file):
        advice = "change that file, or name another folder with --set out=FOLDER"
        message = f"the sweep with its changes would be written over {file}, which was read"
        raise SettingError("set", f"{message}; {advice}")
    say(plan_text(plan))
    if dry_run:
        return
    if changes:
        file = written
        make_folder(file.parent)
        write_atomic(file, to_toml(plan.sweep).encode())
    refuse_missing(plan.sweep, file)
    failed = run_locally(
        plan, file.resolve(), device=where, places=workers(gpus=gpus, jobs=jobs), say=say
    )
    if failed:
        say(f"\n{len(plan.tasks) - len(failed)} of {len(plan.tasks)} tasks are done; failed:")
        for name, failure in failed.items():
            say(f"  {name}: {failure.error}" + (f"\n    {failure.log}" if failure.log else ""))
        raise MtbiasError(
            f"{len(failed)} of {len(plan.tasks)} tasks failed; correct what is wrong and run the same command again: "
            "it does only what is missing"
        )
    tables = [plan.sweep.out / name for name in FILES]
    say(f"\n{tables[0].read_text(encoding='utf-8')}\nFiles:  {', '.join(map(str, tables))}")


def _own_log() -> str:
    """The file that this process prints errors to; empty where it is none."""
    path = Path("/proc/self/fd/2").resolve()
    return str(path) if path.is_file() else ""


def workers(*, gpus: int, jobs: int) -> list[dict[str, str]]:
    """The environments of places where one task runs at a time: each of `gpus` GPUs, else `jobs`
    shares of the CPU.
    """
    count = gpus or jobs
    threads = os.environ.get("OMP_NUM_THREADS") or str(max(1, usable_cores() // count))
    visible = [name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name]
    named = visible if len(visible) >= gpus else [str(n) for n in range(gpus)]
    return [
        {"OMP_NUM_THREADS": threads, **({"CUDA_VISIBLE_DEVICES": named[n]} if gpus else {})}
        for n in range(count)
    ]


def run_locally(
    plan: SweepPlan,
    file: Path,
    *,
    device: str,
    places: Sequence[Mapping[str, str]],
    say: Callable[[str], object],
) -> dict[str, Failure]:
    """Run all tasks of the sweep in `file` that are not done, each as ``mtbias sweep FILE --task
    ID``, in order.

    A task begins when all that it needs have ended, well or not: what is there is scored. Whatever
    ends this call ends the tasks that run. `device` is ``cpu`` or ``cuda``, `places` come from
    `workers`; `say` is called with a line at the beginning and end of a task. Gives why tasks
    failed, by their ids.

    Raises:
        RunFolderError: the folder of logs cannot be written.
    """
    logs = plan.sweep.out / LOGS
    make_folder(logs)
    failures: dict[str, Failure] = {}
    waiting = list(plan.tasks)
    running: dict[int, tuple[Task, subprocess.Popen[bytes]]] = {}
    over: set[str] = set()
    looked: Looked = {}
    try:
        while waiting or running:
            for place, (task, process) in list(running.items()):
                if process.poll() is not None:
                    del running[place]
                    over.add(task.id)
                    for cell in task.cells:
                        looked.pop(cell.id, None)
                    if process.returncode:
                        failures[task.id] = _why_failed(plan, task, process.returncode)
                    say(
                        f"{task.id}: "
                        + (f"failed: {failures[task.id].error}" if process.returncode else "done")
                    )
            for place in [n for n in range(len(places)) if n not in running]:
                chosen = _take(plan, waiting, over, failures, looked)
                if chosen is None:
                    break
                running[place] = chosen, _start(plan, file, chosen, device, places[place])
                say(f"{chosen.id}: begins")
            if waiting or running:
                time.sleep(_PAUSE)
    finally:
        _end([process for _, process in running.values()])
    return failures


def _take(
    plan: SweepPlan,
    waiting: list[Task],
    over: set[str],
    failures: dict[str, Failure],
    looked: Looked,
) -> Task | None:
    """The next task that can begin and is not done; it, and those that need not begin, no longer
    wait.

    One that another process does just now waits on.
    """
    for task in list(waiting):
        if not all(need.id in over for need in plan.needs(task)) or is_running(
            plan.sweep.out, task
        ):
            continue
        waiting.remove(task)
        if is_done(plan, task, looked):
            over.add(task.id)
            forget_failure(plan.sweep.out, task)
        elif task.kind == TABLE and failures:
            failures[task.id] = Failure(f"not begun, since {list(failures)[-1]} failed", "")
        else:
            forget_failure(plan.sweep.out, task)
            return task
    return None


def log_file(plan: SweepPlan, task: Task) -> Path:
    """What a task on this machine prints."""
    return plan.sweep.out / LOGS / f"{task.file_name}.log"


def _start(
    plan: SweepPlan, file: Path, task: Task, device: str, place: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    path = log_file(plan, task)
    with explained(path, "write"), path.open("wb") as log:
        return subprocess.Popen(
            [
                sys.executable,
                "-m",
                "mtbias",
                "sweep",
                str(file),
                "--task",
                task.id,
                "--device",
                device,
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **({} if task.needs_network else OFFLINE), **place},
        )


def _why_failed(plan: SweepPlan, task: Task, code: int) -> Failure:
    """What a task left word of, or, written down for it, how its process ended."""
    failure = read_failure(plan.sweep.out, task)
    if failure is None:
        error = f"ended by signal {-code}" if code < 0 else f"exit code {code}"
        failure = Failure(error, str(log_file(plan, task)))
        write_failure(plan.sweep.out, task, failure)
    return failure


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End the processes that still run: SIGTERM, then SIGKILL."""
    for process in processes:
        process.terminate()
    until = time.monotonic() + _GRACE
    for process in processes:
        try:
            process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
