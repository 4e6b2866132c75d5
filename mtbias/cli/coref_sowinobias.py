"""The SoWinoBias test set and its scores.

--out writes the test set, a JSON object a line: id, text, tokens, direction (pro, anti), polarity (positive, negative),
and the mentions first, second, pronoun ([start, end] in tokens, ends included). --predictions scores a system's
clusters (JSONL with the same ids, or CoNLL-2012). Either or both.

--vocabulary is a TOML file with the lists male_occupations, female_occupations, positive_adjectives and
negative_adjectives, 16 words each in the paper (its appendix A). Without it our own lists serve, an example whose
numbers are not the paper's. --n polarity takes all sentences (4096 in each direction and polarity with lists of 16),
--n total half of them (4096 in each direction); the paper's "n = 4096" may mean either.

"they" is right where it shares a cluster with the second person alone; with both, none or the first it is wrong. The
accuracy of those with one person alone stands beside it (decided). Numbers are in per cent.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtbias.cli import options
from mtbias.errors import UsageError

if TYPE_CHECKING:
    from mtbias.coref.sowinobias import SoWinoBiasScores, SoWinoBiasSentence


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the test set (JSONL)")
    parser.add_argument("--predictions", type=Path, metavar="FILE", help="a system's clusters (JSONL or CoNLL-2012)")
    parser.add_argument("--vocabulary", type=Path, metavar="FILE", help="the four lists (default: our own, an example)")
    parser.add_argument(
        "--n", default="polarity", choices=("polarity", "total"), help="what 4096 counts (default: polarity)"
    )
    parser.add_argument("--no-full-stop", action="store_true", help="sentences without a full stop")
    parser.add_argument("--seed", type=options.at_least_0, default=0, metavar="N", help="of the bootstrap (default: 0)")
    parser.add_argument(
        "--resamples", type=options.at_least_0, default=2000, metavar="N", help="bootstrap resamples (default: 2000)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON alone")


def run(args: argparse.Namespace) -> None:
    """Write the test set, score, print."""
    import numpy as np

    from mtbias.coref.predicted_clusters import read_predictions, signature
    from mtbias.coref.sowinobias import (
        Reading,
        count,
        example_vocabulary,
        generate,
        read_vocabulary,
        score,
        sentences_sha256,
    )
    from mtbias.files.writing import write_atomic

    if args.out is None and args.predictions is None:
        raise UsageError("give --out FILE to write the test set, --predictions FILE to score, or both")
    vocabulary = read_vocabulary(args.vocabulary) if args.vocabulary else example_vocabulary()
    sentences = generate(vocabulary, reading=Reading(args.n), full_stop=not args.no_full_stop)
    if args.out is not None:
        write_atomic(args.out, (json.dumps(_row(s), ensure_ascii=False) for s in sentences))
    files = {"vocabulary": {"vocabulary": vocabulary.sha256}, "sentences": {"sentences": sentences_sha256(sentences)}}
    said: dict[str, object] = {
        "list": "given" if args.vocabulary else "example",
        "n": args.n,
        "full-stop": "no" if args.no_full_stop else "yes",
    }
    result: dict[str, Any] = {"dataset": "sowinobias", "sentences": len(sentences)}
    if args.out is not None:
        result["out"] = str(args.out)
    scores = None
    if args.predictions is not None:
        predictions = read_predictions(args.predictions)
        table = count(sentences, predictions)
        scores = score(table, n_resamples=args.resamples, rng=np.random.default_rng(args.seed))
        files["predictions"] = dict(predictions.files)
        said |= {"right": "second-person-alone", "seed": args.seed, "resamples": args.resamples}
        result |= scores.to_json()
    result["signature"] = signature("sowinobias", files, **said)
    print(json.dumps(result, ensure_ascii=False) if args.json else _text(result, scores))


def _row(sentence: SoWinoBiasSentence) -> dict[str, object]:
    return {
        "id": sentence.id,
        "text": sentence.text,
        "tokens": sentence.tokens,
        "direction": sentence.direction,
        "polarity": sentence.polarity,
        "first": sentence.first,
        "second": sentence.second,
        "pronoun": sentence.pronoun,
    }


def _text(result: dict[str, Any], scores: SoWinoBiasScores | None) -> str:
    from mtbias.report.tables import columns, interval, number

    lines = [f"{result['sentences']} sentences"]
    if "out" in result:
        lines.append(f"File: {result['out']}")
    if scores is not None:
        rows = []
        for name, by_direction in scores.accuracy.items():
            for direction, a in by_direction.items():
                counts = scores.outcomes.get(name, {}).get(direction, {})
                kinds = [str(counts[k]) if counts else "" for k in ("right", "wrong", "both", "none")]
                decided = number(scores.decided[name][direction].value)
                rows.append([f"{name}, {direction}", number(a.value), interval(a.interval), str(a.n), decided, *kinds])
        header = ["", "accuracy", "95 %", "n", "decided", "right", "wrong", "both", "none"]
        lines += ["", columns(header, rows)]
        rows = [
            [name, number(gap.average), number(gap.difference), interval(gap.interval), number(gap.p, 4)]
            for name, gap in scores.gaps.items()
        ]
        lines.append(columns(["", "average", "pro - anti", "95 %", "p"], rows).rstrip())
    return "\n".join([*lines, "", f"Signature: {result['signature']}"])
