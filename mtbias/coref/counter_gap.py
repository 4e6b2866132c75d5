"""Counter-GAP: accuracy by gender, inconsistency within and across genders, from the labels of any
system.

A quadruple is an original sentence x_o, its gender-controlled counterpart x_c (names of the same
gender exchanged), and two gender-swapped ones x̃_o, x̃_c. With f ∈ {0, 1} for a correct instance,
everything here is a function of sums over quadruples by the gender of the original's pronoun, so a
table of 2 × 16 patterns of correctness is all that is counted.

Source: Xie, Kocijan, Lukasiewicz and Camburu, *Counter-GAP* (EACL 2023), section 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import resources
from itertools import chain
from math import comb, sqrt
from pathlib import Path
from sys import float_info
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from mtbias.coref.dataset import RATIO, DatasetScores, NamedNumber
from mtbias.coref.documents import Answers, CorefText
from mtbias.coref.gap import GapLike
from mtbias.coref.gap_data import (
    GapFile,
    GapInstance,
    Labels,
    gender_of,
    read_instances,
    without_title_stops,
    write_instances,
)
from mtbias.errors import DataError
from mtbias.files.reading import commented_rows
from mtbias.files.writing import write_atomic
from mtbias.stats.paired import NumberUnits
from mtbias.stats.resampling import (
    CROSSED,
    FIRST,
    SECOND,
    all_patterns,
    inconsistency,
    inconsistent,
    pattern_number,
)
from mtbias.stats.results import Floats, percent, source
from mtbias.types import Gender, frozen

ROLES = ("", "-control", "-swap-1", "-swap-2")
"""What follows a quadruple's number in the ids of its four instances: x_o, x_c, x̃_o, x̃_c."""


class CounterGapNumber(NamedTuple):
    """How a number is called, and what it rests on; in per cent, except ρ in [-1, 1]."""

    label: str
    n: int
    """How many instances (pairs, for inconsistency) each quadruple adds to its denominator; 1 for
    differences and ρ."""
    group: str
    """The gender of the originals whose quadruples count; ``all``: both."""
    tested: bool
    """Whether its sign is tested."""
    compared: bool
    """Whether systems are compared in it."""


_TABLE = Path(str(resources.files("mtbias.coref"))) / "counter_gap.tsv"
METRICS: Mapping[str, CounterGapNumber] = {
    row["key"]: CounterGapNumber(
        row["label"],
        int(row["n"]),
        row["of"],
        tested=bool(row["tested"]),
        compared=bool(row["compared"]),
    )
    for row in commented_rows(_TABLE.read_text(encoding="utf-8"))
}
"""The numbers in the order of the paper's tables 2 to 4, and of the row "our GAP" of table 5 (x_o
alone)."""

# What each of the 16 patterns (x_o, x_c, x̃_o, x̃_c correct or not; x_o is the highest bit) adds to
# ten sums: correct originals, correct counterfactuals, |f_o - f_c|, |f̃_o - f̃_c|, correct x_o, and
# whether a(X) is 0, 1, 2, 3, 4. a(X) compares each original with both swaps: they differ in whose
# names they have, and neither is nearer to it.
_RIGHT = all_patterns(2) == 1
_ACROSS = inconsistent(_RIGHT, CROSSED)
_ADDS = np.column_stack(
    [
        _RIGHT[:, :2].sum(axis=1),
        _RIGHT[:, 2:].sum(axis=1),
        inconsistent(_RIGHT, (FIRST,)),
        inconsistent(_RIGHT, (SECOND,)),
        _RIGHT[:, 0],
        *((a == _ACROSS) for a in range(5)),
    ]
).astype(np.float64)


@frozen
class Quadruple:
    """The four instances in the order of `ROLES`, and the gender of the original's pronoun."""

    id: str
    gender: Gender
    instances: tuple[GapInstance, GapInstance, GapInstance, GapInstance]


_SIGNED = MappingProxyType({"correct": "both-labels", "unit": "quadruple"})


