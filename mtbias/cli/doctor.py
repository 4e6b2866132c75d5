"""``mtbias doctor``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from mtbias.cli.shared import Json, print_json
from mtbias.cluster.inventory import as_text, examine
from mtbias.cluster.sweep_file import read_sweep
from mtbias.errors import MissingResourceError


def command(*, sweep: Path | None = None, json: Json = False) -> None:
    """Check versions, devices and network on this machine, and the models and data of a sweep.

    The exit code is 1 if something needed is missing.

    Parameters
    ----------
    sweep
        File of a sweep, all of whose models and data are checked.
    """
    checks = list(examine(None if sweep is None else read_sweep(sweep)))
    if json:
        print_json([asdict(check) for check in checks])
    else:
        print(as_text(checks), end="")
    wrong = [check for check in checks if not check.ok]
    if wrong:
        things = "thing is" if len(wrong) == 1 else "things are"
        raise MissingResourceError(
            f"{len(wrong)} {things} missing or wrong, the first: {wrong[0].name}: {wrong[0].found}"
        )
