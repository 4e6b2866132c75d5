"""Consistency: how often gender alone decides whether a system is right, beside another small change of the sentence.

What pairs and quadruples are stands in `mtbias.scoring.linked_pairs`. Everything here is computed from its additive
table; what the bootstrap draws are units: quadruples, and the pairs outside them.

Source: the measure of Xie, Kocijan, Lukasiewicz and Camburu, *Counter-GAP* (EACL 2023), section 4, for translation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mtbias.errors import DataError
from mtbias.scoring import definitions
from mtbias.scoring.linked_pairs import (
    CELLS,
    MEN,
    PAIR,
    QUADRUPLE,
    STATUSES,
    WOMEN,
    Counts,
    count_consistency,
    link,
    unit_cells,
)
from mtbias.scoring.sentence_protocols import Linked
from mtbias.stats.quadruples import FIRST, MATCHED, NO_CALL, RIGHT, SECOND, all_patterns, inconsistency, inconsistent
from mtbias.stats.resampling import (
    bootstrap_counts,
    bootstrap_units,
    estimate,
    percentile_interval,
    wilson_percent_of_units,
)
from mtbias.stats.results import N_RESAMPLES, Difference, Estimate, Floats, enough, percent, rounded
from mtbias.stats.significance import compare_units
from mtbias.types import GenderCall

_SUMS = ("pairs", "male_only", "female_only", "both", "men", "men_differ", "women", "women_differ",
         "quadruples", "across", "within")  # fmt: skip
"""What a unit adds to. The last two: pairs of a quadruple (two of each kind) with exactly one sentence right."""

COMPARED = definitions.keys(definitions.CONSISTENCY, interval=True)
"""The numbers that have intervals, and in which two systems are compared."""

_SHARES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "across": (("male_only", "female_only"), ("pairs",)),
    "male_only": (("male_only",), ("pairs",)),
    "female_only": (("female_only",), ("pairs",)),
    "both_right": (("both",), ("pairs",)),
    "within": (("men_differ", "women_differ"), ("men", "women")),
    "within_male": (("men_differ",), ("men",)),
    "within_female": (("women_differ",), ("women",)),
}
"""The numbers that are single shares of pairs: the sums of which pairs, of which."""


@dataclass(frozen=True, slots=True)
class Consistency:
    """The consistency of one system on one corpus: numbers as in `compute_consistency`, with intervals."""

    everything: Mapping[str, Estimate]
    """A sentence without a call is not right."""
    decided: Mapping[str, Estimate]
    """Only pairs both of whose sentences have a call, and quadruples all of whose four have."""
    pairs_without_controls: int
    """Counterfactual pairs in no quadruple: they count in I_across and not in ΔI."""
    left_out: Mapping[str, int]
    """Links that became no pair, and why."""

    def to_json(self) -> dict[str, Any]:
        """The value of ``consistency`` in `metrics.json`; per cent, rounded to 6 decimals, null where undefined."""
        return {
            "all": _part_json(self.everything),
            "decided": _part_json(self.decided),
            "pairs_without_controls": self.pairs_without_controls,
            "left_out": dict(self.left_out),
            "interval_methods": dict(definitions.interval_methods(definitions.CONSISTENCY)),
        }


def _part_json(found: Mapping[str, Estimate]) -> dict[str, Any]:
    value = {name: rounded(one.value) for name, one in found.items()}
    ends = {name: rounded(one.interval) for name, one in found.items()}
    n = {name: one.n for name, one in found.items()}
    shares = ("male_only", "female_only", "both_right", "neither_right")
    return {
        "across": {
            "n": n["across"],
            "inconsistent": value["across"],
            **{name: value[name] for name in shares},
            "ci": {"inconsistent": ends["across"], **{name: ends[name] for name in shares[:2]}},
        },
        "within": {
            "n": n["within"],
            "inconsistent": value["within"],
            "male": {"n": n["within_male"], "inconsistent": value["within_male"]},
            "female": {"n": n["within_female"], "inconsistent": value["within_female"]},
            "ci": {"inconsistent": ends["within"]},
        },
        "delta_i": {
            "n": n["delta_i"],
            "across": value["quadruple_across"],
            "within": value["quadruple_within"],
            "delta_i": value["delta_i"],
            "ci": {"delta_i": ends["delta_i"]},
        },
    }


def _added(*, decided: bool) -> Floats:
    """What a unit in each cell adds to `_SUMS`: ``[CELLS, 11]``; with `decided`, only where all have calls."""
    adds = np.zeros((CELLS, len(_SUMS)))
    for start, size, kinds in (
        (PAIR, 2, {"pairs": ((0, 1),)}),
        (MEN, 2, {"men": ((0, 1),)}),
        (WOMEN, 2, {"women": ((0, 1),)}),
        (QUADRUPLE, 4, {"pairs": MATCHED, "men": (FIRST,), "women": (SECOND,)}),
    ):
        statuses = all_patterns(STATUSES, size)
        right, counted = statuses == RIGHT, (statuses != NO_CALL) | (not decided)
        sums = dict(zip(_SUMS, adds[start : start + len(statuses)].T, strict=True))  # views: adding here fills `adds`
        for kind, pairs in kinds.items():
            for one, other in pairs:
                both = counted[:, one] & counted[:, other]
                sums[kind] += both
                if kind == "pairs":
                    sums["male_only"] += both & right[:, one] & ~right[:, other]
                    sums["female_only"] += both & ~right[:, one] & right[:, other]
                    sums["both"] += both & right[:, one] & right[:, other]
                else:
                    sums[f"{kind}_differ"] += both & (right[:, one] != right[:, other])
        if size == 4:
            whole = counted.all(axis=1)
            sums["quadruples"] += whole
            sums["across"] += whole * inconsistent(right, MATCHED)
            sums["within"] += whole * inconsistent(right, (FIRST, SECOND))
    return adds


_ADDS = {decided: _added(decided=decided) for decided in (False, True)}


def _numbers(sums: Floats) -> dict[str, Floats]:
    """All numbers in per cent from sums ``[..., 11]``, NaN where undefined."""
    part = {name: sums[..., k] for k, name in enumerate(_SUMS)}
    neither = part["pairs"] - part["both"] - part["male_only"] - part["female_only"]
    across, within, delta = inconsistency(part["across"], part["within"], part["quadruples"], MATCHED)
    return {
        **{
            name: percent(sum(part[key] for key in parts), sum(part[key] for key in wholes))
            for name, (parts, wholes) in _SHARES.items()
        },
        "neither_right": percent(neither, part["pairs"]),
        "quadruple_across": across,
        "quadruple_within": within,
        "delta_i": delta,
    }


def _sizes(sums: Floats) -> dict[str, int]:
    """The denominators of all numbers; a quadruple has two pairs of each kind."""
    n = {name: int(total) for name, total in zip(_SUMS, sums, strict=True)}
    return {
        **{name: sum(n[key] for key in wholes) for name, (_, wholes) in _SHARES.items()},
        "neither_right": n["pairs"],
        **dict.fromkeys(("quadruple_across", "quadruple_within", "delta_i"), n["quadruples"]),
    }


def compute_consistency(
    counts: Counts, *, decided: bool = False, n_resamples: int = 0, rng: np.random.Generator | None = None
) -> dict[str, Estimate]:
    """All numbers of a table (`count_consistency`) by name, in per cent, with their denominators.

    With f = 1 for a sentence that is right, else 0:

    - ``across``: I_across = Σ |f(man) − f(woman)| / counterfactual pairs, in [0, 100], 0 is best: the sum of
      ``male_only`` and ``female_only`` (right for the one alone). ``both_right`` and ``neither_right`` are the rest.
    - ``within``: I_within = Σ |f − f(control)| / control pairs, men's (``within_male``) and women's together;
    - ``delta_i``: ΔI = ``quadruple_across`` − ``quadruple_within``, in [−100, 100], the two over the pairs of
      quadruples alone (`mtbias.stats.quadruples.inconsistency`): above 0, gender alone makes more of a difference than
      another small change.

    Args:
        counts: the table.
        decided: leave out pairs and quadruples with a sentence that has no call; a quadruple's other pairs still count
            as pairs.
        n_resamples: bootstrap resamples of units (quadruples, and the pairs outside them, drawn together) for the 95 %
            interval of ΔI; those of the shares in `COMPARED` are Wilson's, with the effective number of pairs, since
            the pairs of a quadruple go together (`wilson_percent_of_units`). By default there are no intervals.
        rng: the source of randomness, by default of seed 0.

    Edge cases: None where there are no such pairs or quadruples. No interval of ΔI with fewer than `MIN_ROWS`
    quadruples.

    Raises:
        ValueError: another shape.
    """
    if counts.shape != (CELLS,):
        raise ValueError(f"expected a table of shape {(CELLS,)}, got {counts.shape}")
    sizes = _sizes(counts @ _ADDS[decided])
    found = estimate(
        counts[None],
        lambda tables: _numbers(tables @ _ADDS[decided]),
        partial(bootstrap_counts, counts, n_resamples=n_resamples, rng=rng or _rng(0)),
        n=sizes,
        intervals=[name for name in COMPARED if name not in _SHARES and enough(sizes[name])],
    )
    adds = dict(zip(_SUMS, _ADDS[decided].T, strict=True))
    for name in _SHARES.keys() & COMPARED if n_resamples else ():
        part, whole = (np.sum([adds[key] for key in sums], axis=0) for sums in _SHARES[name])
        found[name] = replace(found[name], interval=wilson_percent_of_units(part, whole, counts))
    return found


def _rng(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def consistency(
    rows: Sequence[Linked], calls: Iterable[GenderCall], *, n_resamples: int = N_RESAMPLES, seed: int = 0
) -> Consistency | None:
    """The consistency of the calls on `rows`, joined by id; None where no sentence has a counterpart or a control.

    Raises:
        DataError: a sentence of a pair has no call.
    """
    if all(row.pair is None and row.control is None for row in rows):
        return None
    units = link(rows)
    counts = count_consistency(units, rows, calls)
    return Consistency(
        everything=compute_consistency(counts, n_resamples=n_resamples, rng=_rng(seed)),
        decided=compute_consistency(counts, decided=True, n_resamples=n_resamples, rng=_rng(seed)),
        pairs_without_controls=len(units.pairs),
        left_out=units.left_out,
    )


@dataclass(frozen=True, slots=True)
class ConsistencyDifference(Difference):
    """One number of two systems on the same pairs, in per cent; no interval where a denominator is below `MIN_ROWS`."""

    n: tuple[int, int] = (0, 0)
    """The denominators, of the first and of the second; they differ only where pairs without a call are left out."""


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

    Bootstrap and randomisation, both over units, start from `seed` for each number; without resamples there are no
    intervals. With `decided`, each system leaves out the pairs and quadruples in which it has no call itself.

    Raises:
        DataError: the pairs, or the genders in them, differ between the two; a sentence of a pair has no call.
    """
    units = link(records_a)
    if units != link(records_b) or {r.id: r.gold for r in records_a} != {r.id: r.gold for r in records_b}:
        raise DataError("expected two runs over the same pairs, got other pairs or genders; compare runs of one corpus")
    if not any((units.pairs, units.men, units.women, units.quadruples)):
        return {}
    one, other = (
        _ADDS[decided][unit_cells(units, records, calls)]
        for records, calls in ((records_a, calls_a), (records_b, calls_b))
    )

    def differences(sums: Floats) -> Floats:
        first, second = (_numbers(part) for part in np.split(sums, 2, axis=-1))
        return np.stack([first[name] - second[name] for name in COMPARED], axis=-1)

    replicates = bootstrap_units(np.hstack((one, other)), differences, n_resamples, _rng(seed))
    compared = compare_units(one, other, _numbers, COMPARED, n_resamples, lambda: _rng(seed))
    sizes = [_sizes(adds.sum(axis=0)) for adds in (one, other)]
    found = {}
    for (name, d), column in zip(compared.items(), replicates.T, strict=True):
        n = (sizes[0][name], sizes[1][name])
        interval = percentile_interval(column) if enough(n) else None
        found[name] = ConsistencyDifference(d.first, d.second, d.difference, interval, d.p, n=n)
    return found
