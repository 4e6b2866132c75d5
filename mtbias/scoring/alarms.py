"""The signs that a run's numbers cannot be believed, each declared once: what is counted, of what, and its limit."""

from __future__ import annotations

import tomllib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from mtbias.align.entity_words import KnownTranslations
from mtbias.errors import UsageError
from mtbias.files.text_repair import is_damaged
from mtbias.language.installed import get_language
from mtbias.language.source import ENGLISH_CODE, source_language
from mtbias.language.split_texts import SplitTexts
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
from mtbias.scoring.measure import GENDER
from mtbias.scoring.scores import counting_of
from mtbias.stats.resampling import share_json, wilson_percent
from mtbias.stats.results import percent_of, rounded
from mtbias.translate.text_language import is_copy, is_repetitive, words
from mtbias.translate.text_language import languages as languages_of
from mtbias.types import Gender, JsonDict, Reason, frozen


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
    """What a warning says of those that are counted: ``rest on words outside the table of nouns for people``."""
    limit: float
    """In per cent; `docs/alarms.md` has what good and broken output show, and why the limit is there."""
    advice: str
    """What to do, without a stop."""
    concerns: bool = False
    """Whether the numbers are given without the rows that are counted, too."""


_DATA = resources.files("mtbias.scoring").joinpath("data", "signs.toml")
SIGNS = tuple(Sign(**row) for row in tomllib.loads(_DATA.read_text(encoding="utf-8"))["sign"])
"""In the order in which they are shown."""

DECLARED: Mapping[str, Sign] = {sign.key: sign for sign in SIGNS}
"""By key."""

Marks = Sequence[bool | None]
"""For each record whether it is counted; None where it is none of the rows that the share is of."""

LEAST = 2
"""A sign needs so many rows: one alone tells nothing, whatever its share of a few sentences."""


# In languages that drop pronouns "he", "she" and "they" are one translation: three sources at most for those systems.
SAME_FOR = 5
"""A translation counts as repeated where it stands for so many different sources."""


def copies(sources: Sequence[str], texts: Sequence[str | None]) -> Marks:
    """Whether each text is its source, or nearly so: the Dice coefficient of their words is `NEARLY_EQUAL` or more."""
    pairs = zip(sources, texts, strict=True)
    return [None if text is None else is_copy(words(source), words(text)) for source, text in pairs]


def loops(texts: Sequence[str | None]) -> Marks:
    """Whether each text repeats a run of its words (`mtbias.translate.text_language`)."""
    return [None if text is None else is_repetitive(text) for text in texts]


def repeated(sources: Sequence[str], texts: Sequence[str | None]) -> Marks:
    """Whether each text is the translation of `SAME_FOR` different sources or more."""
    split = [None if text is None else words(text) for text in texts]
    stands_for: defaultdict[tuple[str, ...] | None, set[tuple[str, ...]]] = defaultdict(set)
    for source, text in zip(sources, split, strict=True):
        stands_for[text].add(words(source))
    return [None if text is None else len(stands_for[text]) >= SAME_FOR for text in split]


# A line that was lost or doubled moves the lines behind it by one, a blank line of each side by two.
NEIGHBOURS = (-1, 1, -2, 2)
"""How far lines may have moved."""


def unrendered(entities: Sequence[str], texts: Sequence[str | None], words: SplitTexts) -> tuple[Marks, Marks]:
    """Whether no known translation of each sentence's entity stands in its translation; and whether one then stands in
    the translation at the distance of `NEIGHBOURS` that has most of those. `words` splits the texts.

    Edge cases: None where the language's tables know no translation of the entity, or there is no translation.
    """
    translations = words.kept(KnownTranslations)
    known = {entity: translations.of(entity) for entity in set(entities)}
    forms = {
        text: frozenset[str]().union(*(w.facts.dictionary_forms for w in words.words(text or "")))
        for text in set(texts)
    }

    def shows(n: int, other: int) -> bool:
        return not known[entities[n]].isdisjoint(forms[texts[other]])

    absent = {n: not shows(n, n) for n, e in enumerate(entities) if known[e] and texts[n] is not None}
    behind = (
        {n for n, no in absent.items() if no and 0 <= n + distance < len(texts) and shows(n, n + distance)}
        for distance in NEIGHBOURS
    )
    moved = max(behind, key=len)
    places = range(len(texts))
    return [absent.get(n) for n in places], [n in moved if n in absent else None for n in places]


