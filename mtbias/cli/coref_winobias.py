"""CoNLL F1 and link accuracy on WinoBias, pro against anti.

--data is the folder of WinoBias's files (wino/data in its repository): the CoNLL files, there or in conll_format, and
the lists of male and female occupations.

--predictions is CoNLL-2012, or JSONL: {"id": "…", "clusters": [[[start, end], …], …]}, ids and tokens as in the data's
CoNLL files, both ends included; several files, or a folder of them. A set without any prediction is left out; a single
document without one counts as without clusters, as in the shared task's scorer. An unknown id is an error.

Avg and |Diff| as in the paper. p is two-sided and paired over the lines of the pro and anti file: approximate
randomisation for F1, McNemar's exact test for link accuracy. Intervals: 95 %, bootstrap over sentences (the difference:
over pairs), Wilson's for link accuracy.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtbias.cli import options
from mtbias.report.tables import UNDEFINED, columns, interval, number

if TYPE_CHECKING:
    from mtbias.coref.winobias import WinoBiasScores
    from mtbias.coref.winobias_data import WinoBias

BASELINES = ("first", "nearest", "stereotype", "perfect", "empty", "wrong")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder of WinoBias's files")
    system = parser.add_mutually_exclusive_group(required=True)
    system.add_argument(
        "--predictions", type=Path, action="append", metavar="PATH",
        help="CoNLL-2012 or JSONL, or a folder of such files; may be given several times",
    )  # fmt: skip
    system.add_argument(
        "--baseline", choices=BASELINES,
        help="a rule system instead: all pronouns with the first occupation, the nearest before them, the nearest of "
        "the pronoun's gender by stereotype; the gold clusters, none, or the gold pronouns with another occupation",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=options.at_least_0, default=0, metavar="N", help="seed of intervals and tests (default: 0)"
    )
    parser.add_argument(
        "--resamples", type=options.at_least_0, default=10_000, metavar="N",
        help="resamples of bootstrap and randomisation (default: 10000)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON alone; all but p in per cent")


def run(args: argparse.Namespace) -> None:
    """Score and print."""
    from mtbias.coref.predicted_clusters import read_predictions, signature
    from mtbias.coref.winobias import score_baseline, score_winobias
    from mtbias.coref.winobias_data import Baseline, read_winobias

    data = read_winobias(args.data)
    files = {"data": data.files}
    facts: dict[str, Any] = {"repeated_mentions": 0}
    if args.baseline:
        scores = score_baseline(data, Baseline(args.baseline), seed=args.seed, resamples=args.resamples)
    else:
        predictions = read_predictions(*args.predictions)
        scores = score_winobias(data, predictions, seed=args.seed, resamples=args.resamples)
        files["predictions"] = predictions.files
        facts["repeated_mentions"] = predictions.repeated
    facts["sets_without_predictions"] = [_name(*key) for key in data.sets if key not in scores.sets]
    system = {"system": args.baseline} if args.baseline else {}
    signed = signature(
        "winobias", files, **system, f1="conll-v8.01", link="first-pronoun", test="randomisation+mcnemar",
        resamples=args.resamples, seed=args.seed,
    )  # fmt: skip
    if args.json:
        print(json.dumps({**scores.to_json(), **facts, "files": files, "signature": signed}, ensure_ascii=False))
    else:
        print(_table(data, scores, facts), end="")
        print(f"Signature: {signed}")


def _name(split: str, type_: int, condition: str = "") -> str:
    return f"{split} type {type_} {condition}".strip()


def _table(data: WinoBias, scores: WinoBiasScores, facts: dict[str, Any]) -> str:
    header = ["set", "n", "MUC", "B³", "CEAFe", "F1", "95 %", "link acc.", "95 %", "right", "wrong", "both", "none"]
    rows = []
    for key, one in scores.sets.items():
        f1 = [number(part.f1) for part in (one.coref.muc, one.coref.b3, one.coref.ceafe)]
        links = [str(n) for n in one.links.values()]
        rows.append([
            _name(*key), str(one.coref.documents), *f1, number(one.coref.conll), interval(one.f1.interval, 1),
            number(one.link_accuracy.value), interval(one.link_accuracy.interval, 1), *links,
        ])  # fmt: skip
    parts = [columns(header, rows)]
    rows = []
    for (split, type_), pair in scores.pairs.items():
        for what, one_ in (("F1", pair.f1), ("link", pair.link)):
            p = UNDEFINED if one_.p is None else f"{one_.p:.4f}" if one_.p >= 0.0001 else "<.0001"
            values = [number(value) for value in (one_.first, one_.second, one_.average, one_.absolute)]
            rows.append([_name(split, type_, what), *values, interval(one_.interval), p])
    if rows:
        parts.append(columns(["", "pro", "anti", "Avg", "|Diff|", "pro − anti, 95 %", "p"], rows))
    notes = [
        f"{_name(*key)}: {len(pair.differing)} of {pair.n_pairs} pairs differ in other words or in gold mentions too"
        for key, pair in scores.pairs.items()
    ]
    notes += [
        f"{_name(*key)}: {one.missing} of {one.coref.documents} sentences have no prediction and count as no clusters"
        for key, one in scores.sets.items()
        if one.missing
    ]
    if facts["repeated_mentions"]:
        notes.append(f"{facts['repeated_mentions']} mentions stand in a cluster already and are left out of F1")
    if facts["sets_without_predictions"]:
        notes.append(f"without any prediction: {', '.join(facts['sets_without_predictions'])}")
    if len(data.sets) < 8:
        notes.append(f"{8 - len(data.sets)} of WinoBias's 8 files are not in the folder")
    return "\n".join(parts) + "\n" + "".join(f"{note}\n" for note in notes)
