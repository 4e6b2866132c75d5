"""What an engine is: beam search over batches of token ids, and batches in halves where memory runs
out.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TypeVar

from mtbias.errors import ModelError, MtbiasError
from mtbias.machine.devices import free_unused
from mtbias.translate.seq2seq.decoding import Decoding


@dataclass(frozen=True, slots=True)
class Generated:
    """The translation of one sentence as token ids."""

    ids: tuple[int, ...]
    """New token ids; the language token and the end token may be among them."""
    cut: bool = False
    """Whether there are as many new tokens as allowed, or more."""
    finite: bool = True
    """False where scores were not finite, so that the result means nothing."""
    done: bool = True
    """False where the search was given up before its end, so that there is no result."""
    steps: int = field(default=0, compare=False)
    """Steps of the decoder for it; 0 where the engine does not count them."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How one batch is searched."""

    decoding: Decoding
    limit: int
    """Most new tokens."""
    forced: int | None
    """The token with which every translation begins, if there is one."""
    stop: int | None = None
    """Tokens after which the search is given up; sentences that are done by then are not changed by
    it."""


class Engine(ABC):
    """Beam search over batches of token ids."""

    concurrency: int
    """Batches on which `generate` works at the same time, each in a thread of its own."""
    steps: int | None = None
    """Steps of the decoder so far; None where the engine does not count them."""

    @property
    def attention(self) -> str:
        """The implementation of attention."""
        return "the engine's own"

    @abstractmethod
    def generate(self, batch: Sequence[Sequence[int]], bounds: Bounds) -> list[Generated]:
        """Translate `batch`, the token ids of each source sentence, special tokens included.

        Raises:
            OutOfMemory: the batch is too large for the device.
        """

    @abstractmethod
    def abandon(self) -> AbstractContextManager[None]:
        """End `generate` in other threads within the block by an exception, as soon as the engine
        can.
        """

    @abstractmethod
    def exact(self) -> Engine:
        """The same weights in fp32, for sentences whose scores are not finite in this engine's
        type.
        """


class OutOfMemory(MtbiasError):  # noqa: N818 - a signal between engine and loop
    """The batch did not fit; a smaller one may. Users do not see it."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception of torch, CTranslate2 or Python says that memory ran out."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    signs = ("out of memory", "allocate memory", "cublas_status_alloc_failed", "bad_alloc")
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(sign in text for sign in signs)


T = TypeVar("T")
R = TypeVar("R")


def within_memory(do: Callable[[], R]) -> R:
    """The result of `do`.

    Raises:
        OutOfMemory: memory ran out; that of the batch is freed.
    """
    try:
        return do()
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        lacking = str(error)
    # After the block, since the exception's frames hold the cache and the scores.
    free_unused()
    raise OutOfMemory(lacking)


@dataclass
class Halving:
    """Runs batches, in halves where memory runs out."""

    halved: int = 0
    """Times that a batch ran out of memory."""
    _ceiling: int | None = None
    """Smallest rows × tokens for which memory ran out; later batches stay below it."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(
        self,
        rows: Sequence[T],
        area: Callable[[Sequence[T]], int],
        do: Callable[[Sequence[T]], list[R]],
        too_long: Callable[[T, str], ModelError],
    ) -> list[R]:
        """The results of `do` for `rows`, whose `area` is rows × tokens.

        Raises:
            ModelError: a single row does not fit into memory; `too_long` makes the error.
        """
        size = area(rows)
        if len(rows) == 1 or self._ceiling is None or size < self._ceiling:
            try:
                return do(rows)
            except OutOfMemory as error:
                lacking = str(error)
            # After the block, since the error's frames hold what fills the memory.
            if len(rows) == 1:
                raise too_long(rows[0], lacking)
            with self._lock:
                self.halved += 1
                self._ceiling = min(size, self._ceiling or size)
        middle = (len(rows) + 1) // 2
        first = self.run(rows[:middle], area, do, too_long)
        return first + self.run(rows[middle:], area, do, too_long)
