"""The folder of a run: its manifest, its files, written so that a run stopped at any moment can go on."""

from __future__ import annotations

from mtbias.runs.chunks import Chunks, remove_chunks
from mtbias.runs.folder import RunFolder
from mtbias.runs.manifest import Json, RunManifest
from mtbias.runs.read import FinishedRun, read_run
from mtbias.runs.records import CallRecord, join_records, metrics_text

__all__ = [
    "CallRecord",
    "Chunks",
    "FinishedRun",
    "Json",
    "RunFolder",
    "RunManifest",
    "join_records",
    "metrics_text",
    "read_run",
    "remove_chunks",
]
