"""``mtbias coref run``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from mtbias.cli.coref_shared import Reading, ReadingOptions, opened_system, show
from mtbias.cli.shared import Flag, Json
from mtbias.coref.names import DatasetName, Format
from mtbias.coref.predicted_clusters import signature


def command(
    *,
    system: Literal["stanza", "command"],
    dataset: DatasetName,
    out: Path,
    data: Path | None = None,
    model: Path | None = None,
    program: Annotated[str | None, Parameter(name="--command")] = None,
    in_format: Format | None = None,
    device: str | None = None,
    reading: Reading = ReadingOptions(),
    n: Literal["polarity", "total"] = "polarity",
    no_full_stop: Flag = False,
    json: Json = False,
) -> None:
    """Run a coreference system on a data set; `mtbias coref DATASET --predictions OUT` scores what it finds.

    A run that was stopped resumes: what was found is kept beside OUT, a document at a time (of a command: all at once).
    --ids and --spans are for what a command writes.

    Parameters
    ----------
    system
        stanza: Stanza's coreference processor (`pip install 'mtbias[coref]'`) with --model; command: any system, by
        --command.
    dataset
        The data set.
    out
        The file to write: JSON lines with id, tokens and clusters.
    data
        Where the data set is: what the command that scores it takes as --data; of sowinobias a vocabulary (default: our
        own).
    model
        With stanza: the file of the model (Stanza's own, or of `mtbias coref train`).
    program
        With command: how to run it, with {in} for the file of documents and {out} for the file that it writes, in any
        form that --predictions reads.
    in_format
        With command: the form of {in}, as `mtbias coref export` writes it (default: jsonl).
    device
        With stanza: cpu, cuda, or cuda:1 for the second GPU (default: a GPU where there is one).
    n
        Which sentences of sowinobias, as `mtbias coref sowinobias` has it.
    no_full_stop
        Sentences of sowinobias without a full stop.
    """
    from mtbias.coref.dataset_texts import read_texts
    from mtbias.coref.running import run_system
    from mtbias.machine.stage_progress import ProgressLine

    chosen = opened_system(system, model, program, in_format, device, reading)
    texts, files = read_texts(dataset, data, n=n, full_stop=not no_full_stop)
    before = run_system(chosen, texts, out, ProgressLine())
    signed = signature("run", {"data": files}, dataset=dataset, system=chosen.signature.replace("|", ","))
    result: dict[str, Any] = {"dataset": dataset, "documents": len(texts), "resumed_at": before, "out": str(out)}
    result["notes"] = chosen.notes
    resumed = f", {before} of them by a run that was stopped" if before else ""
    said = "".join(f"{note}\n" for note in chosen.notes)
    text = f"{len(texts)} documents of {dataset}{resumed}\n{said}File: {out}\n\n"
    show({**result, "signature": signed}, text, json=json)
