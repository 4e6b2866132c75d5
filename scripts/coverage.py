"""Do the intervals hold the truth, and are the p-values uniform where there is nothing to find? A
simulation.

    python scripts/coverage.py [--runs 1000] [--resamples 2000] [--seed 0] [--json FILE]
    python scripts/coverage.py --shares

Systems of known bias: for each stereotype and gold gender the probability of every call is given,
and so are those of the calls of two systems on the same sentence, and those of a quadruple's four
calls. The numbers of an endless corpus are the truth. In each run a corpus of sentences is drawn,
called, and given to the functions that `mtbias score` and `mtbias compare` use. Printed, as
Markdown: the share of runs whose 95 % interval holds the truth (of accuracy, ΔG, ΔS, ΔI and of
their differences between two systems), and, for two systems that differ in nothing, the
Kolmogorov-Smirnov tests of their p-values against the uniform distribution.

With `--shares`: how often the intervals of a single share hold the truth, Wilson's and the
percentile bootstrap's, for few rows and for shares at the ends. Nothing is simulated: all outcomes
are counted with their probabilities.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, kstest

from mtbias.scoring.bias import GENDER_COUNTING
from mtbias.scoring.consistency import CELLS, QUADRUPLE, compare_consistency, compute_consistency
from mtbias.stats.paired import PairedTables, randomisation_pvalues
from mtbias.stats.resampling import percentile_interval, wilson_percent
from mtbias.types import Gender, GenderCall, Reason

Floats = NDArray[np.float64]
Interval = tuple[float, float] | None

SENTENCES: Mapping[str, Floats] = {
    "WinoMT's 3,888": np.array([[792, 792, 0], [792, 792, 0], [240, 240, 240]]) / 3888,
    "the demo's 512": np.array([[128, 128, 0], [128, 128, 0], [0, 0, 0]]) / 512,
    "Gold BUG's 1,720": np.array([[520, 330, 0], [380, 170, 0], [200, 120, 0]]) / 1720,
}
"""Share of the sentences by stereotype (pro, anti, none) × gold (male, female, neutral)."""
SIZES = {"WinoMT's 3,888": 3888, "the demo's 512": 512, "Gold BUG's 1,720": 1720}

UNBIASED = np.array(
    [[[0.80, 0.12, 0.0, 0.08], [0.12, 0.80, 0.0, 0.08], [0.60, 0.25, 0.05, 0.10]]] * 3
)
"""Probability of each call (male, female, neutral, none) by stereotype and gold: even for men and
women."""
BIASED = np.array(
    [
        [[0.90, 0.03, 0.0, 0.07], [0.30, 0.62, 0.0, 0.08], [0.80, 0.08, 0.02, 0.10]],
        [[0.80, 0.13, 0.0, 0.07], [0.68, 0.24, 0.0, 0.08], [0.80, 0.08, 0.02, 0.10]],
        [[0.86, 0.06, 0.0, 0.08], [0.50, 0.40, 0.0, 0.10], [0.82, 0.06, 0.02, 0.10]],
    ]
)
"""Better for men, and where the stereotype fits."""

AGREE = 0.6
"""Share of the sentences on which two systems make the same call because the sentence is easy, or
hard, for both."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often the interval of one number held its truth."""

    what: str
    number: str
    truth: float
    runs: int
    held: int
    none: int

    @property
    def share(self) -> float:
        """Per cent of the runs that had an interval."""
        return 100 * self.held / (self.runs - self.none)


def joint(first: Floats, second: Floats) -> Floats:
    """Probabilities of the calls of two systems on one sentence ``[3, 3, 4, 4]``, with margins
    `first` and `second`.

    What both would say anyway they say together in a share `AGREE` of the sentences; the rest is
    independent.
    """
    common = AGREE * np.minimum(first, second)
    rest_1, rest_2 = first - common, second - common
    left = rest_1.sum(axis=-1, keepdims=True)[..., None]
    together = np.einsum("sgc,cd->sgcd", common, np.eye(4))
    apart: Floats = together + rest_1[..., :, None] * rest_2[..., None, :] / left
    return apart


def truth_of(probabilities: Floats, compute: Callable[[NDArray[np.int64]], Floats]) -> Floats:
    """The numbers of an endless corpus: of expected counts, large enough that rounding them does
    not matter.
    """
    return compute(np.rint(probabilities * 10**12).astype(np.int64))


def numbers_of(counts: NDArray[np.int64]) -> Floats:
    """Accuracy, ΔG and ΔS of a table of counts."""
    numbers: Floats = numbers_of_tables(counts[None])[0]
    return numbers


