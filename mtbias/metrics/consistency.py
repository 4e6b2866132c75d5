"""Consistency: how often gender alone decides whether a system is right, beside another small change of the sentence.

What pairs and quadruples are stands in `mtbias.metrics.linked_pairs`. Everything here is computed from its additive
table; what the bootstrap draws are units: quadruples, and the pairs outside them.

Source: the measure of Xie, Kocijan, Lukasiewicz and Camburu, *Counter-GAP* (EACL 2023), section 4, for translation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from mtbias.errors import DataError
from mtbias.metrics.linked_pairs import (
    CELLS,
    MEN,
    NO_VERDICT,
    PAIR,
    QUADRUPLE,
    RIGHT,
    WOMEN,
    Counts,
    count_consistency,
    link,
    unit_cells,
)
from mtbias.metrics.sentence_protocols import Linked
from mtbias.stats.resampling import bootstrap_counts, bootstrap_units, percentile_interval
from mtbias.stats.results import MIN_ROWS, N_RESAMPLES, Floats, Interval, rounded
from mtbias.stats.significance import randomisation_test
from mtbias.types import GenderCall

_SUMS = ("pairs", "male_only", "female_only", "both", "men", "men_differ", "women", "women_differ",
         "quadruples", "across", "within")  # fmt: skip
"""What a unit adds to. The last two: pairs of a quadruple (two of each kind) with exactly one sentence right."""

COMPARED = ("across", "male_only", "female_only", "within", "delta_i")
"""The numbers that have intervals, and in which two systems are compared."""


@dataclass(frozen=True, slots=True)
class ConsistencyNumbers:
    """Shares of pairs on which exactly one of two sentences is right. Per cent, unrounded; None where undefined."""

    n_pairs: int
    """Twin pairs: the denominator of the next five."""
    across: float | None
    """I_across: [0, 100], the sum of the next two; 0 is best."""
    male_only: float | None
    """Right in the man's sentence only."""
    female_only: float | None
    both_right: float | None
    neither_right: float | None
    n_controls: int
    """Control pairs, of men and of women."""
    within: float | None
    """I_within: the same over control pairs."""
    n_controls_male: int
    within_male: float | None
    n_controls_female: int
    within_female: float | None
    n_quadruples: int
    """Denominator of the next three, each quadruple with two pairs of each kind."""
    quadruple_across: float | None
    quadruple_within: float | None
    delta_i: float | None
    """ΔI = `quadruple_across` − `quadruple_within`: [−100, 100]; above 0, gender alone makes more of a difference than
    another small change."""


class ConsistencyIntervals(NamedTuple):
    """95 % bootstrap intervals of the numbers of the same names, in per cent; None where there is none."""

    across: Interval | None
    male_only: Interval | None
    female_only: Interval | None
    within: Interval | None
    delta_i: Interval | None


@dataclass(frozen=True, slots=True)
class ConsistencyPart:
    """Numbers with their intervals."""

    numbers: ConsistencyNumbers
    ci: ConsistencyIntervals

    def to_json(self) -> dict[str, Any]:
        """As it stands in `metrics.json`; per cent, rounded to 6 decimals, null where undefined."""
        n = {name: rounded(value) for name, value in asdict(self.numbers).items()}
        ci = {name: rounded(interval) for name, interval in self.ci._asdict().items()}
        return {
            "across": {
                "n": n["n_pairs"],
                "inconsistent": n["across"],
                **{name: n[name] for name in ("male_only", "female_only", "both_right", "neither_right")},
                "ci": {"inconsistent": ci["across"], "male_only": ci["male_only"], "female_only": ci["female_only"]},
            },
            "within": {
                "n": n["n_controls"],
                "inconsistent": n["within"],
                "male": {"n": n["n_controls_male"], "inconsistent": n["within_male"]},
                "female": {"n": n["n_controls_female"], "inconsistent": n["within_female"]},
                "ci": {"inconsistent": ci["within"]},
            },
            "delta_i": {
                "n": n["n_quadruples"],
                "across": n["quadruple_across"],
                "within": n["quadruple_within"],
                "delta_i": n["delta_i"],
                "ci": {"delta_i": ci["delta_i"]},
            },
        }


@dataclass(frozen=True, slots=True)
class Consistency:
    """The consistency of one system on one corpus."""

    everything: ConsistencyPart
    """A sentence without a verdict is not right."""
    decided: ConsistencyPart
    """Only pairs both of whose sentences have a verdict, and quadruples all of whose four have."""
    pairs_without_controls: int
    """Twin pairs in no quadruple: they count in I_across and not in ΔI."""
    left_out: Mapping[str, int]
    """Links that became no pair, and why."""
    counts: Counts
    """Read-only, ``[CELLS]``."""

    def to_json(self) -> dict[str, Any]:
        """The value of ``consistency`` in `metrics.json`."""
        return {
            "all": self.everything.to_json(),
            "decided": self.decided.to_json(),
            "pairs_without_controls": self.pairs_without_controls,
            "left_out": dict(self.left_out),
        }


