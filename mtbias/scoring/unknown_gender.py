"""Sentences that show no gender: in which one a translation puts the entity, as shares instead of an accuracy.

No call is right or wrong here, and none of these sentences enters accuracy, ΔG or ΔS.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtbias.scoring.counting import Counting, Counts
from mtbias.scoring.definitions import Best, Number, Unit
from mtbias.stats.results import Floats, percent
from mtbias.types import Gender, GenderCall

RENDERINGS: tuple[str | None, ...] = (Gender.MALE.value, Gender.FEMALE.value, Gender.NEUTRAL.value, "both forms", None)
"""How a translation can render the entity; None: no call."""
_MALE, _FEMALE, _NEUTRAL, _BOTH, _NO_CALL = range(5)

NUMBERS = (
    Number(
        key="decided_percent", label="With a call", short="called", coverage=True, interval="wilson", remark=True,
        about="Sentences whose translation shows one.",
    ),
    Number(
        key="masculine", label="Masculine", short="masculine", rests_on=("decided",), interval="wilson",
        best=Best.OPEN, headline=True, listed=True, compared=True,
        about="Of the sentences with a call, those with the masculine form, meant for all or not.",
        beside="of those with a call: {denominators[called_male]}",
        reading="of those with a call",
    ),
    Number(
        key="feminine", label="Feminine", short="feminine", rests_on=("decided",), interval="wilson",
        best=Best.OPEN, headline=True, listed=True, compared=True,
        about="Of the sentences with a call, those with the feminine form.",
        beside="{denominators[called_female]}",
        reading="of those with a call",
    ),
    Number(
        key="both_forms", label="Both forms", short="both forms", rests_on=("decided",), interval="wilson",
        best=Best.OPEN, headline=True, listed=True, compared=True,
        about="Of the sentences with a call, those that name both genders (Ärzte und Ärztinnen, Lehrer*in).",
        beside="{denominators[called_both]}",
        reading="of those with a call",
    ),
    Number(
        key="neutral", label="Neutral", short="neutral", rests_on=("decided",), interval="wilson",
        best=Best.OPEN, headline=True, listed=True, compared=True,
        about="Of the sentences with a call, those with a form of neither gender (niñes, ragazz*).",
        beside="{denominators[called_neutral]}; nouns that show no gender have no call",
        reading="of those with a call; nouns that show no gender have no call",
    ),
    Number(
        key="gap", label="Masculine - feminine", short="gap", unit=Unit.POINTS, rests_on=("decided",), best=Best.ZERO,
        interval="bootstrap", compared=True, about="Share of masculine minus share of feminine forms, in points.",
        beside="above 0: more masculine forms",
        above="more masculine forms", below="more feminine forms",
    ),
)  # fmt: skip
"""What every group of such sentences reports, in the order in which `metrics.json` has them."""


def rates(tables: NDArray[Any]) -> dict[str, Floats]:
    """The numbers of tables ``[..., 5]`` (`RENDERINGS`), each ``[...]``; per cent, NaN where nothing has a call.

    masculine = masculine calls / all calls, and so for the others; gap = masculine − feminine.
    """
    decided = tables[..., :_NO_CALL].sum(axis=-1)
    shares = {
        key: percent(tables[..., at], decided)
        for key, at in (("masculine", _MALE), ("feminine", _FEMALE), ("both_forms", _BOTH), ("neutral", _NEUTRAL))
    }
    whole = percent(decided, tables.sum(axis=-1))
    return {"decided_percent": whole, **shares, "gap": shares["masculine"] - shares["feminine"]}


def _classes(table: Counts) -> Mapping[str, int]:
    male, female, neutral, both, none = table.tolist()
    decided = male + female + neutral + both
    called = {"called_male": male, "called_female": female, "called_neutral": neutral, "called_both": both}
    return {"n": decided + none, "decided": decided, **called}


def _place(call: GenderCall) -> tuple[int]:
    return (RENDERINGS.index("both forms" if call.both_forms else call.gender),)


UNKNOWN_GENDER = Counting(
    numbers=NUMBERS,
    axes={"rendering": RENDERINGS},
    place=lambda record: _place(record.call),
    rates=rates,
    classes=_classes,
    right=np.zeros(len(RENDERINGS), dtype=bool),
    breakdowns={"domain": lambda record: record.domain, "entity": lambda record: record.entity},
    entity=lambda record: record.entity,
    shown=("entity",),
)
"""Sentences whose gold gender is None."""
