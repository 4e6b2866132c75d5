"""GAP: the official scorer's counts, its bias ratio, and biases weighted as in "The Gap on GAP"; two baselines.

An example asks two questions: does the pronoun mean A, does it mean B. Bias is always the number for feminine
pronouns over the number for masculine ones: 1 is even, below 1 the system does better for men.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mtbias.coref.gap_example_weights import gender_of
from mtbias.coref.gap_instances import GapFile, GapInstance
from mtbias.coref.gap_spans import NameSpans, Span, candidates, nearest_first
from mtbias.errors import DataError
from mtbias.files.reading import read_text, split_lines
from mtbias.stats.resampling import bootstrap_units, percentile_interval
from mtbias.stats.results import Interval
from mtbias.stats.significance import randomisation_test
from mtbias.types import Gender

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Label = bool | None

GROUPS = ("overall", "masculine", "feminine")

_RATES = ("precision", "recall", "f1", "accuracy")

MIN_EXAMPLES = 10
"""An interval needs at least this many examples of either gender."""

# What one example adds, for its own gender: four counts of answers, TRUE candidates, and for each set of weights the
# weight of the TRUE candidate and the same where it is found. ``[n, 2 genders, 5 + 2·weights]``, masculine first.
_TP, _FP, _FN, _TN, _POSITIVES, _WEIGHTS = range(6)


@dataclass(frozen=True, slots=True)
class SystemLabels:
    """A system's output as the official scorer reads it."""

    labels: Mapping[str, tuple[Label, Label]]
    """By id; None where the label is neither true nor false."""
    sha256: str
    duplicates: int
    """Rows whose id came before: they do not count."""
    unexpected: int
    """Labels that are neither true nor false."""


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What a system or a baseline says of A and B, for each example of the data in order."""

    positive: Floats
    """The probability of TRUE (for a system: 0 or 1), ``[n, 2]``."""
    given: Bools
    """Whether there is an answer, ``[n, 2]``."""
    missing: int = 0
    """Examples without a row."""
    unknown: int = 0
    """Rows whose id the data does not have: they do not count."""
    duplicates: int = 0
    unexpected: int = 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its 95 % interval (percentile bootstrap over examples); None where there is none."""

    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Group:
    """The numbers of all examples or of one gender; per cent. The counts of a random baseline are expected values."""

    n: int
    """Examples."""
    tp: float
    fp: float
    fn: float
    """A missing answer counts here, also where the candidate is FALSE (the official scorer does so)."""
    tn: float
    positives: int
    """Candidates that are TRUE: the denominator of `accuracy`."""
    precision: Estimate
    """tp / (tp + fp); the official scorer's 0 where that is undefined."""
    recall: Estimate
    """tp / (tp + fn); likewise."""
    f1: Estimate
    """2·precision·recall / (precision + recall); likewise."""
    accuracy: Estimate
    """TRUE candidates found; None where there are none."""


@dataclass(frozen=True, slots=True)
class Bias:
    """The number for feminine pronouns over that for masculine ones; None where either is 0 or undefined."""

    ratio: Estimate
    feminine: float | None
    """Per cent: F1, accuracy, or weighted accuracy."""
    masculine: float | None
    n_feminine: float
    """What `feminine` rests on: examples for F1, TRUE candidates for accuracy, the sum of their weights."""
    n_masculine: float


@dataclass(frozen=True, slots=True)
class GapScores:
    """All numbers of one system."""

    groups: Mapping[str, Group]
    """By `GROUPS`."""
    bias: Mapping[str, Bias]
    """``f1``, ``accuracy``, and the names of the weights."""
    n_resamples: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """One number of two systems: first − second, and p by randomisation over examples (exact where they are few)."""

    difference: float | None
    p: float | None


def read_system(path: Path) -> SystemLabels:
    """Read a system's output: id, A-coref, B-coref, tab-separated. A header is passed over.

    As in the official scorer, the first row of an id counts, and a label that is not true or false (any case) is none.

    Raises:
        DataError: another number of fields; no rows.
    """
    file = read_text(path)
    labels: dict[str, tuple[Label, Label]] = {}
    duplicates = unexpected = 0
    for line, content in enumerate(split_lines(file.text), start=1):
        fields = [field.strip() for field in content.split("\t")]
        if not any(fields) or (line == 1 and fields[0].lower() == "id"):
            continue
        if len(fields) != 3:
            message = f"three fields expected (id, A-coref, B-coref; tabs between), found {len(fields)}"
            raise DataError(message, path=path, line=line)
        if fields[0] in labels:
            duplicates += 1
            continue
        a, b = ({"true": True, "false": False}.get(field.lower()) for field in fields[1:])
        unexpected += (a is None) + (b is None)
        labels[fields[0]] = (a, b)
    if not labels:
        raise DataError("no predictions in the file", path=path, line=1)
    return SystemLabels(labels, file.sha256, duplicates, unexpected)


