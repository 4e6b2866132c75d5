"""Hard debiasing by hand in three dimensions, and its properties."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtbias.embeddings.bias_measures import gender_subspace
from mtbias.embeddings.hard_debiasing import (
    double_hard_debiasing,
    equalised,
    hard_debiasing,
    neutralised,
    principal_components,
)
from mtbias.embeddings.measure_settings import DebiasSettings
from mtbias.embeddings.vectors import Vectors
from mtbias.errors import DataError
from mtbias.stats.results import Floats
from tests.embeddings.toy_vectors import make_vectors

G = np.array([[1.0, 0.0, 0.0]])
"""A gender subspace of one dimension."""


def test_neutralised_by_hand() -> None:
    # Without the first coordinate, then of length 1; nothing is left of the last.
    rows = np.array([[0.6, 0.8, 0], [-0.8, 0, 0.6], [0, 0.6, 0.8], [1, 0, 0]])
    assert neutralised(rows, G) == pytest.approx(
        np.array([[0, 1, 0], [0, 0, 1], [0, 0.6, 0.8], [0, 0, 0]])
    )


def test_equalised_by_hand() -> None:
    # Mean (.1, .7, 0), without its first coordinate ν = (0, .7, 0): √(1 - .49) is left for ±g.
    pair = np.array([[0.8, 0.6, 0], [-0.6, 0.8, 0]])
    assert equalised(pair, G) == pytest.approx(
        np.array([[sqrt(0.51), 0.7, 0], [-sqrt(0.51), 0.7, 0]])
    )
    # In a plane: mean (.3, .3, .8), ν = (0, 0, .8), .6 is left for ±(1, -1) / √2.
    pair = np.array([[0.6, 0, 0.8], [0, 0.6, 0.8]])
    side = 0.6 / sqrt(2)
    assert equalised(pair, np.eye(3)[:2]) == pytest.approx(
        np.array([[side, -side, 0.8], [-side, side, 0.8]])
    )
    # Two words with the same part in the subspace differ in no gender.
    assert equalised(np.array([[0.6, 0.8, 0], [0.6, 0, 0.8]]), G) is None


def test_which_words_are_neutralised_equalised_and_kept() -> None:
    rows = np.array(
        [[0.8, 0.6, 0], [-0.6, 0.8, 0], [0.6, 0, 0.8], [0.6, 0.8, 0], [0.6, 0, 0.8], [0.6, 0.8, 0]]
    )
    vectors = make_vectors(["woman", "man", "aunt", "nurse", "gal", "guy"], rows)
    pairs = [("woman", "man"), ("aunt", "uncle"), ("gal", "guy")]
    debiasing = hard_debiasing(vectors, G, pairs, ["aunt"])
    side = sqrt(0.51)
    # uncle has no vector: aunt stays. gal and guy lie equally far along g: they stay.
    expected = [
        [side, 0.7, 0],
        [-side, 0.7, 0],
        [0.6, 0, 0.8],
        [0, 1, 0],
        [0.6, 0, 0.8],
        [0.6, 0.8, 0],
    ]
    assert np.array(list(debiasing.rows)) == pytest.approx(np.array(expected))
    assert (debiasing.counts["pairs_equalised"], debiasing.counts["pairs_without_difference"]) == (
        1,
        1,
    )


def _random(seed: int, words: int, dimensions: int, components: int) -> tuple[Floats, Floats]:
    """Unit vectors and an orthonormal basis."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(words, dimensions))
    basis = np.linalg.qr(rng.normal(size=(dimensions, components)))[0].T
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), basis


@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(1, 3))
def test_neutralised_words_have_no_gender(seed: int, extra: int, components: int) -> None:
    rows, basis = _random(seed, 20, components + extra, components)
    found = neutralised(rows, basis)
    assert np.abs(found @ basis.T).max() < 1e-12
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(20))
    assert neutralised(found, basis) == pytest.approx(found)


def test_a_word_close_to_the_subspace_has_no_gender_either() -> None:
    # |w - w_B| is 1e-9: what one subtraction leaves by rounding would be 1e-7 of it.
    rng = np.random.default_rng(0)
    g, other = np.linalg.qr(rng.normal(size=(300, 2)))[0].T
    row = (g + 1e-9 * other)[None]
    assert np.abs(neutralised(row, g[None]) @ g).max() < 1e-12


@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(1, 3))
def test_equalised_pairs_are_equally_far_from_neutral_words(
    seed: int, extra: int, components: int
) -> None:
    rows, basis = _random(seed, 10, components + extra, components)
    pair = equalised(rows[:2], basis)
    assert pair is not None
    assert np.linalg.norm(pair, axis=1) == pytest.approx([1, 1])
    first, second = (
        neutralised(rows[2:], basis) @ pair.T[:, 0],
        neutralised(rows[2:], basis) @ pair.T[:, 1],
    )
    assert first == pytest.approx(second, abs=1e-12)
    # Opposite in the subspace.
    assert (pair.sum(axis=0) @ basis.T) == pytest.approx(np.zeros(components), abs=1e-12)


