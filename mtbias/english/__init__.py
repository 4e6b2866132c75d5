"""Knowledge of English as the source language: pronouns, plurals, words, swaps of gender."""
