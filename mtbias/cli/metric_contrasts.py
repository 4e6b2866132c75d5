"""``mtbias metric contrasts``."""

from __future__ import annotations

from pathlib import Path

from mtbias.cli.shared import Cache
from mtbias.corpora import load_corpus
from mtbias.corpora.mt_geneval import MT_GENEVAL
from mtbias.errors import DataError, UsageError, escaped
from mtbias.evaluation.metric_contrasts import (
    Contrast,
    contrasts_of_references,
    contrasts_of_run,
    read_own_contrasts,
    write_contrasts,
    write_requests,
)
from mtbias.files.writing import check_table_name
from mtbias.runs.finished_run import read_run
from mtbias.settings import CacheSettings


def command(
    *,
    out: Path,
    lang: str | None = None,
    data: Path | None = None,
    run: Path | None = None,
    own: Path | None = None,
    judge: str | None = None,
    cache: Cache = CacheSettings(),
) -> None:
    """Write translations that differ only in gender, for a metric of quality to score.

    Each source has two rows, with its feminine and its masculine translation. Score them with
    COMET, a quality estimator or a model that judges, and give the scores to `mtbias metric bias`.
    By default they are MT-GenEval's human references of --lang.

    Parameters
    ----------
    out
        Table to write (.tsv, .csv, .jsonl): id, source, translation, form, gender of the source,
        pair; with --judge the requests (.jsonl).
    lang
        Target language of MT-GenEval.
    data
        MT-GenEval's folder (default: the cache).
    run
        A run over a corpus with counterfactual pairs, for the translations of pairs that are both
        right and have the same number of words.
    judge
        Name of a language model: OUT (.jsonl) gets the requests for a batch of OpenAI, or of a
        server with its protocol, for a score of each translation; the same command without --judge
        writes the contrasts.
    own
        A table of your own: source, feminine, masculine; and gender and pair if you have them.
    """
    check_table_name(out)
    if judge is not None and out.suffix.lower() != ".jsonl":
        raise UsageError(f"--out: expected a name that ends with .jsonl, got {escaped(str(out))}")
    every = _contrasts(lang, data, run, own, cache)
    contrasts = [contrast for contrast in every if contrast.differs]
    if not contrasts:
        raise DataError("expected pairs that differ in gender alone, got none")
    if judge is None:
        write_contrasts(out, contrasts)
    else:
        write_requests(out, contrasts, judge)
    same = len(every) - len(contrasts)
    left_out = f"; left out: {same:,} whose translations are the same" if same else ""
    print(f"{escaped(str(out))}: {len(contrasts):,} sources, each with two translations{left_out}")


def _contrasts(
    lang: str | None, data: Path | None, run: Path | None, own: Path | None, cache: CacheSettings
) -> list[Contrast]:
    if sum(value is not None for value in (lang, run, own)) != 1:
        raise UsageError("expected one of --lang, --run and --own")
    if own is not None:
        return read_own_contrasts(own)
    if run is not None:
        finished = read_run(run)
        if not finished.kind.reads_entities:
            message = f"expected a run that reads the gender of a person, got {finished.measure}"
            raise DataError(message, path=run)
        return contrasts_of_run(finished.calls)
    corpus = load_corpus(MT_GENEVAL, data, cache=cache.cache_dir, lang=lang)
    return contrasts_of_references(corpus.instances)
