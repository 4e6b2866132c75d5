"""Iterative null-space projection (INLP): what a linear classifier reads gender from is taken out, again and again.

Source: Ravfogel, Elazar, Gonen, Twiton and Goldberg, *Null it out* (ACL 2020), algorithm 1, with the set-up of their
section on word vectors: the words that lean most to each gender and words that lean nowhere, linear support vector
machines without intercept, 35 rounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mtbias.embeddings.biased_groups import sklearn_module
from mtbias.embeddings.measure_settings import DebiasSettings
from mtbias.embeddings.vectors import Vectors
from mtbias.errors import DataError
from mtbias.stats.results import Floats

_HELD_OUT = 0.3
"""Share of the words that no classifier is trained on, as in the authors' program."""
_TOLERANCE = 1e-2
"""Of the classifiers. With liblinear's 1e-4 accuracies of six rounds differ by at most .002, and take twice as long."""
_NOTHING = 1e-10
"""A weight vector shorter than this has no direction."""


@dataclass(frozen=True, slots=True)
class NullspaceProjection:
    """The directions that are taken out, and how well a classifier found the classes."""

    removed: Floats
    """``[n, dimensions]``, orthonormal rows: P = I − removedᵀ removed."""
    accuracies: tuple[float, ...]
    """Per cent of held-out words, before each round and after the last."""
    chance: float
    """Per cent of held-out words in the largest class."""
    classes: tuple[int, ...]
    """How many words: feminine, masculine, neutral."""

    def apply(self, vectors: Vectors, chunk: int = 4096) -> Iterator[Floats]:
        """P·w for each vector with its length in the file, in their order."""
        for start in range(0, len(vectors.words), chunk):
            rows = vectors.matrix[start : start + chunk]
            rows = rows - (rows @ self.removed.T) @ self.removed
            lengths = np.ones(len(rows)) if vectors.lengths is None else vectors.lengths[start : start + chunk]
            yield from rows * lengths[:, None]


def nullspace_projection(vectors: Vectors, g: Floats, settings: DebiasSettings) -> NullspaceProjection:
    """Learn the projection from unit vectors.

    A round removes one direction with two classes, up to three with three (one against the rest). It stops before
    `settings.rounds` where the classifier finds nothing.

    Raises:
        DataError: fewer than two words lean to one of the genders; the rounds take out all dimensions.
        DependencyError: scikit-learn is not there.
    """
    rng = np.random.default_rng(settings.seed)
    classes = _classes(vectors, g, settings, rng)
    rows = vectors.matrix[np.concatenate(classes)]
    labels = np.repeat(np.arange(len(classes)), [len(each) for each in classes])
    train = np.concatenate([_train(len(each), rng) for each in classes])
    machine = sklearn_module("svm").LinearSVC
    basis = np.eye(vectors.matrix.shape[1])
    """``[dimensions, left]``: rows @ basis are coordinates in the null space of all classifiers so far."""
    removed: list[Floats] = []
    accuracies: list[float] = []
    while basis.shape[1]:
        inside = rows @ basis
        # Without intercept and in the primal: as the authors' program, and without randomness.
        found = machine(C=settings.svm_c, fit_intercept=False, dual=False, tol=_TOLERANCE).fit(
            inside[train], labels[train]
        )
        accuracies.append(100 * float((found.predict(inside[~train]) == labels[~train]).mean()))
        _, lengths, directions = np.linalg.svd(found.coef_, full_matrices=True)
        rank = int((lengths > _NOTHING).sum())
        if len(accuracies) > settings.rounds or not rank:
            break
        removed.append(directions[:rank] @ basis.T)
        basis = basis @ directions[rank:].T
    if not basis.shape[1]:
        message = f"{len(removed)} of {settings.rounds} rounds took out all {len(basis)} dimensions: no vector is left"
        raise DataError(
            f"{message}; give fewer --rounds, or --neutral-words 0 (one dimension a round)", path=vectors.path
        )
    held_out = labels[~train]
    chance = 100 * float(np.bincount(held_out).max() / len(held_out))
    taken = np.concatenate([np.empty((0, len(basis))), *removed])
    return NullspaceProjection(taken, tuple(accuracies), chance, tuple(map(len, classes)))


def _classes(
    vectors: Vectors, g: Floats, settings: DebiasSettings, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """The rows of the feminine, the masculine and, where there are some, the neutral words."""
    leaning = vectors.matrix @ g
    order = np.argsort(-leaning, kind="stable")
    n_feminine, n_masculine = int((leaning > 0).sum()), int((leaning < 0).sum())
    size = min(settings.biased_words, n_feminine, n_masculine)
    if size < 2:
        message = f"expected two words or more that lean to each gender, got {n_feminine} feminine, {n_masculine}"
        raise DataError(f"{message} masculine; INLP needs more words", path=vectors.path)
    classes = [order[:size], order[-size:]]
    near = np.setdiff1d(np.flatnonzero(np.abs(leaning) < settings.neutral_cosine), np.concatenate(classes))
    neutral = rng.choice(near, size=min(settings.neutral_words, len(near)), replace=False)
    return classes if len(neutral) < 2 else [*classes, np.sort(neutral)]


def _train(n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which of `n` words of a class are trained on: at least one is, and one is not."""
    held_out = min(max(round(_HELD_OUT * n), 1), n - 1)
    chosen = np.ones(n, dtype=np.bool_)
    chosen[rng.permutation(n)[:held_out]] = False
    return chosen
