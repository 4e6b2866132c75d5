"""Compare finished runs: whether systems differ in accuracy, ΔG and ΔS, and how much of ΔG and ΔS is the data's doing.

RUN is a folder that `mtbias score --out` or `mtbias eval --out` wrote. All runs are on one corpus; those of one
language are compared in pairs, with paired bootstrap intervals, randomisation tests corrected by Holm over all pairs
of all languages, and McNemar's table. With --weighted one run is enough.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mtbias.cli import options
from mtbias.errors import UsageError

if TYPE_CHECKING:
    from mtbias.runs import FinishedRun

_FORMATS = ("text", "json", "markdown", "csv", "latex")
_PROPERTIES = ("pronouns", "distance", "length", "domain")
_HERE = "-"
"""What --rows has without a file."""
_ALL = "all"
"""What --weighted has without properties."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folder of a finished run")
    parser.add_argument(
        "--name", action="append", default=[], metavar="NAME",
        help="name of a system, once for each RUN in their order (default: the name that the run has)",
    )  # fmt: skip
    parser.add_argument(
        "--weighted", nargs="?", const=_ALL, metavar="PROPERTY,…",
        help=f"weighted ΔG and ΔS too, balanced over these of {', '.join(_PROPERTIES)} (default: all that vary)",
    )  # fmt: skip
    parser.add_argument(
        "--rows", nargs="?", const=_HERE, metavar="FILE",
        help="the sentences on which calls differ: above the tables, or in FILE (.csv, .jsonl, else text)",
    )  # fmt: skip
    parser.add_argument("--format", choices=_FORMATS, help="of the tables (default: text)")
    parser.add_argument("--json", action="store_true", help="the same as --format json; all numbers in per cent")
    parser.add_argument(
        "--resamples", type=options.at_least_0, default=2000, metavar="N",
        help="bootstrap resamples, and rearrangements of the test (default: 2000)",
    )  # fmt: skip
    parser.add_argument("--seed", type=options.at_least_0, default=0, metavar="N", help="of both (default: 0)")
    parser.add_argument(
        "--different-evaluators", action="store_true",
        help="compare runs although they were read by another release, plugin, aligner or Stanza; the table says so",
    )  # fmt: skip


def run(args: argparse.Namespace) -> None:
    """Compare and print."""
    form = _form(args)
    weighted = _weighted(args)
    if len(args.runs) < 2 and weighted is False:
        raise UsageError("expected two runs or more, got one; with --weighted one is enough")
    if args.name and len(args.name) != len(args.runs):
        raise UsageError(f"expected --name once for each of {len(args.runs)} runs, got it {len(args.name)} times")
    if args.rows == _HERE and form in {"csv", "latex", "markdown"}:
        raise UsageError(f"--rows needs a FILE with --format {form}")
    if args.rows is not None and Path(args.rows).is_dir():
        raise UsageError(f"expected a file after --rows, got the folder {args.rows}; give the runs first")

    from mtbias.metrics.comparison import compare_runs
    from mtbias.metrics.run_matching import differing_rows
    from mtbias.report.comparison_tables import render_comparison, render_rows
    from mtbias.runs import read_run

    runs: list[FinishedRun] = [read_run(path) for path in args.runs]
    compared = compare_runs(
        runs,
        weighted=weighted,
        n_resamples=args.resamples,
        seed=args.seed,
        names=args.name or None,
        different_evaluators=args.different_evaluators,
    )
    if args.rows is None:
        print(render_comparison(compared, form), end="")
        return
    rows = list(differing_rows(runs, names=args.name or None, different_evaluators=args.different_evaluators))
    if args.rows == _HERE and form == "json":
        import json

        print(json.dumps({**compared.to_json(), "differing": [row.to_json() for row in rows]}, ensure_ascii=False))
        return
    table = render_comparison(compared, form)
    if args.rows == _HERE:
        print(f"{render_rows(rows)}\n{table}", end="")
        return
    path = Path(args.rows)
    _write(path, lambda: render_rows(rows, {".csv": "csv", ".jsonl": "jsonl"}.get(path.suffix, "text")))
    print(table, end="")


def _form(args: argparse.Namespace) -> str:
    if args.json and args.format not in {None, "json"}:
        raise UsageError(f"--json and --format {args.format} exclude each other")
    return "json" if args.json else args.format or "text"


def _weighted(args: argparse.Namespace) -> bool | list[str]:
    if args.weighted is None:
        return False
    if args.weighted == _ALL:
        return True
    names = list(dict.fromkeys(args.weighted.split(",")))
    for name in names:
        if name not in _PROPERTIES:
            raise UsageError(
                f"--weighted: expected properties of {', '.join(_PROPERTIES)} with commas between, got {name!r}; "
                "give the runs first"
            )
    return names


def _write(path: Path, text: Callable[[], str]) -> None:
    from mtbias.files.writing import write_atomic

    write_atomic(path, text().encode())
