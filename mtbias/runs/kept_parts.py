"""Batches of translations on disk, each a file that is whole or not there: a run goes on where it was killed."""

from __future__ import annotations

import json
import logging
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from mtbias.errors import RunFolderError
from mtbias.files.writing import explained, write_atomic, write_new

PARTS = "translations.parts"
PLAN = "plan.json"

_CHUNK = re.compile(r"(\d{6,})\.jsonl")
_SHARD = "shard-*-of-*.json"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PlanRecord:
    """What ``translations.parts/plan.json`` says: how the sentences of a run are divided into batches."""

    key: str
    """Hash of the plan and the sentences (`mtbias.translate.seq2seq.batch_plan.plan_key`)."""
    budget: tuple[int, int]
    """Rows and tokens of a batch, which the plan was made with."""
    sentences: tuple[int, ...]
    """Sentences of each batch."""


def read_plan(folder: Path) -> PlanRecord | None:
    """The plan of the unfinished run in `folder`; None where there is none, or it is damaged (its SHA-256 says so).

    Raises:
        RunFolderError: it cannot be read.
    """
    path = folder / PARTS / PLAN
    with explained(path, "read"):
        try:
            content = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
    try:
        found = json.loads(content)
        rows, tokens = found["budget"]
        record = PlanRecord(found["key"], (rows, tokens), tuple(found["sentences"]))
        if content == _plan_text(record):
            return record
    except (ValueError, KeyError, TypeError):
        pass
    return None


def agree_on_plan(folder: Path, record: PlanRecord, *, alone: bool) -> None:
    """Write the plan down, or compare the one that is there.

    Args:
        folder: the run folder, open for writing.
        record: the plan.
        alone: whether nobody else has the folder open: then what was kept of another plan is removed.

    Raises:
        RunFolderError: the folder is shared and holds another plan, or cannot be written.
    """
    parts = folder / PARTS
    with explained(parts, "make the folder"):
        parts.mkdir(exist_ok=True)
    if write_new(parts / PLAN, _plan_text(record)):
        return
    found = read_plan(folder)
    if found == record:
        return
    if found is None:
        _log.warning("%s is damaged; it is made again", parts / PLAN)
    if found is not None and not alone:
        raise RunFolderError(
            f"{folder}: its translations are planned in batches of at most {found.budget[0]} rows, "
            f"{len(found.sentences)} of them; asked for: {record.budget[0]} rows, {len(record.sentences)} batches. Use "
            "the --batch-rows and the versions of the tokenizer's libraries that it was begun with, or another folder"
        )
    if found is not None:
        if kept := len(kept_chunks(folder)):
            _log.warning(
                "%s: was planned in batches of at most %d rows and now is in batches of at most %d: %d batches that "
                "were translated are made again", folder, found.budget[0], record.budget[0], kept,
            )  # fmt: skip
        with explained(parts, "remove the parts of another plan"):
            for path in [*parts.glob("*.jsonl"), *parts.glob(_SHARD)]:
                path.unlink(missing_ok=True)
    write_atomic(parts / PLAN, _plan_text(record))


def write_shard_report(folder: Path, name: str, report: Mapping[str, Any]) -> None:
    """Write ``translations.parts/shard-K-of-N.json``: who translated a shard, where, how long; `name` is ``K/N``."""
    number, _, of = name.partition("/")
    text = json.dumps({"shard": name, **report}, ensure_ascii=False, indent=2)
    write_atomic(folder / PARTS / f"shard-{number}-of-{of}.json", f"{text}\n".encode())


def read_shard_reports(folder: Path) -> list[dict[str, Any]]:
    """What the shards' reports say, in order of their names; a damaged one is left out: no result depends on it."""
    reports = []
    for path in sorted((folder / PARTS).glob(_SHARD)):
        try:
            reports.append(dict(json.loads(path.read_bytes())))
        except (OSError, ValueError, TypeError):
            _log.warning("%s is damaged; what it says of the execution is left out", path)
    return reports


class Chunks:
    """Records by number in ``DIR/translations.parts``; for those who have the run folder open.

    The first line of a file says to which plan it belongs, how many records follow and their SHA-256: a file that is
    damaged, or of another plan, counts as absent.
    """

    def __init__(self, folder: Path, key: str) -> None:
        """Use the run folder `folder`; `key` names the plan (`mtbias.translate.seq2seq.batch_plan.plan_key`)."""
        self.folder, self.key = folder / PARTS, key
        with explained(self.folder, "make the folder"):
            self.folder.mkdir(exist_ok=True)

    def kept(self) -> frozenset[int]:
        """The numbers of the chunks that are there, by their names: their content is not read."""
        return kept_chunks(self.folder.parent)

    def drop(self, number: int) -> None:
        """Remove chunk `number`; for the one who has the run folder open alone.

        Raises:
            RunFolderError: an operating-system error.
        """
        with explained(self._path(number), "remove"):
            self._path(number).unlink(missing_ok=True)

    def get(self, number: int) -> list[dict[str, Any]] | None:
        """The records of chunk `number`, or None."""
        path = self._path(number)
        try:
            head, _, body = path.read_text(encoding="utf-8").partition("\n")
            header = json.loads(head)
            records = [json.loads(line) for line in body.split("\n")[:-1]]
            whole = sha256(body.encode()).hexdigest() == header["sha256"] and len(records) == header["n"]
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            whole, header, records = False, {}, []
        if whole and header.get("plan") == self.key:
            return records
        _log.warning("%s is %s; it is made again", path, "of another plan" if whole else "damaged")
        return None

    def put(self, number: int, records: Sequence[Mapping[str, Any]]) -> None:
        """Keep the records of chunk `number`.

        Raises:
            RunFolderError: the disk is full, or another operating-system error.
        """
        body = "".join(f"{json.dumps(dict(r), ensure_ascii=False)}\n" for r in records)
        header = {"plan": self.key, "n": len(records), "sha256": sha256(body.encode()).hexdigest()}
        write_atomic(self._path(number), f"{json.dumps(header)}\n{body}".encode())

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06d}.jsonl"


def kept_chunks(folder: Path) -> frozenset[int]:
    """The numbers of the chunks in a run folder, by their names.

    Raises:
        RunFolderError: the folder cannot be read.
    """
    parts = folder / PARTS
    with explained(parts, "read"):
        try:
            names = [entry.name for entry in parts.iterdir()]
        except FileNotFoundError:
            return frozenset()
    return frozenset(int(match[1]) for name in names if (match := _CHUNK.fullmatch(name)))


def remove_chunks(folder: Path) -> None:
    """Remove what a run folder kept of unfinished translations: they are in ``translations.jsonl``.

    Raises:
        RunFolderError: an operating-system error.
    """
    parts = folder / PARTS
    with explained(parts, "remove"):
        if parts.is_dir():
            shutil.rmtree(parts)


def _plan_text(record: PlanRecord) -> bytes:
    content = json.dumps(asdict(record))
    return f"{json.dumps({**asdict(record), 'sha256': sha256(content.encode()).hexdigest()})}\n".encode()
