"""What coreference systems write, told by its content: the documents of a file, with their clusters as they stand.

| format | is told by | id of a document | mentions count |
| --- | --- | --- | --- |
| mtbias's JSON lines | `clusters` | `id` | tokens of the data (`tokens`), both ends included |
| e2e-coref, SpanBERT | `predicted_clusters` | `doc_key` | tokens or word pieces of `sentences`, both ends included |
| fastcoref | `clusters_strings` | none | characters of `text`, or words where it is a list; end excluded |
| CoreNLP's JSON | `corefs` and `sentences` | `docId` | words of a sentence from 1, end excluded |
| Stanza's JSON | words with `coref_chains` | none | the words themselves |
| Stanza's CoNLL-U | `coref_chains=` or `Coref=` in the last column | `# newdoc id`, `# doc_id` | the words themselves |
| CorefUD | `Entity=` in the last column | `# newdoc id` | the words themselves |
| CoNLL-2012 | `#begin document` | its name and part | the words themselves |

JSON is a document a line, or one document. One that has `predicted_clusters` is scored on those and never on its
`clusters`, which are then the gold ones that the system was given.

In CoNLL-U, Stanza writes at each word of a mention ``unit-``, ``start-``, ``middle-`` or ``end-``, perhaps ``repr-``,
and the chain: ``coref_chains=start-repr-id0,unit-id2``. CorefUD writes brackets: ``Entity=(e1-person-1``,
``Entity=e1)``, ``Entity=(e2-object-2-)``; a mention of several parts, ``(e1[1/2]``, is taken from its first word to
its last. Words count, not the tokens of several words (``1-2``) and not the empty nodes (``2.1``): a mention of nothing
else is left out, one that begins or ends at an empty node begins at the next word or ends at the one before.

Source: Nedoluzhko et al., *CorefUD 1.0* (LREC 2022); stanza.utils.conll.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from mtbias.coref.conll import Cluster, Clusters, Mention, parse_conll
from mtbias.coref.documents import Spans, SystemDocument
from mtbias.errors import DataError
from mtbias.files.reading import TextFile, parse_json_lines, read_text, split_lines
from mtbias.files.strict_json import load_json, once

_ENDINGS = (".jsonl", ".ndjson", ".jsonlines", ".json", ".conllu", "conll")
"""How the files end that are taken of a folder, where others may lie (`.v4_auto_conll` is one of them)."""
_IDS = ("id", "doc_key", "doc_id", "docId", "document_id")
_DOCUMENT = re.compile(r"#\s*(?P<key>newdoc id|newdoc_id|doc_id)\s*=\s*(?P<id>.*?)\s*")
_STANZA = re.compile(r"(?P<where>unit|start|middle|end)-(?:repr-)?(?P<chain>[^,]+)")
_ENTITY = re.compile(
    r"\((?P<opens>[^()\[\]-]+)(?P<part>\[\d+/\d+\])?(?:-[^()]*)?(?P<closes_here>\))?"
    r"|(?P<closes>[^()\[\]-]+)(?P<last>\[\d+/\d+\])?\)"
)


def read_documents(paths: Sequence[Path]) -> tuple[list[SystemDocument], dict[str, str]]:
    """The documents of the files at `paths` as they are written, and the SHA-256 of each file by its name.

    Of a folder, the files in it that end as files of clusters do, by name. A document without id that is alone in
    a file of a folder, or of several files, has the file's name.

    Raises:
        DataError: no such file, or a folder without one; a file in no format that is known, or broken, with the line.
    """
    documents: list[SystemDocument] = []
    files: dict[str, str] = {}
    every = list(_files(paths))
    for path in every:
        file = read_text(path, allow_empty=True)
        of_file = parse_documents(file)
        if len(of_file) == 1 and of_file[0].id is None and (len(every) > 1 or path not in paths):
            of_file = [replace(of_file[0], id=path.name)]
        documents += of_file
        files[path.name if path.name not in files else str(path)] = file.sha256
    return documents, files


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        inside = sorted(file for file in path.iterdir() if file.name.lower().endswith(_ENDINGS))
        if not inside:
            raise DataError("this folder has no file that ends in .jsonl, .json, .conllu or conll", path=path)
        yield from inside


def holds_clusters(file: TextFile) -> bool:
    """Whether `file` has clusters in any of the formats, and not a table of labels."""
    first = next((text.strip() for _, text in file.filled_lines()), "")
    return first.startswith(("{", "[", "#")) or _is_conllu(file.text)


def _is_conllu(text: str) -> bool:
    """Whether the first line that is no remark has the ten columns of CoNLL-U, and a number at its beginning."""
    for line in split_lines(text):
        if line.lstrip("# ").startswith("begin document"):
            return False
        if line.strip() and not line.startswith("#"):
            columns = line.split("\t")
            return len(columns) == 10 and re.match(r"\d", columns[0]) is not None
    return False


def parse_documents(file: TextFile) -> list[SystemDocument]:
    """The documents of `file`, in its order.

    Raises:
        DataError: in none of the formats, or broken, with the line.
    """
    if not file.text.strip():
        return []
    if file.text.lstrip().startswith(("{", "[")):
        return _json_documents(file)
    if _is_conllu(file.text):
        return _conllu_documents(file)
    return [
        SystemDocument(d.id, d.clusters, file.path, d.line, d.shown_words, spans="included", n_tokens=d.n_words)
        for d in parse_conll(file, any_columns=True)
    ]


# --- JSON -------------------------------------------------------------------------------------------------------------


def _json_documents(file: TextFile) -> list[SystemDocument]:
    values = list(_values(file))
    documents = [_json_document(value, file, line) for line, value in values]
    predicted = [isinstance(value, dict) and "predicted_clusters" in value for _, value in values]
    if any(predicted) and not all(predicted):
        raise documents[predicted.index(False)].error(
            f"expected predicted_clusters, as {sum(predicted)} of {len(documents)} documents of this file have them, "
            "got none here; gold clusters are not scored"
        )
    return documents


def _values(file: TextFile) -> Iterator[tuple[int, Any]]:
    """The line of each document, and what it is."""
    filled = list(file.filled_lines())
    try:
        yield filled[0][0], load_json(file.text, once)
    except ValueError as error:
        first = filled[0][1].strip()
        if len(filled) == 1 or first in {"{", "["}:
            raise file.error(f"expected a JSON object: {error}", filled[0][0]) from None
        if not first.startswith("["):
            yield from parse_json_lines(file)
            return
        for line, text in filled:  # Stanza's, a list of sentences each
            try:
                yield line, load_json(text, once)
            except ValueError as broken:
                raise file.error(f"expected JSON: {broken}", line) from None


def _json_document(value: Any, file: TextFile, line: int) -> SystemDocument:  # noqa: ANN401 - JSON
    if _is_stanza(value):
        return _stanza_document(value, file, line)
    if not isinstance(value, dict):
        raise file.error(f"expected a JSON object for each document, got {type(value).__name__}", line)
    if "corefs" in value:
        return _corenlp_document(value, file, line)
    name = "predicted_clusters" if "predicted_clusters" in value else "clusters"
    tokens, text, id_ = _tokens(value, file, line), value.get("text"), _id(value, file, line)
    if name not in value or (id_ is None and tokens is None and text is None):
        raise file.error(f'expected {{"id": …, "clusters": […]}}, got the keys {sorted(value)}', line)
    if name == "clusters" and "speakers" in value and "id" not in value:
        raise file.error(
            "expected predicted_clusters, got the gold clusters alone of a file that systems read; give what the "
            "system wrote (or call its clusters predicted_clusters)",
            line,
        )
    if not isinstance(text, str | list | None):
        raise file.error(f"text: expected text, got {_short(text)}", line)
    spans: Spans | None = None
    clusters = value[name]
    if "clusters_strings" in value:
        spans = "characters" if isinstance(text, str) else "excluded"
        clusters = _without_null(clusters)
    shown = text if isinstance(text, str) else None
    return SystemDocument(id_, _clusters(clusters, name, file, line), file.path, line, tokens, shown, spans)


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
    """The tokens that a document says, all sentences together; fastcoref's `text` may be a list of them."""
    name = next((name for name in ("tokens", "sentences") if value.get(name) is not None), "text")
    tokens = flat = value.get(name)
    if name == "text" and not isinstance(tokens, list):
        return None
    if isinstance(tokens, list) and tokens and all(isinstance(sentence, list) for sentence in tokens):
        flat = [token for sentence in tokens for token in sentence]
    if not (isinstance(flat, list) and all(isinstance(token, str) for token in flat)):
        raise file.error(f"{name}: expected a list of words, got {_short(tokens)}", line)
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


