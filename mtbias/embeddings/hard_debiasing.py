"""Hard debiasing of word vectors: neutralise and equalise.

Source: Bolukbasi, Chang, Zou, Saligrama and Kalai, *Man is to computer programmer as woman is to homemaker?* (NeurIPS
2016), section 6, step 2a. The gender subspace is `mtbias.embeddings.bias_measures.gender_subspace`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mtbias.embeddings.vectors import Vectors
from mtbias.stats.results import Floats

_GONE = 1e-12
"""A unit vector of which less than this is left has no direction any more, only rounding errors."""


@dataclass(frozen=True, slots=True)
class HardDebiasing:
    """What becomes of every word."""

    subspace: Floats
    """``[components, dimensions]``, orthonormal rows."""
    kept: frozenset[str]
    """Words that tell a gender: not neutralised."""
    equalised: Mapping[str, Floats]
    """The vectors of the words of pairs."""

    def apply(self, vectors: Vectors, chunk: int = 4096) -> Iterator[Floats]:
        """The debiased unit vectors, in the order of `vectors`; 0 for a word of which nothing is left."""
        for start in range(0, len(vectors.words), chunk):
            neutral = neutralised(vectors.matrix[start : start + chunk], self.subspace)
            for n, row in enumerate(neutral, start=start):
                word = vectors.words[n]
                yield self.equalised.get(word, vectors.matrix[n]) if word in self.kept else row


def hard_debiasing(
    vectors: Vectors, subspace: Floats, pairs: Sequence[tuple[str, str]], gendered: Collection[str]
) -> HardDebiasing:
    """Words of `pairs` and of `gendered` keep their gender; those of `pairs` that have vectors are equalised.

    All others are neutralised. A pair whose words have the same part in the subspace is left as it is: its words
    differ in no gender, and the formula divides by zero.
    """
    equal: dict[str, Floats] = {}
    for pair in pairs:
        if not vectors.lacking(pair) and (rows := equalised(vectors.rows(pair), subspace)) is not None:
            equal.update(zip(pair, rows, strict=True))
    return HardDebiasing(subspace, frozenset({*gendered, *(word for pair in pairs for word in pair)}), equal)


def neutralised(rows: Floats, subspace: Floats) -> Floats:
    """(w − w_B) / |w − w_B| with w_B the part of w in the subspace B, by row; 0 where |w − w_B| is."""
    without = rows - (rows @ subspace.T) @ subspace
    # Once more: what the first subtraction leaves in the subspace by rounding is no longer small beside a short rest.
    without -= (without @ subspace.T) @ subspace
    lengths = np.linalg.norm(without, axis=1, keepdims=True)
    return np.asarray(np.divide(without, lengths, out=np.zeros_like(without), where=lengths > _GONE))


def equalised(rows: Floats, subspace: Floats) -> Floats | None:
    """ν + √(1 − |ν|²) · (w_B − μ_B) / |w_B − μ_B| with μ the mean of the unit vectors `rows` and ν = μ − μ_B, by row.

    All are equally far from every neutralised word, and differ in the subspace alone. None where a w_B is μ_B.
    """
    mean = rows.mean(axis=0)
    nu = mean - (mean @ subspace.T) @ subspace
    apart = ((rows - mean) @ subspace.T) @ subspace
    lengths = np.linalg.norm(apart, axis=1, keepdims=True)
    if lengths.min() <= _GONE:
        return None
    return np.asarray(nu + np.sqrt(max(0.0, 1 - float(nu @ nu))) * apart / lengths)
