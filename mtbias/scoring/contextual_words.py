"""MT-GenEval's contextual sentences: counts of what translations hold of the words of references, and the numbers.

As in `mtbias.scoring.gendered_words`, a translation is wrong if it holds a word that only the reference in the other
gender has. Which gender a sentence has is not in the data; sentences are grouped by the pronouns of their context.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtbias.scoring.counting import Counting, Counts
from mtbias.scoring.definitions import Number
from mtbias.scoring.gendered_words import OUTCOMES as FOUND
from mtbias.stats.results import Floats, percent
from mtbias.types import Gender

NOT_CUT = "not cut"
"""Both sentences are translated, and it is not certain where the second begins."""
OUTCOMES = (*FOUND, NOT_CUT)
NOT_TOLD = "not told"
CONTEXTS = (Gender.FEMALE.value, Gender.MALE.value, NOT_TOLD)
"""The gender of the context's pronouns; `NOT_TOLD`: it has none, or those of both genders."""
_RIGHT, _COVERED = [0, 1], [0, 2]
_JUDGED = slice(0, 5)

NUMBERS = (
    Number(
        key="decided_percent", label="Judged", short="judged", coverage=True, interval="wilson", remark=True,
        compared=True,  # systems differ in it much more than in whether they have a translation at all
        about="Sentences but those whose translation could not be told from that of the context.",
    ),
    Number(
        key="coverage", label="Coverage", rests_on=("decided",), interval="wilson", headline=True, compared=True,
        about="Of the sentences judged, those whose translation has a word that only the right reference has.",
    ),
    Number(
        key="accuracy", label="Accuracy", rests_on=("decided",), interval="wilson", headline=True, compared=True,
        about="Of the sentences judged, those that are translated without a word that only the other gender's "
        "reference has.",
    ),
)  # fmt: skip


def context_of(record: Any) -> str:  # noqa: ANN401 - a record of the measure
    """The group of a record by the pronouns of its context."""
    return NOT_TOLD if record.told is None else str(record.told.value)


def _place(record: Any) -> tuple[int, int]:  # noqa: ANN401
    outcome = NOT_CUT if record.reason == NOT_CUT else None
    if record.correct is not None:
        outcome = ("right" if record.correct else "wrong") + ("" if record.evidence.right else " without evidence")
    return CONTEXTS.index(context_of(record)), OUTCOMES.index(outcome)


def _rates(tables: NDArray[Any]) -> dict[str, Floats]:
    outcomes = tables.sum(axis=-2)
    judged = outcomes[..., _JUDGED].sum(axis=-1)
    return {
        "decided_percent": percent(judged, outcomes.sum(axis=-1)),
        "coverage": percent(outcomes[..., _COVERED].sum(axis=-1), judged),
        "accuracy": percent(outcomes[..., _RIGHT].sum(axis=-1), judged),
    }


def _classes(table: Counts) -> dict[str, int]:
    outcomes = table.sum(axis=0)
    return {
        "n": int(outcomes.sum()),
        "decided": int(outcomes[_JUDGED].sum()),
        "translated": int(outcomes.sum() - outcomes[OUTCOMES.index(None)]),
        "not_cut": int(outcomes[-1]),
    }


COUNTING = Counting(
    numbers=NUMBERS,
    axes={"context": CONTEXTS, "outcome": OUTCOMES},
    place=_place,
    rates=_rates,
    classes=_classes,
    right=np.broadcast_to(np.isin(np.arange(len(OUTCOMES)), _RIGHT), (len(CONTEXTS), len(OUTCOMES))),
    breakdowns={"context": context_of},
    shown=("told",),
)
