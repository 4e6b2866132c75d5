"""The documents of a data set as coreference systems take them: CoNLL-2012, JSON lines, plain text.

What a system gives back is read without further ado (`mtbias.coref.output_reading`): ids and tokens are the data's,
and of plain text, which has neither, the order or the text itself says which document is which.

* **CoNLL-2012**: a document each, part 0, 12 columns; without parses, parts of speech and speakers, whose columns have
  what stands for none.
* **JSON lines**: `id`, `text`, `tokens`, and what e2e-coref takes: `doc_key`, `sentences`, `speakers` and `clusters`,
  which are empty unless gold ones are asked for.
* **Text**: a line for each document; or a file for each, whose name is the id with other signs for those that file
  names cannot have, for systems that take a file for a document.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from json import dumps

from mtbias.coref.conll import Clusters
from mtbias.coref.coref_text import CorefText
from mtbias.coref.names import Format


def exported(texts: Sequence[CorefText], form: Format, *, gold: bool = False) -> Iterator[str]:
    """The lines of a file of `texts`; `gold`: with the right clusters, of what the data set asks about alone."""
    for text in texts:
        clusters = text.gold if gold else ()
        if form == "conll":
            yield from _conll(text, clusters)
        elif form == "jsonl":
            yield dumps(_object(text, clusters), ensure_ascii=False)
        else:
            # One character for another: offsets stay as they are.
            yield text.text.translate({ord(end): " " for end in "\n\r\v\f\x85\u2028\u2029"})


def file_names(texts: Sequence[CorefText]) -> list[str]:
    """A file name for each of `texts`, from which its id is told (`mtbias.coref.document_ids`)."""
    return [re.sub(r"[^\w.-]+", "_", text.id) + ".txt" for text in texts]


def _object(text: CorefText, clusters: Clusters) -> dict[str, object]:
    return {
        "id": text.id,
        "doc_key": text.id,
        "text": text.text,
        "tokens": text.tokens,
        "sentences": text.sentences,
        "speakers": [["-"] * len(sentence) for sentence in text.sentences],
        "clusters": clusters,
    }


def _conll(text: CorefText, clusters: Clusters) -> Iterator[str]:
    links = _links(clusters)
    yield f"#begin document ({text.id}); part 000"
    at = 0
    for sentence in text.sentences:
        for number, token in enumerate(sentence):
            # Readers make a tree of a sentence's column: all words under one node.
            tree = ("(TOP" if number == 0 else "") + "*" + (")" if number == len(sentence) - 1 else "")
            yield "\t".join([text.id, "0", str(number), token, "XX", tree, "-", "-", "-", "-", "*", links.get(at, "-")])
            at += 1
        yield ""
    yield "#end document"


def _links(clusters: Clusters) -> dict[int, str]:
    """The last column of the words that have something in it."""
    found: dict[int, list[str]] = defaultdict(list)
    for number, cluster in enumerate(clusters):
        for start, end in cluster:
            if start == end:
                found[start].append(f"({number})")
            else:
                found[start].append(f"({number}")
                found[end].append(f"{number})")
    return {at: "|".join(links) for at, links in found.items()}
