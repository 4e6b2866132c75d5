"""How far a run is, by the files of its folder alone: no corpus, model or tokenizer, and no clock."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtbias.errors import RunFolderError
from mtbias.runs.kept_parts import kept_parts, read_plan
from mtbias.runs.run_folder import MANIFEST, RunFolder
from mtbias.types import Json


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How much of a run is translated, and whether it is complete."""

    parts_done: int
    parts: int | None
    """Parts in all; None where nothing was planned yet, or the translations were given."""
    sentences_done: int
    """Distinct sentences."""
    sentences: int | None
    """Distinct sentences in all; None as for `parts`."""
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
        return _complete(run)
    plan = read_plan(run.path)
    if plan is None:
        return RunProgress(0, None, 0, None, complete=False, missing=frozenset())
    kept = kept_parts(run.path)
    done = [n for n in range(len(plan.sizes)) if n in kept]
    return RunProgress(
        len(done),
        len(plan.sizes),
        sum(plan.sizes[n] for n in done),
        sum(plan.sizes),
        complete=False,
        missing=frozenset(range(len(plan.sizes))).difference(done),
    )


def _complete(run: RunFolder) -> RunProgress:
    try:
        execution = run.manifest.execution
    except RunFolderError:  # removed meanwhile
        execution = {}
    parts = _whole(execution.get("parts"))
    counts = [_whole(execution.get(key)) for key in ("sentences_resumed", "sentences_generated")]
    sentences = None if None in counts else sum(count or 0 for count in counts)
    return RunProgress(parts or 0, parts, sentences or 0, sentences, complete=True, missing=frozenset())


def _whole(value: Any) -> int | None:  # noqa: ANN401 - a value of the manifest
    return value if isinstance(value, int) else None


def begun(folder: Path | str) -> dict[str, Json]:
    """What the run in `folder` was begun with: its identity and the settings of its plan; empty where nothing is there.

    Raises:
        RunFolderError: the folder cannot be read, or its manifest is damaged.
    """
    run = RunFolder(folder)
    plan = read_plan(run.path)
    identity = run.manifest.identity if run.has(MANIFEST) else {}
    return {**identity, **({} if plan is None else plan.settings)}
