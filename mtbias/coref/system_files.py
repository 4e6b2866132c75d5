"""What coreference systems write, told by its content: the documents of a file, with their clusters
unchanged.

| format | is told by | id of a document | mentions count |
| --- | --- | --- | --- |
| mtbias's JSON lines | `clusters` | `id` | tokens of the data (`tokens`), both ends included |
| e2e-coref, SpanBERT | `predicted_clusters` | `doc_key` | tokens or word pieces of `sentences`,
both ends included |
| fastcoref | `clusters_strings` | none | characters of `text`, or words where it is a list; end
excluded |
| CoreNLP's JSON | `corefs` and `sentences` | `docId` | words of a sentence from 1, end excluded |
| Stanza's CoNLL-U | `coref_chains=` in the last column | `# newdoc id` | the words themselves |
| CorefUD | `Entity=` in the last column | `# newdoc id` | the words themselves |
| CoNLL-2012 | `#begin document` | its name and part | the words themselves |

JSON is a document a line, or one document. One that has `predicted_clusters` is read by those; its
`clusters` are the gold ones that the system was given in e2e-coref's own lines (`speakers` and no
`id`), and in others what `mtbias.coref.output_reading` makes of them.

In CoNLL-U, Stanza writes at each word of a mention ``unit-``, ``start-``, ``middle-`` or ``end-``,
perhaps ``repr-``, and the chain: ``coref_chains=start-repr-id0,unit-id2``. CorefUD writes brackets:
``Entity=(e1-person-1``, ``Entity=e1)``, ``Entity=(e2-object-2-)``; a mention of several parts,
``(e1[1/2]``, is taken from its first word to its last. Words count, not the tokens of several words
(``1-2``) and not the empty nodes (``2.1``): a mention of nothing else is left out, one that begins
or ends at an empty node begins at the next word or ends at the one before.

Source: Nedoluzhko et al., *CorefUD 1.0* (LREC 2022); stanza.utils.conll.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

from mtbias.coref.documents import (
    BROKEN,
    Cluster,
    Clusters,
    MentionsByWord,
    Spans,
    SystemDocument,
    parse_conll,
)
from mtbias.errors import DataError
from mtbias.files.reading import TextFile, read_text, split_lines
from mtbias.files.strict_json import load_json, once
from mtbias.types import JsonDict

_ENDINGS = (".jsonl", ".ndjson", ".jsonlines", ".json", ".conllu", "conll")
"""How the files end that are taken of a folder, where others may lie (`.v4_auto_conll` is one of
them)."""
_IDS = ("id", "doc_key", "doc_id", "docId", "document_id")
_DOCUMENT = re.compile(r"#\s*newdoc(?:\s+id\s*=\s*(?P<id>.*?))?\s*")
_STANZA = re.compile(r"(?P<where>unit|start|middle|end)-(?:repr-)?(?P<chain>[^,]+)")
_ENTITY = re.compile(
    r"\((?P<opens>[^()\[\]-]+)(?P<part>\[\d+/\d+\])?(?:-[^()]*)?(?P<closes_here>\))?"
    r"|(?P<closes>[^()\[\]-]+)(?P<last>\[\d+/\d+\])?\)"
)


def read_documents(paths: Sequence[Path]) -> tuple[list[SystemDocument], dict[str, str]]:
    """The documents of the files at `paths` as they are written, and the SHA-256 of each file by
    its name.

    Of a folder, the files in it that end as files of clusters do, by name. A document without id
    that is alone in a file of a folder, or of several files, has the file's name.

    Raises:
        DataError: no such file, or a folder without one; a file in no format that is known, or
            broken, with the line.
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
            raise DataError(
                "this folder has no file that ends in .jsonl, .json, .conllu or conll", path=path
            )
        yield from inside


def holds_clusters(file: TextFile) -> bool:
    """Whether `file` has clusters in any of the formats, and not a table of labels."""
    return file.text.lstrip().startswith(("{", "[", "#")) or _is_conllu(file.text)


def _is_conllu(text: str) -> bool:
    """Whether the first line that is not a comment has the ten columns of CoNLL-U, and begins
    with a number.
    """
    lines = (line for line in split_lines(text) if line.strip())
    first = next(
        (line for line in lines if not line.startswith("#") or "begin document" in line), ""
    )
    return re.fullmatch(r"\d[^\t]*(\t[^\t]*){9}", first) is not None


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
    return [SystemDocument(d.id, d.clusters, file.path, d.line, d.words) for d in parse_conll(file)]


# --- JSON -------------------------------------------------------------------------------------


def _json_documents(file: TextFile) -> list[SystemDocument]:
    values = _values(file)
    predicted = [isinstance(value, dict) and "predicted_clusters" in value for _, value in values]
    if 0 < sum(predicted) < len(values):
        line, _ = values[predicted.index(False)]
        raise file.error(
            f"expected predicted_clusters, which {sum(predicted)} of the {len(values)} documents "
            "of this file have, got none here; gold clusters are not scored: write the predicted "
            "ones of each, [] where there are none",
            line,
        )
    return [_json_document(value, file, line) for line, value in values]


