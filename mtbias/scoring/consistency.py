"""Consistency: how often gender alone determines whether a system is right, compared with another
small change of the sentence.

A *counterfactual pair* is two sentences that differ in gender alone; a *control pair* is two
sentences of one gender that differ in something else. Two counterfactual pairs whose sentences are
each other's controls are a *quadruple* (`mtbias.stats.resampling`). A unit is a quadruple, else a
pair: no pair is in two units. All numbers are computed from the additive table of units, which are
what the bootstrap draws.

Source: the measure of Xie, Kocijan, Lukasiewicz and Camburu, *Counter-GAP* (EACL 2023), section 4,
for translation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from mtbias.scoring import definitions
from mtbias.stats.paired import PairedUnits, compare
from mtbias.stats.resampling import (
    FIRST,
    MATCHED,
    NO_CALL,
    RIGHT,
    SECOND,
    WRONG,
    Pairs,
    all_patterns,
    bootstrap_counts,
    estimate,
    inconsistency,
    inconsistent,
    pattern_number,
    wilson_percent_of_units,
)
from mtbias.stats.results import (
    N_RESAMPLES,
    Counts,
    Difference,
    Estimate,
    Floats,
    enough,
    percent,
    rounded,
    source,
)
from mtbias.types import Gender, GenderCall, JsonDict, Linked, frozen

STATUSES = 3
"""A call is `RIGHT` (it is the gold gender), `WRONG`, or there is none (`NO_CALL`)."""

PAIR, MEN, WOMEN, QUADRUPLE = 0, 9, 18, 27
"""The first cell of each kind of unit; within a kind, a pattern of statuses has the cell of its
number."""
CELLS = 27 + 81

LinkedIds = tuple[str, ...]
"""The ids of a unit's sentences. Counterfactual pair: man, woman; control pair: two of one gender;
quadruple: man, his control, the man's counterpart, the control's counterpart."""


@frozen
class LinkedUnits:
    """The pairs and quadruples of a corpus. No sentence's pair is counted twice."""

    pairs: tuple[LinkedIds, ...]
    """Counterfactual pairs outside quadruples."""
    men: tuple[LinkedIds, ...]
    """Control pairs of men outside quadruples."""
    women: tuple[LinkedIds, ...]
    quadruples: tuple[LinkedIds, ...]
    left_out: Mapping[str, int]
    """Links that became no pair, and why."""


def link(rows: Sequence[Linked]) -> LinkedUnits:
    """The counterfactual pairs, control pairs and quadruples among `rows`.

    A link counts whichever of the two sentences names it. Left out, and counted by reason, are
    links to a sentence that is not among `rows`, links of a sentence that has more than one of the
    kind, counterparts that are not a man and a woman, and controls that are not both men or both
    women. Two control pairs whose sentences are counterparts are a quadruple; one control pair is
    enough where the counterparts name no controls of their own.
    """
    left_out: Counter[str] = Counter()
    by_id = {row.id: row for row in rows}
    counterpart = _mates(rows, by_id, "pair", left_out)
    controls = _mates(rows, by_id, "control", left_out)
    pairs = [(a, b) for a, b in counterpart.items() if by_id[a].gold is Gender.MALE]
    quadruples = []
    inside: set[str] = set()
    for man, woman in pairs:
        control = controls.get(man) or counterpart.get(controls.get(woman, ""))
        hers = None if control is None else counterpart.get(control)
        if control is None or hers is None or man in inside:
            continue
        if _may_be_controls(man, control, controls) and _may_be_controls(woman, hers, controls):
            quadruples.append((man, control, woman, hers))
            inside |= {man, control, woman, hers}
    place = {row.id: n for n, row in enumerate(rows)}
    lone = [(a, b) for a, b in controls.items() if place[a] < place[b] and not {a, b} <= inside]
    men = tuple(pair for pair in lone if by_id[pair[0]].gold is Gender.MALE)
    women = tuple(pair for pair in lone if by_id[pair[0]].gold is Gender.FEMALE)
    outside = tuple(pair for pair in pairs if pair[0] not in inside)
    return LinkedUnits(outside, men, women, tuple(quadruples), dict(sorted(left_out.items())))


