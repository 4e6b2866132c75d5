"""How far a run is, by the files of its folder alone: no corpus, model or tokenizer, and no clock."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mtbias.errors import RunFolderError
from mtbias.files.kept_work import kept_parts, read_plan
from mtbias.runs.run_folder import MANIFEST, RunFolder
from mtbias.types import Json


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How much of a run is translated, and whether it is complete."""

    parts_done: int
    parts: int | None
    """Parts in all; None where nothing was planned yet, or the translations were given."""
    complete: bool
    """Whether `metrics.json` is there and the files are those that it was computed from."""
    missing: frozenset[int]
    """Numbers of the parts that are planned and not translated."""

    @property
    def translated(self) -> bool:
        """Whether nothing is left to translate."""
        return self.complete or (self.parts is not None and not self.missing)


def run_progress(folder: Path | str) -> RunProgress:
    """How far the run in `folder` is; a folder that is not there yet has done nothing.

    Parts count by the names of their files; one that is damaged is noticed when it is read.

    Raises:
        RunFolderError: the folder cannot be read.
    """
    run = RunFolder(folder)
    if run.has(MANIFEST) and run.is_complete():
        parts: Json = None
        with suppress(RunFolderError):  # removed meanwhile
            parts = run.manifest.execution.get("parts")
        parts = parts if isinstance(parts, int) else None
        return RunProgress(parts or 0, parts, complete=True, missing=frozenset())
    plan = read_plan(run.path)
    if plan is None:
        return RunProgress(0, None, complete=False, missing=frozenset())
    parts = len(plan.sizes)
    missing = frozenset(range(parts)) - kept_parts(run.path)
    return RunProgress(parts - len(missing), parts, complete=False, missing=missing)


def begun(folder: Path | str) -> dict[str, Json]:
    """What the run in `folder` was begun with: its identity and the settings of its plan; empty where nothing is there.

    Raises:
        RunFolderError: the folder cannot be read, or its manifest is damaged.
    """
    run = RunFolder(folder)
    plan = read_plan(run.path)
    identity = run.manifest.identity if run.has(MANIFEST) else {}
    return {**identity, **({} if plan is None else plan.settings)}
