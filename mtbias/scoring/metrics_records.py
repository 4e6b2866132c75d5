"""The records of a `metrics.json`: numbers in per cent or points, None where undefined.

`mtbias.scoring.metrics_reader` reads them. A file of an earlier release, or of another measure,
lacks parts: they are None, or empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from numpy.typing import ArrayLike

from mtbias.errors import DataError
from mtbias.scoring.definitions import (
    ALL_ROWS,
    BY_ENTITY,
    DELTA_I,
    WITH_CALL,
    Number,
    interval_methods,
)
from mtbias.scoring.statements import Statement
from mtbias.stats.resampling import wilson_percent
from mtbias.stats.results import Estimate, Interval, estimate_text, percent_of, rounded
from mtbias.types import Gender, JsonDict, frozen

Bounds = tuple[float | None, float | None]
"""A number with what is undecided counted against it, and without what is undecided."""


@dataclass(frozen=True, eq=False)
class GroupMetrics:
    """A set of sentences: its numbers, and the rows that they rest on."""

    whole: Mapping[str, int] = field(default_factory=dict)
    """The classes at the head of a group (`mtbias.scoring.definitions.WHOLE`): all rows, and those
    with a call where the measure has such."""
    values: Mapping[str, float | None] = field(default_factory=dict)
    """By key, in per cent or points; None where undefined."""
    intervals: Mapping[str, Interval | None] = field(default_factory=dict)
    """95 %, over sentences, of the numbers that have intervals."""
    entity_intervals: Mapping[str, Interval | None] | None = None
    """95 %, over entities; None if there are none."""
    denominators: Mapping[str, int] = field(default_factory=dict)
    """The rows of the other classes that numbers rest on."""
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    """By key (``accuracy_bounds``)."""
    confusion: ArrayLike = ()
    """Counts by the axes of `RunMetrics.axes`, as nested lists."""

    @property
    def n(self) -> int:
        """All rows.

        Raises:
            DataError: the group does not count them.
        """
        return self._count(ALL_ROWS)

    @property
    def decided(self) -> int:
        """Rows with a call.

        Raises:
            DataError: the group does not count them.
        """
        return self._count(WITH_CALL)

    def _count(self, key: str) -> int:
        if key not in self.whole:
            raise _lacks(key)
        return self.whole[key]

    @property
    def is_all_neutral(self) -> bool:
        """Whether all rows have neutral gold gender: in WinoMT those without a pronoun.

        In such a group ΔG and the F1 are undefined, and its accuracy says nothing about men or
        women.
        """
        neutral = self.denominators.get(Gender.NEUTRAL, 0)
        return neutral > 0 and neutral == self.n

    def value(self, number: Number) -> float | None:
        """A number; None where it is undefined, and where the group lacks it."""
        return self.values.get(number.key)

    def estimate(self, number: Number) -> Estimate:
        """A number with its interval; `n` are all rows.

        Raises:
            DataError: the group lacks it.
        """
        if number.name not in self.values:
            raise _lacks(number.name)
        value = self.values[number.name]
        interval = None if value is None else self.intervals.get(number.name)
        return Estimate(value, interval, self.n)

    def interval_over_entities(self, number: Number) -> Interval | None:
        """95 %; None where it has none."""
        return (self.entity_intervals or {}).get(number.key)

    def text(self, number: Number) -> str:
        """A number with its interval, where it has one: ``24.8 [22.4, 27.3]``."""
        estimate = self.estimate(number)
        return estimate_text(estimate.value, estimate.interval, number.decimals)

    def rows(self, number: Number) -> list[int]:
        """How many rows each class has that a number rests on.

        Raises:
            KeyError: the group does not count a class.
        """
        rows = {**self.whole, **self.denominators}
        return [rows[name] for name in number.rests_on]

    def flat_row(self, numbers: Sequence[Number]) -> JsonDict:
        """The group with one value for each name, as a row of a table has it.

        Classes of rows are ``n_…`` (but ``called_…``), intervals ``…_low`` and ``…_high``, those
        over entities ``…_low_entities`` and ``…_high_entities``, bounds ``…_low_bound`` and
        ``…_high_bound``.

        Raises:
            KeyError: the group lacks a number.
        """
        row: JsonDict = dict(self.whole)
        for name, rows in self.denominators.items():
            row[name if name.startswith("called_") else f"n_{name}"] = rows
        row |= {number.key: self.values[number.key] for number in numbers}
        for key, ends in self.bounds.items():
            name = key.removesuffix("bounds")
            row[f"{name}low_bound"], row[f"{name}high_bound"] = ends
        for key in interval_methods(numbers):
            row[f"{key}_low"], row[f"{key}_high"] = self.intervals.get(key) or (None, None)
        for key, interval in (self.entity_intervals or {}).items():
            row[f"{key}_low_entities"], row[f"{key}_high_entities"] = interval or (None, None)
        return row

    def by_key(self) -> Mapping[str, object]:
        """Everything by key, as the format strings of declarations name it (`Number.reading`)."""
        return {**self.whole, **self.values, **self.bounds, "denominators": self.denominators}


def _lacks(key: str) -> DataError:
    expected = f"expected the key {key!r} in metrics.json, got none"
    return DataError(f"{expected}; score the run into another folder")


@frozen
class PairMetrics:
    """The numbers over pairs of sentences, by the part of ``consistency`` that has them."""

    places: Mapping[str, GroupMetrics]

    def estimate(self, number: Number) -> Estimate:
        """A number with its interval; `n` are its pairs or quadruples.

        Raises:
            DataError: there is no such number.
        """
        return self.places[number.place].estimate(number)

    @property
    def quadruples(self) -> int:
        """How many there are."""
        return self.places[DELTA_I.place].n

    def rows(self, number: Number) -> list[int]:
        """How many pairs or quadruples a number rests on."""
        return self.places[number.place].rows(number)


@frozen
class Consistency:
    """How often gender alone decides whether a system is right (`mtbias.scoring.consistency`)."""

    all: PairMetrics
    """A sentence without a call is not right."""
    decided: PairMetrics
    """Of pairs and quadruples all of whose sentences have a call."""
    pairs_without_controls: int
    left_out: Mapping[str, int]
    """Links that became no pair, by reason."""


@frozen
class ShareMetrics:
    """A share of rows, in per cent with Wilson's interval."""

    n: int
    of: int
    percent: float | None
    interval: Interval | None

    @classmethod
    def counted(cls, part: int, whole: int) -> ShareMetrics:
        """The share of so many rows."""
        return cls(part, whole, percent_of(part, whole), wilson_percent(part, whole))

    @property
    def text(self) -> str:
        """``12.5 [10.1, 14.9]``."""
        return estimate_text(self.percent, self.interval)

    def to_json(self) -> JsonDict:
        """A plain value; floats rounded to 6 decimals."""
        return rounded(asdict(self))


