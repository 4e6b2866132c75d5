"""Translated batches in the run folder, as the loop of generation keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from mtbias.runs.kept_parts import Chunks, PlanRecord, agree_on_plan, read_plan
from mtbias.runs.run_folder import MANIFEST, RunFolder
from mtbias.translate.seq2seq.batch_plan import Budget
from mtbias.translate.seq2seq.generation import Output
from mtbias.translate.seq2seq.translator import Prepared


class KeptBatches:
    """Batches of outputs as chunks in a run folder (a `mtbias.translate.seq2seq.generation.Store`)."""

    def __init__(self, folder: Path, prepared: Prepared, *, alone: bool) -> None:
        """Agree with the folder on the plan, and use its chunks.

        Args:
            folder: the run folder, open for writing.
            prepared: the sentences and their plan.
            alone: whether nobody else has the folder open, so that another plan may be replaced.

        Raises:
            RunFolderError: the folder is shared and holds another plan, or cannot be written.
        """
        budget = (prepared.budget.rows, prepared.budget.tokens)
        sizes = tuple(len(batch.rows) for batch in prepared.plan)
        agree_on_plan(folder, PlanRecord(prepared.key, budget, sizes), alone=alone)
        self._prepared, self._chunks = prepared, Chunks(folder, prepared.key)

    def get(self, index: int) -> Sequence[Output] | None:
        """The outputs of a batch that was kept and is whole, or None."""
        records = self._chunks.get(index)
        return None if records is None else [Output(**record) for record in records]

    def put(self, index: int, outputs: Sequence[Output]) -> None:
        """Keep the outputs of a batch.

        Raises:
            RunFolderError: the disk is full, or another operating-system error.
        """
        self._chunks.put(index, [asdict(output) for output in outputs])

    def gather(self) -> tuple[list[Output] | None, int]:
        """The outputs of all sources, and 0; or None, and how many batches are missing.

        Damaged ones count as missing and are removed, so that they count so for everybody. For the one who has the
        run folder open alone.
        """
        outputs: dict[int, Output] = {}
        missing = 0
        for batch in self._prepared.plan:
            found = self.get(batch.index)
            if found is None or len(found) != len(batch.rows):
                self._chunks.drop(batch.index)
                missing += 1
            else:
                outputs.update(zip(batch.rows, found, strict=True))
        if missing:
            return None, missing
        return self._prepared.of_sources([outputs[n] for n in range(len(self._prepared.distinct))]), 0


def budget_of_run(folder: Path) -> Budget | None:
    """The budget that the batches of the run in `folder` were planned with; None where nothing says so.

    Raises:
        RunFolderError: the folder cannot be read, or its manifest is damaged.
    """
    plan, run = read_plan(folder), RunFolder(folder)
    if plan is not None:
        return Budget(*plan.budget)
    match run.manifest.identity.get("batch") if run.has(MANIFEST) else None:
        case [int(rows), int(tokens)]:
            return Budget(rows, tokens)
        case _:
            return None
