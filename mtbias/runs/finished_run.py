"""A finished run as one value: what `mtbias compare`, `mtbias report` and the Python API work on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtbias.runs.call_records import CallRecord
from mtbias.runs.manifest import RunManifest
from mtbias.runs.run_folder import RunFolder


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """The files of a run folder, read and checked."""

    path: Path
    manifest: RunManifest
    metrics: Mapping[str, Any]
    """The content of `metrics.json`."""
    calls: Sequence[CallRecord]
    """The lines of `calls.jsonl`, in the corpus's order."""

    @property
    def system(self) -> str:
        """The system that was given, or the model that translated."""
        identity = self.manifest.identity
        return str(identity.get("system") or identity["model"])

    @property
    def lang(self) -> str:
        """Code of the target language."""
        return str(self.manifest.identity["language"])

    @property
    def corpus(self) -> tuple[str, Mapping[str, str]]:
        """Name of the corpus, and the SHA-256 of each of its files: what two runs share that can be compared."""
        identity = self.manifest.identity
        data = identity["data"]
        return str(identity["dataset"]), {str(k): str(v) for k, v in data.items()} if isinstance(data, Mapping) else {}

    @property
    def evaluator(self) -> Mapping[str, Any]:
        """What read the genders: aligner, Stanza and its models, language plugin, release of mtbias."""
        return {key: self.manifest.identity.get(key) for key in ("aligner", "stanza", "plugin", "mtbias")}


def read_run(path: Path | str) -> FinishedRun:
    """Read the folder of a finished run.

    Raises:
        RunFolderError: there is no run, it is not finished, or a file of it was changed; the message says which.
        DataError: a file is damaged; with path and line.
    """
    folder = RunFolder(path)
    metrics = folder.read_metrics()
    return FinishedRun(folder.path, folder.manifest, metrics, folder.read_calls())
