"""Do the corrected intervals hold the truth? A simulation of systems and evaluators that are known.

    python scripts/experiments/coverage_correction.py [--runs 1000] [--draws 400] [--labels 49,9,0] [--labels …]

In each run a system of known bias translates WinoMT's 3,888 rows, a human reads them, an evaluator with known
errors calls them, and labels of that evaluator are drawn. Prints one line of a Markdown table for each number of
labels (male, female, neutral): the share of runs in which the interval holds what the human readings of an endless
corpus would give, plain and corrected, and the median width of the intervals.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mtbias.scoring.bias import compute
from mtbias.scoring.correction import CORRECTED, correct

Floats = NDArray[np.float64]

ROWS = np.array([[792, 792, 0], [792, 792, 0], [240, 240, 240]])
"""Stereotype (pro, anti, none) × gold (male, female, neutral): about WinoMT's."""

READINGS = np.array([
    [[0.93, 0.07, 0.0], [0.30, 0.70, 0.0], [0.80, 0.20, 0.0]],
    [[0.85, 0.15, 0.0], [0.62, 0.38, 0.0], [0.80, 0.20, 0.0]],
    [[0.90, 0.10, 0.0], [0.55, 0.45, 0.0], [0.85, 0.15, 0.0]],
])  # fmt: skip
"""What a human reads (male, female, neutral) by stereotype and gold."""

NEUTRAL = 0.05
"""Share of the readings that is neutral where neutral labels are drawn."""

ERRORS = np.array([[0.92, 0.01, 0.0, 0.07], [0.12, 0.80, 0.0, 0.08], [0.30, 0.10, 0.20, 0.40]])
"""What the evaluator calls (male, female, neutral, nothing) where a human reads male, female, neutral."""

NOWHERE = (float("nan"), float("nan"))
"""An interval that does not exist: it holds nothing."""

LABELS = ("49,9,0", "30,20,0", "200,80,0", "45,10,10", "300,100,50")


def simulate(labels: Sequence[int], runs: int, draws: int, rng: np.random.Generator) -> str:
    """One line of the table."""
    readings = READINGS.copy()
    if labels[2]:
        readings = readings * (1 - NEUTRAL)
        readings[..., 2] = NEUTRAL
    truth = np.zeros((3, 3, 4))
    truth[..., :3] = ROWS[..., None] * readings
    exact = compute(np.rint(truth * 10**6).astype(np.int64))
    chance = (ROWS[..., None] * (readings @ ERRORS)).ravel() / ROWS.sum()
    held = {name: np.zeros(2) for name in CORRECTED}
    widths: dict[str, list[tuple[float, float]]] = {name: [] for name in CORRECTED}
    for run in range(runs):
        counts = rng.multinomial(ROWS.sum(), chance).reshape(3, 3, 4)
        confusion = np.stack([rng.multinomial(n, row) for n, row in zip(labels, ERRORS, strict=True)])
        found = correct(counts, confusion, n_resamples=draws, seed=run)
        for name in CORRECTED:
            true = exact[name]
            assert true is not None
            ends = (found.called[name].interval or NOWHERE, found.corrected[name].interval or NOWHERE)
            held[name] += [low <= true <= high for low, high in ends]
            widths[name].append((ends[0][1] - ends[0][0], ends[1][1] - ends[1][0]))
    cells = []
    for name in CORRECTED:
        plain, corrected = 100 * held[name] / runs
        narrow, wide = np.median(widths[name], axis=0)
        cells.append(f"{plain:.1f} → {corrected:.1f} ({narrow:.1f} → {wide:.1f})")
    return f"| {', '.join(map(str, labels))} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--labels", action="append", help="male,female,neutral; may be given several times")
    args = parser.parse_args()
    print("| labels (m, f, n) | accuracy | ΔG | ΔS |\n|---|---:|---:|---:|")
    for i, labels in enumerate(args.labels or LABELS):
        rng = np.random.Generator(np.random.PCG64([2026, i]))
        print(simulate([int(n) for n in labels.split(",")], args.runs, args.draws, rng), flush=True)


if __name__ == "__main__":
    main()
