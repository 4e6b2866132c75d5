"""The batch plan: which sentences are translated together. It depends on the corpus and the budget alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from mtbias.translate.seq2seq.beam_search import Decoding

CPU_ROWS = 80
"""On a CPU wider batches lose: the scores of all rows over the vocabulary leave the cache."""
MOST_CONCURRENT = 4
"""Batches that are computed at the same time on a CPU."""
_CONCURRENT_TOKENS = 256
_CONCURRENT_SHARE = 0.8
_GPU_SHARE = 0.5
_GPU_MOST_ROWS = 4096
_LOGIT_COPIES = 7
"""Copies of the scores over the vocabulary, in fp32, that a step of beam search holds."""


class Budget(NamedTuple):
    """How much may be in flight at once."""

    rows: int
    """Sentences × beams."""
    tokens: int
    """Rows × (source tokens + `Decoding.expected` new ones): what the caches of keys and values grow with."""


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

    `lengths` are the source tokens of each sentence. A batch holds only sentences with the same most new tokens, and
    no more of them than `budget` allows, but always one.
    """
    order = sorted(range(len(lengths)), key=lambda n: (-decoding.limit(lengths[n]), -lengths[n], n))
    batches: list[Batch] = []
    rows: list[int] = []
    longest = limit = 0
    for n in order:
        here = decoding.limit(lengths[n])
        wide = (len(rows) + 1) * decoding.beams
        tokens = wide * (longest + decoding.expected(longest))
        if rows and (here != limit or wide > budget.rows or tokens > budget.tokens):
            batches.append(Batch(len(batches), tuple(rows), limit))
            rows = []
        if not rows:
            longest, limit = lengths[n], here
        rows.append(n)
    if rows:
        batches.append(Batch(len(batches), tuple(rows), limit))
    return tuple(batches)


def plan_key(batches: Sequence[Batch], sources: Sequence[str]) -> str:
    """A hash of the plan and of the sentences: what is kept of one plan is of no use to another."""
    digest = sha256()
    for batch in batches:
        digest.update(f"{batch.index}:{batch.limit}:{','.join(map(str, batch.rows))}\n".encode())
    for source in sources:
        digest.update(f"{source}\0".encode())
    return digest.hexdigest()[:16]


def cpu_budget(rows: int = CPU_ROWS) -> Budget:
    """`CPU_ROWS`, of whatever length."""
    return Budget(rows, rows * 4096)


def gpu_budget(config: Mapping[str, Any], memory: int, *, bytes_per_value: int, beams: int) -> Budget:
    """What fits into half of `memory` (bytes), rounded down to powers of two, so that it is the same in every run.

    A row needs ``7 × vocabulary × 4`` bytes for the scores of a step, and for each source or target token
    ``2 × decoder layers × hidden size × bytes_per_value`` for keys and values, twice that while beams are reordered.

    `config` is the checkpoint's ``config.json``; `memory` what is free once the weights are there; a value has 4 bytes
    in fp32, 2 in bf16 and fp16; a sentence has as many rows as beams.
    """
    usable = _GPU_SHARE * memory
    scores, token = _row_bytes(config, bytes_per_value)
    rows = _power_of_two(min(_GPU_MOST_ROWS, 0.3 * usable / scores))
    return Budget(max(beams, rows), max(beams, _power_of_two(0.7 * usable / token)))


def cpu_concurrency(config: Mapping[str, Any], *, threads: int, memory: int) -> int:
    """Batches to compute at the same time on a CPU: one a thread, `MOST_CONCURRENT` at most, and as memory allows.

    They share the weights. Each is counted with what `gpu_budget` says of its rows: `CPU_ROWS` of 256 tokens
    (source and translation together, more than nearly all have); four fifths of the memory are shared out.
    `config` is the checkpoint's ``config.json``; `memory` the bytes that are free beside the weights.
    """
    scores, token = _row_bytes(config, 4)
    one = CPU_ROWS * (scores + _CONCURRENT_TOKENS * token)
    return max(1, min(threads, MOST_CONCURRENT, int(_CONCURRENT_SHARE * memory / one)))


def _row_bytes(config: Mapping[str, Any], bytes_per_value: int) -> tuple[int, int]:
    """Bytes of a row's scores over the vocabulary, and of its keys and values for each token."""
    layers = int(config.get("decoder_layers") or config.get("num_decoder_layers") or config.get("num_layers") or 6)
    hidden = int(config.get("d_model") or 512)
    vocabulary = int(config.get("vocab_size") or 128_000)
    return _LOGIT_COPIES * 4 * vocabulary, 2 * 2 * layers * hidden * bytes_per_value


def _power_of_two(value: float) -> int:
    return 1 << (max(int(value), 1).bit_length() - 1)
