"""Published results with given numbers, and given tests between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mtbias.report.publishing import (
    PublishedComparison,
    PublishedCorpus,
    PublishedDifference,
    PublishedNumber,
    PublishedResult,
)
from mtbias.scoring.definitions import Best, Unit
from mtbias.stats.results import Interval


def make_number(
    value: float | None,
    best: Best = Best.HIGH,
    key: str = "accuracy",
    over_entities: Interval | None = None,
) -> PublishedNumber:
    unit = Unit.POINTS if best is Best.ZERO else Unit.PERCENT
    return PublishedNumber(
        key, key, unit, 1, best, True, True, "", value, None, over_entities, None, {"n": 80}
    )


def make_result(system: str, *numbers: PublishedNumber, **changed: object) -> PublishedResult:
    made = PublishedResult(
        mtbias="0.1.0", system=system, language="de", corpus=PublishedCorpus("own", {"own.tsv": "00ff"}),
        evaluator={"aligner": "agree/1", "plugin": "de/1"}, signature=f"system:{system}", fingerprint=f"fp-{system}",
        calls=f"calls-{system}", sentences=80, numbers=numbers, resamples=200, seed=0, warnings=(),
        alarms={"raised": [], "shares": {}},
        comparisons=(),
    )  # fmt: skip
    return replace(made, **changed)  # type: ignore[arg-type] # whatever a test changes


def with_tests(
    p: Mapping[str, float], *results: PublishedResult, key: str = "accuracy"
) -> list[PublishedResult]:
    """The results, each pair of them ("A B") tested with this p."""
    by_name = {result.system: result for result in results}
    for pair, value in p.items():
        one, other = pair.split()
        found = PublishedDifference(
            _value(by_name[one], key) - _value(by_name[other], key), None, value
        )
        for this, that, numbers in ((one, other, found), (other, one, found.turned())):
            comparison = PublishedComparison(*by_name[that].identity, 2000, 0, {key: numbers})
            by_name[this] = replace(
                by_name[this], comparisons=(*by_name[this].comparisons, comparison)
            )
    return list(by_name.values())


def _value(result: PublishedResult, key: str) -> float:
    number = result.number(key)
    assert number is not None
    assert number.value is not None
    return number.value
