"""Hard debiasing of word vectors: neutralise and equalise; and double-hard debiasing, which first
takes out the direction that hides gender from it.

Sources: Bolukbasi, Chang, Zou, Saligrama and Kalai, *Man is to computer programmer as woman is to
homemaker?* (NeurIPS 2016), section 6, step 2a; the gender subspace is
`mtbias.embeddings.bias_measures.gender_subspace`. Wang, Lin, Rajani, McCann, Ordonez and Xiong,
*Double-Hard Debias* (ACL 2020), algorithm 1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from mtbias.embeddings.bias_measures import (
    BiasedWords,
    clustering,
    gender_direction,
    gender_subspace,
    most_biased,
)
from mtbias.embeddings.measure_settings import DebiasSettings, EmbeddingSettings
from mtbias.embeddings.vectors import Vectors
from mtbias.errors import DataError
from mtbias.stats.results import Floats


class Debiased(NamedTuple):
    """What a method makes of vectors."""

    counts: Mapping[str, int | float]
    """Numbers of words, pairs, dimensions; accuracies in per cent, of held-out words."""
    rows: Iterator[Floats]
    """The vectors, in their order; 0 for a word with nothing left."""


_CHUNK = 4096
"""Words whose vectors are made at once."""

_GONE = 1e-12
"""A unit vector reduced below this length has no direction any more, only rounding errors."""


def hard_debiasing(
    vectors: Vectors, subspace: Floats, pairs: Sequence[tuple[str, str]], gendered: Collection[str]
) -> Debiased:
    """Words of `pairs` and of `gendered` keep their gender; those of `pairs` that have vectors are
    equalised.

    All others are neutralised. A pair whose words have the same part in the subspace is left as it
    is: its words differ in no gender, and the formula divides by zero. All vectors are of length 1.
    """
    equal: dict[str, Floats] = {}
    present = [pair for pair in pairs if not vectors.lacking(pair)]
    for pair in present:
        if (rows := equalised(vectors.rows(pair), subspace)) is not None:
            equal.update(zip(pair, rows, strict=True))
    gendered_in_file = vectors.index.keys() & {*gendered, *chain.from_iterable(pairs)}
    counts = {
        "neutralised": len(vectors.words) - len(gendered_in_file),
        "kept": len(gendered_in_file),
        "pairs_equalised": len(equal) // 2,
        "pairs_without_difference": len(present) - len(equal) // 2,
    }

    def debiased() -> Iterator[Floats]:
        for start in range(0, len(vectors.words), _CHUNK):
            rows = neutralised(vectors.matrix[start : start + _CHUNK], subspace)
            for n, row in enumerate(rows, start):
                word = vectors.words[n]
                yield equal.get(word, vectors.matrix[n]) if word in gendered_in_file else row

    return Debiased(counts, debiased())


def neutralised(rows: Floats, subspace: Floats) -> Floats:
    """(w − w_B) / |w − w_B| with w_B the part of w in the subspace B, by row; 0 where |w − w_B|
    is.
    """
    without = rows - (rows @ subspace.T) @ subspace
    # Once more: what the first subtraction leaves in the subspace by rounding is no longer small
    # beside a short rest.
    without -= (without @ subspace.T) @ subspace
    lengths = np.linalg.norm(without, axis=1, keepdims=True)
    return np.asarray(
        np.divide(without, lengths, out=np.zeros_like(without), where=lengths > _GONE)
    )


def equalised(rows: Floats, subspace: Floats) -> Floats | None:
    """ν + √(1 − |ν|²) · (w_B − μ_B) / |w_B − μ_B| with μ the mean of the unit vectors `rows` and ν
    = μ − μ_B, by row.

    All are equally far from every neutralised word, and differ in the subspace alone. None where a
    w_B is μ_B.
    """
    mean = rows.mean(axis=0)
    nu = mean - (mean @ subspace.T) @ subspace
    apart = ((rows - mean) @ subspace.T) @ subspace
    lengths = np.linalg.norm(apart, axis=1, keepdims=True)
    if lengths.min() <= _GONE:
        return None
    return np.asarray(nu + np.sqrt(max(0.0, 1 - float(nu @ nu))) * apart / lengths)


# Double-hard debiasing.


def double_hard_debiasing(
    vectors: Vectors,
    direction: Sequence[tuple[str, str]],
    pairs: Sequence[tuple[str, str]],
    gendered: Collection[str],
    settings: DebiasSettings,
) -> Debiased:
    """`hard_debiasing` of the vectors after their mean and one principal component are taken out.

    The principal components of all vectors, less their mean, mix how frequent a word is with its
    gender, and so hide gender from hard debiasing. Each of the first `settings.candidates` is tried
    on the words that lean most to each gender: without it, and neutralised, how well do two
    clusters fit the genders (`clustering`)? The component after which they fit least is taken out
    of all words; of equals the first. The gender subspace is found after that. All vectors are of
    length 1.

    Args:
        vectors: all words.
        direction: pairs of the gender subspace, all of which have vectors.
        pairs: as of `hard_debiasing`.
        gendered: as of `hard_debiasing`; they are not clustered.
        settings: `components`, `direction`, `candidates`, `cluster_words`, `seed`.

    Raises:
        DataError: no words lean to one of the genders; differences of too few dimensions once a
            component is out.
        DependencyError: scikit-learn is not there.
    """
    tells_gender = {*gendered, *chain.from_iterable(pairs), *chain.from_iterable(direction)}
    g = gender_direction(vectors, direction, settings.direction)
    biased = most_biased(vectors, g, 2 * settings.cluster_words, exclude=tells_gender)
    if biased.one_sided:
        message = f"expected words that lean to either gender, got: {biased.one_sided}"
        raise DataError(f"{message}; double-hard debiasing needs more words", path=vectors.path)
    mean = vectors.matrix.mean(axis=0)
    components = principal_components(vectors.matrix, settings.candidates)
    few = tuple(dict.fromkeys([*biased.words, *chain.from_iterable(direction)]))
    centred = vectors.rows(few) - mean
    accuracies = []
    for component in (np.zeros_like(mean), *components):
        space = Vectors(few, neutralised(centred, component[None]))
        subspace = gender_subspace(space, direction, settings.components)
        accuracies.append(_cluster_accuracy(biased, space, subspace, settings))
    before, *after = accuracies
    best = int(np.argmin(after))
    moved = neutralised(vectors.matrix - mean, components[best][None])
    without = Vectors(vectors.words, moved, path=vectors.path)
    subspace = gender_subspace(without, direction, settings.components)
    debiased = hard_debiasing(without, subspace, pairs, gendered)
    counts = {
        **debiased.counts,
        "words_clustered": len(biased.words),
        "principal_component_removed": best + 1,
        "cluster_accuracy_without_removal": before,
        "cluster_accuracy": after[best],
    }
    return Debiased(counts, debiased.rows)


def principal_components(rows: Floats, n: int) -> Floats:
    """The directions in which rows vary most, the widest first: at most `n` unit vectors."""
    centred = rows - rows.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    return np.asarray(directions.T[::-1][:n], dtype=np.float64)


def _cluster_accuracy(
    biased: BiasedWords, space: Vectors, subspace: Floats, settings: DebiasSettings
) -> float:
    """How well two clusters of the biased words fit their genders once they are neutralised, in
    per cent; 50 where all have one vector.
    """
    neutral = Vectors(biased.words, neutralised(space.rows(biased.words), subspace))
    how = EmbeddingSettings(repeats=1, seed=settings.seed)
    accuracy = clustering(biased, neutral, how)["accuracy"].value
    return 50.0 if accuracy is None else accuracy
