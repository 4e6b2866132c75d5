"""What a system answers on Winogender: labels in a table, or clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mtbias.coref.dataset_texts import winogender_texts
from mtbias.coref.output_reading import read_output
from mtbias.coref.predicted_clusters import check_complete, check_known
from mtbias.coref.system_output import SpanCounting
from mtbias.coref.winogender import Resolution, Winogender, resolve
from mtbias.files.reading import TABLES, read_table

_LABELS = {
    **{str(resolution): resolution for resolution in Resolution},
    "0": Resolution.OCCUPATION,
    "1": Resolution.PARTICIPANT,
    "neither": Resolution.NONE,
}


_LABEL_TABLES = {ending for ending in TABLES if "json" not in ending}


@dataclass(frozen=True, slots=True)
class WinogenderAnswers:
    """A system's resolutions, and what its files said."""

    of: Mapping[str, Resolution]
    """By sentence id."""
    files: Mapping[str, str]
    """SHA-256 by name of the file."""
    notes: tuple[str, ...] = ()
    """As `Predictions` has them; so has it `reading`."""
    reading: Mapping[str, str] = field(default_factory=dict)


def read_resolutions(
    path: Path, data: Winogender, *, ids: Path | None = None, spans: SpanCounting | None = None
) -> WinogenderAnswers:
    """A system's resolutions.

    ``.tsv`` and ``.csv`` have the columns ``sentid`` and ``prediction``: occupation (or 0), participant (1), both, none
    (neither). Anything else is read as clusters (`mtbias.coref.output_reading.read_output`).

    Raises:
        DataError: what the readers raise; an unknown, doubled or missing id; an unknown prediction.
    """
    if path.suffix.lower() in _LABEL_TABLES:
        answers = _read_labels(path, data)
    else:
        predictions = read_output(winogender_texts(data), [path], ids=ids, spans=spans)
        check_known(predictions, data.sentences, "Winogender's sentences")
        documents = predictions.documents.items()
        found = {id_: resolve(data.sentences[id_], prediction.clusters) for id_, prediction in documents}
        answers = WinogenderAnswers(found, predictions.files, predictions.notes, predictions.reading)
    check_complete(answers.of, data.sentences, "sentences", path)
    return answers


def _read_labels(path: Path, data: Winogender) -> WinogenderAnswers:
    table = read_table(path)
    table.require("sentid", "prediction")
    found: dict[str, Resolution] = {}
    for record in table.records:
        id_, label = record.get("sentid"), record.get("prediction").lower()
        if id_ not in data.sentences:
            raise record.error(f"id {id_!r} is none of Winogender's sentences")
        if id_ in found:
            raise record.error(f"expected id {id_!r} once, got it again; remove a row")
        if label not in _LABELS:
            raise record.error(f"prediction: expected one of {', '.join(_LABELS)}, got {label!r}")
        found[id_] = _LABELS[label]
    return WinogenderAnswers(found, {path.name: table.file.sha256})
