"""GAP: the official scorer's counts, its bias ratio, and biases weighted as in "The Gap on GAP"; two baselines.

An example asks two questions: does the pronoun mean A, does it mean B. Bias is always the number for feminine
pronouns over the number for masculine ones: 1 is even, below 1 the system does better for men.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtbias.coref.gap_instances import GapFile, GapInstance, Labels, SystemLabels, gender_of
from mtbias.coref.gap_spans import NameSpans, nearest_first, touch
from mtbias.coref.paired_systems import NumberUnits
from mtbias.errors import DataError
from mtbias.stats.resampling import bootstrap_units, estimate
from mtbias.stats.results import Estimate, Floats, enough, percent
from mtbias.types import Gender, Span

GROUPS = ("overall", "masculine", "feminine")

LEFT_OUT = {
    "missing": "examples without an answer (each counts as two false negatives)",
    "unexpected": "labels that are neither true nor false (false negatives)",
    "duplicates": "rows whose id came before (passed over)",
    "unknown": "rows whose id is not in the data (passed over)",
}
"""What a system's output may lack or have too much, for people."""

_COUNTS = ("tp", "fp", "fn", "tn", "positives")
_RATES = ("precision", "recall", "f1", "accuracy")

# The columns of what `tally` gives.
_TP, _FP, _FN, _TN, _POSITIVES, _WEIGHTS = range(6)


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What a system or a baseline says of A and B, for each example of the data in order."""

    positive: Floats
    """The probability of TRUE (for a system: 0 or 1), ``[n, 2]``."""
    given: NDArray[np.bool_]
    """Whether there is an answer, ``[n, 2]``."""
    left_out: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(LEFT_OUT, 0))
    """How many of each of `LEFT_OUT`."""


@dataclass(frozen=True, slots=True)
class GapScores:
    """All numbers of one system."""

    counts: Mapping[str, Mapping[str, float]]
    """By `GROUPS`: ``n`` examples, ``tp``, ``fp``, ``fn``, ``tn``, and the ``positives``, candidates that are TRUE.

    A missing answer counts as ``fn``, also where the candidate is FALSE (the official scorer does so). The counts of a
    random baseline are expected values.
    """
    numbers: Mapping[str, Estimate]
    """As `numbers` names them; intervals are percentile bootstraps over examples. `n` of either gender is examples for
    F1, TRUE candidates for accuracy, the sum of their weights."""
    biases: tuple[str, ...]
    """``f1``, ``accuracy``, and the names of the weights."""

    def to_json(self) -> dict[str, Any]:
        """Plain values, numbers unrounded."""

        def plain(name: str) -> dict[str, Any]:
            return {"value": self.numbers[name].value, "interval": self.numbers[name].interval}

        groups = {
            group: {**counts, **{rate: plain(f"{rate}:{group}") for rate in _RATES}}
            for group, counts in self.counts.items()
        }
        bias = {
            name: {
                "ratio": plain(f"bias:{name}"),
                **{gender: self.numbers[f"{name}:{gender}"].value for gender in ("feminine", "masculine")},
                **{f"n_{gender}": self.numbers[f"{name}:{gender}"].n for gender in ("feminine", "masculine")},
            }
            for name in self.biases
        }
        return {"groups": groups, "bias": bias}


def answers(data: GapFile, system: SystemLabels) -> Answers:
    """A system's answers to the examples of `data`; `system` as the official scorer reads it.

    Raises:
        DataError: none of its ids is one of the data's: the answers are to other questions.
    """
    rows = [system.of.get(instance.id, Labels(None, None)) for instance in data.instances]
    known = sum(instance.id in system.of for instance in data.instances)
    if not known:
        ours, theirs = data.instances[0].id, next(iter(system.of))
        raise DataError(
            f"expected ids of {data.path} such as {ours!r}, got {len(system.of)} ids of which it has none, such as "
            f"{theirs!r}; give the system's output for this file",
            path=system.path,
        )
    return Answers(
        positive=np.array([[label is True for label in row] for row in rows], dtype=np.float64),
        given=np.array([[label is not None for label in row] for row in rows]),
        left_out={
            "missing": len(rows) - known,
            "unexpected": system.unexpected,
            "duplicates": system.duplicates,
            "unknown": len(system.of) - known,
        },
    )


def nearest_name(data: GapFile, spans: NameSpans, k: int) -> Answers:
    """The baseline Dist-`k`: the pronoun means the k-th nearest name. A text with fewer names gets FALSE twice."""
    return _picking(data, lambda instance: nearest_first(instance, spans.of[instance.id])[k - 1 : k])


def random_name(data: GapFile, spans: NameSpans) -> Answers:
    """The baseline Random in closed form: the pronoun means any name of the text with equal probability.

    Scores of its answers are computed from expected counts, not averaged over runs (the mean of a ratio over runs is
    larger than the ratio of the means).
    """
    return _picking(data, lambda instance: spans.of[instance.id])


def _picking(data: GapFile, choose: Callable[[GapInstance], Sequence[Span]]) -> Answers:
    """Answers of a system that picks one of the names that `choose` gives, with equal probability."""
    positive = np.zeros((len(data.instances), 2))
    for row, instance in zip(positive, data.instances, strict=True):
        names = choose(instance)
        for span in names:
            if (found := _hit(instance, span)) is not None:
                row[found] += 1 / len(names)
    return Answers(positive, np.ones(positive.shape, dtype=bool))


def _hit(instance: GapInstance, span: Span) -> int | None:
    """Which candidate (0, 1) a picked name means. One pick is one candidate: where it touches both, the TRUE one."""
    touched = [place for place, candidate in enumerate(instance.candidates) if touch(span, candidate)]
    return next((place for place in touched if instance.gold[place]), touched[0] if touched else None)


def tally(data: GapFile, given: Answers, weights: Sequence[Floats] = ()) -> Floats:
    """What each example adds to the sums of its gender: ``[n, 2, 5 + 2·len(weights)]``, masculine first.

    tp, fp, fn, tn, TRUE candidates; then for each set of weights (of the examples' TRUE candidates, ``[n]``) the weight
    found and the weight.

    Raises:
        DataError: a pronoun without gender.
    """
    truth = np.array([instance.gold for instance in data.instances])
    yes, no = given.positive * given.given, (1 - given.positive) * given.given
    tp, fp, tn = yes * truth, yes * ~truth, no * ~truth
    # For the official scorer whatever is neither true nor false was not found, even where there is nothing to find. We
    # count it so too, since F1 is compared with numbers that were published with that scorer.
    fn = no * truth + ~given.given
    columns = [part.sum(axis=1) for part in (tp, fp, fn, tn, truth.astype(np.float64))]
    for weight in weights:
        columns += [weight * columns[_TP], weight]
    genders = np.array([gender_of(i, data.path) is Gender.FEMALE for i in data.instances], dtype=np.int64)
    table = np.zeros((len(truth), 2, len(columns)))
    table[np.arange(len(truth)), genders] = np.column_stack(columns)
    return table


def numbers(sums: Floats, weights: Sequence[str] = ()) -> dict[str, Floats]:
    """All numbers of sums ``[R, 2, 5 + 2·len(weights)]``, each ``[R]``; NaN where undefined.

    In per cent, ``precision:feminine`` and the like for `GROUPS`: precision tp / (tp + fp), recall tp / (tp + fn), F1
    their harmonic mean (each the official scorer's 0 where that is undefined), accuracy the share of TRUE candidates
    that are found; ``NAME:feminine``: weighted accuracy. ``bias:f1``, ``bias:accuracy``, ``bias:NAME``: ratios, NaN
    where either side is 0 or undefined. A weighted bias divides the sums of the weights found, as published; that
    is the ratio of weighted accuracies where both genders have the same sum of weights.
    """
    found: dict[str, Floats] = {}
    of_group = {"overall": sums.sum(axis=1), "masculine": sums[:, 0], "feminine": sums[:, 1]}
    for name, part in of_group.items():
        tp = part[:, _TP]
        # 0 where the denominator is 0, since F1 needs both.
        precision = np.nan_to_num(percent(tp, tp + part[:, _FP]))
        recall = np.nan_to_num(percent(tp, tp + part[:, _FN]))
        found[f"precision:{name}"], found[f"recall:{name}"] = precision, recall
        found[f"f1:{name}"] = np.nan_to_num(percent(2 * precision * recall, 100 * (precision + recall)))
        found[f"accuracy:{name}"] = percent(tp, part[:, _POSITIVES])
    found["bias:f1"] = _bias(found["f1:feminine"], found["f1:masculine"])
    found["bias:accuracy"] = _bias(found["accuracy:feminine"], found["accuracy:masculine"])
    for place, name in enumerate(weights):
        correct, weight = sums[:, :, _WEIGHTS + 2 * place], sums[:, :, _WEIGHTS + 2 * place + 1]
        for side, gender in enumerate(GROUPS[1:]):
            found[f"{name}:{gender}"] = percent(correct[:, side], weight[:, side])
        found[f"bias:{name}"] = _bias(correct[:, 1], correct[:, 0])
    return found


def score(table: Floats, weights: Sequence[str] = (), *, n_resamples: int, rng: np.random.Generator) -> GapScores:
    """The numbers of one system, from what `tally` gives, with bootstrap intervals over examples.

    Edge cases: no intervals where either gender has fewer than `MIN_ROWS` examples.

    Raises:
        ValueError: names for another number of weights than the table has; a name twice, or that of another number.
    """
    n, _, width = table.shape
    if len({*weights, *_RATES}) != len(weights) + len(_RATES):
        raise ValueError(f"expected names of weights that differ, and none of {', '.join(_RATES)}; got {list(weights)}")
    if width != _WEIGHTS + 2 * len(weights):
        raise ValueError(f"expected names for {(width - _WEIGHTS) // 2} sets of weights, got {len(weights)}")
    sums = table.sum(axis=0)
    examples = np.rint(sums[:, _TP : _TN + 1].sum(axis=1) / 2)  # two answers an example; those of Random are shares
    rests = {"f1": examples, "accuracy": sums[:, _POSITIVES]}
    rests |= {name: sums[:, _WEIGHTS + 2 * place + 1] for place, name in enumerate(weights)}
    found = estimate(
        sums.reshape(1, -1),
        lambda resamples: numbers(resamples.reshape(-1, 2, width), weights),
        partial(bootstrap_units, table.reshape(n, -1), n_resamples=n_resamples, rng=rng),
        n={f"{name}:{of}": _count(rest[side]) for name, rest in rests.items() for side, of in enumerate(GROUPS[1:])},
        intervals=None if enough(int(examples.min())) else (),
    )
    return GapScores(
        counts={
            name: {"n": int(size), **dict(zip(_COUNTS, map(_count, part[:_WEIGHTS]), strict=True))}
            for name, part, size in zip(GROUPS, (sums.sum(axis=0), *sums), (examples.sum(), *examples), strict=True)
        },
        numbers=found,
        biases=tuple(rests),
    )


def gap_units(data: GapFile, table: Floats, weights: Sequence[str] = ()) -> NumberUnits:
    """What a system's F1, accuracy and biases rest on, given what `tally` gives; a unit is an example."""
    n, _, width = table.shape
    compared = ["f1:overall", "accuracy:overall", *(f"bias:{name}" for name in ("f1", "accuracy", *weights))]

    def of_sums(sums: Floats) -> dict[str, Floats]:
        found = numbers(sums.reshape(-1, 2, width), weights)
        return {name: found[name] for name in compared}

    return NumberUnits(table.reshape(n, -1), tuple(instance.id for instance in data.instances), of_sums)


def _count(value: float) -> float:
    """A whole number as an integer."""
    return int(value) if float(value).is_integer() else float(value)


def _bias(feminine: Floats, masculine: Floats) -> Floats:
    both = (feminine > 0) & (masculine > 0)  # NaN is not
    ratio: Floats = np.divide(feminine, masculine, out=np.full(feminine.shape, np.nan), where=both)
    return ratio
