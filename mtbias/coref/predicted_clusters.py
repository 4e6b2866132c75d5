"""What a coreference system found: clusters of mentions by document.

mtbias's own format is JSONL, a document a line: ``{"id": "…", "clusters": [[[start, end], …], …]}``. Indices count the
words of the data set's own tokens from 0, and both ends are included. Where a line has ``"tokens": […]`` too, they are
checked against the data set's. `mtbias.coref.system_output` names the formats of others, which
`mtbias.coref.output_reading` reads as clusters of the data set's tokens.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from mtbias.coref.conll import Clusters, repeated
from mtbias.coref.system_output import OutputDocument, SpanCounting, clusters_of_file, files_at
from mtbias.errors import DataError
from mtbias.files.reading import read_text
from mtbias.files.signatures import signature_line


@dataclass(frozen=True, slots=True)
class Prediction:
    """The clusters of one document."""

    id: str
    clusters: Clusters
    tokens: tuple[str, ...] | None
    """The words that the indices count, where the file says."""
    path: Path
    line: int

    def error(self, message: str) -> DataError:
        """An error in this prediction: to be raised where it is found."""
        return DataError(f"id {self.id!r}: {message}", path=self.path, line=self.line)


@dataclass(frozen=True, slots=True)
class Predictions:
    """The clusters of all documents, from one file or several."""

    documents: Mapping[str, Prediction]
    files: Mapping[str, str]
    """SHA-256 by name of the file."""
    notes: tuple[str, ...] = ()
    """How ids and mentions were read, where that is not as mtbias's own format has them."""
    reading: Mapping[str, str] = field(default_factory=dict)
    """What a signature says of it."""

    @property
    def repeated(self) -> int:
        """How many mentions stand in a cluster of their document already."""
        return sum(repeated(document.clusters) for document in self.documents.values())


def read_documents(paths: Sequence[Path]) -> tuple[list[OutputDocument], dict[str, str]]:
    """The documents of the files at `paths` as they are written, and the SHA-256 of each file by its name.

    Raises:
        DataError: no such file, or a folder without one; a file in no format that is known.
    """
    documents: list[OutputDocument] = []
    files: dict[str, str] = {}
    for path in files_at(paths):
        file = read_text(path, allow_empty=True)
        documents += clusters_of_file(file)
        files[path.name if path.name not in files else str(path)] = file.sha256
    return documents, files


def read_predictions(*paths: Path) -> Predictions:
    """Read the files at `paths` as they are: documents with ids, mentions of tokens, ends included.

    Raises:
        DataError: what `read_documents` raises; a document without id, or whose mentions cannot count tokens; a
            document twice.
    """
    documents, files = read_documents(paths)
    for document in documents:
        if document.id is None or SpanCounting.INCLUDED not in document.countings:
            raise document.error("expected an id, and mentions that count tokens; this needs the data set's texts")
    named = [(document.id or "", document) for document in documents]
    check_once(named)
    return Predictions({id_: Prediction(id_, d.clusters, d.tokens, d.path, d.line) for id_, d in named}, files)


def check_once(named: Sequence[tuple[str, OutputDocument]]) -> None:
    """Check that no two documents have one id; `DataError` where they do."""
    firsts: dict[str, OutputDocument] = {}
    for id_, document in named:
        first = firsts.setdefault(id_, document)
        if first is not document:
            before = f"{first.path.name}, line {first.line}"
            message = f"expected id {id_!r} once, got it again; it is in {before}, already"
            raise DataError(message, path=document.path, line=document.line)


def check_document(prediction: Prediction, words: Sequence[str]) -> None:
    """Check that `prediction` is about the `words` of its document.

    Raises:
        DataError: other words (in any case), or another number of them; a mention that ends behind the last.
    """
    if (tokens := prediction.tokens) is not None:
        for index, (ours, theirs) in enumerate(zip(words, tokens)):
            if ours.casefold() != theirs.casefold():  # uncased systems write their tokens in lower case
                raise prediction.error(f"token {index} is {ours!r} in the data set, {theirs!r} here")
        if len(tokens) != len(words):
            raise prediction.error(f"expected {len(words)} tokens, got {len(tokens)}")
    check_ends(prediction, len(words))


def check_ends(prediction: Prediction, n_words: int) -> None:
    """Check that all mentions are within a document of so many words; `DataError` where one ends behind the last."""
    last = max((end for cluster in prediction.clusters for _, end in cluster), default=-1)
    if last >= n_words:
        raise prediction.error(f"the document has tokens 0 to {n_words - 1}; a mention ends at {last}")


def check_known(predictions: Predictions, ids: Collection[str], what: str) -> None:
    """Check that every document of `predictions` is one of `ids`; `DataError` where one is not."""
    unknown = [id_ for id_ in predictions.documents if id_ not in ids]
    if unknown:
        more = f" ({len(unknown)} such ids; --ids FILE says which is which)" if len(unknown) > 1 else ""
        message = f"none of {what}, whose ids are such as {next(iter(ids), 'none')!r}{more}"
        raise predictions.documents[unknown[0]].error(message)


def check_complete(given: Collection[str], wanted: Collection[str], what: str, path: Path | None = None) -> None:
    """Check that there is a prediction for each of `wanted`.

    A document that is missing cannot be told from one where a system finds nothing, which it must say: a file that was
    cut off would only score lower. `DataError` where one is missing.
    """
    missing = [id_ for id_ in wanted if id_ not in given]
    if missing:
        message = f"no prediction for {len(missing)} of {len(wanted)} {what}, the first {missing[0]!r}"
        raise DataError(f"{message}; a system that finds nothing there says so (empty clusters, or none)", path=path)


def signature(part: str, files: Mapping[str, Mapping[str, str]], **options: object) -> str:
    """``coref:<part>|…``: what a number rests on (`mtbias.files.signatures.signature_line`)."""
    return signature_line(f"coref:{part}", files, options)


class WasRead(Protocol):
    """What a system's output was read as; see `Predictions`."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of it."""

    @property
    def reading(self) -> Mapping[str, str]:
        """What a signature says of it."""


def notes_of(system: WasRead | None, against: WasRead | None = None) -> tuple[str, ...]:
    """What is to be said of how the outputs were read, of the system and of the second one; of labels nothing is."""
    own, other = (() if one is None else one.notes for one in (system, against))
    return (*own, *(f"--against: {note}" for note in other))


def reading_of(*systems: WasRead | None) -> dict[str, str]:
    """What a signature says of how the outputs were read."""
    every: dict[str, dict[str, None]] = {}
    for system in systems:
        for option, value in ({} if system is None else system.reading).items():
            every.setdefault(option, {})[value] = None
    return {option: "+".join(values) for option, values in every.items()}
