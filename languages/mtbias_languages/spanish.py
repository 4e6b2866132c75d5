"""Spanish: rules and person nouns in ``data/es.toml`` and ``data/es_nouns.tsv``."""

from __future__ import annotations

from mtbias.plugin import Language

SPANISH = Language.from_package("mtbias_languages", "es")
