"""Comparing systems on the same sentences: differences in accuracy, ΔG, ΔS and consistency; how
sure they are.

Systems are compared in pairs within a language. All tests of one number that are made together are
one family: their p-values are corrected by Holm over all pairs of all languages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain, combinations
from typing import TYPE_CHECKING

import numpy as np

from mtbias.errors import DataError
from mtbias.scoring.bias import GENDER_COUNTING
from mtbias.scoring.comparable_runs import (
    ComparableRun,
    NamedRun,
    SystemNumbers,
    SystemPair,
    by_language,
    differing_evaluators,
    name_runs,
    parts,
)
from mtbias.scoring.comparison_finding import SystemCalls, comparison_finding
from mtbias.scoring.consistency import compare_consistency, link
from mtbias.scoring.counting import Counting, EntityIntervals, entity_intervals
from mtbias.scoring.definitions import ALL_ROWS, CONSISTENCY, WITH_CALL, interval_methods, named
from mtbias.scoring.metrics_reader import UNKNOWN
from mtbias.scoring.statements import Statement
from mtbias.scoring.weighted import WEIGHTED, Weighting, weigh
from mtbias.stats.paired import PairedTables, compare, corrected, pair_cells, tabulate
from mtbias.stats.resampling import too_few_resamples
from mtbias.stats.results import (
    LEVEL,
    N_RESAMPLES,
    Counts,
    Difference,
    Estimate,
    Floats,
    enough,
    rounded,
    source,
)
from mtbias.types import JsonDict, frozen
from mtbias.version import __version__

if TYPE_CHECKING:
    import pandas as pd

PAIRS, QUADRUPLES = "pairs", "quadruples"
"""Keys of `Comparison.rows`."""

SCHEMA = 1
"""Version of the shape of the JSON."""

COLUMNS = (
    *("lang", "system", "minus", "number", "weighted", "value"),
    *("low", "high", "low_entities", "high_entities", "p", "p_holm"),
)
"""Of `Comparison.table`; from ``value`` on they are numbers."""

Cells = Counts

_Levels = tuple[Floats, Cells]
"""Weights of rows as levels: the weight of each kind of rows, and the level of each row."""


@frozen
class Comparison:
    """Runs on one corpus, compared within each language."""

    dataset: str
    files: Mapping[str, str]
    """SHA-256 of each file of the corpus."""
    rows: Mapping[str, int]
    """The denominators, the same for all systems: sentences in all and in each class that a
    compared number rests on (gold male and female, pro and anti); pairs that differ in gender
    alone; quadruples of two such pairs."""
    systems: tuple[SystemNumbers, ...]
    pairs: tuple[SystemPair, ...]
    weightings: Mapping[str, Weighting]
    """By `WEIGHTED`: the weights, the same for all systems; empty where none were asked for."""
    evaluators: Mapping[str, tuple[str, ...]]
    """What differs between the evaluators of a language's runs; empty where nothing does."""
    n_resamples: int
    seed: int
    methods: Mapping[str, str] = field(default_factory=dict)
    """How the interval of each plain number of a system is made; those of differences are all
    bootstrap."""
    unit: str = "sentences"
    """What is drawn and exchanged as a whole, and counted where systems differ or are right."""
    finding: tuple[Statement, ...] = ()
    """What it says in words: which system of each pair is better, first."""
    unknown: Comparison | None = None
    """Of the sentences of unknown gender, where the corpus has others, too."""

    @property
    def tests(self) -> int:
        """The size of the family of each number: over so many pairs (of all languages) Holm's
        correction goes.
        """
        return len(self.pairs)

    @property
    def right_or_wrong(self) -> bool:
        """Whether any system is right anywhere: nothing is where no source tells a gender."""
        tables = [pair.mcnemar for pair in self.pairs]
        return any(table.both + table.first_only + table.second_only for table in tables)

    @property
    def too_few_resamples(self) -> bool:
        """Whether no test can be significant, whatever the data."""
        return self.n_resamples > 0 and too_few_resamples(self.tests, self.n_resamples)

    @property
    def signature(self) -> str:
        """One line that records how the numbers were made."""
        runs = "+".join(system.fingerprint for system in self.systems)
        parts = [f"compare|dataset:{self.dataset}|runs:{runs}"]
        if self.weightings:
            balanced = chain.from_iterable(w.properties for w in self.weightings.values())
            parts.append(f"weights:{'+'.join(dict.fromkeys(balanced)) or '1'}")
        if self.evaluators:
            parts.append(f"different-evaluators:{'+'.join(self.evaluators)}")
        parts += [
            f"unit:{self.unit.removesuffix('s')}",
            f"tests:{self.tests}",
            f"resamples:{self.n_resamples}",
            f"seed:{self.seed}",
            f"mtbias:{__version__}",
        ]
        return "|".join(parts)

    def to_json(self) -> JsonDict:
        """A plain value; per cent, floats rounded to 6 decimals, None where undefined."""
        content: JsonDict = {
            "schema": SCHEMA,
            "mtbias": __version__,
            "signature": self.signature,
            "finding": [statement.to_json() for statement in self.finding],
            "dataset": self.dataset,
            "files": dict(self.files),
            "rows": dict(self.rows),
            "intervals": {
                "method": f"paired percentile bootstrap over {self.unit}",
                "level": 100 * LEVEL,
                "resamples": self.n_resamples,
                "seed": self.seed,
            },
            "interval_methods": {
                "systems": dict(self.methods),
                "pairs": dict.fromkeys(self.methods, "bootstrap"),
            },
            **(
                {}
                if self.over_entities is None
                else {"entity_intervals": self.over_entities.facts()}
            ),
            "p": {
                "method": f"paired randomisation over {self.unit}",
                "correction": "Holm",
                "tests": self.tests,
            },
            "systems": [system.to_json() for system in self.systems],
            "pairs": [pair.to_json() for pair in self.pairs],
            "weightings": {
                number: weighting.to_json() for number, weighting in self.weightings.items()
            },
            "different_evaluators": {
                lang: list(phrases) for lang, phrases in self.evaluators.items()
            },
        }
        if self.unknown is not None:
            part = self.unknown.to_json()
            content[UNKNOWN] = {
                key: part[key] for key in ("rows", "interval_methods", "systems", "pairs")
            }
        return rounded(content)

    @property
    def over_entities(self) -> EntityIntervals | None:
        """The first system's, whose entities are those of all; None where the measure has none."""
        return self.systems[0].over_entities

    def table(self) -> list[JsonDict]:
        """All numbers, a row each: first the differences (with the second system as ``minus``),
        then the systems'.

        Columns: `COLUMNS`; per cent, rounded to 6 decimals, None where undefined.
        """
        rows: list[JsonDict] = []
        for pair in self.pairs:
            both = pair.lang, pair.first, pair.second
            rows += _rows_of(both, pair.plain, pair.over_entities)
            rows += _rows_of(both, pair.consistency)
            rows += _rows_of(both, pair.weighted, weighted=True)
        for system in self.systems:
            alone = system.lang, system.system, None
            rows += _rows_of(alone, system.plain, system.over_entities)
            rows += _rows_of(alone, system.weighted, weighted=True)
        return rows if self.unknown is None else [*rows, *self.unknown.table()]

    def to_frame(self) -> pd.DataFrame:
        """`table` as a DataFrame; undefined numbers are NaN."""
        import pandas as pd

        return pd.DataFrame(self.table()).astype(dict.fromkeys(COLUMNS[5:], float))


