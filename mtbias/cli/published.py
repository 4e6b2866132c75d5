"""The published WinoMT figures of 2019 beside mtbias's own, for the same translations.

FOLDER holds SYSTEM/en-LANG.txt files of "source ||| target" lines, as mt_gender ships them (google, bing).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from mtbias.cli import options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--folder", type=Path, required=True, metavar="FOLDER", help="mt_gender's folder of translations"
    )
    parser.add_argument("--data", type=Path, metavar="PATH", help="WinoMT (default: the cache)")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options.add_machine(parser)


def run(args: argparse.Namespace) -> None:
    """Score every pair that is there and print the table."""
    raise NotImplementedError
