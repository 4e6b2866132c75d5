"""Metrics of gender bias in coreference resolution: one file for each data set or metric. Needs no
torch.
"""
