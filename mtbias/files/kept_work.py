"""Finished pieces of unfinished work on disk, each complete or absent, so that a killed run resumes
where it was.

Work of one process is kept as lines of a file beside the one that it makes (`kept_lines`: mining,
coreference); work that many processes share as a file for each part, in a folder (`PartStore`:
translation). Either way each file names the work that it belongs to and holds a hash of its
content: a damaged piece is computed again.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mtbias.errors import DataError, RunFolderError
from mtbias.files.file_ledger import PARTS, file_ledger
from mtbias.files.reading import input_bytes, sha256_of
from mtbias.files.strict_json import DecodingError, decoded, load_json
from mtbias.files.writing import explained, waiting_lock, write_atomic, write_new
from mtbias.types import JsonDict, JsonObject, frozen

PLAN = "plan.json"

_PART = re.compile(r"(\d{6,})\.jsonl")
_OURS = re.compile(rb"[0-9a-f]{0,16}\Z|[0-9a-f]{16} ")
"""The beginning of a line, as far as a kill let it be written."""
_DIGITS = 17
"""Of a line's hash, and a blank."""

_log = logging.getLogger(__name__)


# Lines of one process


class KeptLines:
    """The lines of ``OUT.part``, each with its hash: what the work depends on, then the finished
    pieces, as JSON.
    """

    def __init__(self, path: Path, settings: JsonObject) -> None:
        """Resume with the file at `path`, or begin it; see `kept_lines`."""
        self.path = path
        file_ledger().refuse_loss(path)
        with explained(path, "write"):
            self._file = path.open("a+b")
        try:
            with explained(path, "read"):
                self._resume(load_json(json.dumps(dict(settings))))
        except BaseException:
            self._file.close()
            raise
        self.resumed = not self.empty
        """Whether an earlier run has kept something."""

    def __iter__(self) -> Iterator[Any]:
        """What is kept, in order."""
        with explained(self.path, "read"), self.path.open("rb") as file:
            next(file)
            for line in file:
                yield load_json(line[_DIGITS:])

    @property
    def empty(self) -> bool:
        """Whether nothing is kept."""
        return os.fstat(self._file.fileno()).st_size == self._begin

    def append(self, content: Any) -> None:  # noqa: ANN401 - any JSON value
        """Keep a piece of the work.

        Raises:
            RunFolderError: the disk is full, or another operating-system error.
        """
        text = json.dumps(content, ensure_ascii=False).encode(errors="surrogatepass")
        rest = memoryview(_line_hash(text) + text + b"\n")
        with explained(self.path, "write"):
            # Without a buffer: a kill leaves complete lines and at most a part of the last one.
            while rest:
                rest = rest[os.write(self._file.fileno(), rest) :]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _resume(self, settings: Any) -> None:  # noqa: ANN401 - a JSON object
        """Cut off the damaged end of the file; refuse one with pieces of other work."""
        self._file.seek(0)
        ends: list[int] = []
        earlier, lines = None, 0
        for line in self._file:
            lines += 1
            if lines == 1 and _OURS.match(line) is None:
                raise DataError("this file is not of mtbias: choose another --out", path=self.path)
            text = line[_DIGITS:].removesuffix(b"\n")
            if lines == len(ends) + 1 and line == _line_hash(text) + text + b"\n":
                earlier = earlier if ends else load_json(text)
                ends.append(len(line) + (ends[-1] if ends else 0))

        if earlier != settings and lines > 1:
            begun = f"this run was begun with {_differing(earlier, settings)}"
            raise DataError(f"{begun}; give the same, or another --out", path=self.path)
        if lines > len(ends) + 1:
            _log.warning(
                "%s: damaged in line %d; what follows is made again",
                self.path,
                len(ends) + 1,
            )
        os.truncate(self.path, ends[-1] if earlier == settings else 0)
        if earlier != settings:
            self.append(settings)
        self._begin = ends[0] if earlier == settings else os.fstat(self._file.fileno()).st_size


