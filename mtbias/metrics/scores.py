"""The scores of gender calls: numbers of the corpus and its parts, why there is no call, consistency over pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mtbias.metrics.bias import GENDER_COUNTING
from mtbias.metrics.consistency import Consistency, consistency
from mtbias.metrics.counting import Scores, score_groups
from mtbias.metrics.human_agreement import decided_by
from mtbias.metrics.sentence_protocols import Called
from mtbias.stats.results import N_RESAMPLES, percent_of, rounded
from mtbias.types import GenderCall, Reason


@dataclass(frozen=True, eq=False)
class CallScores(Scores):
    """Scores of calls, with what calls rest on and why there is none."""

    reasons: Mapping[Reason, int]
    """How many rows have no call, and why; reasons that occur, in the order of `Reason`."""
    evidence: Mapping[str, int]
    """How many calls rest on which kind of word: the kind of the first evidence that says what was called.
    Most frequent first, then by name."""

    def facts(self) -> dict[str, Any]:
        """Reasons and evidence, with their shares in per cent."""
        n, decided = self.overall.n, self.overall.decided
        return {
            "reasons": {reason.value: rows for reason, rows in self.reasons.items()},
            "reasons_percent": {reason.value: rounded(percent_of(rows, n)) for reason, rows in self.reasons.items()},
            "evidence": dict(self.evidence),
            "evidence_percent": {kind: rounded(percent_of(rows, decided)) for kind, rows in self.evidence.items()},
        }


@dataclass(frozen=True, eq=False)
class GenderScores(CallScores):
    """The scores of a corpus's gender calls, by domain, pronouns, stereotype and entity."""

    consistency: Consistency | None
    """None where no sentence of the corpus has a counterfactual pair or a control."""

    def further(self) -> dict[str, Any]:
        """Consistency."""
        return {"consistency": None if self.consistency is None else self.consistency.to_json()}


def score(records: Sequence[Called], *, n_resamples: int = N_RESAMPLES, seed: int = 0) -> GenderScores:
    """Score calls: overall, by domain, pronouns, stereotype and entity, and over counterfactual pairs.

    What every number means stands at `mtbias.metrics.bias.compute`, how its interval is made at
    `mtbias.metrics.counting.Counting.intervals`; those over pairs stand at `mtbias.metrics.consistency`. With 0
    resamples there are no intervals. Ids of records are unique (`mtbias.runs.call_records.join_records`).

    Raises:
        DataError: there are no records.
    """
    overall, by = score_groups(records, GENDER_COUNTING, n_resamples=n_resamples, seed=seed)
    calls = [record.call for record in records]
    return GenderScores(
        overall,
        by,
        n_resamples,
        seed,
        *reasons_and_evidence(calls),
        consistency=consistency(records, calls, n_resamples=n_resamples, seed=seed),
    )


def reasons_and_evidence(calls: Sequence[GenderCall]) -> tuple[dict[Reason, int], dict[str, int]]:
    """`CallScores.reasons` and `CallScores.evidence` of calls."""
    reasons = Counter(call.reason for call in calls if call.reason is not None)
    kinds = Counter(decided_by(call) for call in calls if call.gender is not None)
    return (
        {reason: reasons[reason] for reason in Reason if reason in reasons},
        dict(sorted(kinds.items(), key=lambda item: (-item[1], item[0]))),
    )
