"""Scores: the numbers of a whole corpus and of its parts, each with its counts, intervals and denominators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from mtbias import __version__
from mtbias.errors import DataError, DependencyError
from mtbias.metrics.bias import MIN_ROWS, Intervals, Numbers, compute, intervals
from mtbias.metrics.call_counts import CALLS, GOLDS, STEREOTYPES, Counts, cells, count_by
from mtbias.metrics.consistency import Consistency, consistency
from mtbias.metrics.human_agreement import decided_by
from mtbias.metrics.sentence_protocols import Scorable
from mtbias.stats.results import LEVEL, N_RESAMPLES, rounded
from mtbias.types import GenderCall, Reason

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = 1
"""Version of the shape of `metrics.json`."""

_COUNT_FIELDS = ("n", "decided")
_DENOMINATORS = {
    "male": "n_male",
    "female": "n_female",
    "neutral": "n_neutral",
    "pro": "n_pro",
    "anti": "n_anti",
    "called_male": "called_male",
    "called_female": "called_female",
}
_RATE_FIELDS = tuple(
    field.name for field in fields(Numbers) if field.name not in {*_COUNT_FIELDS, *_DENOMINATORS.values()}
)
"""The numbers in per cent, in the order in which they are written."""


@dataclass(frozen=True, slots=True)
class Group:
    """A set of rows: its table of counts, the numbers computed from it, and their intervals."""

    counts: Counts
    """Read-only, ``[stereotype 3, gold 3, call 4]``: see `mtbias.metrics.call_counts`."""
    numbers: Numbers
    ci: Intervals

    def to_json(self) -> dict[str, Any]:
        """The group as it stands in `metrics.json`; per cent, rounded to 6 decimals, null where undefined."""
        numbers = asdict(self.numbers)
        return {
            "n": self.numbers.n,
            "decided": self.numbers.decided,
            **{name: rounded(numbers[name]) for name in _RATE_FIELDS},
            "ci": {name: rounded(interval) for name, interval in self.ci._asdict().items()},
            "denominators": {name: numbers[field] for name, field in _DENOMINATORS.items()},
            "confusion": self.counts.tolist(),
        }


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a corpus. The tables of every breakdown add up to the table of `overall`."""

    overall: Group
    by_domain: Mapping[str, Group]
    """Alphabetical."""
    by_pronouns: Mapping[str, Group]
    """By the number of gendered pronouns in the source, as text: ``"1"``, ``"2"``, … in numeric order."""
    by_stereotype: Mapping[str, Group]
    """``pro``, ``anti``, ``none``, where they occur."""
    by_entity: Mapping[str, Group]
    """Alphabetical."""
    reasons: Mapping[Reason, int]
    """How many rows have no verdict, and why; reasons that occur, in the order of `Reason`."""
    evidence: Mapping[str, int]
    """How many verdicts rest on which kind of word: the kind of the first evidence that says what was called."""
    consistency: Consistency | None
    """None where no sentence of the corpus has a twin or a control."""
    n_resamples: int
    seed: int

    def to_json(self, *, signature: str | None = None, fingerprint: str | None = None) -> dict[str, Any]:
        """The content of `metrics.json`; the same scores give the same value, key order included."""
        n, decided = self.overall.numbers.n, self.overall.numbers.decided
        return {
            "schema": SCHEMA,
            "mtbias": __version__,
            "signature": signature,
            "fingerprint": fingerprint,
            "n": n,
            "decided": decided,
            "reasons": {reason.value: number for reason, number in self.reasons.items()},
            "reasons_percent": {reason.value: _share(number, n) for reason, number in self.reasons.items()},
            "evidence": dict(self.evidence),
            "evidence_percent": {kind: _share(number, decided) for kind, number in self.evidence.items()},
            "intervals": {
                "method": "percentile bootstrap over rows",
                "level": rounded(100 * LEVEL),
                "resamples": self.n_resamples,
                "seed": self.seed,
                "min_rows": MIN_ROWS,
            },
            "confusion_axes": {
                "stereotype": [stereotype.value for stereotype in STEREOTYPES],
                "gold": [gold.value for gold in GOLDS],
                "call": [None if call is None else call.value for call in CALLS],
            },
            "overall": self.overall.to_json(),
            **{
                name: {key: group.to_json() for key, group in groups.items()}
                for name, groups in self._breakdowns().items()
            },
            "consistency": None if self.consistency is None else self.consistency.to_json(),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per group: columns `breakdown`, `group`, the numbers (per cent, unrounded), `…_low`, `…_high`.

        The first row is the whole corpus (`breakdown` "overall", `group` ""). Undefined numbers are NaN.

        Raises:
            DependencyError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise DependencyError("a data frame needs pandas: pip install 'mtbias[dataframes]'") from error
        groups = [("overall", "", self.overall)]
        groups += [(name, key, group) for name, part in self._breakdowns().items() for key, group in part.items()]
        return pd.DataFrame([{"breakdown": name, "group": key, **_frame_row(group)} for name, key, group in groups])

    def _breakdowns(self) -> dict[str, Mapping[str, Group]]:
        return {
            "by_domain": self.by_domain,
            "by_pronouns": self.by_pronouns,
            "by_stereotype": self.by_stereotype,
            "by_entity": self.by_entity,
        }


def score(
    instances: Iterable[Scorable],
    calls: Iterable[GenderCall],
    *,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> Scores:
    """Score the calls on the instances they belong to: overall, by domain, pronouns, stereotype and entity, over pairs.

    Instances and calls are joined by id. What every number means stands at `mtbias.metrics.bias.Numbers`, how its
    interval is made at `mtbias.metrics.bias.intervals`; those over pairs stand at `mtbias.metrics.consistency`. Every
    group starts from `seed` anew: the same table of counts has the same interval, whatever other groups there are.

    Args:
        instances: the corpus; ids are unique.
        calls: exactly one for each instance, in any order.
        n_resamples: bootstrap resamples; with 0 there are no intervals.
        seed: of the bootstrap.

    Raises:
        DataError: there are no instances, an id occurs twice, or the ids of instances and calls differ.
    """
    rows = list(instances)
    called = _join(rows, calls)
    row_cells = cells((row.gold, row.stereotype, call.gender) for row, call in zip(rows, called, strict=True))

    def groups(keys: Sequence[str]) -> dict[str, Group]:
        tables = count_by(row_cells, keys)
        return {key: _group(tables[key], n_resamples, seed) for key in sorted(tables, key=_natural)}

    stereotypes = groups([row.stereotype.value for row in rows])
    reasons = Counter(call.reason for call in called if call.reason is not None)
    return Scores(
        overall=groups([""] * len(rows))[""],
        by_domain=groups([row.domain for row in rows]),
        by_pronouns=groups([str(row.pronouns) for row in rows]),
        by_stereotype={kind.value: stereotypes[kind.value] for kind in STEREOTYPES if kind.value in stereotypes},
        by_entity=groups([row.entity for row in rows]),
        reasons={reason: reasons[reason] for reason in Reason if reason in reasons},
        evidence=_count_evidence(called),
        consistency=consistency(rows, called, n_resamples=n_resamples, seed=seed),
        n_resamples=n_resamples,
        seed=seed,
    )


def _join(rows: Sequence[Scorable], calls: Iterable[GenderCall]) -> list[GenderCall]:
    """The calls in the order of the rows."""
    if not rows:
        raise DataError("expected instances to score, got none: look at the corpus and at what was filtered out")
    by_id: dict[str, GenderCall] = {}
    for call in calls:
        if by_id.setdefault(call.id, call) is not call:
            raise DataError(f"expected one call for each instance, got two for {call.id!r}")
    seen: set[str] = set()
    for row in rows:
        if row.id in seen:
            raise DataError(f"expected unique instance ids, got {row.id!r} twice")
        if row.id not in by_id:
            raise DataError(f"expected a call for each of {len(rows)} instances, got none for {row.id!r}")
        seen.add(row.id)
    if len(by_id) > len(rows):
        stranger = next(id_ for id_ in by_id if id_ not in seen)
        raise DataError(
            f"expected calls for {len(rows)} instances, got {len(by_id)}: {stranger!r} is not in the corpus; "
            "score calls with the corpus they were made from"
        )
    return [by_id[row.id] for row in rows]


def _group(counts: Counts, n_resamples: int, seed: int) -> Group:
    counts.setflags(write=False)
    rng = np.random.Generator(np.random.PCG64(seed))
    return Group(counts=counts, numbers=compute(counts), ci=intervals(counts, n_resamples, rng))


def _count_evidence(calls: Iterable[GenderCall]) -> dict[str, int]:
    """Verdicts by the kind of the first evidence that says what was called; most frequent first, then by name."""
    kinds: Counter[str] = Counter()
    for call in calls:
        if call.gender is not None:
            kinds[decided_by(call)] += 1
    return dict(sorted(kinds.items(), key=lambda item: (-item[1], item[0])))


def _natural(key: str) -> tuple[int, int, str]:
    """Numbers in numeric order, then everything else alphabetically."""
    return (0, int(key), key) if key.isdecimal() and key.isascii() else (1, 0, key)


def _share(part: int, whole: int) -> object:
    return rounded(100 * part / whole) if whole else None


def _frame_row(group: Group) -> dict[str, int | float]:
    nan = float("nan")
    numbers = asdict(group.numbers)
    failed_wrong, failed_out = numbers.pop("accuracy_bounds")
    row: dict[str, int | float] = {name: nan if value is None else value for name, value in numbers.items()}
    row["accuracy_low_bound"] = nan if failed_wrong is None else failed_wrong
    row["accuracy_high_bound"] = nan if failed_out is None else failed_out
    for name, interval in group.ci._asdict().items():
        row[f"{name}_low"], row[f"{name}_high"] = interval or (nan, nan)
    return row
