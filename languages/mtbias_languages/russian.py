"""Russian: rules and person nouns in ``data/ru.toml`` and ``data/ru_nouns.tsv``."""

from __future__ import annotations

from mtbias.plugin import Language

RUSSIAN = Language.from_package("mtbias_languages", "ru")
