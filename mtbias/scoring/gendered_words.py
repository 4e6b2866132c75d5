"""Words that only one gender's reference has: counts of what translations hold of them, and the numbers that follow.

As the authors of MT-GenEval define it, a translation is wrong if it holds a word of the other gender's reference that
its own reference lacks, and right otherwise: one without any of the words is right, too. `coverage` counts those that
show something.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtbias.scoring.counting import Counting, Counts, Units
from mtbias.scoring.definitions import Best, Number, Unit
from mtbias.stats.results import Floats, percent
from mtbias.types import Gender

GENDERS = (Gender.FEMALE, Gender.MALE)
PAIRS = ("right", "wrong", None)
"""Whether the sentence and its counterpart in the other gender are both right; None: there is no counterpart."""
OUTCOMES = ("right", "right without evidence", "wrong", "wrong without evidence", None)
"""Evidence is a word that only the right reference has. None: there is no translation."""
_RIGHT, _COVERED = [0, 1], [0, 2]

NUMBERS = (
    Number(
        key="coverage", label="Coverage", interval="wilson", headline=True, compared=True,
        about="Of all sentences, those whose translation has a word that only the right reference has.",
    ),
    Number(
        key="accuracy", label="Accuracy", interval="wilson", headline=True, compared=True,
        about="Of all sentences, those that are translated without a word that only the other gender's reference has.",
    ),
    Number(
        key="accuracy_feminine", label="Accuracy, feminine", short="feminine", rests_on=("feminine",),
        interval="wilson", headline=True, compared=True, about="The same, of sentences about women.",
    ),
    Number(
        key="accuracy_masculine", label="Accuracy, masculine", short="masculine", rests_on=("masculine",),
        interval="wilson", headline=True, compared=True, about="The same, of sentences about men.",
    ),
    Number(
        key="accuracy_pairs", label="Accuracy of pairs", short="pairs", rests_on=("pairs",), interval="wilson",
        headline=True, compared=True, about="Of all pairs, those of which both sentences are right.",
    ),
    Number(
        key="gender_gap", label="Gender gap", short="gap", unit=Unit.POINTS, best=Best.ZERO,
        rests_on=("masculine", "feminine"), interval="bootstrap", headline=True, compared=True,
        about="Accuracy of masculine sentences minus that of feminine ones.",
        above="masculine ones are translated better", below="feminine ones are translated better",
    ),
)  # fmt: skip


METRICS = {"bleu": "BLEU", "chrf": "chrF"}
"""Their names by key."""
GAPS = {"bleu": "quality_gap", "chrf": "chrf_gap"}
"""Keys of the differences."""

QUALITY = tuple(
    number
    for metric, name in METRICS.items()
    for number in (
        *(
            Number(
                key=f"{metric}_{gender}", label=f"{name}, {gender}", rests_on=(gender,), interval="bootstrap",
                headline=True, about=f"{name} of {gender} sentences against their references.",
            )
            for gender in ("feminine", "masculine")
        ),
        Number(
            key=GAPS[metric], label=f"Quality gap ({name})", short=f"{name} gap", unit=Unit.POINTS, best=Best.ZERO,
            rests_on=("masculine", "feminine"), interval="bootstrap", headline=True,
            about=f"{name} of masculine sentences minus that of feminine ones; its interval is over pairs.",
            above="masculine sentences are translated better", below="feminine sentences are translated better",
        ),
    )
)  # fmt: skip
"""Of all sentences, where sacrebleu is installed (`mtbias.scoring.translation_quality`)."""


SCORES = (
    *(
        Number(
            key=f"score_{gender}", label=f"Given score, {gender}", unit=Unit.OWN, decimals=3, best=Best.OPEN,
            rests_on=(gender,), interval="bootstrap", headline=True,
            about=f"Mean of the scores that were given for {gender} sentences, on their own scale.",
        )
        for gender in ("feminine", "masculine")
    ),
    Number(
        key="score_gap", label="Gap of the given score", short="score gap", unit=Unit.OWN, decimals=3,
        best=Best.ZERO, rests_on=("masculine", "feminine"), interval="bootstrap", headline=True,
        about="Mean of masculine sentences minus that of feminine ones; its interval is over pairs.",
        above="masculine sentences have the higher scores", below="feminine sentences have the higher scores",
    ),
)  # fmt: skip
"""Of all sentences, where the user gives scores (`mtbias.scoring.given_scores`)."""


def unique_words(right: Collection[str], other: Collection[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The words of the right reference that the other lacks, and those of the other that the right one lacks."""
    return frozenset(right) - frozenset(other), frozenset(other) - frozenset(right)


def _place(record: Any) -> tuple[int, int, int]:  # noqa: ANN401 - a record of the measure
    pair = None if record.pair_correct is None else "right" if record.pair_correct else "wrong"
    outcome = None
    if record.correct is not None:
        outcome = ("right" if record.correct else "wrong") + ("" if record.evidence.right else " without evidence")
    return GENDERS.index(record.gender), PAIRS.index(pair), OUTCOMES.index(outcome)


