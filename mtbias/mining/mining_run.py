"""A mining run: text in, a corpus out, the same bytes however often it was stopped and however many processes worked.

Chunks of text are mined one after the other and kept beside OUT as they come (`mtbias.files.kept_work`). At the end
the corpus is written: of rows with the same ``sentence_text``, as the authors do, the last one.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from hashlib import blake2b
from pathlib import Path
from typing import Any

from mtbias.errors import DataError
from mtbias.files.kept_work import KeptLines, kept_lines
from mtbias.files.writing import write_atomic
from mtbias.mining.chunk_miner import MinedChunk, MiningPlan, mined_chunks
from mtbias.mining.corpus_file import corpus_lines
from mtbias.mining.counts import Counts
from mtbias.mining.find_filters import MinedRow
from mtbias.mining.text_input import BEGIN, Place, read_chunks

DUPLICATE = "duplicate sentence"
SAME_SENTENCE = "another find of the sentence is kept"
_COLUMNS = tuple(field.name for field in fields(MinedRow))
_COUNTS = tuple(field.name for field in fields(Counts))

_Report = Callable[[int, Counts], object]
"""Called with the bytes that are read, and what this command counted."""


@dataclass(frozen=True, slots=True)
class MinedCorpus:
    """What a run has given."""

    path: Path
    rows: int
    counts: Counts
    resumed: bool
    """Whether a part of it is from a run that was stopped."""


@contextmanager
def mined_corpus(
    plan: MiningPlan,
    settings: Mapping[str, Any],
    out: Path,
    *,
    beside: Sequence[Path] = (),
    field: str = "text",
    processes: int = 1,
    progress: _Report = lambda _done, _counts: None,
) -> Iterator[MinedCorpus]:
    """Mine the texts of `plan` and write the corpus to `out`; for use in a ``with`` block.

    What was mined is kept until the block ends without an error, so what else is made of the corpus stands in the
    block: where that fails or is killed, the same command resumes there.

    Args:
        plan: what is mined, and how.
        settings: what the rows depend on, as plain values: a run that was stopped is resumed with the same alone.
        out: the corpus.
        beside: the other files that the block writes.
        field: the field of JSON lines that has the text.
        processes: how many parse, of one thread each; the corpus does not depend on it.
        progress: called after each chunk.

    Raises:
        DataError: `out` or a file `beside` it is there already; a run that was stopped is another one's; a text cannot
            be read.
        RunFolderError: a file cannot be written.
    """
    with kept_lines(out, settings, beside=beside) as kept:
        _mine(plan, kept, field, processes, progress)
        counts = Counts()
        rows = _write(kept, out, counts)
        yield MinedCorpus(out, rows, counts, kept.resumed)


def _mine(plan: MiningPlan, kept: KeptLines, field: str, processes: int, progress: _Report) -> None:
    begin = BEGIN
    for line in kept:
        begin = Place(*line["end"])
    if begin.file == len(plan.files):
        return
    counts = Counts()
    progress(sum(file.size for file in plan.files[: begin.file]), counts)
    chunks = read_chunks(plan.files, plan.words, start=begin, field=field)
    with closing(mined_chunks(plan, chunks, processes)) as mined:
        for chunk, finds in mined:
            if kept.empty and chunk.end.file == len(plan.files) and not chunk.read:
                raise DataError("expected text, got none in any file", path=plan.files[0].path)
            kept.append(_as_line(chunk.end, finds))
            counts.add(finds.counts)
            progress(chunk.done, counts)


def _as_line(end: Place, mined: MinedChunk) -> Mapping[str, Any]:
    """What is kept of a chunk: where the next one begins, what was counted, the rows."""
    counts = {name: getattr(mined.counts, name) for name in _COUNTS}
    return {"end": end, **counts, "rows": [[getattr(row, name) for name in _COLUMNS] for row in mined.rows]}


def _as_chunk(line: Mapping[str, Any]) -> MinedChunk:
    rows = tuple(MinedRow(**dict(zip(_COLUMNS, values, strict=True))) for values in line["rows"])
    return MinedChunk(rows, Counts(*(Counter(line[name]) for name in _COUNTS)))


def _write(kept: KeptLines, out: Path, counts: Counts) -> int:
    """Write the corpus, count what it has and lacks, and give its number of rows."""
    with closing(sqlite3.connect("")) as db:  # a file of its own that is gone with it, so that memory stays flat
        db.execute("CREATE TABLE last (digest BLOB PRIMARY KEY, row INTEGER, place TEXT) WITHOUT ROWID")
        at = 0
        for chunk in map(_as_chunk, kept):
            counts.add(chunk.counts)
            counts.left_out.update(_note_last(db, chunk.rows, at))
            at += len(chunk.rows)
        chosen = (row for (row,) in db.execute("SELECT row FROM last ORDER BY row"))
        rows = (row for chunk in map(_as_chunk, kept) for row in chunk.rows)
        write_atomic(out, corpus_lines(_chosen(rows, chosen)))
        return int(db.execute("SELECT COUNT(*) FROM last").fetchone()[0])


def _note_last(db: sqlite3.Connection, rows: Iterable[MinedRow], first: int) -> Counter[str]:
    """Note the last row of each sentence; count those that thereby are not."""
    left_out: Counter[str] = Counter()
    for number, row in enumerate(rows, start=first):
        digest = blake2b(row.sentence_text.encode(), digest_size=16).digest()
        place = f"{row.file} {row.offset}"
        earlier = db.execute("SELECT place FROM last WHERE digest = ?", (digest,)).fetchone()
        if earlier is not None:
            left_out[SAME_SENTENCE if earlier[0] == place else DUPLICATE] += 1
        db.execute("INSERT OR REPLACE INTO last VALUES (?, ?, ?)", (digest, number, place))
    return left_out


def _chosen(rows: Iterable[MinedRow], numbers: Iterator[int]) -> Iterator[MinedRow]:
    wanted = next(numbers, None)
    for number, row in enumerate(rows):
        if number == wanted:
            yield row
            wanted = next(numbers, None)
