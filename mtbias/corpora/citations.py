"""Citations of data sets and mtbias, as BibTeX."""

from __future__ import annotations

from collections.abc import Iterable

from mtbias.corpora.catalog import catalogued
from mtbias.errors import UsageError, choices
from mtbias.version import __version__

CITATION = f"""\
@software{{mtbias,
  title     = "mtbias: gender bias in machine translation",
  author    = "{{The mtbias developers}}",
  version   = "{__version__}",
  year      = "2026",
}}"""
"""The citation of this release, as in CITATION.cff."""


def citations(names: Iterable[str]) -> list[str]:
    """Each citation of the public data sets of these names once, and that of mtbias.

    Raises:
        UsageError: a name is not that of a public data set.
    """
    sets = catalogued()
    entries: dict[str, None] = {}
    for name in names:
        if name not in sets:
            raise UsageError(f"no public data set {name!r}; {choices(name, sets)}")
        entries[sets[name].source.citation] = None
    return [*entries, CITATION]
