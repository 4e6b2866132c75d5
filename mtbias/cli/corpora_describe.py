"""``mtbias corpora describe``."""

from __future__ import annotations

from mtbias.cli.shared import Cache, Corpus, Json, show
from mtbias.coref.documents import DESCRIBED
from mtbias.settings import CacheSettings, CorpusSettings


def command(
    *, json: Json = False, corpus: Corpus = CorpusSettings(), cache: Cache = CacheSettings()
) -> None:
    """Describe a corpus: size, vocabulary, lengths, genders, stereotypes, occupations of mostly men
    and mostly women, pronouns and distances, with histograms.

    Of a data set of coreference (gap, winobias, winogender, counter-gap, sowinobias): its texts by
    kind, its vocabulary, and of winobias each occupation with its share of women. Of gap all parts
    that are in the folder.
    """
    if corpus.dataset in DESCRIBED:
        from mtbias.coref.description import describe_texts

        show(describe_texts(corpus.dataset, corpus.data, cache.cache_dir), json=json)
        return
    from mtbias.corpora import load_entities
    from mtbias.mining.corpus_balance import describe

    loaded = load_entities(
        corpus.dataset or "winomt", corpus.data, cache.cache_dir, corpus.source_lang
    )
    show(describe(loaded), json=json)
