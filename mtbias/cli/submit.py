"""``mtbias submit``."""

from __future__ import annotations

from mtbias.cli.shared import Count, Flag, SweepFile
from mtbias.cluster.slurm import submit_sweep


def command(
    file: SweepFile, /, *, dry_run: Flag = False, max_parallel: Count | None = None
) -> None:
    """Submit the tasks of a sweep that are neither done nor queued to a Slurm cluster, as job
    arrays.

    Needs the extra mtbias[slurm]. Run it on a login node; the file and the folders that it names
    must be the same on all nodes. Jobs run with the network cut off: `mtbias fetch --sweep FILE`
    downloads what they need. `mtbias status FILE` shows how far they are.

    Parameters
    ----------
    dry_run
        Print the plan and the jobs, and stop.
    max_parallel
        Tasks of an array that may run at once (default: the file's, else all).
    """
    submit_sweep(file, dry_run=dry_run, max_parallel=max_parallel, say=print)