def _may_be_controls(one: str, other: str, controls: Mapping[str, str]) -> bool:
    """Whether neither of two sentences has another control than the other one."""
    return controls.get(one, other) == other and controls.get(other, one) == one


def _mates(
    rows: Sequence[Linked], by_id: Mapping[str, Linked], kind: str, left_out: Counter[str]
) -> dict[str, str]:
    """Each sentence's one partner by the links of `kind`, both ways, in the order of the rows."""
    # As the keys of `left_out` have it in `metrics.json`.
    name = "counterpart" if kind == "pair" else "control"
    linked: dict[str, set[str]] = {}
    for row in rows:
        other = row.pair if kind == "pair" else row.control
        if other is None:
            continue
        if other not in by_id:
            left_out[f"{name} not among the sentences"] += 1
        elif other == row.id:
            left_out[f"{name} is the sentence itself"] += 1
        else:
            linked.setdefault(row.id, set()).add(other)
            linked.setdefault(other, set()).add(row.id)
    mates: dict[str, str] = {}
    for row in rows:
        for other in sorted(linked.get(row.id, ())):
            genders = {row.gold, by_id[other].gold}
            if len(linked[row.id]) > 1 or len(linked[other]) > 1:
                reason = f"more than one {name}"
            elif Gender.NEUTRAL in genders:
                reason = f"{name} with gold gender neutral"
            elif len(genders) != (2 if kind == "pair" else 1):
                reason = f"{name} not of the {'other' if kind == 'pair' else 'same'} gender"
            else:
                mates[row.id] = other
                continue
            left_out[reason] += row.id < other  # once a link
    return mates


def count_consistency(
    units: LinkedUnits, rows: Sequence[Linked], calls: Iterable[GenderCall]
) -> Counts:
    """The additive table ``[CELLS]`` of one system; tables of two corpora add up."""
    return np.bincount(unit_cells(units, rows, calls), minlength=CELLS).astype(np.int64, copy=False)


def unit_cells(units: LinkedUnits, rows: Sequence[Linked], calls: Iterable[GenderCall]) -> Counts:
    """The cell of each unit: pairs, men, women, quadruples, in their order."""
    called = {call.id: call.gender for call in calls}
    status_of = {row.id: _status(row, called[row.id]) for row in rows}
    kinds = (
        (PAIR, units.pairs),
        (MEN, units.men),
        (WOMEN, units.women),
        (QUADRUPLE, units.quadruples),
    )
    cells = []
    for first_cell, units_of_kind in kinds:
        for unit in units_of_kind:
            pattern = pattern_number([status_of[sentence] for sentence in unit], STATUSES)
            cells.append(first_cell + pattern)
    return np.array(cells, dtype=np.int64)


def _status(row: Linked, call: Gender | None) -> int:
    """Whether a call is the gold gender of its row (`STATUSES`)."""
    if call is None:
        return NO_CALL
    return RIGHT if call is row.gold else WRONG


class PairSums(NamedTuple):
    """What units add to, each of the shape of the rest of an array ``[..., 11]``."""

    pairs: Floats
    male_only: Floats
    female_only: Floats
    both_right: Floats
    men: Floats
    men_differ: Floats
    women: Floats
    women_differ: Floats
    quadruples: Floats
    across: Floats
    """Pairs of a quadruple (two of each kind) with exactly one sentence right."""
    within: Floats

    @classmethod
    def of_array(cls, sums: Floats) -> PairSums:
        """The views of an array; adding to them fills it."""
        return cls(*np.moveaxis(sums, -1, 0))


COMPARED = tuple(definitions.interval_methods(definitions.CONSISTENCY))
"""The numbers that have intervals, and in which two systems are compared."""

_SHARES: Mapping[str, Callable[[PairSums], tuple[Floats, Floats]]] = {
    "across": lambda sums: (sums.male_only + sums.female_only, sums.pairs),
    "male_only": lambda sums: (sums.male_only, sums.pairs),
    "female_only": lambda sums: (sums.female_only, sums.pairs),
    "both_right": lambda sums: (sums.both_right, sums.pairs),
    "within": lambda sums: (sums.men_differ + sums.women_differ, sums.men + sums.women),
    "within_male": lambda sums: (sums.men_differ, sums.men),
    "within_female": lambda sums: (sums.women_differ, sums.women),
}
"""The numbers that are shares of pairs: numerator and denominator."""


