"""Checking a run: the shares that show whether its numbers can be believed, and the numbers without what is in doubt.

A share is above its limit only where the lower end of its interval (Wilson, 95 %) is: of five sentences one is 20 %,
and tells nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mtbias.errors import UsageError
from mtbias.language.installed import get_language
from mtbias.scoring import text_signs
from mtbias.scoring.declared_signs import LEAST, SIGNS, Sign
from mtbias.scoring.entity_signs import rendered
from mtbias.scoring.evidence_classes import OUTSIDE, EvidenceClass, evidence_class, withheld
from mtbias.scoring.expected_wrong import count_classes, expected_wrong
from mtbias.scoring.measure import GENDER
from mtbias.scoring.scores import counting_of
from mtbias.scoring.unknown_gender import UNKNOWN_GENDER
from mtbias.stats.resampling import wilson_percent
from mtbias.stats.results import Interval, percent_of, rounded
from mtbias.translate.text_language import languages as languages_of
from mtbias.types import Gender, Reason

Marks = Sequence[bool | None]
"""For each record whether it is counted; None where it is none of the rows that the share is of."""


@dataclass(frozen=True, slots=True)
class Share:
    """How many rows show a sign."""

    sign: Sign
    part: int
    whole: int

    @property
    def interval(self) -> Interval | None:
        """Wilson's, in per cent."""
        return wilson_percent(self.part, self.whole)

    @property
    def above(self) -> bool:
        """Whether the share is surely above its limit."""
        ends = self.interval
        return ends is not None and self.part >= LEAST and ends[0] > self.sign.limit

    def to_json(self) -> dict[str, Any]:
        """A plain value; per cent, rounded to 6 decimals, null where there are no rows."""
        content = {
            "n": self.part,
            "of": self.whole,
            "percent": percent_of(self.part, self.whole),
            "interval": self.interval,
            "limit": self.sign.limit,
            "above": self.above,
        }
        return {key: rounded(value) for key, value in content.items()}


def checks(records: Sequence[Any], lang: str, measure: str, *, n_resamples: int, seed: int) -> dict[str, Any]:
    """What `metrics.json` says of whether its numbers can be believed.

    Args:
        records: the lines of `calls.jsonl`, in the corpus's order.
        lang: code of the target language.
        measure: name of the measure that made them; of another than the gender of an entity only the translations are
            checked.
        n_resamples: as of the run, and `seed`: the numbers without the rows in doubt have intervals as the run's own.
        seed: see there.
    """
    if measure != GENDER:
        lines = [record.to_json() for record in records]
        sources, texts = ([line[key] for line in lines] for key in ("source", "translation"))
        return {"alarms": check_texts(sources, texts, lang)}
    calls = [record.call for record in records]
    counts = count_classes(calls)
    fixed = sum(map(withheld, calls))
    return {
        "grammatical_gender_only": {"n": fixed, "percent": rounded(percent_of(fixed, len(calls)))},
        "evidence_classes": {
            kind.value: {gender.value: counts[kind, gender] for gender in Gender} for kind in EvidenceClass
        },
        "expected_wrong": expected_wrong(counts),
        "alarms": check_calls(records, lang, n_resamples=n_resamples, seed=seed),
    }


def check_texts(sources: Sequence[str], texts: Sequence[str | None], lang: str) -> dict[str, Any]:
    """`alarms` of `metrics.json` for records that are no gender calls: what can be seen in the translations alone."""
    marks, languages = _text_marks(sources, texts, lang)
    return _content(_shares(marks), languages)


def check_calls(records: Sequence[Any], lang: str, *, n_resamples: int, seed: int) -> dict[str, Any]:
    """`alarms` of `metrics.json` for gender calls (`mtbias.runs.call_records.CallRecord`), in the corpus's order.

    With `n_resamples` and `seed` as of the run, the intervals of the numbers without the rows in doubt are made as the
    run's own.
    """
    texts = [record.translation for record in records]
    marks, languages = _text_marks([record.source for record in records], texts, lang)
    marks |= _call_marks(records, texts, lang)
    shares = _shares(marks)
    raised = [marks[share.sign.key] for share in shares if share.above and share.sign.concerns]
    content = _content(shares, languages)
    if raised:
        kept = [r for r, *signs in zip(records, *raised, strict=True) if not any(signs)]
        content["concerned"] = len(records) - len(kept)
        counting = counting_of(records)
        rows = [record for record in kept if (record.gold is None) == (counting is UNKNOWN_GENDER)]
        if rows:
            content["without"] = counting.group(counting.tabulate(counting.cells(rows)), n_resamples, seed).to_json()
    return content


def _content(shares: Sequence[Share], languages: Mapping[str, int]) -> dict[str, Any]:
    return {
        "raised": [share.sign.key for share in shares if share.above],
        "shares": {share.sign.key: share.to_json() for share in shares},
        "other_languages": dict(languages),
        "concerned": 0,
        "without": None,
    }


def _shares(marks: Mapping[str, Marks]) -> list[Share]:
    return [
        Share(sign, marks[sign.key].count(True), len(marks[sign.key]) - marks[sign.key].count(None))
        for sign in SIGNS
        if sign.key in marks
    ]


def _text_marks(
    sources: Sequence[str], texts: Sequence[str | None], lang: str
) -> tuple[dict[str, Marks], dict[str, int]]:
    """The marks of the signs that translations show, and the languages that they are in instead of the target."""
    languages = languages_of(texts, lang)
    marks: dict[str, Marks] = {
        "other_language": [None if found is None else found != lang for found in languages],
        "copies": _of_translations(text_signs.copies(sources, texts), texts),
        "empty": [text is None for text in texts],
        "looping": _of_translations(text_signs.loops(texts), texts),
        "repeated": _of_translations(text_signs.repeated(sources, texts), texts),
    }
    counts = Counter(found for found in languages if found not in {None, lang})
    return marks, dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _call_marks(records: Sequence[Any], texts: Sequence[str | None], lang: str) -> dict[str, Marks]:
    """The marks of the signs that calls and their entities show."""
    classes = [evidence_class(record.call) for record in records]
    marks: dict[str, Marks] = {
        "outside_tables": [None if found is None else found in OUTSIDE for found in classes],
        "unaligned": _of_translations([r.call.reason is Reason.UNALIGNED for r in records], texts),
        "no_person": _of_translations([r.call.reason is Reason.NO_PERSON for r in records], texts),
    }
    try:
        language = get_language(lang)
    except UsageError:  # a run may be read where its language is not installed
        return marks
    found = rendered([record.entity for record in records], texts, language)
    return {
        **marks,
        "unrendered": [None if one is None else not one.here for one in found],
        "moved": [None if one is None else one.moved for one in found],
    }


def _of_translations(marks: Sequence[bool], texts: Sequence[str | None]) -> Marks:
    return [None if text is None else mark for mark, text in zip(marks, texts, strict=True)]
