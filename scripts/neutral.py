"""Translations labelled by what they do with a person's gender: the rows of ``tests/neutral``, and their texts.

``tests/neutral/README.md`` has the conventions. The texts of systems are public data and no part of mtbias: they are
read from the folder that ``MTBIAS_SHARED`` names (default ``../shared``), the written ones from the rows.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias.align import Pair  # noqa: E402 - the paths above come first
from mtbias.files.reading import Record, read_table, read_text  # noqa: E402
from mtbias.types import Span  # noqa: E402

FILES = ROOT / "tests" / "neutral"
COLUMNS = ("set", "source", "entity", "translation", "head", "call", "does", "origin")
BOTH = ("pair", "slash", "star", "colon", "gap", "brackets", "point", "capital", "ending")
NEUTRAL = ("participle", "compound", "collective", "epicene")
DOES = {
    "male": "male",
    "female": "female",
    **{f"both:{how}": "neutral" for how in BOTH},
    **{f"neutral:{how}": "none" for how in NEUTRAL},
    "omitted": "none",
    "unaligned": "none",
    "": "none",
}
"""What a translation does → the call that goes with it."""
WRITTEN = "written"


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled person of one sentence."""

    pair: Pair
    head: Span | None
    """Characters of the translation that render the person; None where it is left out."""
    call: str
    does: str
    part: str
    """``dev``, or ``unread`` until it has been measured once."""


def read_rows(lang: str, data: Path, part: str | None = None) -> list[Row]:
    """The rows of a language, or of one part of them; the rows of systems' output only where `data` is a folder.

    Raises:
        DataError: a label does not fit its sentence.
    """
    table = read_table(FILES / f"{lang}.tsv")
    table.require(*COLUMNS)
    records = [r for r in table.records if r.get("origin") == WRITTEN or data.is_dir()]
    return [_row(lang, record, data) for record in records if part in (None, record.get("set"))]


def _row(lang: str, record: Record, data: Path) -> Row:
    origin = record.get("origin")
    source, target = record.get("source"), record.get("translation")
    if origin != WRITTEN:
        name, _, number = origin.rpartition(":")
        lines = _lines(data / name)
        source, _, target = lines[int(number) - 1].rpartition(" ||| ")
        source = source or _lines((data / name).with_suffix(".en"))[int(number) - 1]
    words = [Span(*m.span()) for m in re.finditer(r"\S+", source)]
    index = record.integer("entity")
    word = re.search(r"\w+([-'’.]\w+)*", source[slice(*words[index])]) if index < len(words) else None
    if word is None:
        raise record.error(f"expected the index of a word of the source, got {index}")
    start = words[index].start + word.start()
    entity = Span(start, start + len(word[0]))
    form, _, occurrence = record.get("head").partition("@") if _counted(record) else (record.get("head"), "", "")
    places = [m.start() for m in re.finditer(re.escape(form), target)] if form else []
    if form and len(places) < int(occurrence or 1):
        raise record.error(f"expected the head {record.get('head')!r} in the translation")
    begin = places[int(occurrence or 1) - 1] if places else 0
    return Row(
        pair=Pair(f"{lang}:{record.line}", source, target, entity, word[0].lower()),
        head=Span(begin, begin + len(form)) if form else None,
        call=record.get("call"),
        does=record.get("does"),
        part=record.get("set"),
    )


def _counted(record: Record) -> bool:
    return re.search(r"@[1-9]$", record.get("head")) is not None


@cache
def _lines(path: Path) -> Sequence[str]:
    return read_text(path).text.split("\n")
