"""``mtbias languages``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mtbias.cli.shared import Cache, Json, print_json
from mtbias.settings import CacheSettings


def command(*, stanza_dir: Path | None = None, json: Json = False, cache: Cache = CacheSettings()) -> None:
    """List the target languages that are installed, built in or by plugins, and whether their Stanza models are here.

    A plugin that fails is listed with its error.

    Parameters
    ----------
    stanza_dir
        Folder of Stanza models to look in.
    """
    from mtbias.corpora import cache_folder
    from mtbias.entry_points import installed
    from mtbias.errors import MtbiasError
    from mtbias.language.installed import GROUP, get_language
    from mtbias.morphology.stanza_models import find_package, stanza_folder

    folder = stanza_folder(stanza_dir, cache_folder(cache.cache_dir))
    rows: list[dict[str, Any]] = []
    for code, origins in installed(GROUP).items():
        row: dict[str, Any] = {"code": code, "name": "", "distribution": " and ".join(origins), "nouns": 0}
        try:
            language = get_language(code)
            row |= {"name": language.name, "version": language.version, "nouns": len(language.nouns)}
        except MtbiasError as error:
            row["error"] = str(error)
        try:
            row["stanza"] = find_package(code, folder).signature
        except MtbiasError:
            row["stanza"] = None
        rows.append(row)
    if json:
        print_json(rows)
        return
    for row in rows:
        stanza = f"Stanza {row['stanza'] or 'missing: mtbias fetch --lang ' + row['code']}"
        about = f"{row['name']:<11} {row['nouns']:>6} noun forms  {row['distribution']:<16} {stanza}"
        print(f"{row['code']:<4} {row.get('error', about)}")
