"""Submit a sweep to Slurm as job arrays: what is neither done nor queued. Needs the extra mtbias[slurm].

Run it on a login node; FILE and the folders that it names must be the same on all nodes. Jobs run with the network
cut off: `mtbias fetch --sweep FILE` brings what they need. `mtbias status FILE` shows how far they are.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from mtbias.cli import options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", type=Path, metavar="FILE", help="the sweep, a TOML file")
    parser.add_argument("--dry-run", action="store_true", help="print the plan and what would be submitted, and stop")
    parser.add_argument(
        "--max-parallel",
        type=options.at_least_1,
        metavar="N",
        help="tasks of an array that may run at once (default: the file's, else all)",
    )


def run(args: argparse.Namespace) -> None:
    """Print the plan; submit what is left."""
    from mtbias.cluster.inventory import refuse_missing
    from mtbias.cluster.plan_table import plan_text
    from mtbias.cluster.slurm import queue_states, submission_device, submission_lock, submit, to_submit
    from mtbias.cluster.sweep_file import read_sweep
    from mtbias.cluster.sweep_tasks import make_plan

    plan = make_plan(read_sweep(args.file))
    device = submission_device(plan)
    print(plan_text(plan, gpu=device == "cuda"))
    if args.dry_run:
        for array in to_submit(plan, list(queue_states(plan.sweep.out))):
            print(f"would submit {len(array.tasks)} × {array.kind}")
        return
    refuse_missing(plan.sweep, args.file)
    with submission_lock(plan.sweep.out):
        queue = queue_states(plan.sweep.out)
        arrays = to_submit(plan, list(queue))
        submit(plan, args.file.resolve(), arrays, device=device, max_parallel=args.max_parallel, say=print)
    if queue:
        print(f"{len(queue)} tasks are in the queue already")
    print(f"`mtbias status {args.file}` shows how far it is" if arrays or queue else "nothing is left to submit")
