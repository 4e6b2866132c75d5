"""Measures of gender bias in word vectors."""
