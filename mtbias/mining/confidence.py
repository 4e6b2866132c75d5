"""How probable it is that a find's pronoun means its profession: a logistic model with few terms.

``confidence = 1 / (1 + exp(-(intercept + Σ weight of each doubt + weight of the pronoun's role + w · ln distance)))``

Range: above 0, below 1. The weights (``confidence.toml``) were fitted on finds that were read by hand, by
``scripts/mining_precision.py --fit``. The pattern is no term: a weight for each made the model no better where it was
not fitted. The confidence of a user's own pattern is therefore what ours have with these doubts, role and distance; of
how right that pattern is it knows nothing.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from mtbias.english.pronouns import PRONOUN_ROLES
from mtbias.mining.doubts import DOUBTS, Doubt

TERMS = (*DOUBTS, "reflexive", "subject", "distance")
"""The terms of the model beside the intercept, in the order of `term_values`."""
_WEIGHTS = Path(__file__).with_name("confidence.toml")


@dataclass(frozen=True, slots=True)
class ConfidenceModel:
    """The weights of the model."""

    intercept: float
    weights: Mapping[str, float]
    """Of each of `TERMS`."""

    def confidence(self, values: Sequence[float]) -> float:
        """The probability for the `term_values` of a find."""
        total = self.intercept + sum(self.weights[term] * value for term, value in zip(TERMS, values, strict=True))
        return 1 / (1 + math.exp(-total))


def term_values(doubts: Collection[Doubt], pronoun: str, distance: int) -> tuple[float, ...]:
    """The values of `TERMS` for a find: 1 where a term holds, else 0; the natural logarithm of the distance in tokens.

    Range of the distance: from 1 upwards (0, of words that share a token, counts as 1).
    """
    held = set[str](doubts)
    held.update(role for role in ("reflexive", "subject") if pronoun.lower() in PRONOUN_ROLES[role])
    return (*(float(term in held) for term in TERMS[:-1]), math.log(max(distance, 1)))


def weights_sha256() -> str:
    """The hash of the weights that ship, which the rows of a corpus depend on."""
    return sha256(_WEIGHTS.read_bytes()).hexdigest()


@cache
def shipped_model() -> ConfidenceModel:
    """The model that ships with mtbias."""
    data = tomllib.loads(_WEIGHTS.read_text(encoding="utf-8"))
    return ConfidenceModel(data["intercept"], {term: data["weights"][term] for term in TERMS})
