"""The page on which people check rows of a corpus: one HTML file that loads nothing and sends nothing.

It shows a sentence at a time with its profession and its pronoun, takes a judgement by a button or a key, keeps the
judgements in the browser and gives them as a TSV. It shows neither pattern nor confidence, which would sway a reader.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

from mtbias.mining.checked_rows import JUDGEMENTS, CheckedRow
from mtbias.report.page import render_page


def render_check_page(rows: Sequence[CheckedRow], corpus: Path, sha256: str) -> str:
    """The page, as text to be written in UTF-8.

    Args:
        rows: in the order in which they are shown.
        corpus: its file, for the title and the name of the judgements.
        sha256: of the file: the judgements are kept in the browser under this name, so that a page of more rows of the
            same corpus, at the same address, knows those that have been given.
    """
    judgements = f"{corpus.stem}.judgements.tsv"
    data = {
        "store": f"mtbias-check-{sha256}",
        "file": judgements,
        "rows": [
            {
                "key": row.key,
                "pieces": list(_pieces(row)),
                "profession": row.words[row.profession],
                "pronoun": row.words[row.pronoun],
            }
            for row in rows
        ],
    }
    return render_page(
        "check.html", script_file="check.js", data=data, title=f"Check rows of {corpus.name}", n=len(rows),
        judgements=JUDGEMENTS, files=f"--data {quote(corpus.name)} --judgements {quote(judgements)}",
    )  # fmt: skip


def _pieces(row: CheckedRow) -> Iterator[tuple[str, str]]:
    """The sentence in pieces, each with the class of its mark; an empty one of text that is not marked."""
    at, before = 0, list[str]()
    for place, kind in sorted(((row.profession, "head"), (row.pronoun, "other"))):
        yield "", " ".join([*before, *row.words[at:place], ""])
        yield kind, row.words[place]
        at, before = place + 1, [""]
    yield "", " ".join([*before, *row.words[at:]])
