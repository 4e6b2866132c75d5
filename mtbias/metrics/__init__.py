"""The metrics of machine translation: a counting function and a computing function each, and the scores of a corpus."""

from __future__ import annotations

from mtbias.metrics.agreement import Agreement, AgreementReport, agreement, compute_agreement, count_agreement
from mtbias.metrics.bias import Intervals, Numbers, compute, intervals
from mtbias.metrics.counts import Counts, count
from mtbias.metrics.scores import Group, Scorable, Scores, score

__all__ = [
    "Agreement",
    "AgreementReport",
    "Counts",
    "Group",
    "Intervals",
    "Numbers",
    "Scorable",
    "Scores",
    "agreement",
    "compute",
    "compute_agreement",
    "count",
    "count_agreement",
    "intervals",
    "score",
]
