"""``mtbias corpora describe``."""

from __future__ import annotations

from mtbias.cli.shared import Cache, Corpus, Json, show
from mtbias.corpora import load_entities
from mtbias.mining.corpus_balance import describe
from mtbias.settings import CacheSettings, CorpusSettings


def command(
    *, json: Json = False, corpus: Corpus = CorpusSettings(), cache: Cache = CacheSettings()
) -> None:
    """Describe a corpus: size, vocabulary, lengths, genders, stereotypes, pronouns and distances,
    with histograms.
    """
    loaded = load_entities(
        corpus.dataset or "winomt", corpus.data, cache.cache_dir, corpus.source_lang
    )
    show(describe(loaded), json=json)
