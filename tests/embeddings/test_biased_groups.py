"""Which words lean most, and whether their genders can be found again."""

from __future__ import annotations

import numpy as np
import pytest

from mtbias.embeddings.biased_groups import Spread, clustering, most_biased, recoverability
from mtbias.errors import DataError
from tests.embeddings.toy_vectors import make_vectors


def test_most_biased() -> None:
    rows = np.array([[0.9, 0.1], [-0.8, 0.2], [0.7, 0.3], [0, 1], [-0.1, 1], [0.95, 0.1]])
    vectors = make_vectors(list("abcdef"), rows)
    g = np.array([1.0, 0.0])
    assert most_biased(vectors, g, 3, exclude=["f", "zzz"], selection="overall").words == ("a", "b", "c")
    assert most_biased(vectors, g, 3, selection="overall").words == ("f", "a", "b")
    # By gender: two of each; of the five that lean, b and e are masculine. d leans nowhere.
    assert set(most_biased(vectors, g, 4).words) == {"f", "a", "b", "e"}
    assert most_biased(vectors, g, 100).feminine.tolist() == [True, True, False, False]
    assert len(most_biased(vectors, g, 100, selection="overall").words) == 5


def test_words_that_all_lean_one_way_give_no_number() -> None:
    pytest.importorskip("sklearn")
    vectors = make_vectors(list("abcdef"), np.random.default_rng(0).normal(size=(6, 4)))
    vectors.matrix[:, 0] = np.abs(vectors.matrix[:, 0])
    biased = most_biased(vectors, np.eye(4)[0], 6)
    assert biased.words
    assert biased.feminine.all()
    groups, found = clustering(biased, vectors, seed=0), recoverability(biased, vectors, seed=0)
    assert (groups.accuracy, groups.v_measure, groups.n, groups.n_feminine) == (None, None, 6, 6)
    assert (found.linear, found.rbf) == (None, None)
    assert groups.undefined == found.undefined == "all 6 words lean to the feminine"
    masculine = most_biased(vectors, -np.eye(4)[0], 6)
    assert recoverability(masculine, vectors, seed=0).undefined == "all 6 words lean to the masculine"
    nothing = most_biased(vectors, np.zeros(4), 6)
    assert clustering(nothing, vectors, seed=0).undefined == "no word leans"


def test_vectors_that_are_all_the_same_give_no_clusters() -> None:
    pytest.importorskip("sklearn")
    original = make_vectors(list("abcd"), np.array([[1.0, 1], [1, 2], [-1, 1], [-1, 2]]))
    biased = most_biased(original, np.array([1.0, 0]), 4)
    same = make_vectors(list("abcd"), np.array([[0.0, 1]] * 4))
    assert clustering(biased, same, seed=0).undefined == "all 4 words have the same vector"


def test_clustering_and_recoverability() -> None:
    pytest.importorskip("sklearn")
    # Two clouds far apart along g: everything is found. In the debiased space the clouds are one: nearly nothing is.
    rng = np.random.default_rng(4)
    side = np.repeat([1.0, -1.0], 100)
    noise = 0.1 * rng.normal(size=(200, 5))
    words = [f"w{n}" for n in range(200)]
    original = make_vectors(words, np.column_stack([side, noise]))
    g = np.eye(6)[0]
    biased = most_biased(original, g, 150)
    apart = clustering(biased, original, seed=0, repeats=3)
    assert apart.accuracy == Spread(100.0, 100.0, 100.0, 3)
    assert apart.v_measure is not None
    assert apart.v_measure.mean == pytest.approx(100.0)
    assert (apart.n, apart.n_feminine) == (150, 75)
    # A fifth of 75 words is 15 of each gender: the share of Gonen and Goldberg, 1,000 of 5,000.
    found = recoverability(biased, original, seed=0, repeats=3)
    assert found.linear == found.rbf == Spread(100.0, 100.0, 100.0, 3)
    assert (found.n_train, found.n_test) == (30, 120)
    debiased = make_vectors(words, np.column_stack([np.zeros(200), rng.normal(size=(200, 5))]))
    mixed = clustering(biased, debiased, seed=0)
    assert mixed.accuracy is not None
    assert mixed.v_measure is not None
    assert 50 <= mixed.accuracy.least <= mixed.accuracy.mean <= mixed.accuracy.most < 65
    assert mixed.v_measure.most < 10
    lost = recoverability(biased, debiased, seed=0).linear
    assert lost is not None
    assert lost.repeats == 10
    assert lost.least < lost.mean < lost.most < 70
    with pytest.raises(DataError, match="each of the 150 most biased words, got none for 146"):
        clustering(biased, make_vectors(words[:5], noise[:5]), seed=0)


def test_too_few_words_to_train_and_test() -> None:
    pytest.importorskip("sklearn")
    vectors = make_vectors(list("abcd"), np.array([[1.0, 1], [1, 2], [-1, 1], [-1, 2]]))
    biased = most_biased(vectors, np.array([1.0, 0]), 4)
    found = recoverability(biased, vectors, seed=0)
    assert found.linear is None
    assert found.undefined == (
        "2 feminine and 2 masculine words are too few to train on a share of 0.2 and test on the rest"
    )
    assert recoverability(biased, vectors, seed=0, train_share=0.5).n_test == 2
