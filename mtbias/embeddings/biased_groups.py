"""Whether words that leaned to one gender still stand together after debiasing: clustering and recoverability.

Source: Gonen and Goldberg, *Lipstick on a pig* (NAACL 2019), as used by Dawkins, *SoWinoBias* (GeBNLP 2021). The papers
do not say how words are balanced and split, nor the parameters of the classifiers: all of these are arguments.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtbias.embeddings.vectors import Vectors
from mtbias.errors import DataError, DependencyError
from mtbias.machine.installation import install_command
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
    """The `n` words that lean most, in the space before debiasing (`balanced`: half from either gender).

    Without those to `exclude`, which tell a gender by definition; fewer where there are not so many. A word at a right
    angle to g leans nowhere and is never taken.
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
    """Per cent; 2hc / (h + c) of homogeneity and completeness (Rosenberg and Hirschberg 2007)."""
    n: int
    n_feminine: int


def clustering(biased: BiasedWords, vectors: Vectors, *, seed: int, n_init: int = 10) -> Clustering:
    """Cluster the biased words' vectors in two by k-means.

    Raises:
        DataError: fewer than two words; a word without a vector.
        DependencyError: scikit-learn is not there.
    """
    means = _sklearn("cluster").KMeans(n_clusters=2, n_init=n_init, random_state=seed)
    found = means.fit_predict(_matrix(biased, vectors)).astype(bool)
    n, hits = len(biased.words), int((found == biased.feminine).sum())
    v = float(_sklearn("metrics").v_measure_score(biased.feminine, found))
    return Clustering(100 * max(hits, n - hits) / n, 100 * v, n, int(biased.feminine.sum()))


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
    split, svm = _sklearn("model_selection").train_test_split, _sklearn("svm")
    matrix = _matrix(biased, vectors)
    try:
        train, test, gold, kept = split(
            matrix, biased.feminine, train_size=train_share, random_state=seed, stratify=biased.feminine
        )
    except ValueError as error:
        raise DataError(f"the {len(biased.words)} words cannot be split into training and test: {error}") from None
    accuracy = []
    for kernel in ("linear", "rbf"):
        machine = svm.SVC(C=svm_c, kernel=kernel, gamma=gamma).fit(train, gold)
        accuracy.append(100 * float((machine.predict(test) == kept).mean()))
    return Recoverability(accuracy[0], accuracy[1], len(train), len(test))


def _matrix(biased: BiasedWords, vectors: Vectors) -> Floats:
    if missing := vectors.lacking(biased.words):
        message = f"{len(missing)} of the words have no vector, such as {missing[0]!r}; the spaces must share words"
        raise DataError(message)
    if len(biased.words) < 2:
        raise DataError(f"expected two biased words or more, got {len(biased.words)}")
    return vectors.rows(biased.words)


def _sklearn(module: str) -> Any:  # noqa: ANN401 - scikit-learn has no types
    try:
        return import_module(f"sklearn.{module}")
    except ImportError as error:
        message = f"clustering and recoverability need scikit-learn: {install_command('embeddings')}"
        raise DependencyError(message) from error
