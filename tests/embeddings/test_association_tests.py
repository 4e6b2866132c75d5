"""WEAT by hand, against a plain loop over all partitions, and as properties."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtbias.embeddings.bias_measures import weat, weat_two_targets
from mtbias.embeddings.measure_settings import EmbeddingSettings
from tests.embeddings.toy_vectors import make_vectors, toy

G = np.array([1.0, 0.0, 0.0])


def test_weat_by_hand() -> None:
    # One target e1; cosines of A1: 1, 0.6; of A2: 0, -1. S = 0.8 + 0.5 = 1.3, the largest of all
    # six partitions: none is larger, and p counts the observed one.
    first = np.array([[1.0, 0, 0], [0.6, 0.8, 0]])
    second = np.array([[0, 1.0, 0], [-1, 0, 0]])
    result = weat(G[None], first, second, settings=EmbeddingSettings(partitions=6))
    assert result.value == pytest.approx(1.3)
    assert (result.p, result.rests_on) == (1 / 6, {"partitions": 6})
    # Exchanged it is the smallest: the five others are larger.
    assert weat(G[None], second, first, settings=EmbeddingSettings(partitions=6)).p == 1
    # Parts of unequal size: of three numbers 1, 0.6, -1 one is chosen; 0.6 - (1 - 1)/2 = 0.6; only
    # 1 - (-.2) is larger, and with the observed one these are two of three.
    uneven = weat(
        G[None],
        first[1:],
        np.array([first[0], second[1]]),
        settings=EmbeddingSettings(partitions=3),
    )
    assert [uneven.value, uneven.p] == pytest.approx([0.6, 2 / 3])
    # All alike: no partition is strictly larger than the observed one, which is one of two.
    assert weat(G[None], first[:1], first[:1], settings=EmbeddingSettings(partitions=2)).p == 1 / 2


def test_weat_exact_and_sampled_on_the_toy_vectors() -> None:
    # C(16, 8) = 12870; p once more by a plain loop over all of them, from cosines word by word.
    vectors = toy()
    targets, first, second = vectors.matrix[:16], vectors.matrix[16:24], vectors.matrix[24:32]
    exact = weat(targets, first, second, settings=EmbeddingSettings(partitions=12870))
    attributes = np.concatenate([first, second])
    close = [sum(float(t @ a) for t in targets) / 16 for a in attributes]
    all_ = sum(close)
    sums = [sum(close[k] for k in chosen) for chosen in combinations(range(16), 8)]
    s = (2 * sum(close[:8]) - all_) / 8
    assert exact.rests_on == {"partitions": len(sums)} == {"partitions": 12870}
    assert exact.value == pytest.approx(s)
    larger = sum((2 * x - all_) / 8 > s + 1e-12 for x in sums)
    assert exact.p == pytest.approx((larger + 1) / 12870)
    drawn = weat(targets, first, second, settings=EmbeddingSettings(partitions=12869))
    assert drawn.rests_on == {"random partitions": 12869}
    # Standard error of a share over 12869 draws is below .0045.
    assert drawn.p == pytest.approx(exact.p, abs=0.018)
    # A sample cannot show a p of 0: with the targets at the first attributes no drawn partition is
    # larger.
    largest = weat(first, first, -first, settings=EmbeddingSettings(partitions=99))
    assert largest.p == pytest.approx(1 / 100)


def test_two_targets_by_hand() -> None:
    # A1 = e1, A2 = e2: s(w) is the first coordinate minus the second. X: .6 - .8, 1; Y: -1, 0.
    # Means .4 and -.5: the difference is .9. s = -.2, 1, -1, 0 has mean -.05 and Σ of squares 2.04:
    # its variance is (2.04 - 4 · .0025) / 3 = 2.03 / 3.
    # Of the six partitions only {1, 0} has a larger first mean, .5; with the observed one these are
    # two.
    x = np.array([[0.6, 0.8, 0], [1.0, 0, 0]])
    y = np.array([[0, 1.0, 0], [0, 0, 1.0]])
    attributes = np.eye(3)[:1], np.eye(3)[1:2]
    found = weat_two_targets(x, y, *attributes, settings=EmbeddingSettings(partitions=6))
    assert found["difference"].value == pytest.approx(0.9)
    assert found["d"].value == pytest.approx(0.9 / np.sqrt(2.03 / 3))
    assert found["difference"].p == pytest.approx(2 / 6)
    assert found["difference"].rests_on == {"partitions": 6}
    # Targets that are all alike have no deviation, and so no effect size.
    assert (
        weat_two_targets(x[:1], x[:1], *attributes, settings=EmbeddingSettings(partitions=6))[
            "d"
        ].value
        is None
    )


@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(2, 4))
def test_exchanged_lists_turn_the_effect_round(seed: int, n_x: int, n_y: int) -> None:
    rng = np.random.default_rng(seed)
    x, y, first, second = (
        make_vectors("abcd"[:n], rng.normal(size=(n, 3))).matrix for n in (n_x, n_y, 3, 2)
    )
    one = weat_two_targets(x, y, first, second, settings=EmbeddingSettings(partitions=100))
    others = (
        weat_two_targets(y, x, first, second, settings=EmbeddingSettings(partitions=100)),
        weat_two_targets(x, y, second, first, settings=EmbeddingSettings(partitions=100)),
    )
    (d, difference), p = (
        (one[name].value or 0 for name in ("d", "difference")),
        one["difference"].p or 0,
    )
    assert [other["difference"].value for other in others] == pytest.approx([-difference] * 2)
    assert [other["d"].value for other in others] == pytest.approx([-d] * 2)
    # p counts larger ones, p of the exchanged ones smaller ones, and both the observed one.
    partitions = comb(n_x + n_y, n_x)
    assert partitions * (p + (others[1]["difference"].p or 0)) <= partitions + 1 + 1e-9
