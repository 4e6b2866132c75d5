"""Ukrainian: rules and person nouns in ``data/uk.toml`` and ``data/uk_nouns.tsv``."""

from __future__ import annotations

from mtbias.plugin import Language

UKRAINIAN = Language.from_package("mtbias_languages", "uk")