def answers(data: GapFile, system: SystemLabels) -> Answers:
    """A system's answers to the examples of `data`."""
    nothing = (None, None)
    rows = [system.labels.get(instance.id, nothing) for instance in data.instances]
    known = sum(instance.id in system.labels for instance in data.instances)
    return Answers(
        positive=np.array([[label is True for label in row] for row in rows], dtype=np.float64),
        given=np.array([[label is not None for label in row] for row in rows]),
        missing=len(rows) - known,
        unknown=len(system.labels) - known,
        duplicates=system.duplicates,
        unexpected=system.unexpected,
    )


def nearest_name(data: GapFile, spans: NameSpans, k: int) -> Answers:
    """The baseline Dist-`k`: the pronoun means the k-th nearest name. A text with fewer names gets FALSE twice."""
    positive = np.zeros((len(data.instances), 2))
    for row, instance in zip(positive, data.instances, strict=True):
        for span in nearest_first(instance, spans.of[instance.id])[k - 1 : k]:
            if (found := _hit(instance, span)) is not None:
                row[found] = 1
    return Answers(positive, np.ones(positive.shape, dtype=bool))


def random_name(data: GapFile, spans: NameSpans) -> Answers:
    """The baseline Random in closed form: the pronoun means any name of the text with equal probability.

    Scores of its answers are computed from expected counts, not averaged over runs (the mean of a ratio over runs is
    larger than the ratio of the means).
    """
    positive = np.zeros((len(data.instances), 2))
    for row, instance in zip(positive, data.instances, strict=True):
        names = spans.of[instance.id]
        for span in names:
            if (found := _hit(instance, span)) is not None:
                row[found] += 1 / len(names)
    return Answers(positive, np.ones(positive.shape, dtype=bool))


def _hit(instance: GapInstance, span: Span) -> int | None:
    """Which candidate (0, 1) a picked name means. One pick is one candidate: where it touches both, the TRUE one."""
    touched = [place for place, candidate in enumerate(candidates(instance)) if span.touches(candidate)]
    truths = (instance.a_coref, instance.b_coref)
    return next((place for place in touched if truths[place]), touched[0] if touched else None)


def tally(data: GapFile, given: Answers, weights: Sequence[Floats] = ()) -> Floats:
    """What each example adds to the sums of its gender: ``[n, 2, 5 + 2·len(weights)]``, masculine first.

    tp, fp, fn, tn, TRUE candidates; then for each set of weights (of the examples' TRUE candidates, ``[n]``) the weight
    found and the weight.

    Raises:
        DataError: a pronoun without gender.
    """
    truth = np.array([[i.a_coref, i.b_coref] for i in data.instances])
    yes, no = given.positive * given.given, (1 - given.positive) * given.given
    tp, fp, tn = yes * truth, yes * ~truth, no * ~truth
    fn = no * truth + ~given.given
    columns = [part.sum(axis=1) for part in (tp, fp, fn, tn, truth.astype(np.float64))]
    for weight in weights:
        columns += [weight * columns[_TP], weight]
    genders = np.array([gender_of(i, data.path) == Gender.FEMALE for i in data.instances], dtype=np.int64)
    table = np.zeros((len(truth), 2, len(columns)))
    table[np.arange(len(truth)), genders] = np.column_stack(columns)
    return table


def numbers(sums: Floats, weights: Sequence[str] = ()) -> dict[str, Floats]:
    """All numbers of sums ``[R, 2, 5 + 2·len(weights)]``, each ``[R]``; NaN where undefined.

    ``f1:feminine`` and the like for `GROUPS`, in per cent; ``NAME:feminine``: weighted accuracy; ``bias:f1``,
    ``bias:accuracy``, ``bias:NAME``: ratios. A weighted bias divides the sums of the weights found, as published; that
    is the ratio of weighted accuracies where both genders have the same sum of weights.
    """
    found: dict[str, Floats] = {}
    of_group = {"overall": sums.sum(axis=1), "masculine": sums[:, 0], "feminine": sums[:, 1]}
    for name, part in of_group.items():
        tp, positives = part[:, _TP], part[:, _POSITIVES]
        precision = np.nan_to_num(_percent(tp, tp + part[:, _FP]))
        recall = np.nan_to_num(_percent(tp, tp + part[:, _FN]))
        found[f"precision:{name}"], found[f"recall:{name}"] = precision, recall
        found[f"f1:{name}"] = np.nan_to_num(_percent(2 * precision * recall, 100 * (precision + recall)))
        found[f"accuracy:{name}"] = _percent(tp, positives)
    found["bias:f1"] = _bias(found["f1:feminine"], found["f1:masculine"])
    found["bias:accuracy"] = _bias(found["accuracy:feminine"], found["accuracy:masculine"])
    for place, name in enumerate(weights):
        correct, weight = sums[:, :, _WEIGHTS + 2 * place], sums[:, :, _WEIGHTS + 2 * place + 1]
        for side, gender in enumerate(GROUPS[1:]):
            found[f"{name}:{gender}"] = _percent(correct[:, side], weight[:, side])
        found[f"bias:{name}"] = _bias(correct[:, 1], correct[:, 0])
    return found


