"""Counterfactual pairs, control pairs and quadruples of a corpus, and the table that counts how they were answered.

A *counterfactual pair* is two sentences that differ in gender alone; a *control pair* is two sentences of one gender
that differ in something else. Two counterfactual pairs whose sentences are each other's controls are a *quadruple*
(`mtbias.stats.quadruples`). A unit is a quadruple, else a pair: no pair stands in two units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mtbias.errors import DataError
from mtbias.scoring.sentence_protocols import Linked
from mtbias.stats.quadruples import NO_CALL, RIGHT, WRONG, pattern_number
from mtbias.types import Gender, GenderCall

STATUSES = 3
"""A call is `RIGHT` (it is the gold gender), `WRONG`, or there is none (`NO_CALL`)."""

PAIR, MEN, WOMEN, QUADRUPLE = 0, 9, 18, 27
"""The first cell of each kind of unit; within a kind, a pattern of statuses has the cell of its number."""
CELLS = 27 + 81

Counts = NDArray[np.int64]
LinkedIds = tuple[str, ...]
"""The ids of a unit's sentences. Counterfactual pair: man, woman; control pair: two of one gender; quadruple: man, his
control, the man's counterpart, the control's counterpart."""


@dataclass(frozen=True, slots=True)
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

    A link counts whichever of the two sentences names it. Left out, and counted by reason, are links to a sentence that
    is not among `rows`, links of a sentence that has more than one of the kind, counterparts that are not a man and a
    woman, and controls that are not both men or both women. Two control pairs whose sentences are counterparts are a
    quadruple; one control pair is enough where the counterparts name no controls of their own.
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
        if all(controls.get(a, b) == b and controls.get(b, a) == a for a, b in ((man, control), (woman, hers))):
            quadruples.append((man, control, woman, hers))
            inside |= {man, control, woman, hers}
    place = {row.id: n for n, row in enumerate(rows)}
    lone = [(a, b) for a, b in controls.items() if place[a] < place[b] and not {a, b} <= inside]
    men, women = (tuple(pair for pair in lone if by_id[pair[0]].gold is g) for g in (Gender.MALE, Gender.FEMALE))
    outside = tuple(pair for pair in pairs if pair[0] not in inside)
    return LinkedUnits(outside, men, women, tuple(quadruples), dict(sorted(left_out.items())))


def _mates(rows: Sequence[Linked], by_id: Mapping[str, Linked], kind: str, left_out: Counter[str]) -> dict[str, str]:
    """Each sentence's one partner by the links of `kind`, both ways, in the order of the rows."""
    name = "counterpart" if kind == "pair" else "control"  # as the keys of `left_out` have it in `metrics.json`
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


def count_consistency(units: LinkedUnits, rows: Sequence[Linked], calls: Iterable[GenderCall]) -> Counts:
    """The additive table ``[CELLS]`` of one system; tables of two corpora add up.

    Raises:
        DataError: a sentence of a unit has no call.
    """
    return np.bincount(unit_cells(units, rows, calls), minlength=CELLS).astype(np.int64, copy=False)


def unit_cells(units: LinkedUnits, rows: Sequence[Linked], calls: Iterable[GenderCall]) -> Counts:
    """The cell of each unit: pairs, men, women, quadruples, in their order."""
    gold = {row.id: row.gold for row in rows}
    called = {call.id: call.gender for call in calls}

    def status(id_: str) -> int:
        if id_ not in called:
            raise DataError(f"expected a call for each sentence, got none for {id_!r}")
        call = called[id_]
        return NO_CALL if call is None else RIGHT if call is gold[id_] else WRONG

    kinds = ((PAIR, units.pairs), (MEN, units.men), (WOMEN, units.women), (QUADRUPLE, units.quadruples))
    cells = [start + pattern_number(map(status, unit), STATUSES) for start, kind in kinds for unit in kind]
    return np.array(cells, dtype=np.int64)