@dataclass(frozen=True)
class CounterGap(GapLike):
    """A file of Counter-GAP and its quadruples."""

    quadruples: tuple[Quadruple, ...]
    signed: Mapping[str, object] = field(default_factory=lambda: _SIGNED)

    name = "counter-gap"
    options = frozenset({"titles_without_stop"})

    @cached_property
    def texts(self) -> list[CorefText]:
        """The texts; a group is a quadruple."""
        return [replace(text, group=_base(text.id)) for text in super().texts]

    def score(self, answers: Answers, *, seed: int = 0, resamples: int = 10_000) -> DatasetScores:
        """See `CorefDataset`; intervals are percentile bootstraps over quadruples.

        The one-sided p of a number whose sign is tested, as the paper's stars need it, and the
        two-sided one are those of `mtbias.stats.resampling.estimate`; p of ρ is Student's.
        """
        ids = tuple(quadruple.id for quadruple in self.quadruples)
        places = [
            (quadruple.gender is Gender.FEMALE, pattern_of(quadruple, answers.of))
            for quadruple in self.quadruples
        ]
        patterns = NumberUnits.of_cells(
            places, (2, 16), ids, lambda tables: numbers(tables @ _ADDS)
        )
        shares = [key for key, metric in METRICS.items() if not metric.tested and key != "rho"]
        patterns = replace(patterns, shares=shares)
        n_f = sum(is_feminine for is_feminine, _ in places)
        n_m = len(places) - n_f
        sizes = {"all": n_m + n_f, "masculine": n_m, "feminine": n_f}
        estimates = patterns.estimates(
            resamples,
            source(seed),
            n={key: metric.n * sizes[metric.group] for key, metric in METRICS.items()},
            tested=[key for key, metric in METRICS.items() if metric.tested],
        )
        p = _pvalue(estimates["rho"].value, n_m, n_f)
        estimates["rho"] = replace(estimates["rho"], p=p)
        sums = (patterns.sums.reshape(-1, 2, 16) @ _ADDS).reshape(len(ids), -1)
        compared = [key for key, metric in METRICS.items() if metric.compared]
        units = NumberUnits(
            sums, ids, lambda sums: numbers(sums.reshape(-1, 2, _ADDS.shape[1])), compared
        )
        named = (
            NamedNumber(
                "",
                key,
                metric.label,
                estimates[key],
                headline=metric.compared,
                decimals=RATIO if key == "rho" else 2,
            )
            for key, metric in METRICS.items()
        )
        return DatasetScores(tuple(named), {"": units}, {"quadruples": dict(sizes)})


def open_counter_gap(path: Path, *, titles_without_stop: bool = False) -> CounterGap:
    """The file at `path`; with `titles_without_stop` as `without_title_stops` changes its texts.

    Raises:
        DataError: as `read_instances` and `quadruples`.
    """
    file = read_instances(path)
    if not titles_without_stop:
        return CounterGap(file, quadruples(file))
    changed = without_title_stops(file)
    signed = {**_SIGNED, "titles": "without-stop"}
    return CounterGap(changed, quadruples(changed), signed)


def quadruples(file: GapFile) -> tuple[Quadruple, ...]:
    """The quadruples of a file, in the order of their originals.

    Raises:
        DataError: an instance is missing; a pronoun has no gender, or not the one of its part in
            the quadruple.
    """
    by_id = {instance.id: instance for instance in file.instances}
    complete = []
    for base in dict.fromkeys(_base(instance.id) for instance in file.instances):
        missing = [base + role for role in ROLES if base + role not in by_id]
        if missing:
            message = (
                f"quadruple {base!r} lacks {', '.join(map(repr, missing))}; it needs all of its "
                "four instances"
            )
            raise DataError(message, path=file.path)
        original, control, swap_1, swap_2 = (by_id[base + role] for role in ROLES)
        genders = [
            gender_of(instance, file.path) for instance in (original, control, swap_1, swap_2)
        ]
        if not genders[0] == genders[1] != genders[2] == genders[3]:
            pronouns = ", ".join(repr(i.pronoun) for i in (original, control, swap_1, swap_2))
            message = (
                f"quadruple {base!r} has the pronouns {pronouns}: expected one gender twice, then "
                "the other twice"
            )
            raise DataError(message, path=file.path)
        complete.append(Quadruple(base, genders[0], (original, control, swap_1, swap_2)))
    return tuple(complete)


def _base(identifier: str) -> str:
    return next(
        (identifier.removesuffix(role) for role in ROLES[1:] if identifier.endswith(role)),
        identifier,
    )


def count_by_gender(some: Sequence[Quadruple]) -> dict[str, int]:
    """How many quadruples have an original about a man, and how many about a woman."""
    counts = Counter(quadruple.gender for quadruple in some)
    return {str(gender): counts[gender] for gender in (Gender.MALE, Gender.FEMALE)}


def write_quadruples(out: Path, some: Sequence[Quadruple], columns: Sequence[str]) -> None:
    """Write quadruples as Counter-GAP does (`write_instances`).

    Raises:
        RunFolderError: the file cannot be written.
    """
    instances = chain.from_iterable(quadruple.instances for quadruple in some)
    write_atomic(out, write_instances(instances, columns).encode("utf-8"))


def pattern_of(quadruple: Quadruple, answers: Mapping[str, Labels]) -> int:
    """The number of a quadruple's pattern of correctness (`pattern_number`).

    An instance is correct if both labels are: "A" is wrong where the pronoun means A and the system
    says A and B; where it has no antecedent, neither candidate may be predicted.
    """
    return pattern_number((i.gold == answers[i.id] for i in quadruple.instances), 2)


