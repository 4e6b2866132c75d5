"""What the commands on corpora share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mtbias.errors import SettingError
from mtbias.settings import CacheSettings, CorpusSettings

if TYPE_CHECKING:
    from mtbias.corpora.corpus import Corpus
    from mtbias.types import Instance

JSONL, TSV = {".jsonl", ".ndjson"}, {".tsv", ".tab"}
"""The ends of the names of files in these forms."""


def corpus_of_entities(corpus: CorpusSettings, cache: CacheSettings) -> Corpus[Instance]:
    """The corpus that is asked for, WinoMT by default: the same for all languages, its sentences with an entity each.

    Raises:
        SettingError: another kind of corpus.
        DataError: it cannot be read.
    """
    from mtbias.corpora import load_corpus
    from mtbias.corpora.loading import BY_LANGUAGE
    from mtbias.scoring.measure import GENDER

    name = corpus.dataset or "winomt"
    if name in BY_LANGUAGE:
        raise SettingError("dataset", f"expected the same sentences for all languages, which {name} has not")
    read = load_corpus(name, corpus.data, cache=cache.cache_dir)
    if read.measure != GENDER:
        raise SettingError("dataset", f"expected sentences with an entity and its gender, which {name} does not mark")
    return read
