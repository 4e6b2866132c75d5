"""Sequence-to-sequence checkpoints: tokenizers, beam search, engines, batches that are kept."""
