"""Which runs can be compared (one corpus, one evaluator), where they differ, and the numbers of one
and of two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain, combinations
from typing import Protocol, cast

from mtbias.errors import DataError
from mtbias.scoring.counting import Counting, EntityIntervals, Group
from mtbias.scoring.measure import MeasureRecord
from mtbias.scoring.metrics_reader import alarms_part
from mtbias.stats.paired import McNemar
from mtbias.stats.results import Difference, Estimate
from mtbias.types import Called, JsonDict, JsonObject, frozen

# ruff: noqa: D102 - the names of the protocol's properties say what they are


class ComparableRun(Protocol):
    """What a comparison needs of a run: `mtbias.runs.finished_run.FinishedRun` has it."""

    @property
    def system(self) -> str: ...
    @property
    def lang(self) -> str: ...
    @property
    def source_lang(self) -> str: ...
    @property
    def corpus(self) -> tuple[str, Mapping[str, str]]: ...
    @property
    def evaluator(self) -> JsonObject: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def calls(self) -> Sequence[MeasureRecord]: ...
    @property
    def metrics(self) -> JsonObject: ...
    @property
    def counting(self) -> Counting: ...
    @property
    def known(self) -> ComparableRun: ...
    @property
    def unknown(self) -> ComparableRun | None: ...


@frozen
class NamedRun:
    """A run that can be compared, with a name that no other run of its language has."""

    name: str
    lang: str
    fingerprint: str
    calls: Sequence[MeasureRecord]
    """In the order of the first run's."""
    alarms: JsonObject | None = None
    """Those of the run's `metrics.json`; None in a run of an earlier release."""

    @property
    def gender_calls(self) -> Sequence[Called]:
        """`calls`, of a run in which the gender of entities was read."""
        return cast("Sequence[Called]", self.calls)


def name_runs(
    runs: Sequence[ComparableRun],
    *,
    names: Sequence[str] | None = None,
    different_evaluators: bool = False,
) -> list[NamedRun]:
    """The runs, checked, with their names: the system's, and the run's fingerprint if a language
    has that system twice.

    `names`, one for each run, replace those that the runs have; with `different_evaluators`, runs
    of one language may have been read by different evaluators.

    Raises:
        DataError: no runs; not a name for each; a run twice; corpora that differ (the message says
            in which file); sentences that differ; evaluators that differ within a language.
    """
    if not runs:
        raise DataError("expected runs to compare, got none")
    systems = [run.system for run in runs] if names is None else list(names)
    if len(systems) != len(runs):
        raise DataError(f"expected a name for each of {len(runs)} runs, got {len(systems)}")
    seen = set()
    for run in runs:
        if run.fingerprint in seen:
            twice = f"{_named(run)} with the fingerprint {run.fingerprint} twice"
            raise DataError(f"expected different runs, got {twice}")
        seen.add(run.fingerprint)
        _check_corpus(runs[0], run)
    if not different_evaluators and (differences := differing_evaluators(runs)):
        lang, (phrase, *_) = next(iter(differences.items()))
        raise DataError(
            f"expected runs of {lang} read by one evaluator, got {phrase}; "
            "score them again with the same release, models and aligner, or allow it with "
            "--different-evaluators (from Python: different_evaluators=True)"
        )
    times = Counter((run.lang, system) for run, system in zip(runs, systems, strict=True))
    return [
        NamedRun(
            name=system if times[run.lang, system] == 1 else f"{system}#{run.fingerprint[:8]}",
            lang=run.lang,
            fingerprint=run.fingerprint,
            calls=_in_order(runs[0], run),
            alarms=alarms_part(run.metrics),
        )
        for run, system in zip(runs, systems, strict=True)
    ]


def by_language(runs: Sequence[NamedRun]) -> dict[str, list[NamedRun]]:
    """The runs of each language; languages and runs in the order in which they come."""
    of_language: dict[str, list[NamedRun]] = {}
    for run in runs:
        of_language.setdefault(run.lang, []).append(run)
    return of_language


