"""``mtbias coref run``."""

from __future__ import annotations

from pathlib import Path

from mtbias.cli.shared import Command, CorefDevice, InFormat, Json, Model, Reading, ReadingOptions, System, show
from mtbias.coref.coref_datasets import open_dataset
from mtbias.coref.documents import DatasetName
from mtbias.coref.systems import open_system, run_system
from mtbias.files.writing import signature_line
from mtbias.machine.stage_progress import ProgressLine


def command(
    *,
    system: System,
    dataset: DatasetName,
    out: Path,
    data: Path | None = None,
    model: Model = None,
    program: Command = None,
    in_format: InFormat = None,
    device: CorefDevice = None,
    reading: Reading = ReadingOptions(),
    json: Json = False,
) -> None:
    """Run a coreference system on a data set; `mtbias coref score DATASET --predictions OUT` scores its clusters.

    A run that was stopped resumes: clusters are kept beside OUT, a document at a time (of a command: all at once).
    --ids and --spans are for what a command writes.

    Parameters
    ----------
    dataset
        The data set.
    out
        The file to write: JSON lines with id, tokens and clusters.
    data
        Where the data set is, as `mtbias coref score` takes it.
    """
    ((ids, spans),) = reading.of_systems(1)
    chosen = open_system(system, model=model, command=program, form=in_format, device=device, ids=ids, spans=spans)
    opened = open_dataset(dataset, data)
    before = run_system(chosen, opened.texts, out, ProgressLine())
    options = {"dataset": dataset, "system": chosen.signature.replace("|", ",")}
    result = {
        "dataset": dataset,
        "documents": len(opened.texts),
        "resumed_at": before,
        "out": str(out),
        "notes": chosen.notes,
        "signature": signature_line("coref:run", {"data": opened.files}, options),
    }
    show(result, json=json)
