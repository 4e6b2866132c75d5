"""The folder of a run: its manifest, its files, written so that a run stopped at any moment can go on."""

from __future__ import annotations

from mtbias.runs.call_records import CallRecord, join_records, metrics_text
from mtbias.runs.finished_run import FinishedRun, read_run
from mtbias.runs.kept_batches import KeptBatches, budget_of_run
from mtbias.runs.kept_parts import (
    Chunks,
    PlanRecord,
    agree_on_plan,
    read_plan,
    read_shard_reports,
    remove_chunks,
    write_shard_report,
)
from mtbias.runs.manifest import Json, RunManifest
from mtbias.runs.run_folder import RunFolder
from mtbias.runs.run_progress import RunProgress, progress

__all__ = [
    "CallRecord",
    "Chunks",
    "FinishedRun",
    "Json",
    "KeptBatches",
    "PlanRecord",
    "RunFolder",
    "RunManifest",
    "RunProgress",
    "agree_on_plan",
    "budget_of_run",
    "join_records",
    "metrics_text",
    "progress",
    "read_plan",
    "read_run",
    "read_shard_reports",
    "remove_chunks",
    "write_shard_report",
]
