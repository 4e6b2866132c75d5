"""``mtbias corpora balance``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from mtbias.cli.shared import Cache, Corpus, Flag, Json, Seed, show
from mtbias.corpora import load_entities
from mtbias.errors import UsageError
from mtbias.mining.corpus_balance import balance_corpus
from mtbias.settings import CacheSettings, CorpusSettings


def command(
    *,
    out: Path,
    over: list[Literal["pronouns", "distance", "length", "domain", "stereotype"]] | None = None,
    quarters: Flag = False,
    seed: Seed = 0,
    json: Json = False,
    corpus: Corpus = CorpusSettings(),
    cache: Cache = CacheSettings(),
) -> None:
    """Draw a sample of a corpus in which sentences of men and of women differ in gender alone.

    Sentences of men and of women may differ in pronouns, distance to the pronoun, length, domain.
    The sample has as many of either in every combination of classes, and is a corpus like the one
    it is from; `mtbias corpora describe` shows both genders of either. (`mtbias compare --weighted`
    balances by weights, without leaving sentences out.)

    Of --dataset counter-gap quadruples are drawn, as many with an original about a man as about a
    woman.

    Parameters
    ----------
    out
        The sample to write (.tsv, .csv, .jsonl): of BUG and of mined corpora with their own
        columns, to be read with the same --dataset; of others with those of --dataset custom.
    over
        Balance this property; one or several (default: pronouns, distance, length and domain, where
        they vary).
    quarters
        Draw BUG's balanced part instead: as many sentences of men and of women, pro- and
        anti-stereotypical each.
    seed
        Of the sample.
    """
    if quarters and over:
        raise UsageError("--quarters and --over exclude each other")
    if corpus.dataset == "counter-gap":
        from mtbias.coref.coref_datasets import located
        from mtbias.mining.quadruple_balance import balance_quadruples

        if quarters or over:
            raise UsageError("--quarters and --over do not go with counter-gap")
        data = corpus.data or located({}, [], ["counter-gap"], cache.cache_dir)["counter-gap"]
        if data is None:
            raise UsageError("expected --data, a file of quadruples")
        show(balance_quadruples(data, out, seed), json=json)
        return
    read = load_entities(
        corpus.dataset or "winomt", corpus.data, cache.cache_dir, corpus.source_lang
    )
    show(balance_corpus(read, out, over, quarters=quarters, seed=seed), json=json)
