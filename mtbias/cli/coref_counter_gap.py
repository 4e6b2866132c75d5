"""Accuracy and inconsistency on Counter-GAP.

FILE has a system's labels, tab-separated: id, A-coref, B-coref (TRUE or FALSE). --data is the data set, C-GAP.tsv.
Both must have the same instances. --predictions may be given several times; each further system is then compared with
the first by paired approximate randomisation. Numbers are in per cent, except ρ.

p of a difference is the share of bootstrap resamples of quadruples in which it is 0 or less; p of ρ is Student's.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtbias.cli import options

if TYPE_CHECKING:
    from mtbias.coref.counter_gap import CounterGapScores
    from mtbias.stats.results import Difference


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--data", type=Path, required=True, metavar="FILE", help="Counter-GAP, C-GAP.tsv")
    parser.add_argument(
        "--predictions", type=Path, action="append", required=True, metavar="FILE",
        help="a system's labels; may be given several times",
    )  # fmt: skip
    parser.add_argument("--seed", type=options.at_least_0, default=0, metavar="N", help="of the bootstrap (default: 0)")
    parser.add_argument(
        "--resamples", type=options.at_least_0, default=10000, metavar="N", help="bootstrap resamples (default: 10000)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON alone")


def run(args: argparse.Namespace) -> None:
    """Score and print."""
    import numpy as np

    from mtbias.coref.counter_gap import compare, pattern_cells, quadruples, score
    from mtbias.coref.gap_instances import read_instances, read_labels
    from mtbias.coref.predicted_clusters import signature

    file = read_instances(args.data)
    data = quadruples(file)
    systems, cells = [], []
    hashes: dict[Path, str] = {}
    for path in args.predictions:
        labels = read_labels(path)
        cells.append(pattern_cells(data, labels.of, path=path))
        table = np.bincount(cells[-1], minlength=32).reshape(2, 16)
        systems.append(score(table, n_resamples=args.resamples, rng=np.random.default_rng(args.seed)))
        hashes[path] = labels.sha256
    compared = [
        compare(cells[0], other, n_resamples=args.resamples, rng=np.random.default_rng(args.seed))
        for other in cells[1:]
        if args.resamples
    ]
    files = {"data": {args.data.name: file.sha256}, "predictions": {str(p): h for p, h in hashes.items()}}
    signed = signature(
        "counter-gap", files, correct="both-labels", unit="quadruple", seed=args.seed, resamples=args.resamples
    )
    names = [str(path) for path in args.predictions]
    if args.json:
        print(json.dumps(_to_json(names, systems, compared, signed), ensure_ascii=False))
    else:
        print(_text(names, systems, compared, signed), end="")


def _to_json(
    names: list[str], systems: list[CounterGapScores], compared: list[dict[str, Difference]], signature: str
) -> dict[str, Any]:
    return {
        "dataset": "counter-gap",
        "systems": [
            {
                "predictions": name,
                "n_quadruples": s.n_quadruples,
                "n_masculine": s.n_masculine,
                "n_feminine": s.n_feminine,
                "n_resamples": s.n_resamples,
                "numbers": {
                    key: {"value": e.value, "n": e.n, "interval": e.interval, "p": e.p} for key, e in s.numbers.items()
                },
            }
            for name, s in zip(names, systems, strict=True)
        ],
        "compared_with_first": [
            {
                "predictions": name,
                "numbers": {key: {"difference": c.difference, "p": c.p} for key, c in comparison.items()},
            }
            for name, comparison in zip(names[1:], compared, strict=False)
        ],
        "signature": signature,
    }


def _text(
    names: list[str], systems: list[CounterGapScores], compared: list[dict[str, Difference]], signature: str
) -> str:
    from mtbias.coref.counter_gap import METRICS
    from mtbias.report.tables import columns, interval, number

    blocks = []
    for name, s in zip(names, systems, strict=True):
        rows = []
        for key, e in s.numbers.items():
            decimals = 3 if key == "rho" else 2
            p = "" if e.p is None else number(e.p, 4)
            rows.append([METRICS[key], number(e.value, decimals), interval(e.interval, decimals), p, str(e.n)])
        head = f"{name}: {s.n_quadruples} quadruples, {s.n_masculine} masculine, {s.n_feminine} feminine\n"
        blocks.append(head + columns(["", "", "95 %", "p", "n"], rows))
    for name, comparison in zip(names[1:], compared, strict=False):
        rows = [
            [METRICS[key].strip() if key != "acc_diff" else "accuracy, M - F", number(c.difference), number(c.p, 4)]
            for key, c in comparison.items()
        ]
        blocks.append(f"{names[0]} minus {name}\n" + columns(["", "difference", "p"], rows))
    return "\n".join(blocks) + f"\nSignature: {signature}\n"