def numbers_of_tables(tables: NDArray[Any]) -> Floats:
    """The same of tables ``[R, …]``: ``[R, 3]``."""
    rates = GENDER_COUNTING.rates(tables)
    return np.stack([rates[each.key] for each in GENDER_COUNTING.compared], axis=-1)


def held(interval: Interval, truth: float) -> bool | None:
    """Whether the interval holds the truth; None where there is none."""
    return None if interval is None else bool(interval[0] <= truth <= interval[1])


def tally(
    what: str, names: Sequence[str], truth: Floats, found: Sequence[Sequence[bool | None]]
) -> list[Coverage]:
    """One `Coverage` for each number."""
    return [
        Coverage(what, name, float(truth[k]), len(found), sum(row[k] is True for row in found),
                 sum(row[k] is None for row in found))
        for k, name in enumerate(names)
    ]  # fmt: skip


def numbers_coverage(
    corpus: str, system: Floats, name: str, runs: int, resamples: int, seed: int
) -> list[Coverage]:
    """Accuracy, ΔG and ΔS of one system."""
    rng = np.random.Generator(np.random.PCG64(seed))
    chance = SENTENCES[corpus][..., None] * system
    truth = truth_of(chance, numbers_of)
    found = []
    for _ in range(runs):
        counts = rng.multinomial(SIZES[corpus], chance.ravel()).reshape(chance.shape)
        made = GENDER_COUNTING.estimates(
            GENDER_COUNTING.levels(counts), GENDER_COUNTING.compared, resamples, rng
        )
        found.append(
            [
                held(made[each.key].interval, t)
                for each, t in zip(GENDER_COUNTING.compared, truth, strict=True)
            ]
        )
    return tally(f"{name}, {corpus}", ("accuracy", "ΔG", "ΔS"), truth, found)


def differences_coverage(corpus: str, runs: int, resamples: int, seed: int) -> list[Coverage]:
    """Differences of the three numbers between the biased and the unbiased system, on the same
    sentences.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    chance = SENTENCES[corpus][..., None, None] * joint(BIASED, UNBIASED)
    truth = truth_of(
        chance, lambda pairs: numbers_of(pairs.sum(axis=-1)) - numbers_of(pairs.sum(axis=-2))
    )
    found = []
    for _ in range(runs):
        pairs = rng.multinomial(SIZES[corpus], chance.ravel()).reshape((1, *chance.shape))
        first, second = map(numbers_of_tables, PairedTables(pairs).resampled(resamples, rng))
        cis = map(percentile_interval, (first - second).T)
        found.append([held(i, t) for i, t in zip(cis, truth, strict=True)])
    return tally(f"biased − unbiased, {corpus}", ("accuracy", "ΔG", "ΔS"), truth, found)


def null_pvalues(corpus: str, runs: int, resamples: int, seed: int) -> Floats:
    """The p of the three differences, ``[runs, 3]``, of two systems that make calls with the same
    probabilities.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    chance = SENTENCES[corpus][..., None, None] * joint(BIASED, BIASED)
    found = []
    for _ in range(runs):
        pairs = rng.multinomial(SIZES[corpus], chance.ravel()).reshape((1, *chance.shape))
        found.append(randomisation_pvalues(PairedTables(pairs), numbers_of_tables, resamples, rng))
    return np.array(found)


# --- Quadruples: a man and his control, the same two as women
# ---------------------------------------------------------

N_QUADRUPLES = 240

Quadruples = NDArray[np.int64]
"""Statuses (right 0, wrong 1, no call 2) of each quadruple's four sentences, ``[n, 4]``."""


def draw_quadruples(
    n: int, men: float, women: float, again: float, rng: np.random.Generator
) -> Quadruples:
    """A system that is right for men and for women with these probabilities.

    In a share `again` of the sentences the control, which has the same gender, fares as its
    original does; 3 % of the sentences have no call.
    """
    men_women = np.array([men, women])
    right = rng.random((n, 2)) < men_women
    control = np.where(rng.random((n, 2)) < again, right, rng.random((n, 2)) < men_women)
    status = np.where(
        np.stack([right[:, 0], control[:, 0], right[:, 1], control[:, 1]], axis=1), 0, 1
    )
    return np.where(rng.random((n, 4)) < 0.03, 2, status)


