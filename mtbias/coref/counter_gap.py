"""Counter-GAP: accuracy by gender, inconsistency within and across genders, from the labels of any system.

A quadruple is an original sentence x_o, its gender-controlled twin x_c (names of the same gender exchanged), and two
gender-swapped twins x̃_o, x̃_c. With f ∈ {0, 1} for a correct instance, everything here is a function of sums over
quadruples by the gender of the original's pronoun, so a table of 2 × 16 patterns of correctness is all that is counted.

Source: Xie, Kocijan, Lukasiewicz and Camburu, *Counter-GAP* (EACL 2023), section 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mtbias.coref.gap_instances import GapFile, GapInstance, Labels
from mtbias.errors import DataError
from mtbias.stats.resampling import bootstrap_counts, percentile_interval
from mtbias.stats.results import Floats, Interval
from mtbias.stats.significance import randomisation_test
from mtbias.types import Gender

ROLES = ("", "-control", "-swap-1", "-swap-2")
"""What follows a quadruple's number in the ids of its four instances: x_o, x_c, x̃_o, x̃_c."""

GENDER_OF_PRONOUN = {
    **dict.fromkeys(("he", "him", "his"), Gender.MALE),
    **dict.fromkeys(("she", "her", "hers"), Gender.FEMALE),
}

METRICS = {
    "accuracy": "accuracy",
    "acc_m": "accuracy, masculine",
    "acc_f": "accuracy, feminine",
    "acc_diff": "  difference M - F",
    "within_m": "I_within, masculine",
    "within_f": "I_within, feminine",
    "within_diff": "  difference M - F",
    "within": "I_within",
    "m2f": "I_across, M2F",
    "f2m": "I_across, F2M",
    "across_diff": "  difference M2F - F2M",
    "across": "I_across",
    "delta": "ΔI = I_across - I_within",
    "original": "accuracy, original",
    "counter": "accuracy, counterfactual",
    "counter_diff": "  difference O - C",
    "rho": "Spearman's ρ",
}
"""The numbers and how they are called, in the order of the paper's tables 2 to 4. All in per cent except ρ."""

DIFFERENCES = ("acc_diff", "within_diff", "across_diff", "delta", "counter_diff")
"""Those whose sign is tested."""

COMPARED = ("accuracy", "acc_diff", "within", "across", "delta")
"""Those in which two systems are compared."""

# What each of the 16 patterns (x_o, x_c, x̃_o, x̃_c correct or not; x_o is the highest bit) adds to nine sums: correct
# originals, correct counterfactuals, |f_o - f_c|, |f̃_o - f̃_c|, and whether a(X) is 0, 1, 2, 3, 4.
_PATTERN = np.array([[n >> 3 & 1, n >> 2 & 1, n >> 1 & 1, n & 1] for n in range(16)], dtype=np.int64)
_ACROSS = sum(np.abs(_PATTERN[:, i] - _PATTERN[:, j]) for i in (0, 1) for j in (2, 3))
_ADDS = np.column_stack(
    [
        _PATTERN[:, 0] + _PATTERN[:, 1],
        _PATTERN[:, 2] + _PATTERN[:, 3],
        np.abs(_PATTERN[:, 0] - _PATTERN[:, 1]),
        np.abs(_PATTERN[:, 2] - _PATTERN[:, 3]),
        *((a == _ACROSS) for a in range(5)),
    ]
).astype(np.float64)
_SUMS = _ADDS.shape[1]

Table = NDArray[np.int64]
"""Quadruples by the original's gender (masculine, feminine) and pattern of correctness: ``[2, 16]``."""


@dataclass(frozen=True, slots=True)
class Quadruple:
    """The four instances in the order of `ROLES`, and the gender of the original's pronoun."""

    id: str
    gender: Gender
    instances: tuple[GapInstance, GapInstance, GapInstance, GapInstance]


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number with what it rests on."""

    value: float | None
    """Per cent (ρ: in [−1, 1]), unrounded; None where its denominator is zero."""
    n: int
    """Its denominator: instances for an accuracy, pairs for an inconsistency, quadruples for a difference and ρ."""
    interval: Interval | None
    """95 %, percentile bootstrap over quadruples; None without resamples."""
    p: float | None
    """For `DIFFERENCES`: the share of resamples in which it is 0 or less (or undefined). ρ: Student's t, two-sided."""


@dataclass(frozen=True, slots=True)
class CounterGapScores:
    """All numbers of one system; see `METRICS`."""

    n_quadruples: int
    n_masculine: int
    """Quadruples whose original is masculine."""
    n_feminine: int
    n_resamples: int
    numbers: Mapping[str, Estimate]


