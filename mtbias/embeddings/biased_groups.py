"""Whether words that leaned to one gender still stand together after debiasing: clustering and recoverability.

Source: Gonen and Goldberg, *Lipstick on a pig* (NAACL 2019), as used by Dawkins, *SoWinoBias* (GeBNLP 2021). Words are
balanced and split as Gonen and Goldberg do: half of them from either gender, 1,000 of 5,000 to train on. One split, or
one start of k-means, gives a number that another one does not give: each is repeated, and the spread shown.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtbias.embeddings.measure_settings import Selection
from mtbias.embeddings.vectors import Vectors
from mtbias.errors import DataError, DependencyError
from mtbias.machine.installation import install_command
from mtbias.stats.results import Floats

_STATES = 1 << 32
"""scikit-learn takes seeds below this."""


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Spread:
    """A number over repeated splits, or starts."""

    mean: float
    least: float
    most: float
    repeats: int

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        """That of one value or more."""
        return Spread(sum(values) / len(values), min(values), max(values), len(values))


@dataclass(frozen=True, slots=True)
class Clustering:
    """How well two clusters fit the two genders; lower is better."""

    accuracy: Spread | None
    """Per cent of words on their gender's side, the labels given the better way round; [50, 100]."""
    v_measure: Spread | None
    """Per cent; 2hc / (h + c) of homogeneity and completeness (Rosenberg and Hirschberg 2007)."""
    n: int
    n_feminine: int
    undefined: str = ""
    """Why there are no numbers, where there are none."""


def clustering(biased: BiasedWords, vectors: Vectors, *, seed: int, repeats: int = 10, n_init: int = 10) -> Clustering:
    """Cluster the biased words' vectors in two by k-means, `repeats` times, each time the best of `n_init` starts.

    Raises:
        DataError: a word without a vector.
        DependencyError: scikit-learn is not there.
    """
    n, n_feminine = len(biased.words), int(biased.feminine.sum())
    matrix = _matrix(biased, vectors)
    undefined = biased.one_sided
    if not undefined and not np.ptp(matrix, axis=0).any():
        undefined = f"all {n} words have the same vector"
    if undefined:
        return Clustering(None, None, n, n_feminine, undefined)
    k_means, v_score = sklearn_module("cluster").KMeans, sklearn_module("metrics").v_measure_score
    accuracy, v = [], []
    for state in np.random.default_rng(seed).integers(_STATES, size=repeats).tolist():
        found = k_means(n_clusters=2, n_init=n_init, random_state=state).fit_predict(matrix).astype(bool)
        hits = int((found == biased.feminine).sum())
        accuracy.append(100 * max(hits, n - hits) / n)
        v.append(100 * float(v_score(biased.feminine, found)))
    return Clustering(Spread.of(accuracy), Spread.of(v), n, n_feminine)


@dataclass(frozen=True, slots=True)
class Recoverability:
    """How well a classifier finds the gender again; lower is better."""

    linear: Spread | None
    """Per cent of held-out words, linear support vector machine."""
    rbf: Spread | None
    """The same with a radial kernel."""
    n_train: int
    n_test: int
    undefined: str = ""
    """Why there are no numbers, where there are none."""


def recoverability(
    biased: BiasedWords,
    vectors: Vectors,
    *,
    seed: int,
    repeats: int = 10,
    train_share: float = 0.2,
    svm_c: float = 1.0,
    gamma: float | str = "scale",
) -> Recoverability:
    """Train on a share of the biased words, drawn at random from either gender, and test on the rest; `repeats` times.

    Raises:
        DataError: a word without a vector.
        DependencyError: scikit-learn is not there.
    """
    matrix = _matrix(biased, vectors)
    sides = [np.flatnonzero(biased.feminine == side) for side in (True, False)]
    sizes = [round(train_share * len(side)) for side in sides]
    undefined = biased.one_sided
    if not undefined and not all(0 < size < len(side) for size, side in zip(sizes, sides, strict=True)):
        counts = f"{len(sides[0])} feminine and {len(sides[1])} masculine words"
        undefined = f"{counts} are too few to train on a share of {train_share:g} and test on the rest"
    n_train = sum(sizes)
    if undefined:
        return Recoverability(None, None, 0, 0, undefined)
    machine = sklearn_module("svm").SVC
    shares: dict[str, list[float]] = {"linear": [], "rbf": []}
    rng = np.random.default_rng(seed)
    for _ in range(repeats):
        drawn = [rng.permutation(side) for side in sides]
        train, test = (
            np.concatenate([side[part] for side, part in zip(drawn, parts, strict=True)])
            for parts in ([slice(size) for size in sizes], [slice(size, None) for size in sizes])
        )
        for kernel, found in shares.items():
            trained = machine(C=svm_c, kernel=kernel, gamma=gamma).fit(matrix[train], biased.feminine[train])
            found.append(100 * float((trained.predict(matrix[test]) == biased.feminine[test]).mean()))
    linear, rbf = (Spread.of(found) for found in shares.values())
    return Recoverability(linear, rbf, n_train, len(biased.words) - n_train)


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
