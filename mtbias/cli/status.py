"""How far a sweep is: what is done, running, queued, failed and left. Works with and without Slurm."""

from __future__ import annotations

import argparse
import json
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", type=Path, metavar="FILE", help="the sweep, a TOML file")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> None:
    """Look, and print."""
    from mtbias.cluster.sweep_file import read_sweep
    from mtbias.cluster.sweep_status import status_json, status_text, sweep_status
    from mtbias.cluster.sweep_tasks import make_plan

    found = sweep_status(make_plan(read_sweep(args.file)))
    if args.json:
        print(json.dumps(status_json(found), ensure_ascii=False, indent=1))
        return
    print(status_text(found), end="")
