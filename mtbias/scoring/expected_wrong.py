"""How many calls of a run are expected to be wrong, by what they rest on: rates of labelled calls, applied to the run.

The rates ship as a table (`data/expected_wrong.tsv`, made by ``scripts/expected_wrong.py``): of the labelled calls of
each class of evidence and each gender, how many are wrong. They hold for translations like the labelled ones: competent
systems and people. `docs/validation.md` has the limits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import sqrt
from typing import Any

from mtbias.files.reading import commented_rows
from mtbias.scoring.evidence_classes import EvidenceClass, evidence_class
from mtbias.stats.resampling import wilson_percent
from mtbias.stats.results import Interval, enough, rounded
from mtbias.types import Gender, GenderCall

TABLE = "expected_wrong.tsv"
GENDERS = (Gender.MALE, Gender.FEMALE)
"""Those whose calls are labelled often enough; of calls of both forms there are none."""


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Labelled calls of one class of evidence and one gender, and how many of them are wrong."""

    labels: int
    wrong: int

    def of(self, calls: int) -> tuple[float, Interval] | None:
        """How many of so many calls are expected to be wrong, with the ends that Wilson's interval of the rate gives.

        Edge cases: None where fewer than `MIN_ROWS` calls are labelled: no number is better than an invented one.
        """
        ends = wilson_percent(self.wrong, self.labels)
        if ends is None or not enough(self.labels):
            return None
        return calls * self.wrong / self.labels, (calls * ends[0] / 100, calls * ends[1] / 100)


Rates = Mapping[tuple[EvidenceClass, Gender], ErrorRate]


@cache
def shipped_rates() -> Rates:
    """The rates that ship with mtbias."""
    text = resources.files("mtbias.scoring").joinpath("data", TABLE).read_text(encoding="utf-8")
    return {
        (EvidenceClass(row["class"]), Gender(row["gender"])): ErrorRate(int(row["labels"]), int(row["wrong"]))
        for row in commented_rows(text)
    }


def count_classes(calls: Iterable[GenderCall]) -> Counter[tuple[EvidenceClass, Gender]]:
    """Calls by class of evidence and gender."""
    found = ((evidence_class(call), call.gender) for call in calls)
    return Counter((kind, gender) for kind, gender in found if kind is not None and gender is not None)


def sum_expected(parts: Iterable[tuple[float, Interval]], calls: int) -> tuple[float, Interval]:
    """The sum of expected numbers Σ n·p and its interval, within 0 and `calls`.

    With the interval [l, u] of each: Σ e − √Σ (e − l)², Σ e + √Σ (u − e)². It needs no random numbers, and with
    Wilson's intervals it holds for few labels and for a rate of 0, where a bootstrap of the labels gives a point.

    Source: Zou, Huang and Zhang, *Computational Statistics & Data Analysis* 53 (2009): linear functions of binomial
    proportions (MOVER).
    """
    found = list(parts)
    total = sum(e for e, _ in found)
    down, up = (sqrt(sum((e - ends[side]) ** 2 for e, ends in found)) for side in (0, 1))
    return total, (max(0.0, total - down), min(float(calls), total + up))


def expected_wrong(counts: Mapping[tuple[EvidenceClass, Gender], int], rates: Rates | None = None) -> dict[str, Any]:
    """`expected_wrong` of `metrics.json`: numbers of calls, of both genders apart and by class of evidence.

    Calls of a class with too few labels are in ``calls`` but not in ``estimated``: the expected number is of those.
    """
    known = shipped_rates() if rates is None else rates
    by_class: dict[str, dict[str, Any]] = {}
    totals: dict[str, dict[str, Any]] = {}
    for gender in GENDERS:
        parts, estimated, all_calls = [], 0, 0
        for kind in EvidenceClass:
            calls = counts.get((kind, gender), 0)
            rate = known.get((kind, gender), ErrorRate(0, 0))
            found = rate.of(calls)
            all_calls += calls
            if found is not None:
                parts.append(found)
                estimated += calls
            if calls:
                by_class.setdefault(kind, {})[gender.value] = {
                    "calls": calls, "labels": rate.labels, "wrong": rate.wrong, **_numbers(found),
                }  # fmt: skip
        total = sum_expected(parts, estimated) if estimated else None
        totals[gender.value] = {"calls": all_calls, "estimated": estimated, **_numbers(total)}
    return {**totals, "by_class": {kind.value: by_class[kind] for kind in EvidenceClass if kind in by_class}}


def _numbers(found: tuple[float, Interval] | None) -> dict[str, Any]:
    value, ends = (None, None) if found is None else found
    return {"expected": rounded(value), "interval": rounded(ends)}
