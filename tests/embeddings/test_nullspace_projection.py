"""INLP on words whose gender stands in known dimensions, and its properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtbias.embeddings import debiasing as inlp
from mtbias.embeddings.measure_settings import DebiasSettings
from mtbias.embeddings.vectors import Vectors
from mtbias.errors import DataError
from mtbias.stats.results import Floats
from tests.embeddings.toy_vectors import make_vectors

pytest.importorskip("sklearn")


def gendered(
    copies: int, *, words: int = 600, dimensions: int = 12, seed: int = 0
) -> tuple[Vectors, Floats]:
    """Words that lean ±1 in each of the first dimensions, of which g is the first; the others are
    noise."""
    rng = np.random.default_rng(seed)
    side = np.repeat([1.0, -1.0], words // 2)
    known = side[:, None] * rng.uniform(0.5, 1.5, size=(words, copies))
    rows = np.column_stack([known, rng.normal(size=(words, dimensions - copies))])
    return make_vectors([f"w{n}" for n in range(words)], rows), np.eye(dimensions)[0]


@pytest.mark.parametrize("copies", [1, 2, 3])
def test_as_many_rounds_as_copies_of_gender_leave_chance(copies: int) -> None:
    from sklearn.linear_model import LogisticRegression

    vectors, g = gendered(copies)
    found = inlp.nullspace_projection(vectors, g, DebiasSettings(rounds=copies, neutral_words=0))
    assert found.classes == (300, 300)
    assert found.chance == 50.0
    assert found.accuracies[0] > 99
    assert len(found.accuracies) == copies + 1
    # 180 words are held out: the standard error of a share of one half is 3.7.
    assert found.accuracies[-1] == pytest.approx(50, abs=11)
    # Another kind of classifier, trained on one half of the words, finds gender in the other before
    # and not after.
    after = np.array(list(found.project(vectors).rows))
    labels, half = vectors.matrix @ g > 0, np.arange(600) % 2 == 0
    for rows, expected, within in ((vectors.matrix, 100, 1), (after, 50, 10)):
        trained = LogisticRegression(C=100).fit(rows[half], labels[half])
        assert 100 * trained.score(rows[~half], labels[~half]) == pytest.approx(
            expected, abs=within
        )
    # The rank falls by one for each round.
    assert np.linalg.matrix_rank(vectors.matrix) == 12
    assert np.linalg.matrix_rank(after, tol=1e-9) == 12 - copies


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.sampled_from([0, 50]))
def test_it_is_a_projection(seed: int, rounds: int, neutral: int) -> None:
    vectors, g = gendered(1, words=60, dimensions=13, seed=seed)
    found = inlp.nullspace_projection(
        vectors,
        g,
        DebiasSettings(rounds=rounds, biased_words=20, neutral_words=neutral, neutral_cosine=1),
    )
    removed = found.removed
    assert removed @ removed.T == pytest.approx(np.eye(len(removed)), abs=1e-12)
    # One direction a round of two classes; up to three of three.
    if neutral:
        assert rounds <= len(removed) <= 3 * rounds
        assert found.classes == (20, 20, 20)  # what is left of 60 words
    else:
        assert len(removed) == rounds
    after = np.array(list(found.project(vectors).rows))
    assert after @ removed.T == pytest.approx(np.zeros((60, len(removed))), abs=1e-12)
    again = Vectors(vectors.words, after)
    assert np.array(list(found.project(again).rows)) == pytest.approx(after, abs=1e-12)


@pytest.mark.parametrize("neutral", [0, 50])
def test_against_the_projections_one_after_the_other(neutral: int) -> None:
    # The algorithm as the paper has it, in all coordinates: X becomes X P with P of scipy's null
    # space of the weights.
    from scipy.linalg import null_space
    from sklearn.svm import LinearSVC

    vectors, g = gendered(2, words=400)
    chosen = DebiasSettings(rounds=3, biased_words=100, neutral_words=neutral, neutral_cosine=0.2)
    found = inlp.nullspace_projection(vectors, g, chosen)
    rng = np.random.default_rng(chosen.seed)
    classes = inlp._classes(vectors, g, chosen, rng)
    labels = np.repeat(np.arange(len(classes)), [len(each) for each in classes])
    train = np.concatenate([inlp._train(len(each), rng) for each in classes])
    rows, projection, accuracies = vectors.matrix[np.concatenate(classes)], np.eye(12), []
    for _ in range(3):
        machine = LinearSVC(fit_intercept=False, dual=False, tol=inlp._TOLERANCE)
        machine.fit(rows[train], labels[train])
        accuracies.append(100 * machine.score(rows[~train], labels[~train]))
        basis = null_space(machine.coef_)
        projection, rows = projection @ basis @ basis.T, rows @ basis @ basis.T
    assert projection == pytest.approx(np.eye(12) - found.removed.T @ found.removed, abs=1e-8)
    assert found.accuracies[:3] == pytest.approx(accuracies)


def test_vectors_keep_the_length_that_the_projection_leaves() -> None:
    vectors, g = gendered(1, words=40)
    found = inlp.nullspace_projection(vectors, g, DebiasSettings(rounds=1, neutral_words=0))
    longer = Vectors(vectors.words, vectors.matrix, lengths=np.full(40, 3.0))
    assert np.array(list(found.project(longer).rows)) == pytest.approx(
        3 * np.array(list(found.project(vectors).rows))
    )


def test_the_same_seed_gives_the_same_projection() -> None:
    vectors, g = gendered(2, words=100)
    chosen = DebiasSettings(rounds=3, biased_words=30, neutral_words=10, neutral_cosine=0.5)
    first, second = (inlp.nullspace_projection(vectors, g, chosen) for _ in range(2))
    assert first.removed.tolist() == second.removed.tolist()
    other = DebiasSettings(rounds=3, biased_words=30, neutral_words=10, neutral_cosine=0.5, seed=1)
    assert inlp.nullspace_projection(vectors, g, other).removed.tolist() != first.removed.tolist()


def test_more_rounds_than_dimensions_leave_no_vectors_and_are_refused() -> None:
    vectors, g = gendered(1, words=40, dimensions=3)
    with pytest.raises(
        DataError, match="3 of 35 rounds took out all 3 dimensions: no vector is left; give fewer"
    ):
        inlp.nullspace_projection(vectors, g, DebiasSettings(neutral_words=0))


def test_too_few_words() -> None:
    vectors = make_vectors(list("abc"), np.array([[1.0, 1], [1, 2], [-1, 1]]))
    with pytest.raises(
        DataError, match="two words or more that lean to each gender, got 2 feminine, 1 masculine"
    ):
        inlp.nullspace_projection(vectors, np.array([1.0, 0]), DebiasSettings())