def _rows_of(
    names: tuple[str, str, str | None],
    numbers: Mapping[str, Estimate] | Mapping[str, Difference],
    over_entities: EntityIntervals | None = None,
    *,
    weighted: bool = False,
) -> Iterator[JsonDict]:
    """The rows of `Comparison.table` of a pair or of one system.

    `names` are the language, the system, and the one that is subtracted.
    """
    none = (None, None)
    for key, each in numbers.items():
        ends = each.interval or none
        over = none if over_entities is None else over_entities.interval_of(key) or none
        if isinstance(each, Difference):
            value, tests = each.difference, (each.p, each.p_holm)
        else:
            value, tests = each.value, none
        row = (*names, key, weighted, value, *ends, *over, *tests)
        yield rounded(dict(zip(COLUMNS, row, strict=True)))


def compare_runs(
    runs: Sequence[ComparableRun],
    *,
    weighted: bool | Sequence[str] = False,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
    names: Sequence[str] | None = None,
    different_evaluators: bool = False,
) -> Comparison:
    """Compare runs on one corpus in pairs within each language.

    Every run and every pair starts from `seed` itself, so interval and p do not depend on which
    others there are; the interval of a system's plain number is that of its `metrics.json` if
    resamples and seed are the same. Systems and plain differences also have an interval over
    entities (`mtbias.scoring.counting`).

    Args:
        runs: `mtbias.runs.finished_run.read_run` gives them.
        weighted: also weighted ΔG and ΔS (`mtbias.scoring.weighted`): over these properties, or,
            with True, over all that vary. One run is enough then.
        n_resamples: bootstrap resamples, and rearrangements of the test; 0: no intervals and no p.
        seed: of both.
        names: of the systems, one for each run, in place of those that the runs have.
        different_evaluators: compare runs of a language although different evaluators read them.

    Raises:
        DataError: the runs cannot be compared (`name_runs`), no language has two of them (and no
            weights are asked for), or the sentences cannot be balanced (`weigh`).
    """
    main, *others = parts(runs)
    known = name_runs(main, names=names, different_evaluators=different_evaluators)
    languages = by_language(known)
    has_pairs = max(map(len, languages.values())) > 1
    if not weighted and not has_pairs:
        raise DataError(
            f"expected two runs or more in a language, got one in {', '.join(languages)}; "
            "runs are compared within a language"
        )
    counting, unit = main[0].counting, "sentences"
    if counting.units is not None:
        units, counting = counting.units, counting.units.counting
        unit, known = units.name, [replace(run, calls=units.join(run.calls)) for run in known]
        languages = by_language(known)

    weightings = _weightings(known[0], counting, weighted) if weighted else {}
    scales = {number: _levels(weighting) for number, weighting in weightings.items()}
    of_rows = {run.fingerprint: counting.cells(run.calls) for run in known}
    how = _How(counting, of_rows, scales, n_resamples, seed)

    ordered = [*chain.from_iterable(languages.values())]
    systems = tuple(_system(run, how) for run in ordered)
    two_by_two = chain.from_iterable(combinations(group, 2) for group in languages.values())
    pairs = _corrected([_pair(first, second, how) for first, second in two_by_two])

    calls = []
    if counting is GENDER_COUNTING:
        source_lang = main[0].source_lang
        for system, run in zip(systems, ordered, strict=True):
            lang, name, counts = system.lang, system.system, system.group.counts
            calls.append(SystemCalls(lang, name, counts, run.gender_calls, source_lang))

    unknown = None
    if others and has_pairs:
        unknown = compare_runs(
            others[0],
            n_resamples=n_resamples,
            seed=seed,
            names=names,
            different_evaluators=different_evaluators,
        )

    dataset, files = runs[0].corpus
    return Comparison(
        dataset=dataset,
        files=files,
        rows=_rows(known[0], how),
        systems=systems,
        pairs=pairs,
        finding=tuple(comparison_finding(counting, systems, pairs, calls)),
        weightings=weightings,
        evaluators=differing_evaluators(runs),
        n_resamples=n_resamples,
        seed=seed,
        methods=interval_methods(counting.compared),
        unit=unit,
        unknown=unknown,
    )