def _parts_json(numbers: Mapping[str, Estimate]) -> JsonDict:
    """The parts of ``consistency``, each with its denominator and the numbers that `Number.place`
    puts there.
    """
    genders = {}
    for gender in ("male", "female"):
        estimate = numbers[f"within_{gender}"]
        genders[gender] = {"n": estimate.n, "inconsistent": estimate.value}
    both = {name: numbers[f"quadruple_{name}"].value for name in ("across", "within")}
    content = {
        "across": _part_json("across", numbers),
        "within": {**_part_json("within", numbers), **genders},
        "delta_i": {**_part_json("delta_i", numbers), **both},
    }
    return rounded(content)


def _part_json(place: str, numbers: Mapping[str, Estimate]) -> JsonDict:
    declared = [number for number in definitions.CONSISTENCY if number.place == place]
    return {
        "n": numbers[declared[0].key].n,
        "ci": {each.name: numbers[each.key].interval for each in declared if each.interval},
        **{each.name: numbers[each.key].value for each in declared},
    }


def _added(*, decided: bool) -> Floats:
    """What a unit in each cell adds to `PairSums`: ``[CELLS, 11]``; with `decided`, only where all
    have calls.
    """
    adds = np.zeros((CELLS, len(PairSums._fields)))
    only: Pairs = ((0, 1),)
    for start, size, pairs, men, women in (
        (PAIR, 2, only, (), ()),
        (MEN, 2, (), only, ()),
        (WOMEN, 2, (), (), only),
        (QUADRUPLE, 4, MATCHED, (FIRST,), (SECOND,)),
    ):
        statuses = all_patterns(STATUSES, size)
        right, counted = statuses == RIGHT, (statuses != NO_CALL) | (not decided)
        sums = PairSums.of_array(adds[start : start + len(statuses)])
        for man, woman in pairs:
            both = counted[:, man] & counted[:, woman]
            sums.pairs[:] += both
            sums.male_only[:] += both & right[:, man] & ~right[:, woman]
            sums.female_only[:] += both & ~right[:, man] & right[:, woman]
            sums.both_right[:] += both & right[:, man] & right[:, woman]
        for controls, all_of_gender, differ in (
            (men, sums.men, sums.men_differ),
            (women, sums.women, sums.women_differ),
        ):
            for one, other in controls:
                both = counted[:, one] & counted[:, other]
                all_of_gender[:] += both
                differ[:] += both & (right[:, one] != right[:, other])
        if size == 4:
            whole = counted.all(axis=1)
            sums.quadruples[:] += whole
            sums.across[:] += whole * inconsistent(right, MATCHED)
            sums.within[:] += whole * inconsistent(right, (FIRST, SECOND))
    return adds


_ADDS = {decided: _added(decided=decided) for decided in (False, True)}


def _numbers(sums: Floats) -> dict[str, Floats]:
    """All numbers in per cent from sums ``[..., 11]``, NaN where undefined."""
    part = PairSums.of_array(sums)
    neither = part.pairs - part.both_right - part.male_only - part.female_only
    across, within, delta = inconsistency(part.across, part.within, part.quadruples, MATCHED)
    return {
        **{name: percent(*share(part)) for name, share in _SHARES.items()},
        "neither_right": percent(neither, part.pairs),
        "quadruple_across": across,
        "quadruple_within": within,
        "delta_i": delta,
    }


def _sizes(sums: Floats) -> dict[str, int]:
    """The denominators of all numbers; a quadruple has two pairs of each kind."""
    part = PairSums.of_array(sums)
    sizes = {name: int(share(part)[1]) for name, share in _SHARES.items()}
    sizes["neither_right"] = int(part.pairs)
    for name in ("quadruple_across", "quadruple_within", "delta_i"):
        sizes[name] = int(part.quadruples)
    return sizes


