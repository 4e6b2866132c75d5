"""Hebrew: rules and person nouns in ``data/he.toml`` and ``data/he_nouns.tsv``."""

from __future__ import annotations

from mtbias.plugin import Language

HEBREW = Language.from_package("mtbias_languages", "he")
