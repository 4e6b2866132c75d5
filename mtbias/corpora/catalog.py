"""The catalog of public data sets, where their files lie on this machine, and corpora by their
names.
"""

from __future__ import annotations

import functools
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from importlib import import_module, resources
from pathlib import Path
from typing import Any

from mtbias.corpora.corpus import GENDER, Corpus, with_contradictions
from mtbias.corpora.own_sentences import read_custom
from mtbias.demo import demo_file
from mtbias.entry_points import installed, load, refuse
from mtbias.errors import DataError, MissingResourceError, SettingError, UsageError, choices
from mtbias.files.reading import read_text, sha256_of, sha256_of_file
from mtbias.files.strict_json import DecodingError, converted, decoded
from mtbias.files.writing import write_json
from mtbias.language.source import ENGLISH_CODE, source_language
from mtbias.types import Instance, JsonDict, frozen

CACHE_VARIABLE = "MTBIAS_CACHE"
COREFERENCE = "coreference"
"""What the data sets of `mtbias.coref` are measured by."""
RECORD = "fetched.json"
"""The file beside fetched data that holds the SHA-256 of each file and of each download."""


@frozen
class Download:
    """One address, and the files that it gives."""

    url: str
    sha256: str
    """Of the bytes that the address gives; empty where nobody has checked them yet."""
    files: tuple[str, ...]
    archive: bool = False
    """Whether the bytes are a tar archive that holds the files."""


@frozen
class Source:
    """What is downloaded together, into the cache's folder ``datasets/NAME``."""

    name: str
    home: str
    commit: str
    licence: str
    citation: str
    """BibTeX."""
    downloads: tuple[Download, ...]
    """None where mtbias has what there is."""

    @property
    def hashes(self) -> dict[str, str]:
        """SHA-256 by file, for the files whose hash the catalog knows."""
        return {
            file: d.sha256 for d in self.downloads if d.sha256 and not d.archive for file in d.files
        }


@frozen
class Dataset:
    """A public data set: one file of a source, and those that are read with it."""

    name: str
    description: str
    rows: int
    """Rows of the file, as published."""
    file: str
    source: Source
    measure: str = GENDER
    """What it is measured by (`mtbias.corpora.corpus.Corpus.measure`)."""


