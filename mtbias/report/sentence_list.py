"""The list of sentences as pages have it: what its filters offer, its data, and as many sentences as fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mtbias.report.report_runs import ReportRun, Sentence
from mtbias.report.sentence_data import CALLS, GENDERS, columns, data, entity_spans

MAX_BYTES = 15 * 1024 * 1024
"""Above this, a page holds the text of fewer sentences and says so."""


def sentence_list(runs: Sequence[ReportRun], shown: Sequence[Sentence], total: int) -> dict[str, Any]:
    """What templates show of the list of sentences (``sentences.html``), with its ``data`` for the script.

    `shown` are the sentences that the page holds, of `total`.
    """
    filtered = columns(shown)
    return {
        "data": data(runs, shown, filtered),
        "columns": filtered,
        "shown": len(shown),
        "total": total,
        "unmarked": sum(not entity_spans(sentence.first) for sentence in shown),
        "genders": GENDERS,
        "calls": CALLS,
        "reasons": [f"none: {reason}" for reason in CALLS[len(GENDERS) :]],
    }


def fitting(page: Callable[[Sequence[Sentence]], str], sentences: Sequence[Sentence], max_bytes: int) -> str:
    """The page of all sentences, or of as many, spread evenly over them, as make it no larger than `max_bytes`.

    Without any sentence the page is as large as it is.
    """
    shown, count = sentences, len(sentences)
    while True:
        text = page(shown)
        size = len(text.encode())
        if size <= max_bytes or not shown:
            return text
        count = min(count - 1, int(count * 0.97 * max_bytes / size))
        shown = [sentences[i * len(sentences) // count] for i in range(count)]
