"""Controlled translation: one corpus requested in the feminine, in the masculine, and without a
gender; how many translations are as requested, for whom, and what it costs.

A sentence obeys if its person has the gender that was asked for; one without a call does not. What
a system does without being asked is not obedience: beside the share that obeys is the share that
has that gender anyway, and the difference, over the same sentences. A system that obeys men's
requests more than women's is biased, whatever its accuracy: `ControlledRuns.gaps`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from mtbias.errors import DataError, DependencyError, UsageError
from mtbias.machine.devices import install_command
from mtbias.scoring.bias import GENDER_COUNTING, UNKNOWN_GENDER
from mtbias.scoring.comparable_runs import ComparableRun, name_runs, parts
from mtbias.scoring.text_quality import corpus_scores, quality_metrics, quality_signatures
from mtbias.stats.paired import NumberUnits, corrected
from mtbias.stats.resampling import percentile_interval, wilson_percent
from mtbias.stats.results import (
    LEVEL,
    N_RESAMPLES,
    Difference,
    Estimate,
    Floats,
    Interval,
    enough,
    percent,
    percent_of,
    rounded,
    source,
)
from mtbias.types import Called, Gender, JsonDict, frozen
from mtbias.version import __version__

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

SCHEMA = 1
"""Version of the shape of the JSON."""

NONE = "none"
"""What was asked for where nothing was said."""
ASKED = (NONE, Gender.FEMALE.value, Gender.MALE.value)
"""What a run can have been asked for."""

ALL = "all"
UNKNOWN = "unknown"
GROUPS = (ALL, *map(str, Gender), UNKNOWN)
"""Sentences by the gender that their source tells of the person."""


@frozen
class Obedience:
    """What was asked for in one gender, of the sentences whose sources tell one."""

    asked: Gender
    group: str
    """One of `GROUPS`."""
    n: int
    """Sentences: the denominator of every share."""
    obeys: Estimate
    """Per cent in the gender that was asked for, with Wilson's interval."""
    over_entities: Interval | None
    """Its interval over entities (occupations)."""
    counts: Mapping[str, int]
    """Sentences by call: ``male``, ``female``, ``neutral``, and ``none`` without one."""
    change: Difference | None
    """First: `obeys`; second: the share in that gender of what was asked for without saying. None
    where no such run was given."""
    change_over_entities: Interval | None

    def to_json(self) -> JsonDict:
        """A plain value, unrounded."""
        change = self.change and {
            **asdict(self.change),
            "interval_entities": self.change_over_entities,
        }
        return {
            "asked": self.asked.value,
            "source": self.group,
            "n": self.n,
            "obeys": self.obeys.value,
            "interval": self.obeys.interval,
            "interval_entities": self.over_entities,
            "counts": dict(self.counts),
            "change": change,
        }


@frozen
class Quality:
    """A score of translations against references."""

    asked: str
    """One of `ASKED`."""
    metric: str
    """``bleu`` or ``chrf``."""
    score: Estimate
    """With its bootstrap interval over sentences, and how many have a reference."""
    change: Difference | None
    """First: `score`; second: the score of the run that was asked for without a gender, over the
    sentences with a reference in both. None for that run itself, and where it is not given."""


@frozen
class ControlledRuns:
    """What was asked for in several ways, compared."""

    lang: str
    dataset: str
    files: Mapping[str, str]
    """SHA-256 of each file of the corpus."""
    systems: Mapping[str, str]
    """By `ASKED` the system of each run."""
    fingerprints: Mapping[str, str]
    obedience: Sequence[Obedience]
    gaps: Mapping[str, Difference]
    """By group: obedience to the masculine − obedience to the feminine, in points."""
    quality: Sequence[Quality]
    quality_signatures: Sequence[str]
    n_resamples: int
    seed: int

    @property
    def tests(self) -> int:
        """Tests that are corrected together."""
        changes = [one.change for one in self.obedience if one.change is not None]
        return sum(each.p is not None for each in [*changes, *self.gaps.values()])

    @property
    def signature(self) -> str:
        """One line that records how the numbers were made."""
        runs = "|".join(
            f"{asked}:{self.systems[asked]}#{fingerprint}"
            for asked, fingerprint in self.fingerprints.items()
        )
        quality = [f"quality:{'+'.join(self.quality_signatures)}"] if self.quality else []
        head = f"controlled|dataset:{self.dataset}|lang:{self.lang}"
        tail = f"tests:{self.tests}|resamples:{self.n_resamples}|seed:{self.seed}"
        return "|".join([head, runs, *quality, tail, f"mtbias:{__version__}"])

    def to_json(self) -> JsonDict:
        """A plain value; per cent, floats rounded to 6 decimals, None where undefined."""
        content = {
            "schema": SCHEMA,
            "mtbias": __version__,
            "signature": self.signature,
            "dataset": self.dataset,
            "files": dict(self.files),
            "lang": self.lang,
            "runs": {
                asked: {"system": system, "fingerprint": self.fingerprints[asked]}
                for asked, system in self.systems.items()
            },
            "intervals": {
                "shares": "Wilson",
                "differences": "paired percentile bootstrap over sentences",
                "level": 100 * LEVEL,
                "resamples": self.n_resamples,
                "seed": self.seed,
            },
            "p": {
                "method": "paired randomisation over sentences",
                "correction": "Holm",
                "tests": self.tests,
            },
            "obedience": [one.to_json() for one in self.obedience],
            "gaps": {group: asdict(gap) for group, gap in self.gaps.items()},
            "quality": [asdict(one) for one in self.quality],
        }
        return rounded(content)


