"""How the evaluator reads what translations do with a person's gender: on sentences labelled for
it.

    python scripts/neutral.py --stanza-dir DIR [--lang CODE]… [--part PART] [--rows]

The labels are those of ``tests/neutral``, whose README has the conventions. The texts of systems
are public data and no part of mtbias: they are read from the folder that ``MTBIAS_SHARED`` names
(default ``../shared``), the written ones from the rows. All sentences of a language are aligned
together. Portuguese, which is measured where it is asked for, is analysed by Apertium
(``scripts/apertium_tagger.py``), all others by Stanza.

Of the rows it prints, with their number:

- does: what the translation does is the labelled one, with its strategy;
- kind: one gender, both, a neutral word, omitted, or none of these, is the labelled one;
- call: the gender called, or none, is the labelled one;
- head: the first aligned word overlaps the labelled head, of rows that have one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import cyclopts

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "languages")]

from mtbias.align import Pair, StatisticalAligner  # noqa: E402 - the paths above come first
from mtbias.evaluation.gender_calls import GenderMeasure  # noqa: E402
from mtbias.files.reading import Record, read_table, read_text  # noqa: E402
from mtbias.language.installed import get_language  # noqa: E402
from mtbias.reading.rules import says  # noqa: E402
from mtbias.types import GenderCall, Span, Strategy  # noqa: E402
from scripts.apertium_tagger import analyser as tagged  # noqa: E402
from scripts.labelled import each_language, shared_data, stanza_of  # noqa: E402

FILES = ROOT / "tests" / "neutral"
COLUMNS = ("set", "source", "entity", "translation", "head", "call", "does", "origin")
BY_APERTIUM = ("pt",)
"""Languages for which there are no models of Stanza at hand."""
WRITTEN = "written"
"""The origin of rows that hold their text."""

Part = Literal["dev", "unread", "all"]


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled person of one sentence."""

    pair: Pair
    head: Span | None
    """Characters of the translation that render the person; None where it is left out."""
    call: str
    does: str
    """A `Strategy`, or empty where a thing stands in the person's place."""
    part: str


def read_rows(lang: str, data: Path) -> list[Row]:
    """The rows of a language; those of systems' output only where `data` is a folder.

    Raises:
        DataError: a label does not fit its sentence.
    """
    table = read_table(FILES / f"{lang}.tsv")
    table.require(*COLUMNS)
    return [
        _row(lang, record, data)
        for record in table.records
        if record.get("origin") == WRITTEN or data.is_dir()
    ]


def _row(lang: str, record: Record, data: Path) -> Row:
    source, target = record.get("source"), record.get("translation")
    if record.get("origin") != WRITTEN:
        name, _, number = record.get("origin").rpartition(":")
        source, _, target = _lines(data / name)[int(number) - 1].rpartition(" ||| ")
        source = source or _lines((data / name).with_suffix(".en"))[int(number) - 1]
    words = list(re.finditer(r"\S+", source))
    index = record.integer("entity")
    word = (
        re.compile(r"\w+([-'’.]\w+)*").search(source, *words[index].span())
        if index < len(words)
        else None
    )
    if word is None:
        raise record.error(f"expected the index of a word of the source, got {index}")
    form, _, occurrence = re.sub(r"@(?=[1-9]$)", "\t", record.get("head")).partition("\t")
    places = [Span(*m.span()) for m in re.finditer(re.escape(form), target)] if form else []
    if form and len(places) < int(occurrence or 1):
        raise record.error(f"expected the head {record.get('head')!r} in the translation")
    return Row(
        pair=Pair(f"{lang}:{record.line}", source, target, Span(*word.span()), word[0].lower()),
        head=places[int(occurrence or 1) - 1] if places else None,
        call=record.get("call"),
        does=record.get("does"),
        part=record.get("set"),
    )


@cache
def _lines(path: Path) -> Sequence[str]:
    return read_text(path).text.split("\n")


def evaluate(lang: str, data: Path, stanza_dir: Path, part: Part) -> list[tuple[Row, GenderCall]]:
    """The rows of `part` with the calls on them; the other part's sentences help alignment."""
    rows = read_rows(lang, data)
    pairs = [row.pair for row in rows]
    analyser = (
        tagged(pair.text for pair in pairs) if lang in BY_APERTIUM else stanza_of(lang, stanza_dir)
    )
    calls = GenderMeasure(get_language(lang), StatisticalAligner(), analyser, "tables").call_pairs(
        pairs
    )
    return [(row, call) for row, call in zip(rows, calls, strict=True) if part in (row.part, "all")]


def does_right(row: Row, call: GenderCall) -> bool:
    """What the translation does is the labelled one, with its strategy."""
    return (call.does or "") == row.does


def count(rows: Sequence[tuple[Row, GenderCall]]) -> dict[str, tuple[int, int]]:
    """(rows, of rows) by the names of the module's docstring."""
    return {
        "does": (sum(does_right(r, c) for r, c in rows), len(rows)),
        "kind": (sum(_kind(c.does) == _kind(r.does) for r, c in rows), len(rows)),
        "call": (sum((c.gender or "none") == r.call for r, c in rows), len(rows)),
        "head": (
            sum(bool(r.head and c.target and c.target[0].overlaps(r.head)) for r, c in rows),
            sum(r.head is not None for r, _ in rows),
        ),
    }


def _kind(does: Strategy | str | None) -> str:
    return (does or "").partition(":")[0]


def describe(row: Row, call: GenderCall) -> str:
    """One row in three lines."""
    start, end = row.pair.head or (0, 0)
    source, found = row.pair.source, row.pair.text[slice(*call.target[0])] if call.target else "–"
    evidence = "; ".join(
        f"{e.kind} {e.word}: {e.gender or 'silent'} ({says(e)})" for e in call.evidence
    )
    return (
        f"{row.pair.id} {row.does or 'thing'}; got {call.does or call.reason} at {found} [{evidence}]\n"
        f"    {source[:start]}[[{source[start:end]}]]{source[end:]}\n    {row.pair.text}"
    )


def main(
    *, stanza_dir: Path, lang: list[str] | None = None, part: Part = "dev", rows: bool = False
) -> int:
    """Print one line per language, and with ``--rows`` what went wrong.

    Parameters
    ----------
    stanza_dir
        Folder of Stanza models.
    lang
        Only these languages.
    part
        The part of the labels that rules may be corrected by (dev), the one that was not looked at
        until it had been measured once (unread), or all.
    rows
        List the rows in which what the translation does is read wrong.
    """

    def run(code: str) -> None:
        found = evaluate(code, shared_data(), stanza_dir, part)
        shares = "  ".join(
            f"{name} {100 * a / n:5.1f} % ({a}/{n})" for name, (a, n) in count(found).items()
        )
        print(f"{code}  {shares}", flush=True)
        for row, call in found:
            if rows and not does_right(row, call):
                print(describe(row, call))

    known = sorted(path.stem for path in FILES.glob("*.tsv"))
    return each_language(lang or [code for code in known if code not in BY_APERTIUM], known, run)


if __name__ == "__main__":
    sys.exit(cyclopts.run(main))
