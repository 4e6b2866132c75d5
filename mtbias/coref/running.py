"""Run a coreference system on the texts of a data set: one document after the other, each kept as it comes.

What is found is appended to ``OUT.part``, one line per document, behind a line that says what was run on what. A run
that was stopped at any moment, killed included, resumes behind the last whole line; the finished OUT has the documents
in the data's order, so its bytes do not depend on how often it was stopped. It is written in mtbias's JSON lines, with
the tokens, which ``mtbias coref DATASET --predictions`` reads.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from mtbias.coref.conll import Clusters
from mtbias.coref.coref_text import CorefText
from mtbias.errors import DataError
from mtbias.files.part_file import append_line, part_lock
from mtbias.files.writing import explained, write_atomic
from mtbias.types import Progress, quiet

Put = Callable[[str, Clusters], None]
"""Keeps what was found in the document of an id."""


class CorefSystem(Protocol):
    """A system that finds clusters."""

    @property
    def signature(self) -> str:
        """What its answers depend on: names and hashes."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of how its clusters were read, after `resolve`."""
        ...

    def resolve(self, texts: Sequence[CorefText], put: Put) -> None:
        """Find the clusters of each of `texts`, and `put` those of a document as soon as they are there.

        Raises:
            MtbiasError: the system cannot be run, or gives something else than clusters of these texts.
        """
        ...


def run_system(system: CorefSystem, texts: Sequence[CorefText], out: Path, progress: Progress = quiet) -> int:
    """Let `system` resolve `texts`, and write what it finds to `out`; gives how many documents were there already.

    Raises:
        DataError: `out` is there and is another run's, or cannot be written; what the system raises.
    """
    head = json.dumps({"system": system.signature, "texts": texts_digest(texts)}, ensure_ascii=False)
    part = out.with_name(out.name + ".part")
    if out.is_dir():
        raise DataError("expected a file, got a folder: name a file in it", path=out)
    with part_lock(part):
        if out.is_file():
            raise DataError("this file is there already: remove it, or choose another --out", path=out)
        found = _kept(part, head, {text.id for text in texts})
        before, missing = len(found), [text for text in texts if text.id not in found]
        progress("resolve", before, len(texts))
        with explained(part, "write"), part.open("ab") as file:
            if not file.tell():
                append_line(file.fileno(), head)

            def put(identifier: str, clusters: Clusters) -> None:
                found[identifier] = clusters
                append_line(file.fileno(), json.dumps({"id": identifier, "clusters": clusters}, ensure_ascii=False))
                progress("resolve", len(found), len(texts))

            system.resolve(missing, put)
        unanswered = [text.id for text in texts if text.id not in found]
        if unanswered:
            raise DataError(
                f"the system gave nothing for {len(unanswered)} of {len(texts)} documents, the first "
                f"{unanswered[0]!r}; what it gave is kept: run the same command again"
            )
        write_atomic(out, _lines(texts, found))
        part.unlink()
    return before


def _lines(texts: Sequence[CorefText], found: Mapping[str, Clusters]) -> Iterator[str]:
    for text in texts:
        yield json.dumps({"id": text.id, "tokens": text.tokens, "clusters": found[text.id]}, ensure_ascii=False)


def _kept(part: Path, head: str, known: set[str]) -> dict[str, Clusters]:
    """What a run that was stopped has left; a last line without its end is cut off.

    Raises:
        DataError: the run was another one's, or the file is broken.
    """
    with explained(part, "read"):
        if not part.is_file() or not (data := part.read_bytes()):
            return {}
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            os.truncate(part, len(whole))
    first, *lines = whole.decode(errors="replace").removesuffix("\n").split("\n")
    if first != head and not lines:  # nothing was found: there is nothing to mix
        with explained(part, "write"):
            os.truncate(part, 0)
        return {}
    if first != head:
        raise DataError(
            f"this run was begun with {first}, and now it is {head}: give the same system and data, or remove the file",
            path=part,
        )
    found: dict[str, Clusters] = {}
    for number, line in enumerate(lines, start=2):
        try:
            one = json.loads(line)
            clusters = tuple(tuple((int(a), int(b)) for a, b in cluster) for cluster in one["clusters"])
            identifier = one["id"]
        except (ValueError, KeyError, TypeError):
            raise DataError("expected a document of an earlier run; remove the file", path=part, line=number) from None
        if identifier not in known:
            raise DataError(f"id {identifier!r} is none of the data's; remove the file", path=part, line=number)
        found[identifier] = clusters
    return found


def texts_digest(texts: Sequence[CorefText]) -> str:
    """SHA-256 of ids and words: which documents they are, however they were read."""
    hashed = sha256()
    for text in texts:
        hashed.update(json.dumps([text.id, text.sentences], ensure_ascii=False).encode() + b"\n")
    return hashed.hexdigest()
