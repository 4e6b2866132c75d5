"""The data sets: where they come from, their licences and citations, and whether they are in the cache."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--cache-dir", type=Path, metavar="DIR", help="mtbias's cache")
    parser.add_argument("--cite", action="store_true", help="print the citations (BibTeX)")


def run(args: argparse.Namespace) -> None:
    """List them."""
    from mtbias.corpora import cache_folder, datasets
    from mtbias.corpora.catalog import source_folder

    cache = cache_folder(args.cache_dir)
    for name, entry in datasets().items():
        here = (source_folder(entry.source, cache) / entry.file).is_file()
        state = "in the cache" if here else f"mtbias fetch --dataset {name}"
        print(
            f"{name:<15} {entry.rows:>7} rows  {entry.source.licence:<5} "
            f"{entry.source.home} @ {entry.source.commit}  ({state})"
        )
        print(f"{'':<15} {entry.description}")
    print(f"{'custom':<15} your own sentences: --data FILE (TSV, CSV or JSONL)")
    if args.cite:
        for citation in dict.fromkeys(entry.source.citation.strip() for entry in datasets().values()):
            print(f"\n{citation}")
