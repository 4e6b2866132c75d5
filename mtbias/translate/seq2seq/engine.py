"""Batches and their search: decoding, the plan of batches, and the interface of engines."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeVar

from mtbias.errors import ModelError, MtbiasError, UsageError
from mtbias.machine.devices import free_unused
from mtbias.settings import TranslationSettings
from mtbias.translate.outputs import PartsPlan
from mtbias.translate.seq2seq.checkpoints import Checkpoint
from mtbias.translate.system import Begun, System
from mtbias.types import Json

# How translations are searched for: beams, length penalty, maximum length; always explicit, never
# inherited.

STEP = 8
"""Source lengths are rounded up to a multiple of this to get a maximum length."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """Beam search.

    The score of a hypothesis is its log probability divided by ``length ** length_penalty``.
    """

    beams: int = 5
    length_penalty: float = 1.0
    max_length: int = 200
    """Most tokens of a translation, the decoder's start token included (transformers'
    ``max_length``)."""
    from_source: bool = False
    """Whether the maximum also depends on the source: twice its tokens and 20, up to
    `max_length`."""
    early_stopping: bool = True
    """Whether a search ends with as many finished hypotheses as beams, or only when no better one
    is possible."""

    def __post_init__(self) -> None:
        if self.beams < 1:
            raise UsageError(f"--beams: expected a whole number of at least 1, got {self.beams}")
        if self.max_length < 3:
            raise UsageError(
                f"--max-length: expected a whole number of at least 3, got {self.max_length}"
            )

    def limit(self, source_tokens: int) -> int:
        """Most new tokens (the language token and the end token count, the start token does not).

        It depends on the sentence alone, so that a translation does not depend on the rest of its
        batch.
        """
        ceiling = self.max_length - 1
        if not self.from_source:
            return ceiling
        rounded = -(-source_tokens // STEP) * STEP
        return min(ceiling, 2 * rounded + 20)

    def expected(self, source_tokens: int) -> int:
        """Tokens of a translation for which memory is reserved; few are longer, and a batch that
        does not fit is halved.
        """
        return min(self.limit(source_tokens), source_tokens + 20)

    @staticmethod
    def first_stop(source_tokens: int) -> int:
        """Tokens after which the first of two stages gives a sentence up: mostly, it is a loop.

        The number does not change translations in fp32, since such a sentence is searched again, to
        its limit.
        """
        return 3 * source_tokens // 2 + 20

    @property
    def signature(self) -> str:
        """``beam5,penalty1,max200``: part of a run's identity."""
        length = f"max{self.max_length}" + (",max2x+20" if self.from_source else "")
        early = ",early" if self.early_stopping else ""
        return f"beam{self.beams},penalty{self.length_penalty:g},{length}{early}"


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings under one name."""

    decoding: Decoding
    half_on_gpu: bool = False
    """Whether weights on a GPU have 16 bits; on a CPU they are always float32."""

    def dtype(self, device: str, half: str = "bfloat16") -> str:
        """The weights' type on a device, for a model whose type of 16 bits is `half`."""
        return half if self.half_on_gpu and device.startswith("cuda") else "float32"


PRESETS = {
    "paper": Preset(Decoding()),
    "fast": Preset(Decoding(from_source=True), half_on_gpu=True),
}
"""``paper``: the settings of BUG's authors (EasyNMT 1.1): beam 5, penalty 1.0, 200 tokens, fp32.
``fast``: 16 bits on a GPU (`mtbias.translate.seq2seq.families.Family.half`), and lengths bounded by
the source's."""


