"""Loading a corpus by its name, from a given place or from the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from mtbias.corpora import bug, catalog, gest, mt_geneval, mt_geneval_context, mt_geneval_entities
from mtbias.corpora.corpus import Corpus
from mtbias.corpora.own_sentences import read_custom
from mtbias.corpora.winomt import read_winomt
from mtbias.demo import demo_file
from mtbias.entry_points import installed, load, refuse
from mtbias.errors import DataError, MissingResourceError, UsageError
from mtbias.files.reading import read_bytes
from mtbias.types import Instance

DEMO = "demo"
"""The corpus that ships with mtbias."""
CUSTOM = "custom"
"""One's own sentences."""
GROUP = "mtbias.corpora"
BY_LANGUAGE: Mapping[str, Callable[[Path, str], Corpus[Any]]] = {
    mt_geneval.NAME: mt_geneval.read_mt_geneval,
    mt_geneval_entities.NAME: mt_geneval_entities.read_entities,
    mt_geneval_context.NAME: mt_geneval_context.read_mt_geneval_context,
}
"""The data sets that have sentences of their own for each target language: their readers, of folder and language."""


def dataset_names() -> tuple[str, ...]:
    """The names that `load_corpus` knows; those of other distributions last."""
    return (*catalog.datasets(), DEMO, CUSTOM, *installed(GROUP))


def check_dataset(name: str) -> None:
    """Refuse a name that `load_corpus` does not know.

    Raises:
        UsageError: names those that there are.
    """
    if name not in dataset_names():
        raise UsageError(f"unknown dataset {name!r}; there are {', '.join(dataset_names())}")


def load_corpus(dataset: str, path: Path | None, *, cache: Path | None = None, lang: str | None = None) -> Corpus[Any]:
    """Load the corpus `dataset` from `path` (a file, or the folder that holds its files) or from the cache.

    The cache is ``<cache>/datasets/<source>``, where `cache` is by default the environment's ``MTBIAS_CACHE`` or the
    user's cache folder; the datasets of BUG's release share the source ``bug``. A file in the cache is checked against
    the hash of the catalog, or the one written down when it was fetched; a file at `path` is not.

    `lang` is the target language: the data sets of `BY_LANGUAGE` have sentences of their own for each, all others have
    the same for all.

    Other distributions add corpora under the entry-point group ``mtbias.corpora``: a function of the path, or None,
    that gives a `Corpus`.

    Raises:
        UsageError: an unknown dataset, ``custom`` without a path, a data set of `BY_LANGUAGE` without a language.
        MissingResourceError: it is not in the cache; the message names the command that fetches it.
        DataError: a file says what cannot be right, or a file in the cache is damaged.
        PluginError: another distribution's corpus fails to load.
    """
    if dataset in BY_LANGUAGE:
        if lang is None:
            raise UsageError(f"the dataset {dataset} has other sentences for each language: give --lang CODE")
        return BY_LANGUAGE[dataset](path or _cached(dataset, cache).parent, lang)
    readers: dict[str, Callable[[Path], Corpus[Any]]] = {
        "winomt": read_winomt,
        gest.NAME: gest.read_gest,
        CUSTOM: read_custom,
        DEMO: read_demo,
        **{name: partial(bug.read_bug, name=name) for name in bug.FILES},
    }
    if dataset not in readers:
        return _of_others(dataset, path)
    if path is not None:
        return readers[dataset](path)
    if dataset == CUSTOM:
        raise UsageError("the dataset custom needs a file: give --data PATH (TSV, CSV or JSONL)")
    if dataset == DEMO:
        return read_demo(demo_file())
    return readers[dataset](_cached(dataset, cache))


def _of_others(dataset: str, path: Path | None) -> Corpus[Any]:
    """A corpus that another distribution registers."""
    check_dataset(dataset)
    read = load(GROUP, dataset, "corpus")
    corpus = read(path) if callable(read) else None
    if not isinstance(corpus, Corpus):
        raise refuse(GROUP, dataset, "corpus", "expected a function that gives a mtbias.corpora.Corpus")
    return corpus


def read_demo(path: Path) -> Corpus[Instance]:
    """The demo's corpus, which has the columns of a corpus of one's own."""
    return replace(read_custom(path), name=DEMO)


def _cached(name: str, cache: Path | None) -> Path:
    """The file of the dataset `name` in the cache, after a look at its hash and at those of the files beside it."""
    entry = catalog.dataset(name)
    folder = catalog.source_folder(entry.source, cache)
    main = folder / entry.file
    if not main.is_file():
        raise MissingResourceError(f"{name} is not in the cache ({main}); run: mtbias fetch --dataset {name}")
    expected = {**catalog.read_record(folder).files, **entry.source.hashes}
    for file in sorted({entry.file, *entry.source.hashes}):
        beside = folder / file
        if file not in expected:
            continue
        if not beside.is_file():
            raise MissingResourceError(f"{beside} is not in the cache; run: mtbias fetch --dataset {name}")
        found = hashlib.sha256(read_bytes(beside)).hexdigest()
        if found != expected[file]:
            raise DataError(
                f"the file in the cache is damaged: expected SHA-256 {expected[file]}, got {found}; "
                f"run: mtbias fetch --dataset {name}",
                path=beside,
            )
    return main