@contextmanager
def kept_lines(
    out: Path, settings: JsonObject, *, beside: Sequence[Path] = ()
) -> Iterator[KeptLines]:
    """What is kept of the work that makes the file `out`, for one process at a time; for use in a
    ``with`` block.

    It is in ``OUT.part`` until the block ends without an error: where it fails or is killed, the
    same work resumes.

    Args:
        out: what the work makes.
        settings: what it depends on, as plain values.
        beside: further files that it makes.

    Raises:
        DataError: a file is there already; or what is kept is of other work: the message says what
            differs.
        RunFolderError: ``OUT.part`` cannot be read or written.
    """
    path = out.with_name(f"{out.name}.part")
    lock = path.with_name(f".{path.name}.lock")
    if out.is_dir():
        raise DataError("expected a file, got a folder: name a file in it", path=out)
    try:
        with explained(path, "write"), waiting_lock(lock):
            existing = next((file for file in (out, *beside) if file.exists()), None)
            if existing is not None and not path.exists():
                raise DataError("this file is there already: choose another --out", path=existing)

            lines = KeptLines(path, settings)
            finished = False
            try:
                yield lines
                finished = True
            finally:
                if finished or lines.empty:  # or nothing is there to resume
                    path.unlink()
                lines.close()
    finally:
        lock.unlink(missing_ok=True)


def _line_hash(text: bytes) -> bytes:
    return sha256_of(text)[: _DIGITS - 1].encode() + b" "


def _differing(earlier: Any, now: JsonObject) -> str:  # noqa: ANN401 - what a file holds
    """The settings of an earlier run that are not those of this one."""
    if not isinstance(earlier, dict):
        return "another release of mtbias, or is damaged"
    return "; ".join(
        f"{name} {json.dumps(earlier.get(name), ensure_ascii=False)}, and now it is "
        f"{json.dumps(now.get(name), ensure_ascii=False)}"
        for name in dict.fromkeys((*earlier, *now))
        if earlier.get(name) != now.get(name)
    )


# Parts that many processes share


@frozen
class PlanRecord:
    """How the sentences of a run are divided into parts: ``translations.parts/plan.json``."""

    key: str
    """Hash of the plan and the sentences (`mtbias.translate.system.Plan`)."""
    settings: JsonObject
    """What the plan was made with, and a later process plans by."""
    sizes: tuple[int, ...]
    """Distinct sentences of each part."""


