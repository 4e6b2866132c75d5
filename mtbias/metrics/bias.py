"""Computing: accuracy, F1 per gender, ΔG and ΔS from a table of counts.

Definitions follow Stanovsky et al. (2019) and Levy et al. (2021) as their programs compute them, not as the prose
has it, and without their rounding: all numbers are in per cent, unrounded, and None where a denominator is zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mtbias.metrics.call_counts import SHAPE, Counts
from mtbias.stats.resampling import bootstrap_counts, percentile_interval
from mtbias.stats.results import Interval

_MALE, _FEMALE, _NEUTRAL = range(3)
_PRO, _ANTI = range(2)
_NO_CALL = 3

Floats = NDArray[np.float64]

MIN_ROWS = 10
"""An interval needs at least this many rows in every class of rows that its number compares (`intervals`)."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of one table of counts. Per cent, unrounded; None where undefined."""

    n: int
    """All rows."""
    decided: int
    """Rows with a verdict."""
    n_male: int
    """Rows whose gold gender is male: the denominator of `recall_male`."""
    n_female: int
    n_neutral: int
    n_pro: int
    """Pro-stereotypical rows: the denominator of `accuracy_pro`."""
    n_anti: int
    called_male: int
    """Rows called male: the denominator of `precision_male`."""
    called_female: int
    decided_percent: float | None
    """decided / n."""
    accuracy: float | None
    """Correct rows / all rows: [0, 100], higher is better. No verdict is wrong; neutral gold counts."""
    accuracy_bounds: tuple[float | None, float | None]
    """Accuracy with failures as wrong (correct / n, which is `accuracy`), and left out (correct / decided)."""
    precision_male: float | None
    recall_male: float | None
    """A row without a verdict lowers recall only."""
    f1_male: float | None
    """2·TP / (2·TP + FP + FN): [0, 100]. None where no gold is male, as recall is."""
    precision_female: float | None
    recall_female: float | None
    f1_female: float | None
    delta_g: float | None
    """ΔG = `f1_male` − `f1_female`: [−100, 100], 0 is even, above 0 the system does better for men."""
    accuracy_pro: float | None
    accuracy_anti: float | None
    delta_s: float | None
    """ΔS = `accuracy_pro` − `accuracy_anti`: [−100, 100], above 0 the system does better where the stereotype fits."""
    delta_s_macro_f1: float | None
    """The same with the mean of male and female F1 instead of accuracy (not what the papers print)."""


class Intervals(NamedTuple):
    """95 % bootstrap intervals of the numbers of the same names, in per cent; None where there is none."""

    accuracy: Interval | None
    f1_male: Interval | None
    f1_female: Interval | None
    delta_g: Interval | None
    delta_s: Interval | None
    delta_s_macro_f1: Interval | None


@dataclass(frozen=True, slots=True)
class _Rates:
    """The rates that have intervals, of many tables at once; NaN where undefined."""

    accuracy: Floats
    f1: tuple[Floats, Floats]
    accuracy_pro: Floats
    accuracy_anti: Floats
    delta_s_macro_f1: Floats

    @property
    def delta_g(self) -> Floats:
        return self.f1[_MALE] - self.f1[_FEMALE]

    @property
    def delta_s(self) -> Floats:
        return self.accuracy_pro - self.accuracy_anti


def compute(counts: Counts) -> Numbers:
    """All numbers of a table of counts (`mtbias.metrics.call_counts`), shape ``[3, 3, 4]``.

    - accuracy = correct / n, with neutral gold rows in both, and rows without a verdict in n.
    - precision(g) = correct(g) / rows called g, over all golds, neutral too; recall(g) = correct(g) / rows of gold g.
    - F1(g) = 2·correct(g) / (rows called g + rows of gold g), which is 2·TP / (2·TP + FP + FN); undefined without a row
      of gold g, as its recall is (a group of neutral rows has no ΔG).
    - ΔG = F1(male) − F1(female). ΔS = accuracy(pro) − accuracy(anti).
    - macro-F1 ΔS = mean(F1(male), F1(female)) over pro rows − the same over anti rows.

    Edge cases: a ratio whose denominator is zero is None, and so is what is computed from it. ΔS is None where there
    are no pro or no anti rows; the macro-F1 ΔS, where any of its four F1 is undefined.

    Raises:
        ValueError: another shape.

    Source: Stanovsky et al. (2019) and the program behind it, mt_gender. Their prose takes F1 for ΔS, but the published
    numbers are accuracy differences (Google's Hebrew ΔS is printed as 37.8: 37.8 as accuracy, 38.5 as macro-F1).
    """
    if counts.shape != SHAPE:
        raise ValueError(f"expected a table of counts of shape {SHAPE}, got {counts.shape}")
    rates = _rates(counts)
    confusion = counts.sum(axis=0)
    gold, called = confusion.sum(axis=1), confusion.sum(axis=0)
    rows = counts.sum(axis=(1, 2))
    n, decided = rows.sum(), called[:_NO_CALL].sum()
    return Numbers(
        n=int(n),
        decided=int(decided),
        n_male=int(gold[_MALE]),
        n_female=int(gold[_FEMALE]),
        n_neutral=int(gold[_NEUTRAL]),
        n_pro=int(rows[_PRO]),
        n_anti=int(rows[_ANTI]),
        called_male=int(called[_MALE]),
        called_female=int(called[_FEMALE]),
        decided_percent=_number(_percent(decided, n)),
        accuracy=_number(rates.accuracy),
        accuracy_bounds=(_number(rates.accuracy), _number(_percent(_correct(confusion), decided))),
        precision_male=_number(_precision(confusion, _MALE)),
        recall_male=_number(_recall(confusion, _MALE)),
        f1_male=_number(rates.f1[_MALE]),
        precision_female=_number(_precision(confusion, _FEMALE)),
        recall_female=_number(_recall(confusion, _FEMALE)),
        f1_female=_number(rates.f1[_FEMALE]),
        delta_g=_number(rates.delta_g),
        accuracy_pro=_number(rates.accuracy_pro),
        accuracy_anti=_number(rates.accuracy_anti),
        delta_s=_number(rates.delta_s),
        delta_s_macro_f1=_number(rates.delta_s_macro_f1),
    )


