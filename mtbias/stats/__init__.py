"""Intervals, tests and weights: shared by machine translation and coreference."""
