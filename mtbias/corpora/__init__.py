"""Corpora: readers of WinoMT, BUG, other data sets and users' own sentences; `downloads` fetches
public data.
"""

from __future__ import annotations

from mtbias.corpora.catalog import Dataset, cache_folder, datasets
from mtbias.corpora.corpus import Corpus
from mtbias.corpora.corpus_kinds import (
    AskedCorpus,
    CorpusKind,
    dataset_names,
    load_corpus,
    load_entities,
)
from mtbias.english.words import count_pronouns

__all__ = [
    "AskedCorpus",
    "Corpus",
    "CorpusKind",
    "Dataset",
    "cache_folder",
    "count_pronouns",
    "dataset_names",
    "datasets",
    "load_corpus",
    "load_entities",
]
