"""Arabic: rules and person nouns in ``data/ar.toml`` and ``data/ar_nouns.tsv``."""

from __future__ import annotations

from mtbias.plugin import Language

ARABIC = Language.from_package("mtbias_languages", "ar")
