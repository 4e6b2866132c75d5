"""From `metrics.json` to records: the one module that knows its keys.

`read_metrics` reads the content once; reports and findings look at the records
(`mtbias.scoring.metrics_records`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mtbias.scoring.definitions import WHOLE
from mtbias.scoring.metrics_records import (
    Alarms,
    CheckedShare,
    Consistency,
    CorpusMetrics,
    CountedRows,
    EntityIntervalSettings,
    ExpectedErrors,
    ExpectedWrong,
    GroupMetrics,
    IntervalSettings,
    PairMetrics,
    PostEdits,
    ReaderAgreement,
    ReaderWord,
    RepeatedNumber,
    Repeats,
    RunMetrics,
    ShareMetrics,
    TranslationMetrics,
    Uncalled,
)
from mtbias.scoring.statements import Quote, Statement
from mtbias.stats.results import Estimate, Interval
from mtbias.types import JsonDict, JsonObject

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


def read_metrics(content: JsonObject) -> RunMetrics:
    """The records of a `metrics.json`, schema 1."""
    expected, readers = content.get("expected_wrong"), content.get("readers")
    uncalled, pairs = content.get("uncalled"), content.get("consistency")
    over = content.get("entity_intervals")
    unknown = unknown_part(content)
    return RunMetrics(
        overall=read_group(content.get("overall") or {}),
        by={key: _groups(groups) for key, groups in content.items() if key.startswith("by_")},
        n=content.get("n"),
        mtbias=content.get("mtbias") or "",
        signature=content.get("signature"),
        intervals=read_interval_settings(content),
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
        alarms=read_alarms(alarms_part(content)),
        finding=tuple(map(_statement, content.get("finding") or ())),
        corpus=CorpusMetrics(
            **_chosen(content.get("corpus") or {}, ("name", "rows", "skipped", "notes"))
        ),
        translations=_translations(content.get("translations") or {}),
        repeats=_repeats(content["repeats"]) if content.get("repeats") else None,
        files=content.get("files") or {},
        unknown=None if unknown is None else read_metrics(unknown),
    )


def read_interval_settings(content: JsonObject) -> IntervalSettings:
    """How the intervals of a `metrics.json` were made."""
    settings = content.get("intervals") or {}
    return IntervalSettings(**_chosen(settings, ("method", "level", "resamples", "seed")))


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


def alarms_part(content: JsonObject) -> JsonObject | None:
    """``alarms`` of a `metrics.json`, unchanged."""
    return content.get("alarms")


def read_alarms(content: JsonObject | None) -> Alarms | None:
    """The record of ``alarms``; None of a file of an earlier release, which has none."""
    if content is None:
        return None
    without = content.get("without")
    shares = {}
    for key, share in (content.get("shares") or {}).items():
        shares[key] = CheckedShare(
            read_share(share), share["limit"], share["above"], share.get("measured", True)
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


def read_interval(ends: Sequence[float] | None) -> Interval | None:
    """The lower and upper end; None without an interval."""
    return (ends[0], ends[1]) if ends else None


def _intervals(content: JsonObject) -> dict[str, Interval | None]:
    return {key: read_interval(ends) for key, ends in content.items()}


def _groups(content: JsonObject) -> dict[str, GroupMetrics]:
    return {name: read_group(group) for name, group in content.items()}


def read_share(content: JsonObject) -> ShareMetrics:
    """The record of `ShareMetrics.to_json`."""
    interval = read_interval(content["interval"])
    return ShareMetrics(content["n"], content["of"], content["percent"], interval)


def read_estimate(content: JsonObject) -> Estimate:
    """A number with its interval."""
    return Estimate(content["value"], read_interval(content["interval"]))


def _counted(content: JsonObject, key: str) -> dict[str, CountedRows] | None:
    """``reasons`` or ``evidence``; their shares are kept beside them."""
    if key not in content:
        return None
    percent = content.get(f"{key}_percent") or {}
    return {name: CountedRows(n, percent.get(name)) for name, n in content[key].items()}


def _uncalled(content: JsonObject) -> Uncalled:
    shares = {key: read_share(part) for key, part in content.items() if key != "delta_g"}
    return Uncalled(shares, read_estimate(content["delta_g"]))


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
        parts[source] = {strategy: read_share(share) for strategy, share in shares.items()}
    return parts


def _post_edits(content: JsonObject) -> dict[str, PostEdits]:
    parts = {}
    for gender, part in content.items():
        parts[gender] = PostEdits(
            n=part["n"],
            wrong=part["wrong"],
            edits=part["edits"],
            unknown=part["unknown"],
            per_wrong=read_estimate(part["per_wrong"]),
            per_sentence=read_estimate(part["per_sentence"]),
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
        calls, interval = part["calls"], read_interval(part["interval"])
        estimated = part.get("estimated", calls)
        errors[gender] = ExpectedErrors(calls, estimated, part["expected"], interval)
    return errors


def _readers(content: JsonObject) -> ReaderAgreement:
    shares = {key: read_share(part) for key, part in content.items() if key != "words"}
    words = [
        ReaderWord(word["form"], word["tables"], word["stanza"], word["n"])
        for word in content.get("words") or ()
    ]
    return ReaderAgreement(shares, words)


def _translations(content: JsonObject) -> TranslationMetrics:
    counts = {kind: n for kind, n in content.items() if isinstance(n, int)}
    parts = _chosen(content, ("examples", "cleaned", "untranslated"))
    return TranslationMetrics(counts, **{name: part or {} for name, part in parts.items()})


def _statement(content: JsonObject) -> Statement:
    quote = content.get("quote")
    return Statement(content["rule"], content["text"], None if quote is None else Quote(**quote))


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
