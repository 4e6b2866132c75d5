"""How often 95 % intervals of weighted ΔG and ΔS hold the truth, resampled within kinds of sentences.

    python scripts/experiments/coverage_weighted.py [--runs N] [--rows N] [--resamples N] [--seed N]

A population has two properties (pronouns, domain) that are not spread alike over the groups. In "confounded" the
system's accuracy depends on the properties alone, so that the weighted numbers are 0 and the plain ones are not; in
"biased" also on gender and stereotype, and by how much depends on the properties. The truth is the number of a
population of 100,000 sentences with its own weights; of each sample the weights are solved again.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from mtbias.scoring import paired_counts as paired
from mtbias.scoring.bias import GENDER_COUNTING
from mtbias.scoring.weighted import weigh
from mtbias.types import Gender, GenderCall, Stereotype

Floats = NDArray[np.float64]
M, F = Gender.MALE, Gender.FEMALE
PLACES = {"delta_g": 1, "delta_s": 2}
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
            accuracy -= 0.1 * pronouns * (gold is F) / 2 + (0.15 if domain == "a" else 0.05) * (kind is Stereotype.ANTI)
        right.append(accuracy)
    return np.array(share), np.array(right)


def estimates(
    kinds: NDArray[np.int64], right: NDArray[np.bool_], n_resamples: int, rng: np.random.Generator
) -> dict[str, tuple[float, float, float]]:
    """Value and interval of plain and weighted ΔG and ΔS of a sample; a wrong call is the other gender."""
    rows = []
    for n, (kind, is_right) in enumerate(zip(kinds, right, strict=True)):
        gold = KINDS[kind][0]
        called = gold if is_right else (F if gold is M else M)
        rows.append(Sentence(GenderCall(str(n), called, None), str(n), *KINDS[kind]))
    row_cells = GENDER_COUNTING.cells(rows)
    found = {}
    for number, place in PLACES.items():
        weighting = weigh(rows, number, ["pronouns", "domain"])
        assert weighting is not None
        for name, kind in ((number, np.zeros(len(rows))), (f"{number} weighted", weighting.kinds)):
            _, first, level = np.unique(kind, return_index=True, return_inverse=True)
            values = weighting.weights[first] if kind is weighting.kinds else np.ones(1)
            tables = paired.tabulate(row_cells, GENDER_COUNTING.shape, level, len(values))
            replicates = paired.bootstrap_numbers(GENDER_COUNTING, tables, values, n_resamples, rng)
            ends = paired.intervals(GENDER_COUNTING, replicates, tables)[place]
            value = paired.compute_numbers(GENDER_COUNTING, tables, values)[place]
            found[name] = (float(value), *(ends or (np.nan, np.nan)))
    return found


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500, help="samples (default: 500)")
    parser.add_argument("--rows", type=int, default=800, help="sentences of a sample (default: 800)")
    parser.add_argument("--resamples", type=int, default=1000, help="default: 1000")
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    args = parser.parse_args()
    print("| system | number | truth | mean | holds the truth | mean width |\n|---|---|---:|---:|---:|---:|")
    for biased in (False, True):
        rng = np.random.default_rng(args.seed)
        share, right = population(biased)
        counts = np.rint(share * 100_000).astype(np.int64)
        everyone = np.repeat(np.arange(len(KINDS)), counts)
        first = np.arange(len(everyone)) - np.repeat(np.cumsum(counts) - counts, counts)
        truth = estimates(everyone, first < np.repeat(np.rint(counts * right), counts), 0, rng)
        samples = []
        for _ in range(args.runs):
            drawn = rng.choice(len(KINDS), args.rows, p=share)
            samples.append(estimates(drawn, rng.random(args.rows) < right[drawn], args.resamples, rng))
        for name, (true, _, _) in truth.items():
            values = np.array([sample[name] for sample in samples])
            held = np.mean((values[:, 1] <= true) & (true <= values[:, 2]))
            width = np.mean(values[:, 2] - values[:, 1])
            system = "biased" if biased else "confounded"
            print(f"| {system} | {name} | {true:.2f} | {values[:, 0].mean():.2f} | {100 * held:.1f} % | {width:.1f} |")


if __name__ == "__main__":
    main()
