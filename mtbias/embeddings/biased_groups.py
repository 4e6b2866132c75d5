"""Whether words that leaned to one gender still stand together after debiasing: clustering and recoverability.

Source: Gonen and Goldberg, *Lipstick on a pig* (NAACL 2019), as used by Dawkins, *SoWinoBias* (GeBNLP 2021). Words are
balanced and split as Gonen and Goldberg do: half of them from either gender, 1,000 of 5,000 to train on. One split, or
one start of k-means, gives a number that another one does not give: each is repeated, and the spread shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtbias.embeddings.bias_measures import Measured
from mtbias.embeddings.measure_settings import EmbeddingSettings, Selection
from mtbias.embeddings.vectors import Vectors
from mtbias.errors import DataError, DependencyError
from mtbias.machine.installation import install_command
from mtbias.stats.results import Floats
from mtbias.types import frozen

_STATES = 1 << 32
"""scikit-learn takes seeds below this."""


@frozen
class BiasedWords:
    """The words with the largest |cos(w, g)|, and which gender each leans to."""

    words: tuple[str, ...]
    feminine: NDArray[np.bool_]
    """cos(w, g) > 0."""

    @property
    def one_sided(self) -> str:
        """Why the genders cannot be told apart: all words lean one way, or there are none; empty where they can."""
        n, n_feminine = len(self.words), int(self.feminine.sum())
        if 0 < n_feminine < n:
            return ""
        return f"all {n} words lean to the {'feminine' if n_feminine else 'masculine'}" if n else "no word leans"


def most_biased(
    original: Vectors, g: Floats, n: int, *, exclude: Collection[str] = (), selection: Selection = "by-gender"
) -> BiasedWords:
    """The `n` words that lean most, in the space before debiasing: half from each gender, or whichever lean most.

    Without those to `exclude`, which tell a gender by definition. By gender, both halves are as large as the words of
    the rarer gender allow; where one gender has none, the words of the other are given. A word at a right angle to g
    leans nowhere and is never taken.
    """
    leaning = original.matrix @ g
    skip = [original.index[word] for word in exclude if word in original.index]
    leaning[skip] = 0
    order = np.argsort(-np.abs(leaning), kind="stable")
    order = order[leaning[order] != 0]
    sides = [order[leaning[order] * sign > 0] for sign in (1, -1)]
    if selection == "by-gender" and all(map(len, sides)):
        size = min(n // 2, *map(len, sides))
        order = np.concatenate([side[:size] for side in sides])
    else:
        order = order[:n]
    return BiasedWords(tuple(original.words[k] for k in order), leaning[order] > 0)


def clustering(biased: BiasedWords, vectors: Vectors, settings: EmbeddingSettings) -> dict[str, Measured]:
    """How well two clusters fit the two genders, in per cent; lower is better.

    The biased words' vectors are clustered by k-means, `settings.repeats` times, each time the best of
    `settings.kmeans_starts`. The accuracy is the share of words on their gender's side, the labels given the better way
    round, [50, 100]; V is 2hc / (h + c) of homogeneity and completeness (Rosenberg and Hirschberg 2007).

    Raises:
        DataError: a word without a vector.
        DependencyError: scikit-learn is not there.
    """
    n, n_feminine = len(biased.words), int(biased.feminine.sum())
    matrix = _matrix(biased, vectors)
    undefined = biased.one_sided
    if not undefined and not np.ptp(matrix, axis=0).any():
        undefined = f"all {n} words have the same vector"
    found: dict[str, list[float]] = {"accuracy": [], "V": []}
    if not undefined:
        k_means, v_score = sklearn_module("cluster").KMeans, sklearn_module("metrics").v_measure_score
        for state in np.random.default_rng(settings.seed).integers(_STATES, size=settings.repeats).tolist():
            sides = k_means(n_clusters=2, n_init=settings.kmeans_starts, random_state=state).fit_predict(matrix) == 1
            hits = int((sides == biased.feminine).sum())
            found["accuracy"].append(100 * max(hits, n - hits) / n)
            found["V"].append(100 * float(v_score(biased.feminine, sides)))
    return _spread(found, {"words": n, "feminine": n_feminine, "starts": settings.repeats}, undefined)


def recoverability(biased: BiasedWords, vectors: Vectors, settings: EmbeddingSettings) -> dict[str, Measured]:
    """How well a support vector machine, linear or radial, finds the gender of held-out words, in per cent; lower is
    better.

    It is trained on a share of the biased words, drawn at random from either gender, and tested on the rest,
    `settings.repeats` times.

    Raises:
        DataError: a word without a vector.
        DependencyError: scikit-learn is not there.
    """
    matrix = _matrix(biased, vectors)
    sides = [np.flatnonzero(biased.feminine == side) for side in (True, False)]
    sizes = [round(settings.train_share * len(side)) for side in sides]
    undefined = biased.one_sided
    if not undefined and not all(0 < size < len(side) for size, side in zip(sizes, sides, strict=True)):
        counts = f"{len(sides[0])} feminine and {len(sides[1])} masculine words"
        undefined = f"{counts} are too few to train on a share of {settings.train_share:g} and test on the rest"
    found: dict[str, list[float]] = {"linear": [], "rbf": []}
    rng = np.random.default_rng(settings.seed)
    for _ in range(0 if undefined else settings.repeats):
        drawn = [rng.permutation(side) for side in sides]
        train = np.concatenate([side[:size] for side, size in zip(drawn, sizes, strict=True)])
        test = np.concatenate([side[size:] for side, size in zip(drawn, sizes, strict=True)])
        for kernel, shares in found.items():
            machine = sklearn_module("svm").SVC(C=settings.svm_c, kernel=kernel, gamma=settings.svm_gamma)
            trained = machine.fit(matrix[train], biased.feminine[train])
            shares.append(100 * float((trained.predict(matrix[test]) == biased.feminine[test]).mean()))
    n_train = sum(sizes)
    return _spread(
        found, {"words": len(matrix) - n_train, "trained on": n_train, "splits": settings.repeats}, undefined
    )


def _spread(found: Mapping[str, Sequence[float]], rests_on: Mapping[str, int], undefined: str) -> dict[str, Measured]:
    """The mean of each number over its repeats, with the least and the most."""
    if undefined:
        return {name: Measured(None, undefined=undefined) for name in found}
    return {
        name: Measured(sum(values) / len(values), (min(values), max(values)), rests_on)
        for name, values in found.items()
    }


def _matrix(biased: BiasedWords, vectors: Vectors) -> Floats:
    if missing := vectors.lacking(biased.words):
        message = (
            f"expected a vector for each of the {len(biased.words)} most biased words, got none for {len(missing)}"
        )
        step = "give vectors of the same words, or choose other measures with --measure"
        raise DataError(f"{message}, such as {missing[0]!r}; {step}", path=vectors.path)
    return vectors.rows(biased.words)


def sklearn_module(module: str) -> Any:  # noqa: ANN401 - scikit-learn has no types
    """A module of scikit-learn, which is an extra.

    Raises:
        DependencyError: it is not there; names the extra.
    """
    try:
        return import_module(f"sklearn.{module}")
    except ImportError as error:
        message = f"scikit-learn, which clustering, recoverability and INLP need: {install_command('embeddings')}"
        raise DependencyError(f"not installed: {message}") from error