def get_preset(name: str) -> Preset:
    """The preset of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in PRESETS:
        raise UsageError(f"--preset: expected {' or '.join(PRESETS)}, got {name!r}")
    return PRESETS[name]


@dataclass(frozen=True, slots=True)
class Generated:
    """The translation of one sentence as token ids."""

    ids: tuple[int, ...]
    """New token ids; the language token and the end token may be among them."""
    cut: bool = False
    """Whether the most new tokens were reached."""
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
P = TypeVar("P")


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


# The batch plan: which sentences are translated together, by the corpus and the budget alone.

CPU_ROWS = 80
"""Rows of a batch on a CPU; the scores of more rows over the vocabulary exceed its cache."""
MOST_CONCURRENT = 4
"""Most batches at the same time on a CPU."""
_CONCURRENT_TOKENS = 256
_CONCURRENT_SHARE = 0.8
_GPU_SHARE = 0.5
_GPU_MOST_ROWS = 4096
_LOGIT_COPIES = 7
"""Copies of the scores over the vocabulary, in fp32, that a step of beam search holds."""


class Budget(NamedTuple):
    """The most of a batch."""

    rows: int
    """Sentences × beams."""
    tokens: int
    """Tokens with keys and values: sentences × (source tokens + beams × `Decoding.expected` new
    ones)."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Sentences that are translated together."""

    index: int
    rows: tuple[int, ...]
    """Positions in the list of sentences."""
    limit: int
    """Most new tokens, the same for all of them."""


def make_plan(lengths: Sequence[int], decoding: Decoding, budget: Budget) -> tuple[Batch, ...]:
    """Batches of sentences of like length, the longest first; ties keep the order of the corpus.

    `lengths` are the source tokens of each sentence. A batch holds only sentences with the same
    most new tokens, and no more of them than `budget` allows, but always one.
    """
    order = sorted(range(len(lengths)), key=lambda n: (-decoding.limit(lengths[n]), -lengths[n], n))
    batches: list[Batch] = []
    rows: list[int] = []
    longest = limit = 0
    for n in order:
        own_limit = decoding.limit(lengths[n])
        sentences = len(rows) + 1
        wide = sentences * decoding.beams
        tokens = sentences * (longest + decoding.beams * decoding.expected(longest))
        if rows and (own_limit != limit or wide > budget.rows or tokens > budget.tokens):
            batches.append(Batch(len(batches), tuple(rows), limit))
            rows = []
        if not rows:
            longest, limit = lengths[n], own_limit
        rows.append(n)
    if rows:
        batches.append(Batch(len(batches), tuple(rows), limit))
    return tuple(batches)


def cpu_budget(rows: int = CPU_ROWS) -> Budget:
    """The budget on a CPU: `CPU_ROWS` of any length."""
    return Budget(rows, rows * 4096)


def gpu_budget(
    config: Mapping[str, Any], memory: int, *, bytes_per_value: int, beams: int
) -> Budget:
    """The budget that fits into half of `memory` (bytes).

    It is rounded down to eighths of a power of two, so that runs with nearly the same memory have
    the same budget.

    A row needs ``7 × vocabulary × 4`` bytes for the scores of a step. A token needs ``2 × (decoder
    layers + 1) × hidden size × bytes_per_value`` for keys and values: those of one layer are copied
    at a time, where their memory grows or shrinks.

    `config` is the checkpoint's ``config.json``; `memory` what is free beside the weights; a value
    has 4 bytes in fp32, 2 in bf16 and fp16; a sentence has as many rows as beams.
    """
    usable = _GPU_SHARE * memory
    scores, token = _row_bytes(config, bytes_per_value)
    rows = _in_eighths(min(_GPU_MOST_ROWS, 0.3 * usable / scores))
    return Budget(max(beams, rows), max(beams, _in_eighths(0.7 * usable / token)))


def cpu_concurrency(config: Mapping[str, Any], *, threads: int, memory: int) -> int:
    """Batches to compute at the same time on a CPU: one a thread, at most `MOST_CONCURRENT`, and as
    memory allows.

    They share the weights. Each is counted as `CPU_ROWS` rows of 256 tokens (source and translation
    together, which nearly none exceeds), by the bytes of `gpu_budget`; they get four fifths of the
    memory. `config` is the checkpoint's ``config.json``; `memory` the bytes that are free beside
    the weights.
    """
    scores, token = _row_bytes(config, 4)
    one = CPU_ROWS * (scores + _CONCURRENT_TOKENS * token)
    return max(1, min(threads, MOST_CONCURRENT, int(_CONCURRENT_SHARE * memory / one)))


