"""Twin pairs, control pairs and quadruples among the sentences of a corpus, and the table that counts their statuses.

A *twin pair* is two sentences that differ in gender alone; a *control pair* is two sentences of one gender that differ
in something else. Two twin pairs whose sentences are each other's controls are a *quadruple*. A unit is a quadruple,
else a pair: no pair stands in two units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mtbias.errors import DataError
from mtbias.metrics.sentence_protocols import Linked
from mtbias.types import Gender, GenderCall

RIGHT, WRONG, NO_VERDICT = range(3)
"""What a call can be: it equals the gold gender, it does not, there is none."""

PAIR, MEN, WOMEN, QUADRUPLE = 0, 9, 18, 27
"""The first cell of each kind of unit; within a kind, the statuses are the digits of a number in base 3."""
CELLS = 27 + 81

Counts = NDArray[np.int64]
Unit = tuple[str, ...]
"""The ids of a unit's sentences. Twin pair: man, woman; control pair: two of one gender; quadruple: man, his control,
the man's twin, the control's twin."""


@dataclass(frozen=True, slots=True)
class Units:
    """The pairs and quadruples of a corpus. No sentence's pair is counted twice."""

    pairs: tuple[Unit, ...]
    """Twin pairs outside quadruples."""
    men: tuple[Unit, ...]
    """Control pairs of men outside quadruples."""
    women: tuple[Unit, ...]
    quadruples: tuple[Unit, ...]
    left_out: Mapping[str, int]
    """Links that became no pair, and why."""


def link(rows: Sequence[Linked]) -> Units:
    """The twin pairs, control pairs and quadruples among `rows`.

    A link counts whichever of the two sentences names it. Left out, and counted by reason, are links to a sentence that
    is not among `rows`, links of a sentence that has more than one of the kind, twins that are not a man and a
    woman, and controls that are not both men or both women. Two control pairs whose sentences are twins are a
    quadruple; one control pair is enough where the twins name no controls of their own.
    """
    left_out: Counter[str] = Counter()
    by_id = {row.id: row for row in rows}
    twins = _mates(rows, by_id, "pair", left_out)
    controls = _mates(rows, by_id, "control", left_out)
    pairs = [(a, b) for a, b in twins.items() if by_id[a].gold is Gender.MALE]
    quadruples = []
    inside: set[str] = set()
    for man, woman in pairs:
        control = controls.get(man) or twins.get(controls.get(woman, ""))
        hers = None if control is None else twins.get(control)
        if control is None or hers is None or man in inside:
            continue
        if all(controls.get(a, b) == b and controls.get(b, a) == a for a, b in ((man, control), (woman, hers))):
            quadruples.append((man, control, woman, hers))
            inside |= {man, control, woman, hers}
    lone = {
        gender: tuple(
            (a, b) for a, b in _once(controls) if by_id[a].gold is gender and not {a, b} <= inside
        )
        for gender in (Gender.MALE, Gender.FEMALE)
    }  # fmt: skip
    return Units(
        pairs=tuple(pair for pair in pairs if pair[0] not in inside),
        men=lone[Gender.MALE],
        women=lone[Gender.FEMALE],
        quadruples=tuple(quadruples),
        left_out=dict(sorted(left_out.items())),
    )


def _mates(rows: Sequence[Linked], by_id: Mapping[str, Linked], kind: str, left_out: Counter[str]) -> dict[str, str]:
    """Each sentence's one partner by the links of `kind`, both ways, in the order of the rows."""
    name = "twin" if kind == "pair" else "control"
    linked: dict[str, set[str]] = {}
    for row in rows:
        other = row.pair if kind == "pair" else row.control
        if other is None:
            continue
        if other not in by_id:
            left_out[f"{name} not among the sentences"] += 1
            continue
        if other == row.id:
            left_out[f"{name} is the sentence itself"] += 1
            continue
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


def _once(mates: Mapping[str, str]) -> list[tuple[str, str]]:
    """Each pair once, the earlier sentence first."""
    seen: set[str] = set()
    pairs = []
    for a, b in mates.items():
        if a not in seen:
            pairs.append((a, b))
            seen |= {a, b}
    return pairs


def count_consistency(units: Units, rows: Sequence[Linked], calls: Iterable[GenderCall]) -> Counts:
    """The additive table ``[CELLS]`` of one system; tables of two corpora add up.

    Raises:
        DataError: a sentence of a unit has no call.
    """
    return np.bincount(unit_cells(units, rows, calls), minlength=CELLS).astype(np.int64, copy=False)


def unit_cells(units: Units, rows: Sequence[Linked], calls: Iterable[GenderCall]) -> Counts:
    """The cell of each unit: pairs, men, women, quadruples, in their order."""
    gold = {row.id: row.gold for row in rows}
    called = {call.id: call.gender for call in calls}

    def status(id_: str) -> int:
        if id_ not in called:
            raise DataError(f"expected a call for each sentence, got none for {id_!r}")
        call = called[id_]
        return NO_VERDICT if call is None else (RIGHT if call is gold[id_] else WRONG)

    cells = []
    for start, kind in (
        (PAIR, units.pairs),
        (MEN, units.men),
        (WOMEN, units.women),
        (QUADRUPLE, units.quadruples),
    ):
        for unit in kind:
            number = 0
            for id_ in unit:
                number = 3 * number + status(id_)
            cells.append(start + number)
    return np.array(cells, dtype=np.int64)