def _weightings(
    run: NamedRun, counting: Counting, weighted: bool | Sequence[str]
) -> dict[str, Weighting]:
    """The weights of the sentences of all runs, by the number that is weighted."""
    if counting is not GENDER_COUNTING:
        raise DataError(
            "weights balance sentences by gold gender and stereotype, "
            "which this corpus does not have"
        )
    properties = None if isinstance(weighted, bool) else list(weighted)
    weightings = {}
    for number in WEIGHTED:
        weighting = weigh(run.gender_calls, number, properties)
        if weighting is not None:
            weightings[number] = weighting
    return weightings


def _rows(run: NamedRun, how: _How) -> dict[str, int]:
    """See `Comparison.rows`."""
    counting = how.counting
    classes = counting.classes(counting.tabulate(how.cells[run.fingerprint]))
    names = [ALL_ROWS, *chain.from_iterable(number.rests_on for number in counting.compared)]
    # Which rows have a call differs from system to system.
    rows = {name: classes[name] for name in names if name != WITH_CALL}
    if counting is GENDER_COUNTING:
        units = link(run.gender_calls)
        quadruples = len(units.quadruples)
        rows |= {PAIRS: len(units.pairs) + 2 * quadruples, QUADRUPLES: quadruples}
    return rows


def _levels(weighting: Weighting) -> _Levels:
    _, first, of_row = np.unique(weighting.kinds, return_index=True, return_inverse=True)
    return weighting.weights[first], of_row.reshape(-1)