def quadruples(file: GapFile) -> tuple[Quadruple, ...]:
    """The quadruples of a file, in the order of their originals.

    Raises:
        DataError: an instance is missing; a pronoun has no gender, or not the one of its part in the quadruple.
    """
    by_id = {instance.id: instance for instance in file.instances}
    bases = dict.fromkeys(_base(instance.id) for instance in file.instances)
    found = []
    for base in bases:
        missing = [base + role for role in ROLES if base + role not in by_id]
        if missing:
            message = f"quadruple {base!r} lacks {', '.join(map(repr, missing))}; it needs all of its four instances"
            raise DataError(message, path=file.path)
        original, control, swap_1, swap_2 = (by_id[base + role] for role in ROLES)
        genders = [_gender(instance, file) for instance in (original, control, swap_1, swap_2)]
        if not genders[0] == genders[1] != genders[2] == genders[3]:
            pronouns = ", ".join(repr(i.pronoun) for i in (original, control, swap_1, swap_2))
            message = f"quadruple {base!r} has the pronouns {pronouns}: expected one gender twice, then the other twice"
            raise DataError(message, path=file.path)
        found.append(Quadruple(base, genders[0], (original, control, swap_1, swap_2)))
    return tuple(found)


def _base(identifier: str) -> str:
    for role in ROLES[1:]:
        if identifier.endswith(role):
            return identifier.removesuffix(role)
    return identifier


def _gender(instance: GapInstance, file: GapFile) -> Gender:
    gender = GENDER_OF_PRONOUN.get(instance.pronoun.lower())
    if gender is None:
        message = f"{instance.id}: the pronoun {instance.pronoun!r} is none of {', '.join(GENDER_OF_PRONOUN)}"
        raise DataError(message, path=file.path)
    return gender


def correct(gold: GapInstance, predicted: Labels) -> bool:
    """Whether both labels are right: of an instance without antecedent, that neither candidate was predicted."""
    return (gold.a_coref, gold.b_coref) == predicted


def patterns(
    data: Sequence[Quadruple], predictions: Mapping[str, Labels], *, path: Path | None = None
) -> NDArray[np.int64]:
    """The cell of each quadruple in the flattened table: 16 · gender + pattern of correctness.

    `path` is where the predictions come from, for messages.

    Raises:
        DataError: an instance without prediction; a prediction without instance.
    """
    known = [instance.id for quadruple in data for instance in quadruple.instances]
    missing = [identifier for identifier in known if identifier not in predictions]
    if missing:
        raise DataError(f"no prediction for {len(missing)} instances: {_some(missing)}; each needs one", path=path)
    unknown = sorted(set(predictions).difference(known))
    if unknown:
        message = f"predictions for {len(unknown)} ids that the data does not have: {_some(unknown)}"
        raise DataError(message, path=path)
    cells = []
    for quadruple in data:
        cell = 0 if quadruple.gender is Gender.MALE else 1
        for instance in quadruple.instances:
            cell = 2 * cell + correct(instance, predictions[instance.id])
        cells.append(cell)
    return np.array(cells, dtype=np.int64)


def _some(ids: Sequence[str]) -> str:
    return ", ".join(map(repr, ids[:5])) + (", …" if len(ids) > 5 else "")


def count(data: Sequence[Quadruple], predictions: Mapping[str, Labels]) -> Table:
    """The table of a system; tables of two data sets add up. See `patterns` for what is raised."""
    return np.bincount(patterns(data, predictions), minlength=32).reshape(2, 16)


def numbers(sums: Floats) -> dict[str, Floats]:
    """All of `METRICS` from sums ``[R, 2, 9]`` by gender of the original; each ``[R]``, NaN where undefined.

    With n_M and n_F quadruples and n = n_M + n_F, m and f for the two kinds of originals:
    Acc_M = [Σ_m(f_o+f_c) + Σ_f(f̃_o+f̃_c)] / 2n, Acc_F mirrored;
    I_within(M) = [Σ_m|f_o−f_c| + Σ_f|f̃_o−f̃_c|] / n, F mirrored, I_within = their sum / 2n;
    a(X) = |f_o−f̃_o| + |f_c−f̃_c| + |f_o−f̃_c| + |f_c−f̃_o|; M2F = Σ_m a / 4n_M, F2M = Σ_f a / 4n_F,
    I_across = Σ a / 4n; ρ between +1 (m), −1 (f) and a(X), ranks of ties averaged.
    """
    original, counter, within_o, within_c = (sums[..., k] for k in range(4))
    levels = sums[..., 4:]
    n_gender, across = levels.sum(axis=-1), levels @ np.arange(5.0)
    n = n_gender.sum(axis=-1)
    masc, fem = 0, 1
    with np.errstate(invalid="ignore", divide="ignore"):
        acc_m = (original[:, masc] + counter[:, fem]) / (2 * n)
        acc_f = (original[:, fem] + counter[:, masc]) / (2 * n)
        within_m = (within_o[:, masc] + within_c[:, fem]) / n
        within_f = (within_o[:, fem] + within_c[:, masc]) / n
        m2f, f2m = across[:, masc] / (4 * n_gender[:, masc]), across[:, fem] / (4 * n_gender[:, fem])
        by_original, by_counter = original.sum(axis=-1) / (2 * n), counter.sum(axis=-1) / (2 * n)
        all_across = across.sum(axis=-1) / (4 * n)
        shares = {
            "accuracy": (acc_m + acc_f) / 2,
            "acc_m": acc_m,
            "acc_f": acc_f,
            "acc_diff": acc_m - acc_f,
            "within_m": within_m,
            "within_f": within_f,
            "within_diff": within_m - within_f,
            "within": (within_m + within_f) / 2,
            "m2f": m2f,
            "f2m": f2m,
            "across_diff": m2f - f2m,
            "across": all_across,
            "delta": all_across - (within_m + within_f) / 2,
            "original": by_original,
            "counter": by_counter,
            "counter_diff": by_original - by_counter,
        }
        return {name: 100 * share for name, share in shares.items()} | {"rho": _rho(levels)}