def test_against_the_steps_of_the_authors_program() -> None:
    # Word by word, with scikit-learn's PCA: drop the direction, normalise, then put pairs at ±√(1 -
    # |y|²).
    decomposition = pytest.importorskip("sklearn.decomposition")
    vectors = make_vectors(
        [f"w{n}" for n in range(40)], np.random.default_rng(3).normal(size=(40, 9))
    )
    pairs = [("w0", "w1"), ("w2", "w3"), ("w4", "w5")]
    rows, index = vectors.matrix.copy(), vectors.index
    centred = [(rows[index[a]] - rows[index[b]]) / 2 * sign for a, b in pairs for sign in (1, -1)]
    g = decomposition.PCA(n_components=1).fit(np.array(centred)).components_[0]
    for n in range(7, 40):
        rows[n] -= (rows[n] @ g) * g
        rows[n] /= np.linalg.norm(rows[n])
    for a, b in pairs:
        y = (rows[index[a]] + rows[index[b]]) / 2
        y -= (y @ g) * g
        z = np.sqrt(1 - y @ y) * np.sign((rows[index[a]] - rows[index[b]]) @ g)
        rows[index[a]], rows[index[b]] = y + z * g, y - z * g
    found = hard_debiasing(vectors, gender_subspace(vectors, pairs), pairs, ["w6"])
    assert np.array(list(found.rows)) == pytest.approx(rows, abs=1e-12)


# --- Double-hard debiasing ---

PAIRS = [("woman", "man"), ("girl", "boy")]


def test_principal_components_by_hand() -> None:
    # The variance is 9 along the first axis, 4 along the third, 1 along the second.
    rows = np.array([[3.0, 0, 0], [-3, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 2], [0, 0, -2]])
    found = principal_components(rows + 7, 2)  # wherever the mean is
    assert np.abs(found) == pytest.approx(np.array([[1.0, 0, 0], [0, 0, 1]]))


def _hidden_gender(seed: int = 0) -> Vectors:
    """200 words whose gender stands along g = e0 and, beside it, along e2, of which pairs have
    nothing: so hard debiasing leaves it there. 400 other words vary along e1 more than these along
    e2: gender is the second principal component.
    """
    rng = np.random.default_rng(seed)
    side = np.repeat([1.0, -1.0], 100)
    rows = 0.05 * rng.normal(size=(604, 8))
    rows[:4, 0] = [1, -1, 1, -1]
    rows[4:204, 0] += 0.3 * side
    rows[4:204, 2] += 0.9 * side
    rows[204:, 0] = 0
    rows[204:, 1] += np.tile([1, -1], 200)
    words = ["woman", "man", "girl", "boy", *(f"w{n}" for n in range(600))]
    return make_vectors(words, rows)


def test_double_hard_debiasing_takes_out_the_component_that_hides_gender() -> None:
    pytest.importorskip("sklearn")
    vectors = _hidden_gender()

    def gap(found: Floats) -> float:
        """The distance between the means of the words of either gender, all of length 1."""
        return float(np.linalg.norm(found[4:104].mean(axis=0) - found[104:204].mean(axis=0)))

    hard = np.array(list(hard_debiasing(vectors, np.eye(8)[:1], PAIRS, []).rows))
    made = double_hard_debiasing(vectors, PAIRS, PAIRS, [], DebiasSettings(cluster_words=100))
    rows = np.array(list(made.rows))
    assert made.counts["words_clustered"] == 200
    assert made.counts["principal_component_removed"] == 2
    assert made.counts["cluster_accuracy_without_removal"] == 100
    # Only noise is left: of 200 words four standard errors (of 3.5) above one half at most.
    assert made.counts["cluster_accuracy"] < 65
    # Along e2 they were ±1.
    assert gap(hard) > 1.9
    assert gap(rows) < 0.5


@pytest.mark.parametrize("seed", range(3))
def test_double_hard_debiasing_keeps_what_hard_debiasing_promises(seed: int) -> None:
    """Neutral words have no part in the gender subspace, nor in the component; pairs are equally
    far from all of them; all have length 1."""
    pytest.importorskip("sklearn")
    vectors = _hidden_gender(seed)
    made = double_hard_debiasing(vectors, PAIRS, PAIRS, [], DebiasSettings(cluster_words=50))
    rows = np.array(list(made.rows))
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(604))
    for first, second in ((0, 1), (2, 3)):
        assert rows[4:] @ rows[first] == pytest.approx(rows[4:] @ rows[second], abs=1e-9)
        gender = rows[first] - rows[second]
        assert np.abs(rows[4:] @ gender).max() < 1e-9
    removed = int(made.counts["principal_component_removed"])
    component = principal_components(vectors.matrix, removed)[-1]
    assert np.abs(rows @ component).max() < 1e-9


def test_double_hard_debiasing_needs_words_of_either_gender() -> None:
    pytest.importorskip("sklearn")
    rows = np.array(
        [[1.0, 0.1, 0], [-1, 0.1, 0], [1, 0, 0.1], [-1, 0, 0.1], [0.5, 1, 0], [0.5, 0, 1]]
    )
    vectors = make_vectors(["woman", "man", "girl", "boy", "nurse", "maid"], rows)
    with pytest.raises(DataError, match="either gender, got: all 2 words lean to the feminine"):
        double_hard_debiasing(vectors, PAIRS, PAIRS, [], DebiasSettings())
