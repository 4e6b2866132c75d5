"""How often 95 % intervals hold the truth, weighted and corrected for the evaluator's errors: two
simulations.

    python scripts/experiments/coverage.py weighted [--runs 500] [--rows 800]
        [--resamples 1000] [--seed 0]
    python scripts/experiments/coverage.py corrected [--runs 1000] [--draws 400]
        [--labels 49,9,0]…

weighted: ΔG and ΔS, resampled within kinds of sentences. A population has two properties (pronouns,
domain) that are not spread alike over the groups. In "confounded" the system's accuracy depends on
the properties alone, so that the weighted numbers are 0 and the plain ones are not; in "biased"
also on gender and stereotype, and by how much depends on the properties. The truth is the number of
a population of 100,000 sentences with its own weights; of each sample the weights are solved again.

corrected: in each run a system of known bias translates WinoMT's 3,888 rows, a human reads them, an
evaluator with known errors calls them, and labels of that evaluator are drawn. One line for each
number of labels (male, female, neutral): the share of runs in which the interval holds what the
human readings of an endless corpus would give, plain and corrected, and the median width of the
intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import cyclopts
import numpy as np
from numpy.typing import NDArray

from mtbias.scoring.bias import GENDER_COUNTING, compute
from mtbias.scoring.correction import CORRECTED, correct
from mtbias.scoring.weighted import weigh
from mtbias.stats.paired import WeightedTables, tabulate
from mtbias.stats.resampling import percentile_interval
from mtbias.types import Gender, GenderCall, Stereotype

Floats = NDArray[np.float64]
M, F = Gender.MALE, Gender.FEMALE
app = cyclopts.App(help="How often 95 % intervals hold the truth.")

# --- Weighted ---------------------------------------------------------------------------------------------------------

NUMBERS = ("delta_g", "delta_s")
KINDS = list(product((M, F), (Stereotype.PRO, Stereotype.ANTI), (1, 2, 3), ("a", "b")))
"""Gold gender, stereotype, pronouns, domain: the kinds of sentences."""


@dataclass(frozen=True)
class Sentence:
    """What weights and counts need."""

    call: GenderCall
    id: str
    gold: Gender
    stereotype: Stereotype
    pronouns: int
    domain: str
    source: str = "One."
    distance: int | None = None


def population(biased: bool) -> tuple[Floats, Floats]:
    """The share of each kind, and the probability that the system is right about it."""
    share, right = [], []
    for gold, kind, pronouns, domain in KINDS:
        of_pronouns = ((0.6, 0.3, 0.1) if gold is M else (0.3, 0.3, 0.4))[pronouns - 1]
        of_a = 0.8 if kind is Stereotype.PRO else 0.4
        of_domain = of_a if domain == "a" else 1 - of_a
        share.append(0.25 * of_pronouns * of_domain)
        accuracy = 0.9 - 0.15 * (pronouns - 1) - (0.1 if domain == "b" else 0)
        if biased:
            accuracy -= 0.1 * pronouns * (gold is F) / 2 + (0.15 if domain == "a" else 0.05) * (
                kind is Stereotype.ANTI
            )
        right.append(accuracy)
    return np.array(share), np.array(right)


def estimates(
    kinds: NDArray[np.int64], right: NDArray[np.bool_], n_resamples: int, rng: np.random.Generator
) -> dict[str, tuple[float, float, float]]:
    """Value and interval of plain and weighted ΔG and ΔS of a sample; a wrong call is the other
    gender.
    """
    rows = []
    for n, (kind, is_right) in enumerate(zip(kinds, right, strict=True)):
        gold = KINDS[kind][0]
        called = gold if is_right else (F if gold is M else M)
        rows.append(Sentence(GenderCall(str(n), called, None), str(n), *KINDS[kind]))
    row_cells = GENDER_COUNTING.cells(rows)
    found = {}
    for number in NUMBERS:
        weighting = weigh(rows, number, ["pronouns", "domain"])
        assert weighting is not None
        for name, kind in ((number, np.zeros(len(rows))), (f"{number} weighted", weighting.kinds)):
            _, first, level = np.unique(kind, return_index=True, return_inverse=True)
            values = weighting.weights[first] if kind is weighting.kinds else np.ones(1)
            tables = WeightedTables(
                tabulate(row_cells, GENDER_COUNTING.shape, level, len(values)), values
            )
            replicates = GENDER_COUNTING.rates(tables.resampled_tables(n_resamples, rng))[number]
            ends = percentile_interval(replicates)
            value = GENDER_COUNTING.rates(tables.total())[number][0]
            found[name] = (float(value), *(ends or (np.nan, np.nan)))
    return found


@app.command
def weighted(*, runs: int = 500, rows: int = 800, resamples: int = 1000, seed: int = 0) -> None:
    """Plain and weighted ΔG and ΔS."""
    print(
        "| system | number | truth | mean | holds the truth | mean width |\n|---|---|---:|---:|---:|---:|"
    )
    for biased in (False, True):
        rng = np.random.default_rng(seed)
        share, right = population(biased)
        counts = np.rint(share * 100_000).astype(np.int64)
        everyone = np.repeat(np.arange(len(KINDS)), counts)
        first = np.arange(len(everyone)) - np.repeat(np.cumsum(counts) - counts, counts)
        truth = estimates(everyone, first < np.repeat(np.rint(counts * right), counts), 0, rng)
        samples = []
        for _ in range(runs):
            drawn = rng.choice(len(KINDS), rows, p=share)
            samples.append(estimates(drawn, rng.random(rows) < right[drawn], resamples, rng))
        for name, (true, _, _) in truth.items():
            values = np.array([sample[name] for sample in samples])
            held = np.mean((values[:, 1] <= true) & (true <= values[:, 2]))
            width = np.mean(values[:, 2] - values[:, 1])
            system = "biased" if biased else "confounded"
            print(
                f"| {system} | {name} | {true:.2f} | {values[:, 0].mean():.2f} | {100 * held:.1f} % | {width:.1f} |"
            )


# --- Corrected --------------------------------------------------------------------------------------------------------

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
"""What the evaluator calls (male, female, neutral, nothing) where a human reads male, female,
neutral."""

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
        confusion = np.stack(
            [rng.multinomial(n, row) for n, row in zip(labels, ERRORS, strict=True)]
        )
        found = correct(counts, confusion, n_resamples=draws, seed=run)
        for name in CORRECTED:
            true = exact[name]
            assert true is not None
            ends = (
                found.called[name].interval or NOWHERE,
                found.corrected[name].interval or NOWHERE,
            )
            held[name] += [low <= true <= high for low, high in ends]
            widths[name].append((ends[0][1] - ends[0][0], ends[1][1] - ends[1][0]))
    cells = []
    for name in CORRECTED:
        plain, corrected = 100 * held[name] / runs
        narrow, wide = np.median(widths[name], axis=0)
        cells.append(f"{plain:.1f} → {corrected:.1f} ({narrow:.1f} → {wide:.1f})")
    return f"| {', '.join(map(str, labels))} | {' | '.join(cells)} |"


@app.command
def corrected(*, runs: int = 1000, draws: int = 400, labels: list[str] | None = None) -> None:
    """Numbers corrected for the evaluator's errors; `labels` are male,female,neutral."""
    print("| labels (m, f, n) | accuracy | ΔG | ΔS |\n|---|---:|---:|---:|")
    for i, drawn in enumerate(labels or LABELS):
        rng = np.random.Generator(np.random.PCG64([2026, i]))
        print(simulate([int(n) for n in drawn.split(",")], runs, draws, rng), flush=True)


if __name__ == "__main__":
    app()
