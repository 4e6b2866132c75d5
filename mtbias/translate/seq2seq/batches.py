"""Batches: which sentences are translated together, by the corpus and the budget alone.

The budget of a batch follows from the memory of the device. `BatchSystem` and `BatchPlan` are what
all checkpoints have in common as systems: a part of their plan is a batch.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeVar

from mtbias.settings import TranslationSettings
from mtbias.translate.outputs import PartsPlan
from mtbias.translate.seq2seq.checkpoints import Checkpoint
from mtbias.translate.seq2seq.decoding import Decoding
from mtbias.translate.system import Begun, System
from mtbias.types import Json

P = TypeVar("P")

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


# Checkpoints as systems


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
