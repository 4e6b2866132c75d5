"""Corpora: reading WinoMT, BUG and one's own sentences; fetching public data; counting pronouns."""

from __future__ import annotations

from mtbias.corpora.catalog import Dataset, cache_folder, datasets
from mtbias.corpora.fetch import Fetched, FetchedDownload, fetch_dataset
from mtbias.corpora.load import dataset_names, load_corpus
from mtbias.corpora.pronouns import count_pronouns
from mtbias.corpora.read import Corpus, SkippedRow

__all__ = [
    "Corpus",
    "Dataset",
    "Fetched",
    "FetchedDownload",
    "SkippedRow",
    "cache_folder",
    "count_pronouns",
    "dataset_names",
    "datasets",
    "fetch_dataset",
    "load_corpus",
]
