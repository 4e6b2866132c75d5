"""The target languages that are installed, built in or by plugins, and whether their Stanza models are here."""

from __future__ import annotations

import argparse
import json
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--stanza-dir", type=Path, metavar="DIR", help="folder of Stanza models to look in")
    parser.add_argument("--cache-dir", type=Path, metavar="DIR", help="mtbias's cache")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> None:
    """List them; a plugin that fails is listed with its error, the others go on."""
    from mtbias.corpora import cache_folder
    from mtbias.errors import MtbiasError
    from mtbias.language.installed import get_language, installed_languages
    from mtbias.morphology.stanza_packages import find_package, stanza_folder

    folder = stanza_folder(args.stanza_dir, cache_folder(args.cache_dir))
    rows = []
    for installed in installed_languages():
        row = {"code": installed.code, "name": "", "distribution": " and ".join(installed.distributions), "nouns": 0}
        try:
            language = get_language(installed.code)
            row |= {"name": language.name, "version": language.version, "nouns": len(language.nouns)}
        except MtbiasError as error:
            row["error"] = str(error)
        try:
            row["stanza"] = find_package(installed.code, folder).signature
        except MtbiasError:
            row["stanza"] = None
        rows.append(row)
    if args.json:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    for row in rows:
        if "error" in row:
            print(f"{row['code']:<4} {row['error']}")
            continue
        stanza = row["stanza"] or f"missing: mtbias fetch --lang {row['code']}"
        print(
            f"{row['code']:<4} {row['name']:<11} {row['nouns']:>6} noun forms  "
            f"{row['distribution']:<16} Stanza {stanza}"
        )
