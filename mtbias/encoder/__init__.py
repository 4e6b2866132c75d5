"""Alignment by a multilingual encoder: which words of two languages have the most similar embeddings in context."""
