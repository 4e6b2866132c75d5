"""Sentences that show no gender: in which one a translation puts the entity, as shares instead of an accuracy.

No call is right or wrong here, and none of these sentences enters accuracy, ΔG or ΔS.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtbias.scoring.counting import Counting, Counts
from mtbias.scoring.definitions import declared
from mtbias.stats.results import Floats, percent
from mtbias.types import Gender

RENDERINGS: tuple[str | None, ...] = (Gender.MALE.value, Gender.FEMALE.value, Gender.NEUTRAL.value, "both forms", None)
"""How a translation can render the entity; None: no call."""

NUMBERS = declared("unknown_gender")
"""What every group of such sentences reports, in the order in which `metrics.json` has them."""


def rates(tables: NDArray[Any]) -> dict[str, Floats]:
    """The numbers of tables ``[..., 5]`` (`RENDERINGS`), each ``[...]``; per cent, NaN where nothing has a call.

    masculine = masculine calls / all calls, and so for the others; gap = masculine − feminine.
    """
    called = tables[..., :-1].sum(axis=-1)
    keys = ("masculine", "feminine", "neutral", "both_forms")  # in the order of `RENDERINGS`
    shares = {key: percent(tables[..., at], called) for at, key in enumerate(keys)}
    whole = percent(called, tables.sum(axis=-1))
    return {"decided_percent": whole, **shares, "gap": shares["masculine"] - shares["feminine"]}


def _classes(table: Counts) -> Mapping[str, int]:
    names = ("called_male", "called_female", "called_neutral", "called_both")
    called = dict(zip(names, table[:-1].tolist(), strict=True))
    return {"n": int(table.sum()), "decided": sum(called.values()), **called}


UNKNOWN_GENDER = Counting(
    numbers=NUMBERS,
    axes={"rendering": RENDERINGS},
    place=lambda record: (RENDERINGS.index("both forms" if record.call.both_forms else record.call.gender),),
    rates=rates,
    classes=_classes,
    right=np.zeros(len(RENDERINGS), dtype=bool),
    breakdowns={"domain": lambda record: record.domain, "entity": lambda record: record.entity},
    entity=lambda record: record.entity,
    shown=("entity",),
)
"""Sentences whose gold gender is None."""
