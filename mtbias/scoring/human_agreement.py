"""How often the evaluator agrees with human labels: plain agreement, Cohen's κ, balanced accuracy, what is undecided.

Plain agreement alone misleads where one gender dominates ("always male" agrees with 92 % of the Russian labels of
WinoMT), so κ and balanced accuracy stand beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from mtbias.scoring.bias import CALLS, GOLDS
from mtbias.scoring.counting import Counts
from mtbias.stats.resampling import wilson_percent
from mtbias.stats.results import Interval, percent_of
from mtbias.types import Gender, GenderCall

LABELS: Mapping[str, Gender] = {gender.value[0]: gender for gender in GOLDS}
"""Human labels as they are written: ``m``, ``f``, ``n``."""


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """Agreement on one set of rows. Per cent, unrounded, but `kappa`; None where undefined; intervals are Wilson's."""

    n: int
    """Labelled rows."""
    decided: int
    """Rows with a call."""
    agreed: int
    labels: Mapping[str, int]
    """Rows by human label."""
    agreement: float | None
    """agreed / n: [0, 100]; an undecided row is a disagreement."""
    agreement_interval: Interval | None
    undecided: float | None
    """(n − decided) / n."""
    undecided_interval: Interval | None
    balanced_accuracy: float | None
    """Mean of `recall` over the labels that occur: [0, 100]; "always male" has 50 where two labels occur."""
    recall: Mapping[str, float | None]
    """Agreement on the rows of each label; None where the label does not occur."""
    kappa: float | None
    """Cohen's κ in [−1, 1] over male, female, neutral and, for the evaluator, undecided; 0 is chance."""


def count_agreement(rows: Iterable[tuple[Gender, Gender | None]]) -> Counts:
    """Count rows of (human label, call or None) into a table label × call, shape ``[3, 4]``; tables add up.

    Axes: male, female, neutral; the calls with undecided as the fourth.
    """
    table = np.zeros((len(GOLDS), len(CALLS)), dtype=np.int64)
    for label, call in rows:
        table[GOLDS.index(label), CALLS.index(call)] += 1
    return table


def compute_agreement(counts: Counts) -> LabelAgreement:
    """Agreement from a table label × call (`count_agreement`).

    - agreement = Σ agreeing rows / n, undecided rows in n.
    - κ = (p_o − p_e) / (1 − p_e), with p_o the agreement as a proportion and p_e = Σ_k label share(k) · call share(k).
      Undecided is a category that only the evaluator uses, so it adds nothing to p_e.
    - balanced accuracy = mean over the labels that occur of agreeing rows / rows of the label.

    Edge cases: all None without rows; κ is None where p_e is 1 (both sides always say the same one thing).

    Source: Cohen, *Educational and Psychological Measurement* 20 (1960); Brodersen et al. (2010) for balanced accuracy.
    """
    n, agreed = int(counts.sum()), int(np.trace(counts))
    undecided = int(counts[:, -1].sum())
    labels: list[int] = counts.sum(axis=1).tolist()
    recall = [percent_of(int(counts[i, i]), rows) for i, rows in enumerate(labels)]
    occurring = [value for value in recall if value is not None]
    # In whole numbers until the last division, so that p_e = 1 is met exactly.
    chance = sum(rows * int(counts[:, i].sum()) for i, rows in enumerate(labels))
    return LabelAgreement(
        n=n,
        decided=n - undecided,
        agreed=agreed,
        labels={gender.value: rows for gender, rows in zip(GOLDS, labels, strict=True)},
        agreement=percent_of(agreed, n),
        agreement_interval=wilson_percent(agreed, n),
        undecided=percent_of(undecided, n),
        undecided_interval=wilson_percent(undecided, n),
        balanced_accuracy=sum(occurring) / len(occurring) if occurring else None,
        recall={gender.value: value for gender, value in zip(GOLDS, recall, strict=True)},
        kappa=(n * agreed - chance) / (n * n - chance) if n * n != chance else None,
    )


def decided_by(call: GenderCall) -> str:
    """What a call rests on: the kind of the first evidence that says what was called (``noun``, ``determiner``, …).

    Edge cases: the reason where nothing was called; "none" where no evidence says it.
    """
    if call.reason is not None:
        return call.reason.value
    return next((piece.kind for piece in call.evidence if piece.gender is call.gender), "none")
