"""``mtbias coref gap-weights``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Literal

from mtbias.cli.shared import Count, Flag, Json, Stanza, show
from mtbias.settings import StanzaSettings


def command(
    *,
    data: Path,
    name_spans: Path | None = None,
    max_names: Count | None = None,
    max_distance: Count | None = None,
    over: list[Literal["names", "distance"]] | None = None,
    histograms: Flag = False,
    out: Path | None = None,
    json: Json = False,
    stanza: Stanza = StanzaSettings(),
) -> None:
    """Solve weights that balance GAP's genders, as even as possible (a linear program): W of "The
    Gap on GAP".

    A property that only one gender has cannot be balanced: its examples get weight 0. The noise
    bound is by how many points the weights can change the accuracy on a gender's examples, whatever
    a system's right answers are (theorem 2.1 of the paper); together: the larger of both. For other
    data and other properties there is the function `mtbias.stats.balance.balance`, for more than
    two groups `balance_pairs`.

    Parameters
    ----------
    data
        A TSV file of GAP's columns, or GAP's folder (whose gap-test-name-spans.json --name-spans
        need not name then).
    name_spans
        The names of each text (JSON); or auto: persons by Stanza's English recogniser, where its
        model is there (`stanza.download("en", processors="tokenize,ner")`), else proper nouns by
        its tagger that may be of persons; and how far they are the annotated ones, where the folder
        has such.
    max_names
        Leave out texts with more names; the paper's W_t has 15.
    max_distance
        Leave out antecedents that are a later name than that, by distance from the pronoun; the
        paper's W_t has 4.
    over
        Balance this property; one or several (default: both).
    histograms
        Count by gender how many texts have how many names, places of antecedents, before and after
        leaving out, and weights.
    out
        Where the weights go (JSON): one for each candidate, as `mtbias coref score gap` takes them.
    """
    from mtbias.coref.counterfactual_quadruples import find_names
    from mtbias.coref.gap_weights import write_gap_weights
    from mtbias.corpora.catalog import cache_folder
    from mtbias.morphology.stanza_models import stanza_folder

    is_auto = str(name_spans) == "auto"
    folder = stanza_folder(stanza.stanza_dir, cache_folder(stanza.cache_dir))
    written = write_gap_weights(
        data,
        None if is_auto else name_spans,
        over=over or [],
        max_names=max_names,
        max_distance=max_distance,
        out=out,
        find=partial(find_names, folder=folder) if is_auto else None,
    )
    show(written.to_json(histograms=histograms), json=json)
