"""The words that tell a gender, and their swapping, which corpora share: see `mtbias.swapping`."""

from __future__ import annotations

from mtbias.swapping import (
    GenderedWords,
    Token,
    WordSwap,
    gendered_words,
    her_is_object,
    match_case,
    parse_words,
    swap_words,
    tokenize,
)

__all__ = [
    "GenderedWords",
    "Token",
    "WordSwap",
    "gendered_words",
    "her_is_object",
    "match_case",
    "parse_words",
    "swap_words",
    "tokenize",
]