def _values(file: TextFile) -> list[tuple[int, Any]]:
    """The line of each document, and what it is: one on each line, or one that may take several."""
    lines = list(file.filled_lines())
    if lines[0][1].strip() in {"{", "["}:  # one document on several lines
        lines = [(lines[0][0], file.text.strip())]
    try:
        return [(lines[0][0], load_json(file.text, once))]
    except ValueError:
        return [(line, _value(text, line, file)) for line, text in lines]


def _value(text: str, line: int, file: TextFile) -> Any:  # noqa: ANN401 - JSON
    try:
        return load_json(text, once)
    except ValueError as error:
        raise file.error(
            f"expected a JSON object: {error}", line + getattr(error, "lineno", 1) - 1
        ) from None


def _json_document(value: Any, file: TextFile, line: int) -> SystemDocument:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        raise file.error(
            "expected a JSON object for each document, got a list; "
            "of Stanza give CoNLL-U, as its CoNLL.write_doc2conll writes it",
            line,
        )
    if not isinstance(value, dict):
        raise file.error(
            f"expected a JSON object for each document, got {type(value).__name__}", line
        )
    if "corefs" in value:
        return _corenlp_document(value, file, line)
    id_ = next((key for key in _IDS if key in value), "")
    name = "predicted_clusters" if "predicted_clusters" in value else "clusters"
    if name not in value or not (id_ or {"tokens", "sentences", "text"} & set(value)):
        raise file.error(
            f'expected {{"id": …, "clusters": […]}}, got the keys {sorted(value)}', line
        )
    if name == "clusters" and _is_of_e2e(value):
        raise file.error(
            "expected predicted_clusters, got the gold clusters alone of a file that systems read; "
            "give what the system wrote (or call its clusters predicted_clusters)",
            line,
        )

    clusters = value[name]
    is_fastcoref = "clusters_strings" in value
    if is_fastcoref and isinstance(clusters, list):
        clusters = _without_nulls(clusters)
    own_id = {"id": value[id_]} if id_ else {}
    content = file.converted(_Line, value | {"clusters": clusters} | own_id, line)
    _check_mentions(content.clusters, name, file, line)

    others = None
    if name == "predicted_clusters" and not _is_of_e2e(value) and value.get("clusters"):
        others = file.converted(_Clusters, {"clusters": value["clusters"]}, line).clusters
        _check_mentions(others, "clusters", file, line)

    text = content.text if isinstance(content.text, str) else None
    spans: Spans | None = None
    if is_fastcoref:
        spans = "excluded" if text is None else "characters"
    own = None if content.id is None else str(content.id)
    tokens = content.all_tokens
    return SystemDocument(own, content.clusters, file.path, line, tokens, text, spans, others)


def _without_nulls(clusters: list[Any]) -> list[Any]:
    """The clusters of fastcoref without the mentions that it writes as null: they are none of the
    text's (but of the marks around it).
    """
    filled = []
    for cluster in clusters:
        mentions = cluster
        if isinstance(cluster, list):
            mentions = [mention for mention in cluster if mention is not None]
        if mentions != []:
            filled.append(mentions)
    return filled


def _is_of_e2e(value: JsonDict) -> bool:
    """Whether a line has e2e-coref's own form, whose `clusters` are the gold ones of its input."""
    return "speakers" in value and "id" not in value


def _check_mentions(clusters: Clusters, name: str, file: TextFile, line: int) -> None:
    """`DataError` for an empty cluster or an invalid mention; `name` is the clusters' key."""
    if () in clusters:
        message = f"{name}: expected a mention or more in each cluster, got one without"
        raise file.error(message, line)
    for start, end in chain.from_iterable(clusters):
        if not 0 <= start <= end:
            message = f"{name}: expected mentions [start, end] with 0 <= start <= end"
            raise file.error(f"{message}, got [{start}, {end}]", line)


@dataclass(frozen=True)
class _Clusters:
    """The clusters of a line."""

    clusters: Clusters


@dataclass(frozen=True)
class _Line(_Clusters):
    """A line of mtbias's own, of e2e-coref or of fastcoref."""

    id: str | int | None = None
    tokens: tuple[str, ...] | None = None
    sentences: tuple[tuple[str, ...], ...] | None = None
    text: str | tuple[str, ...] | None = None

    @property
    def all_tokens(self) -> tuple[str, ...] | None:
        """The tokens of the document, if the line has them."""
        tokens = self.tokens
        if not isinstance(self.text, str):
            tokens = tokens or self.text
        if tokens is None and self.sentences is not None:
            return tuple(chain.from_iterable(self.sentences))
        return tokens


