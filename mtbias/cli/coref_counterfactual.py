"""``mtbias coref counterfactual``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mtbias.cli.shared import FirstNames, Flag, Json, Stanza, WordPairs, show
from mtbias.settings import StanzaSettings
from mtbias.types import Analysis


def command(
    *,
    data: Path,
    out: Path,
    names: FirstNames = None,
    swaps: WordPairs = None,
    as_published: Flag = False,
    json: Json = False,
    stanza: Stanza = StanzaSettings(),
) -> None:
    """Make Counter-GAP's quadruples: for each instance its control and its two gender-swapped
    counterfactuals.

    The two people of the other gender are those of the columns C and D where there are such, else
    the first two whom the text names: proper names, as Stanza's English tagger finds them, of that
    gender by title or --names; else names of the list that are like those of A and B. Offsets in
    the output are those of the new texts. A "her" that may be "him" or "his" is a guess where both
    are usual: these are counted and named.

    Parameters
    ----------
    data
        The original instances: a TSV file of GAP's columns (ID, Text, Pronoun, Pronoun-offset, A,
        A-offset, A-coref, B, B-offset, B-coref; others are carried along), with or without quoting.
    out
        The quadruples to write (quoted TSV).
    as_published
        Swap as Counter-GAP's texts do: "his" is always "her", "hers" stays, and titles outside
        names too, unless --swaps has them.
    """
    from mtbias.coref.counterfactual_quadruples import write_quadruples
    from mtbias.corpora.catalog import cache_folder
    from mtbias.morphology.stanza_models import StanzaModels, find_package, stanza_folder

    def tagger(texts: Sequence[str]) -> Sequence[Analysis]:
        package = find_package(
            "en", stanza_folder(stanza.stanza_dir, cache_folder(stanza.cache_dir))
        )
        return StanzaModels(package, None).analyse(texts)

    result = write_quadruples(data, out, tagger, names, swaps, as_published=as_published)
    show(result, json=json)
