"""Portuguese: rules and person nouns in ``data/pt.toml`` and ``data/pt_nouns.tsv``."""

from __future__ import annotations

from mtbias.plugin import Language

PORTUGUESE = Language.from_package("mtbias_languages", "pt")
