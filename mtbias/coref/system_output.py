"""What coreference systems write, told by its content: clusters by document, and what their indices count.

| format | is told by | id of a document | indices of a mention |
| --- | --- | --- | --- |
| mtbias's JSON lines | `clusters` | `id` | tokens, both ends included |
| e2e-coref, SpanBERT | `predicted_clusters` | `doc_key` | tokens or word pieces of `sentences`, both ends included |
| AllenNLP | `document` and `clusters` | none | tokens of `document`, both ends included |
| maverick | `clusters_token_offsets` | none | tokens of `tokens`, both ends included |
| fastcoref | `text` and `clusters` | none | characters of `text`, or tokens where it is a list, end excluded |
| clusters alone | a list of lists of mentions | none | whatever fits |
| BUG's predictions | `pred` and `row` | none | those of `pred` |
| CoreNLP's JSON | `corefs` and `sentences` | `docId` | words of a sentence from 1, end excluded |
| Stanza's JSON | words with `coref_chains` | none | the words themselves |
| Stanza's CoNLL-U | `coref_chains=` or `Coref=` in the last column | `# newdoc id`, `# doc_id` | the words themselves |
| CorefUD | `Entity=` in the last column | `# newdoc id` | the words themselves |
| CoNLL-2012 | `#begin document` | its name | the words themselves |

JSON is a line for each document, a list of documents, one document, or an object of documents by id. Where indices are
numbers that somebody wrote down, "included" is what a format is meant to have, not what a file has:
`mtbias.coref.output_reading` looks at the mentions themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from mtbias.coref.conll import Clusters
from mtbias.errors import DataError
from mtbias.files.reading import TextFile, split_lines


class SpanCounting(StrEnum):
    """What the two numbers of a mention count."""

    INCLUDED = "included"
    """Tokens from 0; the second is the last token."""
    EXCLUDED = "excluded"
    """Tokens from 0; the second is the one behind the last."""
    CHARACTERS = "characters"
    """Characters from 0; the second is the one behind the last."""


TOKENS = (SpanCounting.INCLUDED, SpanCounting.EXCLUDED)


@dataclass(frozen=True, slots=True)
class OutputDocument:
    """One document as a system wrote it."""

    id: str | None
    clusters: Clusters
    """Mentions as they are written."""
    path: Path
    line: int
    tokens: tuple[str, ...] | None = None
    """The tokens or word pieces that the mentions count, where the file has them."""
    text: str | None = None
    """The text whose characters the mentions may count, where the file has it."""
    countings: tuple[SpanCounting, ...] = (SpanCounting.INCLUDED,)
    """What the mentions may count, what the format says first; only one where it is beyond doubt."""
    n_tokens: int | None = None
    """How many tokens the document has, where the file does not have them but tells their number."""

    def error(self, message: str) -> DataError:
        """An error in this document: to be raised where it is found."""
        return DataError(message if self.id is None else f"id {self.id!r}: {message}", path=self.path, line=self.line)


def holds_clusters(file: TextFile) -> bool:
    """Whether `file` has clusters in any of the formats, and not a table of labels."""
    lines = (text.strip() for _, text in file.filled_lines())
    first = next(lines, "")
    return first[:1] in {"{", "["} or first.startswith("#") or is_conllu(file.text)


def is_conllu(text: str) -> bool:
    """Whether the first line that is no remark has the ten columns of CoNLL-U, and a number at its beginning."""
    for line in split_lines(text):
        if not line.strip() or line.startswith("#"):
            if line.lstrip("# ").startswith("begin document"):
                return False
            continue
        columns = line.split("\t")
        return len(columns) == 10 and columns[0].partition("-")[0].partition(".")[0].isdigit()
    return False


def clusters_of_file(file: TextFile) -> list[OutputDocument]:
    """The documents of `file`, in its order.

    Raises:
        DataError: in none of the formats, or broken, with the line.
    """
    from mtbias.coref.conll import parse_conll
    from mtbias.coref.conllu_clusters import parse_conllu
    from mtbias.coref.json_clusters import parse_json

    start = file.text.lstrip()[:1]
    if not start:
        return []
    if start in {"{", "["}:
        return parse_json(file)
    if is_conllu(file.text):
        return parse_conllu(file)
    return [
        OutputDocument(d.id, d.clusters, file.path, d.line, tokens=d.shown_words, n_tokens=d.n_words)
        for d in parse_conll(file, any_columns=True)
    ]


def files_at(paths: Sequence[Path]) -> list[Path]:
    """The files at `paths`: of a folder, those in it that end as files of clusters do, by name.

    Raises:
        DataError: a folder without such a file.
    """
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        found = sorted(file for file in path.iterdir() if file.name.lower().endswith(ENDINGS))
        if not found:
            raise DataError("this folder has no file that ends in .jsonl, .json, .conllu or conll", path=path)
        files += found
    return files


ENDINGS = (".jsonl", ".ndjson", ".jsonlines", ".json", ".conllu", "conll")
"""How the files end that are taken of a folder, where others may lie (`.v4_auto_conll` is one of them)."""
