"""Which words lean most, and whether their genders can be found again."""

from __future__ import annotations

import numpy as np
import pytest

from mtbias.embeddings.bias_measures import Measured, clustering, most_biased, recoverability
from mtbias.embeddings.measure_settings import EmbeddingSettings
from mtbias.errors import DataError
from tests.embeddings.toy_vectors import make_vectors


def test_most_biased() -> None:
    rows = np.array([[0.9, 0.1], [-0.8, 0.2], [0.7, 0.3], [0, 1], [-0.1, 1], [0.95, 0.1]])
    vectors = make_vectors(list("abcdef"), rows)
    g = np.array([1.0, 0.0])
    assert most_biased(vectors, g, 3, exclude=["f", "zzz"], selection="overall").words == (
        "a",
        "b",
        "c",
    )
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
    groups, found = (
        clustering(biased, vectors, EmbeddingSettings()),
        recoverability(biased, vectors, EmbeddingSettings()),
    )
    assert [each.value for each in groups.values()] == [None, None]
    assert [each.value for each in found.values()] == [None, None]
    assert groups["V"].undefined == found["linear"].undefined == "all 6 words lean to the feminine"
    masculine = most_biased(vectors, -np.eye(4)[0], 6)
    assert (
        recoverability(masculine, vectors, EmbeddingSettings())["rbf"].undefined
        == "all 6 words lean to the masculine"
    )
    nothing = most_biased(vectors, np.zeros(4), 6)
    assert (
        clustering(nothing, vectors, EmbeddingSettings())["accuracy"].undefined == "no word leans"
    )


def test_vectors_that_are_all_the_same_give_no_clusters() -> None:
    pytest.importorskip("sklearn")
    original = make_vectors(list("abcd"), np.array([[1.0, 1], [1, 2], [-1, 1], [-1, 2]]))
    biased = most_biased(original, np.array([1.0, 0]), 4)
    same = make_vectors(list("abcd"), np.array([[0.0, 1]] * 4))
    assert (
        clustering(biased, same, EmbeddingSettings())["accuracy"].undefined
        == "all 4 words have the same vector"
    )


def test_clustering_and_recoverability() -> None:
    pytest.importorskip("sklearn")
    # Two clouds far apart along g: everything is found. In the debiased space the clouds are one:
    # nearly nothing is.
    rng = np.random.default_rng(4)
    side = np.repeat([1.0, -1.0], 100)
    noise = 0.1 * rng.normal(size=(200, 5))
    words = [f"w{n}" for n in range(200)]
    original = make_vectors(words, np.column_stack([side, noise]))
    g = np.eye(6)[0]
    biased = most_biased(original, g, 150)
    apart = clustering(biased, original, EmbeddingSettings(repeats=3))
    assert (apart["accuracy"].value, apart["accuracy"].ends) == (100.0, (100.0, 100.0))
    assert apart["V"].value == pytest.approx(100.0)
    assert apart["V"].rests_on == {"words": 150, "feminine": 75, "starts": 3}
    # A fifth of 75 words is 15 of each gender: the share of Gonen and Goldberg, 1,000 of 5,000.
    found = recoverability(biased, original, EmbeddingSettings(repeats=3))
    assert found["linear"] == found["rbf"]
    assert found["linear"] == Measured(
        100.0, (100.0, 100.0), {"words": 120, "trained on": 30, "splits": 3}
    )
    debiased = make_vectors(words, np.column_stack([np.zeros(200), rng.normal(size=(200, 5))]))
    mixed = clustering(biased, debiased, EmbeddingSettings())
    least, most = mixed["accuracy"].ends or (0, 100)
    assert 50 <= least <= (mixed["accuracy"].value or 0) <= most < 65
    assert (mixed["V"].ends or (0, 100))[1] < 10
    lost = recoverability(biased, debiased, EmbeddingSettings())["linear"]
    assert lost.rests_on["splits"] == 10
    least, most = lost.ends or (0, 100)
    assert least < (lost.value or 0) < most < 70
    with pytest.raises(DataError, match="each of the 150 most biased words, got none for 146"):
        clustering(biased, make_vectors(words[:5], noise[:5]), EmbeddingSettings())


def test_too_few_words_to_train_and_test() -> None:
    pytest.importorskip("sklearn")
    vectors = make_vectors(list("abcd"), np.array([[1.0, 1], [1, 2], [-1, 1], [-1, 2]]))
    biased = most_biased(vectors, np.array([1.0, 0]), 4)
    found = recoverability(biased, vectors, EmbeddingSettings())
    assert found["linear"].value is None
    assert found["rbf"].undefined == (
        "2 feminine and 2 masculine words are too few to train on a share of 0.2 and test on the rest"
    )
    assert (
        recoverability(biased, vectors, EmbeddingSettings(train_share=0.5))["linear"].rests_on[
            "words"
        ]
        == 2
    )
