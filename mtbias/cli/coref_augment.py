"""``mtbias coref augment``."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from mtbias.cli.shared import Count, FirstNames, Flag, Json, Stanza, WordPairs, show
from mtbias.coref.augmentation import Kind
from mtbias.settings import StanzaSettings


def command(
    *,
    data: Path,
    kind: Kind,
    out: Path,
    names: FirstNames = None,
    swaps: WordPairs = None,
    max_names: Count = 2000,
    as_published: Flag = False,
    only_copies: Flag = False,
    json: Json = False,
    stanza: Stanza = StanzaSettings(),
) -> None:
    """Augment a CoNLL-2012 file with a gender-swapped copy of each document.

    Copies follow the documents; only words change, and document names, to which _a is appended.
    Names are the file's PERSON entities, else first names of --names that are proper nouns, by the
    file's parts of speech (fifth column) or, where it has none, by Stanza's English tagger.

    Parameters
    ----------
    data
        The CoNLL-2012 file.
    kind
        What becomes of names: anonymised gives each word of one an id (E1, E2, …); names gives
        first names their counterparts of the other gender: the one-to-one matching in which the
        names' vectors of frequencies are most alike, ‖u − v‖ · (12/11 − cos); words leaves them.
    out
        The augmented file to write.
    max_names
        Match so many names of each gender, the most frequent ones.
    as_published
        Read nam_dict.txt as the program published with Counter-GAP does: without Great Britain, the
        last line of a name and kind alone, and the kind with the largest sum.
    only_copies
        Leave the documents themselves out.
    """
    from mtbias.coref.augmentation import augment
    from mtbias.coref.counterfactual_quadruples import find_proper_nouns
    from mtbias.corpora.catalog import cache_folder
    from mtbias.morphology.stanza_models import stanza_folder

    folder = stanza_folder(stanza.stanza_dir, cache_folder(stanza.cache_dir))
    result = augment(
        data,
        kind,
        out,
        names=names,
        swaps=swaps,
        max_names=max_names,
        as_published=as_published,
        only_copies=only_copies,
        proper_nouns=partial(find_proper_nouns, folder=folder),
    )
    show(result, json=json)
