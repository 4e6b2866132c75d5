"""The scores of gender calls: numbers of the corpus and its parts, why there is no call, consistency over pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mtbias.scoring.bias import GENDER_COUNTING
from mtbias.scoring.consistency import Consistency, consistency
from mtbias.scoring.counting import Counting, Scores, score_groups
from mtbias.scoring.human_agreement import decided_by
from mtbias.scoring.sentence_protocols import Called
from mtbias.scoring.unknown_gender import UNKNOWN_GENDER
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
    unknown: CallScores | None = None
    """Those of the sentences that show no gender, where there are some: they enter none of the other numbers."""

    def further(self) -> dict[str, Any]:
        """Consistency, and the sentences that show no gender."""
        found: dict[str, Any] = {"consistency": None if self.consistency is None else self.consistency.to_json()}
        if self.unknown is not None:
            part = self.unknown.to_json()
            found[UNKNOWN] = {key: value for key, value in part.items() if key not in _OF_THE_RUN}
        return found


UNKNOWN = "unknown"
"""The key of `metrics.json` with the numbers of sentences that show no gender, of a corpus that has others, too."""
_OF_THE_RUN = ("schema", "mtbias", "signature", "fingerprint")
"""Keys of `metrics.json` that a part of it does not have again."""


def unknown_part(metrics: Mapping[str, Any]) -> dict[str, Any] | None:
    """The numbers of sentences that show no gender, as a `metrics.json` of them alone would have them.

    None where a corpus has none, or no others.
    """
    part = metrics.get(UNKNOWN)
    return None if part is None else {**{key: metrics.get(key) for key in (*_OF_THE_RUN, "corpus")}, **part}


def score(records: Sequence[Called], *, n_resamples: int = N_RESAMPLES, seed: int = 0) -> CallScores:
    """Score calls: overall, by domain, pronouns, stereotype and entity, and over counterfactual pairs.

    Records without a gold gender enter no number of the others, nor do those enter theirs
    (`mtbias.scoring.unknown_gender`); a corpus of them alone has theirs in place of accuracy, ΔG and ΔS.

    What every number means stands at `mtbias.scoring.bias.compute`, how its interval is made at
    `mtbias.scoring.counting.Counting.intervals`; those over pairs stand at `mtbias.scoring.consistency`. With 0
    resamples there are no intervals. Ids of records are unique (`mtbias.runs.call_records.join_records`).

    Raises:
        DataError: there are no records.
    """
    known = [record for record in records if record.gold is not None]
    without = [record for record in records if record.gold is None]
    unknown = _score_unknown(without, n_resamples, seed) if without else None
    if unknown is not None and not known:
        return unknown
    overall, by = score_groups(known, GENDER_COUNTING, n_resamples=n_resamples, seed=seed)
    calls = [record.call for record in known]
    return GenderScores(
        overall,
        by,
        n_resamples,
        seed,
        *reasons_and_evidence(calls),
        consistency=consistency(known, calls, n_resamples=n_resamples, seed=seed),
        unknown=unknown,
    )


def _score_unknown(records: Sequence[Called], n_resamples: int, seed: int) -> CallScores:
    overall, by = score_groups(records, UNKNOWN_GENDER, n_resamples=n_resamples, seed=seed)
    return CallScores(overall, by, n_resamples, seed, *reasons_and_evidence([record.call for record in records]))


def counting_of(records: Sequence[Called]) -> Counting:
    """How the numbers of a corpus are counted: as of unknown gender where no sentence of it has a gold gender."""
    return GENDER_COUNTING if any(record.gold is not None for record in records) else UNKNOWN_GENDER


def reasons_and_evidence(calls: Sequence[GenderCall]) -> tuple[dict[Reason, int], dict[str, int]]:
    """`CallScores.reasons` and `CallScores.evidence` of calls."""
    reasons = Counter(call.reason for call in calls if call.reason is not None)
    kinds = Counter(decided_by(call) for call in calls if call.gender is not None)
    return (
        {reason: reasons[reason] for reason in Reason if reason in reasons},
        dict(sorted(kinds.items(), key=lambda item: (-item[1], item[0]))),
    )