def _added(*, decided: bool) -> Floats:
    """What a unit in each cell adds to `_SUMS`: ``[CELLS, 11]``; with `decided`, only where all have verdicts."""
    adds = np.zeros((CELLS, len(_SUMS)))
    column = {name: k for k, name in enumerate(_SUMS)}

    def add(cell: int, name: str, value: float = 1) -> None:
        adds[cell, column[name]] += value

    def add_pair(cell: int, man: int, woman: int) -> None:
        if decided and NO_VERDICT in (man, woman):
            return
        add(cell, "pairs")
        names = {(True, True): "both", (True, False): "male_only", (False, True): "female_only"}
        if name := names.get((man == RIGHT, woman == RIGHT)):
            add(cell, name)

    def add_controls(cell: int, who: str, one: int, other: int) -> None:
        if decided and NO_VERDICT in (one, other):
            return
        add(cell, who)
        add(cell, f"{who}_differ", differ(one, other))

    def differ(one: int, other: int) -> int:
        return int((one == RIGHT) != (other == RIGHT))

    for number, (one, other) in enumerate(product(range(3), repeat=2)):
        add_pair(PAIR + number, one, other)
        add_controls(MEN + number, "men", one, other)
        add_controls(WOMEN + number, "women", one, other)
    for number, (man, his, woman, her) in enumerate(product(range(3), repeat=4)):
        cell = QUADRUPLE + number
        add_pair(cell, man, woman)
        add_pair(cell, his, her)
        add_controls(cell, "men", man, his)
        add_controls(cell, "women", woman, her)
        if not (decided and NO_VERDICT in (man, his, woman, her)):
            add(cell, "quadruples")
            add(cell, "across", differ(man, woman) + differ(his, her))
            add(cell, "within", differ(man, his) + differ(woman, her))
    return adds


_ADDS = {decided: _added(decided=decided) for decided in (False, True)}


def _shares(sums: Floats) -> dict[str, Floats]:
    """All numbers in per cent from sums ``[..., 11]``, NaN where undefined."""
    part = {name: sums[..., k] for k, name in enumerate(_SUMS)}
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = {
            "across": (part["male_only"] + part["female_only"]) / part["pairs"],
            **{name: part[name] / part["pairs"] for name in ("male_only", "female_only")},
            "both_right": part["both"] / part["pairs"],
            "neither_right": (part["pairs"] - part["both"] - part["male_only"] - part["female_only"]) / part["pairs"],
            "within": (part["men_differ"] + part["women_differ"]) / (part["men"] + part["women"]),
            "within_male": part["men_differ"] / part["men"],
            "within_female": part["women_differ"] / part["women"],
            "quadruple_across": part["across"] / (2 * part["quadruples"]),
            "quadruple_within": part["within"] / (2 * part["quadruples"]),
            "delta_i": (part["across"] - part["within"]) / (2 * part["quadruples"]),
        }
        return {name: 100 * share for name, share in shares.items()}


def compute_consistency(counts: Counts, *, decided: bool = False) -> ConsistencyNumbers:
    """All numbers of a table (`count_consistency`).

    With f = 1 for a sentence that is right, else 0:

    - I_across = Σ |f(man) − f(woman)| / twin pairs, which is `male_only` + `female_only`;
    - I_within = Σ |f − f(control)| / control pairs, men's and women's together;
    - ΔI = Σ (across − within) / 2·quadruples, where a quadruple's across is the sum of |f(man) − f(woman)| over its two
      twin pairs, and its within the sum of |f − f(control)| over its two control pairs.

    Edge cases: None where there are no such pairs or quadruples. With `decided`, pairs and quadruples with a
    sentence that has no verdict are left out; a quadruple's other pairs still count as pairs.

    Raises:
        ValueError: another shape.
    """
    if counts.shape != (CELLS,):
        raise ValueError(f"expected a table of shape {(CELLS,)}, got {counts.shape}")
    sums = counts @ _ADDS[decided]
    n = {name: int(sums[k]) for k, name in enumerate(_SUMS)}
    shares = {name: None if np.isnan(value) else float(value) for name, value in _shares(sums).items()}
    return ConsistencyNumbers(
        n_pairs=n["pairs"],
        n_controls=n["men"] + n["women"],
        n_controls_male=n["men"],
        n_controls_female=n["women"],
        n_quadruples=n["quadruples"],
        **shares,
    )


def _sizes(numbers: ConsistencyNumbers) -> tuple[int, ...]:
    """The denominators of `COMPARED`."""
    pairs = numbers.n_pairs
    return pairs, pairs, pairs, numbers.n_controls, numbers.n_quadruples


