"""What must be known of the source language: pronouns, plurals, words, swaps of gender."""
