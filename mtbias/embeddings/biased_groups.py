"""Whether words that leaned to one gender still stand together after debiasing: clustering and recoverability.

Source: Gonen and Goldberg, *Lipstick on a pig* (NAACL 2019), as used by Dawkins, *SoWinoBias* (GeBNLP 2021). The papers
do not say how words are balanced and split, nor the parameters of the classifiers: all of these are arguments.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from mtbias.embeddings.vectors import Vectors
from mtbias.errors import DataError, DependencyError
from mtbias.stats.results import Floats


@dataclass(frozen=True, slots=True)
class BiasedWords:
    """The words with the largest |cos(w, g)|, and which gender each leans to."""

    words: tuple[str, ...]
    feminine: NDArray[np.bool_]
    """cos(w, g) > 0."""


def most_biased(
    original: Vectors, g: Floats, n: int, *, exclude: Collection[str] = (), balanced: bool = False
) -> BiasedWords:
    """The `n` words that lean most, in the original space; fewer where there are not so many.

    Args:
        original: the space before debiasing.
        g: its gender direction.
        n: how many.
        exclude: words that tell a gender by definition.
        balanced: half from either gender.

    Edge cases: a word at a right angle to g leans nowhere and is never taken.
    """
    leaning = original.matrix @ g
    skip = [original.index[word] for word in exclude if word in original.index]
    leaning[skip] = 0
    order = np.argsort(-np.abs(leaning), kind="stable")
    order = order[leaning[order] != 0]
    if balanced:
        sides = [order[leaning[order] * sign > 0] for sign in (1, -1)]
        size = min(n // 2, *map(len, sides))
        order = np.concatenate([side[:size] for side in sides])
    else:
        order = order[:n]
    return BiasedWords(tuple(original.words[k] for k in order), leaning[order] > 0)


@dataclass(frozen=True, slots=True)
class Clustering:
    """How well two clusters fit the two genders; lower is better."""

    accuracy: float
    """Per cent of words on their gender's side, the labels given the better way round; [50, 100]."""
    v_measure: float
    """Per cent; 2hc / (h + c) of homogeneity and completeness."""
    n: int
    n_feminine: int


def clustering(biased: BiasedWords, vectors: Vectors, *, seed: int, n_init: int = 10) -> Clustering:
    """Cluster the biased words' vectors in two by k-means.

    Raises:
        DataError: fewer than two words; a word without a vector.
        DependencyError: scikit-learn is not there.
    """
    try:
        from sklearn.cluster import KMeans
    except ImportError as error:
        raise _lacking() from error
    found = KMeans(n_clusters=2, n_init=n_init, random_state=seed).fit_predict(_matrix(biased, vectors)).astype(bool)
    hits = int((found == biased.feminine).sum())
    n = len(biased.words)
    table = np.array([[(biased.feminine == g)[found == k].sum() for k in (False, True)] for g in (False, True)])
    return Clustering(100 * max(hits, n - hits) / n, 100 * v_measure(table), n, int(biased.feminine.sum()))


def v_measure(table: NDArray[np.int64]) -> float:
    """V = 2hc / (h + c) of a table classes × clusters: h = 1 − H(class|cluster) / H(class), c mirrored; [0, 1].

    h is 1 where there is one class only, c where there is one cluster only; V is 0 where both are 0.

    Source: Rosenberg and Hirschberg (2007).
    """
    total = int(table.sum())

    def entropy(counts: NDArray[np.int64]) -> float:
        n = int(counts.sum())
        return -sum((c / n * log(c / n) for c in map(int, counts) if c), start=0.0)

    def one_side(counts: NDArray[np.int64]) -> float:
        whole = entropy(counts.sum(axis=1))
        rest = sum(int(column.sum()) / total * entropy(column) for column in counts.T if column.any())
        return 1 - rest / whole if whole else 1.0

    homogeneity, completeness = one_side(table), one_side(table.T)
    both = homogeneity + completeness
    return 2 * homogeneity * completeness / both if both > 1e-15 else 0.0


@dataclass(frozen=True, slots=True)
class Recoverability:
    """How well a classifier finds the gender again; lower is better."""

    linear: float
    """Per cent of held-out words, linear support vector machine."""
    rbf: float
    """The same with a radial kernel."""
    n_train: int
    n_test: int


def recoverability(
    biased: BiasedWords,
    vectors: Vectors,
    *,
    seed: int,
    train_share: float,
    svm_c: float = 1.0,
    gamma: float | str = "scale",
) -> Recoverability:
    """Train on a share of the biased words (split at random by gender), test on the rest.

    Raises:
        DataError: too few words of a gender for the split; a word without a vector.
        DependencyError: scikit-learn is not there.
    """
    try:
        from sklearn.model_selection import train_test_split
        from sklearn.svm import SVC
    except ImportError as error:
        raise _lacking() from error
    matrix = _matrix(biased, vectors)
    try:
        train, test, gold, kept = train_test_split(
            matrix, biased.feminine, train_size=train_share, random_state=seed, stratify=biased.feminine
        )
    except ValueError as error:
        raise DataError(f"the {len(biased.words)} words cannot be split into training and test: {error}") from None
    accuracy = []
    for kernel in ("linear", "rbf"):
        machine = SVC(C=svm_c, kernel=kernel, gamma=gamma).fit(train, gold)
        accuracy.append(100 * float((machine.predict(test) == kept).mean()))
    return Recoverability(accuracy[0], accuracy[1], len(train), len(test))


def _matrix(biased: BiasedWords, vectors: Vectors) -> Floats:
    missing = vectors.known(biased.words)[1]
    if missing:
        raise DataError(
            f"{len(missing)} of the words have no vector, such as {missing[0]!r}; the spaces must share words"
        )
    if len(biased.words) < 2:
        raise DataError(f"two biased words or more expected, got {len(biased.words)}")
    return vectors.rows(biased.words)


def _lacking() -> DependencyError:
    return DependencyError("clustering and recoverability need scikit-learn: pip install scikit-learn")
