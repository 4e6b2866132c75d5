"""Which results are ranked together, and the ranks: ties are what paired tests could not tell apart.

A block holds the results of one corpus (by hash), language and evaluator. Within a block all tests of one number are a
family for Holm's correction. A system's rank is a range: one below all that are significantly better, above all that
are significantly worse; what ties with it, or was never tested against it, stands somewhere in between.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from pathlib import Path

from mtbias.errors import DataError
from mtbias.report.result_file import PublishedDifference, PublishedNumber, PublishedResult, read_result
from mtbias.scoring.definitions import Best
from mtbias.stats.results import ALPHA
from mtbias.stats.significance import holm

Identity = tuple[str, str]
"""`PublishedResult.identity`."""


class Relation(StrEnum):
    """What is known of two systems in one number."""

    FIRST = "first better"
    SECOND = "second better"
    TIE = "tie"
    """Tested, and not significantly different."""
    NOT_TESTED = "not tested"
    DIFFERENT = "different"
    """Significantly, but which is better was not tested: one lies above and the other below the best value (ΔG above
    and below 0), or there is none."""


@dataclass(frozen=True, slots=True)
class Tested:
    """Two systems in one number: the first minus the second."""

    relation: Relation
    found: PublishedDifference | None = None
    """None where nothing was tested."""
    p_holm: float | None = None


@dataclass(frozen=True, slots=True)
class RankedPair:
    """Two systems of a block."""

    first: PublishedResult
    second: PublishedResult
    tested: Mapping[str, Tested]
    """By the keys of the block's compared numbers."""


@dataclass(frozen=True, slots=True)
class Rank:
    """Places that a system may have: from ``low`` to ``high``, both counted."""

    low: int
    high: int
    not_tested: int
    """With so many systems of the block there is no test."""
    other_side: int = 0
    """So many differ significantly and lie on the other side of the best value: which is better was not tested."""


@dataclass(frozen=True, slots=True)
class Block:
    """Results that are ranked together, the best in the first compared number first."""

    results: tuple[PublishedResult, ...]
    pairs: tuple[RankedPair, ...]
    """All of them."""
    ranks: Mapping[str, Mapping[Identity, Rank]]
    """By number and result; without results that lack the number, without numbers of which none is best, and empty for
    a block of one."""
    families: Mapping[str, int]
    """By number, how many tests Holm's correction is over."""
    apart: tuple[str, ...] = ()
    """What differs from the language's first block, a phrase each; empty in that one."""

    @property
    def numbers(self) -> tuple[PublishedNumber, ...]:
        """The numbers that are shown, as the first result has them: those in which systems are compared first."""
        return tuple(sorted((n for n in self.results[0].numbers if n.shown), key=lambda n: not n.compared))

    @property
    def over_entities(self) -> bool:
        """Whether some number has an interval over entities."""
        return any(number.interval_entities for result in self.results for number in result.numbers)

    @property
    def too_few_resamples(self) -> bool:
        """Whether some test cannot be significant, whatever the data: its smallest p times the tests is not below α."""
        resamples = min((c.resamples for result in self.results for c in result.comparisons), default=0)
        return any(tests >= ALPHA * (resamples + 1) for tests in self.families.values() if tests)


def read_results(folder: Path) -> list[PublishedResult]:
    """All results of a folder, in the order of their files' names.

    Raises:
        DataError: there are none; a file is damaged or of another schema (`read_result`); a run has two files; two
            systems of a block have one name.
        OSError: a file cannot be read.
    """
    if not folder.is_dir():
        raise DataError("expected a folder of results, got none; `mtbias publish RUN --out DIR` makes one", path=folder)
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise DataError("expected results (.json), got none; `mtbias publish RUN --out DIR` writes them", path=folder)
    results: dict[Identity, tuple[Path, PublishedResult]] = {}
    named: dict[tuple[str, str], Path] = {}
    for path in paths:
        result = read_result(path)
        other, _ = results.setdefault(result.identity, (path, result))
        if other != path:
            raise DataError(
                f"expected one result of a run, got {result.fingerprint} in {other.name} too; remove one", path=path
            )
        other = named.setdefault((_together(result), result.system), path)
        if other != path:
            raise DataError(
                f"expected a name for each system of {result.corpus.name} in {result.language}, got "
                f"{result.system!r} in {other.name} too; publish one again with --name",
                path=path,
            )
    return [result for _, result in results.values()]


def make_blocks(results: Sequence[PublishedResult]) -> list[Block]:
    """The blocks, by corpus and language; of one corpus and language the largest first.

    Raises:
        DataError: two results disagree about their comparison.
    """
    groups: dict[str, list[PublishedResult]] = {}
    for result in results:
        groups.setdefault(_together(result), []).append(result)
    places: dict[str, list[list[PublishedResult]]] = {}
    for group in groups.values():
        places.setdefault(_place(group[0]), []).append(group)
    blocks = []
    for _, here in sorted(places.items()):
        first, *others = sorted(here, key=len, reverse=True)
        blocks.append(_block(first, ()))
        blocks += [_block(other, _differences(first[0], other[0])) for other in others]
    return blocks