def intervals(counts: Counts, n_resamples: int, rng: np.random.Generator) -> Intervals:
    """95 % percentile bootstrap intervals over the rows behind a table of counts.

    Rows are resampled independently, all strata together, so the numbers of pro, anti, male and female rows vary from
    resample to resample as they would in another corpus of the same kind.

    Edge cases: undefined replicates are dropped, and where more than half are undefined there is no interval. Nor is
    there one where a class of rows that the number compares has fewer than `MIN_ROWS` rows: all rows for accuracy;
    male and female gold rows for F1 and ΔG (the one gender for its F1); pro and anti rows for both ΔS. With so few, the
    percentile bootstrap is far too narrow (one row gives an interval of width 0).
    """
    numbers = compute(counts)
    genders, stereotypes = min(numbers.n_male, numbers.n_female), min(numbers.n_pro, numbers.n_anti)
    rows_behind = (numbers.n, numbers.n_male, numbers.n_female, genders, stereotypes, stereotypes)
    replicates = bootstrap_counts(counts, rate_replicates, n_resamples, rng)
    return Intervals(
        *(
            percentile_interval(column) if rows >= MIN_ROWS else None
            for column, rows in zip(replicates.T, rows_behind, strict=True)
        )
    )


def rate_replicates(tables: Counts) -> Floats:
    """The numbers of `Intervals`, in their order, of tables ``[B, 3, 3, 4]``: shape ``[B, 6]``."""
    rates = _rates(tables)
    male, female = rates.f1
    return np.stack((rates.accuracy, male, female, rates.delta_g, rates.delta_s, rates.delta_s_macro_f1), axis=-1)


def _rates(tables: Counts) -> _Rates:
    """The rates of tables of shape ``[..., 3, 3, 4]``; every rate has shape ``[...]``."""
    everyone = tables.sum(axis=-3)
    pro, anti = tables[..., _PRO, :, :], tables[..., _ANTI, :, :]
    return _Rates(
        accuracy=_percent(_correct(everyone), everyone.sum(axis=(-1, -2))),
        f1=(_f1(everyone, _MALE), _f1(everyone, _FEMALE)),
        accuracy_pro=_percent(_correct(pro), pro.sum(axis=(-1, -2))),
        accuracy_anti=_percent(_correct(anti), anti.sum(axis=(-1, -2))),
        delta_s_macro_f1=_macro_f1(pro) - _macro_f1(anti),
    )


# The functions below take confusions of shape [..., 3 gold, 4 call].


def _correct(confusion: Counts) -> Counts:
    right: Counts = np.trace(confusion, axis1=-2, axis2=-1)  # the fourth call has no gold, so it is never right
    return right


def _precision(confusion: Counts, gender: int) -> Floats:
    return _percent(confusion[..., gender, gender], confusion[..., :, gender].sum(axis=-1))


def _recall(confusion: Counts, gender: int) -> Floats:
    return _percent(confusion[..., gender, gender], confusion[..., gender, :].sum(axis=-1))


def _f1(confusion: Counts, gender: int) -> Floats:
    called, gold = confusion[..., :, gender].sum(axis=-1), confusion[..., gender, :].sum(axis=-1)
    return _percent(2 * confusion[..., gender, gender], np.where(gold > 0, called + gold, 0))


def _macro_f1(confusion: Counts) -> Floats:
    return (_f1(confusion, _MALE) + _f1(confusion, _FEMALE)) / 2


def _percent(numerator: Counts, denominator: Counts) -> Floats:
    """100 · numerator / denominator, NaN where the denominator is zero."""
    ratio = np.full(np.shape(denominator), np.nan)
    np.divide(100 * numerator, denominator, out=ratio, where=np.asarray(denominator) > 0)
    return ratio


def _number(value: Floats) -> float | None:
    number = float(value)
    return None if np.isnan(number) else number
