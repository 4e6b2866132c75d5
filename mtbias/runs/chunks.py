"""Batches of translations on disk, each a file that is whole or not there: a run goes on where it was killed."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from mtbias.runs.atomic import explained, write_atomic

PARTS = "translations.parts"

_log = logging.getLogger(__name__)


class Chunks:
    """Records by number in ``DIR/translations.parts``; for the one who holds the run folder's lock.

    The first line of a file says to which plan it belongs, how many records follow and their SHA-256: a file that is
    damaged, or of another plan, counts as absent.
    """

    def __init__(self, folder: Path, key: str) -> None:
        """Use the run folder `folder`; `key` names the plan (`mtbias.translate.plan.plan_key`)."""
        self.folder, self.key = folder / PARTS, key
        with explained(self.folder, "make the folder"):
            self.folder.mkdir(exist_ok=True)
            for left in self.folder.glob(".*.tmp"):
                left.unlink(missing_ok=True)

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


def remove_chunks(folder: Path) -> None:
    """Remove what a run folder kept of unfinished translations: they are in ``translations.jsonl``.

    Raises:
        RunFolderError: an operating-system error.
    """
    parts = folder / PARTS
    with explained(parts, "remove"):
        if parts.is_dir():
            shutil.rmtree(parts)
