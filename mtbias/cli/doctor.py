"""``mtbias doctor``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from mtbias.cli.shared import Flag, Json, print_json
from mtbias.cluster.inventory import Check, as_lines, examine
from mtbias.cluster.sweep_file import read_sweep
from mtbias.errors import MissingResourceError, SettingError


def command(
    *,
    sweep_file: Annotated[Path | None, Parameter(name="--sweep")] = None,
    no_demo: Flag = False,
    cache_dir: Path | None = None,
    json: Json = False,
) -> None:
    """Check versions, devices, models and data on this machine.

    The demo is run, too. The exit code is 1 where something needed is missing.

    Parameters
    ----------
    sweep_file
        A sweep's file: look for all that it needs.
    no_demo
        Do not run the demo.
    cache_dir
        mtbias's cache.
    """
    if sweep_file is not None and cache_dir is not None:
        raise SettingError("cache_dir", f"the sweep's file says where its cache is (cache_dir in {sweep_file})")
    sweep = None if sweep_file is None else read_sweep(sweep_file)
    checks: list[Check] = []

    def done() -> Iterator[Check]:
        for check in examine(sweep, cache=cache_dir, demo=not no_demo):
            checks.append(check)
            yield check

    if json:
        print_json([asdict(check) for check in done()])
    else:
        for line in as_lines(done()):
            print(line, end="", flush=True)
    wrong = [check for check in checks if not check.ok]
    if wrong:
        raise MissingResourceError(
            f"{len(wrong)} {'thing is' if len(wrong) == 1 else 'things are'} missing or wrong, the first: "
            f"{wrong[0].name}: {wrong[0].found}"
        )
