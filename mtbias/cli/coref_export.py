"""``mtbias coref export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from mtbias.cli.coref_shared import show
from mtbias.cli.shared import Flag, Json
from mtbias.coref.names import DatasetName, Format
from mtbias.coref.predicted_clusters import signature
from mtbias.errors import UsageError
from mtbias.files.writing import write_atomic


def command(
    dataset: Annotated[DatasetName, Parameter(name="DATASET")],
    /,
    *,
    data: Path | None = None,
    form: Annotated[Format, Parameter(name="--format")],
    out: Path,
    gold: Flag = False,
    n: Literal["polarity", "total"] = "polarity",
    no_full_stop: Flag = False,
    json: Json = False,
) -> None:
    """Write the documents of a data set for a coreference system to read.

    What the system gives back on them is scored as it is: ids and tokens are the data's; of plain text the documents
    are told by their text or their order.

    Parameters
    ----------
    dataset
        The data set.
    data
        Where it is: what the command that scores it takes as --data; of sowinobias a vocabulary (default: our own).
    form
        CoNLL-2012; JSON lines with id, text, tokens, and the keys of e2e-coref (doc_key, sentences, speakers,
        clusters); or plain text, a line for each document.
    out
        The file to write; or, for plain text, a folder that is there: a file for each document, as CoreNLP takes them.
    gold
        Write the right clusters too, of what the data set asks about: to train on, not for a system to read.
    n
        Which sentences of sowinobias, as `mtbias coref sowinobias` has it.
    no_full_stop
        Sentences of sowinobias without a full stop.
    """
    from mtbias.coref.dataset_texts import read_texts
    from mtbias.coref.export import exported, file_names

    if gold and form == "text":
        raise UsageError("--gold: plain text has no place for clusters; take --format conll or jsonl")
    texts, files = read_texts(dataset, data, n=n, full_stop=not no_full_stop)
    if form == "text" and out.is_dir():
        for name, line in zip(file_names(texts), exported(texts, form), strict=True):
            write_atomic(out / name, [line])
    else:
        write_atomic(out, exported(texts, form, gold=gold))
    result: dict[str, Any] = {"dataset": dataset, "documents": len(texts), "format": form, "out": str(out)}
    result["signature"] = signature("export", {"data": files}, dataset=dataset, format=form, gold=str(gold).lower())
    show(result, f"{len(texts)} documents of {dataset}\nFile: {out}\n\n", json=json)
