"""The catalog of public data sets, and where their files lie on this machine."""

from __future__ import annotations

import functools
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import resources
from pathlib import Path

from mtbias.corpora.corpus import GENDER
from mtbias.errors import DataError, MissingResourceError, UsageError, choices
from mtbias.files.reading import read_text, sha256_of, sha256_of_file
from mtbias.files.strict_json import DecodingError, converted, decoded
from mtbias.files.writing import write_json
from mtbias.types import JsonDict, frozen

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
