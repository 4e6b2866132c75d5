"""All that a language plugin may import from mtbias: the public face of `mtbias.language`."""

from __future__ import annotations

from mtbias.language.data_files import Agreement, NounKind, NounReading, parse_agreements
from mtbias.language.definition import Language, SurfaceToken, VerbRules

__all__ = ["Agreement", "Language", "NounKind", "NounReading", "SurfaceToken", "VerbRules", "parse_agreements"]
