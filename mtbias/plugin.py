"""All that a language plugin may import from mtbias: the public face of `mtbias.language`."""

from __future__ import annotations

from mtbias.language.data_files import parse_agreements
from mtbias.language.definition import Language
from mtbias.language.grammar import (
    Agreement,
    NounKind,
    NounReading,
    SpeakerRules,
    SurfaceToken,
    VerbRules,
)
from mtbias.types import Strategy

__all__ = [
    "Agreement",
    "Language",
    "NounKind",
    "NounReading",
    "SpeakerRules",
    "Strategy",
    "SurfaceToken",
    "VerbRules",
    "parse_agreements",
]
