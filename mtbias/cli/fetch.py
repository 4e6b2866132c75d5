"""Bring models, data sets and Stanza resources to this machine, for machines without network.

Data sets are checked by their hash; models are taken at one commit, which is written down and used from then on.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mtbias.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="MODEL",
        help="a translation model, for each --lang (see `mtbias models`)",
    )
    parser.add_argument("--revision", metavar="COMMIT", help="commit, branch or tag of the model")
    parser.add_argument(
        "--dataset", action="append", default=[], metavar="NAME", help="a data set (see `mtbias datasets`)"
    )
    parser.add_argument("--lang", action="append", default=[], metavar="CODE", help="Stanza models of a language")
    parser.add_argument("--sweep", type=Path, metavar="FILE", help="all that a sweep needs (see `mtbias sweep`)")
    parser.add_argument("--sha256", metavar="HASH", help="expected hash of a download whose hash mtbias does not know")
    parser.add_argument(
        "--accept-unverified", action="store_true", help="take such a download as it comes, and record its hash"
    )
    parser.add_argument("--stanza-dir", type=Path, metavar="DIR", help="folder for Stanza models")
    parser.add_argument("--cache-dir", type=Path, metavar="DIR", help="mtbias's cache")


def run(args: argparse.Namespace) -> None:
    """Fetch, and say what is where."""
    from mtbias.corpora import cache_folder, fetch_dataset
    from mtbias.language.installed import get_language
    from mtbias.morphology.stanza_packages import download, stanza_folder

    if args.sweep is not None:
        _fetch_sweep(args)
        return
    if not args.dataset and not args.lang and not args.model:
        raise UsageError("nothing to fetch: give --model MODEL, --dataset NAME or --lang CODE")
    _fetch_models(args)
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


def _fetch_models(args: argparse.Namespace) -> None:
    """The models, for every language; a model with one checkpoint for all of them is brought once."""
    from mtbias.corpora import cache_folder
    from mtbias.translate.seq2seq.checkpoints import catalog, locate

    for model in args.model:
        named = catalog().get(model)
        if named is not None and "{lang}" in named.repository and not args.lang:
            raise UsageError(f"{model} has one checkpoint a language: give --lang CODE, several times if need be")
        for code in args.lang if named is not None and "{lang}" in named.repository else args.lang[:1] or ["de"]:
            found = locate(model, code, cache=cache_folder(args.cache_dir), revision=args.revision)
            print(f"{model}: {found.name} at {found.revision} in {found.folder}")


def _fetch_sweep(args: argparse.Namespace) -> None:
    """All that a sweep needs, into the folders that it names."""
    from mtbias.cluster.inventory import fetch, inventory
    from mtbias.cluster.sweep_file import read_sweep

    for name in ("model", "revision", "dataset", "lang", "stanza_dir", "cache_dir"):
        if getattr(args, name):
            raise UsageError(
                f"--{name.replace('_', '-')}: with --sweep the sweep's file says what to fetch, and where to"
            )
    sweep = read_sweep(args.sweep)
    fetch(sweep, inventory(sweep), print, sha256=args.sha256, accept_unverified=args.accept_unverified)
