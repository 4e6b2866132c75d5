"""``mtbias submit``."""

from __future__ import annotations

from mtbias.cli.shared import Count, Flag, SweepFile


def command(file: SweepFile, /, *, dry_run: Flag = False, max_parallel: Count | None = None) -> None:
    """Submit the tasks of a sweep that are neither done nor queued to a Slurm cluster, as job arrays.

    Needs the extra mtbias[slurm]. Run it on a login node; the file and the folders that it names must be the same on
    all nodes. Jobs run with the network cut off: `mtbias fetch --sweep FILE` downloads what they need. `mtbias status
    FILE` shows how far they are.

    Parameters
    ----------
    dry_run
        Print the plan and what would be submitted, and stop.
    max_parallel
        Tasks of an array that may run at once (default: the file's, else all).
    """
    from mtbias.cluster.inventory import refuse_missing
    from mtbias.cluster.plan_table import plan_text
    from mtbias.cluster.slurm import queue_states, submission_device, submission_lock, submit, to_submit
    from mtbias.cluster.sweep_file import read_sweep
    from mtbias.cluster.sweep_tasks import make_plan

    plan = make_plan(read_sweep(file))
    device = submission_device(plan)
    print(plan_text(plan, gpu=device == "cuda"))
    if dry_run:
        for array in to_submit(plan, list(queue_states(plan.sweep.out))):
            print(f"would submit {len(array.tasks)} × {array.kind}")
        return
    refuse_missing(plan.sweep, file)
    with submission_lock(plan.sweep.out):
        queue = queue_states(plan.sweep.out)
        arrays = to_submit(plan, list(queue))
        submit(plan, file.resolve(), arrays, device=device, max_parallel=max_parallel, say=print)
    if queue:
        print(f"{len(queue)} tasks are in the queue already")
    print(f"`mtbias status {file}` shows how far it is" if arrays or queue else "nothing is left to submit")
