"""``mtbias corpora describe``."""

from __future__ import annotations

from dataclasses import asdict

from mtbias.cli.shared import Cache, Corpus, Json, show
from mtbias.corpora import load_entities
from mtbias.mining.corpus_balance import describe
from mtbias.report.tables import columns, histogram, number
from mtbias.settings import CacheSettings, CorpusSettings


def command(*, json: Json = False, corpus: Corpus = CorpusSettings(), cache: Cache = CacheSettings()) -> None:
    """Describe a corpus: size, vocabulary, lengths, genders, stereotypes, pronouns and distances, with histograms."""
    found = describe(load_entities(corpus.dataset or "winomt", corpus.data, cache.cache_dir, corpus.source_lang))
    sizes = [["sentences", f"{found.sentences:,}"], ["vocabulary", f"{found.vocabulary:,}"]]
    means = [[f"{m.property}, {m.of}", number(m.mean), number(m.deviation), f"{m.n:,}"] for m in found.means]
    tables = [columns(["", "number"], sizes), columns(["", "mean", "s.d.", "sentences"], means)]
    tables += [histogram(name, counts, found.genders) for name, counts in found.histograms.items()]
    show(asdict(found), "\n".join([*tables, ""]), json=json)
