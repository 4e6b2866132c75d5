"""What is translated: sentences as long as BUG's, in the baseline's batches or in ours."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from scripts.bench.families import Shape

BASELINE_BATCH = 16
CORPUS = 105_687
"""As many sentences as BUG has."""
MEDIAN_WORDS, P95_WORDS, MOST_WORDS = 29, 58, 96
"""Words of the sentences of BUG's gold file (mean 31.3)."""
TOKENS_A_WORD = 1.3
SPREAD = 0.15
"""Standard deviation of the logarithm of a translation's tokens over its source's."""
Z95 = 1.6449
"""The 95th percentile of the standard normal distribution."""


@dataclass(frozen=True, slots=True)
class Work:
    """A batch: source ids, and the length of every translation."""

    sources: tuple[tuple[int, ...], ...]
    length: int


def draw_lengths(count: int, kind: str, seed: int = 0) -> list[tuple[int, int]]:
    """Source and target tokens of `count` sentences, with the end token and the language token."""
    rng = random.Random(seed)
    sigma, special = math.log(P95_WORDS / MEDIAN_WORDS) / Z95, 1 if kind == "marian" else 2
    lengths = []
    for _ in range(count):
        words = min(MOST_WORDS, max(3.0, MEDIAN_WORDS * math.exp(rng.gauss(0, sigma))))
        tokens = TOKENS_A_WORD * words
        lengths.append(
            (round(tokens) + special, round(tokens * math.exp(rng.gauss(0, SPREAD))) + special)
        )
    return lengths


def baseline_plan(lengths: Sequence[int], size: int = BASELINE_BATCH) -> list[tuple[int, ...]]:
    """Batches of one `size`, the longest sentences first, as EasyNMT makes them."""
    order = sorted(range(len(lengths)), key=lambda n: -lengths[n])
    return [tuple(order[n : n + size]) for n in range(0, len(order), size)]


def evenly(batches: Sequence[tuple[int, ...]], count: int) -> list[tuple[int, ...]]:
    """`count` of `batches`, evenly spaced: the middles of as many equal parts."""
    count = min(count, len(batches))
    return [batches[(2 * n + 1) * len(batches) // (2 * count)] for n in range(count)]


def make_work(rows: Sequence[int], lengths: Sequence[tuple[int, int]], shape: Shape) -> Work:
    """The batch of these sentences: random ids that are the same in every plan, the longest of the
    drawn lengths.
    """
    sources, end = [], 0 if shape.kind == "marian" else 2
    for row in rows:
        rng = random.Random(row)
        first = [] if shape.language is None else [shape.language]
        body = lengths[row][0] - len(first) - 1
        sources.append(
            (*first, *(rng.randrange(10, shape.vocabulary - 120) for _ in range(body)), end)
        )
    return Work(tuple(sources), max(lengths[row][1] for row in rows))