@frozen
class _How:
    counting: Counting
    cells: Mapping[str, Cells]
    """Of the rows of each run, by its fingerprint."""
    scales: Mapping[str, _Levels]
    n_resamples: int
    seed: int

    def rng(self) -> np.random.Generator:
        return source(self.seed)

    def names(self) -> list[str]:
        return [each.key for each in self.counting.compared]


def _system(run: NamedRun, how: _How) -> SystemNumbers:
    counting, row_cells = how.counting, how.cells[run.fingerprint]

    def weighted(key: str, weights: Floats, of_row: Cells) -> Estimate:
        tables = tabulate(row_cells, counting.shape, of_row, len(weights))
        levels = counting.levels(*tables, weights=weights)
        return counting.estimates(
            levels, [named(counting.numbers, key)], how.n_resamples, how.rng()
        )[key]

    group = counting.group(counting.tabulate(row_cells), how.n_resamples, how.seed)
    return SystemNumbers(
        lang=run.lang,
        system=run.name,
        fingerprint=run.fingerprint,
        group=group,
        plain={key: group[key] for key in how.names()},
        weighted={key: weighted(key, *levels) for key, levels in how.scales.items()},
        over_entities=_over_entities([run], how),
        alarms=run.alarms,
    )


def _over_entities(runs: Sequence[NamedRun], how: _How) -> EntityIntervals | None:
    """Of a system, or of the differences between two."""
    counting = how.counting
    if counting.entity is None:
        return None
    entities = list(map(counting.entity, runs[0].calls))
    systems = [counting.tabulate_by(how.cells[run.fingerprint], entities) for run in runs]
    return entity_intervals(counting, systems, counting.compared, how.n_resamples, how.seed)


def _pair(first: NamedRun, second: NamedRun, how: _How) -> SystemPair:
    counting, outcomes = how.counting, how.counting.shape[-1]
    row_cells = pair_cells(how.cells[first.fingerprint], how.cells[second.fingerprint], outcomes)

    def tables(weights: Floats, of_row: Cells | None = None) -> PairedTables:
        counts = tabulate(row_cells, (*counting.shape, outcomes), of_row, len(weights))
        return PairedTables(counts, weights, counting.stratified)

    def differences(names: Sequence[str], paired: PairedTables) -> dict[str, Difference]:
        rng = how.rng()
        classes = [counting.classes(paired.rows().sum(axis=axis)) for axis in (-1, -2)]

        def has_interval(key: str) -> bool:
            rests_on = named(counting.numbers, key).rests_on
            of_first, of_second = classes
            rows = [min(of_first[name], of_second[name]) for name in rests_on]
            return enough(rows)

        return compare(
            paired,
            counting.rates,
            names,
            how.n_resamples,
            bootstrap=rng,
            test=rng,
            intervals=has_interval,
        )

    plain = tables(np.ones(1))
    return SystemPair(
        lang=first.lang,
        first=first.name,
        second=second.name,
        plain=differences(how.names(), plain),
        weighted={
            key: differences([key], tables(*levels))[key] for key, levels in how.scales.items()
        },
        consistency=_consistency(first, second, how),
        differing=plain.differing(),
        mcnemar=plain.mcnemar(counting.right),
        over_entities=_over_entities([first, second], how),
    )


def _consistency(first: NamedRun, second: NamedRun, how: _How) -> dict[str, Difference]:
    if how.counting is not GENDER_COUNTING:
        return {}
    differences = compare_consistency(
        first.gender_calls,
        (row.call for row in first.gender_calls),
        (row.call for row in second.gender_calls),
        n_resamples=how.n_resamples,
        seed=how.seed,
    )
    compared = {}
    for number in CONSISTENCY:
        difference = differences.get(number.key)
        if number.compared and difference is not None and difference.difference is not None:
            compared[number.key] = difference
    return compared


def _corrected(pairs: Sequence[SystemPair]) -> tuple[SystemPair, ...]:
    """The pairs with Holm's p: a family is all tests of one number, plain or weighted."""
    plain = corrected([pair.plain for pair in pairs])
    weighted = corrected([pair.weighted for pair in pairs])
    consistency = corrected([pair.consistency for pair in pairs])
    with_p = []
    for pair, *kinds in zip(pairs, plain, weighted, consistency, strict=True):
        with_p.append(replace(pair, plain=kinds[0], weighted=kinds[1], consistency=kinds[2]))
    return tuple(with_p)
