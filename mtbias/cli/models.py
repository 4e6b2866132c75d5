"""The translation models that have a short name, and whether they are here. Any hub id or folder works as well."""

from __future__ import annotations

import argparse
import json
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--lang", default="de", metavar="CODE", help="language, for models with one checkpoint a language"
    )
    parser.add_argument("--cache-dir", type=Path, metavar="DIR", help="mtbias's cache")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> None:
    """List them."""
    from mtbias.corpora import cache_folder
    from mtbias.errors import MissingResourceError
    from mtbias.translate.seq2seq.checkpoints import DEMO, catalog, locate

    cache = cache_folder(args.cache_dir)
    rows = [{"name": DEMO, "family": "M2M100", "repository": "ships with mtbias", "licence": "Apache-2.0"}]
    rows[0] |= {
        "note": "small, biased on purpose; for trying mtbias",
        "revision": locate(DEMO, args.lang, cache=cache).revision,
    }
    for model in catalog().values():
        row = {"name": model.name, "family": model.family, "repository": model.repository.format(lang=args.lang)}
        row |= {"licence": model.licence, "note": model.note}
        try:
            row["revision"] = locate(model.name, args.lang, cache=cache, fetch=False).revision
        except MissingResourceError:
            row["revision"] = ""
        rows.append(row)
    if args.json:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    for row in rows:
        here = row["revision"][:19] or f"missing: mtbias fetch --model {row['name']} --lang {args.lang}"
        print(f"{row['name']:<12} {row['family']:<10} {row['repository']:<50} {row['note']:<44} {here}")
