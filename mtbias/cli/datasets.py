"""``mtbias datasets``."""

from __future__ import annotations

from mtbias import __version__
from mtbias.cli.shared import Cache, Flag
from mtbias.settings import CacheSettings

CITATION = f"""\
@software{{mtbias,
  title     = "mtbias: gender bias in machine translation",
  author    = "{{The mtbias developers}}",
  version   = "{__version__}",
  year      = "2026",
}}"""
"""Of this release, as CITATION.cff has it."""


def command(*, cite: Flag = False, cache: Cache = CacheSettings()) -> None:
    """List the data sets: where they come from, their licences, and whether they are in the cache.

    Parameters
    ----------
    cite
        Print the citations of the data sets and of mtbias, as BibTeX alone.
    """
    from mtbias.corpora import cache_folder, datasets
    from mtbias.corpora.catalog import source_folder

    if cite:
        citations = dict.fromkeys(entry.source.citation for entry in datasets().values())
        print("\n\n".join([*citations, CITATION]))
        return
    folder = cache_folder(cache.cache_dir)
    for name, entry in datasets().items():
        here = (source_folder(entry.source, folder) / entry.file).is_file()
        state = "in the cache" if here else f"mtbias fetch --dataset {name}"
        print(
            f"{name:<19} {entry.rows:>7} rows  {entry.source.licence:<12} "
            f"{entry.source.home} @ {entry.source.commit}  ({state})"
        )
        print(f"{'':<19} {entry.description}")
    print(f"{'custom':<19} your own sentences: --data FILE (TSV, CSV or JSONL)")
