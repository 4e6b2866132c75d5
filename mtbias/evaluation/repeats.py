"""How much a run changes when everything is translated again: translations, calls, and the numbers of each time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mtbias.evaluation.request import Request
from mtbias.scoring.measure import Judged
from mtbias.stats.results import percent_of, rounded
from mtbias.translate.system import Translated
from mtbias.types import Progress


def repeat_numbers(
    request: Request, translated: Translated, first: Sequence[Judged], progress: Progress
) -> dict[str, Any]:
    """`repeats` of `metrics.json`; empty where everything was translated once.

    A sentence has changed where its translations (or calls) are not the same every time:
    ``percent = 100 × changed / n``. The spread of a number is its greatest value minus its least, in points.

    Args:
        request: the run.
        translated: its translations, of every time.
        first: the records of the first time, whose numbers are those of the run.
        progress: see `mtbias.types.Progress`.
    """
    if not translated.repeats:
        return {}
    instances = request.corpus.instances
    records = [first, *(request.measure.judge(instances, each, progress) for each in translated.repeats)]
    texts = [[each.text for each in time] for time in (translated.translations, *translated.repeats)]
    calls = [[_call(record) for record in time] for time in records]
    # No intervals here: those of the first time are those of the run.
    groups = [request.kind.score(time, n_resamples=0, seed=request.seed).overall for time in records]
    scores = [group.to_json() for group in groups]
    return {
        "repeats": {
            "times": len(records),
            "n": len(instances),
            "translations_changed": _changed(texts),
            "calls_changed": _changed(calls),
            "numbers": {
                number.key: _values([number.of(overall).value for overall in scores])
                for number in groups[0].counting.numbers
                if number.headline
            },
        }
    }


def _call(record: Judged) -> tuple[Any, ...]:
    """What a record says of its sentence: of a gender, the gender or why there is none; else all but the words."""
    line = record.to_json()
    if "gender" in line and "reason" in line:
        return (line["gender"], line["reason"])
    return tuple((key, repr(value)) for key, value in line.items() if key != "translation")


def _changed(times: Sequence[Sequence[object]]) -> dict[str, Any]:
    """How many sentences are not the same every time."""
    count = sum(any(value != row[0] for value in row) for row in zip(*times, strict=True))
    return {"count": count, "percent": rounded(percent_of(count, len(times[0])))}


def _values(values: Sequence[float | None]) -> Mapping[str, Any]:
    """The values of a number, each time, and their spread; None where one of them is undefined."""
    known = [value for value in values if value is not None]
    spread = rounded(max(known) - min(known)) if len(known) == len(values) else None
    return {"values": list(values), "spread": spread}
