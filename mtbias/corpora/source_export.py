"""The sentences of a corpus as a file for a system to translate, in a form that `mtbias score` takes back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from mtbias.corpora.corpus import Corpus
from mtbias.errors import DataError


def source_lines(corpus: Corpus[Any], form: Literal["text", "tsv", "jsonl"]) -> Iterator[str]:
    """The lines of the file, in the corpus's order, without their line ends.

    ``text`` has the sources alone; ``tsv`` a header and id and source; ``jsonl`` objects of id and source.

    Raises:
        DataError: a source of ``text`` or ``tsv`` is empty or holds a line break or, of ``tsv``, a tab; a system that
            reads lines would return another number of them, and every translation below would be that of another
            sentence.
    """
    if form == "tsv":
        yield "id\tsource"
    for instance in corpus.instances:
        id_, source = instance.id, instance.source
        if form == "jsonl":
            yield json.dumps({"id": id_, "source": source}, ensure_ascii=False)
            continue
        fields = [source] if form == "text" else [id_, source]
        for field in fields:
            # All that Python takes for the end of a line, U+2028 among them: systems read lines in that way, too.
            if field.splitlines() != [field] or (form == "tsv" and "\t" in field):
                wrong = "a sentence in one line" + (" without tabs" if form == "tsv" else "")
                message = f"sentence {id_!r}: expected {wrong}, got {field!r}; use --format jsonl"
                raise DataError(message, path=corpus.path)
        yield "\t".join(fields)