def _corenlp_document(value: Mapping[str, Any], file: TextFile, line: int) -> SystemDocument:
    """A document of CoreNLP: `corefs` are chains of mentions, `startIndex` from 1, `endIndex` behind the last word."""
    try:
        sentences = [
            [str(token.get("originalText") or token["word"]) for token in sentence["tokens"]]
            for sentence in value["sentences"]
        ]
        starts = list(accumulate(map(len, sentences), initial=0))
        chains = [
            [(m["sentNum"] - 1, m["startIndex"] - 1, m["endIndex"] - 2) for m in chain]
            for chain in value["corefs"].values()
        ]
        id_ = value.get("docId")
    except (KeyError, TypeError, AttributeError) as error:
        raise file.error(
            f"expected sentences with tokens, and corefs, as CoreNLP writes them: {error!r}", line
        ) from None
    for number, start, end in (mention for chain in chains for mention in chain):
        if not (0 <= number < len(sentences) and 0 <= start <= end < len(sentences[number])):
            raise file.error(
                f"expected mentions within sentences, got words {start + 1} to {end + 1} of {number + 1}", line
            )
    clusters = tuple(
        tuple((starts[n] + start, starts[n] + end) for n, start, end in chain) for chain in chains if chain
    )
    words = tuple(token for sentence in sentences for token in sentence)
    return SystemDocument(None if id_ is None else str(id_), clusters, file.path, line, words, spans="included")