@frozen
class CheckedShare:
    """A sign that numbers cannot be believed, and its limit (`mtbias.scoring.alarms`)."""

    share: ShareMetrics
    limit: float
    """In per cent."""
    above: bool
    """Whether it raises an alarm."""
    measured: bool
    """Whether the limit is that of the language; else it is the widest of all languages."""

    def to_json(self) -> JsonDict:
        """A plain value."""
        return {
            **self.share.to_json(),
            "limit": self.limit,
            "measured": self.measured,
            "above": self.above,
        }


@frozen
class Alarms:
    """What was checked, and what is above its limit."""

    raised: Sequence[str]
    """The signs above their limits."""
    shares: Mapping[str, CheckedShare] = field(default_factory=dict)
    """By sign."""
    other_languages: Mapping[str, int] = field(default_factory=dict)
    unusual_characters: Mapping[str, int] = field(default_factory=dict)
    concerned: int = 0
    """Sentences that raised signs are about."""
    without: GroupMetrics | None = None
    """The numbers without these sentences."""


@frozen
class IntervalSettings:
    """How the intervals were made."""

    method: str = ""
    level: float = 0
    """In per cent."""
    resamples: int = 0
    """0: no intervals."""
    seed: int = 0

    @property
    def name(self) -> str:
        """``95 % interval``; empty without intervals."""
        return f"{self.level:g} % interval" if self.resamples else ""


@frozen
class EntityIntervalSettings:
    """How the intervals over entities were made."""

    entities: int
    reason: str | None
    """Why there are none."""


@frozen
class CountedRows:
    """Rows of one kind, and what per cent of all they are."""

    n: int
    percent: float | None


@frozen
class Uncalled:
    """Rows without a call by gold gender, and ΔG without them."""

    by_gender: Mapping[str, ShareMetrics]
    delta_g: Estimate


