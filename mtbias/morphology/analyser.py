"""Analyses of texts, each distinct text worked on once, in one process or in several."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
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
"""Processes that analyse while a GPU, or another machine, translates, where none are asked for.
Each analyses 270 texts of BUG's length a second on one thread (docs/performance.md); what a GPU
translates in a second is not measured yet."""
_MEMORY_EACH = 2 << 30
"""Bytes of memory that such a process may take: 0.8 GiB with Stanza's small models, and room for
larger ones."""


class Analyser(Protocol):
    """What the pipeline asks for: analyses of texts, each distinct text worked on once."""

    @property
    def signature(self) -> str:
        """What the analyses depend on: part of a run's identity."""
        ...

    @property
    def ways(self) -> Sequence[str]:
        """How texts were analysed, for the manifest's execution; empty where all were known
        already.
        """
        ...

    def submit(self, texts: Iterable[str]) -> None:
        """Texts that will be asked for: an analyser may begin with them beside other work, or do
        nothing.
        """
        ...

    def abandon(self) -> None:
        """End what `submit` began: nobody will ask for it."""
        ...

    def prepare(
        self, texts: Iterable[str], progress: Callable[[int], object] | None = None
    ) -> None:
        """Analyse what is new among `texts`, so that `analysis` finds it."""
        ...

    def analysis(self, text: str) -> Analysis:
        """The analysis of a text that was prepared."""
        ...


class StanzaAnalyser:
    """Stanza's tokenizer, multiword splitter and tagger over raw text."""

    def __init__(
        self,
        package: StanzaPackage,
        cache: AnalysisCache,
        *,
        device: str | None = None,
        processes: int | None = 1,
    ) -> None:
        """Nothing is loaded before there is a text that the cache lacks.

        The cache must belong to the package; only this process writes it. The device None is a GPU
        where there is one. So many `processes`, of one thread each, analyse where there are
        `WORTH_PROCESSES` texts or more; the analyses do not depend on it. None is `BESIDE` once
        texts are submitted, where there are cores and memory for them, and otherwise one.
        """
        self._package, self._cache, self._device, self._processes = (
            package,
            cache,
            device,
            processes,
        )
        self.signature = package.analyses_signature
        self._models = StanzaModels(package, device)
        self._pool: ProcessPoolExecutor | None = None
        self._waiting: set[Future[tuple[Rows, str | None]]] = set()
        self._ways: set[str] = set()
        self._begun: set[str] = set()
        """Texts that were submitted before `prepare`."""
        self._left: list[str] = []
        """Those of them that are in no batch yet."""

    @property
    def ways(self) -> Sequence[str]:
        """How the texts that were new went through Stanza's models (`StanzaModels.way`), in this
        process or another.
        """
        return sorted(self._ways if self._models.way is None else {*self._ways, self._models.way})

    def submit(self, texts: Iterable[str]) -> None:
        """Let other processes analyse `texts` in the meantime; with one process nothing happens
        before `prepare`.

        They compute on the CPU, and so does all that follows: the GPU has other work, and a run's
        analyses are to be of one device.

        Raises:
            RunFolderError: the analyses that are done cannot be kept.
        """
        if self._processes is None:
            self._processes = _processes_beside()
        if self._processes == 1:
            return
        if self._device != "cpu":
            self._device, self._models = "cpu", StanzaModels(self._package, "cpu")
        for text in self._cache.missing(t for t in texts if t not in self._begun):
            self._begun.add(text)
            self._left.append(text)
        try:
            while len(self._left) >= BATCH:
                self._send(self._left[:BATCH])
                del self._left[:BATCH]
                for rows in self._finished(timeout=0):
                    self._cache.put_encoded(rows)
        except BrokenProcessPool:
            self._give_up()

    def abandon(self) -> None:
        """End the other processes, which finish what they are at; without it Python would wait for
        all of it.
        """
        self._end()

    def prepare(
        self, texts: Iterable[str], progress: Callable[[int], object] | None = None
    ) -> None:
        """Analyse every distinct text that the cache lacks; `progress` is called with the number of
        texts just done.

        Raises:
            MissingResourceError: Stanza cannot load its models; says which and why.
            RunFolderError: the analyses cannot be kept.
        """
        for rows in self._rows(list(texts)):
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

    def _rows(self, texts: Sequence[str]) -> Iterator[Rows]:
        """What was submitted, then what the cache still lacks, batch by batch; where a process
        ends, in this one.
        """
        try:
            self._begun, self._left = set(), []
            yield from self._finished()
            missing = [] if self._processes in {None, 1} else list(self._cache.missing(texts))
            for batch in _batches(missing) if len(missing) >= WORTH_PROCESSES else ():
                self._send(batch)
            yield from self._finished()
        except BrokenProcessPool:
            self._give_up()
        finally:
            self._end()
        for batch in _batches(self._cache.missing(texts)):
            yield _encoded(self._models, batch)

    def _send(self, batch: list[str]) -> None:
        """Have a batch analysed by another process, of one thread, which begins where it is the
        first.
        """
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._processes,
                get_context("spawn"),
                _start,
                initargs=(self._package, self._device),
            )
        self._waiting.add(self._pool.submit(_work, batch))

    def _finished(self, timeout: float | None = None) -> Iterator[Rows]:
        """What is done of the batches that were sent; without `timeout` wait until none is left.

        Raises:
            BrokenProcessPool: a process ended.
        """
        while self._waiting:
            done, self._waiting = wait(self._waiting, timeout, FIRST_COMPLETED)
            if not done:
                return
            for future in done:
                rows, way = future.result()
                self._ways.update([way] if way else [])
                yield rows

    def _give_up(self) -> None:
        """Continue in this process."""
        _log.warning(
            "a process that analyses was ended (too little memory?): going on with one process"
        )
        self._end()
        self._processes = 1

    def _end(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool, self._waiting = None, set()


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


_models: StanzaModels | None = None


def _start(package: StanzaPackage, device: str | None) -> None:
    """What a process does first."""
    global _models  # noqa: PLW0603 - a process of a pool has no other place
    begin_worker()
    _models = StanzaModels(package, device)


def _work(texts: Sequence[str]) -> tuple[Rows, str | None]:
    import torch

    if torch.get_num_threads() != 1:
        torch.set_num_threads(1)
    if _models is None:
        raise RuntimeError("the process was not started by `StanzaAnalyser`")
    return _encoded(_models, texts), _models.way


def _encoded(models: StanzaModels, texts: Sequence[str]) -> Rows:
    return [(analysis.text, encode(analysis)) for analysis in models.analyse(texts)]
