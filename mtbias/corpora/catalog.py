"""The catalog of public data sets, and their files on this machine."""

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
"""The measure of the data sets of `mtbias.coref`."""
RECORD = "fetched.json"
"""The file beside fetched data that holds the SHA-256 of each file and of each download."""


@frozen
class Download:
    """One address, and the files that it gives."""

    url: str
    sha256: str
    """SHA-256 of the download; empty where it is not known."""
    files: tuple[str, ...]
    archive: bool = False
    """Whether the bytes are a tar archive that holds the files."""


@frozen
class Source:
    """Files that are downloaded together, into the cache's folder ``datasets/NAME``."""

    name: str
    home: str
    commit: str
    licence: str
    citation: str
    """BibTeX."""
    downloads: tuple[Download, ...]
    """Empty for data that ships with mtbias."""

    @property
    def hashes(self) -> dict[str, str]:
        """SHA-256 by file, for the files whose hash the catalog knows."""
        hashes: dict[str, str] = {}
        for download in self.downloads:
            if download.sha256 and not download.archive:
                hashes |= dict.fromkeys(download.files, download.sha256)
        return hashes


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
    """Its measure (`mtbias.corpora.corpus.Corpus.measure`)."""


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
    """All public data sets by name, in the catalog's order: those of `datasets` and those for
    coreference.
    """
    sources = _content()["source"]
    sets = {}
    for name, entry in _content()["dataset"].items():
        sets[name] = {**entry, "name": name, "source": sources[entry["source"]]}
    return converted(dict[str, Dataset], sets)


def datasets() -> Mapping[str, Dataset]:
    """The public data sets with sentences to translate."""
    return {name: entry for name, entry in catalogued().items() if entry.measure != COREFERENCE}


@functools.cache
def tables() -> Mapping[str, Source]:
    """Tables that are fetched by name: they go with data sets and have no sentences."""
    used = {entry.source.name for entry in catalogued().values()}
    sources = _content()["source"].items()
    others = {name: entry for name, entry in sources if name not in used}
    return converted(dict[str, Source], others)


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
    """The folder for the fetched files of `source`."""
    return cache_folder(cache) / "datasets" / source.name


@frozen
class Downloaded:
    """The record of one download."""

    sha256: str
    verified: bool
    """Whether the hash was known before the download."""


@frozen
class Fetch:
    """The content of `RECORD`, beside fetched data."""

    files: Mapping[str, str]
    """SHA-256 by file."""
    downloads: Mapping[str, Downloaded]
    """Downloads by address."""


def read_record(folder: Path) -> Fetch:
    """The record beside the data in `folder`; an empty one if there is none.

    Raises:
        DataError: the record cannot be read.
    """
    path = folder / RECORD
    if not path.is_file():
        return Fetch({}, {})
    try:
        return decoded(Fetch, path.read_bytes())
    except DecodingError as error:
        damaged = f"the record of fetched files is damaged ({error})"
        raise DataError(f"{damaged}; delete it and run mtbias fetch again", path=path) from None


def write_record(folder: Path, fetch: Fetch) -> None:
    """Write the record beside the data in `folder`, in one step."""
    write_json(folder / RECORD, asdict(fetch), own=True)


UNPUBLISHED = "{} is not the published file"
"""The note on a file that has the name of a published one, but another text."""


def unpublished_files(
    datasets: Sequence[str], files: Mapping[str, str], folder: Path | None = None
) -> list[str]:
    """The names of those of `files` that have the name of a published file, but not its content.

    Files whose hash the catalog does not know are never among them.

    Args:
        datasets: names of the data sets to which the files may belong.
        files: SHA-256 by name.
        folder: their folder; if it is given, a byte-order mark and Windows line ends make no
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
    """The file of a data set or table in the cache, after a check of its hash and of those of the
    files beside it.

    Raises:
        MissingResourceError: it is missing; names the command that fetches it.
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
            message = (
                f"the file in the cache is damaged: expected SHA-256 {expected[file]}, "
                f"got {digest}; {again}"
            )
            raise DataError(message, path=path)
    return folder / main
