"""What translating BUG should take on a GPU: the limits, how far the older search was from them, and
what is expected of today's. Arithmetic; no GPU is needed and nothing is measured.

    python scripts/experiments/expected_on_gpu.py [--half 670] [--single 50] [--copies 3.0]

Assumed of the machine (an H100 80GB; `make bench-gpu` measures all of it): products of matrices in
16 bits and in fp32 (TFLOP/s), copies (TB/s); 25 to 60 µs for an operator that Python starts, which
is what 13 to 21 ms a step of launching and waiting were for an operator in the older search; 2 µs
for a kernel that a CUDA graph replays.

- Limit: `scripts.bench.limits.floor_seconds` for BUG's lengths, each translation as long as it is,
  in batches of 800.
- Older search, measured once: sentences a second of docs/translation.md. Its fraction is of the
  limit of its own batches, in which every translation is as long as the longest.
- Expected: a step takes the time of the operators that Python starts, and that of the GPU: bytes by
  `scripts/experiments/count_operators.py` (in 16 bits half of them, but for the scores), the
  weights, and the products. Where the GPU works while Python goes on it is the longer of the two,
  at worst their sum. Least: the sum, 60 µs, all translations of a batch as long as the longest;
  most: the longer, 25 µs, each as long as it is. Batches are those of `gpu_budget`.
- With CUDA graphs Python starts what is outside of recorded steps, and the GPU's kernels take 2 µs
  at least.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mtbias.translate.seq2seq.batches import gpu_budget, make_plan
from mtbias.translate.seq2seq.decoding import PRESETS
from scripts.bench.families import SHAPES, Shape
from scripts.bench.hours import CPU_STAGES, wall_hours
from scripts.bench.limits import BEAMS, floor_seconds
from scripts.bench.work import Work, baseline_plan, draw_lengths

SENTENCES = 8_000
"""Drawn and planned."""
FREE = 78e9
"""Bytes that are free on the GPU."""
PROCESSES = 14
"""For the stages on the CPU, beside generation: of 16 cores."""
OPERATOR = (60e-6, 25e-6)
"""Seconds of an operator that Python starts, at worst and at best."""
KERNEL = 2e-6
SCORE = 16
"""Bytes a score: written by the product (4), read and written by the softmax (8), read for the
maxima (4)."""
KINDS = {"float32": 4, "float16": 2}


@dataclass(frozen=True, slots=True)
class Counted:
    """Of a step of today's search, by ``count_operators.py`` to 40 tokens."""

    operators: int
    outside: int
    """Those outside of recorded steps."""
    megabytes: float
    """Of a sentence, in fp32, weights left out."""


COUNTED = {
    "opus-mt": Counted(221, 79, 262.3 / 16),
    "m2m100": Counted(360, 78, 93.7 / 2),
    "mbart50": Counted(359, 79, 133.2 / 2),
}
MEASURED = {
    ("opus-mt", "as EasyNMT 2.0", "float32"): (34.8, 16),
    ("opus-mt", "transformers", "float32"): (288, 619),
    ("opus-mt", "transformers", "bfloat16"): (478, 803),
    ("opus-mt", "CTranslate2", "bfloat16"): (886, 806),
    ("m2m100", "as EasyNMT 2.0", "float32"): (16.6, 16),
    ("m2m100", "transformers", "float32"): (64.5, 154),
    ("m2m100", "transformers", "bfloat16"): (175, 310),
    ("m2m100", "CTranslate2", "bfloat16"): (297, 308),
}
"""Sentences a second and sentences a batch of the older search (docs/translation.md)."""
Limits = Mapping[str, float]


class Plan:
    """Sentences of BUG's lengths in batches of one size."""

    def __init__(self, shape: Shape, size: int) -> None:
        self.shape = shape
        lengths = draw_lengths(SENTENCES, shape.kind)
        rows = baseline_plan([source for source, _ in lengths], size)
        self._batches = [[lengths[n] for n in each] for each in rows]
        self.size = min(size, SENTENCES)

    def tokens(self, *, padded: bool) -> float:
        """Steps of a batch, on average over its sentences: those of the longest, or of each."""
        return sum(self._length(each, padded) * len(each) for each in self._batches) / SENTENCES

    @staticmethod
    def _length(batch: Sequence[tuple[int, int]], padded: bool) -> float:
        targets = [target for _, target in batch]
        return max(targets) if padded else sum(targets) / len(targets)

    def limit(self, limits: Limits, dtype: str, *, padded: bool) -> float:
        """Sentences a second at most."""
        work = [
            Work(
                tuple(tuple(range(source)) for source, _ in each), round(self._length(each, padded))
            )
            for each in self._batches
        ]
        return SENTENCES / floor_seconds(self.shape, work, limits, dtype)[0]


