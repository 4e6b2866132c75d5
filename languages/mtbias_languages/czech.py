"""Czech: rules and person nouns in ``data/cs.toml`` and ``data/cs_nouns.tsv``."""

from __future__ import annotations

from mtbias.plugin import Language

CZECH = Language.from_package("mtbias_languages", "cs")
