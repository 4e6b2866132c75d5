"""Translations: given ones, and pairs that an aligner learns from."""
