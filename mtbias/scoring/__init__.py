"""Counts, numbers, intervals, comparison, alarms and the measures: how numbers follow from records
of sentences.
"""
