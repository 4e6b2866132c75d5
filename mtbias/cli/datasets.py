"""``mtbias datasets``."""

from __future__ import annotations

from mtbias.cli.shared import Cache, Flag
from mtbias.settings import CacheSettings


def command(*, cite: Flag = False, cache: Cache = CacheSettings()) -> None:
    """List the data sets: where they come from, their licences and citations, and whether they are in the cache.

    Parameters
    ----------
    cite
        Print the citations (BibTeX).
    """
    from mtbias.corpora import cache_folder, datasets
    from mtbias.corpora.catalog import source_folder

    folder = cache_folder(cache.cache_dir)
    for name, entry in datasets().items():
        here = (source_folder(entry.source, folder) / entry.file).is_file()
        state = "in the cache" if here else f"mtbias fetch --dataset {name}"
        print(
            f"{name:<15} {entry.rows:>7} rows  {entry.source.licence:<5} "
            f"{entry.source.home} @ {entry.source.commit}  ({state})"
        )
        print(f"{'':<15} {entry.description}")
    print(f"{'custom':<15} your own sentences: --data FILE (TSV, CSV or JSONL)")
    if cite:
        for citation in dict.fromkeys(entry.source.citation for entry in datasets().values()):
            print(f"\n{citation}")
