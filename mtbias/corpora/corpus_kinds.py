"""Corpora by their names, found through the entry-point group ``mtbias.corpora``: those that ship
with mtbias like a third party's.

A `CorpusKind` is what is known of a corpus before it is read. No corpus is imported before it is
asked for by name.
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
"""One's own sentences."""


@frozen
class AskedCorpus:
    """What a user asks of a kind of corpus."""

    name: str
    """The name under which it is registered."""
    path: Path | None
    """The file, or the folder that holds its files (``--data``); None is the cache."""
    lang: str | None
    """Code of the target language, where there is one."""
    source: SourceLanguage
    """The language of the sentences."""
    cache: Path | None
    """See `mtbias.corpora.cache_folder`."""

    @property
    def file(self) -> Path:
        """The path, else the main file of the public data set in the cache.

        Raises:
            MissingResourceError: it is not there; the message names the command that fetches it.
            DataError: it is damaged.
        """
        return self.path or cached_file(self.name, self.cache)

    @property
    def language(self) -> str:
        """The target language, for a corpus that has other sentences for each.

        Raises:
            UsageError: none is given.
        """
        if self.lang is None:
            raise UsageError(
                f"the dataset {self.name} has other sentences for each language: give --lang CODE"
            )
        return self.lang


class CorpusKind(ABC):
    """A corpus, as far as nothing of it is read."""

    by_language: bool = False
    """Whether it has sentences of its own for each target language."""
    needs_language: bool = True
    """Whether the target language must be installed: only a measure of a third party does without
    its plugin."""

    def may_be_in(self, source: SourceLanguage, path: Path | None) -> bool:  # noqa: ARG002 - most
        """Whether the sentences at `path` may be in this language."""
        return source.code == ENGLISH_CODE

    @abstractmethod
    def read(self, request: AskedCorpus) -> Corpus[Any]:
        """The corpus.

        Raises:
            UsageError: something that it needs is not given.
            MissingResourceError: it is not in the cache; the message names the command that
                fetches it.
            DataError: a file says what cannot be right; with path and line.
        """


def dataset_names() -> tuple[str, ...]:
    """The names that `load_corpus` knows; those of other distributions last."""
    shipped = (*datasets(), DEMO, CUSTOM)
    return (*shipped, *(name for name in installed(GROUP) if name not in shipped))


def check_dataset(name: str) -> None:
    """Refuse a name that `load_corpus` does not know.

    Raises:
        UsageError: names those that there are.
    """
    if name not in dataset_names():
        what = (
            f"{name} is for mtbias coref" if name in catalogued() else f"unknown dataset {name!r}"
        )
        raise UsageError(f"{what}; {choices(name, dataset_names())}")


def find_corpus(name: str) -> CorpusKind:
    """The corpus that is registered under `name`.

    Raises:
        UsageError: nobody registers it; the message lists what is installed.
        PluginError: several distributions do, or it fails to load.
    """
    check_dataset(name)
    kind = load(GROUP, name, "corpus")
    if not isinstance(kind, CorpusKind):
        expected = "expected a mtbias.corpora.CorpusKind"
        raise refuse(GROUP, name, "corpus", f"{expected}, got {kind!r:.80}")
    return kind


def needs_language(dataset: str) -> bool:
    """See `CorpusKind`; so do sentences in memory and parts of a corpus, which have other names."""
    return dataset not in installed(GROUP) or find_corpus(dataset).needs_language


def load_corpus(
    dataset: str,
    path: Path | None,
    *,
    cache: Path | None = None,
    lang: str | None = None,
    source_lang: str = ENGLISH_CODE,
) -> Corpus[Any]:
    """Load the corpus `dataset` from `path` (a file, or the folder that holds its files) or from
    the cache.

    The cache is ``<cache>/datasets/<source>``, where `cache` is by default the environment's
    ``MTBIAS_CACHE`` or the user's cache folder; the datasets of BUG's release share the source
    ``bug``. A file in the cache is checked against the hash of the catalog, or the one written down
    when it was fetched. A file at `path` that has the name of a published file and another text is
    noted (`mtbias.corpora.catalog.unpublished_files`).

    `lang` is the target language: some data sets have sentences of their own for each
    (`CorpusKind.by_language`), all others have the same for all. `source_lang` is the language of
    the sources of ``custom``, and of a `path` of WinoMT's form.

    Raises:
        UsageError: an unknown dataset, ``custom`` without a path, a data set with other sentences
            for each language without one.
        SettingError: a language of the sources that the corpus cannot have.
        MissingResourceError: it is not in the cache; the message names the command that fetches it.
        DataError: a file says what cannot be right, or a file in the cache is damaged.
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
    read: object = kind.read(AskedCorpus(dataset, path, lang, source, cache))
    if not isinstance(read, Corpus):
        expected = "expected its read to give a mtbias.corpora.Corpus"
        raise refuse(GROUP, dataset, "corpus", f"{expected}, got {read!r:.80}")
    corpus = with_contradictions(read)
    if dataset not in catalogued():
        return corpus
    differing = unpublished_files([dataset], corpus.files, corpus.path.parent)
    return replace(
        corpus, notes={**corpus.notes, **{UNPUBLISHED.format(name): 1 for name in differing}}
    )


def load_entities(
    dataset: str, path: Path | None, cache: Path | None = None, source_lang: str = ENGLISH_CODE
) -> Corpus[Instance]:
    """A corpus as `load_corpus` gives it, whose sentences have an entity and are the same for all
    languages.

    Raises:
        SettingError: it is of another kind.
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
