"""Tasks of lm-evaluation-harness: ``mtbias_DATASET_LANG`` for each data set of `DATASETS` and each
installed language.

``python -m mtbias.adapters.lm_eval_tasks FOLDER`` writes the folder for the harness's
``--include_path``. Settings of `mtbias.score`, and ``out`` for the folder of the run, go into
``--metadata '{"mtbias": {…}}'``.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mtbias.adapters.benchmark import DATASETS, KEYS, Benchmark, numbers
from mtbias.entry_points import installed
from mtbias.files.writing import make_folder, write_atomic

BASE = Path(__file__).with_name("lm_eval_task.yaml")


class Answered(NamedTuple):
    """An answer to a sentence of a benchmark."""

    dataset: str
    lang: str
    options: str
    id: str
    answer: str


def write_tasks(folder: Path) -> list[str]:
    """Write a file for each task into a folder, and return the tasks' names.

    Raises:
        RunFolderError: it cannot be written.
    """
    make_folder(folder)
    names = []
    for dataset in DATASETS:
        for lang in installed("mtbias.languages"):
            names.append(f"mtbias_{dataset.replace('-', '_')}_{lang}")
            task = {
                "include": str(BASE),
                "task": names[-1],
                "metadata": {"version": 1, "dataset": dataset, "lang": lang},
            }
            # JSON is YAML, too.
            write_atomic(folder / f"{names[-1]}.yaml", json.dumps(task).encode())
    return names


def documents(
    dataset: str, lang: str, mtbias: Mapping[str, Any] | None = None, **_: object
) -> dict[str, Any]:
    """The sentences of a task as the harness's documents."""
    from datasets import Dataset

    benchmark = Benchmark(dataset, lang, json.dumps(mtbias or {}))
    common = asdict(benchmark)
    questions = benchmark.questions().items()
    rows = [{**common, "id": id_, "question": question} for id_, question in questions]
    return {"test": Dataset.from_list(rows)}


def answered(document: Mapping[str, str], answers: Sequence[str]) -> dict[str, Answered]:
    """A document and its answer, as the harness passes them to each number."""
    row = Answered(
        document["dataset"], document["lang"], document["options"], document["id"], answers[0]
    )
    return dict.fromkeys(KEYS, row)


def _number(rows: Sequence[Answered], *, key: str) -> float:
    """A number of all answers of a task; NaN where it is undefined."""
    benchmark = Benchmark(rows[0].dataset, rows[0].lang, rows[0].options)
    run = benchmark.score({row.id: row.answer for row in rows})
    value = numbers(run)[key]
    return math.nan if value is None else float(value)


accuracy, delta_g, delta_s = (partial(_number, key=key) for key in KEYS)

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write_tasks(Path(sys.argv[1]))
