"""Aligning the entity with the words of the translation that render it."""

# Comments in this package that say how many calls a constant moves speak of two sets, with all else
# equal: WinoMT's 14 translations of 2019 into seven languages (54,404 sentences, of which 287 are
# unaligned), and the 1,301 sentences of tests/challenge and tests/independent, for which the right
# call is known (1,265 are right).

from mtbias.align.aligners import ALIGNERS, Aligner, EflomalAligner, StatisticalAligner, get_aligner
from mtbias.reading.sentence_pair import Pair

__all__ = ["ALIGNERS", "Aligner", "EflomalAligner", "Pair", "StatisticalAligner", "get_aligner"]
