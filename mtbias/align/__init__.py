"""Aligning the entity with the words of the translation that render it."""

from mtbias.align.aligners import ALIGNERS, Aligner, EflomalAligner, StatisticalAligner, get_aligner
from mtbias.reading.sentence_pair import Pair

__all__ = ["ALIGNERS", "Aligner", "EflomalAligner", "Pair", "StatisticalAligner", "get_aligner"]
