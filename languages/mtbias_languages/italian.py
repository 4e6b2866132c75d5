"""Italian: rules and person nouns in ``data/it.toml`` and ``data/it_nouns.tsv``."""

from __future__ import annotations

from mtbias.plugin import Language

ITALIAN = Language.from_package("mtbias_languages", "it")
