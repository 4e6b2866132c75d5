"""``mtbias export``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

from mtbias.cli.shared import Cache, Corpus
from mtbias.corpora import load_corpus
from mtbias.corpora.corpus import source_lines
from mtbias.errors import escaped
from mtbias.files.writing import write_atomic
from mtbias.settings import CacheSettings, CorpusSettings


def command(
    *,
    out: Path | None = None,
    format: Literal["text", "tsv", "jsonl"] = "text",
    lang: str | None = None,
    corpus: Corpus = CorpusSettings(),
    cache: Cache = CacheSettings(),
) -> None:
    """Write a corpus's sentences, to be translated by any system.

    As text there is one sentence per line, in the corpus's order. Translate the file line by line,
    and `mtbias score --translations FILE --lang CODE`, with the same --dataset and --data, scores
    the result. As TSV or JSONL each sentence has its id: add a column or key `target`, and the
    order does not matter.

    Parameters
    ----------
    out
        File to write (default: standard output, also `-`).
    format
        text: sentences alone; tsv, jsonl: id and source.
    lang
        Code of the target language, for data sets that have sentences of their own for each (those
        of MT-GenEval).
    """
    read = load_corpus(
        corpus.dataset or "winomt",
        corpus.data,
        cache=cache.cache_dir,
        lang=lang,
        source_lang=corpus.source_lang,
    )
    text = "".join(f"{line}\n" for line in source_lines(read, format))
    if out is None:
        print(text, end="")
        return
    write_atomic(out, text.encode())
    print(
        f"mtbias: {escaped(str(out))}: {len(read.instances):,} sentences of {read.name}",
        file=sys.stderr,
    )