@frozen
class PostEdits:
    """What wrong genders cost (`mtbias.scoring.bias.post_edits`)."""

    n: int
    wrong: int
    edits: int
    unknown: int
    """Edits whose other form no table tells."""
    per_wrong: Estimate
    per_sentence: Estimate


@frozen
class ExpectedErrors:
    """How many of some calls are expected to be wrong, by labelled calls of their kind."""

    calls: int
    estimated: int
    """Calls of kinds with enough labels: the expected number is of these."""
    expected: float | None
    interval: Interval | None


@frozen
class ExpectedWrong:
    """`ExpectedErrors` of a run."""

    labels: int
    """Labelled calls of the language; 0: nothing is expected."""
    by_gender: Mapping[str, ExpectedErrors]
    by_class: Mapping[str, Mapping[str, ExpectedErrors]]
    """By class of evidence and gender."""


@frozen
class ReaderWord:
    """A word on which the tables and Stanza's features differ."""

    form: str
    tables: str
    stanza: str
    n: int


@frozen
class ReaderAgreement:
    """How many calls Stanza's features alone make alike."""

    by_gender: Mapping[str, ShareMetrics]
    words: Sequence[ReaderWord]


@frozen
class RepeatedNumber:
    """A number each time that everything was translated."""

    values: Sequence[float | None]
    spread: float | None
    """Greatest minus least; None where it is undefined at some time."""


@frozen
class Repeats:
    """What changed when everything was translated again."""

    times: int
    n: int
    """Sentences."""
    translations_changed: CountedRows
    calls_changed: CountedRows
    numbers: Mapping[str, RepeatedNumber]
    """By key."""


@frozen
class CorpusMetrics:
    """How the corpus was read."""

    name: str = ""
    rows: int = 0
    skipped: int = 0
    notes: Mapping[str, int] = field(default_factory=dict)
    """What was noticed, and in how many rows."""


@frozen
class TranslationMetrics:
    """What was noticed while the translations were read or made."""

    counts: Mapping[str, int] = field(default_factory=dict)
    """By kind."""
    examples: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By kind the first ids."""
    cleaned: Mapping[str, int] = field(default_factory=dict)
    """In the answers of a language model, by kind."""
    untranslated: Mapping[str, int] = field(default_factory=dict)
    """Of the cleaned answers those without a translation, by kind."""


@dataclass(frozen=True, eq=False)
class RunMetrics:
    """The content of a `metrics.json`; per cent, None where undefined."""

    overall: GroupMetrics
    by: Mapping[str, Mapping[str, GroupMetrics]]
    """Groups by breakdown (``by_domain``) and name."""
    n: int | None
    mtbias: str
    """The release that scored the run; empty where the file does not say."""
    signature: str | None
    intervals: IntervalSettings
    interval_methods: Mapping[str, str]
    """``wilson`` or ``bootstrap``, by number."""
    entity_intervals: EntityIntervalSettings | None
    axes: Mapping[str, Sequence[str | None]]
    """The axes of `GroupMetrics.confusion`, with the names of their places."""
    reasons: Mapping[str, CountedRows] | None
    """Rows without a call, by reason; None for a measure without calls."""
    evidence: Mapping[str, CountedRows] | None
    """Calls by the kind of word that they rest on."""
    uncalled: Uncalled | None
    consistency: Consistency | None
    strategies: Mapping[str, Mapping[str, ShareMetrics]]
    """What the translations do with the gender, for ``unknown`` and ``known`` sources."""
    post_edits: Mapping[str, PostEdits]
    fixed_gender: int
    """Rows without a call since their noun has one grammatical gender."""
    evidence_classes: Mapping[str, Mapping[str, int]]
    """Calls by class of evidence and gender."""
    expected_wrong: ExpectedWrong | None
    readers: ReaderAgreement | None
    alarms: Alarms | None
    finding: Sequence[Statement]
    corpus: CorpusMetrics
    translations: TranslationMetrics
    repeats: Repeats | None
    files: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of the run's other files."""
    unknown: RunMetrics | None = None
    """The numbers of sentences that show no gender, if there are also others."""

    @property
    def by_entity(self) -> Mapping[str, GroupMetrics]:
        """The groups by entity; empty where the measure has none."""
        return self.by.get(BY_ENTITY, {})

    @property
    def raised(self) -> Sequence[str]:
        """The signs above their limits."""
        return () if self.alarms is None else self.alarms.raised