def _rates(tables: NDArray[Any]) -> dict[str, Floats]:
    by_gender = tables.sum(axis=-2)
    right, rows = by_gender[..., _RIGHT].sum(axis=-1), by_gender.sum(axis=-1)
    feminine, masculine = np.moveaxis(percent(right, rows), -1, 0)
    by_pair = tables.sum(axis=(-3, -1))
    return {
        "coverage": percent(by_gender[..., _COVERED].sum(axis=(-1, -2)), rows.sum(axis=-1)),
        "accuracy": percent(right.sum(axis=-1), rows.sum(axis=-1)),
        "accuracy_feminine": feminine,
        "accuracy_masculine": masculine,
        # A pair is two rows of the table: twice in the part and in the whole.
        "accuracy_pairs": percent(by_pair[..., 0], by_pair[..., :2].sum(axis=-1)),
        "gender_gap": masculine - feminine,
    }


def _classes(table: Counts) -> dict[str, int]:
    feminine, masculine = (int(rows.sum()) for rows in table)
    return {
        "n": feminine + masculine,
        "translated": int(table[..., :-1].sum()),
        "feminine": feminine,
        "masculine": masculine,
        "pairs": int(table[:, :2].sum()) // 2,
    }


_Pair = tuple[Any | None, Any | None]
"""The records of a feminine sentence and of its masculine counterpart; None where the corpus lacks it."""


def _pairs(records: Sequence[Any]) -> list[_Pair]:
    by_id = {record.id: record for record in records}
    found: list[_Pair] = []
    seen: set[str] = set()
    for record in records:
        if record.id in seen:
            continue
        both = {each.gender: each for each in (record, by_id.get(record.pair)) if each is not None}
        seen.update(each.id for each in both.values())
        found.append((both.get(GENDERS[0]), both.get(GENDERS[1])))
    return found


_SIDES = ("both", "feminine", "masculine")
"""Which sentences of a pair the corpus has."""
_PAIR_OUTCOMES = tuple(product(range(len(OUTCOMES)), repeat=2))


def _pair_place(pair: _Pair) -> tuple[int, int]:
    feminine, masculine = pair
    side = "both" if feminine is not None and masculine is not None else "masculine" if feminine is None else "feminine"
    outcomes = tuple(len(OUTCOMES) - 1 if record is None else _place(record)[-1] for record in pair)
    return _SIDES.index(side), _PAIR_OUTCOMES.index(outcomes)


def _sentences_of_pairs() -> NDArray[np.float64]:
    """What a unit of each cell adds to the table of sentences: ``[3 · 25, 2 · 3 · 5]``."""
    adds = np.zeros((len(_SIDES), len(_PAIR_OUTCOMES), len(GENDERS), len(PAIRS), len(OUTCOMES)))
    for side, name in enumerate(_SIDES):
        for n, outcomes in enumerate(_PAIR_OUTCOMES):
            pair = PAIRS.index(None if name != "both" else "right" if set(outcomes) <= set(_RIGHT) else "wrong")
            for gender, outcome in enumerate(outcomes):
                if name in {"both", _SIDES[1 + gender]}:
                    adds[side, n, gender, pair, outcome] = 1
    return adds.reshape(len(_SIDES) * len(_PAIR_OUTCOMES), -1)


_ADDS = _sentences_of_pairs()


def _of_sentences(tables: NDArray[Any]) -> NDArray[Any]:
    """The tables of sentences of tables of pairs."""
    added = tables.reshape(*tables.shape[:-2], -1) @ _ADDS
    return added.reshape(*tables.shape[:-2], len(GENDERS), len(PAIRS), len(OUTCOMES))


_PAIR_COUNTING = Counting(
    numbers=NUMBERS,
    axes={
        "sentences": _SIDES,
        "outcome": tuple(" / ".join(str(OUTCOMES[n] or "none") for n in pair) for pair in _PAIR_OUTCOMES),
    },
    place=_pair_place,
    rates=lambda tables: _rates(_of_sentences(tables)),
    classes=lambda table: _classes(np.rint(_of_sentences(table)).astype(np.int64)),
    right=np.array(
        [
            [all(n in _RIGHT for gender, n in enumerate(pair) if name in {"both", _SIDES[1 + gender]})
             for pair in _PAIR_OUTCOMES]
            for name in _SIDES
        ]
    ),
    breakdowns={},
)  # fmt: skip


COUNTING = Counting(
    numbers=NUMBERS,
    axes={"gender": tuple(gender.value for gender in GENDERS), "pair": PAIRS, "outcome": OUTCOMES},
    place=_place,
    rates=_rates,
    classes=_classes,
    right=np.broadcast_to(np.array([True, True, False, False, False]), (len(GENDERS), len(PAIRS), len(OUTCOMES))),
    breakdowns={},
    shown=("gender",),
    given=1,
    units=Units("pairs", _pairs, _PAIR_COUNTING),
    beside=(*QUALITY, *SCORES),
)
"""MT-GenEval's counterfactual sentences."""