def _place(result: PublishedResult) -> str:
    """Corpus and language, in the order of names and languages."""
    return json.dumps([result.corpus.name, dict(result.corpus.files), result.language], sort_keys=True)


def _together(result: PublishedResult) -> str:
    """What results have in common that are ranked together."""
    return json.dumps([_place(result), dict(result.evaluator)], sort_keys=True)


def _differences(one: PublishedResult, other: PublishedResult) -> tuple[str, ...]:
    """How the evaluator of `other` differs from that of `one`."""
    keys = dict.fromkeys((*one.evaluator, *other.evaluator))
    return tuple(
        f"{key} {other.evaluator.get(key, '(absent)')} here, {one.evaluator.get(key, '(absent)')} there"
        for key in keys
        if one.evaluator.get(key) != other.evaluator.get(key)
    )


def _block(group: Sequence[PublishedResult], apart: tuple[str, ...]) -> Block:
    compared = [number.key for number in group[0].numbers if number.compared]
    ordered = sorted(group, key=lambda result: (_distance(result, compared[:1]), result.system))
    found = _comparisons(ordered)
    couples = list(combinations(ordered, 2))
    tested: dict[tuple[Identity, Identity], dict[str, Tested]] = {(a.identity, b.identity): {} for a, b in couples}
    families = {}
    for key in compared:
        of_key = [(a, b, found.get((a.identity, b.identity), {}).get(key)) for a, b in couples]
        known = [(a, b, d, d.p) for a, b, d in of_key if d is not None and d.p is not None]
        families[key] = len(known)
        adjusted = {
            (a.identity, b.identity): p for (a, b, *_), p in zip(known, holm([p for *_, p in known]), strict=True)
        }
        for a, b, difference in of_key:
            p = adjusted.get((a.identity, b.identity))
            tested[a.identity, b.identity][key] = Tested(_relation(a.number(key), b.number(key), p), difference, p)
    pairs = tuple(RankedPair(a, b, tested[a.identity, b.identity]) for a, b in couples)
    ranked = [n.key for n in group[0].numbers if n.compared and n.best is not Best.OPEN] if len(group) > 1 else []
    ranks = {key: _ranks(key, ordered, pairs) for key in ranked}
    return Block(tuple(ordered), pairs, ranks, families, apart)


def _comparisons(
    results: Sequence[PublishedResult],
) -> dict[tuple[Identity, Identity], Mapping[str, PublishedDifference]]:
    """What was tested, for both orders of each pair: each of two results may have it, or both, but then the same."""
    here = {result.identity: result for result in results}
    found: dict[tuple[Identity, Identity], Mapping[str, PublishedDifference]] = {}
    for result in results:
        for comparison in result.comparisons:
            other = comparison.fingerprint, comparison.calls
            if other not in here:
                continue
            for pair, numbers in (
                ((result.identity, other), dict(comparison.numbers)),
                ((other, result.identity), {key: d.turned() for key, d in comparison.numbers.items()}),
            ):
                if found.setdefault(pair, numbers) != numbers:
                    raise DataError(
                        f"expected one comparison of {result.system} and {here[other].system} in {result.language}, "
                        "got two that differ; publish both runs together again"
                    )
    return found


def _relation(first: PublishedNumber | None, second: PublishedNumber | None, p_holm: float | None) -> Relation:
    if p_holm is None or first is None or second is None or first.value is None or second.value is None:
        return Relation.NOT_TESTED
    if p_holm >= ALPHA:
        return Relation.TIE
    best = first.best.at
    if best is None or (first.value - best) * (second.value - best) < 0:
        return Relation.DIFFERENT
    return Relation.FIRST if abs(first.value - best) < abs(second.value - best) else Relation.SECOND


def _ranks(key: str, results: Sequence[PublishedResult], pairs: Sequence[RankedPair]) -> dict[Identity, Rank]:
    """See `Rank`; results in which the number is undefined have none, and count in nobody's."""
    there = {result.identity for result in results if _value(result, key) is not None}
    better, worse, not_tested, other_side = (Counter[Identity]() for _ in range(4))
    for pair in pairs:
        first, second = pair.first.identity, pair.second.identity
        if not {first, second} <= there:
            continue
        match pair.tested[key].relation:
            case Relation.FIRST:
                better[second] += 1
                worse[first] += 1
            case Relation.SECOND:
                better[first] += 1
                worse[second] += 1
            case Relation.NOT_TESTED:
                not_tested.update((first, second))
            case Relation.DIFFERENT:
                other_side.update((first, second))
    return {
        each: Rank(1 + better[each], len(there) - worse[each], not_tested[each], other_side[each]) for each in there
    }


def _value(result: PublishedResult, key: str) -> float | None:
    number = result.number(key)
    return None if number is None else number.value


def _distance(result: PublishedResult, keys: Sequence[str]) -> float:
    """How far the number called by the first of `keys` is from its best; undefined ones come last."""
    number = result.number(keys[0]) if keys else None
    if number is None or number.value is None or number.best.at is None:
        return float("inf")
    return abs(number.value - number.best.at)