def _is_stanza(value: object) -> bool:
    """Whether `value` is a document of Stanza: sentences, which are lists of words with their `text`."""
    sentences = value.get("sentences") if isinstance(value, dict) else value
    return (
        isinstance(sentences, list)
        and bool(sentences)
        and all(isinstance(sentence, list) and sentence for sentence in sentences)
        and all(isinstance(word, dict) and "text" in word for sentence in sentences for word in sentence)
    )


def _stanza_document(value: Any, file: TextFile, line: int) -> SystemDocument:  # noqa: ANN401 - JSON
    """A document of Stanza, whose words say in which chains they are and where a mention of them begins and ends."""
    sentences = value["sentences"] if isinstance(value, dict) else value
    # Of a token of several words Stanza writes the token first ("id": [3, 4]) and then the words, which count.
    words = [w for words in sentences for w in words if not isinstance(w.get("id"), list) or len(w["id"]) == 1]
    chains = _MentionsByWord()
    try:
        for at, word in enumerate(words):
            for chain in word.get("coref_chains") or ():
                begins, ends = chain.get("is_start", False), chain.get("is_end", False)
                chains.add(str(chain["index"]), at, begins=begins, ends=ends)
    except (KeyError, TypeError, AttributeError) as error:
        raise file.error(f"expected coref_chains as Stanza writes them: {error!r}", line) from None
    if chains.broken is not None:
        raise file.error(
            f"expected mentions that begin and end, got one that does not at word {chains.broken + 1}", line
        )
    id_ = value.get("id", value.get("doc_id")) if isinstance(value, dict) else None
    tokens = tuple(str(word["text"]) for word in words)
    return SystemDocument(None if id_ is None else str(id_), chains.clusters, file.path, line, tokens, spans="included")