def sentences_a_batch(shape: Shape, dtype: str) -> int:
    """Of the product's plan on this GPU, on average."""
    config = {
        "decoder_layers": shape.layers,
        "d_model": shape.size,
        "vocab_size": shape.vocabulary,
    }
    preset = PRESETS["paper" if dtype == "float32" else "fast"].decoding
    budget = gpu_budget(config, int(FREE), bytes_per_value=KINDS[dtype], beams=BEAMS)
    sources = [source for source, _ in draw_lengths(SENTENCES * 4, shape.kind)]
    return len(sources) // len(make_plan(sources, preset, budget))


def expected(
    plan: Plan, counted: Counted, limits: Limits, dtype: str, *, recorded: bool
) -> tuple[float, float]:
    """Sentences a second at least and at most."""
    shape, rows, half = plan.shape, plan.size * BEAMS, KINDS[dtype] / 4
    fixed = shape.layers * (6 * shape.size**2 + 2 * shape.size * shape.inner)
    fixed += shape.vocabulary * shape.size
    scores = SCORE * rows * shape.vocabulary
    others = max(0.0, 1e6 * counted.megabytes * plan.size - scores) * half
    gpu = (scores + others + KINDS[dtype] * fixed) / limits["bandwidth"]
    gpu += 2 * rows * fixed / limits[dtype]
    started = counted.operators
    if recorded:
        gpu = max(gpu, (counted.operators - counted.outside) * KERNEL)
        started = counted.outside + 1
    worst, best = (started * seconds for seconds in OPERATOR)
    return (
        plan.size / plan.tokens(padded=True) / (worst + gpu),
        plan.size / plan.tokens(padded=False) / max(best, gpu),
    )


def _hours(rates: Mapping[str, tuple[float, float]]) -> str:
    slow, fast = (
        wall_hours({family: both[n] for family, both in rates.items()}, CPU_STAGES, PROCESSES)
        for n in (0, 1)
    )
    return f"{slow:.1f} to {fast:.1f} h"


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def tables(limits: Limits) -> Iterable[str]:
    """The lines of the page."""
    at_most = {
        (family, dtype): Plan(shape, 800).limit(limits, dtype, padded=False)
        for family, shape in SHAPES.items()
        for dtype in KINDS
    }
    yield "Limit, sentences a second:\n"
    yield from (_row("family", "fp32", "16 bits"), "|---|---:|---:|")
    for family in SHAPES:
        yield _row(family, *(f"{at_most[family, dtype]:,.0f}" for dtype in KINDS))
    yield "\nThe older search, measured once:\n"
    head = ("family", "engine", "sentences/s", "limit of its batches", "of it")
    yield from (_row(*head), "|---|---|---:|---:|---:|")
    for (family, engine, dtype), (rate, size) in MEASURED.items():
        of_batches = Plan(SHAPES[family], size).limit(limits, dtype, padded=True)
        cells = (f"{rate:g}", f"{of_batches:,.0f}", f"{rate / of_batches:.1%}")
        yield _row(family, f"{engine} {dtype}", *cells)
    yield "\nExpected of today's search, not measured:\n"
    head = ("family", "type", "sentences a batch", "sentences/s", "of the limit")
    yield from (_row(*head), "|---|---|---:|---:|---:|")
    for recorded in (False, True):
        for dtype in KINDS:
            rates = {}
            for family, shape in SHAPES.items():
                plan = Plan(shape, sentences_a_batch(shape, dtype))
                both = expected(plan, COUNTED[family], limits, dtype, recorded=recorded)
                rates[family] = both
                name = f"{dtype}, CUDA graphs" if recorded else dtype
                speeds = " to ".join(f"{rate:,.0f}" for rate in both)
                shares = " to ".join(f"{rate / at_most[family, dtype]:.0%}" for rate in both)
                yield _row(family, name, plan.size, speeds, shares)
            yield _row("24 cells", name, "", _hours(rates), "")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", type=float, default=670, help="TFLOP/s in 16 bits")
    parser.add_argument("--single", type=float, default=50, help="TFLOP/s in fp32")
    parser.add_argument("--copies", type=float, default=3.0, help="TB/s, read and written")
    args = parser.parse_args()
    half = 1e12 * args.half
    limits = {"float16": half, "bfloat16": half, "float32": 1e12 * args.single}
    print("\n".join(tables({**limits, "bandwidth": 1e12 * args.copies})))


if __name__ == "__main__":
    main()
