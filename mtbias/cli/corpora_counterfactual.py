"""``mtbias corpora counterfactual``."""

from __future__ import annotations

from pathlib import Path

from mtbias.cli.shared import Cache, Corpus, Flag, Json, show
from mtbias.corpora import load_entities
from mtbias.corpora.counterfactual_pairs import write_counterfactual
from mtbias.errors import SettingError
from mtbias.language.source import ENGLISH_CODE
from mtbias.settings import CacheSettings, CorpusSettings


def command(
    *,
    out: Path,
    controls: Flag = False,
    json: Json = False,
    corpus: Corpus = CorpusSettings(),
    cache: Cache = CacheSettings(),
) -> None:
    """Write each sentence with its counterfactual of the other gender: gendered pronouns are
    swapped, all else stays.

    The file has the columns of `--dataset custom`, so it is translated and scored like any corpus;
    `pair` links the two sentences, and the run then reports how often the system is right for one
    gender only. With --controls each of the two gets a sentence of the same gender with another
    determiner before the entity ("the doctor", "this doctor"), linked by `control`; the run then
    reports what gender changes beyond what any small change does.

    A sentence is left out, and counted by reason, where its pronouns have both genders or not the
    gold one, or where other words tell a gender (wife, Mr., waitress). A "her" that may be "him" or
    "his" is a guess where both are usual: these are counted and named. Names stay as they are.

    Parameters
    ----------
    out
        The corpus to write (.tsv, .csv, .jsonl).
    controls
        Add controls of the same gender.
    """
    if corpus.source_lang != ENGLISH_CODE:
        raise SettingError(
            "source_lang",
            f"expected {ENGLISH_CODE}, whose pronouns are swapped, got {corpus.source_lang}",
        )
    read = load_entities(corpus.dataset or "winomt", corpus.data, cache.cache_dir)
    show(write_counterfactual(read, out, controls=controls), json=json)
