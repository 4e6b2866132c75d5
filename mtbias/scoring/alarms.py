"""The signs that a run's numbers cannot be believed, each declared once: what is counted, of what,
and its limit.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from itertools import chain
from math import inf
from types import MappingProxyType
from typing import cast

from mtbias.errors import UsageError
from mtbias.files.kept_results import NOTHING_KEPT
from mtbias.files.strict_json import decoded, encoded
from mtbias.files.text_repair import is_damaged
from mtbias.language.installed import get_language
from mtbias.language.source import ENGLISH_CODE, source_language
from mtbias.language.split_texts import SplitTexts
from mtbias.reading.known_translations import KnownTranslations
from mtbias.scoring.alarm_limits import limit, usual_ratios
from mtbias.scoring.bias import UNKNOWN_GENDER
from mtbias.scoring.evidence import (
    OUTSIDE,
    EvidenceClass,
    both_readers,
    count_classes,
    evidence_class,
    expected_wrong,
    reader_agreement,
    shipped_rates,
    withheld,
)
from mtbias.scoring.measure import MeasureRecord, find_measure
from mtbias.scoring.metrics_records import CheckedShare, ShareMetrics
from mtbias.scoring.scores import counting_of
from mtbias.scoring.text_signs import Marks, Texts, text_marks, unusual_characters
from mtbias.stats.results import percent_of, rounded
from mtbias.translate.text_language import languages
from mtbias.types import Called, Gender, JsonDict, JsonObject, Reason, frozen


@frozen
class Sign:
    """A share of a run's rows that is small for a good system."""

    key: str
    """Its name in `metrics.json`."""
    label: str
    """Its name in tables: ``calls on words outside the tables``."""
    of: str
    """The rows that it is a share of: ``calls``, ``translations``, ``sentences``, ``entities``."""
    they: str
    """What a warning says of those that are counted: ``rest on words outside the table of nouns for
    people``."""
    limit: float
    """In per cent, where the sign was measured in no language (`mtbias.scoring.alarm_limits`)."""
    advice: str
    """What to do, without a stop."""
    concerns: bool = False
    """Whether the numbers are given without the rows that are counted, too."""


_DATA = resources.files("mtbias.scoring").joinpath("data", "signs.toml")
SIGNS = tuple(Sign(**row) for row in tomllib.loads(_DATA.read_text(encoding="utf-8"))["sign"])
"""In the order in which they are shown."""

DECLARED: Mapping[str, Sign] = {sign.key: sign for sign in SIGNS}
"""By key."""

DAMAGED = "damaged"
"""The sign of translations with damaged characters."""

LEAST = 2
"""A sign needs so many rows: one alone tells nothing, whatever its share of a few sentences."""


# A line that was lost or doubled moves the lines after it by one, a blank line of each side by two.
NEIGHBOURS = (-1, 1, -2, 2)
"""How far lines may have moved."""


def unrendered(
    entities: Sequence[str], texts: Sequence[str | None], words: SplitTexts
) -> tuple[Marks, Marks]:
    """For each sentence, whether no known translation of its entity occurs in its translation; and
    whether one then occurs in a neighbouring translation, at that distance of `NEIGHBOURS` at which
    most do. `words` splits the texts.

    Edge cases: None if the language's tables know no translation of the entity, or there is no
    translation.
    """
    translations = words.shared(KnownTranslations)
    known = {entity: translations.forms(entity) for entity in set(entities)}
    forms = {text: _dictionary_forms(text or "", words) for text in set(texts)}

    def shows(n: int, other: int) -> bool:
        return not known[entities[n]].isdisjoint(forms[texts[other]])

    absent: dict[int, bool] = {}
    for n, entity in enumerate(entities):
        if known[entity] and texts[n] is not None:
            absent[n] = not shows(n, n)
    missing = [n for n, is_absent in absent.items() if is_absent]
    moved: set[int] = set()
    for distance in NEIGHBOURS:
        inside = [n for n in missing if 0 <= n + distance < len(texts)]
        shifted = {n for n in inside if shows(n, n + distance)}
        moved = max(moved, shifted, key=len)
    places = range(len(texts))
    return [absent.get(n) for n in places], [n in moved if n in absent else None for n in places]


def _dictionary_forms(text: str, words: SplitTexts) -> frozenset[str]:
    """All dictionary forms of a text's words."""
    forms = (word.facts.dictionary_forms for word in words.words(text))
    return frozenset(chain.from_iterable(forms))


