"""The files that a corpus is mined from: which they are, of what form, and their hashes."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, cast

from mtbias.errors import DataError, SettingError

Form = Literal["text", "jsonl", "conllu"]

_JSONL = (".jsonl", ".ndjson")
_CONLLU = ".conllu"
_READ = 1 << 20


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file of text."""

    path: Path
    """As it was given, or found in a folder that was."""
    form: Form
    corpus: str
    """What the rows' column ``corpus`` has."""
    size: int
    """Bytes on the disk."""


def input_files(
    paths: Sequence[Path], *, parsed: bool = False, field: str | None = None, corpus: str | None = None
) -> tuple[InputFile, ...]:
    """The files that `paths` name, in that order; of a folder all files in it, at any depth, sorted, hidden ones not.

    A name that ends in ``.gz`` is one of a gzipped file. JSON lines are files whose name ends in ``.jsonl`` or
    ``.ndjson``, and all files where a `field` is given. With `parsed` all files are CoNLL-U. The corpus of a file is
    `corpus`, else the name of the folder that was given, or the file's without its endings.

    Raises:
        DataError: no such file; a folder without files; a pipe or a device; CoNLL-U where text is expected.
        SettingError: no paths.
    """
    if not paths:
        raise SettingError("text", "expected files or folders of text, got none (or --conllu with files of trees)")
    files = []
    for given in paths:
        folder = given.is_dir()
        found = sorted(_files_of(given)) if folder else [given]
        if not found:
            raise DataError("expected files in this folder, got none", path=given)
        for path in found:
            name = path.name.removesuffix(".gz")
            form = _form(name, path, parsed=parsed, json=field is not None)
            files.append(InputFile(path, form, corpus or _stem(given.absolute().name), _size(path)))
    return tuple(files)


def _files_of(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path


def _form(name: str, path: Path, *, parsed: bool, json: bool) -> Form:
    if parsed:
        return "conllu"
    if name.lower().endswith(_CONLLU):
        raise DataError("expected text, got CoNLL-U by its name; give it to --conllu", path=path)
    return "jsonl" if json or name.lower().endswith(_JSONL) else "text"


def _stem(name: str) -> str:
    return Path(name.removesuffix(".gz")).stem or name


def _size(path: Path) -> int:
    try:
        if path.is_file():
            return path.stat().st_size
        known = path.exists()
    except (OSError, ValueError) as error:
        raise DataError(f"the file cannot be read: {error}", path=path) from None
    if known:
        message = "expected a regular file, which a run that was stopped can read again; write the content into a file"
        raise DataError(message, path=path)
    raise DataError("there is no such file; check the path", path=path)


def file_hashes(files: Sequence[InputFile]) -> dict[str, str]:
    """The SHA-256 of each file, by its path.

    Raises:
        DataError: a file cannot be read.
    """
    hashes = {}
    for each in files:
        try:
            with each.path.open("rb") as file:
                hashes[str(each.path)] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise DataError(f"the file cannot be read: {error.strerror or error}", path=each.path) from None
    return hashes


@contextmanager
def opened(file: InputFile, start: int) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The content of a file from byte `start` on, and the file on the disk, whose `tell` is how far it was read."""
    zipped = file.path.suffix == ".gz"
    with (
        file.path.open("rb", buffering=_READ) as raw,
        cast(BinaryIO, gzip.open(raw)) if zipped else raw as content,
    ):
        content.seek(start)
        yield content, raw
