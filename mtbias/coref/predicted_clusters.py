"""What a coreference system found: clusters of mentions by document, from JSONL or CoNLL-2012.

JSONL has a document a line: ``{"id": "…", "clusters": [[[start, end], …], …]}``. Indices count the words of the data
set's own tokens from 0, and both ends are included. Where a line has ``"tokens": […]`` too, they are checked against
the data set's, so that a system that split words otherwise is an error and not a low score.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from mtbias.coref.conll import Cluster, Clusters, Mention, read_conll, repeated
from mtbias.errors import DataError
from mtbias.files.reading import TextFile, parse_json_lines, read_text


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
        if _is_jsonl(path):
            file = read_text(path, allow_empty=True)
            found = [_prediction(value, file, line) for line, value in parse_json_lines(file)]
        else:
            conll = read_conll(path)
            file = conll.file
            found = [Prediction(d.id, d.clusters, d.words, path, d.line) for d in conll.documents]
        files[path.name if path.name not in files else str(path)] = file.sha256
        for document in found:
            first = documents.setdefault(document.id, document)
            if first is not document:
                before = f"{first.path.name}, line {first.line}"
                message = f"expected id {document.id!r} once, got it again; it is in {before}, already"
                raise DataError(message, path=path, line=document.line)
    return Predictions(documents, files)


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
    for id_, prediction in predictions.documents.items():
        if id_ not in ids:
            raise prediction.error(f"none of {what}, whose ids are such as {next(iter(ids), 'none')!r}")


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
    """``coref:<part>|<role>:<hashes>|<option>:<value>|…|mtbias:<version>``: what a number rests on.

    Of `files` (SHA-256 by name, by role) up to three are named by the first 12 digits of each, more of them by those of
    the hash over all, and their number.
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


def _prediction(value: Mapping[str, object], file: TextFile, line: int) -> Prediction:
    if "id" not in value or "clusters" not in value:
        raise file.error(f'expected {{"id": …, "clusters": […]}}, got the keys {sorted(value)}', line)
    id_, tokens, clusters = value["id"], value.get("tokens"), value["clusters"]
    if isinstance(id_, bool) or not isinstance(id_, str | int) or id_ == "":
        raise file.error(f"id: expected text or a whole number, got {id_!r}", line)
    if tokens is not None and not (isinstance(tokens, list) and all(isinstance(token, str) for token in tokens)):
        raise file.error(f"tokens: expected a list of words, got {_short(tokens)}", line)
    if not isinstance(clusters, list):
        raise file.error(f"clusters: expected a list of clusters, got {type(clusters).__name__}", line)
    try:
        found = tuple(_cluster(cluster) for cluster in clusters)
    except ValueError as error:
        raise file.error(f"clusters: {error}", line) from None
    return Prediction(str(id_), found, None if tokens is None else tuple(tokens), file.path, line)


def _cluster(value: object) -> Cluster:
    """The mentions of one cluster; `ValueError` where they are none."""
    if not isinstance(value, list) or not value:
        raise ValueError(f"expected a list of mentions [start, end] for each cluster, got {_short(value)}")
    mentions: list[Mention] = []
    for mention in value:
        if not (isinstance(mention, list) and len(mention) == 2 and all(type(end) is int for end in mention)):
            raise ValueError(f"expected a mention [start, end] of two whole numbers, got {_short(mention)}")
        start, end = mention
        if not 0 <= start <= end:
            raise ValueError(f"expected a mention with 0 <= start <= end, got {_short(mention)}")
        mentions.append((start, end))
    return tuple(mentions)


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "…"
