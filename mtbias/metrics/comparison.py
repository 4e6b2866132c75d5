"""Comparing systems on the same sentences: differences in accuracy, ΔG, ΔS and consistency; how sure they are.

Systems are compared in pairs within a language. All tests of one number that are made together are one family:
their p-values are corrected by Holm over all pairs of all languages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mtbias import __version__
from mtbias.errors import DataError, DependencyError
from mtbias.metrics import paired_counts as paired
from mtbias.metrics.call_counts import cells
from mtbias.metrics.consistency import compare_consistency
from mtbias.metrics.linked_pairs import link
from mtbias.metrics.paired_counts import NUMBERS, McNemar
from mtbias.metrics.run_matching import NamedRun, Run, by_language, differing_evaluators, name_runs
from mtbias.metrics.weighted import Weighting, weigh
from mtbias.stats.results import LEVEL, N_RESAMPLES, Interval, rounded
from mtbias.stats.significance import holm
from mtbias.types import Gender, Stereotype

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = 1
"""Version of the shape of the JSON."""

WEIGHTED = ("delta_g", "delta_s")
"""The numbers that can be weighted."""

CONSISTENCY = ("across", "delta_i")
"""I_across and ΔI (`mtbias.metrics.consistency`): compared where the corpus has pairs, and quadruples."""

ALPHA = 0.05
"""A difference is called significant where its corrected p is below this."""

_KINDS = ("plain", "weighted", "consistency")
"""The differences of a pair; each number of a kind is a family of tests."""

Floats = NDArray[np.float64]
Cells = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number in per cent, unrounded, and its 95 % percentile bootstrap interval over sentences; None: undefined."""

    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Difference:
    """One number of two systems. Per cent and points, unrounded; None where undefined."""

    first: float | None
    second: float | None
    difference: float | None
    """first − second."""
    interval: Interval | None
    """95 %, paired percentile bootstrap over sentences."""
    p: float | None
    """Paired randomisation over sentences, two-sided (`mtbias.metrics.paired_counts.randomisation_pvalues`)."""
    p_holm: float | None
    """`p` corrected for the number of tests of this number in the comparison."""

    @property
    def significant(self) -> bool:
        """Whether the corrected p is below `ALPHA`."""
        return self.p_holm is not None and self.p_holm < ALPHA


