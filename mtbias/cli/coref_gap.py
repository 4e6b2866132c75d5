"""GAP's scores: F1 and accuracy, overall and by gender, and the bias ratio, feminine over masculine.

--predictions has a system's labels, tab-separated: id, A-coref, B-coref (true or false). --data is a TSV file of GAP,
or the folder where gap-test.tsv is (and gap-test-name-spans.json, which --name-spans need not name then). Counts are
those of GAP's official scorer: a missing answer is a false negative, also where the candidate is FALSE.

--weights has a weight for each candidate (a file of "The Gap on GAP", or of `mtbias coref gap-weights`) and adds a bias
of weighted accuracies. --baseline is random (in closed form) or dist-K (always the K-th nearest name) and needs
--name-spans. Of several systems, each further one is compared with the first by randomisation over examples.

F1 and accuracy are in per cent. Accuracy is the share of TRUE candidates that are found.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtbias.cli import options
from mtbias.errors import UsageError

if TYPE_CHECKING:
    from mtbias.coref.gap import Answers, GapScores
    from mtbias.coref.gap_instances import GapFile
    from mtbias.coref.gap_spans import NameSpans
    from mtbias.stats.results import Difference

    System = tuple[str, str, Answers]  # its name, what the signature says of it, its answers

_LEFT_OUT = {
    "missing": "examples without an answer (each counts as two false negatives)",
    "unexpected": "labels that are neither true nor false (false negatives)",
    "duplicates": "rows whose id came before (passed over)",
    "unknown": "rows whose id is not in the data (passed over)",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--data", type=Path, required=True, metavar="PATH", help="GAP, such as gap-test.tsv")
    parser.add_argument(
        "--predictions", type=Path, action="append", default=[], metavar="FILE",
        help="a system's labels; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--baseline", action="append", default=[], metavar="NAME", help="random, dist-1, dist-2, …; likewise"
    )
    parser.add_argument("--name-spans", type=Path, metavar="FILE", help="the names of each text (JSON), for baselines")
    parser.add_argument(
        "--weights", type=Path, action="append", default=[], metavar="FILE",
        help="weights of the candidates (JSON); may be given several times",
    )  # fmt: skip
    parser.add_argument("--seed", type=options.at_least_0, default=0, metavar="N", help="of the bootstrap (default: 0)")
    parser.add_argument(
        "--resamples", type=options.at_least_0, default=2000, metavar="N",
        help="bootstrap resamples, and rearrangements of the test (default: 2000)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON alone")


def run(args: argparse.Namespace) -> None:
    """Score and print."""
    import numpy as np

    from mtbias import __version__
    from mtbias.coref.gap import compare, score, tally
    from mtbias.coref.gap_example_weights import read_gap_weights
    from mtbias.coref.gap_instances import read_instances
    from mtbias.coref.gap_spans import files_in, read_name_spans

    args.data, args.name_spans = files_in(args.data, args.name_spans)
    _check(args)
    data = read_instances(args.data)
    spans = read_name_spans(args.name_spans, data) if args.baseline else None
    systems = _systems(args, data, spans)
    read = [read_gap_weights(path, data) for path in args.weights]
    short = [path.name for path in args.weights]
    names = short if len(set(short)) == len(short) else [str(path) for path in args.weights]
    tables = [tally(data, given, [weights for weights, _ in read]) for _, _, given in systems]
    scores = [score(table, names, n_resamples=args.resamples, rng=np.random.default_rng(args.seed)) for table in tables]
    compared = [
        compare(tables[0], table, names, n_resamples=args.resamples, rng=np.random.default_rng(args.seed))
        for table in tables[1:]
        if args.resamples
    ]
    signature = "|".join(
        [
            f"coref:gap|data:{data.sha256[:12]}|systems:{'+'.join(said for _, said, _ in systems)}",
            *([] if spans is None else [f"names:{spans.sha256[:12]}", "tokens:regex-as-spacy2"]),
            *([f"weights:{'+'.join(sha256[:12] for _, sha256 in read)}"] if read else []),
            f"counts:official|unit:example|seed:{args.seed}|resamples:{args.resamples}|mtbias:{__version__}",
        ]
    )
    if args.json:
        print(json.dumps(_to_json(systems, scores, compared, signature), ensure_ascii=False))
    else:
        print(_text(systems, scores, compared, signature), end="")


def _check(args: argparse.Namespace) -> None:
    """Refuse calls that cannot be meant.

    Raises:
        UsageError: no system; a baseline that does not exist, or without names; weights given twice.

    """
    if not (args.predictions or args.baseline):
        raise UsageError("nothing to score: give --predictions FILE, or --baseline NAME with --name-spans FILE")
    for name in args.baseline:
        if name != "random" and not _place(name):
            raise UsageError(f"unknown baseline {name!r}; there are random, dist-1, dist-2, dist-3, …")
    if args.baseline and args.name_spans is None:
        raise UsageError("a baseline picks among the names of a text: give them with --name-spans FILE")
    if len(set(args.weights)) != len(args.weights):
        raise UsageError("--weights names a file twice")


def _place(name: str) -> int:
    """K of ``dist-K``; 0 where it is something else."""
    digits = name.removeprefix("dist-")
    return int(digits) if name != digits and digits.isascii() and digits.isdigit() and len(digits) < 5 else 0


def _systems(args: argparse.Namespace, data: GapFile, spans: NameSpans | None) -> list[System]:
    from mtbias.coref.gap import answers, nearest_name, random_name
    from mtbias.coref.gap_instances import read_labels

    systems: list[System] = []
    for path in args.predictions:
        system = read_labels(path, official=True)
        systems.append((str(path), system.sha256[:12], answers(data, system)))
    for name in args.baseline:
        assert spans is not None  # noqa: S101 - as checked
        given = random_name(data, spans) if name == "random" else nearest_name(data, spans, _place(name))
        systems.append((name, name, given))
    return systems


def _to_json(
    systems: Sequence[System], scores: Sequence[GapScores], compared: Sequence[Mapping[str, Difference]], signature: str
) -> dict[str, Any]:
    return {
        "dataset": "gap",
        "systems": [
            {
                "system": name,
                **of.to_json(),
                "left_out": {key: getattr(given, key) for key in _LEFT_OUT},
                "n_resamples": of.n_resamples,
            }
            for (name, _, given), of in zip(systems, scores, strict=True)
        ],
        "compared_with_first": [
            {"system": name, "numbers": {key: {"difference": d.difference, "p": d.p} for key, d in numbers.items()}}
            for (name, _, _), numbers in zip(systems[1:], compared, strict=False)
        ],
        "signature": signature,
    }


def _text(
    systems: Sequence[System], scores: Sequence[GapScores], compared: Sequence[Mapping[str, Difference]], signature: str
) -> str:
    from mtbias.report.tables import columns, number

    blocks = [_system(name, given, of) for (name, _, given), of in zip(systems, scores, strict=True)]
    for (name, _, _), numbers in zip(systems[1:], compared, strict=False):
        rows = [
            [key.removesuffix(":overall").replace(":", ": "), number(n.difference, 3), number(n.p, 4)]
            for key, n in numbers.items()
        ]
        blocks.append(f"{systems[0][0]} minus {name}\n" + columns(["", "difference", "p"], rows))
    return "\n".join(blocks) + f"\nSignature: {signature}\n"


def _system(name: str, given: Answers, of: GapScores) -> str:
    from mtbias.report.tables import columns, interval, number

    def count(value: float) -> str:
        return str(value) if isinstance(value, int) else number(value)

    rows = []
    for group, g in of.groups.items():
        rates = [number(g.precision.value), number(g.recall.value)]
        rates += [text for e in (g.f1, g.accuracy) for text in (number(e.value), interval(e.interval))]
        rows.append([group, str(g.n), *map(count, (g.tp, g.fp, g.fn, g.tn)), *rates, str(g.positives)])
    header = ["", "n", "TP", "FP", "FN", "TN", "precision", "recall", "F1", "95 %", "accuracy", "95 %", "of"]
    table = columns(header, rows)
    ratios = [
        [
            "F1" if key == "f1" else key, number(bias.ratio.value, 3), interval(bias.ratio.interval, 3),
            *(text for one in (bias.feminine, bias.masculine) for text in (number(one.value), count(one.n or 0))),
        ]
        for key, bias in of.bias.items()
    ]  # fmt: skip
    table += "\n" + columns(["bias, F/M", "", "95 %", "feminine", "of", "masculine", "of"], ratios)
    notes = [f"{getattr(given, key)} {what}\n" for key, what in _LEFT_OUT.items() if getattr(given, key)]
    return f"{name}\n{table}{''.join(notes)}"
