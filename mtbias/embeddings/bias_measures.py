"""Measures of gender bias in word vectors: the gender direction, direct and indirect bias, GIPE,
WEAT.

All vectors have length 1; g is the gender direction, a unit vector that points to the feminine.
Clustering and recoverability need scikit-learn.

Sources: Bolukbasi et al. (2016) for direct and indirect bias; Kumar, Bhotia, Kumar and Chakraborty,
*Nurse is closer to woman than surgeon?* (TACL 2020) for GIPE; Dawkins, *SoWinoBias* (GeBNLP 2021),
which uses all of them. Choices that these papers leave open are arguments here. Gonen and Goldberg,
*Lipstick on a pig* (NAACL 2019) for clustering and
recoverability: half of the words from either gender, 1,000 of 5,000 to train on; one split, or one
start of k-means, gives a number that another does not give: each is repeated, and the spread shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from importlib import import_module
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mtbias.embeddings.measure_settings import Direction, EmbeddingSettings, Selection
from mtbias.embeddings.vectors import Vectors
from mtbias.errors import DataError, DependencyError
from mtbias.machine.devices import install_command
from mtbias.stats.resampling import bootstrap_units, percentile_interval
from mtbias.stats.results import Floats, Interval, enough, number, source
from mtbias.types import frozen

# The word-embedding association test (WEAT), with one list of targets and with two.
#
# Sources: Caliskan, Bryson and Narayanan, *Semantics derived automatically from language corpora
# contain human-like biases* (Science 2017), for the test; Dawkins, *SoWinoBias* (GeBNLP 2021), for
# one list of targets.

_CHUNK = 1 << 14
_WORDS_AT_ONCE = 64
"""Words whose neighbours are searched for together: with 300,000 words, 150 MB of cosines."""
_TIE = 1e-12
"""Values closer than this count as equal: the sums of two partitions differ by rounding alone."""


@frozen
class Measured:
    """A number of a space of vectors, with what it rests on."""

    value: float | None
    """None where it is undefined."""
    ends: Interval | None = None
    """The 95 % interval (bootstrap over words); for a repeated measure, its minimum and maximum."""
    rests_on: Mapping[str, int] = field(default_factory=dict)
    """Counts behind the number: words, partitions, repeats and so on."""
    p: float | None = None
    """One-sided, of the partitions (`_share_above`)."""
    undefined: str = ""
    """Why the number is undefined, if the reason is known."""


def weat(
    targets: Floats, attributes_1: Floats, attributes_2: Floats, *, settings: EmbeddingSettings
) -> Measured:
    """The test with one list of targets: S = mean over targets of mean cos(t, A1) − mean cos(t,
    A2), and p; [−2, 2].

    S is linear: with c(a) the mean over targets of cos(t, a), S = mean c(A1) − mean c(A2); so a
    partition is a choice of |A1| numbers of |A1| + |A2|. All of them are counted where they are at
    most `settings.partitions`, else so many are drawn.
    """
    closeness = (np.concatenate([attributes_1, attributes_2]) @ targets.T).mean(axis=1)
    return _share_above(closeness, len(attributes_1), settings)


def weat_two_targets(
    targets_1: Floats,
    targets_2: Floats,
    attributes_1: Floats,
    attributes_2: Floats,
    *,
    settings: EmbeddingSettings,
) -> dict[str, Measured]:
    """The test of Caliskan et al.: the difference, with its p, and the effect size d.

    The difference is mean over X of s(x) − mean over Y of s(y), s(w) = mean cos(w, A1) − mean
    cos(w, A2); [−4, 4]. It is the statistic of the permutation test, too; with lists of equal
    length, as theirs are, it orders partitions as their difference of sums does. d is the
    difference over the sample standard deviation (n − 1) of s over X ∪ Y, None where that is 0.
    """
    targets = np.concatenate([targets_1, targets_2])
    association = (targets @ attributes_1.T).mean(axis=1) - (targets @ attributes_2.T).mean(axis=1)
    difference = _share_above(association, len(targets_1), settings)
    deviation = float(association.std(ddof=1))

    effect_size = None
    if difference.value is not None and deviation > _TIE:
        effect_size = difference.value / deviation
    return {"difference": difference, "d": Measured(effect_size)}


def _share_above(values: Floats, n1: int, settings: EmbeddingSettings) -> Measured:
    """The difference of means of the first `n1` values and the others, with its p.

    p is the share of partitions whose difference is strictly larger, and of the observed one, which
    is a partition too: (hits + 1) / all of them, or (hits + 1) / (drawn + 1) where they are drawn.
    So p is never 0 (Phipson and Smyth 2010); the papers leave the observed one out.
    """
    n, total = len(values), float(values.sum())

    def differences(chosen: NDArray[np.int64]) -> Floats:
        sums = values[chosen].sum(axis=1)
        return np.asarray(sums / n1 - (total - sums) / (n - n1))

    observed = float(differences(np.arange(n1)[None])[0])
    exact = comb(n, n1) <= settings.partitions
    hits = done = 0
    for chosen in _all(n, n1) if exact else _drawn(n, n1, settings):
        hits += int((differences(chosen) > observed + _TIE).sum())
        done += len(chosen)
    p = (hits + 1) / (done if exact else done + 1)
    return Measured(observed, rests_on={"partitions" if exact else "random partitions": done}, p=p)


def _all(n: int, k: int) -> Iterator[NDArray[np.int64]]:
    subsets = combinations(range(n), k)
    while chunk := list(islice(subsets, _CHUNK)):
        yield np.array(chunk, dtype=np.int64)


def _drawn(n: int, k: int, settings: EmbeddingSettings) -> Iterator[NDArray[np.int64]]:
    rng = source(settings.seed)
    for start in range(0, settings.partitions, _CHUNK):
        size = min(_CHUNK, settings.partitions - start)
        yield rng.permuted(np.tile(np.arange(n), (size, 1)), axis=1)[:, :k]


def gender_subspace(
    vectors: Vectors, pairs: Sequence[tuple[str, str]], components: int = 1
) -> Floats:
    """An orthonormal basis of the gender subspace, ``[components, dimensions]``.

    The first principal components of the pairs, each centred on its mean (Bolukbasi et al. 2016,
    section 5).

    Raises:
        DataError: differences of fewer dimensions than `components`.
    """
    half = _halves(vectors, pairs)
    # Each pair centred on its mean is half its difference, once with either sign.
    _, spread, basis = np.linalg.svd(np.concatenate([half, -half]), full_matrices=False)
    rank = int((spread > 1e-12).sum())
    if rank < components:
        message = (
            f"expected differences of {components} dimensions or more for the gender subspace, "
            f"got {rank}; there are {len(pairs)} pairs"
        )
        raise DataError(message, path=vectors.path)
    return np.asarray(basis[:components], dtype=np.float64)


def _halves(vectors: Vectors, pairs: Sequence[tuple[str, str]]) -> Floats:
    """Half the difference feminine − masculine of each pair."""
    feminine = vectors.rows([pair[0] for pair in pairs])
    masculine = vectors.rows([pair[1] for pair in pairs])
    return np.asarray((feminine - masculine) / 2)


def gender_direction(
    vectors: Vectors, pairs: Sequence[tuple[str, str]], method: Direction = "pca"
) -> Floats:
    """The unit vector g of `pairs` (feminine, masculine); the feminine words lie higher on average.

    Raises:
        DataError: pairs that are all the same.
    """
    half = _halves(vectors, pairs)
    mean = half.mean(axis=0)
    direction = mean if method == "mean" or not half.any() else gender_subspace(vectors, pairs)[0]
    length = float(np.linalg.norm(direction))
    if length < 1e-12:
        raise DataError(
            "the pairs have no gender direction: their differences are zero, or cancel out"
        )
    direction = direction / length
    return np.asarray(direction if float(mean @ direction) >= 0 else -direction, dtype=np.float64)


def direct_bias(
    vectors: Floats, g: Floats, settings: EmbeddingSettings = EmbeddingSettings()
) -> Measured:
    """DB = (1/|N|) Σ |cos(w, g)|^c over the rows of `vectors`; [0, 1], None without rows; bootstrap
    over words.
    """
    return _ratio(np.abs(vectors @ g) ** settings.c, np.ones(len(vectors)), settings)


def _ratio(parts: Floats, wholes: Floats, settings: EmbeddingSettings) -> Measured:
    """Σ parts / Σ wholes over words, with its percentile interval if there are enough of
    them.
    """

    def ratio(sums: Floats) -> Floats:
        value = np.full(len(sums), np.nan)
        np.divide(sums[:, 0], sums[:, 1], out=value, where=sums[:, 1] > 0)
        return value

    units = np.stack([parts, wholes], axis=1)
    value = number(ratio(units.sum(axis=0, keepdims=True))[0])
    ends = None
    if settings.resamples and enough(len(parts)):
        rng = source(settings.seed)
        ends = percentile_interval(bootstrap_units(units, ratio, settings.resamples, rng))
    return Measured(value, ends, {"words": len(parts)})


def indirect_bias(first: Floats, second: Floats, g: Floats) -> Floats:
    """β(w, v) = [w·v − (w_p·v_p) / (|w_p||v_p|)] / (w·v) with w_p = w − (w·g)g, for rows that
    belong together: ``[n]``.

    The share of a similarity that goes when the gender direction is taken out; above 0 where gender
    adds to it. NaN where w·v is 0 or w (or v) lies on g.
    """
    without = [vectors - np.outer(vectors @ g, g) for vectors in (first, second)]
    similar = (first * second).sum(axis=1)
    lengths = [np.linalg.norm(vectors, axis=1) for vectors in without]
    gone = np.minimum(*lengths) < 1e-12
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = (without[0] * without[1]).sum(axis=1) / (lengths[0] * lengths[1])
        beta = (similar - cosine) / similar
    return np.where(gone | (similar == 0), np.nan, beta)


def gipe(
    words: Sequence[str],
    vectors: Vectors,
    original: Vectors,
    g: Floats,
    settings: EmbeddingSettings,
) -> dict[str, Measured]:
    """GIPE(V) = Σ γ(w)·η(w) / Σ γ(w) over the words V, and mean η; [0, 1], bootstrap over the
    words.

    η(w) = share of the N nearest neighbours n of w with β(n, w) > θ. γ(w) = 1 + (incoming edges
    with β > θ) / (incoming edges); incoming edges of w come from the words of V that have w among
    their neighbours. Neighbours are those in `vectors` (the word itself left out; ties by order in
    the file), β and g are of the `original` space. An edge whose β is undefined counts as not above
    θ. GIPE is None where all weights are 0.

    Args:
        words: V, each once, with a vector in both spaces.
        vectors: the space that is judged, such as a debiased one.
        original: the space before debiasing, or the same object.
        g: the gender direction of the original space.
        settings: `neighbours` is N; the authors' program has 100, the paper of SoWinoBias does not
            say. `theta` is θ, strictly; the program's default is 0.03, it was run with 0.05 and
            0.07 too. `edgeless_weight` is γ of a word without incoming edges: the formula's 1 + 0/0
            is read as 1; the authors' program gives 0.

    Raises:
        DataError: fewer words than `neighbours` + 1.
    """
    neighbours = settings.neighbours
    own = np.array([vectors.index[word] for word in words])
    place = np.full(len(vectors.words), -1)
    """Of each word of the space its number in V; -1: it is not there."""
    place[own] = np.arange(len(words))
    above, incoming = np.zeros(len(words)), np.zeros((len(words), 2))
    undefined = 0
    for n, (near, beta) in enumerate(edges(own, vectors, original, g, neighbours)):
        undefined += int(np.isnan(beta).sum())
        high = beta > settings.theta
        above[n] = high.sum()
        listed = place[near] >= 0
        incoming[place[near[listed]]] += np.column_stack([np.ones(listed.sum()), high[listed]])
    gamma = np.full(len(words), float(settings.edgeless_weight))
    linked = incoming[:, 0] > 0
    gamma[linked] = 1 + incoming[linked, 1] / incoming[linked, 0]

    weighted = _ratio(gamma * above / neighbours, gamma, settings)
    rests_on = {
        **weighted.rests_on,
        "neighbours each": neighbours,
        "edges above θ": int(above.sum()),
        "undefined edges": undefined,
        "words without edges": int((~linked).sum()),
    }
    return {
        "": replace(weighted, rests_on=rests_on),
        "mean η": _ratio(above / neighbours, np.ones(len(words)), settings),
    }


def edges(
    rows: NDArray[np.int64], vectors: Vectors, original: Vectors, g: Floats, n: int
) -> Iterator[tuple[NDArray[np.int64], Floats]]:
    """The rows of the `n` nearest neighbours of each of `rows` of `vectors`, and β of each with it,
    of `original`.

    Raises:
        DataError: no more than `n` words; a neighbour has no vector in the original space.
    """
    if n >= len(vectors.words):
        message = (
            f"expected between 1 and {len(vectors.words) - 1} neighbours, got {n}; set --neighbours"
        )
        raise DataError(message, path=vectors.path)
    for start in range(0, len(rows), _WORDS_AT_ONCE):
        some = rows[start : start + _WORDS_AT_ONCE]
        for row, cosine in zip(some, vectors.matrix[some] @ vectors.matrix.T, strict=True):
            near = _largest(cosine, row, n)
            names = [vectors.words[k] for k in near]
            if lost := original.lacking(names):
                raise DataError(
                    f"{lost[0]!r}, a neighbour of {vectors.words[row]!r}, has no vector in the "
                    "original space"
                )

            others = original.rows(names)
            own = original.rows([vectors.words[row]])[0]
            yield near, indirect_bias(others, np.broadcast_to(own, others.shape), g)


def _largest(cosine: Floats, own: int, n: int) -> NDArray[np.int64]:
    """The places of the `n` largest cosines, without one's own."""
    cosine[own] = -np.inf
    border = np.partition(cosine, -n)[-n]
    candidates = np.flatnonzero(cosine >= border)
    order = np.lexsort((candidates, -cosine[candidates]))
    return np.asarray(candidates[order[:n]], dtype=np.int64)


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
        """Why the genders cannot be separated: all words lean one way, or no words were given.

        Empty if both genders have words.
        """
        n, n_feminine = len(self.words), int(self.feminine.sum())
        if 0 < n_feminine < n:
            return ""
        if not n:
            return "no word leans"
        side = "feminine" if n_feminine else "masculine"
        return f"all {n} words lean to the {side}"


