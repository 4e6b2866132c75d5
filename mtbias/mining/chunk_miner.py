"""The rows of a chunk of text, in one process or in several."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path

from mtbias.errors import escaped
from mtbias.machine.devices import begin_worker
from mtbias.mining.conllu_trees import read_tree
from mtbias.mining.counts import CHOSEN, PARSED, READ, SENTENCES, Counts
from mtbias.mining.english_parser import MOST_TOKENS, EnglishParser, FoundSentence, Parses
from mtbias.mining.find_filters import MinedRow, MiningOptions, rows_of
from mtbias.mining.input_files import InputFile
from mtbias.mining.matcher import find
from mtbias.mining.occupations import Occupations
from mtbias.mining.parse_cache import ParseCache
from mtbias.mining.patterns import Pattern
from mtbias.mining.text_input import Chunk
from mtbias.mining.word_filter import WordFilter
from mtbias.morphology.stanza_models import StanzaPackage

_log = logging.getLogger(__name__)

LONG_SENTENCE = f"sentence of more than {MOST_TOKENS} tokens"
_AHEAD = 2
"""Chunks that wait for each process."""


@dataclass(frozen=True, slots=True)
class MiningPlan:
    """What the rows of a text depend on, and where they are computed; processes get a copy of it."""

    files: tuple[InputFile, ...]
    patterns: tuple[Pattern, ...]
    occupations: Occupations
    options: MiningOptions
    package: StanzaPackage | None
    """None where the trees are given."""
    device: str | None = None
    cache: Path | None = None
    """Folder for parses."""

    @property
    def words(self) -> WordFilter:
        """The cheap filter: the listed nouns, and the pronouns that the patterns find."""
        return WordFilter(self.occupations.words, (word for pattern in self.patterns for word in pattern.pronouns))


@dataclass(frozen=True, slots=True)
class MinedChunk:
    """What a chunk of text gave."""

    rows: tuple[MinedRow, ...]
    counts: Counts


class ChunkMiner:
    """Parses chunks, matches the patterns, and filters what they find."""

    def __init__(self, plan: MiningPlan) -> None:
        """Nothing is loaded before the first chunk that has a passage."""
        self._plan, self._keep = plan, plan.words
        self._listed = plan.occupations.words
        self._parser: EnglishParser | None = None
        self._cache: ParseCache | None = None
        if plan.package is not None:
            self._parser = EnglishParser(plan.package, plan.device)
            depends = plan.package.analyses_signature, plan.device or "", *self._keep.words
            self._cache = ParseCache(plan.cache, "|".join(depends))

    def mine(self, chunk: Chunk) -> MinedChunk:
        """The rows of `chunk`, in the text's order.

        Raises:
            MtbiasError: a tree cannot be read; Stanza cannot load its models; parses cannot be kept.
        """
        plan, parses = self._plan, self._parses(chunk)
        counts = Counts(left_out=Counter(chunk.left_out))
        counts.stages.update({READ: chunk.read, CHOSEN: len(chunk.passages), SENTENCES: parses.sentences})
        counts.stages[PARSED] += len(parses.found)
        if parses.too_long:
            counts.left_out[LONG_SENTENCE] += parses.too_long
        rows: list[MinedRow] = []
        for sentence in parses.found:
            finds = find(sentence.parsed, plan.patterns, self._listed)
            if not finds:
                continue
            counts.matched.update(each.pattern for each in finds)
            passage = chunk.passages[sentence.passage]
            file = plan.files[passage.file]
            kept, left_out = rows_of(
                sentence.parsed,
                finds,
                plan.occupations,
                plan.options,
                corpus=file.corpus,
                file=f"{escaped(str(file.path))}:{passage.line}",
                offset=passage.offset + sentence.offset,
            )
            rows += kept
            counts.left_out.update(left_out)
        return MinedChunk(tuple(rows), counts)

    def _parses(self, chunk: Chunk) -> Parses:
        texts = [passage.text for passage in chunk.passages]
        if self._parser is None or self._cache is None:
            return Parses(tuple(self._given(chunk)), len(texts), 0)
        parses = self._cache.get(texts)
        if parses is None:
            parses = self._parser.parse(texts, self._keep)
            self._cache.put(texts, parses)
        return parses

    def _given(self, chunk: Chunk) -> Iterator[FoundSentence]:
        for n, passage in enumerate(chunk.passages):
            lines = enumerate(passage.text.split("\n"), start=passage.line)
            yield FoundSentence(n, 0, read_tree(lines, self._plan.files[passage.file].path))


def mined_chunks(
    plan: MiningPlan, chunks: Iterable[Chunk], processes: int
) -> Generator[tuple[Chunk, MinedChunk], None, None]:
    """What each of `chunks` gives, in their order, worked out by so many `processes`, of one thread each.

    Where a process is ended from outside, this one continues alone. When the iterator is closed, all are ended.

    Raises:
        MtbiasError: as `ChunkMiner.mine`.
    """
    here = ChunkMiner(plan)
    left = iter(chunks)
    if processes > 1:
        left = yield from _together(plan, left, processes)
    for chunk in left:
        yield chunk, here.mine(chunk)


def _together(
    plan: MiningPlan, chunks: Iterator[Chunk], processes: int
) -> Generator[tuple[Chunk, MinedChunk], None, Iterator[Chunk]]:
    """As `mined_chunks`; returns the chunks that are left where a process was ended."""
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_start, initargs=(plan,))
    waiting: deque[tuple[Chunk, Future[MinedChunk]]] = deque()
    try:
        while True:
            for chunk in islice(chunks, _AHEAD * processes - len(waiting)):
                waiting.append((chunk, Future()))
                waiting[-1] = chunk, pool.submit(_mine, chunk)
            if not waiting:
                return chunks
            chunk, future = waiting[0]
            mined = future.result()
            waiting.popleft()
            yield chunk, mined
    except BrokenProcessPool:
        _log.warning("a process that parses was ended (too little memory?): continuing with one process")
        return chain([chunk for chunk, _ in waiting], chunks)
    finally:
        for process in list((pool._processes or {}).values()):  # which else would finish what they are at
            process.terminate()
        pool.shutdown(cancel_futures=True)


_miner: ChunkMiner | None = None


def _start(plan: MiningPlan) -> None:
    """What a process does first."""
    global _miner  # noqa: PLW0603 - a process of a pool has no other place
    begin_worker()
    _miner = ChunkMiner(plan)


def _mine(chunk: Chunk) -> MinedChunk:
    if _miner is None:
        raise RuntimeError("the process was not started by `_together`")
    return _miner.mine(chunk)
