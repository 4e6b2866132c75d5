"""What a coreference system found: clusters of mentions by document, from JSONL or CoNLL-2012.

JSONL has a document a line: ``{"id": "…", "clusters": [[[start, end], …], …]}``. Indices count the words of the data
set's own tokens from 0, and both ends are included. Where a line has ``"tokens": […]`` too, they are checked against
the data set's, so that a system that split words otherwise is an error and not a low score.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from mtbias.coref.conll import Cluster, Clusters, Mention, read_conll, repeated
from mtbias.errors import DataError
from mtbias.files.reading import TextFile, read_text, split_lines


@dataclass(frozen=True, slots=True)
class Prediction:
    """The clusters of one document."""

    id: str
    clusters: Clusters
    tokens: tuple[str, ...] | None
    """The words that the indices count, where the file says."""
    path: Path
    line: int


@dataclass(frozen=True, slots=True)
class Predictions:
    """The clusters of all documents, from one file or several."""

    documents: Mapping[str, Prediction]
    files: Mapping[str, str]
    """SHA-256 by name of the file."""

    @property
    def repeated(self) -> int:
        """How many mentions stand in a cluster of their document already."""
        return sum(repeated(document.clusters) for document in self.documents.values())


def read_predictions(*paths: Path) -> Predictions:
    """Read the files at `paths`; of a folder all the files in it that end in ``.jsonl``, ``.ndjson`` or ``conll``.

    A file whose name ends in ``.jsonl`` or ``.ndjson`` holds JSON, any other CoNLL-2012.

    Raises:
        DataError: no such file, or a folder without one; what `read_conll` raises; a line that is no JSON object with
            an id and clusters, each a list of mentions ``[start, end]`` with 0 <= start <= end; a document twice.
    """
    documents: dict[str, Prediction] = {}
    files: dict[str, str] = {}
    for path in _files(paths):
        digest, found = _read_jsonl(read_text(path, allow_empty=True)) if _is_jsonl(path) else _read_conll(path)
        files[_name(path, files)] = digest
        for document in found:
            first = documents.setdefault(document.id, document)
            if first is not document:
                message = f"id {document.id!r} expected once; it is in {first.path.name}, line {first.line}, already"
                raise DataError(message, path=path, line=document.line)
    return Predictions(documents, files)


def check_document(prediction: Prediction, words: Sequence[str]) -> None:
    """Check that `prediction` is about the `words` of its document.

    Raises:
        DataError: other words (in any case), or another number of them; a mention that ends behind the last.
    """
    path, line = prediction.path, prediction.line
    if (tokens := prediction.tokens) is not None:
        for index, (ours, theirs) in enumerate(zip(words, tokens)):
            if ours.casefold() != theirs.casefold():
                message = f"id {prediction.id!r}: token {index} is {ours!r} in the data set, {theirs!r} here"
                raise DataError(message, path=path, line=line)
        if len(tokens) != len(words):
            message = f"id {prediction.id!r}: {len(words)} tokens expected, found {len(tokens)}"
            raise DataError(message, path=path, line=line)
    last = max((end for cluster in prediction.clusters for _, end in cluster), default=-1)
    if last >= len(words):
        message = f"id {prediction.id!r}: the document has tokens 0 to {len(words) - 1}; a mention ends at {last}"
        raise DataError(message, path=path, line=line)


def check_known(predictions: Predictions, ids: Mapping[str, object], what: str) -> None:
    """Check that every document of `predictions` is one of `ids`.

    Raises:
        DataError: one is not.
    """
    for id_, prediction in predictions.documents.items():
        if id_ not in ids:
            example = next(iter(ids), "none")
            message = f"id {id_!r} is none of {what}, whose ids are such as {example!r}"
            raise DataError(message, path=prediction.path, line=prediction.line)


def signature(part: str, files: Mapping[str, Mapping[str, str]], **options: object) -> str:
    """``coref:<part>|<role>:<hashes>|<option>:<value>|…|mtbias:<version>``: what a number rests on.

    Args:
        part: the data set.
        files: SHA-256 by file name by role; up to three files are named by the first 12 digits of each, more of them
            by those of the hash over all, and their number.
        options: what else decides the numbers.
    """
    from mtbias import __version__

    parts = [f"coref:{part}"]
    for role, digests in files.items():
        hashes = [digest[:12] for digest in digests.values()]
        if len(hashes) > 3:
            together = sha256("\n".join(f"{name} {digest}" for name, digest in sorted(digests.items())).encode())
            hashes = [f"{together.hexdigest()[:12]}({len(hashes)} files)"]
        if hashes:
            parts.append(f"{role}:{'+'.join(hashes)}")
    parts += [f"{name}:{value}" for name, value in options.items()]
    return "|".join([*parts, f"mtbias:{__version__}"])


def _files(paths: Sequence[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        found = sorted(file for file in path.iterdir() if _is_jsonl(file) or file.name.endswith("conll"))
        if not found:
            raise DataError("this folder has no file that ends in .jsonl, .ndjson or conll", path=path)
        files += found
    return files


def _is_jsonl(path: Path) -> bool:
    return path.suffix.lower() in {".jsonl", ".ndjson"}


def _name(path: Path, taken: Mapping[str, str]) -> str:
    return path.name if path.name not in taken else str(path)


def _read_conll(path: Path) -> tuple[str, list[Prediction]]:
    file = read_conll(path)
    return file.sha256, [
        Prediction(document.id, document.clusters, document.words, path, document.line) for document in file.documents
    ]


def _read_jsonl(file: TextFile) -> tuple[str, list[Prediction]]:
    found = []
    for line, content in enumerate(split_lines(file.text), start=1):
        if not content.strip():
            continue
        try:
            value = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise DataError(f"a JSON object expected: {error}", path=file.path, line=line) from None
        found.append(_prediction(value, file.path, line))
    return file.sha256, found


def _prediction(value: object, path: Path, line: int) -> Prediction:
    if not isinstance(value, dict) or "id" not in value or "clusters" not in value:
        found = f"the keys {sorted(value)}" if isinstance(value, dict) else type(value).__name__
        raise DataError(f'{{"id": …, "clusters": […]}} expected, found {found}', path=path, line=line)
    id_, tokens = value["id"], value.get("tokens")
    if isinstance(id_, bool) or not isinstance(id_, str | int) or id_ == "":
        raise DataError(f"id: text or a whole number expected, found {id_!r}", path=path, line=line)
    if tokens is not None and not (isinstance(tokens, list) and all(isinstance(token, str) for token in tokens)):
        raise DataError("tokens: a list of words expected", path=path, line=line)
    if not isinstance(value["clusters"], list):
        message = f"clusters: a list of clusters expected, found {type(value['clusters']).__name__}"
        raise DataError(message, path=path, line=line)
    clusters = tuple(_cluster(cluster, path, line) for cluster in value["clusters"])
    return Prediction(str(id_), clusters, None if tokens is None else tuple(tokens), path, line)


def _cluster(value: object, path: Path, line: int) -> Cluster:
    if not isinstance(value, list) or not value:
        message = f"clusters: a list of mentions [start, end] for each cluster expected, found {_short(value)}"
        raise DataError(message, path=path, line=line)
    mentions: list[Mention] = []
    for mention in value:
        if not (isinstance(mention, list) and len(mention) == 2 and all(type(end) is int for end in mention)):
            message = f"clusters: a mention [start, end] of two whole numbers expected, found {_short(mention)}"
            raise DataError(message, path=path, line=line)
        start, end = mention
        if not 0 <= start <= end:
            message = f"clusters: a mention with 0 <= start <= end expected, found {_short(mention)}"
            raise DataError(message, path=path, line=line)
        mentions.append((start, end))
    return tuple(mentions)


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "…"
