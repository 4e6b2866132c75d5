"""Run a coreference system on the texts of a data set: one document after the other, each kept as it comes.

A run that was stopped at any moment, killed included, resumes behind the last document that was kept
(`mtbias.files.kept_work`); the finished OUT has the documents in the data's order, so its bytes do not depend on how
often it was stopped. It is written in mtbias's JSON lines, with the tokens.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from mtbias.coref.conll import Clusters
from mtbias.coref.documents import CorefText
from mtbias.errors import DataError
from mtbias.files.kept_work import kept_lines
from mtbias.files.writing import write_atomic
from mtbias.types import Progress, quiet

Put = Callable[[str, Clusters], None]
"""Keeps the clusters of the document of an id."""


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
        DataError: as `kept_lines`; the system leaves documents out, or raises it.
    """
    with kept_lines(out, {"system": system.signature, "texts": texts_digest(texts)}) as kept:
        clusters_of: dict[str, Clusters] = {line["id"]: _clusters(line["clusters"]) for line in kept}
        before, missing = len(clusters_of), [text for text in texts if text.id not in clusters_of]
        progress("resolve", before, len(texts))

        def put(identifier: str, clusters: Clusters) -> None:
            clusters_of[identifier] = clusters
            kept.append({"id": identifier, "clusters": clusters})
            progress("resolve", len(clusters_of), len(texts))

        system.resolve(missing, put)
        unanswered = [text.id for text in texts if text.id not in clusters_of]
        if unanswered:
            raise DataError(
                f"the system gave nothing for {len(unanswered)} of {len(texts)} documents, the first "
                f"{unanswered[0]!r}; what it gave is kept: run the same command again"
            )
        lines = ({"id": text.id, "tokens": text.tokens, "clusters": clusters_of[text.id]} for text in texts)
        write_atomic(out, (json.dumps(line, ensure_ascii=False) for line in lines))
    return before


def _clusters(pairs: Sequence[Sequence[Sequence[int]]]) -> Clusters:
    return tuple(tuple((first, last) for first, last in cluster) for cluster in pairs)


def texts_digest(texts: Sequence[CorefText]) -> str:
    """SHA-256 of ids and words: which documents they are, however they were read."""
    hashed = sha256()
    for text in texts:
        hashed.update(json.dumps([text.id, text.sentences], ensure_ascii=False).encode() + b"\n")
    return hashed.hexdigest()
