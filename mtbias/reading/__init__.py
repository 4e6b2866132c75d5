"""From the links and the morphology of a translation to a gender with its evidence, or the reason
for having none.
"""

from mtbias.reading.decision import decide
from mtbias.reading.features import FEATURES, STANZA, read_features, with_features
from mtbias.reading.rules import says

__all__ = ["FEATURES", "STANZA", "decide", "read_features", "says", "with_features"]
