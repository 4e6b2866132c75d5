"""German: rules and person nouns in ``data/de.toml`` and ``data/de_nouns.tsv``."""

from __future__ import annotations

from mtbias.plugin import Language

GERMAN = Language.from_package("mtbias_languages", "de")
