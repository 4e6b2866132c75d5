"""The metrics of machine translation: a counting function and a computing function each, and the scores of a corpus."""

from __future__ import annotations

from mtbias.metrics.bias import Intervals, Numbers, compute, intervals
from mtbias.metrics.call_counts import Counts, count
from mtbias.metrics.consistency import (
    Consistency,
    ConsistencyDifference,
    compare_consistency,
    compute_consistency,
    consistency,
)
from mtbias.metrics.human_agreement import Agreement, AgreementReport, agreement, compute_agreement, count_agreement
from mtbias.metrics.linked_pairs import Units, count_consistency, link
from mtbias.metrics.scores import Group, Scores, score
from mtbias.metrics.sentence_protocols import Scorable

__all__ = [
    "Agreement",
    "AgreementReport",
    "Consistency",
    "ConsistencyDifference",
    "Counts",
    "Group",
    "Intervals",
    "Numbers",
    "Scorable",
    "Scores",
    "Units",
    "agreement",
    "compare_consistency",
    "compute",
    "compute_agreement",
    "compute_consistency",
    "consistency",
    "count",
    "count_agreement",
    "count_consistency",
    "intervals",
    "link",
    "score",
]