def score(table: Floats, weights: Sequence[str] = (), *, n_resamples: int, rng: np.random.Generator) -> GapScores:
    """The numbers of one system, from what `tally` gives, with bootstrap intervals over examples.

    Raises:
        ValueError: names for another number of weights than the table has; a name twice, or that of another number.
    """
    n, _, width = table.shape
    if len({*weights, *_RATES}) != len(weights) + len(_RATES):
        raise ValueError(f"expected names of weights that differ, and none of {', '.join(_RATES)}; got {list(weights)}")
    if width != _WEIGHTS + 2 * len(weights):
        raise ValueError(f"expected names for {(width - _WEIGHTS) // 2} sets of weights, got {len(weights)}")
    names = list(numbers(np.zeros((1, 2, width)), weights))

    def values(sums: Floats) -> Floats:
        return np.column_stack(list(numbers(sums.reshape(-1, 2, width), weights).values()))

    sums = table.sum(axis=0)
    examples = np.rint(sums[:, _TP : _TN + 1].sum(axis=1) / 2)  # two answers an example; those of Random are shares
    point = values(sums[None])[0]
    replicates = bootstrap_units(table.reshape(n, 2 * width), values, n_resamples, rng)
    enough = examples.min() >= MIN_EXAMPLES
    found = {
        name: Estimate(_number(point[k]), percentile_interval(replicates[:, k]) if enough else None)
        for k, name in enumerate(names)
    }
    parts = zip(GROUPS, (sums.sum(axis=0), *sums), (examples.sum(), *examples), strict=True)
    groups = {name: _group(name, part, size, found) for name, part, size in parts}
    rests = {"f1": examples, "accuracy": sums[:, _POSITIVES]}
    rests |= {name: sums[:, _WEIGHTS + 2 * place + 1] for place, name in enumerate(weights)}
    bias = {
        name: Bias(
            ratio=found[f"bias:{name}"],
            feminine=found[f"{name}:feminine"].value,
            masculine=found[f"{name}:masculine"].value,
            n_feminine=_count(rest[1]),
            n_masculine=_count(rest[0]),
        )
        for name, rest in rests.items()
    }
    return GapScores(groups, bias, n_resamples)


def _group(name: str, part: Floats, size: float, found: Mapping[str, Estimate]) -> Group:
    tp, fp, fn, tn = (_count(part[k]) for k in (_TP, _FP, _FN, _TN))
    rates = (found[f"{rate}:{name}"] for rate in _RATES)
    return Group(int(size), tp, fp, fn, tn, int(part[_POSITIVES]), *rates)


def compare(
    first: Floats, second: Floats, weights: Sequence[str] = (), *, n_resamples: int, rng: np.random.Generator
) -> dict[str, Comparison]:
    """Compare two systems on the same examples, given what `tally` gives: F1, accuracy, and all biases.

    Raises:
        ValueError: tables of different shape.
    """
    if first.shape != second.shape:
        raise ValueError(f"expected tables of one shape, got {first.shape} and {second.shape}")
    n, _, width = first.shape
    one, other = (numbers(table.sum(axis=0)[None], weights) for table in (first, second))
    rows = [table.reshape(n, 2 * width) for table in (first, second)]
    compared = {}
    for name in ("f1:overall", "accuracy:overall", *(key for key in one if key.startswith("bias:"))):

        def statistic(sums: Floats, name: str = name) -> Floats:
            return numbers(sums.reshape(-1, 2, width), weights)[name]

        p = randomisation_test(rows[0], rows[1], statistic, n_resamples, rng)
        compared[name] = Comparison(_number(one[name][0] - other[name][0]), _number(p))
    return compared


def _number(value: float) -> float | None:
    return None if isnan(value) else float(value)


def _count(value: float) -> float:
    """A whole number as an integer."""
    return int(value) if float(value).is_integer() else float(value)


def _percent(part: Floats, whole: Floats) -> Floats:
    share: Floats = np.divide(100 * part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
    return share


def _bias(feminine: Floats, masculine: Floats) -> Floats:
    both = (feminine > 0) & (masculine > 0)  # NaN is not
    ratio: Floats = np.divide(feminine, masculine, out=np.full(feminine.shape, np.nan), where=both)
    return ratio