@dataclass(frozen=True, slots=True)
class SystemNumbers:
    """The numbers of one run."""

    lang: str
    system: str
    fingerprint: str
    plain: Mapping[str, Estimate]
    """By `NUMBERS`."""
    weighted: Mapping[str, Estimate]
    """By `WEIGHTED`; empty where no weights were asked for, without a number that has no groups."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems in one language."""

    lang: str
    first: str
    second: str
    plain: Mapping[str, Difference]
    weighted: Mapping[str, Difference]
    consistency: Mapping[str, Difference]
    """By `CONSISTENCY`; the units are pairs and quadruples. Without a number that the corpus has no pairs for."""
    differing: int
    """Sentences on which the calls differ; a gender and none are different calls."""
    mcnemar: McNemar


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs on one corpus, compared within each language."""

    dataset: str
    files: Mapping[str, str]
    """SHA-256 of each file of the corpus."""
    rows: Mapping[str, int]
    """Sentences: all, those of gold male and female, pro and anti; pairs that differ in gender alone; quadruples of two
    such pairs. The denominators, the same for all systems."""
    systems: tuple[SystemNumbers, ...]
    pairs: tuple[Pair, ...]
    weightings: Mapping[str, Weighting]
    """By `WEIGHTED`: the weights, the same for all systems; empty where none were asked for."""
    evaluators: Mapping[str, tuple[str, ...]]
    """What differs between the evaluators of a language's runs; empty where nothing does."""
    n_resamples: int
    seed: int

    @property
    def tests(self) -> int:
        """The size of the family of each number: over so many pairs (of all languages) Holm's correction goes."""
        return len(self.pairs)

    @property
    def too_few_resamples(self) -> bool:
        """Whether no test can be significant: the smallest p that so many rearrangements give, times the tests."""
        return self.n_resamples > 0 and self.tests >= ALPHA * (self.n_resamples + 1)

    @property
    def signature(self) -> str:
        """One line that says how the numbers were made."""
        weights = "+".join(dict.fromkeys(name for w in self.weightings.values() for name in w.properties)) or "1"
        return "|".join(
            [
                f"compare|dataset:{self.dataset}|runs:{'+'.join(system.fingerprint for system in self.systems)}",
                *([f"weights:{weights}"] if self.weightings else []),
                *([f"different-evaluators:{'+'.join(self.evaluators)}"] if self.evaluators else []),
                f"unit:sentence|tests:{self.tests}|resamples:{self.n_resamples}|seed:{self.seed}|mtbias:{__version__}",
            ]
        )

    def to_json(self) -> dict[str, Any]:
        """A plain value; per cent, floats rounded to 6 decimals, None where undefined."""
        content: dict[str, Any] = {
            "schema": SCHEMA,
            "mtbias": __version__,
            "signature": self.signature,
            "dataset": self.dataset,
            "files": dict(self.files),
            "rows": dict(self.rows),
            "intervals": {
                "method": "paired percentile bootstrap over sentences",
                "level": rounded(100 * LEVEL),
                "resamples": self.n_resamples,
                "seed": self.seed,
            },
            "p": {"method": "paired randomisation over sentences", "correction": "Holm", "tests": self.tests},
            "systems": [asdict(system) for system in self.systems],
            "pairs": [
                {**asdict(pair), **{kind: _significance(getattr(pair, kind)) for kind in _KINDS}} for pair in self.pairs
            ],
            "weightings": {number: weighting.to_json() for number, weighting in self.weightings.items()},
            "different_evaluators": {lang: list(phrases) for lang, phrases in self.evaluators.items()},
        }
        return {key: rounded(value) for key, value in content.items()}

    def table(self) -> list[dict[str, str | float | bool | None]]:
        """All numbers, a row each: first the systems', then the differences (with the second system as ``minus``).

        Columns: ``lang``, ``system``, ``minus``, ``number``, ``weighted``, ``value``, ``low``, ``high``, ``p``,
        ``p_holm``; per cent, rounded to 6 decimals, None where undefined.
        """
        rows: list[dict[str, str | float | bool | None]] = []
        for system in self.systems:
            for weighted, estimates in ((False, system.plain), (True, system.weighted)):
                for number, e in estimates.items():
                    rows.append(_row((system.lang, system.system, None, number, weighted), e.value, e.interval))
        for pair in self.pairs:
            for weighted, found in ((False, {**pair.plain, **pair.consistency}), (True, pair.weighted)):
                for number, d in found.items():
                    named = (pair.lang, pair.first, pair.second, number, weighted)
                    rows.append(_row(named, d.difference, d.interval, d.p, d.p_holm))
        return rows

    def to_frame(self) -> pd.DataFrame:
        """`table` as a DataFrame; undefined numbers are NaN.

        Raises:
            DependencyError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise DependencyError("a data frame needs pandas: pip install 'mtbias[dataframes]'") from error
        frame = pd.DataFrame(self.table())
        numeric = ["value", "low", "high", "p", "p_holm"]
        return frame.astype(dict.fromkeys(numeric, float))


def compare_runs(
    runs: Sequence[Run],
    *,
    weighted: bool | Sequence[str] = False,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
    names: Sequence[str] | None = None,
    different_evaluators: bool = False,
) -> Comparison:
    """Compare runs on one corpus in pairs within each language.

    Every run and every pair starts from `seed` anew, so its interval and its p do not depend on which others there are;
    an interval of a system's plain number is the one of its `metrics.json` where resamples and seed are the same.

    Args:
        runs: `mtbias.runs.read_run` gives them.
        weighted: also weighted ΔG and ΔS (`mtbias.metrics.weighted`): over these properties, or, with True, over all
            that vary. One run is enough then.
        n_resamples: bootstrap resamples, and rearrangements of the test; with 0 there are no intervals and no p.
        seed: of both.
        names: of the systems, one for each run, in place of those that the runs have.
        different_evaluators: compare runs of a language although different evaluators read them.

    Raises:
        DataError: the runs cannot be compared (`name_runs`), no language has two of them (and no weights are asked
            for), or the sentences cannot be balanced (`weigh`).
    """
    named = name_runs(runs, names=names, different_evaluators=different_evaluators)
    languages = by_language(named)
    asked = weighted is True or (weighted is not False and len(weighted) > 0)
    if not asked and max(map(len, languages.values())) < 2:
        raise DataError(
            f"expected two runs or more in a language, got one in {', '.join(languages)}; "
            "runs are compared within a language"
        )
    rows = named[0].calls
    weightings: dict[str, Weighting] = {}
    if asked:
        properties = None if isinstance(weighted, bool) else list(weighted)
        solved = ((number, weigh(rows, number, properties)) for number in WEIGHTED)
        weightings = {number: weighting for number, weighting in solved if weighting is not None}
    scales = {number: _Levels.of(weighting.kinds, weighting.weights) for number, weighting in weightings.items()}
    how = _How(scales, n_resamples, seed)
    of_rows = {run.fingerprint: _cells(run) for run in named}
    pairs = [
        _pair(first, second, paired.pair_cells(of_rows[first.fingerprint], of_rows[second.fingerprint]), how)
        for here in languages.values()
        for first, second in combinations(here, 2)
    ]
    units = link(rows)
    dataset, files = runs[0].corpus
    return Comparison(
        dataset=dataset,
        files=files,
        rows={
            "n": len(rows),
            **{gold.value: sum(row.gold is gold for row in rows) for gold in (Gender.MALE, Gender.FEMALE)},
            **{kind.value: sum(row.stereotype is kind for row in rows) for kind in (Stereotype.PRO, Stereotype.ANTI)},
            "twin_pairs": len(units.pairs) + 2 * len(units.quadruples),
            "quadruples": len(units.quadruples),
        },
        systems=tuple(_system(run, of_rows[run.fingerprint], how) for here in languages.values() for run in here),
        pairs=tuple(_corrected(pairs)),
        weightings=weightings,
        evaluators=differing_evaluators(runs),
        n_resamples=n_resamples,
        seed=seed,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Levels:
    """Weights of rows as levels: the weight of each kind of rows, and the level of each row."""

    weights: Floats
    of_row: Cells

    @classmethod
    def of(cls, kinds: Cells, weights: Floats) -> _Levels:
        _, first, of_row = np.unique(kinds, return_index=True, return_inverse=True)
        return cls(weights[first], of_row.reshape(-1))

    @classmethod
    def plain(cls, n: int) -> _Levels:
        return cls(np.ones(1), np.zeros(n, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class _How:
    scales: Mapping[str, _Levels]
    n_resamples: int
    seed: int

    def rng(self) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64(self.seed))


def _cells(run: NamedRun) -> Cells:
    return cells((row.gold, row.stereotype, row.call.gender) for row in run.calls)


def _system(run: NamedRun, row_cells: Cells, how: _How) -> SystemNumbers:
    def estimates(levels: _Levels) -> dict[str, Estimate]:
        tables = paired.tabulate(row_cells, levels.of_row, len(levels.weights))
        values = paired.compute_numbers(tables, levels.weights)
        replicates = paired.bootstrap_numbers(tables, levels.weights, how.n_resamples, how.rng())
        ends = paired.intervals(replicates, tables[levels.weights > 0])
        return {name: Estimate(_number(v), e) for name, v, e in zip(NUMBERS, values, ends, strict=True)}

    return SystemNumbers(
        lang=run.lang,
        system=run.name,
        fingerprint=run.fingerprint,
        plain=estimates(_Levels.plain(len(row_cells))),
        weighted={number: estimates(levels)[number] for number, levels in how.scales.items()},
    )


def _pair(first: NamedRun, second: NamedRun, row_cells: Cells, how: _How) -> Pair:
    def differences(levels: _Levels) -> dict[str, Difference]:
        tables = paired.tabulate_pairs(row_cells, levels.of_row, len(levels.weights))
        values = [paired.compute_numbers(tables.sum(axis=axis), levels.weights) for axis in (-1, -2)]
        rng = how.rng()
        replicates = paired.bootstrap_differences(tables, levels.weights, how.n_resamples, rng)
        ends = paired.intervals(replicates, tables[levels.weights > 0])
        p = paired.randomisation_pvalues(tables, levels.weights, how.n_resamples, rng)
        return {
            name: Difference(_number(a), _number(b), _number(a - b), ends[n], _number(p[n]), None)
            for n, (name, a, b) in enumerate(zip(NUMBERS, *values, strict=True))
        }

    table = paired.tabulate_pairs(row_cells)[0]
    twins = compare_consistency(
        first.calls,
        (row.call for row in first.calls),
        second.calls,
        (row.call for row in second.calls),
        n_resamples=how.n_resamples,
        seed=how.seed,
    )
    return Pair(
        lang=first.lang,
        first=first.name,
        second=second.name,
        plain=differences(_Levels.plain(len(row_cells))),
        weighted={number: differences(levels)[number] for number, levels in how.scales.items()},
        consistency={
            number: Difference(d.first, d.second, d.difference, d.interval, d.p, None)
            for number, d in twins.items()
            if number in CONSISTENCY and d.difference is not None
        },
        differing=paired.count_differing(table),
        mcnemar=paired.count_mcnemar(table),
    )


def _corrected(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs with Holm's p: a family is all tests of one number, plain or weighted."""
    found = [{kind: dict(getattr(pair, kind)) for kind in _KINDS} for pair in pairs]
    for kind in _KINDS:
        for number in dict.fromkeys(number for of_pair in found for number in of_pair[kind]):
            family = [of_pair[kind] for of_pair in found if number in of_pair[kind]]
            family = [tests for tests in family if tests[number].p is not None]
            adjusted = holm([p for tests in family if (p := tests[number].p) is not None])
            for tests, p_holm in zip(family, adjusted, strict=True):
                tests[number] = replace(tests[number], p_holm=p_holm)
    return [
        replace(pair, plain=of_pair["plain"], weighted=of_pair["weighted"], consistency=of_pair["consistency"])
        for pair, of_pair in zip(pairs, found, strict=True)
    ]


def _significance(found: Mapping[str, Difference]) -> dict[str, Any]:
    return {number: {**asdict(d), "significant": d.significant} for number, d in found.items()}


def _row(
    named: tuple[str, str, str | None, str, bool],
    value: float | None,
    ends: Interval | None,
    p: float | None = None,
    p_holm: float | None = None,
) -> dict[str, str | float | bool | None]:
    lang, system, minus, number, weighted = named
    low, high = ends or (None, None)
    plain: Callable[[float | None], float | None] = lambda v: None if v is None else round(v, 6) + 0.0  # noqa: E731
    return {
        "lang": lang, "system": system, "minus": minus, "number": number, "weighted": weighted,
        "value": plain(value), "low": plain(low), "high": plain(high), "p": plain(p), "p_holm": plain(p_holm),
    }  # fmt: skip


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
