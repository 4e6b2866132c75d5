"""Bring data sets and Stanza models into the cache, for machines without network. Everything is checked by its hash."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mtbias.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--dataset", action="append", default=[], metavar="NAME", help="a data set (see `mtbias datasets`)"
    )
    parser.add_argument("--lang", action="append", default=[], metavar="CODE", help="Stanza models of a language")
    parser.add_argument("--sha256", metavar="HASH", help="expected hash of a download whose hash mtbias does not know")
    parser.add_argument(
        "--accept-unverified", action="store_true", help="take such a download as it comes, and record its hash"
    )
    parser.add_argument("--stanza-dir", type=Path, metavar="DIR", help="folder for Stanza models")
    parser.add_argument("--cache-dir", type=Path, metavar="DIR", help="mtbias's cache")


def run(args: argparse.Namespace) -> None:
    """Fetch, and say what is where."""
    from mtbias.corpora import cache_folder, fetch_dataset
    from mtbias.morphology.resources import download, stanza_folder
    from mtbias.registry import get_language

    if not args.dataset and not args.lang:
        raise UsageError("nothing to fetch: give --dataset NAME or --lang CODE")
    for name in args.dataset:
        fetched = fetch_dataset(
            name,
            args.cache_dir,
            sha256=args.sha256,
            accept_unverified=args.accept_unverified,
            progress=sys.stderr is not None and sys.stderr.isatty(),
        )
        for piece in fetched.downloads:
            how = "checked" if piece.verified else "NOT checked, hash recorded"
            print(f"{name}: {fetched.folder} sha256 {piece.sha256} ({how}{'' if piece.fresh else ', was here'})")
    for code in args.lang:
        get_language(code)
        package = download(code, stanza_folder(args.stanza_dir, cache_folder(args.cache_dir)))
        print(f"{code}: Stanza {package.signature} in {package.folder}")
