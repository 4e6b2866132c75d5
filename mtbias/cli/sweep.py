"""``mtbias sweep``."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from cyclopts import Parameter

from mtbias.cli.shared import Count, Flag, SweepFile
from mtbias.cluster.local_processes import sweep
from mtbias.cluster.sweep_file import is_of_coreference
from mtbias.errors import SettingError


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

    A file with a table [training] is a sweep of coreference: it trains systems on documents and
    copies of them, and scores them on data sets of bias.

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
    if is_of_coreference(file):
        if gpus or device:
            option = "gpus" if gpus else "device"
            message = "expected none with a sweep of coreference: --set training.device=cuda"
            raise SettingError(option, message)
        from mtbias.cluster.coref_sweep import coref_sweep

        coref_sweep(
            file,
            changes or (),
            dry_run=dry_run,
            list_tasks=list_tasks,
            task=task,
            jobs=jobs or 1,
            say=partial(print, flush=True),
        )
        return
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
