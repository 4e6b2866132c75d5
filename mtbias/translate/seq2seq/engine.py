"""What the generation loop asks of an engine: transformers and CTranslate2 answer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from mtbias.translate.seq2seq.beam_search import Decoding


@dataclass(frozen=True, slots=True)
class Generated:
    """What came out for one sentence."""

    ids: tuple[int, ...]
    """New token ids; the language token and the end token may be among them."""
    cut: bool = False
    """The most new tokens were reached."""
    finite: bool = True
    """False where scores were not finite, so that the result means nothing."""
    done: bool = True
    """False where the search was given up before it was over, so that there is no result."""
    steps: int = field(default=0, compare=False)
    """Steps of the decoder that it took; 0 where the engine does not say."""


class Engine(Protocol):
    """Beam search over batches of token ids."""

    @property
    def concurrency(self) -> int:
        """Batches that `generate` works on at the same time, each asked for by a thread of its own."""
        ...

    def generate(
        self,
        batch: Sequence[Sequence[int]],
        *,
        decoding: Decoding,
        limit: int,
        forced: int | None,
        stop: int | None = None,
    ) -> list[Generated]:
        """Translate `batch`, the token ids of each source sentence, special tokens included.

        A translation has at most `limit` new tokens, and begins with the token `forced` where there is one. After
        `stop` tokens the search is given up: what is done by then is what it would be without `stop`.

        Raises:
            OutOfMemory: the batch is too large for the device.
        """
        ...

    def abandon(self) -> AbstractContextManager[None]:
        """Within the block `generate` in other threads ends by an exception as soon as the engine can, or by itself."""
        ...

    def exact(self) -> Engine:
        """The same weights in fp32, for sentences whose scores are not finite in this engine's type."""
        ...


class OutOfMemory(Exception):  # noqa: N818 - a signal between engine and loop, not an error that users see
    """The batch did not fit; a smaller one may."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception of torch, CTranslate2 or Python says that memory ran out."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(
        sign in text for sign in ("out of memory", "allocate memory", "cublas_status_alloc_failed", "bad_alloc")
    )