def read_plan(folder: Path) -> PlanRecord | None:
    """The plan of the unfinished run in `folder`; None if there is none, or it is damaged (its
    SHA-256 says so).

    Raises:
        RunFolderError: it cannot be read.
    """
    path = folder / PARTS / PLAN
    with explained(path, "read"):
        try:
            content = input_bytes(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
    try:
        record = decoded(PlanRecord, content)
    except DecodingError:
        return None
    return record if content == _plan_text(record) else None


def _agree_on_plan(folder: Path, record: PlanRecord, *, alone: bool) -> None:
    """Write the plan down, or compare the one that is there: see `PartStore`."""
    parts = folder / PARTS
    if write_new(parts / PLAN, _plan_text(record)):
        return
    earlier = read_plan(folder)
    if earlier == record:
        return

    if earlier is None:
        _log.warning("%s is damaged; it is made again", parts / PLAN)
    elif not alone:
        raise RunFolderError(
            f"{folder}: its translations are divided into {_division(earlier)}, "
            f"asked for: {_division(record)}. Use the settings and the versions of libraries "
            "that it was begun with, or another folder"
        )
    else:
        if translated := len(kept_parts(folder)):
            _log.warning(
                "%s: was divided into %s and now is into %s: "
                "%d parts that were translated are made again",
                folder,
                _division(earlier),
                _division(record),
                translated,
            )
        with explained(parts, "remove the parts of another plan"):
            for path in parts.glob("*.jsonl"):
                path.unlink(missing_ok=True)
    write_atomic(parts / PLAN, _plan_text(record), own=True)


def _division(record: PlanRecord) -> str:
    """How many parts a plan has, and by which settings."""
    settings = ", ".join(f"{name} {value}" for name, value in record.settings.items())
    return f"{len(record.sizes)} parts ({settings or 'no settings'})"


class PartStore:
    """The parts of a run's plan in ``DIR/translations.parts``; for those who have the run folder
    open.

    It is a `mtbias.translate.system.Store`. The first line of a file says to which plan it belongs,
    how many records follow and their SHA-256: a file that is damaged, or of another plan, counts as
    absent.
    """

    def __init__(self, folder: Path, record: PlanRecord, *, alone: bool) -> None:
        """Agree with the run folder, which is open for writing, on the plan.

        Where nobody else has it open (`alone`), what was kept of another plan is removed.

        Raises:
            RunFolderError: the folder is shared and holds another plan, or cannot be written.
        """
        self.folder, self.key = folder / PARTS, record.key
        with explained(self.folder, "make the folder"):
            self.folder.mkdir(exist_ok=True)
        _agree_on_plan(folder, record, alone=alone)

    def drop(self, number: int) -> None:
        """Remove part `number`; for the one who has the run folder open alone.

        Raises:
            RunFolderError: an operating-system error.
        """
        with explained(self._path(number), "remove"):
            self._path(number).unlink(missing_ok=True)

    def get(self, number: int) -> list[JsonDict] | None:
        """The records of part `number`, or None."""
        path = self._path(number)
        try:
            head, _, body = input_bytes(path).decode().partition("\n")
            header = load_json(head)
            records = [load_json(line) for line in body.split("\n")[:-1]]
            whole = sha256_of(body) == header["sha256"] and len(records) == header["n"]
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            whole, header, records = False, {}, []
        if whole and header.get("plan") == self.key:
            return records
        _log.warning("%s is %s; it is made again", path, "of another plan" if whole else "damaged")
        return None

    def put(self, number: int, records: Sequence[JsonObject]) -> None:
        """Keep the records of part `number`.

        Raises:
            RunFolderError: the disk is full, or another operating-system error.
        """
        body = "".join(f"{json.dumps(dict(r), ensure_ascii=False)}\n" for r in records)
        header = {"plan": self.key, "n": len(records), "sha256": sha256_of(body)}
        write_atomic(self._path(number), f"{json.dumps(header)}\n{body}".encode(), own=True)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06d}.jsonl"


def kept_parts(folder: Path) -> frozenset[int]:
    """The numbers of the parts in a run folder, by their names.

    Raises:
        RunFolderError: the folder cannot be read.
    """
    parts = folder / PARTS
    with explained(parts, "read"):
        try:
            names = [entry.name for entry in parts.iterdir()]
        except FileNotFoundError:
            return frozenset()
    return frozenset(int(match[1]) for name in names if (match := _PART.fullmatch(name)))


def replace_linked_parts(folder: Path) -> None:
    """Remove a link in the place of the folder of parts: its target is not the run's.

    Raises:
        RunFolderError: it cannot be removed.
    """
    parts = folder / PARTS
    with explained(parts, "remove the link"), suppress(IsADirectoryError):
        if parts.is_symlink():  # unless another process is faster
            parts.unlink(missing_ok=True)


def remove_parts(folder: Path) -> None:
    """Remove the parts of a run folder whose translations are all in ``translations.jsonl``.

    Raises:
        RunFolderError: an operating-system error.
    """
    parts = folder / PARTS
    with explained(parts, "remove"):
        if parts.is_dir():
            shutil.rmtree(parts)


def _plan_text(record: PlanRecord) -> bytes:
    content = asdict(record)
    return f"{json.dumps({**content, 'sha256': sha256_of(json.dumps(content))})}\n".encode()