def differing_evaluators(runs: Sequence[ComparableRun]) -> dict[str, tuple[str, ...]]:
    """For each language whose runs were read by different evaluators, what differs, a phrase
    each.
    """
    differences: dict[str, tuple[str, ...]] = {}
    for lang in dict.fromkeys(run.lang for run in runs):
        first, *others = (run for run in runs if run.lang == lang)
        phrases = chain.from_iterable(_evaluator_phrases(first, other) for other in others)
        if of_language := tuple(phrases):
            differences[lang] = of_language
    return differences


def _evaluator_phrases(first: ComparableRun, second: ComparableRun) -> Iterator[str]:
    """A phrase for each property in which the evaluators of two runs differ."""
    for key in dict.fromkeys((*first.evaluator, *second.evaluator)):
        one, other = first.evaluator.get(key), second.evaluator.get(key)
        if one != other:
            yield f"{key} {one!s} in {first.system} and {other!s} in {second.system}"


def differing_rows(
    runs: Sequence[ComparableRun],
    *,
    names: Sequence[str] | None = None,
    different_evaluators: bool = False,
) -> Iterator[dict[str, str | None]]:
    """The sentences on which the calls of two runs differ: pair after pair within a language, in
    the corpus's order.

    A gender and none are different. Each has ``lang`` and ``id``; what the measure names of a
    sentence (`mtbias.scoring.counting.Counting.shown`): entity, gold, stereotype; of the ``first``
    and the ``second`` system name, call, reason and translation, None if there is none; and the
    ``source``.

    Raises:
        DataError: as `name_runs`.
    """
    for part in parts(runs):
        named = name_runs(part, names=names, different_evaluators=different_evaluators)
        counting = part[0].counting
        for lang, here in by_language(named).items():
            for first, second in combinations(here, 2):
                yield from _differing_rows(lang, first, second, counting)


def _differing_rows(
    lang: str, first: NamedRun, second: NamedRun, counting: Counting
) -> Iterator[dict[str, str | None]]:
    """The sentences on which the calls of two runs of a language differ."""
    for one, other in zip(first.calls, second.calls, strict=True):
        call, other_call = counting.outcome(one), counting.outcome(other)
        if call != other_call:
            yield {
                "lang": lang,
                "id": one.id,
                **{name: str(getattr(one, name)) for name in counting.shown},
                "first": first.name,
                "first_call": call,
                "first_reason": _reason(one),
                "second": second.name,
                "second_call": other_call,
                "second_reason": _reason(other),
                "source": one.source,
                "first_translation": one.translation,
                "second_translation": other.translation,
            }


def parts(runs: Sequence[ComparableRun]) -> Iterator[Sequence[ComparableRun]]:
    """What is compared apart: the sentences of the main numbers, and those of unknown gender where
    all runs have them.

    Runs on one corpus have them or not; others are refused (`name_runs`).
    """
    yield [run.known for run in runs]
    unknown = [part for run in runs if (part := run.unknown) is not None]
    if unknown and len(unknown) == len(runs):
        yield unknown


def _reason(record: object) -> str | None:
    """Why there is no call, if the measure says so."""
    reason = getattr(getattr(record, "call", None), "reason", None)
    return reason and str(reason)


def _check_corpus(one: ComparableRun, other: ComparableRun) -> None:
    (name, files), (other_name, other_files) = one.corpus, other.corpus
    if name != other_name:
        both = f"{name} ({_named(one)}) and {other_name} ({_named(other)})"
        raise DataError(f"expected runs on one corpus, got {both}; compare them apart")
    for file in sorted({*files, *other_files}):
        if (here := files.get(file)) != (there := other_files.get(file)):
            both = f"{_short(here)} in {_named(one)} and {_short(there)} in {_named(other)}"
            raise DataError(
                f"expected runs on one corpus, got two versions of {name}: {file} has the SHA-256 "
                f"{both}; score them on the same files"
            )