def compare_asked(
    runs: Mapping[str, ComparableRun],
    references: Mapping[str, Mapping[str, str]] | None = None,
    *,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
    different_evaluators: bool = False,
) -> ControlledRuns:
    """Compare runs on one corpus that were asked for in different genders.

    Args:
        runs: by `ASKED`; at least one that was asked for in a gender.
        references: by `ASKED` a reference for each id; a sentence without one is left out of
            quality.
        n_resamples: of the bootstrap and of the tests; with 0 there are only Wilson's intervals.
        seed: of both.
        different_evaluators: compare runs although different evaluators read them.

    Raises:
        UsageError: a key is not in `ASKED`, or none is a gender; references for something that was
            not asked for.
        DependencyError: references, and sacrebleu is not installed.
        DataError: the runs cannot be compared (`mtbias.scoring.comparable_runs.name_runs`), are of
            several languages, or of a corpus without entities; no sentence has a reference.
    """
    _check(runs, references or {})
    rows: dict[str, list[Called]] = {asked: [] for asked in runs}
    for part in parts(list(runs.values())):
        named = name_runs(part, names=list(runs), different_evaluators=different_evaluators)
        for asked, run in zip(runs, named, strict=True):
            rows[asked] += run.gender_calls
    how = _How(rows, n_resamples, seed)
    first = next(iter(runs.values()))
    dataset, files = first.corpus
    obedience: list[Obedience] = []
    for asked in [each for each in runs if each != NONE]:
        obedience += [how.obedience(Gender(asked), group) for group in how.groups]
    gaps = how.gaps()
    return _with_holm(
        ControlledRuns(
            lang=first.lang,
            dataset=dataset,
            files=files,
            systems={asked: run.system for asked, run in runs.items()},
            fingerprints={asked: run.fingerprint for asked, run in runs.items()},
            obedience=obedience,
            gaps=gaps,
            quality=how.quality(references) if references else (),
            quality_signatures=(quality_signatures() or []) if references else [],
            n_resamples=n_resamples,
            seed=seed,
        )
    )


def _check(runs: Mapping[str, ComparableRun], references: Mapping[str, object]) -> None:
    for asked in (*runs, *references):
        if asked not in ASKED:
            raise UsageError(f"expected what was asked for, {', '.join(ASKED)}, got {asked!r}")
    if not set(runs) - {NONE}:
        raise UsageError("expected a run that was asked for in the female or the male gender")
    if references and not quality_metrics():
        raise DependencyError(f"BLEU and chrF need sacrebleu: {install_command('quality')}")
    for asked in references:
        if asked not in runs:
            raise UsageError(f"expected a run that was asked for as its references are, {asked}")
    languages = list(dict.fromkeys(run.lang for run in runs.values()))
    if len(languages) > 1:
        raise DataError(f"expected runs of one language, got {', '.join(languages)}")
    for run in runs.values():
        if run.counting is not GENDER_COUNTING and run.counting is not UNKNOWN_GENDER:
            got = f"{run.system} on {run.corpus[0]}"
            raise DataError(f"expected runs in which the gender of a person was read, got {got}")


