"""`metrics.json` as records: the one module that knows its keys.

`read_metrics` reads the content once; reports and findings look at the records. A file of an
earlier release, or of another measure, lacks parts: they are None, or empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mtbias.errors import DataError
from mtbias.scoring.definitions import WHOLE, Number, interval_methods
from mtbias.scoring.statements import Statement, read_statement
from mtbias.stats.results import Estimate, Interval, estimate_text
from mtbias.types import JsonDict, JsonObject, frozen

UNKNOWN = "unknown"
"""The key of `metrics.json` with the numbers of sentences that show no gender, of a corpus that has
others, too."""

OF_THE_RUN = ("schema", "mtbias", "signature", "fingerprint")
"""Keys of `metrics.json` that a part of it does not have again."""


def unknown_part(content: JsonObject) -> JsonDict | None:
    """The numbers of sentences that show no gender, as a `metrics.json` of them alone would have
    them.

    None where a corpus has none, or no others.
    """
    part = content.get(UNKNOWN)
    if part is None:
        return None
    return {**{key: content.get(key) for key in (*OF_THE_RUN, "corpus")}, **part}


Bounds = tuple[float | None, float | None]
"""A number with what is undecided counted against it, and without what is undecided."""


@dataclass(frozen=True, eq=False)
class GroupMetrics:
    """A set of sentences: its numbers, and the rows that they rest on."""

    whole: Mapping[str, int] = field(default_factory=dict)
    """The classes at the head of a group: ``n``, all rows; ``decided``, those with a call where the
    measure has such."""
    values: Mapping[str, float | None] = field(default_factory=dict)
    """By key, in per cent or points; None where undefined."""
    intervals: Mapping[str, Interval | None] = field(default_factory=dict)
    """95 %, over sentences, of the numbers that have intervals."""
    entity_intervals: Mapping[str, Interval | None] | None = None
    """95 %, over entities; None where there are none."""
    denominators: Mapping[str, int] = field(default_factory=dict)
    """The rows of the other classes that numbers rest on."""
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    """By key (``accuracy_bounds``)."""
    confusion: Sequence[Any] = ()
    """Counts by the axes of `RunMetrics.axes`, as nested lists."""

    @property
    def n(self) -> int:
        """All rows."""
        return self.whole.get("n", 0)

    @property
    def decided(self) -> int:
        """Rows with a call."""
        return self.whole.get("decided", 0)

    @property
    def is_all_neutral(self) -> bool:
        """Whether all rows have neutral gold gender: in WinoMT those without a pronoun.

        In such a group ΔG and the F1 are undefined, and its accuracy says nothing about men or
        women.
        """
        neutral = self.denominators.get("neutral", 0)
        return neutral > 0 and neutral == self.n

    def estimate(self, number: Number) -> Estimate:
        """A number with its interval; `n` are all rows.

        Raises:
            DataError: the group lacks it.
        """
        if number.name not in self.values:
            raise DataError(
                f"expected the key {number.name!r} in metrics.json, got none; score the run again"
            )
        value = self.values[number.name]
        interval = None if value is None else self.intervals.get(number.name)
        return Estimate(value, interval, self.n)

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

    @property
    def text(self) -> str:
        """``12.5 [10.1, 14.9]``."""
        return estimate_text(self.percent, self.interval)


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
    """0: there are no intervals."""
    seed: int = 0

    @property
    def name(self) -> str:
        """``95 % interval``; empty where there are none."""
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
    """The numbers of sentences that show no gender, where there are others, too."""

    @property
    def raised(self) -> Sequence[str]:
        """The signs above their limits."""
        return () if self.alarms is None else self.alarms.raised


def read_metrics(content: JsonObject) -> RunMetrics:
    """The records of a `metrics.json`, schema 1."""
    expected, readers = content.get("expected_wrong"), content.get("readers")
    uncalled, pairs = content.get("uncalled"), content.get("consistency")
    settings, over = content.get("intervals") or {}, content.get("entity_intervals")
    unknown = unknown_part(content)
    return RunMetrics(
        overall=read_group(content.get("overall") or {}),
        by={key: _groups(groups) for key, groups in content.items() if key.startswith("by_")},
        n=content.get("n"),
        mtbias=content.get("mtbias") or "",
        signature=content.get("signature"),
        intervals=IntervalSettings(**_chosen(settings, ("method", "level", "resamples", "seed"))),
        interval_methods=content.get("interval_methods") or {},
        entity_intervals=over and EntityIntervalSettings(over["entities"], over["reason"]),
        axes=content.get("confusion_axes") or {},
        reasons=_counted(content, "reasons"),
        evidence=_counted(content, "evidence"),
        uncalled=None if uncalled is None else _uncalled(uncalled),
        consistency=None if pairs is None else _consistency(pairs),
        strategies=_strategies(content.get("strategies") or {}),
        post_edits=_post_edits(content.get("post_edits") or {}),
        fixed_gender=(content.get("grammatical_gender_only") or {}).get("n", 0),
        evidence_classes=content.get("evidence_classes") or {},
        expected_wrong=None if expected is None else _expected_wrong(expected),
        readers=_readers(readers) if readers else None,
        alarms=read_alarms(content.get("alarms")),
        finding=tuple(map(read_statement, content.get("finding") or ())),
        corpus=CorpusMetrics(
            **_chosen(content.get("corpus") or {}, ("name", "rows", "skipped", "notes"))
        ),
        translations=_translations(content.get("translations") or {}),
        repeats=_repeats(content["repeats"]) if content.get("repeats") else None,
        files=content.get("files") or {},
        unknown=None if unknown is None else read_metrics(unknown),
    )


_PARTS_OF_GROUP = ("ci", "ci_entities", "denominators", "confusion", *WHOLE)


def read_group(content: JsonObject) -> GroupMetrics:
    """The record of a group of `metrics.json`."""
    values, bounds = {}, {}
    for key, value in content.items():
        if key.endswith("_bounds"):
            bounds[key] = (value[0], value[1])
        elif key not in _PARTS_OF_GROUP and not isinstance(value, Mapping):
            values[key] = value
    over_entities = content.get("ci_entities")
    return GroupMetrics(
        whole={name: content[name] for name in WHOLE if name in content},
        values=values,
        intervals=_intervals(content.get("ci") or {}),
        entity_intervals=None if over_entities is None else _intervals(over_entities),
        denominators=content.get("denominators") or {},
        bounds=bounds,
        confusion=content.get("confusion") or (),
    )


def read_alarms(content: JsonObject | None) -> Alarms | None:
    """The record of ``alarms``; None of a file of an earlier release, which has none."""
    if content is None:
        return None
    without = content.get("without")
    shares = {}
    for key, share in (content.get("shares") or {}).items():
        shares[key] = CheckedShare(
            _share(share), share["limit"], share["above"], share.get("measured", True)
        )
    return Alarms(
        raised=content["raised"],
        shares=shares,
        other_languages=content.get("other_languages") or {},
        unusual_characters=content.get("unusual_characters") or {},
        concerned=content.get("concerned") or 0,
        without=None if without is None else read_group(without),
    )


def _chosen(content: JsonObject, keys: Iterable[str]) -> dict[str, Any]:
    return {key: content[key] for key in keys if key in content}


def _interval(ends: Sequence[float] | None) -> Interval | None:
    return (ends[0], ends[1]) if ends else None


def _intervals(content: JsonObject) -> dict[str, Interval | None]:
    return {key: _interval(ends) for key, ends in content.items()}


def _groups(content: JsonObject) -> dict[str, GroupMetrics]:
    return {name: read_group(group) for name, group in content.items()}


def _share(content: JsonObject) -> ShareMetrics:
    interval = _interval(content["interval"])
    return ShareMetrics(content["n"], content["of"], content["percent"], interval)


def _estimate(content: JsonObject) -> Estimate:
    return Estimate(content["value"], _interval(content["interval"]))


def _counted(content: JsonObject, key: str) -> dict[str, CountedRows] | None:
    """``reasons`` or ``evidence``; their shares stand beside them."""
    if key not in content:
        return None
    percent = content.get(f"{key}_percent") or {}
    return {name: CountedRows(n, percent.get(name)) for name, n in content[key].items()}


def _uncalled(content: JsonObject) -> Uncalled:
    shares = {key: _share(part) for key, part in content.items() if key != "delta_g"}
    return Uncalled(shares, _estimate(content["delta_g"]))


def _consistency(content: JsonObject) -> Consistency:
    return Consistency(
        all=PairMetrics(_groups(content["all"])),
        decided=PairMetrics(_groups(content["decided"])),
        pairs_without_controls=content["pairs_without_controls"],
        left_out=content["left_out"],
    )


def _strategies(content: JsonObject) -> dict[str, dict[str, ShareMetrics]]:
    parts = {}
    for source, shares in content.items():
        parts[source] = {strategy: _share(share) for strategy, share in shares.items()}
    return parts


def _post_edits(content: JsonObject) -> dict[str, PostEdits]:
    parts = {}
    for gender, part in content.items():
        parts[gender] = PostEdits(
            n=part["n"],
            wrong=part["wrong"],
            edits=part["edits"],
            unknown=part["unknown"],
            per_wrong=_estimate(part["per_wrong"]),
            per_sentence=_estimate(part["per_sentence"]),
        )
    return parts


_LABELLED_GENDERS = ("male", "female")


def _expected_wrong(content: JsonObject) -> ExpectedWrong:
    by_gender = _expected_errors(_chosen(content, _LABELLED_GENDERS))
    by_class = {}
    for name, genders in (content.get("by_class") or {}).items():
        by_class[name] = _expected_errors(genders)
    return ExpectedWrong(content["labels"], by_gender, by_class)


def _expected_errors(content: JsonObject) -> dict[str, ExpectedErrors]:
    errors = {}
    for gender, part in content.items():
        calls, interval = part["calls"], _interval(part["interval"])
        estimated = part.get("estimated", calls)
        errors[gender] = ExpectedErrors(calls, estimated, part["expected"], interval)
    return errors


def _readers(content: JsonObject) -> ReaderAgreement:
    shares = {key: _share(part) for key, part in content.items() if key != "words"}
    words = [
        ReaderWord(word["form"], word["tables"], word["stanza"], word["n"])
        for word in content.get("words") or ()
    ]
    return ReaderAgreement(shares, words)


def _translations(content: JsonObject) -> TranslationMetrics:
    counts = {kind: n for kind, n in content.items() if isinstance(n, int)}
    parts = _chosen(content, ("examples", "cleaned", "untranslated"))
    return TranslationMetrics(counts, **{name: part or {} for name, part in parts.items()})


def _repeats(content: JsonObject) -> Repeats:
    def changed(key: str) -> CountedRows:
        return CountedRows(content[key]["count"], content[key]["percent"])

    numbers = {
        key: RepeatedNumber(number["values"], number["spread"])
        for key, number in content["numbers"].items()
    }
    return Repeats(
        times=content["times"],
        n=content["n"],
        translations_changed=changed("translations_changed"),
        calls_changed=changed("calls_changed"),
        numbers=numbers,
    )
