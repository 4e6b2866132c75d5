"""From aligned words and their morphology to a gender with its evidence, or the reason for having
none.
"""

from mtbias.decide.decision import GENERIC, decide
from mtbias.decide.feature_reading import FEATURES, STANZA, read_features, with_features
from mtbias.decide.sentence_words import FormVotes
from mtbias.decide.strategy import FIXED_GENDER, FOREIGN_WORD

__all__ = [
    "FEATURES",
    "FIXED_GENDER",
    "FOREIGN_WORD",
    "GENERIC",
    "STANZA",
    "FormVotes",
    "decide",
    "read_features",
    "with_features",
]
