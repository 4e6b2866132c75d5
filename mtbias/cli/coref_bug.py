"""Accuracy and its gaps on BUG, by distance, number of pronouns and domain.

--data is a file of BUG (gold_BUG.csv and the others, in either version) or a folder with gold_BUG.csv.

--predictions is JSONL: {"id": 0, "clusters": [[[start, end], …], …]}, or CoNLL-2012. The id is the number of the row in
the file, from 0; indices count the sentence's words between single spaces, after blanks around it are cut; both ends
are included. Every row that has a sentence needs a prediction.

A row is correct if a cluster contains both the profession and the pronoun. ΔG is the accuracy of male less that of
female rows, ΔS that of stereotypical less that of anti-stereotypical rows: not the ΔG of machine translation.
Intervals: 95 %, Wilson's for accuracy, bootstrap over rows for the differences.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from mtbias.cli import options
from mtbias.report.tables import columns, interval, number

if TYPE_CHECKING:
    from mtbias.coref.bug_links import Bug, BugScores


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--data", type=Path, required=True, metavar="PATH", help="file of BUG, or its folder")
    parser.add_argument(
        "--predictions", type=Path, action="append", required=True, metavar="PATH",
        help="JSONL or CoNLL-2012, or a folder of such files; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=options.at_least_0, default=0, metavar="N", help="seed of the intervals (default: 0)"
    )
    parser.add_argument(
        "--resamples", type=options.at_least_0, default=10_000, metavar="N", help="bootstrap resamples (default: 10000)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON alone; in per cent and points")


def run(args: argparse.Namespace) -> None:
    """Score and print."""
    from mtbias.coref.bug_links import read_bug, score_bug
    from mtbias.coref.predicted_clusters import read_predictions, signature

    data = read_bug(args.data)
    predictions = read_predictions(*args.predictions)
    scores = score_bug(data, predictions, seed=args.seed, resamples=args.resamples)
    files = {"data": {data.path.name: data.sha256}, "predictions": predictions.files}
    signed = signature(
        "bug", files, contains="inclusive", bin="floor(distance/5)", resamples=args.resamples, seed=args.seed
    )
    if args.json:
        facts = {
            "n": len(data.rows), "rows_without_sentence": data.skipped, "rows_misplaced": data.misplaced,
        }  # fmt: skip
        print(json.dumps({**scores.to_json(), **facts, "files": files, "signature": signed}, ensure_ascii=False))
        return
    print(_table(scores))
    for note in _notes(data, scores):
        print(note)
    print(f"Signature: {signed}")


def _table(scores: BugScores) -> str:
    header = ["", "n", "accuracy", "95 %", "ΔG", "95 %", "male/female", "ΔS", "95 %", "pro/anti"]
    groups = [("all", scores.overall)]
    groups += [(f"distance {bin_}", group) for bin_, group in scores.by_distance.items()]
    groups += [(f"pronouns {n}", group) for n, group in scores.by_pronouns.items()]
    groups += [(domain, group) for domain, group in scores.by_domain.items()]
    rows = []
    for name, group in groups:
        sides = f"{group.male.n}/{group.female.n}", f"{group.stereotypical.n}/{group.anti.n}"
        accuracy, gap_g, gap_s = (
            (number(one.value, 1), interval(one.interval, 1)) for one in (group.accuracy, group.delta_g, group.delta_s)
        )
        rows.append([name, str(group.all.n), *accuracy, *gap_g, sides[0], *gap_s, sides[1]])
    return columns(header, rows)


def _notes(data: Bug, scores: BugScores) -> list[str]:
    notes = []
    if data.skipped:
        notes.append(f"without a sentence, left out: {len(data.skipped)} of {len(data.rows) + len(data.skipped)} rows")
    if any(data.misplaced.values()):
        counts = ", ".join(f"{n} {kind}" for kind, n in data.misplaced.items() if n)
        notes.append(f"with another word at an index, counted: {sum(data.misplaced.values())} rows ({counts})")
    if scores.several:
        notes.append(f"linked by more than one cluster, counted once: {scores.several} rows")
    return notes
