"""``mtbias corpora check``."""

from __future__ import annotations

from pathlib import Path

from mtbias.cli.shared import Count, Json, Seed, show
from mtbias.errors import UsageError


def command(
    *,
    data: Path,
    out: Path | None = None,
    rows: Count = 200,
    seed: Seed = 0,
    judgements: list[Path] | None = None,
    json: Json = False,
) -> None:
    """Check rows of a mined corpus by hand: a page that takes judgements, and what they say of the
    corpus.

    --out is an HTML page of one file that shows rows drawn at random, a sentence at a time; keys
    say right, wrong, unsure and go back. The judgements stay in the browser and are downloaded as a
    TSV. With --judgements that TSV is
    read: the share of right rows with its interval, by gender, pattern and confidence too, and why
    rows are wrong; with a second reader's also on how many rows the two agree, and Cohen's κ.

    Parameters
    ----------
    data
        The corpus: a table with BUG's columns, as `mtbias corpora mine` writes it.
    out
        The page to write (.html).
    rows
        How many rows the page shows.
    seed
        Of the draw; with the same seed, fewer rows are the first of more.
    judgements
        The judgements that the page gave; of two readers, both files.
    """
    from mtbias.mining.corpus_check import check_judgements, write_check_page

    if (out is None) == (judgements is None):
        raise UsageError("expected one of --out, for the page, and --judgements")
    if judgements and len(judgements) > 2:
        raise UsageError(f"expected --judgements of one or two readers, got {len(judgements)}")
    show(
        write_check_page(data, out, rows, seed)
        if out
        else check_judgements(data, *judgements or ()),
        json=json,
    )
