"""The data of the sentences for the browser's script (``page.js``).

A column is an array of numbers. Texts are coded word by word, which leaves a quarter less than deflate alone: the code
of a word is its place in a vocabulary, of which the first are the most frequent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtbias.report.markup import Markup
from mtbias.report.packed_sentences import BLOCK, packed, stream
from mtbias.report.report_runs import ReportRun, Sentence
from mtbias.runs.call_records import CallRecord
from mtbias.types import Gender, Reason, Span, Stereotype

GENDERS = [gender.value for gender in Gender]
CALLS = [*GENDERS, *(reason.value for reason in Reason)]
_ABSENT = 255
_HEAD, _OTHER, _END = 1, 2, 3
_TOKEN = re.compile(r" ?[^\W\d_]+| ?\d{1,3}|[\s\S]")
_ID_TOKEN = re.compile(r"\D+|\d{1,2}")
_NOT_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

Columns = dict[str, tuple[list[str], NDArray[np.uint16]]]


def columns(shown: Sequence[Sentence]) -> Columns:
    """What is filtered by: the values of each property, and for each sentence the place of its value."""
    properties: dict[str, tuple[list[str], Callable[[CallRecord], str]]] = {
        "gold": (GENDERS, lambda r: r.gold.value),
        "stereotype": ([kind.value for kind in Stereotype], lambda r: r.stereotype.value),
        "entity": (sorted({s.first.entity for s in shown}), lambda r: r.entity),
        "domain": (sorted({s.first.domain for s in shown}), lambda r: r.domain),
        "pronouns": (sorted({str(s.first.pronouns) for s in shown}, key=int), lambda r: str(r.pronouns)),
    }
    columns: Columns = {}
    for name, (values, of) in properties.items():
        place = {value: i for i, value in enumerate(values)}
        columns[name] = values, np.array([place[of(s.first)] for s in shown], dtype="<u2")
    return columns


def data(runs: Sequence[ReportRun], shown: Sequence[Sentence], columns: Columns) -> dict[str, Any]:
    """All that the script reads: see ``page.js``."""
    firsts = [s.first for s in shown]
    return {
        "rows": len(shown),
        "block": BLOCK,
        "genders": GENDERS,
        "calls": CALLS,
        "columns": {name: {"values": values, "at": packed(at.tobytes())} for name, (values, at) in columns.items()},
        "id": stream(firsts, lambda r: _ID_TOKEN.findall(_clean(r.id))),
        "source": stream(firsts, lambda r: _marked(r.source, [(span, _HEAD) for span in entity_spans(r)])),
        "runs": [
            {
                "name": run.name,
                "lang": run.lang,
                "dir": run.direction,
                "call": packed(bytes(_call_code(s.records[i]) for s in shown)),
                "target": stream([s.records[i] for s in shown], _target_tokens),
                "evidence": stream([s.records[i] for s in shown], _evidence_tokens),
            }
            for i, run in enumerate(runs)
        ],
    }


def _call_code(record: CallRecord | None) -> int:
    if record is None:
        return _ABSENT
    return CALLS.index(str(record.call.gender or record.call.reason))


def entity_spans(record: CallRecord) -> list[Span]:
    """Where the entity's name stands in the source, as whole words in any case."""
    return [Span(*match.span()) for match in _phrase(record.entity).finditer(record.source)]


@cache
def _phrase(entity: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, entity.split()))
    return re.compile(rf"(?<!\w){words}(?!\w)" if words else r"(?!)", re.IGNORECASE)


def _target_tokens(record: CallRecord | None) -> Iterable[str | int]:
    if record is None or record.translation is None:
        return ()
    head, others = record.call.target[:1], record.call.target[1:]
    others = tuple(span for span in others if not span.overlaps(head[0]))
    return _marked(record.translation, [*((span, _HEAD) for span in head), *((span, _OTHER) for span in others)])


def _marked(text: str, marks: Iterable[tuple[Span, int]]) -> Iterator[str | int]:
    """The tokens of a text, with the codes of marks before and after what is marked; of two that overlap, the first."""
    text, at = _clean(text), 0
    for (start, end), mark in sorted(marks):
        if start >= at:
            yield from _TOKEN.findall(text[at:start])
            yield mark
            yield from _TOKEN.findall(text[start:end])
            yield _END
            at = end
    yield from _TOKEN.findall(text[at:])


def _evidence_tokens(record: CallRecord | None) -> Iterator[str]:
    for e in record.call.evidence if record else ():
        says = [_clean(part) for part in (e.kind, e.gender.value if e.gender else "", e.source, e.detail)]
        yield "\x1f".join((*says, ""))
        yield f"{_clean(e.word)}\x1e"


def _clean(text: str) -> str:
    """The text without control characters, which no text needs and the coding does; of the same length."""
    return _NOT_TEXT.sub(lambda match: " " if match[0].isspace() else "\ufffd", text)


def as_json(content: object) -> Markup:
    """JSON that cannot end its element or begin a comment: no ``<``, and nothing beyond ASCII."""
    return Markup(json.dumps(content, separators=(",", ":")).replace("<", "\\u003c"))