@functools.cache
def _content() -> JsonDict:
    text = resources.files("mtbias.corpora").joinpath("catalog.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    unimorph = content.pop("unimorph")
    for code, table in unimorph["tables"].items():
        file = table.pop("file")
        home = f"unimorph/{file}"
        url = f"https://raw.githubusercontent.com/{home}/{table['commit']}/{file}"
        entry = {
            "home": f"https://github.com/{home}",
            "downloads": [{"url": url, "sha256": "", "files": [file]}],
        }
        content["source"][f"unimorph-{code}"] = {**table, **entry, "citation": unimorph["citation"]}
    for name, entry in content["source"].items():
        entry |= {"name": name, "citation": entry["citation"].strip()}
    return content


@functools.cache
def catalogued() -> Mapping[str, Dataset]:
    """All public data sets by name, in the catalog's order: what `datasets` has, and those of
    coreference.
    """
    sources = _content()["source"]
    sets = {
        name: {**e, "name": name, "source": sources[e["source"]]}
        for name, e in _content()["dataset"].items()
    }
    return converted(dict[str, Dataset], sets)


def datasets() -> Mapping[str, Dataset]:
    """The public data sets with sentences to translate."""
    return {name: entry for name, entry in catalogued().items() if entry.measure != COREFERENCE}


@functools.cache
def tables() -> Mapping[str, Source]:
    """What else is fetched by name: tables that go with data sets, and have no sentences of their
    own.
    """
    used = {entry.source.name for entry in catalogued().values()}
    return converted(
        dict[str, Source], {n: e for n, e in _content()["source"].items() if n not in used}
    )


def dataset(name: str) -> Dataset:
    """The public data set `name`.

    Raises:
        UsageError: there is none; the message lists those there are.
    """
    if name not in catalogued():
        raise UsageError(f"no data set {name!r} to fetch; {choices(name, catalogued())}")
    return catalogued()[name]


def fetched_source(name: str) -> Source:
    """What is downloaded for the name of a data set or of one of `tables`.

    Raises:
        UsageError: there is neither; the message lists the data sets.
    """
    return tables()[name] if name in tables() else dataset(name).source


def cache_folder(cache: Path | None) -> Path:
    """The root of the cache: `cache`, else the environment's ``MTBIAS_CACHE``, else the user's
    cache folder.
    """
    if cache is not None:
        return cache
    import platformdirs

    return Path(os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_dir("mtbias"))


def source_folder(source: Source, cache: Path | None) -> Path:
    """The folder in which the files of `source` lie once they are fetched."""
    return cache_folder(cache) / "datasets" / source.name


@frozen
class Downloaded:
    """What an address gave."""

    sha256: str
    verified: bool
    """Whether that hash was known beforehand."""


@frozen
class Fetch:
    """What is on record beside fetched data (`RECORD`)."""

    files: Mapping[str, str]
    """SHA-256 by file."""
    downloads: Mapping[str, Downloaded]
    """By address."""


def read_record(folder: Path) -> Fetch:
    """The record beside the data in `folder`; an empty one where there is none.

    Raises:
        DataError: the record cannot be read.
    """
    path = folder / RECORD
    if not path.is_file():
        return Fetch({}, {})
    try:
        return decoded(Fetch, path.read_bytes())
    except DecodingError as error:
        raise DataError(
            f"the record of fetched files is damaged ({error}); delete it and run mtbias fetch again",
            path=path,
        ) from None


def write_record(folder: Path, fetch: Fetch) -> None:
    """Write the record beside the data in `folder`, in one step."""
    write_json(folder / RECORD, asdict(fetch), own=True)


UNPUBLISHED = "{} is not the published file"
"""The note of a file that has the name of a published one, and another text."""


def unpublished_files(
    datasets: Sequence[str], files: Mapping[str, str], folder: Path | None = None
) -> list[str]:
    """The names of those of `files` that have the name of a published file, but not its content.

    Files whose hash the catalog does not know are never among them.

    Args:
        datasets: names of the data sets that the files may be of.
        files: SHA-256 by name.
        folder: where the files lie. With it, a byte-order mark and Windows line ends make no
            difference.
    """
    published: dict[str, set[str | None]] = {}
    for source in map(fetched_source, datasets):
        for download in source.downloads:
            for name in download.files:
                published.setdefault(name, set()).add(source.hashes.get(name))
    differing = []
    for name, digest in files.items():
        known = published.get(name, {None})
        if digest in known or None in known:
            continue
        if folder is None or _plain_sha256(folder / name) not in known:
            differing.append(name)
    return differing


def _plain_sha256(path: Path) -> str:
    """SHA-256 of a file's text, without byte-order mark and with LF line ends."""
    return sha256_of(read_text(path).text.replace("\r\n", "\n"))


# Corpora by their names

DEMO = "demo"
"""The corpus that ships with mtbias."""
WINOMT = "winomt"
CUSTOM = "custom"
"""One's own sentences."""
GROUP = "mtbias.corpora"
MT_GENEVAL, MT_GENEVAL_ENTITIES, MT_GENEVAL_CONTEXT = (
    "mt-geneval",
    "mt-geneval-entities",
    "mt-geneval-context",
)
BY_LANGUAGE = (MT_GENEVAL, MT_GENEVAL_ENTITIES, MT_GENEVAL_CONTEXT)
"""The data sets that have sentences of their own for each target language."""
_READERS = {
    WINOMT: "winomt.read_winomt",
    "gest": "gest.read_gest",
    **dict.fromkeys(("bug", "bug-balanced", "bug-gold", "bug-gold-paper"), "bug.read_bug"),
    MT_GENEVAL: "mt_geneval.read_mt_geneval",
    MT_GENEVAL_ENTITIES: "mt_geneval.read_entities",
    MT_GENEVAL_CONTEXT: "mt_geneval.read_mt_geneval_context",
}
"""Module and function that reads a data set from a path: imported where it is asked for."""


def dataset_names() -> tuple[str, ...]:
    """The names that `load_corpus` knows; those of other distributions last."""
    return (*datasets(), DEMO, CUSTOM, *installed(GROUP))


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
    noted (`unpublished_files`).

    `lang` is the target language: the data sets of `BY_LANGUAGE` have sentences of their own for
    each, all others have the same for all. `source_lang` is the language of the sources of
    ``custom``, and of a `path` of WinoMT's form.

    Other distributions add corpora under the entry-point group ``mtbias.corpora``: a function of
    the path, or None, that gives a `Corpus`.

    Raises:
        UsageError: an unknown dataset, ``custom`` without a path, a data set of `BY_LANGUAGE`
            without a language.
        MissingResourceError: it is not in the cache; the message names the command that fetches it.
        DataError: a file says what cannot be right, or a file in the cache is damaged.
        PluginError: another distribution's corpus fails to load.
    """
    corpus = with_contradictions(_loaded(dataset, path, cache, lang, source_lang))
    if dataset not in catalogued():
        return corpus
    differing = unpublished_files([dataset], corpus.files, corpus.path.parent)
    return replace(
        corpus, notes={**corpus.notes, **{UNPUBLISHED.format(name): 1 for name in differing}}
    )


def _loaded(
    dataset: str, path: Path | None, cache: Path | None, lang: str | None, source_lang: str
) -> Corpus[Any]:
    spoken = source_language(source_lang)
    if spoken.code != ENGLISH_CODE and dataset != CUSTOM and (dataset != WINOMT or path is None):
        check_dataset(dataset)
        expected = f"expected {ENGLISH_CODE}, or {CUSTOM} or {WINOMT} with --data"
        raise SettingError(
            "source_lang",
            f"{expected}, got {source_lang} with {dataset}, whose sentences are its own",
        )
    if dataset in BY_LANGUAGE:
        if lang is None:
            raise UsageError(
                f"the dataset {dataset} has other sentences for each language: give --lang CODE"
            )
        return _read(dataset, path or cached_file(dataset, cache).parent, lang)
    if dataset in _READERS:
        more = (spoken,) if dataset == WINOMT else ()
        return _read(dataset, path or cached_file(dataset, cache), *more)
    if dataset == DEMO:
        return replace(read_custom(path or demo_file()), name=DEMO)
    if dataset != CUSTOM:
        return _of_others(dataset, path)
    if path is None:
        raise UsageError("the dataset custom needs a file: give --data PATH (TSV, CSV or JSONL)")
    return read_custom(path, spoken)


def _read(dataset: str, path: Path, *more: object) -> Corpus[Any]:
    module, _, name = _READERS[dataset].partition(".")
    read: Callable[..., Corpus[Any]] = getattr(import_module(f"mtbias.corpora.{module}"), name)
    return read(path, *more, **({"name": dataset} if module == "bug" else {}))


def load_entities(
    dataset: str, path: Path | None, cache: Path | None = None, source_lang: str = ENGLISH_CODE
) -> Corpus[Instance]:
    """A corpus as `load_corpus` gives it, whose sentences have an entity and are the same for all
    languages.

    Raises:
        SettingError: it is of another kind.
        MtbiasError: as `load_corpus`.
    """
    if dataset in BY_LANGUAGE:
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


def _of_others(dataset: str, path: Path | None) -> Corpus[Any]:
    """A corpus that another distribution registers."""
    check_dataset(dataset)
    read = load(GROUP, dataset, "corpus")
    corpus = read(path) if callable(read) else None
    if not isinstance(corpus, Corpus):
        raise refuse(
            GROUP, dataset, "corpus", "expected a function that gives a mtbias.corpora.Corpus"
        )
    return corpus


def cached_file(name: str, cache: Path | None) -> Path:
    """The file of a data set or table in the cache, after a look at its hash and at those of the
    files beside it.

    Raises:
        MissingResourceError: it is not there; the message names the command that fetches it.
        DataError: it is damaged.
    """
    source = fetched_source(name)
    main = source.downloads[0].files[0] if name in tables() else dataset(name).file
    folder = source_folder(source, cache)
    again = f"run: mtbias fetch --dataset {name}"
    if not (folder / main).is_file():
        raise MissingResourceError(f"{name} is not in the cache ({folder / main}); {again}")
    expected = {**read_record(folder).files, **source.hashes}
    for file in sorted({main, *source.hashes} & expected.keys()):
        path = folder / file
        if not path.is_file():
            raise MissingResourceError(f"{path} is not in the cache; {again}")
        digest = sha256_of_file(path)
        if digest != expected[file]:
            message = f"the file in the cache is damaged: expected SHA-256 {expected[file]}, got {digest}; {again}"
            raise DataError(message, path=path)
    return folder / main
