"""Tasks of a sweep on this machine, a few at a time, each after those that it needs; a failed one
stops no other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Generic, Protocol, TypeVar

from mtbias.cluster.task_runs import Failure
from mtbias.cluster.task_sequence import DONE, FAILED


class Named(Protocol):
    """A task that has a name."""

    @property
    def id(self) -> str:
        """The name by which ``mtbias sweep FILE --task ID`` runs it."""


T = TypeVar("T", bound=Named)


class Schedule(ABC, Generic[T]):
    """Which task of a sweep comes next, and how earlier ones ended."""

    def __init__(self, tasks: Iterable[T]) -> None:
        """Begin with all tasks waiting; each stands behind those that it needs."""
        self.failures: dict[str, Failure] = {}
        """Why tasks failed, by their ids."""
        self.waiting = list(tasks)
        self.running: list[T] = []
        self._over: set[str] = set()

    @abstractmethod
    def needs(self, task: T) -> Iterable[str]:
        """The ids of the tasks that must have ended, well or not, before `task` begins."""

    @abstractmethod
    def is_done(self, task: T) -> bool:
        """Whether the result of the task exists."""

    @abstractmethod
    def skip(self, task: T) -> None:
        """Note that a task was done already."""

    @abstractmethod
    def refusal(self, task: T) -> str:
        """Why the task is not begun after the failures of others; empty where it is."""

    def may_begin(self, task: T) -> bool:
        """Whether the task has to wait for nothing."""
        return self._over.issuperset(self.needs(task))

    def take(self, ordered: Iterable[T]) -> T | None:
        """The first of the waiting tasks `ordered` that is to begin now; None where there is none.

        It no longer waits, nor do tasks before it that turn out to be done, or are refused.
        """
        for task in tuple(ordered):
            if not self.may_begin(task):
                continue
            self.waiting.remove(task)
            if self.is_done(task):
                self.skip(task)
                self._over.add(task.id)
                continue
            refusal = self.refusal(task)
            if refusal:
                self.has_ended(task, Failure(refusal, ""))
                continue
            self.running.append(task)
            return task
        return None

    def has_ended(self, task: T, failure: Failure | None) -> None:
        """Note that a task has ended, and in `failure` why it failed."""
        self.running = [other for other in self.running if other.id != task.id]
        self._over.add(task.id)
        if failure is not None:
            self.failures[task.id] = failure


class LocalRun(ABC, Generic[T]):
    """A sweep that runs on this machine, one task at each of its places."""

    def __init__(self, schedule: Schedule[T], places: int, say: Callable[[str], object]) -> None:
        """No task is begun yet; `say` is called with a line at the beginning and end of each."""
        self._schedule, self._places, self._say = schedule, places, say

    @abstractmethod
    def begin_next(self, place: int) -> T | None:
        """Begin the next task at the place of that number; None where one runs there, or none may
        begin.
        """

    @abstractmethod
    def ended(self) -> list[tuple[T, Failure | None]]:
        """The tasks that have ended, with why they failed; waits for a moment where none has."""

    @abstractmethod
    def end_all(self) -> None:
        """End the tasks that run."""

    def run(self) -> dict[str, Failure]:
        """Run all tasks that are not done; gives the failures by tasks' ids. Whatever ends this
        call ends the running tasks.
        """
        schedule = self._schedule
        try:
            while schedule.waiting or schedule.running:
                for place in range(self._places):
                    task = self.begin_next(place)
                    if task is not None:
                        self._say(f"{task.id}: begins")
                for task, failure in self.ended():
                    schedule.has_ended(task, failure)
                    result = DONE if failure is None else f"{FAILED}: {failure.error}"
                    self._say(f"{task.id}: {result}")
        finally:
            self.end_all()
        return schedule.failures
