"""The catalog of public data sets, and where their files lie on this machine."""

from __future__ import annotations

import functools
import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from mtbias.errors import DataError, UsageError
from mtbias.files.strict_json import DecodingError, converted, decoded
from mtbias.files.writing import write_atomic

CACHE_VARIABLE = "MTBIAS_CACHE"
RECORD = "fetched.json"
"""The file beside fetched data that holds the SHA-256 of each file and of each download."""


@dataclass(frozen=True, slots=True)
class Download:
    """One address, and the files that it gives."""

    url: str
    sha256: str
    """Of the bytes that the address gives; empty where nobody has checked them yet."""
    files: tuple[str, ...]
    archive: bool = False
    """Whether the bytes are a tar archive that holds the files."""


@dataclass(frozen=True, slots=True)
class Source:
    """What is downloaded together, into the cache's folder ``datasets/NAME``."""

    name: str
    home: str
    commit: str
    licence: str
    citation: str
    """BibTeX."""
    downloads: tuple[Download, ...]

    @property
    def hashes(self) -> dict[str, str]:
        """SHA-256 by file, for the files whose hash the catalog knows."""
        return {file: d.sha256 for d in self.downloads if d.sha256 and not d.archive for file in d.files}


@dataclass(frozen=True, slots=True)
class Dataset:
    """A public data set: one file of a source, and those that are read with it."""

    name: str
    description: str
    rows: int
    """Rows of the file, as published."""
    file: str
    source: Source
    measure: str = "gender"
    """What it is measured by (`mtbias.corpora.corpus.Corpus.measure`)."""


@functools.cache
def _content() -> dict[str, Any]:
    text = resources.files("mtbias.corpora").joinpath("catalog.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    for name, entry in content["source"].items():
        entry |= {"name": name, "citation": entry["citation"].strip()}
    return content


@functools.cache
def datasets() -> Mapping[str, Dataset]:
    """The public data sets by name, in the catalog's order."""
    sources = _content()["source"]
    sets = {name: {**e, "name": name, "source": sources[e["source"]]} for name, e in _content()["dataset"].items()}
    return converted(dict[str, Dataset], sets)


@functools.cache
def tables() -> Mapping[str, Source]:
    """What else is fetched by name: tables that go with data sets, and have no sentences of their own."""
    used = {entry.source.name for entry in datasets().values()}
    return converted(dict[str, Source], {n: e for n, e in _content()["source"].items() if n not in used})


def dataset(name: str) -> Dataset:
    """The public data set `name`.

    Raises:
        UsageError: there is none; the message lists those there are.
    """
    if name not in datasets():
        raise UsageError(f"no data set {name!r} to fetch; there are {', '.join(datasets())}")
    return datasets()[name]


def fetched_source(name: str) -> Source:
    """What is downloaded for the name of a data set or of one of `tables`.

    Raises:
        UsageError: there is neither; the message lists the data sets.
    """
    return tables()[name] if name in tables() else dataset(name).source


def cache_folder(cache: Path | None) -> Path:
    """The root of the cache: `cache`, else the environment's ``MTBIAS_CACHE``, else the user's cache folder."""
    if cache is not None:
        return cache
    import platformdirs

    return Path(os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_dir("mtbias"))


def source_folder(source: Source, cache: Path | None) -> Path:
    """The folder in which the files of `source` lie once they are fetched."""
    return cache_folder(cache) / "datasets" / source.name


@dataclass(frozen=True, slots=True)
class Downloaded:
    """What an address gave."""

    sha256: str
    verified: bool
    """Whether that hash was known beforehand."""


@dataclass(frozen=True, slots=True)
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
            f"the record of fetched files is damaged ({error}); delete it and run mtbias fetch again", path=path
        ) from None


def write_record(folder: Path, fetch: Fetch) -> None:
    """Write the record beside the data in `folder`, in one step."""
    write_atomic(folder / RECORD, f"{json.dumps(asdict(fetch), indent=2)}\n".encode())
