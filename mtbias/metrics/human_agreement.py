"""How often the evaluator agrees with human labels: plain agreement, Cohen's κ, balanced accuracy, what is undecided.

Plain agreement alone misleads where one gender dominates ("always male" agrees with 92 % of the Russian labels of
WinoMT), so κ and balanced accuracy stand beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mtbias.errors import DataError
from mtbias.metrics.bias import CALLS, GOLDS
from mtbias.metrics.counting import Counts
from mtbias.stats.resampling import wilson_percent
from mtbias.stats.results import Interval, rounded
from mtbias.types import Gender, GenderCall

LABELS: Mapping[str, Gender] = {letter: gender for gender in GOLDS for letter in (gender.value[0], gender.value)}
"""Human labels as they are written: ``m``, ``f``, ``n``, or the words."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement on one set of rows. Per cent, unrounded, but `kappa`; None where undefined; intervals are Wilson's."""

    n: int
    """Labelled rows."""
    decided: int
    """Rows with a verdict."""
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

    def to_json(self) -> dict[str, Any]:
        """A plain value; floats rounded to 6 decimals."""
        return {name: rounded(value) for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """Agreement on all rows, and by what the label and the call rest on, where that is known."""

    counts: Counts
    """The confusion, label × call: `count_agreement` of all rows."""
    overall: Agreement
    by_basis: Mapping[str, Agreement]
    """Alphabetical; empty where no basis was given."""
    by_evidence: Mapping[str, Agreement]
    """By what the call rests on, alphabetical; empty where it was not given."""

    def to_json(self) -> dict[str, Any]:
        """A plain value; floats rounded to 6 decimals."""
        return {
            "overall": self.overall.to_json(),
            "by_basis": {basis: part.to_json() for basis, part in self.by_basis.items()},
            "by_evidence": {kind: part.to_json() for kind, part in self.by_evidence.items()},
            "confusion": self.counts.tolist(),
        }


def count_agreement(rows: Iterable[tuple[Gender, Gender | None]]) -> Counts:
    """Count rows of (human label, call or None) into a table label × call, shape ``[3, 4]``; tables add up.

    Axes: male, female, neutral; the calls with undecided as the fourth.
    """
    table = np.zeros((len(GOLDS), len(CALLS)), dtype=np.int64)
    for label, call in rows:
        table[GOLDS.index(label), CALLS.index(call)] += 1
    return table


def compute_agreement(counts: Counts) -> Agreement:
    """Agreement from a table label × call (`count_agreement`).

    - agreement = Σ agreeing rows / n, undecided rows in n.
    - κ = (p_o − p_e) / (1 − p_e), with p_o the agreement as a proportion and p_e = Σ_k label share(k) · call share(k).
      Undecided is a category that only the evaluator uses, so it adds nothing to p_e.
    - balanced accuracy = mean over the labels that occur of agreeing rows / rows of the label.

    Edge cases: all None without rows; κ is None where p_e is 1 (both sides always say the same one thing).

    Raises:
        ValueError: another shape.

    Source: Cohen, *Educational and Psychological Measurement* 20 (1960); Brodersen et al. (2010) for balanced accuracy.
    """
    if counts.shape != (len(GOLDS), len(CALLS)):
        raise ValueError(f"expected a table of shape {(len(GOLDS), len(CALLS))}, got {counts.shape}")
    n, agreed = int(counts.sum()), int(np.trace(counts))
    undecided = int(counts[:, -1].sum())
    labels = [int(row.sum()) for row in counts]
    recall = [100 * int(counts[i, i]) / rows if rows else None for i, rows in enumerate(labels)]
    occurring = [value for value in recall if value is not None]
    return Agreement(
        n=n,
        decided=n - undecided,
        agreed=agreed,
        labels={gender.value: rows for gender, rows in zip(GOLDS, labels, strict=True)},
        agreement=100 * agreed / n if n else None,
        agreement_interval=wilson_percent(agreed, n),
        undecided=100 * undecided / n if n else None,
        undecided_interval=wilson_percent(undecided, n),
        balanced_accuracy=sum(occurring) / len(occurring) if occurring else None,
        recall={gender.value: value for gender, value in zip(GOLDS, recall, strict=True)},
        kappa=_kappa(counts),
    )


def agreement(
    labels: Sequence[str],
    calls: Sequence[Gender | None],
    *,
    basis: Sequence[str] | None = None,
    evidence: Sequence[str] | None = None,
) -> AgreementReport:
    """Agreement of the evaluator's calls with human labels: overall, by basis of the label, by evidence of the call.

    Args:
        labels: ``m``, ``f``, ``n`` (or ``male``, ``female``, ``neutral``), one a row.
        calls: what the evaluator said about the same rows, in the same order; None where it is undecided.
        basis: what each label rests on (noun, determiner, …), any names.
        evidence: what each call rests on (`decided_by`), any names.

    Raises:
        DataError: another label, or sequences of different lengths.
    """
    for what, values in (("calls", calls), ("bases", basis), ("pieces of evidence", evidence)):
        if values is not None and len(values) != len(labels):
            raise DataError(f"expected as many {what} as labels, got {len(values)} for {len(labels)} labels")
    rows = [(_parse(label, row), call) for row, (label, call) in enumerate(zip(labels, calls, strict=True))]
    counts = count_agreement(rows)
    return AgreementReport(counts, compute_agreement(counts), _grouped(rows, basis), _grouped(rows, evidence))


def decided_by(call: GenderCall) -> str:
    """What a call rests on: the kind of the first evidence that says what was called (``noun``, ``determiner``, …).

    Edge cases: the reason where nothing was called; "none" where no evidence says it.
    """
    if call.reason is not None:
        return call.reason.value
    return next((piece.kind for piece in call.evidence if piece.gender is call.gender), "none")


def _grouped(rows: Sequence[tuple[Gender, Gender | None]], names: Sequence[str] | None) -> dict[str, Agreement]:
    groups: dict[str, list[tuple[Gender, Gender | None]]] = {}
    for name, row in zip(names or (), rows, strict=names is not None):
        groups.setdefault(name, []).append(row)
    return {name: compute_agreement(count_agreement(groups[name])) for name in sorted(groups)}


def _parse(label: str, row: int) -> Gender:
    gender = LABELS.get(label)
    if gender is None:
        raise DataError(f"expected one of the labels {', '.join(LABELS)}, got {label!r} in row {row} (from 0)")
    return gender


def _kappa(counts: Counts) -> float | None:
    """Cohen's κ, in whole numbers until the last division, so that p_e = 1 is met exactly."""
    n, agreed = int(counts.sum()), int(np.trace(counts))
    chance = sum(int(counts[i].sum()) * int(counts[:, i].sum()) for i in range(len(GOLDS)))
    return (n * agreed - chance) / (n * n - chance) if n * n != chance else None
