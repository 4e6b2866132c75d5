"""Corpora: reading WinoMT, BUG and one's own sentences; fetching public data; counting pronouns."""

from __future__ import annotations

from mtbias.corpora.catalog import Dataset, cache_folder, dataset_names, datasets, load_corpus, load_entities
from mtbias.corpora.corpus import Corpus
from mtbias.corpora.downloads import Fetched, FetchedDownload, fetch_dataset
from mtbias.english.words import count_pronouns

__all__ = [
    "Corpus",
    "Dataset",
    "Fetched",
    "FetchedDownload",
    "cache_folder",
    "count_pronouns",
    "dataset_names",
    "datasets",
    "fetch_dataset",
    "load_corpus",
    "load_entities",
]
