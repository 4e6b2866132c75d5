"""Measures of gender bias in word vectors: direct and indirect bias, WEAT with one target list, GIPE.

All vectors have length 1; g is the gender direction, a unit vector that points to the feminine. What needs scikit-learn
(clustering, recoverability) is in `mtbias.embeddings.biased_groups`.

Sources: Bolukbasi et al. (2016) for direct and indirect bias; Caliskan et al. (2017) for the association test; Kumar,
Bhotia, Kumar and Chakraborty, *Nurse is closer to woman than surgeon?* (TACL 2020) for GIPE; Dawkins, *SoWinoBias*
(GeBNLP 2021), which uses all of them. What these papers leave open is an argument here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb

import numpy as np
from numpy.typing import NDArray

from mtbias.embeddings.measure_settings import Direction
from mtbias.embeddings.vectors import Vectors
from mtbias.errors import DataError
from mtbias.stats.results import Floats

_CHUNK = 1 << 14


def gender_direction(vectors: Vectors, pairs: Sequence[tuple[str, str]], method: Direction = "pca") -> Floats:
    """The unit vector g of `pairs` (feminine, masculine); the feminine words lie higher on average.

    Raises:
        DataError: no pairs; a word without vector; pairs that are all the same.
    """
    missing = vectors.lacking(word for pair in pairs for word in pair)
    if missing or not pairs:
        raise DataError(f"expected pairs of words with vectors for the gender direction, got none; without: {missing}")
    feminine, masculine = (vectors.rows([pair[k] for pair in pairs]) for k in (0, 1))
    half = (feminine - masculine) / 2
    if method == "mean":
        direction = half.mean(axis=0)
    else:
        # Each pair centred on its mean is half its difference, once with either sign.
        direction = np.linalg.svd(np.concatenate([half, -half]), full_matrices=False)[2][0]
    length = float(np.linalg.norm(direction))
    if length < 1e-12 or not half.any():
        raise DataError("the pairs have no gender direction: their differences are zero, or cancel out")
    direction = direction / length
    return np.asarray(direction if float(half.mean(axis=0) @ direction) >= 0 else -direction, dtype=np.float64)


def direct_bias(vectors: Floats, g: Floats, *, c: float = 1.0) -> float | None:
    """DB = (1/|N|) Σ |cos(w, g)|^c over the rows of `vectors`; [0, 1], None without rows."""
    return float((np.abs(vectors @ g) ** c).mean()) if len(vectors) else None


def indirect_bias(first: Floats, second: Floats, g: Floats) -> Floats:
    """β(w, v) = [w·v − (w_p·v_p) / (|w_p||v_p|)] / (w·v) with w_p = w − (w·g)g, for rows that belong together: ``[n]``.

    The share of a similarity that goes when the gender direction is taken out; above 0 where gender adds to it. NaN
    where w·v is 0 or w (or v) lies on g.
    """
    without = [vectors - np.outer(vectors @ g, g) for vectors in (first, second)]
    similar = (first * second).sum(axis=1)
    lengths = [np.linalg.norm(vectors, axis=1) for vectors in without]
    gone = np.minimum(*lengths) < 1e-12
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = (without[0] * without[1]).sum(axis=1) / (lengths[0] * lengths[1])
        beta = (similar - cosine) / similar
    return np.where(gone | (similar == 0), np.nan, beta)


@dataclass(frozen=True, slots=True)
class Weat:
    """The association of one list of targets with two lists of attributes."""

    s: float
    """mean over targets of mean cos(t, A1) − mean cos(t, A2); [−2, 2], above 0 where they are closer to A1."""
    p: float
    """Share of the partitions of A1 ∪ A2 into parts of these sizes whose value is larger (strictly)."""
    partitions: int
    exact: bool
    """All partitions were counted; else so many random ones."""


def weat(
    targets: Floats, attributes_1: Floats, attributes_2: Floats, *, partitions: int, rng: np.random.Generator
) -> Weat:
    """The single-target association test: S and p.

    S is linear: with c(a) the mean over targets of cos(t, a), S = mean c(A1) − mean c(A2); so a partition is a choice
    of |A1| numbers of |A1| + |A2|. All of them are counted where they are at most `partitions`, else so many are drawn
    with `rng`. Values within 1e-12 count as equal.

    Raises:
        DataError: one of the lists is empty, or `partitions` is 0.
    """
    n1, n2 = len(attributes_1), len(attributes_2)
    if not (len(targets) and n1 and n2 and partitions):
        raise DataError("expected targets, two lists of attributes, and one partition or more for WEAT, got less")
    closeness = (np.concatenate([attributes_1, attributes_2]) @ targets.T).mean(axis=1)
    total = float(closeness.sum())

    def values(chosen: NDArray[np.int64]) -> Floats:
        sums = closeness[chosen].sum(axis=1)
        return np.asarray(sums / n1 - (total - sums) / n2)

    s = float(values(np.arange(n1)[None])[0])
    exact = comb(n1 + n2, n1) <= partitions
    hits = done = 0
    for chosen in _all(n1 + n2, n1) if exact else _drawn(n1 + n2, n1, partitions, rng):
        hits += int((values(chosen) > s + 1e-12).sum())
        done += len(chosen)
    return Weat(s, hits / done, done, exact)


def _all(n: int, k: int) -> Iterator[NDArray[np.int64]]:
    subsets = combinations(range(n), k)
    while chunk := list(islice(subsets, _CHUNK)):
        yield np.array(chunk, dtype=np.int64)


def _drawn(n: int, k: int, times: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    for start in range(0, times, _CHUNK):
        size = min(_CHUNK, times - start)
        yield rng.permuted(np.tile(np.arange(n), (size, 1)), axis=1)[:, :k]


@dataclass(frozen=True, slots=True)
class Gipe:
    """Gender-based illicit proximity."""

    value: float | None
    """Σ γ·η / Σ γ; [0, 1]. None where all weights are 0."""
    n: int
    """Words."""
    neighbours: int
    above: int
    """Edges (word, neighbour) with β > θ, of n · neighbours."""
    undefined: int
    """Edges whose β is undefined: they count as not above."""
    without_edges: int
    """Words that are no word's neighbour."""