def _corenlp_document(value: JsonDict, file: TextFile, line: int) -> SystemDocument:
    """A document of CoreNLP: `corefs` are chains of mentions, `startIndex` from 1, `endIndex`
    behind the last word.
    """
    try:
        sentences = [_corenlp_words(sentence) for sentence in value["sentences"]]
        chains = [_corenlp_mentions(mentions) for mentions in value["corefs"].values()]
    except (KeyError, TypeError, AttributeError) as error:
        raise file.error(
            f"expected sentences with tokens, and corefs, as CoreNLP writes them: {error!r}", line
        ) from None

    for number, start, end in chain.from_iterable(chains):
        if not (
            {type(number), type(start), type(end)} == {int}
            and 1 <= number <= len(sentences)
            and 1 <= start < end <= len(sentences[number - 1]) + 1
        ):
            message = f"sentNum {number!r}, startIndex {start!r}, endIndex {end!r}"
            raise file.error(
                f"corefs: expected words of a sentence, both counted from 1, got {message}", line
            )

    before = list(accumulate(map(len, sentences), initial=-1))  # words count from 1
    clusters: list[Cluster] = []
    for mentions in chains:
        cluster = [
            (before[number - 1] + start, before[number - 1] + end - 1)
            for number, start, end in mentions
        ]
        clusters.append(tuple(cluster))
    id_ = value.get("docId")
    own = None if id_ is None else str(id_)
    words = tuple(chain.from_iterable(sentences))
    return SystemDocument(own, tuple(clusters), file.path, line, words)


def _corenlp_words(sentence: JsonDict) -> list[str]:
    return [str(token.get("originalText") or token["word"]) for token in sentence["tokens"]]


def _corenlp_mentions(mentions: list[JsonDict]) -> list[tuple[int, int, int]]:
    """The sentence of each mention, its first word and the one after its last."""
    return [(one["sentNum"], one["startIndex"], one["endIndex"]) for one in mentions]


# --- CoNLL-U ----------------------------------------------------------------------------------


def _conllu_documents(file: TextFile) -> list[SystemDocument]:
    documents: list[tuple[str | None, list[tuple[int, str]]]] = [(None, [])]
    for number, line in enumerate(split_lines(file.text), start=1):
        if header := _DOCUMENT.fullmatch(line.strip()):
            documents.append((header["id"] or None, []))
        elif line.strip() and not line.startswith("#"):
            documents[-1][1].append((number, line))
    return [_conllu_document(id_, rows, file) for id_, rows in documents if rows]


def _conllu_document(
    id_: str | None, rows: Sequence[tuple[int, str]], file: TextFile
) -> SystemDocument:
    words: list[str] = []
    lines: list[int] = []
    mentions = MentionsByWord()
    for number, line in rows:
        columns = line.split("\t")
        if len(columns) != 10:
            raise file.error(f"expected the 10 columns of CoNLL-U, got {len(columns)}", number)
        at, is_word = len(words), columns[0].isdecimal()
        if is_word:
            words.append(columns[1])
            lines.append(number)
        if is_word or "." in columns[0]:
            _add_mentions(mentions, columns[9], at, number, file, empty=not is_word)
    clusters = mentions.clusters(lambda at: file.error(BROKEN, lines[min(at, len(lines) - 1)]))
    return SystemDocument(id_, clusters, file.path, rows[0][0], tuple(words))


def _add_mentions(
    mentions: MentionsByWord, column: str, at: int, number: int, file: TextFile, *, empty: bool
) -> None:
    """Add the mentions in the last column of the word `at`, or of an `empty` node before it."""
    values = dict(part.partition("=")[::2] for part in column.split("|"))
    entity, stanza = values.get("Entity", ""), values.get("coref_chains", "")
    if stanza and entity:
        raise file.error(
            "expected Entity= or coref_chains=, got both; remove the one that is gold", number
        )
    for part in filter(None, stanza.split(",")):
        match = _STANZA.fullmatch(part)
        if match is None:
            raise file.error(f"coref_chains: expected such as start-id0, got {part!r}", number)
        begins, ends = match["where"] in {"unit", "start"}, match["where"] in {"unit", "end"}
        mentions.add(match["chain"], at, begins=begins, ends=ends, empty=empty)
    end = 0
    for match in _ENTITY.finditer(entity):
        if match.start() != end:
            break
        end = match.end()
        first, last = (match["part"] or match["last"] or "[1/1]").strip("[]").split("/")
        begins = match["opens"] is not None and first == "1"
        ends = (match["closes"] or match["closes_here"]) is not None and first == last
        mentions.add(match["opens"] or match["closes"], at, begins=begins, ends=ends, empty=empty)
    if end != len(entity):
        raise file.error(f"Entity: expected such as (e1-person-1 or e1), got {entity!r}", number)
