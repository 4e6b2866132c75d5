"""``mtbias sweep``."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from cyclopts import Parameter

from mtbias.cli.shared import Count, Flag, SweepFile
from mtbias.cluster.local_processes import sweep


def command(
    file: SweepFile,
    /,
    *,
    changes: Annotated[list[str] | None, Parameter(name="--set")] = None,
    dry_run: Flag = False,
    list_tasks: Annotated[Flag, Parameter(name="--tasks")] = False,
    task: str | None = None,
    gpus: Count | None = None,
    jobs: Count | None = None,
    device: Literal["auto", "cpu", "cuda"] | None = None,
) -> None:
    """Run many models, languages and data sets on this machine, and write the table of the paper.

    The plan is printed first. Finished tasks are skipped; a failed task does not stop the others.
    On a Slurm cluster use `mtbias submit`.

    Parameters
    ----------
    changes
        KEY=VALUE in place of a setting of the file, such as models=opus-mt,m2m100 or
        slurm.partition=gpu; one or several. Relative paths start at the current folder. The sweep
        as it runs is then written to OUT/sweep.toml.
    dry_run
        Print the plan and stop.
    list_tasks
        Print the names of all tasks and stop.
    task
        Run only this task, in this process; - reads names of tasks from standard input, one a line,
        and writes their logs into OUT/logs.
    gpus
        GPUs, each with one process that translates, while scores are computed on the CPU (default:
        1 if the sweep translates on a GPU).
    jobs
        Processes on the CPU (default: 1; beside GPUs one for every 4 cores).
    device
        Where to translate (default: the file's, else a GPU where there is one).
    """
    sweep(
        file,
        changes or (),
        dry_run=dry_run,
        list_tasks=list_tasks,
        task=task,
        device=device,
        gpus=gpus or 0,
        jobs=jobs,
        say=partial(print, flush=True),
    )