def checks(
    records: Sequence[MeasureRecord],
    lang: str,
    measure: str,
    source_lang: str = ENGLISH_CODE,
    noticed: JsonObject = MappingProxyType({}),
    *,
    n_resamples: int,
    seed: int,
) -> JsonDict:
    """What `metrics.json` says of whether its numbers can be believed.

    Args:
        records: the lines of `calls.jsonl`, in the corpus's order; a measure that has split the
            translations already hands that on as their `words`
            (`mtbias.language.split_texts.SplitTexts`).
        lang: code of the target language.
        measure: name of the measure that made them; for one that reads no entities, only the
            translations are checked.
        source_lang: code of the source language.
        noticed: ``translations`` of `metrics.json`, for the signs that are counted there and not in
            the records.
        n_resamples: as in the run, like `seed`: the numbers without the rows in doubt have
            intervals made like the run's own.
        seed: see there.
    """
    texts = [record.translation for record in records]
    if not find_measure(measure).reads_entities:
        sources = [record.source for record in records]
        text_languages = languages(texts, lang)
        marks = text_marks(sources, texts, lang, text_languages, _ratios(lang, source_lang))
        shares = _shares(marks, noticed, texts, lang)
        return {"alarms": _alarms_json(shares, marks, texts, lang, text_languages)}
    called = cast("Sequence[Called]", records)
    calls = [record.call for record in called]
    counts = count_classes(calls)
    counting = counting_of(called)

    def of_main(some: Sequence[Called]) -> Sequence[Called]:
        """Those of the run's main numbers: without sentences of unknown gender, if there are
        others.
        """
        return [record for record in some if (record.gold is None) == (counting is UNKNOWN_GENDER)]

    main = of_main(called)
    fixed = sum(withheld(record.call) for record in main)
    signs = _signs_of_texts(called, texts, lang, source_lang)
    text_languages = signs.languages
    marks = {**signs.marks, **_call_marks(called), **signs.entity_marks}
    shares = _shares(marks, noticed, texts, lang)
    alarms = _alarms_json(shares, marks, texts, lang, text_languages)
    raised = _raised(shares)
    doubts = [marks[key] for key in raised if DECLARED[key].concerns]
    if doubts:
        undoubted = [r for r, *signs in zip(called, *doubts, strict=True) if not any(signs)]
        alarms["concerned"] = len(called) - len(undoubted)
        if rows := of_main(undoubted):
            alarms["without"] = counting.group(
                counting.tabulate(counting.cells(rows)), n_resamples, seed
            ).to_json()
    return {
        "grammatical_gender_only": {"n": fixed, "percent": rounded(percent_of(fixed, len(main)))},
        "evidence_classes": _by_class(counts),
        "expected_wrong": expected_wrong(counts, {} if raised else shipped_rates(lang)),
        "readers": reader_agreement(list(zip(calls, texts, strict=True))),
        "alarms": alarms,
    }


def _by_class(
    counts: Counter[tuple[EvidenceClass, Gender]],
) -> dict[EvidenceClass, dict[Gender, int]]:
    """Calls by class of evidence and gender; without Stanza's features where no call rests on
    them.
    """
    by_class = {}
    for kind in EvidenceClass:
        row = {gender: counts[kind, gender] for gender in Gender}
        if kind is not EvidenceClass.FEATURES or any(row.values()):
            by_class[kind] = row
    return by_class


CERTAIN_ONE_IN = 200
"""One row in so many that is certainly damaged is an alarm."""
COUNTED_BEFORE = ("source_unknown",)
"""Signs whose rows were counted while the translations were made."""


def _counted(marks: Mapping[str, Marks], noticed: JsonObject) -> dict[str, tuple[int, int]]:
    """By sign how many rows show it, and of how many."""
    counts = {key: (of.count(True), len(of) - of.count(None)) for key, of in marks.items()}
    sentences = max(map(len, marks.values()), default=0)
    return counts | {key: (noticed[key], sentences) for key in COUNTED_BEFORE if key in noticed}


def _damaged(marks: Mapping[str, Marks], texts: Texts) -> list[str | None]:
    """The translations that look damaged."""
    return [text for text, mark in zip(texts, marks[DAMAGED], strict=True) if mark]


def _shares(
    marks: Mapping[str, Marks], noticed: JsonObject, texts: Texts, lang: str
) -> dict[str, CheckedShare]:
    """The share of each sign against its limit.

    Args:
        marks: of every sign, which rows show it.
        noticed: of signs that rows are not marked with, how many do.
        texts: the translations.
        lang: the target language.
    """
    counts = _counted(marks, noticed)
    shares = {
        sign.key: _share(sign, *counts[sign.key], lang) for sign in SIGNS if sign.key in counts
    }
    certain = sum(is_damaged(text) for text in _damaged(marks, texts) if text is not None)
    if certain and certain * CERTAIN_ONE_IN >= len(texts):
        shares[DAMAGED] = replace(shares[DAMAGED], above=True)
    return shares


def _raised(shares: Mapping[str, CheckedShare]) -> list[str]:
    """The signs above their limits."""
    return [key for key, share in shares.items() if share.above]


