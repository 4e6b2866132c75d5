"""``mtbias coref train``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from mtbias.cli.shared import Json, show
from mtbias.coref.training import TrainingSettings
from mtbias.files.reading import sha256_of_file
from mtbias.files.writing import signature_line


def command(
    *,
    data: Path,
    dev: Path,
    out: Path,
    training: Annotated[
        TrainingSettings, Parameter(name="*", group=Group("Training"))
    ] = TrainingSettings(),
    weights: Path | None = None,
    json: Json = False,
) -> None:
    """Train Stanza's coreference model on CoNLL-2012 documents, as they are or augmented (`mtbias
    coref augment`).

    Parameters
    ----------
    data
        Documents to train on, CoNLL-2012; those of a data set by `mtbias coref export --format
        conll --gold`.
    dev
        Documents to choose the best epoch by.
    out
        A new folder: model.pt, which `mtbias coref run --model` takes, and what it was made of.
    weights
        A model to begin with (fine-tuning), of the same encoder and sizes.
    """
    from mtbias.coref.documents import read_conll
    from mtbias.coref.training import train
    from mtbias.coref.training_documents import training_data
    from mtbias.translate.seq2seq.checkpoints import files_hash

    files = {"data": read_conll(data), "dev": read_conll(dev)}
    begun = "none" if weights is None else sha256_of_file(weights)[:12]
    parts = {name: training_data(file.documents) for name, file in files.items()}
    model = train(parts["data"], parts["dev"], training, out, weights)
    counts = [
        {
            "name": name,
            "documents": len(part.documents),
            "mentions": part.mentions,
            "across_sentences_left_out": part.across,
        }
        for name, part in parts.items()
    ]
    options = {name.replace("_", "-"): value for name, value in asdict(training).items()}
    if (folder := Path(training.chosen_encoder())).is_dir():
        # The signature names the encoder's weights, not where they are.
        options["encoder"] = f"{folder.resolve().name}@{files_hash(folder)[:12]}"
    hashes = {name: file.file.hashes for name, file in files.items()}
    signed = signature_line("coref:train", hashes, {"weights": begun, **options})
    show({"counts": counts, "model": str(model), "signature": signed}, json=json)
