"""What a run has mined so far, on disk: a line for each chunk, in the text's order, so that a killed run resumes.

The first line says what is mined from what and how; each of the others where the next chunk begins, what was counted,
and the rows. Lines are appended whole; of a kill, at most a part of the last one is left, which is cut off.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO

from mtbias.errors import DataError
from mtbias.files.part_file import append_line
from mtbias.files.strict_json import load_json
from mtbias.files.writing import explained
from mtbias.mining.chunk_miner import MinedChunk
from mtbias.mining.counts import Counts
from mtbias.mining.find_filters import MinedRow
from mtbias.mining.text_input import BEGIN, Place

_COLUMNS = tuple(field.name for field in fields(MinedRow))


class MiningPart:
    """The file ``OUT.part`` of a run; for one process at a time."""

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        """Resume with the file at `path`, or begin it.

        Raises:
            DataError: it is another run's, or damaged; the message says what was another.
            RunFolderError: it cannot be read or written.
        """
        self.path = path
        self.end = BEGIN
        """Where the next chunk begins."""
        with explained(path, "write"):
            self._file: BinaryIO = path.open("a+b")
        try:
            self._begin(json.dumps(dict(settings), ensure_ascii=False), settings)
        except BaseException:
            self._file.close()
            raise

    def _begin(self, head: str, settings: Mapping[str, Any]) -> None:
        with explained(self.path, "read"):
            self._cut()
            self._file.seek(0)
            first = self._file.readline().decode(errors="replace").rstrip("\n")
            if first != head and not self._file.read(1):  # nothing was mined: there is nothing to mix
                self._file.truncate(0)
                first = ""
        if not first:
            self._append(head)
        elif first != head:
            raise DataError(f"this run was begun with {_differing(first, settings)}; {_NEXT}", path=self.path)
        for end, _ in self.chunks():
            self.end = end

    def append(self, end: Place, mined: MinedChunk) -> None:
        """Keep a chunk, and that the next one begins at `end`.

        Raises:
            RunFolderError: the disk is full, or another operating-system error.
        """
        counts = mined.counts
        line = {"end": end, "stages": counts.stages, "matched": counts.matched, "left_out": counts.left_out}
        line["rows"] = [[getattr(row, name) for name in _COLUMNS] for row in mined.rows]
        self._append(json.dumps(line, ensure_ascii=False))
        self.end = end

    def chunks(self) -> Iterator[tuple[Place, MinedChunk]]:
        """What was kept, a chunk at a time, each with where the next one begins.

        Raises:
            DataError: the file is damaged.
        """
        with explained(self.path, "read"), self.path.open("rb") as file:
            next(file)
            for number, line in enumerate(file, start=2):
                try:
                    content = load_json(line)
                    counts = Counts(*(Counter(content[name]) for name in ("stages", "matched", "left_out")))
                    rows = tuple(_row(values) for values in content["rows"])
                    yield Place(*content["end"]), MinedChunk(rows, counts)
                except (ValueError, KeyError, TypeError):
                    message = f"expected what an earlier run has mined; {_NEXT}"
                    raise DataError(message, path=self.path, line=number) from None

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _append(self, line: str) -> None:
        with explained(self.path, "write"):
            append_line(self._file.fileno(), line)
            os.fsync(self._file.fileno())

    def _cut(self) -> None:
        """Cut off a last line without its end."""
        size = end = self._file.seek(0, os.SEEK_END)
        while end:
            start = max(0, end - (1 << 16))
            self._file.seek(start)
            at = self._file.read(end - start).rfind(b"\n")
            if at >= 0:
                end = start + at + 1
                break
            end = start
        if end < size:
            os.truncate(self.path, end)


_NEXT = "give the same again, or remove the file"


def _row(values: list[Any]) -> MinedRow:
    return MinedRow(**dict(zip(_COLUMNS, values, strict=True)))


def _differing(first: str, settings: Mapping[str, Any]) -> str:
    """What an earlier run was begun with, where it is something else now."""
    try:
        earlier = dict(load_json(first))
    except (ValueError, TypeError):
        return "something that cannot be read"
    now = load_json(json.dumps(dict(settings)))
    return "; ".join(
        f"{name} {json.dumps(earlier.get(name), ensure_ascii=False)}, and now it is "
        f"{json.dumps(now.get(name), ensure_ascii=False)}"
        for name in dict.fromkeys((*earlier, *now))
        if earlier.get(name) != now.get(name)
    )