def compute_consistency(
    counts: Counts,
    *,
    decided: bool = False,
    n_resamples: int = 0,
    rng: np.random.Generator | None = None,
) -> dict[str, Estimate]:
    """All numbers of a table (`count_consistency`) by name, in per cent, with their denominators.

    With f = 1 for a sentence that is right, else 0:

    - ``across``: I_across = Σ |f(man) − f(woman)| / counterfactual pairs, in [0, 100], 0 is best:
      the sum of ``male_only`` and ``female_only`` (right for the one alone). ``both_right`` and
      ``neither_right`` are the rest.
    - ``within``: I_within = Σ |f − f(control)| / control pairs, men's (``within_male``) and women's
      together;
    - ``delta_i``: ΔI = ``quadruple_across`` − ``quadruple_within``, in [−100, 100], the two over
      the pairs of quadruples alone (`mtbias.stats.resampling.inconsistency`): above 0, gender alone
      makes more of a difference than another small change.

    Args:
        counts: the table.
        decided: leave out pairs and quadruples with a sentence that has no call; a quadruple's
            other pairs still count as pairs.
        n_resamples: bootstrap resamples of units (quadruples, and the pairs outside them, drawn
            together) for the 95 % interval of ΔI; those of the shares in `COMPARED` are Wilson's,
            with the effective number of pairs, since the pairs of a quadruple go together
            (`wilson_percent_of_units`). By default no intervals.
        rng: the source of randomness, by default of seed 0.

    Edge cases: None without such pairs or quadruples. ΔI has no interval with fewer than `MIN_ROWS`
    quadruples.
    """
    sizes = _sizes(counts @ _ADDS[decided])
    estimates = estimate(
        counts[None],
        lambda tables: _numbers(tables @ _ADDS[decided]),
        partial(bootstrap_counts, counts, n_resamples=n_resamples, rng=rng or source(0)),
        n=sizes,
        intervals=[name for name in COMPARED if name not in _SHARES and enough(sizes[name])],
    )
    adds = PairSums.of_array(_ADDS[decided])
    for name in _SHARES.keys() & COMPARED if n_resamples else ():
        interval = wilson_percent_of_units(*_SHARES[name](adds), counts)
        estimates[name] = replace(estimates[name], interval=interval)
    return estimates


def consistency(
    rows: Sequence[Linked],
    calls: Iterable[GenderCall],
    *,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> JsonDict | None:
    """`consistency` of `metrics.json`: that of the calls on `rows`, joined by id.

    ``all`` has the numbers in which a sentence without a call is not right, ``decided`` those of
    pairs both of whose sentences have a call and of quadruples all of whose four have;
    ``pairs_without_controls`` are counterfactual pairs in no quadruple, which count in I_across and
    not in ΔI.

    Edge cases: None where no sentence has a counterpart or a control.
    """
    if all(row.pair is None and row.control is None for row in rows):
        return None
    units = link(rows)
    counts = count_consistency(units, rows, calls)
    parts = {
        name: compute_consistency(
            counts, decided=decided, n_resamples=n_resamples, rng=source(seed)
        )
        for name, decided in (("all", False), ("decided", True))
    }
    return {
        **{name: _parts_json(numbers) for name, numbers in parts.items()},
        "pairs_without_controls": len(units.pairs),
        "left_out": dict(units.left_out),
        "interval_methods": dict(definitions.interval_methods(definitions.CONSISTENCY)),
    }


def compare_consistency(
    rows: Sequence[Linked],
    first: Iterable[GenderCall],
    second: Iterable[GenderCall],
    *,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> dict[str, Difference]:
    """Two systems' calls on the same rows: first − second for each of `COMPARED`; empty without
    pairs.

    Bootstrap and randomisation (`mtbias.stats.paired.compare`), both over units, start from `seed`;
    there are no intervals without resamples or with fewer than `MIN_ROWS` pairs or quadruples.
    """
    units = link(rows)
    if not any((units.pairs, units.men, units.women, units.quadruples)):
        return {}
    one, other = (_ADDS[False][unit_cells(units, rows, calls)] for calls in (first, second))
    sizes = _sizes(one.sum(axis=0))
    both, how = PairedUnits(one, other), {"bootstrap": source(seed), "test": source(seed)}
    return compare(
        both, _numbers, COMPARED, n_resamples, **how, intervals=lambda name: enough(sizes[name])
    )
