"""``mtbias coref gap-weights``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from mtbias.cli.coref_shared import show
from mtbias.cli.shared import Flag, Json


def command(
    *,
    data: Path,
    name_spans: Path | None = None,
    trimmed: Flag = False,
    over: list[Literal["names", "distance"]] | None = None,
    out: Path | None = None,
    json: Json = False,
) -> None:
    """Solve weights that balance GAP's genders, as even as possible (a linear program): W of "The Gap on GAP".

    A property that only one gender has cannot be balanced: its examples get weight 0. For other data and other
    properties there is the function `mtbias.stats.balance.balance`.

    Parameters
    ----------
    data
        A TSV file of GAP, or its folder (whose gap-test-name-spans.json --name-spans need not name then).
    name_spans
        The names of each of GAP's texts (JSON).
    trimmed
        Leave out more than 15 names, and antecedents from the fifth name on: the weights W_t.
    over
        Balance this property; one or several (default: both).
    out
        Where the weights go (JSON): one for each candidate, as `mtbias coref score gap` takes them.
    """
    from mtbias.coref.gap_weights import write_gap_weights
    from mtbias.report.coref_tables import render_weights

    written = write_gap_weights(data, name_spans, over=over or [], trimmed=trimmed, out=out)
    show(written.to_json(), render_weights(written), json=json)
