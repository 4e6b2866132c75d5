"""French: rules and person nouns in ``data/fr.toml`` and ``data/fr_nouns.tsv``."""

from __future__ import annotations

from mtbias.plugin import Language

FRENCH = Language.from_package("mtbias_languages", "fr")