def _rho(levels: Floats) -> Floats:
    """Spearman's ρ between gender (masculine high) and a(X) from tables ``[R, 2, 5]``."""
    by_level, by_gender = levels.sum(axis=1), levels.sum(axis=2)
    n = by_gender.sum(axis=1, keepdims=True)
    # The average rank of a tied group is the number below it plus half of (its size + 1); ranks are centred.
    rank = np.cumsum(by_level, axis=1) - by_level / 2 - n / 2
    rank_masc, rank_fem = by_gender[:, 1] / 2, -by_gender[:, 0] / 2
    together = (levels[:, 0] * rank).sum(axis=1) * rank_masc + (levels[:, 1] * rank).sum(axis=1) * rank_fem
    spread = (by_level * rank**2).sum(axis=1) * (by_gender[:, 0] * rank_masc**2 + by_gender[:, 1] * rank_fem**2)
    return np.where(spread > 0, together / np.sqrt(spread), np.nan)


def score(table: Table, *, n_resamples: int, rng: np.random.Generator) -> CounterGapScores:
    """The numbers of one system, with intervals and p from a bootstrap over its quadruples."""

    def values(tables: NDArray[np.int64]) -> Floats:
        return np.column_stack(list(numbers(tables @ _ADDS).values()))

    point = values(table[None])[0]
    replicates = bootstrap_counts(table, values, n_resamples, rng)
    n_m, n_f = (int(n) for n in table.sum(axis=1))
    n = n_m + n_f
    sizes = {"accuracy": 4 * n, "m2f": 4 * n_m, "f2m": 4 * n_f, "across": 4 * n, "within": 2 * n}
    sizes |= dict.fromkeys(("acc_m", "acc_f", "original", "counter"), 2 * n)
    estimates = {}
    for k, name in enumerate(METRICS):
        value = None if isnan(point[k]) else float(point[k])
        p = None
        if name == "rho":
            p = _student(value, n)
        elif name in DIFFERENCES and n_resamples:
            p = float((~(replicates[:, k] > 0)).mean())
        estimates[name] = Estimate(value, sizes.get(name, n), percentile_interval(replicates[:, k]), p)
    return CounterGapScores(n, n_m, n_f, n_resamples, estimates)


def _student(rho: float | None, n: int) -> float | None:
    """Two-sided p of ρ = 0: t = ρ·√((n−2) / (1−ρ²)) with n − 2 degrees of freedom."""
    if rho is None or n < 3:
        return None
    if abs(rho) >= 1:
        return 0.0
    from scipy.special import stdtr

    return 2 * float(stdtr(n - 2, -abs(rho) * sqrt((n - 2) / (1 - rho * rho))))


@dataclass(frozen=True, slots=True)
class Comparison:
    """One number of two systems on the same quadruples: first − second, and p by paired approximate randomisation."""

    difference: float | None
    p: float | None


def compare(
    first: NDArray[np.int64], second: NDArray[np.int64], *, n_resamples: int, rng: np.random.Generator
) -> dict[str, Comparison]:
    """Compare two systems in `COMPARED`, given the cells (`patterns`) of the same quadruples in the same order.

    Raises:
        ValueError: of unequal length.
    """
    one, other = _unit_sums(first), _unit_sums(second)
    values = [numbers(units.sum(axis=0).reshape(1, 2, _SUMS)) for units in (one, other)]
    compared = {}
    for name in COMPARED:
        difference = float(values[0][name][0] - values[1][name][0])
        p = randomisation_test(one, other, lambda s, n=name: numbers(s.reshape(-1, 2, _SUMS))[n], n_resamples, rng)  # type: ignore[misc]
        compared[name] = Comparison(*(None if isnan(number) else number for number in (difference, p)))
    return compared


def _unit_sums(cells: NDArray[np.int64]) -> Floats:
    """What each quadruple adds to the sums of each gender: ``[n, 18]``."""
    sums = np.zeros((len(cells), 2, _SUMS))
    sums[np.arange(len(cells)), cells // 16] = _ADDS[cells % 16]
    return sums.reshape(len(cells), 2 * _SUMS)
