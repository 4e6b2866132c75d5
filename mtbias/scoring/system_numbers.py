"""The numbers of one run, and of two runs of a language beside each other: what a comparison consists of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from mtbias.scoring.counting import EntityIntervals
from mtbias.scoring.paired_counts import McNemar
from mtbias.stats.results import Difference, Estimate, Interval

KINDS = ("plain", "weighted", "consistency")
"""The differences of a pair of systems; each number of a kind is a family of tests."""


@dataclass(frozen=True, slots=True)
class SystemNumbers:
    """The numbers of one run."""

    lang: str
    system: str
    fingerprint: str
    plain: Mapping[str, Estimate]
    """By the compared numbers of the measure."""
    weighted: Mapping[str, Estimate]
    """By `WEIGHTED`; empty where no weights were asked for, without a number that has no groups."""
    over_entities: EntityIntervals | None = None
    """Of the plain numbers; None where the measure has no entities."""
    alarms: Mapping[str, Any] | None = None
    """Those of the run's `metrics.json`; None in a run of an earlier release."""

    def entity_interval(self, key: str) -> Interval | None:
        """The interval of a plain number over entities, where it has one."""
        return _of(self.over_entities, key)

    def to_json(self) -> dict[str, Any]:
        """A plain value, unrounded; the interval over entities stands beside each plain number."""
        return {
            "lang": self.lang,
            "system": self.system,
            "fingerprint": self.fingerprint,
            "plain": {
                key: {**part, **_beside(self.over_entities, key)} for key, part in _estimates(self.plain).items()
            },
            "weighted": _estimates(self.weighted),
            "alarms": self.alarms,
        }


@dataclass(frozen=True, slots=True)
class SystemPair:
    """Two systems in one language."""

    lang: str
    first: str
    second: str
    plain: Mapping[str, Difference]
    weighted: Mapping[str, Difference]
    consistency: Mapping[str, Difference]
    """I_across and ΔI, over pairs and quadruples of sentences; without a number that the corpus has no pairs for."""
    differing: int
    """Sentences on which the calls differ; a call and none are different."""
    mcnemar: McNemar
    over_entities: EntityIntervals | None = None
    """Of the plain differences; None where the measure has no entities."""

    def entity_interval(self, key: str) -> Interval | None:
        """The interval of a plain difference over entities, where it has one."""
        return _of(self.over_entities, key)

    def to_json(self) -> dict[str, Any]:
        """A plain value, unrounded; the interval over entities stands beside each plain difference."""
        plain = _significance(self.plain)
        return {
            "lang": self.lang,
            "first": self.first,
            "second": self.second,
            "plain": {key: {**part, **_beside(self.over_entities, key)} for key, part in plain.items()},
            "weighted": _significance(self.weighted),
            "consistency": _significance(self.consistency),
            "differing": self.differing,
            "mcnemar": asdict(self.mcnemar),
        }


def _of(over: EntityIntervals | None, key: str) -> Interval | None:
    return None if over is None or over.intervals is None else over.intervals.get(key)


def _beside(over: EntityIntervals | None, key: str) -> dict[str, Any]:
    """The key of JSON that a measure with entities has beside each plain number."""
    return {} if over is None else {"interval_entities": _of(over, key)}


def _estimates(found: Mapping[str, Estimate]) -> dict[str, dict[str, Any]]:
    return {key: {"value": e.value, "interval": e.interval} for key, e in found.items()}


def _significance(found: Mapping[str, Difference]) -> dict[str, dict[str, Any]]:
    return {key: {**asdict(d), "significant": d.significant} for key, d in found.items()}