def gipe(
    words: Sequence[str],
    vectors: Vectors,
    original: Vectors,
    g: Floats,
    *,
    neighbours: int = 100,
    theta: float = 0.03,
    weight_without_edges: float = 1.0,
) -> Gipe:
    """GIPE(V) = Σ γ(w)·η(w) / Σ γ(w) over the words V.

    η(w) = share of the N nearest neighbours n of w with β(n, w) > θ. γ(w) = 1 + (incoming edges with β > θ) /
    (incoming edges); incoming edges of w come from the words of V that have w among their neighbours. Neighbours are
    those in `vectors` (the word itself left out; ties by order in the file), β and g are of the `original` space.

    Args:
        words: V, each once, with a vector in both spaces.
        vectors: the space that is judged, such as a debiased one.
        original: the space before; the same object where there is none.
        g: the gender direction of the original space.
        neighbours: N. The authors' program has 100; the paper of SoWinoBias does not say.
        theta: θ, strictly. The program's default is 0.03, it was run with 0.05 and 0.07 too.
        weight_without_edges: γ of a word without incoming edges. The formula's 1 + 0/0 is read as 1; the authors'
            program gives 0.

    Raises:
        DataError: a word has no vector, in either space; fewer words than `neighbours` + 1; no words.
    """
    missing = vectors.lacking(words) + original.lacking(words)
    if missing or not words:
        raise DataError(f"expected words with vectors for GIPE, got none; without: {missing}")
    if not 1 <= neighbours < len(vectors.words):
        raise DataError(f"expected between 1 and {len(vectors.words) - 1} neighbours, got {neighbours}")
    place = {word: n for n, word in enumerate(words)}
    above, incoming = np.zeros(len(words)), np.zeros((len(words), 2))
    undefined = 0
    for n, word in enumerate(words):
        near, beta = _edges(word, vectors, original, g, neighbours)
        undefined += int(np.isnan(beta).sum())
        above[n] = (beta > theta).sum()
        for neighbour, is_high in zip(near, beta > theta, strict=True):
            if neighbour in place:
                incoming[place[neighbour]] += (1, is_high)
    gamma = np.full(len(words), float(weight_without_edges))
    linked = incoming[:, 0] > 0
    gamma[linked] = 1 + incoming[linked, 1] / incoming[linked, 0]
    value = float(gamma @ (above / neighbours) / gamma.sum()) if gamma.any() else None
    return Gipe(value, len(words), neighbours, int(above.sum()), undefined, int((~linked).sum()))


def _edges(word: str, vectors: Vectors, original: Vectors, g: Floats, n: int) -> tuple[list[str], Floats]:
    """The neighbours of a word, and β of each with it."""
    near = [vectors.words[k] for k in _nearest(vectors, word, n)]
    if lost := original.lacking(near):
        raise DataError(f"{lost[0]!r}, a neighbour of {word!r}, has no vector in the original space")
    others = original.rows(near)
    return near, indirect_bias(others, np.broadcast_to(original.rows([word])[0], others.shape), g)


def _nearest(vectors: Vectors, word: str, n: int) -> NDArray[np.int64]:
    """The rows of the `n` words with the largest cosine."""
    own = vectors.index[word]
    cosine = vectors.matrix @ vectors.matrix[own]
    cosine[own] = -np.inf
    border = np.partition(cosine, -n)[-n]
    candidates = np.flatnonzero(cosine >= border)
    order = np.lexsort((candidates, -cosine[candidates]))
    return np.asarray(candidates[order[:n]], dtype=np.int64)
