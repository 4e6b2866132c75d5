"""Direct and indirect bias, the gender direction and GIPE, by hand in two and three dimensions."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from mtbias.embeddings.bias_measures import (
    direct_bias,
    gender_direction,
    gender_subspace,
    gipe,
    indirect_bias,
)
from mtbias.embeddings.measure_settings import EmbeddingSettings
from mtbias.embeddings.vectors import Vectors
from mtbias.errors import DataError
from tests.embeddings.toy_vectors import make_vectors, unit

G = np.array([1.0, 0.0, 0.0])


def test_direct_bias_by_hand() -> None:
    # cos with g: 0.6, -0.8, 0. c = 1: 1.4 / 3; c = 2: (0.36 + 0.64) / 3.
    rows = np.array([[0.6, 0.8, 0], [-0.8, 0.6, 0], [0, 0, 1]])
    assert direct_bias(rows, G).value == pytest.approx(1.4 / 3)
    assert direct_bias(rows, G, EmbeddingSettings(c=2)).value == pytest.approx(1 / 3)
    assert direct_bias(rows[:0], G).value is None


def test_intervals_need_ten_words() -> None:
    # 10 words, five with cosine 1 and five with 0: DB 0.5. Of 10 draws with p = 1/2 between 2 and 8
    # are 1 in 97.9 % of resamples, so the 95 % interval's ends are 0.2 and 0.8.
    rows = np.array([[1.0, 0, 0]] * 5 + [[0, 1.0, 0]] * 5)
    found = direct_bias(rows, G, EmbeddingSettings(resamples=5000))
    assert (found.value, found.rests_on) == (0.5, {"words": 10})
    assert found.ends == pytest.approx((0.2, 0.8))
    assert direct_bias(rows[1:], G, EmbeddingSettings(resamples=5000)).ends is None
    assert direct_bias(rows, G, EmbeddingSettings(resamples=0)).ends is None


def test_indirect_bias_by_hand() -> None:
    # w = (1, 1, 0)/√2, v = (1, 0, 1)/√2: w·v = 1/2; without g (0, 1, 0) and (0, 0, 1), cosine 0: β
    # = 1. w = (0.6, 0.8, 0), v = (-0.6, 0.8, 0): w·v = 0.28; without g both (0, 1, 0), cosine 1:
    # (0.28 - 1) / 0.28. w = g: nothing is left of it. w·v = 0: undefined.
    first = np.array([unit(1, 1, 0), [0.6, 0.8, 0], G, [0, 1, 0]])
    second = np.array([unit(1, 0, 1), [-0.6, 0.8, 0], unit(1, 1, 0), [0, 0, 1]])
    beta = indirect_bias(first, second, G)
    assert beta[:2] == pytest.approx([1.0, -0.72 / 0.28])
    assert np.isnan(beta[2:]).all()


def test_gender_direction() -> None:
    # Differences (f - m): (2, 0) and (2, 1): halves (1, 0), (1, .5). Mean (1, .25). First principal
    # component of ±: the eigenvector of [[2, .5], [.5, .25]] to λ = (2.25 + √(1.75² + 1)) / 2, that
    # is (.5, λ - 2).
    vectors = Vectors(("f", "m", "g", "h"), np.array([[1.0, 0], [-1, 0], [2, 1], [0, 0]]))
    pairs = [("f", "m"), ("g", "h")]
    largest = (2.25 + sqrt(1.75**2 + 1)) / 2
    assert gender_direction(vectors, pairs) == pytest.approx(unit(0.5, largest - 2))
    assert gender_direction(vectors, pairs, "mean") == pytest.approx(unit(1, 0.25))
    # Masculine and feminine exchanged: the direction turns round.
    turned = [(m, f) for f, m in pairs]
    assert gender_direction(vectors, turned) == pytest.approx(-unit(0.5, largest - 2))
    with pytest.raises(DataError, match="no gender direction"):
        gender_direction(vectors, [("f", "m"), ("m", "f")], "mean")


def test_gender_subspace() -> None:
    # The pairs above in three dimensions: the second component is at a right angle to the first, in
    # the same plane.
    rows = np.array([[1.0, 0, 0], [-1, 0, 0], [2, 1, 0], [0, 0, 0]])
    vectors = Vectors(("f", "m", "g", "h"), rows)
    pairs = [("f", "m"), ("g", "h")]
    plane = gender_subspace(vectors, pairs, 2)
    assert np.abs(plane @ plane.T) == pytest.approx(np.eye(2), abs=1e-12)
    assert plane[:, 2] == pytest.approx([0, 0])
    assert abs(plane[0] @ gender_direction(vectors, pairs)) == pytest.approx(1)
    with pytest.raises(
        DataError, match="differences of 3 dimensions or more for the gender subspace, got 2"
    ):
        gender_subspace(vectors, pairs, 3)


def test_gipe_by_hand() -> None:
    # On a circle around g's axis tilted: words a, b share a component along g, c has none.
    # a = (.8, .6, 0), b = (.8, .36, .48), c = (0, .6, .8): a·b = .64 + .216 = .856, a·c = .36, b·c
    # = .216 + .384 = .6. Without g: a_p ∝ (1, 0), b_p ∝ (.6, .8), c_p = (.6, .8): cosines ab .6, ac
    # .6, bc 1. β(a, b) = (.856 - .6)/.856 = .299 > θ; β(b, c) = (.6 - 1)/.6 < 0; β(a, c) = (.36 -
    # .6)/.36 < 0.
    vectors = make_vectors(
        ["a", "b", "c"], np.array([[0.8, 0.6, 0], [0.8, 0.36, 0.48], [0, 0.6, 0.8]])
    )
    # N = 1: a → b (.856), b → a, c → b (.6). η: a 1, b 1, c 0. Incoming: a 1 of 1 high, b 1 of 2, c
    # none. γ: 2, 1.5, and 1 or 0 for c.
    one, eta = gipe(
        ["a", "b", "c"], vectors, vectors, G, EmbeddingSettings(neighbours=1, theta=0.03)
    ).values()
    assert eta.value == pytest.approx(2 / 3)
    assert one.value == pytest.approx((2 + 1.5) / 4.5)
    counts = {
        "words": 3,
        "neighbours each": 1,
        "edges above θ": 2,
        "undefined edges": 0,
        "words without edges": 1,
    }
    assert one.rests_on == counts
    none = gipe(
        ["a", "b", "c"],
        vectors,
        vectors,
        G,
        EmbeddingSettings(neighbours=1, theta=0.03, edgeless_weight=0),
    )[""]
    assert none.value == pytest.approx(1.0)
    # Strictly larger than θ.
    above = EmbeddingSettings(neighbours=1, theta=0.256 / 0.856 + 1e-9)
    assert gipe(["a", "b", "c"], vectors, vectors, G, above)[""].rests_on["edges above θ"] == 0
    # Of c alone, which is nobody's neighbour: η 0 with weight 1; no number with weight 0.
    assert gipe(["c"], vectors, vectors, G, EmbeddingSettings(neighbours=1))[""].value == 0.0
    assert (
        gipe(["c"], vectors, vectors, G, EmbeddingSettings(neighbours=1, edgeless_weight=0))[
            ""
        ].value
        is None
    )
    # An interval needs ten words.
    drawn = gipe(
        ["a", "b", "c"], vectors, vectors, G, EmbeddingSettings(neighbours=1, resamples=200)
    )[""]
    assert (drawn.value, drawn.ends) == (one.value, None)
    # N = 2: a → b, c; b → a, c; c → b, a: η 1/2, 1/2, 0. Incoming a: 1 of 2, b: 1 of 2, c: 0 of 2:
    # γ 1.5, 1.5, 1.
    assert gipe(["a", "b", "c"], vectors, vectors, G, EmbeddingSettings(neighbours=2))[
        ""
    ].value == pytest.approx(1.5 / 4)


def test_gipe_judges_neighbours_of_one_space_by_the_other() -> None:
    original = make_vectors(
        ["a", "b", "c"], np.array([[0.8, 0.6, 0], [0.8, 0.36, 0.48], [0, 0.6, 0.8]])
    )
    # In the debiased space a and c are nearest, whose β in the original space is below 0.
    debiased = make_vectors(["a", "b", "c"], np.array([[0, 1.0, 0], [0, 0, 1.0], [0, 1.0, 0.1]]))
    assert (
        gipe(["a"], debiased, original, G, EmbeddingSettings(neighbours=1))[""].rests_on[
            "edges above θ"
        ]
        == 0
    )
    assert (
        gipe(["a"], original, original, G, EmbeddingSettings(neighbours=1))[""].rests_on[
            "edges above θ"
        ]
        == 1
    )
    with pytest.raises(DataError, match="between 1 and 2 neighbours"):
        gipe(["a"], original, original, G, EmbeddingSettings(neighbours=3))
