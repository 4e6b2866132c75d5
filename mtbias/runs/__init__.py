"""The folder of a run: its manifest, its files, written so that a run stopped at any moment can go on."""

from __future__ import annotations

from mtbias.runs.chunks import Chunks, remove_chunks
from mtbias.runs.folder import RunFolder
from mtbias.runs.manifest import Json, RunManifest
from mtbias.runs.records import CallRecord, join_records, metrics_text

__all__ = ["CallRecord", "Chunks", "Json", "RunFolder", "RunManifest", "join_records", "metrics_text", "remove_chunks"]
