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
    people: Path | None = None,
    json: Json = False,
) -> None:
    """Check rows of a mined corpus by hand: a page that takes judgements, and what they say of the
    corpus.

    --out is an HTML page of one file that shows rows drawn at random, a sentence at a time; keys
    say right, wrong, unsure and go back. The judgements stay in the browser and are downloaded as a
    TSV. With --judgements that TSV is read: the share of right rows with its interval, by gender,
    pattern and confidence too, and why rows are wrong; with a second reader's also on how many rows
    the two agree, and Cohen's κ.

    Of a file with GAP's columns the page takes marks: of the names of the person whom the pronoun
    means. With the marks of three annotators, or of another odd number, it is said which of
    Counter-GAP's quadruples stay: the majority decides on each label, and a quadruple is dropped,
    with its reason, unless all four texts are read by all, contradict nothing, have the same labels
    and no real person.

    Parameters
    ----------
    data
        The corpus: a table with BUG's columns, as `mtbias corpora mine` writes it; or texts with
        GAP's, as `mtbias coref counterfactual` writes quadruples.
    out
        The page to write (.html); with the marks of annotators the quadruples that stay, with the
        majority's labels (quoted TSV).
    rows
        How many rows the page shows.
    seed
        Of the draw; with the same seed, fewer rows are the first of more.
    judgements
        The judgements or marks that the page gave; of several readers, all files.
    people
        Names of real people, one a line: quadruples whose original has one are dropped.
    """
    from mtbias.coref.gap_data import has_gap_columns
    from mtbias.mining.corpus_check import check_judgements, write_check_page
    from mtbias.mining.marking_page import write_marking_page
    from mtbias.mining.quadruple_check import check_quadruples

    if has_gap_columns(data):
        if judgements:
            show(check_quadruples(data, judgements, out, people), json=json)
        elif out is None or people:
            raise UsageError(
                "expected --out, for the page, or --judgements, which --people goes with"
            )
        else:
            show(write_marking_page(data, out, rows, seed), json=json)
        return
    if people:
        raise UsageError("--people goes with quadruples, got a corpus")
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
