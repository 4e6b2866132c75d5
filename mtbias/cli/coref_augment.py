"""``mtbias coref augment``."""

from __future__ import annotations

from pathlib import Path

from mtbias.cli.shared import Count, FirstNames, Flag, Json, WordPairs, show
from mtbias.coref.training import Kind


def command(
    *,
    data: Path,
    kind: Kind,
    out: Path,
    names: FirstNames = None,
    swaps: WordPairs = None,
    max_names: Count = 2000,
    only_copies: Flag = False,
    json: Json = False,
) -> None:
    """Augment a CoNLL-2012 file with a gender-swapped copy of each document.

    Copies stand behind the documents; only words change, and document names, which get _a behind them.

    Parameters
    ----------
    data
        The CoNLL-2012 file.
    kind
        What becomes of names: anonymised gives each word of one an id (E1, E2, …); names gives first names their
        counterparts of the other gender: the one-to-one matching in which the names' vectors of frequencies are most
        alike, ‖u − v‖ · (12/11 − cos); words leaves them. Names are the file's PERSON entities, else first names.
    out
        The augmented file to write.
    max_names
        Match so many names of each gender, the most frequent ones.
    only_copies
        Leave the documents themselves out.
    """
    from mtbias.coref.training import augment

    made = augment(data, kind, out, names=names, swaps=swaps, max_names=max_names, only_copies=only_copies)
    show(made, json=json)