class _MentionsByWord:
    """Clusters from words that each say which mentions begin and end there."""

    def __init__(self) -> None:
        self._mentions: dict[str, list[Mention]] = {}
        self._open: dict[str, list[int]] = {}
        self._wrong: list[int] = []
        """The words at which a mention ends that has not begun."""

    def add(self, chain: str, at: int, *, begins: bool, ends: bool) -> None:
        """At the word `at` a mention of `chain` begins, or ends, or both; the latest ends first."""
        if begins:
            self._open.setdefault(chain, []).append(at)
        if ends and self._open.get(chain):
            self._mentions.setdefault(chain, []).append((self._open[chain].pop(), at))
        elif ends:
            self._wrong.append(at)

    @property
    def broken(self) -> int | None:
        """The first word of a mention that does not begin or does not end; None where there is none."""
        return min([*self._wrong, *(at for places in self._open.values() for at in places)], default=None)

    @property
    def clusters(self) -> Clusters:
        """The mentions of each chain, chains in the order in which the first mention of each ends."""
        return tuple(tuple(mentions) for mentions in self._mentions.values())


# --- CoNLL-U ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Words:
    """A document of CoNLL-U while it is read."""

    id: str | None
    line: int
    words: list[str] = field(default_factory=list)
    mentions: _MentionsByWord = field(default_factory=_MentionsByWord)
    lines: list[int] = field(default_factory=list)
    """The line of each word."""


def _conllu_documents(file: TextFile) -> list[SystemDocument]:
    documents: list[_Words] = []
    for number, line in enumerate(split_lines(file.text), start=1):
        header = _DOCUMENT.fullmatch(line.strip())
        if header and (not documents or documents[-1].id != header["id"] or header["key"] != "doc_id"):
            documents.append(_Words(header["id"] or None, number))
        elif line.strip() and not line.startswith("#"):
            if not documents:
                documents.append(_Words(None, number))
            _word(documents[-1], file, line, number)
    for document in documents:
        if (broken := document.mentions.broken) is not None:
            raise file.error("expected mentions that begin and end, got one here that does not", document.lines[broken])
    return [
        SystemDocument(d.id, d.mentions.clusters, file.path, d.line, tuple(d.words), spans="included")
        for d in documents
        if d.words
    ]


def _word(document: _Words, file: TextFile, line: str, number: int) -> None:
    columns = line.split("\t")
    if len(columns) != 10:
        raise file.error(f"expected the 10 columns of CoNLL-U, got {len(columns)}", number)
    at = len(document.words)
    values = dict(part.partition("=")[::2] for part in columns[9].split("|"))
    entity, stanza = values.get("Entity", ""), values.get("coref_chains", values.get("Coref", ""))
    if not columns[0].isdecimal():
        if "." in columns[0]:
            _entities(document, file, entity, at, number, empty=True)
        return
    document.words.append(columns[1])
    document.lines.append(number)
    if stanza and entity:
        raise file.error("expected Entity= or coref_chains=, got both; remove the one that is gold", number)
    for part in filter(None, stanza.split(",")):
        match = _STANZA.fullmatch(part)
        if match is None:
            raise file.error(f"coref_chains: expected such as start-id0, got {part!r}", number)
        where = match["where"]
        document.mentions.add(match["chain"], at, begins=where in {"unit", "start"}, ends=where in {"unit", "end"})
    _entities(document, file, entity, at, number)


def _entities(document: _Words, file: TextFile, entity: str, at: int, number: int, *, empty: bool = False) -> None:
    """What CorefUD says at the word `at`, or at an empty node before it."""
    end = 0
    for match in _ENTITY.finditer(entity):
        if match.start() != end:
            break
        end = match.end()
        first, last = (match["part"] or match["last"] or "[1/1]").strip("[]").split("/")
        begins = match["opens"] is not None and first == "1"
        ends = (match["closes"] is not None or match["closes_here"] is not None) and first == last
        if empty and begins and ends:
            continue
        place = at - 1 if empty and ends else at
        document.mentions.add(match["opens"] or match["closes"], place, begins=begins, ends=ends)
    if end != len(entity):
        raise file.error(f"Entity: expected such as (e1-person-1 or e1), got {entity!r}", number)
