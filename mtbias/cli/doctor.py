"""What is on this machine and what is missing: versions, devices, models, data. Runs the demo, too.

With --sweep FILE: all that the sweep needs. Exit code 1 where something needed is missing.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from mtbias.errors import MissingResourceError, UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--sweep", type=Path, metavar="FILE", help="look for all that this sweep needs")
    parser.add_argument("--no-demo", action="store_true", help="do not run the demo")
    parser.add_argument("--cache-dir", type=Path, metavar="DIR", help="mtbias's cache")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> None:
    """Examine, and print."""
    from mtbias.cluster.machine_checks import as_text, examine
    from mtbias.cluster.sweep_file import read_sweep

    if args.sweep is not None and args.cache_dir is not None:
        raise UsageError(f"--cache-dir: the sweep's file says where its cache is (cache_dir in {args.sweep})")
    sweep = None if args.sweep is None else read_sweep(args.sweep)
    checks = examine(sweep, cache=args.cache_dir, demo=not args.no_demo)
    if args.json:
        print(json.dumps([check.to_json() for check in checks], ensure_ascii=False, indent=1))
    else:
        print(as_text(checks), end="")
    wrong = [check for check in checks if check.wrong]
    if wrong:
        raise MissingResourceError(
            f"{len(wrong)} things are missing or wrong, the first: {wrong[0].name}: {wrong[0].found}"
        )
