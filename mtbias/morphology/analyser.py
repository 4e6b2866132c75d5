"""Analyses of texts, each distinct text worked on once, in one process or in several."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from multiprocessing import get_context
from typing import Protocol

from mtbias.machine.devices import begin_worker, free_memory, usable_cores
from mtbias.morphology.analysis_cache import AnalysisCache, encode
from mtbias.morphology.stanza_models import BATCH, StanzaModels, StanzaPackage
from mtbias.types import Analysis

__all__ = ["Analyser", "StanzaAnalyser"]

_log = logging.getLogger(__name__)

WORTH_PROCESSES = 4 * BATCH
"""Fewer texts are analysed in this process: starting others takes as long."""
BESIDE = 2
"""Processes that analyse while a GPU, or another machine, translates, where none are asked for. Each analyses 270 texts
of BUG's length a second on one thread (docs/performance.md); what a GPU translates in a second is not measured yet."""
_MEMORY_EACH = 2 << 30
"""Bytes of memory that such a process may take: 0.8 GiB with Stanza's small models, and room for larger ones."""


class Analyser(Protocol):
    """What the pipeline asks for: analyses of texts, each distinct text worked on once."""

    @property
    def signature(self) -> str:
        """What the analyses depend on: part of a run's identity."""
        ...

    @property
    def ways(self) -> Sequence[str]:
        """How texts were analysed, for the manifest's execution; empty where all were known already."""
        ...

    def submit(self, texts: Iterable[str]) -> None:
        """Texts that will be asked for: an analyser may begin with them beside other work, or do nothing."""
        ...

    def abandon(self) -> None:
        """End what `submit` began: nobody will ask for it."""
        ...

    def prepare(self, texts: Iterable[str], progress: Callable[[int], object] | None = None) -> None:
        """Analyse what is new among `texts`, so that `analysis` finds it."""
        ...

    def analysis(self, text: str) -> Analysis:
        """The analysis of a text that was prepared."""
        ...


class StanzaAnalyser:
    """Stanza's tokenizer, multiword splitter and tagger over raw text."""

    def __init__(
        self, package: StanzaPackage, cache: AnalysisCache, *, device: str | None = None, processes: int | None = 1
    ) -> None:
        """Nothing is loaded before there is a text that the cache lacks.

        The cache must belong to the package; only this process writes it. The device None is a GPU where there is one.
        So many `processes`, of one thread each, analyse where there are `WORTH_PROCESSES` texts or more; the analyses
        do not depend on it. None is `BESIDE` once texts are submitted, where there are cores and memory for them, and
        otherwise one.
        """
        self._package, self._cache, self._device, self._processes = package, cache, device, processes
        self.signature = package.analyses_signature
        self._models = StanzaModels(package, device)
        self._pool: Pool | None = None
        self._ways: set[str] = set()
        self._begun: dict[str, None] = {}
        """Texts that were submitted before `prepare`, those that are not in a batch yet last."""
        self._in_batches = 0

    @property
    def ways(self) -> Sequence[str]:
        """How the texts that were new went through Stanza's models (`StanzaModels.way`), in this process or another."""
        return sorted(self._ways if self._models.way is None else {*self._ways, self._models.way})

    def submit(self, texts: Iterable[str]) -> None:
        """Let other processes analyse `texts` in the meantime; with one process nothing happens before `prepare`.

        They compute on the CPU, and so does all that follows: the GPU has other work, and a run's analyses are to be of
        one device.

        Raises:
            RunFolderError: the analyses that are done cannot be kept.
        """
        if self._processes is None:
            self._processes = _processes_beside()
        if self._processes == 1:
            return
        if self._device != "cpu":
            self._device, self._models = "cpu", StanzaModels(self._package, "cpu")
        self._begun.update(dict.fromkeys(self._cache.missing(t for t in texts if t not in self._begun)))
        while len(self._begun) - self._in_batches >= BATCH:
            batch = list(islice(self._begun, self._in_batches, self._in_batches + BATCH))
            self._in_batches += BATCH
            try:
                pool = self._started()
                pool.submit(batch)
                for rows in pool.finished():
                    self._cache.put_encoded(rows)
            except BrokenProcessPool:
                self._give_up()

    def abandon(self) -> None:
        """End the other processes, which finish what they are at; without it Python would wait for all of it."""
        self._end()

    def prepare(self, texts: Iterable[str], progress: Callable[[int], object] | None = None) -> None:
        """Analyse every distinct text that the cache lacks; `progress` is called with the number of texts just done.

        Raises:
            MissingResourceError: Stanza cannot load its models; says which and why.
            RunFolderError: the analyses cannot be kept.
        """
        for rows in self._rows(texts):
            self._cache.put_encoded(rows)
            if progress is not None:
                progress(len(rows))

    def analysis(self, text: str) -> Analysis:
        """The analysis of `text`, worked out now where it is not kept or cannot be read."""
        found = self._cache.get(text)
        if found is None:
            found = self._models.analyse([text])[0]
            self._cache.put([found])
        return found

    def _rows(self, texts: Iterable[str]) -> Iterator[Rows]:
        """What was submitted, then what the cache still lacks, batch by batch."""
        try:
            self._begun, self._in_batches = {}, 0
            if self._pool is not None:
                try:
                    yield from self._pool.finished(all_of_them=True)
                except BrokenProcessPool:
                    self._give_up()
            missing = self._cache.missing(texts)
            first = [] if self._together_with == 1 else list(islice(missing, WORTH_PROCESSES))
            batches = _batches(chain(first, missing))
            if len(first) == WORTH_PROCESSES:
                batches = yield from self._together(batches)
        finally:
            self._end()
        for batch in batches:
            yield [(a.text, encode(a)) for a in self._models.analyse(batch)]

    def _together(self, batches: Iterator[list[str]]) -> Generator[Rows, None, Iterator[list[str]]]:
        """The analyses of `batches`, made by several processes; returns those that are left."""
        pool = self._started()
        try:
            yield from pool.work(batches)
        except BrokenProcessPool:
            batches = chain(pool.lost(), batches)
            self._give_up()
        return batches

    def _started(self) -> Pool:
        if self._pool is None:
            self._pool = Pool(self._package, self._device, self._together_with)
        return self._pool

    @property
    def _together_with(self) -> int:
        """Processes, as far as it is known now."""
        return self._processes or 1

    def _give_up(self) -> None:
        """Continue in this process."""
        _log.warning("a process that analyses was ended (too little memory?): going on with one process")
        self._end()
        self._processes = 1

    def _end(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._ways |= self._pool.ways
            self._pool = None


def _processes_beside() -> int:
    """`BESIDE`, where another core is left for what translates, and memory; else 1."""
    enough = usable_cores() > BESIDE and free_memory() >= BESIDE * _MEMORY_EACH
    return BESIDE if enough else 1


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    left = iter(texts)
    while batch := list(islice(left, BATCH)):
        yield batch


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
