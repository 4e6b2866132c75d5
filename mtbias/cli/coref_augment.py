"""Counterfactual data augmentation: a CoNLL-2012 file with a gender-swapped copy of each document behind it.

--kind anonymised gives first names ids (E1, E2, …), --kind names gives each its counterpart of the other gender: the
one-to-one matching in which the names' vectors of frequencies are most alike, ‖u − v‖ · (12/11 − cos). Only words and
document names change (a copy's name ends in --suffix).

--names is a table (TSV, CSV) with the columns name, gender (male, female, mostly_male, mostly_female) and frequencies,
such as one column a country. Without it a short example list serves.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from mtbias.cli import options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--data", type=Path, required=True, metavar="FILE", help="the CoNLL-2012 file")
    parser.add_argument("--kind", required=True, choices=("anonymised", "names"), help="what becomes of first names")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the augmented file to write")
    parser.add_argument("--names", type=Path, metavar="FILE", help="first names (default: a short example list)")
    parser.add_argument(
        "--max-names", type=options.at_least_1, default=2000, metavar="N",
        help="match the N most frequent names of each gender (default: 2000)",
    )  # fmt: skip
    parser.add_argument("--only-copies", action="store_true", help="leave the documents themselves out")
    parser.add_argument("--suffix", default="_a", metavar="TEXT", help="behind the names of copies (default: _a)")
    parser.add_argument("--json", action="store_true", help="print JSON alone")


def run(args: argparse.Namespace) -> None:
    """Write the file; print what was done."""
    from mtbias.coref.conll_augmentation import Kind, augment
    from mtbias.coref.first_names import example_names, match_names, read_names
    from mtbias.coref.predicted_clusters import signature
    from mtbias.files.writing import write_atomic
    from mtbias.report.tables import columns

    names = read_names(args.names) if args.names else example_names()
    kind = Kind(args.kind)
    counterparts = match_names(names.names, max_names=args.max_names) if kind is Kind.NAMES else {}
    made = augment(args.data, kind, {name.text for name in names.names}, counterparts, suffix=args.suffix)
    write_atomic(args.out, [*([] if args.only_copies else made.original), *made.lines])
    c = made.counts
    more = {"max-names": args.max_names} if kind is Kind.NAMES else {}
    signed = signature(
        "augment",
        {"data": {args.data.name: made.sha256}, "names": {"names": names.sha256}},
        kind=kind.value,
        list="given" if args.names else "example",
        copies="only" if args.only_copies else "added",
        suffix=args.suffix,
        **more,
    )
    shown = {
        "documents": c.documents,
        "sentences": c.sentences,
        "tokens": c.tokens,
        "gendered words swapped": c.words,
        "first names replaced": c.names,
        "first names without counterpart": c.names_kept,
        "her, his by tag": c.by_tag,
        "her, his by the words around": c.by_rule,
        "of these ambiguous": len(c.ambiguous),
    }
    if args.json:
        plain = {name.replace(",", "").replace(" ", "_"): value for name, value in shown.items()}
        print(json.dumps({**plain, "ambiguous": c.ambiguous, "out": str(args.out), "signature": signed}))
        return
    print(columns(["", "number"], [[name, str(value)] for name, value in shown.items()]), end="")
    for place in c.ambiguous:
        print(f"  ambiguous: {place}")
    print(f"\nFile: {args.out}\nSignature: {signed}")
