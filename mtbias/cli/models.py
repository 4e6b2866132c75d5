"""``mtbias models``."""

from __future__ import annotations

from mtbias.cli.shared import Cache, Json, print_json
from mtbias.settings import CacheSettings


def command(*, lang: str = "de", json: Json = False, cache: Cache = CacheSettings()) -> None:
    """List the translation models that have a short name, and whether they are here.

    Any hub id or folder works as well. Kinds of systems that plugins add are listed too.

    Parameters
    ----------
    lang
        Language, for models with one checkpoint for each.
    """
    from mtbias.corpora import cache_folder
    from mtbias.entry_points import installed
    from mtbias.errors import MissingResourceError
    from mtbias.translate.seq2seq.checkpoints import DEMO, catalog, locate
    from mtbias.translate.system_kinds import GROUP

    folder = cache_folder(cache.cache_dir)
    rows = [{"name": DEMO, "family": "M2M100", "repository": "ships with mtbias", "licence": "Apache-2.0"}]
    rows[0] |= {
        "note": "small, biased on purpose; for trying mtbias",
        "revision": locate(DEMO, lang, cache=folder).revision,
    }
    for model in catalog().values():
        row = {"name": model.name, "family": model.family, "repository": model.repository.format(lang=lang)}
        row |= {"licence": model.licence, "note": model.note}
        try:
            row["revision"] = locate(model.name, lang, cache=folder, fetch=False).revision
        except MissingResourceError:
            row["revision"] = ""
        rows.append(row)
    if json:
        print_json(rows)
        return
    for row in rows:
        here = row["revision"][:19] or f"missing: mtbias fetch --model {row['name']} --lang {lang}"
        print(f"{row['name']:<12} {row['family']:<10} {row['repository']:<50} {row['note']:<44} {here}")
    for scheme, origins in installed(GROUP).items():
        print(f"{scheme + ':NAME':<12} a kind of system of {' and '.join(origins)}")
