"""``mtbias export``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Literal

from mtbias.cli.shared import Cache, Corpus
from mtbias.corpora import load_corpus
from mtbias.corpora.corpus import source_lines
from mtbias.corpora.corpus_kinds import WINOMT
from mtbias.errors import SettingError, escaped
from mtbias.files.writing import write_atomic
from mtbias.settings import CacheSettings, CorpusSettings, LanguageModelSettings
from mtbias.translate.language_models.prompt_files import load_prompt
from mtbias.translate.wmt_suite import suite_lines


def command(
    *,
    out: Path | None = None,
    format: Literal["text", "tsv", "jsonl", "wmt"] = "text",
    lang: str | None = None,
    prompt: list[str] | None = None,
    corpus: Corpus = CorpusSettings(),
    cache: Cache = CacheSettings(),
) -> None:
    """Write the sentences of a corpus, for any system to translate.

    As text there is one sentence per line, in the corpus's order. Translate the file line by line,
    and `mtbias score --translations FILE --lang CODE`, with the same --dataset and --data, scores
    the result. As TSV or JSONL each sentence has its id: add a column or key `target`, and the
    order does not matter. As `wmt` it is a test suite for WMT's task of general translation, whose
    outputs `mtbias score` takes as they come back.

    Parameters
    ----------
    out
        File to write (default: standard output, also `-`).
    format
        text: sentences alone; tsv, jsonl: id and source; wmt: JSON lines with the fields of WMT
        2026.
    lang
        Code of the target language: for wmt, and for data sets with other sentences for each
        language (those of MT-GenEval).
    prompt
        With wmt: the instruction for systems, a name (`mtbias list prompts`; default: plain) or a
        file; with several, such as plain, feminine and masculine, each has all sentences.
    """
    if format == "wmt" and not lang:
        raise SettingError("lang", "expected the target language with --format wmt, got none")
    if format != "wmt" and prompt is not None:
        raise SettingError("prompt", f"expected --format wmt with it, got {format}")
    dataset = corpus.dataset or WINOMT
    prompts = [load_prompt(name) for name in prompt or [LanguageModelSettings.prompt]]
    loaded = load_corpus(
        dataset,
        corpus.data,
        cache=cache.cache_dir,
        lang=lang,
        source_lang=corpus.source_lang,
    )
    if format == "wmt" and lang:
        inputs = [replace(i, source=loaded.inputs.get(i.id) or i.source) for i in loaded.instances]
        lines = suite_lines(inputs, dataset, prompts, lang=lang, source_lang=loaded.source_lang)
    elif format != "wmt":
        lines = source_lines(loaded, format)
    text = "".join(f"{line}\n" for line in lines)
    if out is None:
        print(text, end="")
        return
    write_atomic(out, text.encode())
    times = f", each with {len(prompts)} prompts" if len(prompts) > 1 else ""
    print(
        f"mtbias: {escaped(str(out))}: {len(loaded.instances):,} sentences of {loaded.name}{times}",
        file=sys.stderr,
    )