def checks(
    records: Sequence[Any], lang: str, measure: str, source_lang: str = ENGLISH_CODE, *, n_resamples: int, seed: int
) -> JsonDict:
    """What `metrics.json` says of whether its numbers can be believed.

    Args:
        records: the lines of `calls.jsonl`, in the corpus's order; a measure that has split the translations already
            hands that on as their `words` (`mtbias.language.split_texts.SplitTexts`).
        lang: code of the target language.
        measure: name of the measure that made them; of another than the gender of an entity only the translations are
            checked.
        source_lang: code of the source language.
        n_resamples: as of the run, and `seed`: the numbers without the rows in doubt have intervals as the run's own.
        seed: see there.
    """
    if measure != GENDER:
        lines = [record.to_json() for record in records]
        sources, texts = ([line[key] for line in lines] for key in ("source", "translation"))
        return {"alarms": _content(*_text_marks(sources, texts, lang))}
    calls = [record.call for record in records]
    counts = count_classes(calls)
    counting = counting_of(records)

    def of_main(some: Sequence[Any]) -> Sequence[Any]:
        """Those of the run's main numbers: without sentences of unknown gender, where there are others."""
        return [record for record in some if (record.gold is None) == (counting is UNKNOWN_GENDER)]

    main = of_main(records)
    fixed = sum(withheld(record.call) for record in main)
    texts = [record.translation for record in records]
    marks, languages = _text_marks([record.source for record in records], texts, lang)
    marks |= _call_marks(records, texts, lang, source_lang)
    alarms = _content(marks, languages)
    raised = [marks[key] for key in alarms["raised"] if DECLARED[key].concerns]
    if raised:
        kept = [r for r, *signs in zip(records, *raised, strict=True) if not any(signs)]
        alarms["concerned"] = len(records) - len(kept)
        if rows := of_main(kept):
            alarms["without"] = counting.group(counting.tabulate(counting.cells(rows)), n_resamples, seed).to_json()
    return {
        "grammatical_gender_only": {"n": fixed, "percent": rounded(percent_of(fixed, len(main)))},
        "evidence_classes": {
            kind: row
            for kind in EvidenceClass
            if any((row := {gender: counts[kind, gender] for gender in Gender}).values())
            or kind is not EvidenceClass.FEATURES
        },
        "expected_wrong": expected_wrong(counts, {} if alarms["raised"] else shipped_rates(lang)),
        "readers": reader_agreement(list(zip(calls, texts, strict=True))),
        "alarms": alarms,
    }


def _content(marks: Mapping[str, Marks], languages: Mapping[str, int]) -> JsonDict:
    shares = {}
    for sign in SIGNS:
        if (of := marks.get(sign.key)) is not None:
            part, whole = of.count(True), len(of) - of.count(None)
            ends = wilson_percent(part, whole)
            above = ends is not None and part >= LEAST and ends[0] > sign.limit  # surely above it
            shares[sign.key] = {**share_json(part, whole), "limit": sign.limit, "above": above}
    return {
        "raised": [key for key, share in shares.items() if share["above"]],
        "shares": shares,
        "other_languages": dict(languages),
        "concerned": 0,
        "without": None,
    }


_ENOUGH_TEXTS = 200
"""In so many translations a language's letters with marks occur, where one in twenty of its nouns has one: in WinoMT's
28 public files 38 % or more of the translations have some, but in Hebrew, whose nouns have none."""


def _without_marks(texts: Sequence[str | None], lang: str) -> bool:
    """Whether no translation has a letter with a mark (á, ü, й), as the language's nouns have: marks were taken off."""
    given = [text for text in texts if text is not None]
    if len(given) < _ENOUGH_TEXTS or any(map(_has_mark, given)):
        return False
    try:
        nouns = get_language(lang).nouns
    except UsageError:  # a run may be read where its language is not installed
        return False
    return 20 * sum(map(_has_mark, nouns)) >= len(nouns)


def _has_mark(text: str) -> bool:
    return not text.isascii() and unicodedata.normalize("NFC", text) != unicodedata.normalize("NFD", text)


def _text_marks(
    sources: Sequence[str], texts: Sequence[str | None], lang: str
) -> tuple[dict[str, Marks], dict[str, int]]:
    """The marks of the signs that translations show, and the languages that they are in instead of the target."""
    languages = languages_of(texts, lang)
    plain = _without_marks(texts, lang)
    marks: dict[str, Marks] = {
        "other_language": [None if found is None else found != lang for found in languages],
        "copies": copies(sources, texts),
        "empty": [text is None for text in texts],
        "damaged": [None if text is None else plain or is_damaged(text) for text in texts],
        "looping": loops(texts),
        "repeated": repeated(sources, texts),
    }
    counts = Counter(found for found in languages if found not in {None, lang})
    return marks, dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _call_marks(records: Sequence[Any], texts: Sequence[str | None], lang: str, source_lang: str) -> dict[str, Marks]:
    """The marks of the signs that calls and their entities show."""
    calls = [record.call for record in records]
    classes = map(evidence_class, calls)
    marks: dict[str, Marks] = {
        "outside_tables": [None if found is None else found in OUTSIDE for found in classes],
    }
    if any(map(both_readers, calls)):  # none of an earlier release's run
        marks["readers_differ"] = [
            call.stanza_gender is not call.gender if both_readers(call) else None for call in calls
        ]
    for key, reason in (("unaligned", Reason.UNALIGNED), ("no_person", Reason.NO_PERSON)):
        marks[key] = [None if record.translation is None else record.call.reason is reason for record in records]
    words = getattr(records, "words", None)
    if words is None:
        try:
            words = SplitTexts(get_language(lang), source_language(source_lang))
        except UsageError:  # a run may be read where its language is not installed
            return marks
    entities = [record.entity for record in records]
    if source_lang != ENGLISH_CODE:
        known = words.kept(KnownTranslations)
        marks["no_glossary"] = [not known.of(entity) for entity in entities]
    marks["unrendered"], marks["moved"] = unrendered(entities, texts, words)
    return marks
