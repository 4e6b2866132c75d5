"""Analyses of texts, each distinct text worked on once, in one process or in several."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context
from typing import Protocol

from mtbias.machine.devices import begin_worker, chosen_device, free_memory, threads, usable_cores
from mtbias.morphology.analysis_cache import AnalysisCache, encode
from mtbias.morphology.stanza_models import BATCH, StanzaModels, StanzaPackage
from mtbias.types import Analysis

__all__ = ["Analyser", "StanzaAnalyser"]

_log = logging.getLogger(__name__)

WORTH_PROCESSES = 2 * BATCH
"""Fewer texts are analysed in this process: starting others takes as long."""
WORTH_UNASKED = 4 * BATCH
"""The same where no number of processes is set: for WinoMT they save 1 s of 10, and compute 3 s
more (docs/performance.md)."""
LEAST, MOST = 2, 4
"""Processes that analyse where none are asked for and nothing else computes: fewer than the first
gain nothing, more than the second mostly wait for the alignment. While a GPU translates there is no
such limit: one process analyses 270 texts of BUG's length a second on one thread
(docs/performance.md), and a GPU is to translate more than a thousand."""
_CORES_OF_GENERATION = 2
"""Cores that are left for what translates meanwhile."""
_MEMORY_EACH = 2 << 30
"""Bytes of memory that such a process may take: 0.8 GiB with Stanza's small models, and room for
larger ones."""


class Analyser(Protocol):
    """Analyses of texts, each distinct text made once."""

    @property
    def signature(self) -> str:
        """Everything that the analyses depend on: part of a run's identity."""
        ...

    @property
    def ways(self) -> Sequence[str]:
        """How texts were analysed, for the manifest's execution; empty where all were known
        already.
        """
        ...

    def submit(self, texts: Iterable[str], *, whole: bool = False) -> None:
        """Announce texts whose analyses will be needed: an analyser may begin with them beside
        other work, or do nothing.

        They are translations that were just made, while others still are, or the `whole` of a file.
        """
        ...

    def abandon(self, texts: Iterable[str] | None = None) -> None:
        """End the work that `submit` began for `texts`, or all of it: it is no longer needed."""
        ...

    def prepare(
        self, texts: Iterable[str], progress: Callable[[int], object] | None = None
    ) -> None:
        """Analyse the new ones of `texts`, so that `analysis` has them."""
        ...

    def analysis(self, text: str) -> Analysis:
        """The analysis of a prepared text."""
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
        if there is one. So many `processes`, of one thread each, analyse where
        `WORTH_PROCESSES` texts or more are new; the analyses do not depend on it. None is `LEAST`
        to `MOST` from `WORTH_UNASKED` texts on, and beside generation all cores but two, as memory
        allows and where no GPU analyses; otherwise one.
        """
        self._worth = WORTH_UNASKED if processes is None else WORTH_PROCESSES
        self._package, self._cache = package, cache
        self._device, self._processes = device, processes
        self.signature = package.analyses_signature
        self._models = StanzaModels(package, device)
        self._pool: ProcessPoolExecutor | None = None
        self._waiting: dict[Future[tuple[Rows, str | None]], Sequence[str]] = {}
        """The work of other processes, and its texts."""
        self._ways: set[str] = set()
        self._sent: set[str] = set()
        """The texts of all of this work."""
        self._left: dict[str, None] = {}
        """Texts that were submitted and are in no batch yet."""

    @property
    def ways(self) -> Sequence[str]:
        """How the texts that were new went through Stanza's models (`StanzaModels.way`), in this
        process or another.
        """
        return sorted(self._ways if self._models.way is None else {*self._ways, self._models.way})

    def submit(self, texts: Iterable[str], *, whole: bool = False) -> None:
        """Let other processes analyse `texts` in the meantime; with one process nothing happens
        before `prepare`.

        Beside generation they compute on the CPU, and so does all that follows: the GPU has other
        work, and a run's analyses are to be of one device. The `whole` of a file is given to them
        where it is worth starting them.

        Raises:
            RunFolderError: the analyses that are done cannot be kept.
        """
        if self._processes is None:
            self._processes = self._usual_processes(whole)
        if self._processes == 1:
            return
        if not whole and self._device != "cpu":
            self._device, self._models = "cpu", StanzaModels(self._package, "cpu")
        new = (text for text in texts if text not in self._sent and text not in self._left)
        self._left.update(dict.fromkeys(self._cache.missing(new)))
        if whole and self._pool is None and len(self._left) < self._worth:
            return
        try:
            for batch in _batches(list(self._left)):
                if len(batch) == BATCH or whole:
                    self._send(batch)
            for rows in self._done(timeout=0):
                self._cache.put_encoded(rows)
        except BrokenProcessPool:
            self._give_up()

    def _usual_processes(self, whole: bool) -> int:
        if not whole:
            cores = usable_cores()
            return _affordable(max(cores - _CORES_OF_GENERATION, LEAST), cores - 1)
        return _affordable(MOST, threads()) if chosen_device(self._device) == "cpu" else 1

    def abandon(self, texts: Iterable[str] | None = None) -> None:
        """Cancel the waiting work of other processes on `texts`, or all of it; a batch that has
        begun is finished.

        Without this, Python would wait for all of it at its end.
        """
        unwanted = {*self._sent, *self._left} if texts is None else set(texts)
        self._left = {text: None for text in self._left if text not in unwanted}
        batches = list(self._waiting.items())
        mine = [future for future, batch in batches if unwanted.issuperset(batch)]
        if len(mine) == len(batches):
            self._end()
        for future in mine:
            if future.cancel():
                self._sent.difference_update(self._waiting.pop(future, ()))

    def prepare(
        self, texts: Iterable[str], progress: Callable[[int], object] | None = None
    ) -> None:
        """Analyse every distinct text that the cache lacks; `progress` is called with the number of
        texts just done.

        Raises:
            MissingResourceError: Stanza cannot load its models; says which and why.
            RunFolderError: the analyses cannot be kept.
        """
        distinct = dict.fromkeys(texts)
        for rows in self._rows(distinct):
            self._cache.put_encoded(rows)
            if progress is not None:
                progress(sum(text in distinct for text, _ in rows))

    def analysis(self, text: str) -> Analysis:
        """The analysis of `text`, made now where the cache has none that can be read."""
        analysis = self._cache.get(text)
        if analysis is None:
            analysis = self._models.analyse([text])[0]
            self._cache.put([analysis])
        return analysis

    def _rows(self, texts: Mapping[str, None]) -> Iterator[Rows]:
        """What others have of `texts`, with other texts that are done by then; then what the cache
        still lacks, batch by batch. Where a process ends, all of it in this one.
        """
        try:
            self.submit(texts, whole=True)
            while any(not texts.keys().isdisjoint(batch) for batch in self._waiting.values()):
                yield from self._done()
        except BrokenProcessPool:
            self._give_up()
        except BaseException:
            self.abandon()
            raise
        for batch in _batches(self._cache.missing(texts)):
            yield _encoded(self._models, batch)
        self.abandon(texts)

    def _send(self, batch: Sequence[str]) -> None:
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
            # All begin now: Python waits for ever for one that begins while another is killed.
            for _ in range(self._processes or 1):
                self._pool.submit(int)
        self._waiting[self._pool.submit(_work, batch)] = batch
        self._sent.update(batch)
        for text in batch:
            del self._left[text]

    def _done(self, timeout: float | None = None) -> Iterator[Rows]:
        """What is done of the batches that were sent; without `timeout` one is waited for.

        Raises:
            BrokenProcessPool: a process ended.
        """
        for future in wait(self._waiting, timeout, FIRST_COMPLETED).done:
            rows, way = future.result()
            self._sent.difference_update(self._waiting.pop(future))
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
            # What is at nothing ends by itself.
            self._pool.shutdown(wait=bool(self._waiting), cancel_futures=True)
            self._pool, self._waiting, self._sent = None, {}, set()


def _affordable(processes: int, cores: int) -> int:
    """So many processes, or as many as `cores` and memory allow; 1 where they allow fewer than
    `LEAST`.
    """
    count = min(processes, cores, free_memory() // _MEMORY_EACH)
    return count if count >= LEAST else 1


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    remaining = iter(texts)
    while batch := list(islice(remaining, BATCH)):
        yield batch


Rows = list[tuple[str, bytes]]
"""Texts with their analyses as the cache keeps them."""


_models: StanzaModels | None = None


def _start(package: StanzaPackage, device: str | None) -> None:
    """Initialise a process of the pool."""
    global _models  # noqa: PLW0603 - a process of a pool has no other place
    begin_worker()
    os.nice(5)  # the process that waits for these has work of its own
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