def _row_bytes(config: Mapping[str, Any], bytes_per_value: int) -> tuple[int, int]:
    """Bytes of a row's scores over the vocabulary, and of its keys and values for each token."""
    layers = int(
        config.get("decoder_layers")
        or config.get("num_decoder_layers")
        or config.get("num_layers")
        or 6
    )
    hidden = int(config.get("d_model") or 512)
    vocabulary = int(config.get("vocab_size") or 128_000)
    return _LOGIT_COPIES * 4 * vocabulary, 2 * (layers + 1) * hidden * bytes_per_value


def _in_eighths(value: float) -> int:
    """`value` rounded down to a multiple of an eighth of the power of two below it; 8 to 16 are
    whole numbers, 100 is 96.
    """
    whole = max(int(value), 1)
    return whole // eighth(whole) * eighth(whole)


def eighth(whole: int) -> int:
    """An eighth of the power of two at or below a number, at least 1; that of 100 is 8."""
    return max(1, (1 << (whole.bit_length() - 1)) // 8)


# Checkpoints as systems: their plans divide a corpus into batches.


class BatchSystem(System):
    """A checkpoint on a device (`mtbias.translate.system.System`)."""

    checkpoint: Checkpoint
    settings: TranslationSettings
    device: str
    dtype: str
    decoding: Decoding
    cpu_rows: ClassVar[int] = CPU_ROWS
    free_memory: int | None = None
    """Bytes that were free on the GPU before the weights were loaded; None before they are
    measured."""

    @abstractmethod
    def sizes(self) -> Mapping[str, Any]:
        """The sizes of the model as `gpu_budget` reads them."""

    def weights(self) -> int:
        """Bytes of the free memory that the weights will take."""
        return 0

    def budget(self, begun: Begun) -> Budget:
        """The budget of a batch: that of the settings, else of the run's beginning, else of the
        device.

        Batches of a run that began on a larger device are halved where they do not fit.
        """
        beams = self.decoding.beams
        if self.settings.batch_rows is not None:
            return cpu_budget(max(self.settings.batch_rows, beams))
        match begun.get("budget") or begun.get("batch"):
            case [int(rows), int(tokens)]:
                return Budget(rows, tokens)
        if not self.device.startswith("cuda"):
            return cpu_budget(self.cpu_rows)
        if self.free_memory is None:
            import torch

            self.free_memory = torch.cuda.mem_get_info(torch.device(self.device))[0]
        memory = max(self.free_memory - self.weights(), 0)
        size = 4 if self.dtype == "float32" else 2
        return gpu_budget(self.sizes(), memory, bytes_per_value=size, beams=beams)


class BatchPlan(PartsPlan[P]):
    """A plan of a checkpoint (`mtbias.translate.system.Plan`), in which a part is a batch."""

    system: BatchSystem
    budget: Budget

    @property
    @abstractmethod
    def lengths(self) -> Sequence[int]:
        """Tokens of each of the `distinct` sources."""

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, Json]:
        """What translations depend on besides the checkpoint and batches."""

    @cached_property
    def identity(self) -> Mapping[str, Json]:
        """What translations depend on; that includes the budget of batches except in fp32."""
        checkpoint = self.system.checkpoint
        batch = {} if self.system.dtype == "float32" else {"batch": list(self.budget)}
        return {
            "model": checkpoint.name,
            "revision": checkpoint.revision,
            **self.parameters,
            **batch,
        }

    @property
    def settings(self) -> Mapping[str, Json]:
        """The budget of a batch, which on a GPU depends on the memory that was free at the run's
        beginning.
        """
        return {"budget": list(self.budget)}

    @cached_property
    def batches(self) -> tuple[Batch, ...]:
        """The parts, for which the weights need not be loaded."""
        return make_plan(self.lengths, self.system.decoding, self.budget)

    @cached_property
    def parts(self) -> Sequence[Sequence[str]]:
        """See `mtbias.translate.outputs.PartsPlan`."""

        def sources(batch: Batch) -> list[str]:
            return [self.distinct[row] for row in batch.rows]

        return list(map(sources, self.batches))

    @property
    def frees_cpu(self) -> bool:
        """Whether a GPU translates; on a CPU translation and analysis would need the same cores."""
        return self.system.device.startswith("cuda")
