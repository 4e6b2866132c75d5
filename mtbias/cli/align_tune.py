"""``mtbias align tune``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from mtbias.align.encoder_tuning import TuningSettings
from mtbias.cli.shared import Cache, Corpus, Flag, Json, show
from mtbias.files.writing import signature_line
from mtbias.settings import CacheSettings, CorpusSettings

_SIGNED = ("layer", "steps", "batch_pairs", "learning_rate", "most_subwords", "seed", "device")
"""Fields of the record that are part of the signature."""


def command(
    *,
    encoder: str,
    out: Path,
    pairs: list[Path] | None = None,
    translations: list[Path] | None = None,
    lang: str | None = None,
    offline: Flag = False,
    json: Json = False,
    tuning: Annotated[TuningSettings, Parameter(name="*", group=Group("Training"))] = (
        TuningSettings()
    ),
    corpus: Corpus = CorpusSettings(),
    cache: Cache = CacheSettings(),
) -> None:
    """Tune a multilingual encoder for word alignment on sentences and their translations.

    No alignments are needed: training strengthens the encoder's own links (awesome-align's
    self-training). Pairs may have several languages. The result is for
    `--aligner statistical+neural --aligner-model OUT`.

    Parameters
    ----------
    encoder
        Hub id (`@COMMIT` may follow) or folder of an encoder such as mBERT or XLM-R.
    out
        A new folder for the tuned encoder and tuning.json, the record of its making.
    pairs
        Sentences with their translations: lines of the form source ||| target, or a table (.tsv,
        .csv, .jsonl) with the columns source and target; one or several.
    translations
        Translations of the data set, as `mtbias score` takes them; one or several.
    lang
        Code of the target language, for data sets with other sentences for each language.
    offline
        Never use the network.
    """
    from mtbias.align.encoder_tuning import read_tuning_pairs, refuse_filled, tune
    from mtbias.align.neural_aligner import locate_encoder
    from mtbias.corpora import cache_folder, load_corpus
    from mtbias.machine.stage_progress import ProgressLine

    refuse_filled(out)
    loaded = None
    if translations or corpus.dataset or corpus.data:
        loaded = load_corpus(
            corpus.dataset or "winomt",
            corpus.data,
            cache=cache.cache_dir,
            lang=lang,
            source_lang=corpus.source_lang,
        )
    sentence_pairs = read_tuning_pairs(pairs or (), translations or (), loaded)
    base = locate_encoder(
        encoder,
        lang or "en",
        cache=cache_folder(cache.cache_dir),
        offline=offline,
        setting="encoder",
    )
    line = ProgressLine(unit="steps")

    def show_step(done: int, steps: int, loss: float) -> None:
        line.note = f"loss {loss:.3f}"
        line("tune", done, steps)

    checkpoint, record = tune(base, sentence_pairs, out, tuning, show_step)
    options = {name.replace("_", "-"): record[name] for name in _SIGNED}
    options |= {
        "encoder": f"{base.name}@{base.revision}",
        "model": f"{checkpoint.name}@{checkpoint.revision}",
    }
    result = {name: record[name] for name in ("pairs", "layer", "loss")}
    signed = signature_line("align:tune", {"pairs": sentence_pairs.files}, options)
    show({**result, "out": str(out), "signature": signed}, json=json)