def _alarms_json(
    shares: Mapping[str, CheckedShare],
    marks: Mapping[str, Marks],
    texts: Texts,
    lang: str,
    text_languages: Sequence[str | None],
) -> JsonDict:
    """`alarms` of `metrics.json`, without what the numbers are without the rows concerned.

    `text_languages` are the languages that the translations are in.
    """
    others = Counter(language for language in text_languages if language not in {None, lang})
    return {
        "raised": _raised(shares),
        "shares": {key: share.to_json() for key, share in shares.items()},
        "other_languages": dict(sorted(others.items(), key=lambda item: (-item[1], item[0]))),
        "unusual_characters": unusual_characters(_damaged(marks, texts), lang),
        "concerned": 0,
        "without": None,
    }


def _ratios(lang: str, source_lang: str) -> tuple[float, float]:
    """The usual ratios of lengths, which were measured from English: of another source any."""
    return usual_ratios(lang) if source_lang == ENGLISH_CODE else (0, inf)


def _share(sign: Sign, part: int, whole: int, lang: str) -> CheckedShare:
    allowed = limit(sign.key, lang, whole, sign.limit)
    share = ShareMetrics.counted(part, whole)
    ends = share.interval
    above = ends is not None and part >= LEAST and ends[0] > allowed.percent
    return CheckedShare(share, allowed.percent, above, allowed.measured)


KEPT_AS = "signs"
"""The name under which `_SignsOfTexts` are kept."""


@frozen
class _SignsOfTexts:
    """What translations and their entities show, whatever was read from them."""

    languages: list[str | None]
    """Those that the translations are in."""
    marks: dict[str, list[bool | None]]
    entity_marks: dict[str, list[bool | None]]


def _signs_of_texts(
    records: Sequence[Called], texts: Sequence[str | None], lang: str, source_lang: str
) -> _SignsOfTexts:
    """The signs of these texts, worked out once where the records say where to keep them."""
    results = getattr(records, "results", NOTHING_KEPT)
    sources = [record.source for record in records]
    entities = [record.entity for record in records]
    inputs = [lang, source_lang, sources, entities, texts]
    stored = results.get(KEPT_AS, inputs)
    if stored is not None:
        return decoded(_SignsOfTexts, stored)
    text_languages = languages(texts, lang)
    marks = text_marks(sources, texts, lang, text_languages, _ratios(lang, source_lang))
    of_entities = _entity_marks(records, entities, texts, lang, source_lang)
    signs = _SignsOfTexts(
        text_languages,
        {name: list(of) for name, of in marks.items()},
        {name: list(of) for name, of in of_entities.items()},
    )
    results.keep(KEPT_AS, inputs, encoded(_SignsOfTexts, signs))
    return signs


def _call_marks(records: Sequence[Called]) -> dict[str, Marks]:
    """The marks of the signs that calls show."""
    calls = [record.call for record in records]
    classes = map(evidence_class, calls)
    marks: dict[str, Marks] = {
        "outside_tables": [
            None if evidence is None else evidence in OUTSIDE for evidence in classes
        ],
    }
    if any(map(both_readers, calls)):  # none of an earlier release's run
        marks["readers_differ"] = [
            call.stanza_gender is not call.gender if both_readers(call) else None for call in calls
        ]
    for reason in (
        Reason.UNALIGNED,
        Reason.NO_PERSON,
        Reason.COPIED,
        Reason.AMBIGUOUS,
        Reason.NO_MORPHOLOGY,
    ):
        marks[reason.value.replace(" ", "_")] = _without_call(records, reason)
    return marks


def _entity_marks(
    records: Sequence[Called],
    entities: Sequence[str],
    texts: Sequence[str | None],
    lang: str,
    source_lang: str,
) -> dict[str, Marks]:
    """The marks of the signs that entities show; none where the language is not installed."""
    marks: dict[str, Marks] = {}
    words = getattr(records, "words", None)
    if words is None:
        try:
            words = SplitTexts(get_language(lang), source_language(source_lang))
        except UsageError:  # a run may be read where its language is not installed
            return marks
    if source_lang != ENGLISH_CODE:
        known = words.shared(KnownTranslations)
        marks["no_glossary"] = [not known.forms(entity) for entity in entities]
    marks["unrendered"], marks["moved"] = unrendered(entities, texts, words)
    return marks


def _without_call(records: Sequence[Called], reason: Reason) -> Marks:
    """Whether each translation has no call for this reason.

    How many nouns of fixed gender there are depends on the corpus: they are left out where no
    gender is shown.
    """
    marks: list[bool | None] = []
    for record in records:
        if record.translation is None or (reason is Reason.NO_MORPHOLOGY and withheld(record.call)):
            marks.append(None)
        else:
            marks.append(record.call.reason is reason)
    return marks
