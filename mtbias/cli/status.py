"""``mtbias status``."""

from __future__ import annotations

from mtbias.cli.shared import Json, SweepFile, print_json
from mtbias.cluster.sweep_file import read_sweep
from mtbias.cluster.sweep_status import status_json, status_text, sweep_status
from mtbias.cluster.sweep_tasks import make_plan


def command(file: SweepFile, /, *, json: Json = False) -> None:
    """Show which tasks of a sweep are done, running, failed or left, with or without Slurm."""
    status = sweep_status(make_plan(read_sweep(file)))
    if json:
        print_json(status_json(status))
    else:
        print(status_text(status), end="")
