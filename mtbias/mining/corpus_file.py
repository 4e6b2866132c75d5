"""The corpus as a file: BUG's columns in a TSV, with where each row comes from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mtbias.mining.find_filters import MinedRow

COLUMNS = {
    "sentence_text": "sentence_text",
    "profession": "profession",
    "profession_first_index": "profession_first_index",
    "g": "g",
    "g_first_index": "g_first_index",
    "predicted gender": "predicted_gender",
    "stereotype": "stereotype",
    "distance": "distance",
    "num_of_pronouns": "num_of_pronouns",
    "corpus": "corpus",
    "data_index": "data_index",
    "pattern": "pattern",
    "confidence": "confidence",
    "file": "file",
    "offset": "offset",
}
"""The columns, each with the field of `MinedRow` that it shows. Single spaces divide the tokens that indices count."""

_BREAKS = re.compile(r"[\t\r\n]")


def corpus_lines(rows: Iterable[MinedRow]) -> Iterator[str]:
    """The lines of the file, its header first; a number that is not given is empty."""
    yield "\t".join(COLUMNS)
    for row in rows:
        yield "\t".join(_cell(getattr(row, field)) for field in COLUMNS.values())


def _cell(value: str | float | None) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else _BREAKS.sub(" ", str(value))