def most_biased(
    original: Vectors,
    g: Floats,
    n: int,
    *,
    exclude: Collection[str] = (),
    selection: Selection = "by-gender",
) -> BiasedWords:
    """The `n` words that lean most, in the space before debiasing: half from each gender, or
    whichever lean most.

    Without those to `exclude`, which tell a gender by definition. By gender, both halves are as
    large as the words of the rarer gender allow; where one gender has none, the words of the other
    are given. A word at a right angle to g leans nowhere and is never taken.
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


def clustering(
    biased: BiasedWords, vectors: Vectors, settings: EmbeddingSettings
) -> dict[str, Measured]:
    """How well two clusters fit the two genders, in per cent; lower is better.

    The biased words' vectors are clustered by k-means, `settings.repeats` times, each time the best
    of `settings.kmeans_starts`. The accuracy is the share of words on their gender's side, the
    labels given the better way round, [50, 100]; V is 2hc / (h + c) of homogeneity and completeness
    (Rosenberg and Hirschberg 2007).

    Raises:
        DataError: a word without a vector.
        DependencyError: scikit-learn is not there.
    """
    n, n_feminine = len(biased.words), int(biased.feminine.sum())
    matrix = _matrix(biased, vectors)
    undefined = biased.one_sided
    if not undefined and not np.ptp(matrix, axis=0).any():
        undefined = f"all {n} words have the same vector"

    scores: dict[str, list[float]] = {"accuracy": [], "V": []}
    if not undefined:
        k_means = sklearn_module("cluster").KMeans
        v_score = sklearn_module("metrics").v_measure_score
        for state in source(settings.seed).integers(_STATES, size=settings.repeats).tolist():
            model = k_means(n_clusters=2, n_init=settings.kmeans_starts, random_state=state)
            sides = model.fit_predict(matrix) == 1
            hits = int((sides == biased.feminine).sum())
            scores["accuracy"].append(100 * max(hits, n - hits) / n)
            scores["V"].append(100 * float(v_score(biased.feminine, sides)))

    rests_on = {"words": n, "feminine": n_feminine, "starts": settings.repeats}
    return _spread(scores, rests_on, undefined)


def recoverability(
    biased: BiasedWords, vectors: Vectors, settings: EmbeddingSettings
) -> dict[str, Measured]:
    """How well a support vector machine, linear or radial, finds the gender of held-out words, in
    per cent; lower is better.

    It is trained on a share of the biased words, drawn at random from either gender, and tested on
    the rest, `settings.repeats` times.

    Raises:
        DataError: a word without a vector.
        DependencyError: scikit-learn is not there.
    """
    matrix = _matrix(biased, vectors)
    sides = [np.flatnonzero(biased.feminine == side) for side in (True, False)]
    sizes = [round(settings.train_share * len(side)) for side in sides]
    undefined = biased.one_sided
    divisible = all(0 < size < len(side) for size, side in zip(sizes, sides, strict=True))
    if not undefined and not divisible:
        undefined = (
            f"{len(sides[0])} feminine and {len(sides[1])} masculine words are too few to train on "
            f"a share of {settings.train_share:g} and test on the rest"
        )

    accuracies: dict[str, list[float]] = {"linear": [], "rbf": []}
    rng = source(settings.seed)
    for _ in range(0 if undefined else settings.repeats):
        drawn = [rng.permutation(side) for side in sides]
        train = np.concatenate([side[:size] for side, size in zip(drawn, sizes, strict=True)])
        test = np.concatenate([side[size:] for side, size in zip(drawn, sizes, strict=True)])
        for kernel, of_kernel in accuracies.items():
            machine = sklearn_module("svm").SVC(
                C=settings.svm_c, kernel=kernel, gamma=settings.svm_gamma
            )
            trained = machine.fit(matrix[train], biased.feminine[train])
            is_right = trained.predict(matrix[test]) == biased.feminine[test]
            of_kernel.append(100 * float(is_right.mean()))

    n_train = sum(sizes)
    rests_on = {
        "words": len(matrix) - n_train,
        "trained on": n_train,
        "splits": settings.repeats,
    }
    return _spread(accuracies, rests_on, undefined)


def _spread(
    repeats: Mapping[str, Sequence[float]], rests_on: Mapping[str, int], undefined: str
) -> dict[str, Measured]:
    """The mean of each number over its repeats, with the least and the most."""
    if undefined:
        return {name: Measured(None, undefined=undefined) for name in repeats}
    return {
        name: Measured(sum(values) / len(values), (min(values), max(values)), rests_on)
        for name, values in repeats.items()
    }


def _matrix(biased: BiasedWords, vectors: Vectors) -> Floats:
    if missing := vectors.lacking(biased.words):
        message = (
            f"expected a vector for each of the {len(biased.words)} most biased words, "
            f"got none for {len(missing)}"
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
        needed_by = "clustering, recoverability, double-hard debiasing and INLP"
        install = install_command("embeddings")
        message = f"not installed: scikit-learn, which {needed_by} need: {install}"
        raise DependencyError(message) from error