def consistency_intervals(
    counts: Counts, n_resamples: int, rng: np.random.Generator, *, decided: bool = False
) -> ConsistencyIntervals:
    """95 % percentile bootstrap intervals over units: quadruples, and the pairs outside them, drawn together.

    Edge cases: none where a number has fewer than `MIN_ROWS` pairs (ΔI: quadruples). Where no pair is inconsistent, or
    all are, the interval has width 0: the percentile bootstrap knows no other value.
    """

    def values(tables: Counts) -> Floats:
        shares = _shares(tables @ _ADDS[decided])
        return np.stack([shares[name] for name in COMPARED], axis=-1)

    replicates = bootstrap_counts(counts, values, n_resamples, rng)
    sizes = _sizes(compute_consistency(counts, decided=decided))
    return ConsistencyIntervals(
        *(percentile_interval(column) if n >= MIN_ROWS else None for column, n in zip(replicates.T, sizes, strict=True))
    )


def consistency(
    rows: Sequence[Linked], calls: Iterable[GenderCall], *, n_resamples: int = N_RESAMPLES, seed: int = 0
) -> Consistency | None:
    """The consistency of the calls on `rows`, joined by id; None where no sentence has a twin or a control.

    Raises:
        DataError: a sentence of a pair has no call.
    """
    if all(row.pair is None and row.control is None for row in rows):
        return None
    units = link(rows)
    counts = count_consistency(units, rows, calls)
    counts.setflags(write=False)

    def part(*, decided: bool) -> ConsistencyPart:
        rng = np.random.Generator(np.random.PCG64(seed))
        return ConsistencyPart(
            compute_consistency(counts, decided=decided),
            consistency_intervals(counts, n_resamples, rng, decided=decided),
        )

    return Consistency(
        everything=part(decided=False),
        decided=part(decided=True),
        pairs_without_controls=len(units.pairs),
        left_out=units.left_out,
        counts=counts,
    )


@dataclass(frozen=True, slots=True)
class ConsistencyDifference:
    """One number of two systems on the same pairs. Per cent, unrounded; None where undefined."""

    n: tuple[int, int]
    """The denominators, of the first and of the second; they differ only where pairs without a verdict are left out."""
    first: float | None
    second: float | None
    difference: float | None
    """first − second."""
    interval: Interval | None
    """95 %, paired bootstrap over units; None where a denominator is below `MIN_ROWS`."""
    p: float | None
    """Two-sided, paired randomisation over units."""


def compare_consistency(
    records_a: Sequence[Linked],
    calls_a: Iterable[GenderCall],
    records_b: Sequence[Linked],
    calls_b: Iterable[GenderCall],
    *,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
    decided: bool = False,
) -> dict[str, ConsistencyDifference]:
    """Two systems on the same pairs: first − second for each of `COMPARED`; empty where there are no pairs.

    Args:
        records_a: the sentences of the first run.
        calls_a: its calls.
        records_b: the same sentences.
        calls_b: the second system's calls.
        n_resamples: of the bootstrap and of the randomisation; with 0 there are no intervals.
        seed: of both, anew for each number.
        decided: leave out pairs and quadruples in which the system has no verdict; each system leaves out its own.

    Raises:
        DataError: the pairs, or the genders in them, differ between the two; a sentence of a pair has no call.
    """
    units = link(records_a)
    if units != link(records_b) or {r.id: r.gold for r in records_a} != {r.id: r.gold for r in records_b}:
        raise DataError("expected two runs over the same pairs, got other pairs or genders; compare runs of one corpus")
    if not any((units.pairs, units.men, units.women, units.quadruples)):
        return {}
    cells_a, cells_b = unit_cells(units, records_a, calls_a), unit_cells(units, records_b, calls_b)
    one, other = _ADDS[decided][cells_a], _ADDS[decided][cells_b]
    numbers = [compute_consistency(np.bincount(c, minlength=CELLS), decided=decided) for c in (cells_a, cells_b)]
    width = len(_SUMS)

    def differences(sums: Floats) -> Floats:
        first, second = _shares(sums[:, :width]), _shares(sums[:, width:])
        return np.stack([first[name] - second[name] for name in COMPARED], axis=-1)

    replicates = bootstrap_units(
        np.hstack((one, other)), differences, n_resamples, np.random.Generator(np.random.PCG64(seed))
    )
    found = {}
    for k, (name, *n) in enumerate(zip(COMPARED, *map(_sizes, numbers), strict=True)):
        first, second = (getattr(part, name) for part in numbers)
        p = randomisation_test(
            one,
            other,
            lambda sums, name=name: _shares(sums)[name],  # type: ignore[misc]
            n_resamples,
            np.random.Generator(np.random.PCG64(seed)),
        )
        found[name] = ConsistencyDifference(
            n=(n[0], n[1]),
            first=first,
            second=second,
            difference=None if first is None or second is None else first - second,
            interval=percentile_interval(replicates[:, k]) if min(n) >= MIN_ROWS else None,
            p=None if np.isnan(p) else p,
        )
    return found