def _in_order(one: ComparableRun, other: ComparableRun) -> Sequence[MeasureRecord]:
    """The calls of `other` in the order of those of `one`."""
    by_id = {row.id: row for row in other.calls}
    known = {row.id for row in one.calls}
    for id_ in (*by_id, *known):
        if (id_ in known) != (id_ in by_id):
            where, nowhere = (one, other) if id_ in known else (other, one)
            alone = f"{id_!r} in {_named(where)} and not in {_named(nowhere)}"
            raise DataError(f"expected the same sentences, got {alone}")
    rows = [by_id[row.id] for row in one.calls]
    counting = one.counting
    axes = len(counting.axes) - 1 if counting.given is None else counting.given
    axis_names = " or ".join(tuple(counting.axes)[:axes])
    for a, b in zip(one.calls, rows, strict=True):
        if a.source != b.source or counting.place(a)[:axes] != counting.place(b)[:axes]:
            raise DataError(
                f"expected the same sentences, got {a.id!r} with another source, "
                f"or other {axis_names}, in {_named(other)} than in {_named(one)}; "
                "score both with the same release"
            )
    return rows


def _named(run: ComparableRun) -> str:
    """``opus-mt in de``."""
    return f"{run.system} in {run.lang}"


def _short(digest: str | None) -> str:
    return f"{digest[:12]}…" if digest and len(digest) > 12 else digest or "(absent)"


@frozen
class SystemNumbers:
    """The numbers of one run."""

    lang: str
    system: str
    fingerprint: str
    group: Group
    """Its counts, and all numbers of the measure."""
    plain: Mapping[str, Estimate]
    """By the compared numbers of the measure."""
    weighted: Mapping[str, Estimate]
    """By `WEIGHTED`; empty where no weights were asked for, without a number that has no groups."""
    alarms: JsonObject | None = None
    """Those of the run's `metrics.json`; None in a run of an earlier release."""
    over_entities: EntityIntervals | None = None
    """Of the plain numbers; None where the measure has no entities."""

    def to_json(self) -> JsonDict:
        """A plain value, unrounded; each plain number comes with its interval over entities."""
        return {
            "lang": self.lang,
            "system": self.system,
            "fingerprint": self.fingerprint,
            "plain": _plain(self.plain, self.over_entities),
            "weighted": _plain(self.weighted),
            "alarms": self.alarms,
        }


@frozen
class SystemPair:
    """Two systems in one language."""

    lang: str
    first: str
    second: str
    plain: Mapping[str, Difference]
    weighted: Mapping[str, Difference]
    consistency: Mapping[str, Difference]
    """I_across and ΔI, over pairs and quadruples of sentences; without a number that the corpus has
    no pairs for."""
    differing: int
    """Sentences on which the calls differ; a call and none are different."""
    mcnemar: McNemar
    over_entities: EntityIntervals | None = None
    """Of the plain differences; None where the measure has no entities."""

    def to_json(self) -> JsonDict:
        """A plain value, unrounded; each plain difference comes with its interval over entities."""
        return {
            "lang": self.lang,
            "first": self.first,
            "second": self.second,
            "plain": _plain(self.plain, self.over_entities),
            "weighted": _plain(self.weighted),
            "consistency": _plain(self.consistency),
            "differing": self.differing,
            "mcnemar": asdict(self.mcnemar),
        }


def _plain(
    numbers: Mapping[str, Estimate] | Mapping[str, Difference],
    over_entities: EntityIntervals | None = None,
) -> dict[str, JsonDict]:
    """Numbers or differences as JSON has them; beside each its interval over entities, where the
    measure has them.
    """
    content: dict[str, JsonDict] = {}
    for key, each in numbers.items():
        if isinstance(each, Difference):
            content[key] = {**asdict(each), "significant": each.significant}
        else:
            content[key] = {"value": each.value, "interval": each.interval}
        if over_entities is not None:
            content[key]["interval_entities"] = over_entities.interval_of(key)
    return content
