"""Clusters in JSON: lines, a list or an object of documents, each as one of many systems writes it.

`mtbias.coref.system_output` has the table of formats. A document that has `predicted_clusters` is scored on those and
never on its `clusters`, which are then the gold ones that the system was given.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from mtbias.coref.conll import Cluster, Clusters, Mention
from mtbias.coref.parser_json import corenlp_document, is_stanza, stanza_document
from mtbias.coref.system_output import TOKENS, OutputDocument, SpanCounting
from mtbias.files.reading import TextFile, parse_json_lines
from mtbias.files.strict_json import load_json, once

_IDS = ("id", "doc_key", "doc_id", "docId", "document_id")
_PREDICTED = ("predicted_clusters", "clusters_token_offsets", "clusters")
"""Where the clusters are, in this order: what is called predicted is."""
_KNOWN = frozenset({*_IDS, *_PREDICTED, "pred", "row", "corefs", "sentences", "tokens", "document", "text"})


def parse_json(file: TextFile) -> list[OutputDocument]:
    """The documents of `file`.

    Raises:
        DataError: no JSON; a document without clusters, or clusters that are not lists of mentions ``[start, end]``
            with 0 <= start <= end; a document that has gold clusters alone; a key twice.
    """
    found = [_document(value, key, file, line) for line, key, value in _values(file)]
    predicted = [document for value, document in found if _is_predicted(value)]
    if 0 < len(predicted) < len(found):
        other = next(document for value, document in found if not _is_predicted(value))
        raise other.error(
            f"expected predicted_clusters, as {len(predicted)} of {len(found)} documents of this file have them, got "
            "none here; gold clusters are not scored"
        )
    return [document for _, document in found]


def _is_predicted(value: object) -> bool:
    return isinstance(value, dict) and "predicted_clusters" in value


def _values(file: TextFile) -> Iterator[tuple[int, str | None, Any]]:
    """The line of each document, the key under which it stands in an object, and what it is."""
    first = next((line for line, _ in file.filled_lines()), 1)
    try:
        whole = load_json(file.text, once)
    except ValueError as error:
        lines = [text for _, text in file.filled_lines()]
        if len(lines) == 1 or file.text.lstrip().startswith("[\n") or lines[0].strip() in {"{", "["}:
            raise file.error(f"expected a JSON object: {error}", first) from None
        yield from ((line, None, value) for line, value in _lines(file))
        return
    if is_stanza(whole):
        yield first, None, whole
    elif isinstance(whole, list):
        if not whole:
            raise file.error("expected a document with clusters, got list without any", first)
        yield from ((first, None, value) for value in whole)
    elif isinstance(whole, dict) and whole and not _KNOWN & whole.keys():
        yield from ((first, key, value) for key, value in whole.items())
    else:
        yield first, None, whole


def _lines(file: TextFile) -> Iterator[tuple[int, Any]]:
    """The value of each line: objects, or clusters alone."""
    if not file.text.lstrip().startswith("["):
        yield from parse_json_lines(file)
        return
    for line, content in file.filled_lines():
        try:
            yield line, load_json(content, once)
        except ValueError as error:
            raise file.error(f"expected JSON: {error}", line) from None


def _document(value: Any, key: str | None, file: TextFile, line: int) -> tuple[object, OutputDocument]:  # noqa: ANN401
    """The value that has the clusters, and the document."""
    if is_stanza(value):
        return value, stanza_document(value, key, file, line)
    if isinstance(value, list):
        # As `get_clusters()` of fastcoref gives them: nothing but the mentions themselves says what they count.
        clusters = _clusters(_without_null(value), "clusters", file, line)
        return value, OutputDocument(key, clusters, file.path, line, countings=(*TOKENS, SpanCounting.CHARACTERS))
    if not isinstance(value, dict):
        raise file.error(f"expected a JSON object for each document, got {type(value).__name__}", line)
    if isinstance(value.get("pred"), dict):
        # The row of BUG beside it has no number of its own; its sentence says which row it is.
        return _document(value["pred"], key, file, line)
    if "corefs" in value:
        return value, corenlp_document(value, key, file, line)
    return value, _indexed(value, key, file, line)


def _indexed(value: Mapping[str, Any], key: str | None, file: TextFile, line: int) -> OutputDocument:
    """A document whose mentions are pairs of numbers."""
    name = next((name for name in _PREDICTED if name in value), None)
    tokens, text = _tokens(value, file, line), value.get("text")
    id_ = _id(value, file, line) if key is None else key
    if name is None or (id_ is None and tokens is None and text is None):
        raise file.error(f'expected {{"id": …, "clusters": […]}}, got the keys {sorted(value)}', line)
    if name == "clusters" and "speakers" in value and "id" not in value:
        raise file.error(
            "expected predicted_clusters, got the gold clusters alone of a file that systems read; give what the "
            "system wrote (or call its clusters predicted_clusters)",
            line,
        )
    if isinstance(text, list):
        text = None  # fastcoref's, where it was given words: `_tokens` has them
    if text is not None and not isinstance(text, str):
        raise file.error(f"text: expected text, got {_short(text)}", line)
    of_fastcoref = "clusters_strings" in value
    countings: tuple[SpanCounting, ...] = TOKENS
    if text is not None and tokens is None:
        countings = (SpanCounting.CHARACTERS,) if of_fastcoref else (SpanCounting.CHARACTERS, *TOKENS)
    elif of_fastcoref:
        countings = (SpanCounting.EXCLUDED,)
    clusters = _clusters(_without_null(value[name]) if of_fastcoref else value[name], name, file, line)
    return OutputDocument(id_, clusters, file.path, line, tokens, text, countings)


def _without_null(clusters: object) -> object:
    """Without null, which fastcoref writes for a mention that is none of the text's (of the marks around it)."""
    if not isinstance(clusters, list):
        return clusters
    kept = [[m for m in cluster if m is not None] if isinstance(cluster, list) else cluster for cluster in clusters]
    return [cluster for cluster in kept if cluster != []]


def _id(value: Mapping[str, Any], file: TextFile, line: int) -> str | None:
    name = next((name for name in _IDS if name in value), None)
    if name is None:
        return None
    id_ = value[name]
    if isinstance(id_, bool) or not isinstance(id_, str | int) or id_ == "":
        raise file.error(f"{name}: expected text or a whole number, got {id_!r}", line)
    return str(id_)


def _tokens(value: Mapping[str, Any], file: TextFile, line: int) -> tuple[str, ...] | None:
    """The tokens that a document says, all sentences together."""
    name = next((name for name in ("tokens", "document", "sentences") if value.get(name) is not None), None)
    if name is None and isinstance(value.get("text"), list):
        name = "text"
    if name is None:
        return None
    said = value[name]
    flat = said
    if isinstance(said, list) and said and all(isinstance(sentence, list) for sentence in said):
        flat = [token for sentence in said for token in sentence]
    if not (isinstance(flat, list) and all(isinstance(token, str) for token in flat)):
        raise file.error(f"{name}: expected a list of words, got {_short(said)}", line)
    return tuple(flat)


def _clusters(value: object, name: str, file: TextFile, line: int) -> Clusters:
    if not isinstance(value, list):
        raise file.error(f"{name}: expected a list of clusters, got {type(value).__name__}", line)
    try:
        return tuple(_cluster(cluster) for cluster in value)
    except ValueError as error:
        raise file.error(f"{name}: {error}", line) from None


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
