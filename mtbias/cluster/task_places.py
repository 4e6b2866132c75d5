"""The places of a sweep's tasks on this machine: a GPU or a share of the cores each, with a process
that does one task after another.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from mtbias.cluster.sweep_tasks import Task
from mtbias.cluster.task_sequence import DONE
from mtbias.machine.devices import usable_cores
from mtbias.types import frozen

STANDARD_INPUT_OF_TASKS = "-"
"""The value of ``--task`` for names of tasks on standard input, one a line."""

OFFLINE = {"MTBIAS_NO_NETWORK": "1", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
"""The environment of tasks without a system on another machine: any attempt to reach the network is
an error."""

_GRACE = 10.0
"""Seconds that a process has to end after SIGTERM."""
_CORES_OF_A_GPU = 2
"""Cores that are left for a process that translates on a GPU."""
_CORES_OF_A_SCORE = 4
"""Cores of a score task beside GPUs, if there are as many."""


@frozen
class Place:
    """A share of this machine, where one task runs at a time."""

    environment: Mapping[str, str]
    has_gpu: bool = False
    beside_gpus: bool = False
    """Whether there are other places, with GPUs."""

    def takes(self, task: Task) -> bool:
        """Whether the task may run here: GPUs, where there are some, take translation by models and
        nothing else.
        """
        if self.has_gpu:
            return task.computes_here
        return not (self.beside_gpus and task.computes_here)


def task_places(*, gpus: int, jobs: int | None) -> list[Place]:
    """The places of this machine: each of `gpus` GPUs, and `jobs` shares of the other cores.

    Without `jobs` there is one share, or beside GPUs one for every `_CORES_OF_A_SCORE` cores.
    ``OMP_NUM_THREADS``, where it is set, holds at every place.
    """
    cores = max(1, usable_cores() - _CORES_OF_A_GPU * gpus)
    count = jobs or (max(1, cores // _CORES_OF_A_SCORE) if gpus else 1)
    visible = [name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name]
    names = visible if len(visible) >= gpus else [str(n) for n in range(gpus)]
    set_threads = os.environ.get("OMP_NUM_THREADS")
    on_gpus = {"OMP_NUM_THREADS": set_threads or str(_CORES_OF_A_GPU)}
    on_cores = {"OMP_NUM_THREADS": set_threads or str(max(1, cores // count))}
    if gpus:
        on_cores["CUDA_VISIBLE_DEVICES"] = ""  # what scores must not take memory of a GPU
    return [
        *(Place({**on_gpus, "CUDA_VISIBLE_DEVICES": names[n]}, has_gpu=True) for n in range(gpus)),
        *(Place(on_cores, beside_gpus=gpus > 0) for _ in range(count)),
    ]


class TaskProcess:
    """A process that does the tasks of a place one after another: ``mtbias sweep FILE --task -``.

    So Python and torch are loaded once, and so are the weights where the next task has the same
    model.
    """

    def __init__(
        self,
        file: Path,
        place: Place,
        first: Task,
        *,
        device: str,
        log: Path,
        answers: queue.SimpleQueue[TaskProcess],
    ) -> None:
        """Start a process for tasks like `first`, whose `log` gets what it prints before it begins
        one. It is put into `answers` whenever a task, or the process itself, has ended.
        """
        self._needs_network = first.needs_network
        self.task: Task | None = None
        """The task that it is doing."""
        self.last: Task | None = None
        """The task before."""
        self._answers = answers
        self._ended_well: bool | None = None
        command = ["sweep", str(file), "--task", STANDARD_INPUT_OF_TASKS, "--device", device]
        offline = {} if first.needs_network else OFFLINE
        with log.open("ab") as errors:  # what the task itself prints there stays
            self._process = subprocess.Popen(
                [sys.executable, "-m", "mtbias", *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **offline, **place.environment},
                text=True,
                encoding="utf-8",
            )
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the process was started without pipes")
        self._names: IO[str] = self._process.stdin
        lines: IO[str] = self._process.stdout
        threading.Thread(target=self._listen, args=[lines], daemon=True).start()

    @property
    def id(self) -> int:
        """Its number in the operating system."""
        return self._process.pid

    def begin(self, task: Task) -> None:
        """Do `task`."""
        self.task, self._ended_well = task, None
        with suppress(BrokenPipeError):  # it has ended, which `_listen` notices
            self._names.write(f"{task.id}\n")
            self._names.flush()

    def finish(self) -> tuple[Task | None, int]:
        """The task that ended, and a code: 0 where it ended well, 1 where it did not, or the exit
        code of the process where that has ended (below 0: the signal that ended it).
        """
        task, self.task = self.task, None
        ended_well, self._ended_well = self._ended_well, None
        if task is not None:
            self.last = task
        if ended_well is not None:
            return task, int(not ended_well)
        return task, self._process.wait() or int(task is not None)

    def can_do(self, task: Task) -> bool:
        """Whether it has not ended, and may reach other machines where the task has to."""
        return self._process.poll() is None and self._needs_network == task.needs_network

    def _listen(self, lines: IO[str]) -> None:
        with lines:
            for line in lines:
                if self.task is not None and line.startswith(f"{self.task.id}: "):
                    self._ended_well = line == f"{self.task.id}: {DONE}\n"
                    self._answers.put(self)
        self._process.wait()
        self._answers.put(self)

    def stop(self) -> None:
        """End the process: an idle one at once, else by SIGTERM."""
        if self.task is not None:
            self._process.terminate()
        with suppress(BrokenPipeError):
            self._names.close()

    def wait(self, seconds: float) -> None:
        """Wait until it has ended, and kill it after so many seconds."""
        try:
            self._process.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def end_all(processes: Iterable[TaskProcess]) -> None:
    """End processes, whatever they are doing."""
    ending = list(processes)
    for process in ending:
        process.stop()
    until = time.monotonic() + _GRACE
    for process in ending:
        process.wait(until - time.monotonic())
