"""Several processes that analyse; this one alone writes what they found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context

from mtbias.machine.worker_process import begin_worker
from mtbias.morphology.analysis_cache import encode
from mtbias.morphology.stanza_models import StanzaModels
from mtbias.morphology.stanza_packages import StanzaPackage

Rows = list[tuple[str, str]]
"""Texts with their analyses as the cache keeps them."""


class Pool:
    """Processes with one thread of torch each, every one with models of its own."""

    def __init__(self, package: StanzaPackage, device: str | None, processes: int) -> None:
        """Nothing starts before the first batch. All processes share the device."""
        self._executor = ProcessPoolExecutor(
            processes, mp_context=get_context("spawn"), initializer=_start, initargs=(package, device)
        )
        self._waiting: dict[Future[tuple[list[str], str | None]], list[str]] = {}
        self.ways: set[str] = set()
        """How texts went (`StanzaModels.way`)."""
        self._most = 2 * processes

    def submit(self, batch: list[str]) -> None:
        """Have `batch` analysed.

        Raises:
            BrokenProcessPool: a process ended.
        """
        self._waiting[self._executor.submit(_work, batch)] = batch

    def finished(self, *, all_of_them: bool = False) -> Iterator[Rows]:
        """What is done of the batches that were submitted; with `all_of_them` wait until none is left.

        Raises:
            BrokenProcessPool: a process ended; `lost` then has what was not done.
        """
        while self._waiting:
            done, _ = wait(self._waiting, timeout=None if all_of_them else 0, return_when=FIRST_COMPLETED)
            if not done:
                return
            for future in done:
                values, way = future.result()
                if way is not None:
                    self.ways.add(way)
                yield list(zip(self._waiting.pop(future), values, strict=True))

    def work(self, batches: Iterable[list[str]]) -> Iterator[Rows]:
        """Have all `batches` analysed, only so many at a time that memory does not grow.

        Raises:
            BrokenProcessPool: a process ended; `lost` then has what was begun and not done.
        """
        left = iter(batches)
        while fresh := list(islice(left, max(1, self._most - len(self._waiting)))):
            for n, batch in enumerate(fresh):
                try:
                    self.submit(batch)
                except BrokenProcessPool:
                    for lost in fresh[n:]:
                        self._waiting[Future()] = lost
                    raise
            if len(self._waiting) >= self._most:
                wait(self._waiting, return_when=FIRST_COMPLETED)
            yield from self.finished()
        yield from self.finished(all_of_them=True)

    def lost(self) -> list[list[str]]:
        """Batches without an answer."""
        return list(self._waiting.values())

    def close(self) -> None:
        """End the processes."""
        self._executor.shutdown(wait=True, cancel_futures=True)


_models: StanzaModels | None = None


def _start(package: StanzaPackage, device: str | None) -> None:
    """What a process does first."""
    global _models  # noqa: PLW0603 - a process of a pool has no other place
    begin_worker()
    _models = StanzaModels(package, device)


def _work(texts: Sequence[str]) -> tuple[list[str], str | None]:
    import torch

    if torch.get_num_threads() != 1:
        torch.set_num_threads(1)
    if _models is None:
        raise RuntimeError("the process was not started by `Pool`")
    return [encode(analysis) for analysis in _models.analyse(texts)], _models.way
