"""``mtbias coref export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from mtbias.cli.shared import Flag, Json, Parts, show
from mtbias.coref.documents import DatasetName, Format, exported
from mtbias.errors import UsageError
from mtbias.files.writing import signature_line, write_atomic


def command(
    dataset: Annotated[DatasetName, Parameter(name="DATASET")],
    /,
    *,
    data: Path | None = None,
    format: Format,
    out: Path,
    gold: Flag = False,
    part: Parts = None,
    titles_without_stop: Flag = False,
    json: Json = False,
) -> None:
    """Write the documents of a data set for a coreference system to read; make those of sowinobias.

    The system's output on them is scored as it is: ids and tokens are the data's. If a system reads
    plain text and writes no ids, `--ids order` says that its documents are in this order.

    Parameters
    ----------
    dataset
        The data set.
    data
        Where it is, as `mtbias coref score` takes it.
    format
        CoNLL-2012; JSON lines with id, text, tokens, and the keys of e2e-coref (doc_key, sentences,
        speakers, clusters); or plain text, a line for each document.
    out
        The file to write; or, for plain text, a folder that is there: a file for each document, as
        CoreNLP takes them.
    gold
        Also write the right clusters of what the data set asks about: to train on, not for a system
        to read.
    part
        Of winobias: this split and type alone; one or several.
    titles_without_stop
        As for `mtbias coref score`.
    """
    from mtbias.coref.coref_datasets import open_dataset

    if gold and format == "text":
        raise UsageError(
            "--gold: plain text has no place for clusters; take --format conll or jsonl"
        )
    loaded = open_dataset(dataset, data, part=part, titles_without_stop=titles_without_stop)
    texts = loaded.texts
    if format == "text" and out.is_dir():
        if len({text.file_name for text in texts}) < len(texts):
            raise UsageError(
                "--out: expected a file, since ids of these documents give files of one name; "
                "got a folder"
            )
        for text, line in zip(texts, exported(texts, format), strict=True):
            write_atomic(out / text.file_name, [line])
    else:
        write_atomic(out, exported(texts, format, gold=gold))
    options = {"dataset": dataset, "format": format, "gold": str(gold).lower()}
    options |= {"part": "+".join(part)} if part else {}
    options |= {"titles": "without-stop"} if titles_without_stop else {}
    signed = signature_line("coref:export", {"data": loaded.files}, options)
    result = {
        "dataset": dataset,
        "documents": len(texts),
        "format": format,
        "notes": list(loaded.remarks) or None,
        "out": str(out),
        "signature": signed,
    }
    show(result, json=json)