def true_consistency(men: float, women: float, again: float) -> Floats:
    """I_across and ΔI of an endless corpus, by the probabilities of `draw_quadruples`.

    A sentence is right with r = 0.97·p. Two of them are independent across genders: exactly one is
    right with r(1 − s) + s(1 − r). A control has the same draw as its original in a share `again`:
    then one is right and the other not only where one of the two, and not both, has no call:
    p·2·0.97·0.03.
    """
    kept = 0.97
    r, s = kept * men, kept * women
    across = r * (1 - s) + s * (1 - r)

    def within(p: float) -> float:
        return again * p * 2 * kept * (1 - kept) + (1 - again) * 2 * kept * p * (1 - kept * p)

    return 100 * np.array([across, across - (within(men) + within(women)) / 2])


def consistency_coverage(runs: int, resamples: int, seed: int) -> list[Coverage]:
    """I_across and ΔI of a biased system."""
    rng = np.random.Generator(np.random.PCG64(seed))
    system = (0.9, 0.5, 0.8)
    truth = true_consistency(*system)
    found = []
    for _ in range(runs):
        cells = QUADRUPLE + draw_quadruples(N_QUADRUPLES, *system, rng) @ np.array([27, 9, 3, 1])
        counts = np.bincount(cells, minlength=CELLS)
        numbers = compute_consistency(counts, n_resamples=resamples, rng=rng)
        assert numbers["delta_i"].n == N_QUADRUPLES
        found.append(
            [
                held(numbers[name].interval, t)
                for name, t in zip(("across", "delta_i"), truth, strict=True)
            ]
        )
    return tally(f"biased, {N_QUADRUPLES} quadruples", ("I_across", "ΔI"), truth, found)


@dataclass(frozen=True, slots=True)
class Sentence:
    """What `mtbias.scoring.consistency` must know about a sentence."""

    id: str
    gold: Gender
    pair: str | None
    control: str | None


def sentences(n: int) -> list[Sentence]:
    """The sentences of `n` quadruples: for each a man, his control, and the same two as women."""
    return [
        sentence
        for k in range(n)
        for sentence in (
            Sentence(f"{k}m", Gender.MALE, f"{k}f", f"{k}mc"),
            Sentence(f"{k}mc", Gender.MALE, f"{k}fc", f"{k}m"),
            Sentence(f"{k}f", Gender.FEMALE, f"{k}m", f"{k}fc"),
            Sentence(f"{k}fc", Gender.FEMALE, f"{k}mc", f"{k}f"),
        )
    ]


def calls(quadruples: Quadruples, rows: Sequence[Sentence]) -> list[GenderCall]:
    """Calls with these statuses."""
    other = {Gender.MALE: Gender.FEMALE, Gender.FEMALE: Gender.MALE}
    return [
        GenderCall(row.id, None, Reason.NO_MORPHOLOGY)
        if status == 2
        else GenderCall(row.id, row.gold if status == 0 else other[row.gold], None)
        for row, status in zip(rows, quadruples.ravel(), strict=True)
    ]


def consistency_differences(
    first: tuple[float, float, float],
    second: tuple[float, float, float],
    runs: int,
    resamples: int,
    seed: int,
) -> tuple[list[Coverage], Floats]:
    """Differences in I_across and ΔI between two systems: coverage, and p ``[runs, 2]``."""
    rng = np.random.Generator(np.random.PCG64(seed))
    truth = true_consistency(*first) - true_consistency(*second)
    rows = sentences(N_QUADRUPLES)
    found, pvalues = [], []
    for run in range(runs):
        made = [
            calls(draw_quadruples(N_QUADRUPLES, *system, rng), rows) for system in (first, second)
        ]
        result = compare_consistency(rows, *made, n_resamples=resamples, seed=run)
        chosen = [result["across"], result["delta_i"]]
        found.append([held(one.interval, t) for one, t in zip(chosen, truth, strict=True)])
        pvalues.append([np.nan if one.p is None else one.p for one in chosen])
    return tally(
        f"biased − unbiased, {N_QUADRUPLES} quadruples", ("I_across", "ΔI"), truth, found
    ), np.array(pvalues)


# --- Single shares ----------------------------------------------------------------------------------------------------

SHARE_ROWS = (5, 16, 50)
SHARE_TRUTHS = (0.0, 0.05, 0.5)


def bootstrap_of_share(right: int, n: int) -> tuple[float, float]:
    """The percentile bootstrap of `right` of `n` with endless resamples: quantiles of Binomial(n,
    right / n) / n.
    """
    low, high = binom.ppf((0.025, 0.975), n, right / n) if 0 < right < n else (right, right)
    return 100 * float(low) / n, 100 * float(high) / n