@frozen
class _How:
    """The sentences of each run, by the gender that was asked for, and how numbers are computed
    from them.
    """

    rows: Mapping[str, Sequence[Called]]
    n_resamples: int
    seed: int

    @property
    def groups(self) -> list[str]:
        """Those of `GROUPS` that the corpus has; one alone is all of it."""
        genders = {_source_gender(row) for row in next(iter(self.rows.values()))}
        return [group for group in GROUPS if group == ALL or group in genders]

    def units(self, asked: str, gender: Gender, group: str) -> NumberUnits:
        """Whether the person of each sentence of a group has `gender` in the run that `asked`
        names.
        """
        rows = [row for row in self.rows[asked] if group in {ALL, _source_gender(row)}]
        sums = np.array([[row.call.gender is gender, 1] for row in rows], dtype=np.float64)
        entities = tuple(row.entity for row in rows)
        return NumberUnits(sums.reshape(-1, 2), entities, _share, shares=(_SHARE,))

    def obedience(self, asked: Gender, group: str) -> Obedience:
        units = self.units(asked, asked, group)
        hits, n = map(int, units.sums.sum(axis=0))
        rows = [row for row in self.rows[asked] if group in {ALL, _source_gender(row)}]
        calls = Counter(NONE if row.call.gender is None else row.call.gender.value for row in rows)
        change = over = None
        if NONE in self.rows:
            plain = self.units(NONE, asked, group)
            change = units.minus(plain, "rows", self.n_resamples, self.seed)[_SHARE]
            over = units.minus(plain, "occupations", self.n_resamples, self.seed)[_SHARE].interval
        return Obedience(
            asked=asked,
            group=group,
            n=n,
            obeys=Estimate(percent_of(hits, n), wilson_percent(hits, n), n),
            over_entities=units.over("occupations", self.n_resamples, self.seed)[_SHARE].interval,
            counts={name: calls[name] for name in (*map(str, Gender), NONE)},
            change=change,
            change_over_entities=over,
        )

    def gaps(self) -> dict[str, Difference]:
        """By group; none where only one gender was asked for."""
        if not {Gender.MALE.value, Gender.FEMALE.value} <= self.rows.keys():
            return {}
        return {group: self._gap(group) for group in self.groups}

    def _gap(self, group: str) -> Difference:
        men, women = (self.units(each, each, group) for each in (Gender.MALE, Gender.FEMALE))
        return men.minus(women, "rows", self.n_resamples, self.seed)[_SHARE]

    def quality(self, references: Mapping[str, Mapping[str, str]]) -> list[Quality]:
        """Of each run that has references, and its change against the run without saying."""
        scores = []
        for name, metric in quality_metrics().items():
            for asked, of in references.items():
                rows = [row for row in self.rows[asked] if row.id in of]
                if not rows:
                    raise DataError(f"no sentence has a reference, of what was asked for: {asked}")
                drawn = _drawn(len(rows), self.n_resamples, self.seed)
                value, replicates = corpus_scores(metric, _texts(rows, of), drawn)
                score = Estimate(value, percentile_interval(replicates), len(rows))
                change = None if asked == NONE else self._change(metric, asked, references)
                scores.append(Quality(asked, name, score, change))
        return scores

    def _change(
        self, metric: Metric, asked: str, references: Mapping[str, Mapping[str, str]]
    ) -> Difference | None:
        """First − what was asked for without saying, over the sentences that both have."""
        if NONE not in references:
            return None
        shared = references[asked].keys() & references[NONE].keys()
        both = [
            (row, other)
            for row, other in zip(self.rows[asked], self.rows[NONE], strict=True)
            if row.id in shared
        ]
        if not both:
            return None
        drawn = _drawn(len(both), self.n_resamples, self.seed)
        ours, theirs = zip(*both, strict=True)
        first, of_first = corpus_scores(metric, _texts(ours, references[asked]), drawn)
        second, of_second = corpus_scores(metric, _texts(theirs, references[NONE]), drawn)
        return Difference(first, second, first - second, percentile_interval(of_first - of_second))


def _source_gender(row: Called) -> str:
    """The gender that the source tells."""
    return UNKNOWN if row.gold is None else str(row.gold.value)


_SHARE = "share"
"""The one number of these units."""


def _share(sums: Floats) -> dict[str, Floats]:
    return {_SHARE: percent(sums[..., 0], sums[..., 1])}


def _texts(rows: Sequence[Called], references: Mapping[str, str]) -> list[tuple[str, str]]:
    """Translation and reference of each; a missing translation is the empty one."""
    return [(row.translation or "", references[row.id]) for row in rows]


def _drawn(n: int, n_resamples: int, seed: int) -> Floats:
    """How often each sentence is in each resample; no resamples of too few."""
    if not enough(n):
        return np.empty((0, n))
    drawn: Floats = source(seed).multinomial(n, np.full(n, 1 / n), size=n_resamples).astype(float)
    return drawn


def _with_holm(runs: ControlledRuns) -> ControlledRuns:
    """With p corrected over all changes and gaps together."""
    changes = [one.change for one in runs.obedience if one.change is not None]
    tests = {str(n): each for n, each in enumerate([*changes, *runs.gaps.values()])}
    done = chain.from_iterable(each.values() for each in corrected([tests], together=True))
    obedience = [
        one if one.change is None else replace(one, change=next(done)) for one in runs.obedience
    ]
    return replace(runs, obedience=obedience, gaps={group: next(done) for group in runs.gaps})
