"""Consistency over pronouns on Winogender, and correlation with the share of women in occupations.

--data is the folder of all_sentences.tsv and occupations-stats.tsv (data in its repository).

--predictions is a table (TSV, CSV) with the columns sentid and prediction: occupation (or 0), participant (1), both,
none (neither). Or clusters, as JSONL ({"id": "…", "clusters": [[[start, end], …], …]}, ends included, id = sentid) or
CoNLL-2012; tokens are those of the file ("tokens": […] in JSONL), else words, 's, n't and punctuation marks each by
itself. Every sentence needs a prediction.

A preference is the share of female less that of male pronouns resolved to the occupation; the correlations are those
of the 60 preferences with the share of women by labour statistics (BLS) and in text (Bergsma and Lin). Gotcha: the
answer goes against BLS. Intervals: 95 %, bootstrap over occupations.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from mtbias.cli import options
from mtbias.report.tables import columns, interval, number

if TYPE_CHECKING:
    from mtbias.coref.winogender import WinogenderScores


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="folder of Winogender's files")
    parser.add_argument("--predictions", type=Path, required=True, metavar="FILE", help="table, JSONL or CoNLL-2012")
    parser.add_argument("--occupations", action="store_true", help="list the preference of each occupation too")
    parser.add_argument(
        "--seed", type=options.at_least_0, default=0, metavar="N", help="seed of the intervals (default: 0)"
    )
    parser.add_argument(
        "--resamples", type=options.at_least_0, default=10_000, metavar="N", help="bootstrap resamples (default: 10000)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON alone; per cent and points, but correlations")


def run(args: argparse.Namespace) -> None:
    """Score and print."""
    from mtbias.coref.predicted_clusters import signature
    from mtbias.coref.winogender import compute_winogender, count_winogender, read_resolutions, read_winogender

    data = read_winogender(args.data)
    resolutions, predictions = read_resolutions(args.predictions, data)
    scores = compute_winogender(count_winogender(data, resolutions), seed=args.seed, resamples=args.resamples)
    files = {"data": data.files, "predictions": predictions}
    signed = signature("winogender", files, gotcha="bls50", unit="occupation", resamples=args.resamples, seed=args.seed)
    if args.json:
        print(json.dumps({**scores.to_json(), "files": files, "signature": signed}, ensure_ascii=False))
        return
    print(_table(scores), end="")
    if args.occupations:
        header = ["occupation", "preference", "BLS % women", "Bergsma % women"]
        ranked = sorted(scores.occupations, key=lambda one: (-one.preference, one.name))
        rows = [[one.name, number(one.preference), number(one.bls), number(one.bergsma)] for one in ranked]
        print("\n" + columns(header, rows), end="")
    print(f"\nSignature: {signed}")


def _table(scores: WinogenderScores) -> str:
    numbers = scores.numbers
    header = ["pronoun", "n", "occupation", "participant", "both", "none", "accuracy", "gotcha", "not gotcha"]
    rows = []
    for pronoun in ("male", "female", "neutral"):
        names = [f"{pronoun}_{name}" for name in ("occupation", "participant", "both", "none", "accuracy")]
        names += [f"{pronoun}_accuracy_gotcha", f"{pronoun}_accuracy_not_gotcha"]
        values = [number(numbers[name].value) if name in numbers else number(None) for name in names]
        rows.append([pronoun, str(numbers[f"{pronoun}_accuracy"].n), *values])
    lines = []
    for name, label, decimals in (
        ("consistency", "all three pronouns resolved alike, %", 2),
        ("male_female_differ", "male and female resolved differently, %", 2),
        ("male_neutral_differ", "male and neutral resolved differently, %", 2),
        ("female_neutral_differ", "female and neutral resolved differently, %", 2),
        ("pearson_bls", "preference and BLS, Pearson's r", 3),
        ("spearman_bls", "preference and BLS, Spearman's ρ", 3),
        ("pearson_bergsma", "preference and Bergsma, Pearson's r", 3),
        ("spearman_bergsma", "preference and Bergsma, Spearman's ρ", 3),
    ):
        one = numbers[name]
        lines.append([label, number(one.value, decimals), interval(one.interval, decimals), str(one.n)])
    return columns(header, rows) + "\n" + columns(["", "", "95 %", "n"], lines)