def numbers(sums: Floats) -> dict[str, Floats]:
    """All of `METRICS` from sums ``[R, 2, 10]`` by gender of the original; each ``[R]``, NaN where
    undefined.

    With n_M and n_F quadruples and n = n_M + n_F, m and f for the two kinds of originals:
    Acc_M = [Σ_m(f_o+f_c) + Σ_f(f̃_o+f̃_c)] / 2n, Acc_F mirrored;
    I_within(M) = [Σ_m|f_o−f_c| + Σ_f|f̃_o−f̃_c|] / n, F mirrored, I_within = their sum / 2n;
    a(X) = |f_o−f̃_o| + |f_c−f̃_c| + |f_o−f̃_c| + |f_c−f̃_o|; M2F = Σ_m a / 4n_M, F2M = Σ_f a /
    4n_F, I_across = Σ a / 4n; ρ between +1 (m), −1 (f) and a(X), ranks of ties averaged.
    """
    original, counter, within_o, within_c, own = (sums[..., k] for k in range(5))
    levels = sums[..., 5:]
    n_gender, by_gender = levels.sum(axis=-1), levels @ np.arange(5.0)
    n = n_gender.sum(axis=-1)
    masc, fem = 0, 1
    across, within, delta = inconsistency(
        by_gender.sum(axis=-1), (within_o + within_c).sum(axis=-1), n, CROSSED
    )
    values = {
        "acc_m": percent(original[:, masc] + counter[:, fem], 2 * n),
        "acc_f": percent(original[:, fem] + counter[:, masc], 2 * n),
        "within_m": percent(within_o[:, masc] + within_c[:, fem], n),
        "within_f": percent(within_o[:, fem] + within_c[:, masc], n),
        "within": within,
        "m2f": percent(by_gender[:, masc], 4 * n_gender[:, masc]),
        "f2m": percent(by_gender[:, fem], 4 * n_gender[:, fem]),
        "across": across,
        "delta": delta,
        "original": percent(original.sum(axis=-1), 2 * n),
        "counter": percent(counter.sum(axis=-1), 2 * n),
        "rho": _rho(levels),
        "own": percent(own.sum(axis=-1), n),
        "own_m": percent(own[:, masc], n_gender[:, masc]),
        "own_f": percent(own[:, fem], n_gender[:, fem]),
    }
    values |= {name: values[one] - values[other] for name, (one, other) in _DIFFERENCES.items()}
    return values | {"accuracy": (values["acc_m"] + values["acc_f"]) / 2}


_DIFFERENCES = {
    "acc_diff": ("acc_m", "acc_f"),
    "within_diff": ("within_m", "within_f"),
    "across_diff": ("m2f", "f2m"),
    "counter_diff": ("original", "counter"),
    "own_diff": ("own_m", "own_f"),
}
"""Of `METRICS`, the first minus the second."""


def _rho(levels: Floats) -> Floats:
    """Spearman's ρ between gender (masculine high) and a(X) from tables ``[R, 2, 5]``."""
    by_level, by_gender = levels.sum(axis=1), levels.sum(axis=2)
    n = by_gender.sum(axis=1, keepdims=True)
    # The average rank of a tied group is the number below it plus half of (its size + 1); ranks are
    # centred.
    rank = np.cumsum(by_level, axis=1) - by_level / 2 - n / 2
    rank_masc, rank_fem = by_gender[:, 1] / 2, -by_gender[:, 0] / 2
    ranks_masc, ranks_fem = ((levels[:, gender] * rank).sum(axis=1) for gender in (0, 1))
    together = ranks_masc * rank_masc + ranks_fem * rank_fem
    spread_levels = (by_level * rank**2).sum(axis=1)
    spread_genders = by_gender[:, 0] * rank_masc**2 + by_gender[:, 1] * rank_fem**2
    spread = spread_levels * spread_genders
    with np.errstate(invalid="ignore"):
        return np.where(spread > 0, together / np.sqrt(spread), np.nan)


_ROUNDING = 1e-12
"""By so much ρ may differ from 1 or −1 where it is that."""


def _pvalue(rho: float | None, n_m: int, n_f: int) -> float | None:
    """Two-sided p of ρ = 0: Student's, t = ρ·√((n−2) / (1−ρ²)), n − 2 degrees of freedom; above 0.

    Where |ρ| is 1, t is undefined: p is the share of all ways of giving out the genders in which
    |ρ| is 1 too.
    """
    n = n_m + n_f
    if rho is None or n < 3:
        return None
    if abs(rho) > 1 - _ROUNDING:
        ways = 2 if n_m == n_f else 1
        return max(ways / comb(n, n_m), float_info.min)
    from scipy.special import stdtr

    t = -abs(rho) * sqrt((n - 2) / (1 - rho * rho))
    return max(2 * float(stdtr(n - 2, t)), float_info.min)
