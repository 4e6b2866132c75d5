"""Analyses of texts, each distinct text worked on once, in one process or in several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Protocol

from mtbias.machine.devices import in_processes
from mtbias.morphology.analysis_cache import AnalysisCache, encode
from mtbias.morphology.stanza_models import BATCH, StanzaModels, StanzaPackage
from mtbias.types import Analysis

__all__ = ["Analyser", "StanzaAnalyser"]

WORTH_PROCESSES = 4 * BATCH
"""Fewer texts are analysed in this process: starting others takes as long."""


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

    def prepare(self, texts: Iterable[str], progress: Callable[[int], object] | None = None) -> None:
        """Analyse what is new among `texts`, so that `analysis` finds it."""
        ...

    def analysis(self, text: str) -> Analysis:
        """The analysis of a text that was prepared."""
        ...


class StanzaAnalyser:
    """Stanza's tokenizer, multiword splitter and tagger over raw text."""

    def __init__(
        self, package: StanzaPackage, cache: AnalysisCache, *, device: str | None = None, processes: int = 1
    ) -> None:
        """Nothing is loaded before there is a text that the cache lacks.

        The cache must belong to the package; only this process writes it. The device None is a GPU where there is one.
        So many `processes`, of one thread each, analyse where there are `WORTH_PROCESSES` texts or more; the analyses
        do not depend on it.
        """
        self._cache, self._processes = cache, processes
        self.signature = package.analyses_signature
        self._models = StanzaModels(package, device)
        self._analyse_elsewhere = partial(_Rows, package, device)
        self._ways: set[str] = set()

    @property
    def ways(self) -> Sequence[str]:
        """How the texts that were new went through Stanza's models (`StanzaModels.way`), in this process or another."""
        return sorted(self._ways if self._models.way is None else {*self._ways, self._models.way})

    def prepare(self, texts: Iterable[str], progress: Callable[[int], object] | None = None) -> None:
        """Analyse every distinct text that the cache lacks; `progress` is called with the number of texts just done.

        Raises:
            MissingResourceError: Stanza cannot load its models; says which and why.
            RunFolderError: the analyses cannot be kept.
            MtbiasError: one of several processes was ended from outside.
        """
        missing = self._cache.missing(texts)
        first = list(islice(missing, WORTH_PROCESSES)) if self._processes > 1 else []
        batches = _batches(chain(first, missing))
        together = len(first) == WORTH_PROCESSES
        for values in self._together(batches) if together else map(self._here, batches):
            self._cache.put_encoded(values)
            if progress is not None:
                progress(len(values))

    def analysis(self, text: str) -> Analysis:
        """The analysis of `text`, worked out now where it is not kept or cannot be read."""
        found = self._cache.get(text)
        if found is None:
            found = self._models.analyse([text])[0]
            self._cache.put([found])
        return found

    def _here(self, batch: Sequence[str]) -> list[tuple[str, str]]:
        return [(analysis.text, encode(analysis)) for analysis in self._models.analyse(batch)]

    def _together(self, batches: Iterable[list[str]]) -> Iterator[list[tuple[str, str]]]:
        for batch, (values, way) in in_processes(self._analyse_elsewhere, batches, self._processes):
            self._ways |= {way} - {""}
            yield list(zip(batch, values, strict=True))


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    left = iter(texts)
    while batch := list(islice(left, BATCH)):
        yield batch


class _Rows:
    """What a process analyses: texts as the cache keeps their analyses, and how they went."""

    def __init__(self, package: StanzaPackage, device: str | None) -> None:
        self._models = StanzaModels(package, device)

    def __call__(self, texts: Sequence[str]) -> tuple[list[str], str]:
        import torch

        if torch.get_num_threads() != 1:
            torch.set_num_threads(1)
        return [encode(analysis) for analysis in self._models.analyse(texts)], self._models.way or ""
