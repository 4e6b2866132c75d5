"""Measures of gender bias in word vectors (word2vec's text format).

direct          DB: mean |cos(w, g)|^c of words that tell no gender
indirect        β of pairs of words: the share of their similarity that is gender
weat            S of one list of targets against two lists of attributes, with the partition test's p
gipe            gender-based illicit proximity of words to their neighbours
clustering      how well two clusters of the most biased words fit the genders
recoverability  how well a classifier finds the gender of the most biased words

--original gives the vectors before debiasing where --vectors are debiased: g, β and "most biased" are of that space.
--words is a TOML file: [direction] pairs (feminine, masculine); [direct] words; [indirect] pairs; [weat] targets,
attributes_1, attributes_2; [gipe] words; [groups] exclude. A section that is absent is not measured. Without --words an
example serves. Words without vector are named and left out. Papers leave many parameters open: all are options, and the
signature names them.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtbias.cli import options

if TYPE_CHECKING:
    from mtbias.embeddings.word_lists import Result

MEASURES = ("direct", "indirect", "weat", "gipe", "clustering", "recoverability")


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number, 0 or more, got {text!r}")
    return value


def _share(text: str) -> float:
    if not 0 < (value := _number(text)) < 1:
        raise argparse.ArgumentTypeError(f"expected a number between 0 and 1, got {text!r}")
    return value


def _gamma(text: str) -> float | str:
    return text if text in {"scale", "auto"} else _number(text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("--vectors", type=Path, required=True, metavar="FILE", help="the word vectors")
    add("--original", type=Path, metavar="FILE", help="those before debiasing (default: the same)")
    add("--words", type=Path, metavar="FILE", help="the word lists (default: an example)")
    add("--limit", type=options.at_least_1, metavar="N", help="read only the first N words (default: all)")
    add("--measure", action="append", choices=MEASURES, help="only this one; may be given several times (default: all)")
    add("--direction", default="pca", choices=("pca", "mean"), help="how g is found from its pairs (default: pca)")
    add("--c", type=_number, default=1.0, metavar="X", help="exponent of direct bias (default: 1)")
    add("--partitions", type=options.at_least_1, default=100000, metavar="N",
        help="WEAT: count all partitions up to N, else draw N (default: 100000)")  # fmt: skip
    add("--neighbours", type=options.at_least_1, default=100, metavar="N", help="GIPE (default: 100)")
    add("--theta", type=_number, default=0.03, metavar="X", help="GIPE (default: 0.03)")
    add("--edgeless-weight", type=int, default=1, choices=(1, 0),
        help="GIPE: weight of a word that is nobody's neighbour (default: 1; the authors' program has 0)")  # fmt: skip
    add("--cluster-words", type=options.at_least_1, default=1500, metavar="N", help="most biased words (default: 1500)")
    add("--recover-words", type=options.at_least_1, default=5000, metavar="N", help="most biased words (default: 5000)")
    add("--balanced", action="store_true", help="take half of the most biased words from each gender")
    add("--kmeans-starts", type=options.at_least_1, default=10, metavar="N", help="of clustering (default: 10)")
    add("--train-share", type=_share, default=0.5, metavar="X", help="recoverability (default: 0.5)")
    add("--svm-c", type=_number, default=1.0, metavar="X", help="recoverability (default: 1)")
    add("--svm-gamma", type=_gamma, default="scale", metavar="X", help="scale, auto or a number (default: scale)")
    add("--seed", type=options.at_least_0, default=0, metavar="N", help="of all that is drawn (default: 0)")
    add("--json", action="store_true", help="print JSON alone")


def run(args: argparse.Namespace) -> None:
    """Measure and print."""
    from mtbias.coref.predicted_clusters import signature
    from mtbias.embeddings.vectors import read_vectors
    from mtbias.embeddings.word_lists import Parameters, example_lists, measure, read_lists

    lists = read_lists(args.words) if args.words else example_lists()
    vectors = read_vectors(args.vectors, limit=args.limit)
    original = read_vectors(args.original, limit=args.limit) if args.original else vectors
    chosen = tuple(m for m in MEASURES if args.measure is None or m in args.measure)
    parameters = Parameters(
        direction=args.direction, c=args.c, partitions=args.partitions, neighbours=args.neighbours, theta=args.theta,
        edgeless_weight=args.edgeless_weight, cluster_words=args.cluster_words, recover_words=args.recover_words,
        balanced=args.balanced, kmeans_starts=args.kmeans_starts, train_share=args.train_share, svm_c=args.svm_c,
        svm_gamma=args.svm_gamma, seed=args.seed,
    )  # fmt: skip
    result = measure(lists, vectors, original, parameters, chosen)
    files = {"vectors": {args.vectors.name: vectors.sha256}, "words": {"words": lists.sha256}}
    if args.original:
        files["original"] = {args.original.name: original.sha256}
    signed = signature(
        "embeddings", files, list="given" if args.words else "example", limit=args.limit or "none",
        **{name.replace("_", "-"): value for name, value in parameters.described(chosen).items()},
    )  # fmt: skip
    report: dict[str, Any] = {
        "words": len(vectors.words),
        "dimensions": int(vectors.matrix.shape[1]),
        "repeated_words": vectors.repeated,
        "zero_vectors": vectors.zeros,
        "missing_words": result.missing,
        "measures": result.to_json(),
        "signature": signed,
    }
    print(json.dumps(report, ensure_ascii=False) if args.json else _text(report, result))


def _text(report: dict[str, Any], result: Result) -> str:
    from mtbias.report.tables import columns

    lines = [f"{report['words']} words of {report['dimensions']} dimensions"]
    if report["repeated_words"] or report["zero_vectors"]:
        lines.append(
            f"left out: {report['repeated_words']} repeated words, {report['zero_vectors']} vectors of length 0"
        )
    for section, words in result.missing.items():
        lines.append(f"without vector, [{section}]: {', '.join(words)}")
    lines += ["", columns(["", "", "rests on"], [list(row) for row in result.rows()])]
    return "\n".join([*lines, f"Signature: {report['signature']}"])
