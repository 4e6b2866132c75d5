"""Score a coreference system on the data sets of gender bias, make their counterfactuals, solve their weights.

Works without any model: it reads data sets and the predictions of whatever system.
"""

from __future__ import annotations

import argparse
from importlib import import_module

PARTS = {
    "winobias": "CoNLL F1 and link accuracy on WinoBias, pro against anti",
    "winogender": "consistency over pronouns and correlation with occupations on Winogender",
    "gap": "GAP's scores, its bias ratio, and the weighted biases",
    "gap-weights": "weights that balance two groups over any properties (a linear program)",
    "counter-gap": "accuracy and inconsistency on Counter-GAP",
    "counterfactual": "counterfactual instances of GAP-like sentences",
    "augment": "counterfactual data augmentation of CoNLL files",
    "sowinobias": "the SoWinoBias test set, and its scores",
    "embeddings": "measures of gender bias in word vectors",
    "bug": "accuracy and gaps on BUG",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the parts, each with its options."""
    parts = parser.add_subparsers(
        dest="part", metavar="DATASET", required=True, help="a data set, or what to make (each has its own --help)"
    )
    for name, summary in PARTS.items():
        module = import_module(f"mtbias.cli.coref_{name.replace('-', '_')}")
        part = parts.add_parser(
            name, help=summary, description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        module.add_arguments(part)
        part.add_argument("--debug", action="store_true", help="show the traceback of an error")
        part.set_defaults(run_part=module.run)


def run(args: argparse.Namespace) -> None:
    """Run the part."""
    args.run_part(args)