def share_coverage(
    interval: Callable[[int, int], Interval], n: int, truth: float
) -> tuple[float, float]:
    """Probability that the interval of a share of `n` rows holds the truth, and its mean width; per
    cent and points.
    """
    holds, width = 0.0, 0.0
    for right in range(n + 1):
        chance, ends = float(binom.pmf(right, n, truth)), interval(right, n)
        assert ends is not None
        holds += chance * (ends[0] <= 100 * truth <= ends[1])
        width += chance * (ends[1] - ends[0])
    return 100 * holds, width


def print_shares() -> None:
    """The table of `--shares`."""
    print(
        "| rows | true share, % | bootstrap holds it, % | mean width | Wilson holds it, % | mean width |"
    )
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for n in SHARE_ROWS:
        for truth in SHARE_TRUTHS:
            cells = [
                share_coverage(interval, n, truth)
                for interval in (bootstrap_of_share, wilson_percent)
            ]
            texts = (f"{holds:.1f} | {width:.1f}" for holds, width in cells)
            print(f"| {n} | {100 * truth:g} | {' | '.join(texts)} |")


def uniformity(pvalues: Floats) -> dict[str, Any]:
    """Whether p-values are uniform, and whether small ones are too frequent.

    A number that moves in whole sentences (accuracy) has few different p-values, each with a
    probability of its own: these cannot be uniform, only never too small (P(p ≤ t) ≤ t), which the
    one-sided test looks at.
    """
    share = {f"at_{level}": 100 * float((pvalues <= level / 100).mean()) for level in (1, 5, 50)}
    return {
        "values": len(np.unique(pvalues)),
        "ks_p": float(kstest(pvalues, "uniform").pvalue),
        "one_sided_p": float(kstest(pvalues, "uniform", alternative="greater").pvalue),
        **share,
    }


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument(
        "--shares", action="store_true", help="the intervals of single shares alone, exactly"
    )
    args = parser.parse_args()
    if args.shares:
        print_shares()
        return
    runs, resamples, seed = args.runs, args.resamples, args.seed
    coverages: list[Coverage] = []
    for corpus in SENTENCES:
        coverages += numbers_coverage(corpus, BIASED, "biased", runs, resamples, seed)
        coverages += numbers_coverage(corpus, UNBIASED, "unbiased", runs, resamples, seed + 1)
        coverages += differences_coverage(corpus, runs, resamples, seed + 2)
    coverages += consistency_coverage(runs, resamples, seed + 3)
    coverages += consistency_differences(
        (0.9, 0.5, 0.8), (0.8, 0.8, 0.7), runs, resamples, seed + 4
    )[0]
    print(
        "| systems, sentences | number | truth | intervals that hold it, % |\n| --- | --- | ---: | ---: |"
    )
    for c in coverages:
        print(
            f"| {c.what} | {c.number} | {c.truth:.2f} | {c.share:.1f}{f' ({c.none} runs without)' if c.none else ''} |"
        )
    heads = ("two equal systems, sentences", "number", "values", "KS, p", "KS one-sided, p")
    print(f"\n| {' | '.join(heads)} | p ≤ 0.01, % | p ≤ 0.05, % | p ≤ 0.5, % |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    tests: list[tuple[str, str, Floats]] = []
    for corpus in SENTENCES:
        found = null_pvalues(corpus, runs, resamples, seed + 5)
        tests += [(corpus, name, found[:, k]) for k, name in enumerate(("accuracy", "ΔG", "ΔS"))]
    _, found = consistency_differences((0.9, 0.5, 0.8), (0.9, 0.5, 0.8), runs, resamples, seed + 6)
    tests += [
        (f"{N_QUADRUPLES} quadruples", name, found[:, k])
        for k, name in enumerate(("I_across", "ΔI"))
    ]
    rows = []
    for corpus, name, pvalues in tests:
        row = {"sentences": corpus, "number": name, **uniformity(pvalues)}
        rows.append(row)
        shares = " | ".join(f"{row[key]:.1f}" for key in ("at_1", "at_5", "at_50"))
        print(
            f"| {corpus} | {name} | {row['values']} | {row['ks_p']:.2f} | {row['one_sided_p']:.2f} | {shares} |"
        )
    if args.json is not None:
        content = {
            "runs": runs,
            "resamples": resamples,
            "seed": seed,
            "coverage": [
                {
                    "what": c.what,
                    "number": c.number,
                    "truth": c.truth,
                    "held": c.share,
                    "without": c.none,
                }
                for c in coverages
            ],
            "uniform": rows,
        }
        args.json.write_text(
            json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
