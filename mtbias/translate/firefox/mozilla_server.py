"""Firefox's models from Mozilla's server of records (Remote Settings).

Its records name the files of every model, with version, hash and place. Which of them the engine
can compute, the engine itself says (``fxtranslate.discovery``), which also unpacks a file and
compares its hash.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from mtbias.errors import MissingResourceError, ModelError
from mtbias.files.strict_json import load_json
from mtbias.files.writing import LOCK_NAME, waiting_lock, write_atomic, write_json
from mtbias.machine.downloads import fetch_file
from mtbias.translate.firefox.model_files import FOLDER, RECORD, Pair

_ADVICE = "check the network, or give a folder with the model: firefox:FOLDER"
_FILE = re.compile(r"[\w.-]+\.(?:bin|spm)")


def fetch_model(pair: Pair, cache: Path) -> None:
    """Download the newest model of a pair into the cache, all files or none.

    Raises:
        MissingResourceError: the server cannot be reached, or has no model of this pair.
        ModelError: a file is not the one of its record.
    """
    folder = cache / FOLDER / str(pair)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (
            waiting_lock(folder / LOCK_NAME),
            tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as scratch,
        ):
            if not (folder / RECORD).is_file():  # else another process fetched it meanwhile
                _fetch(pair, folder, Path(scratch) / "download")
    except OSError as error:
        raise MissingResourceError(
            f"{folder}: cannot be written: {error.strerror or error}"
        ) from error


def _fetch(pair: Pair, folder: Path, scratch: Path) -> None:
    from fxtranslate import discovery

    address = str(discovery.records_url())
    records = _newest(_records(address, scratch), pair)
    base = _files_address(address, scratch)
    contents = {record["name"]: _content(base, record, scratch) for record in records}
    for name, content in contents.items():
        write_atomic(folder / name, content)
    hashes = {name: sha256(content).hexdigest() for name, content in contents.items()}
    about = {key: records[0][key] for key in ("version", "architecture")}
    write_json(folder / RECORD, {**about, "files": hashes})


def _answer(address: str, scratch: Path, *keys: str) -> Any:  # noqa: ANN401 - any JSON
    """What the server answers under some keys."""
    fetch_file(address, scratch, advice=_ADVICE)
    try:
        value = load_json(scratch.read_bytes())
        for key in keys:
            value = value[key]
    except (ValueError, KeyError, TypeError):
        raise MissingResourceError(
            f"{address}: expected an answer of Mozilla's Remote Settings, got something else; "
            f"{_ADVICE}"
        ) from None
    return value


def _records(address: str, scratch: Path) -> list[dict[str, Any]]:
    """All records, as the server has them."""
    records = _answer(address, scratch, "data")
    return [record for record in records if isinstance(record, dict)]


def _files_address(address: str, scratch: Path) -> str:
    """Where the files of records lie, which the root of the server says."""
    root = address.partition("/buckets/")[0] + "/"
    base = _answer(root, scratch, "capabilities", "attachments", "base_url")
    return str(base).rstrip("/") + "/"


def _newest(records: Sequence[Mapping[str, Any]], pair: Pair) -> list[dict[str, Any]]:
    """The records of the files of a pair's newest model, as the engine reads them.

    The one that the engine would take: of those that it can compute the highest version, and of
    equal ones the last.

    Raises:
        MissingResourceError: there is none.
    """
    from fxtranslate import discovery

    models: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for record in records:
        languages = record.get("sourceLanguage"), record.get("targetLanguage")
        if languages == (pair.source, pair.target):
            kind = str(record.get("version")), str(record.get("architecture"))
            models.setdefault(kind, []).append(record)
    usable = []
    for (version, _), files in models.items():
        body = json.dumps({"data": files})
        if (pair.source, pair.target) in discovery.model_pairs(body):
            usable.append((_order(version), discovery.parse_records(body)))
    if not usable:
        raise MissingResourceError(
            f"Firefox has no model from {pair.source} into {pair.target} that its engine computes; "
            "`fxtranslate list --all` prints the pairs that it has"
        )
    highest = max(order for order, _ in usable)
    return [files for order, files in usable if order == highest][-1]


def _order(version: str) -> tuple[int, ...]:
    """``3.0`` is above ``3.0a1`` and below ``3.1``."""
    match = re.fullmatch(r"(\d+)\.(\d+)(?:a(\d+))?", version)
    if match is None:
        return ()
    return int(match[1]), int(match[2]), int(match[3] is None), int(match[3] or 0)


def _content(base: str, record: Mapping[str, Any], scratch: Path) -> bytes:
    """One file of a model, which has the hash of its record."""
    from fxtranslate import discovery

    name, address = str(record["name"]), base + str(record["location"]).lstrip("/")
    digest = record["decompressedHash"]
    if not _FILE.fullmatch(name) or not digest:
        raise ModelError(f"{address}: expected a file with name and hash, got {name!r}, {digest!r}")
    fetch_file(address, scratch, advice=_ADVICE)
    try:
        return bytes(discovery.verify_and_decompress(scratch.read_bytes(), digest))
    except ValueError as error:
        raise ModelError(
            f"{address}: expected {name} with SHA-256 {digest}, got something else ({error}); "
            "nothing was kept, try again"
        ) from None
