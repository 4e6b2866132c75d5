"""Corpora by their names, found through the entry-point group ``mtbias.corpora``, mtbias's own like
those of third parties.

A `CorpusKind` has what is known of a corpus before it is read. A corpus is imported only when it is
needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import Any

from mtbias.corpora.catalog import (
    UNPUBLISHED,
    cached_file,
    catalogued,
    datasets,
    unpublished_files,
)
from mtbias.corpora.corpus import Corpus, with_contradictions
from mtbias.entry_points import installed, load, refuse
from mtbias.errors import SettingError, UsageError, choices
from mtbias.language.source import ENGLISH_CODE, SourceLanguage, source_language
from mtbias.types import Instance, frozen

GROUP = "mtbias.corpora"
WINOMT = "winomt"
DEMO = "demo"
"""The corpus that ships with mtbias."""
CUSTOM = "custom"
"""A user's own sentences."""


@frozen
class AskedCorpus:
    """A request for a corpus: its name, place and languages."""

    name: str
    """The name under which it is registered."""
    path: Path | None
    """The file, or the folder of its files (``--data``); None is the cache."""
    lang: str | None
    """Code of the target language, if there is one."""
    source: SourceLanguage
    """The language of the sentences."""
    cache: Path | None
    """See `mtbias.corpora.cache_folder`."""

    @property
    def file(self) -> Path:
        """The path, else the main file of the public data set in the cache.

        Raises:
            MissingResourceError: it is missing; names the command that fetches it.
            DataError: it is damaged.
        """
        return self.path or cached_file(self.name, self.cache)

    @property
    def language(self) -> str:
        """The target language, for a corpus with other sentences for each language.

        Raises:
            UsageError: there is none.
        """
        if self.lang is None:
            raise UsageError(
                f"the dataset {self.name} has other sentences for each language: give --lang CODE"
            )
        return self.lang


class CorpusKind(ABC):
    """What is known of a corpus before it is read."""

    by_language: bool = False
    """Whether it has other sentences for each target language."""
    needs_language: bool = True
    """Whether the target language must be installed; only measures of third parties can do without
    its plugin."""

    def may_be_in(self, source: SourceLanguage, path: Path | None) -> bool:  # noqa: ARG002 - most
        """Whether the sentences at `path` may be in this language."""
        return source.code == ENGLISH_CODE

    @abstractmethod
    def read(self, request: AskedCorpus) -> Corpus[Any]:
        """The corpus.

        Raises:
            UsageError: something that it needs is missing in the request.
            MissingResourceError: it is not in the cache; names the command that fetches it.
            DataError: a file is wrong; with path and line.
        """


def dataset_names() -> tuple[str, ...]:
    """The names that `load_corpus` knows; those of other distributions last."""
    shipped = (*datasets(), DEMO, CUSTOM)
    return (*shipped, *(name for name in installed(GROUP) if name not in shipped))


def check_dataset(name: str) -> None:
    """Refuse a name that `load_corpus` does not know.

    Raises:
        UsageError: it is such a name; lists the known ones.
    """
    if name not in dataset_names():
        what = (
            f"{name} is for mtbias coref" if name in catalogued() else f"unknown dataset {name!r}"
        )
        raise UsageError(f"{what}; {choices(name, dataset_names())}")


def find_corpus(name: str) -> CorpusKind:
    """The corpus that is registered under `name`.

    Raises:
        UsageError: it is not registered; lists what is installed.
        PluginError: several distributions register it, or it fails to load.
    """
    check_dataset(name)
    kind = load(GROUP, name, "corpus")
    if not isinstance(kind, CorpusKind):
        expected = "expected a mtbias.corpora.CorpusKind"
        raise refuse(GROUP, name, "corpus", f"{expected}, got {kind!r:.80}")
    return kind


def needs_language(dataset: str) -> bool:
    """See `CorpusKind`; also true for the names of sentences in memory and of parts of a corpus."""
    return dataset not in installed(GROUP) or find_corpus(dataset).needs_language


def load_corpus(
    dataset: str,
    path: Path | None,
    *,
    cache: Path | None = None,
    lang: str | None = None,
    source_lang: str = ENGLISH_CODE,
) -> Corpus[Any]:
    """Load the corpus `dataset` from `path` (a file, or the folder of its files) or from the cache.

    The cache is ``<cache>/datasets/<source>``, where `cache` is by default the environment's
    ``MTBIAS_CACHE`` or the user's cache folder; the datasets of BUG's release share the source
    ``bug``. A file in the cache is checked against the hash of the catalog, or the one that was
    recorded when it was fetched. A file at `path` with the name of a published file, but another
    text, is noted (`mtbias.corpora.catalog.unpublished_files`).

    `lang` is the target language: some data sets have other sentences for each
    (`CorpusKind.by_language`). `source_lang` is the language of the sources of ``custom``, and of a
    `path` in WinoMT's form.

    Raises:
        UsageError: the dataset is unknown; ``custom`` has no path; a data set with other sentences
            for each language has no language.
        SettingError: the corpus cannot have sources in this language.
        MissingResourceError: it is not in the cache; names the command that fetches it.
        DataError: a file is wrong, or a file in the cache is damaged.
        PluginError: another distribution's corpus fails to load.
    """
    source = source_language(source_lang)
    kind = find_corpus(dataset)
    if not kind.may_be_in(source, path):
        expected = f"expected {ENGLISH_CODE}, or {CUSTOM} or {WINOMT} with --data"
        raise SettingError(
            "source_lang",
            f"{expected}, got {source_lang} with {dataset}, whose sentences are its own",
        )
    result: object = kind.read(AskedCorpus(dataset, path, lang, source, cache))
    if not isinstance(result, Corpus):
        expected = "expected its read to give a mtbias.corpora.Corpus"
        raise refuse(GROUP, dataset, "corpus", f"{expected}, got {result!r:.80}")
    corpus = with_contradictions(result)
    if dataset not in catalogued():
        return corpus
    differing = unpublished_files([dataset], corpus.files, corpus.path.parent)
    notes = {UNPUBLISHED.format(name): 1 for name in differing}
    return replace(corpus, notes={**corpus.notes, **notes})


def load_entities(
    dataset: str, path: Path | None, cache: Path | None = None, source_lang: str = ENGLISH_CODE
) -> Corpus[Instance]:
    """The corpus of `load_corpus`, if its sentences have an entity and are the same for all
    languages.

    Raises:
        SettingError: it is another kind of corpus.
        MtbiasError: as `load_corpus`.
    """
    if find_corpus(dataset).by_language:
        raise SettingError(
            "dataset", f"expected the same sentences for all languages, which {dataset} has not"
        )
    corpus = load_corpus(dataset, path, cache=cache, source_lang=source_lang)
    if not corpus.has_entities:
        raise SettingError(
            "dataset",
            f"expected sentences with an entity and its gender, which {dataset} does not mark",
        )
    return corpus
