"""Rank correlation: by hand and against scipy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from mtbias.stats.resampling import spearman


def test_spearman_by_hand() -> None:
    # Without ties ρ = 1 − 6·Σd²/(n(n²−1)): d = (−2, 1, 1), 1 − 6·6/24 = −0.5.
    assert spearman([1, 2, 3], [3, 1, 2]) == pytest.approx(-0.5)
    # Ranks (2.5, 1, 2.5, 4) and (1, 2, 3, 4) about 2.5: Σab = 0 + 0.75 + 0 + 2.25, Σa² = 4.5, Σb² =
    # 5.
    assert spearman([2, 1, 2, 4], [1, 2, 3, 4]) == pytest.approx(3 / (4.5 * 5) ** 0.5)
    assert np.isnan([spearman([1, 2], [7, 7]), spearman([1], [1]), spearman([], [])]).all()
    both = spearman([[1, 2, 3], [1, 2, 3]], [[3, 1, 2], [1, 2, 3]])
    assert both == pytest.approx([-0.5, 1])


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 9)), min_size=2, max_size=40))
def test_spearman_is_scipys(pairs: list[tuple[int, int]]) -> None:
    x, y = ([float(pair[i]) for pair in pairs] for i in range(2))
    if len(set(x)) > 1 and len(set(y)) > 1:
        assert spearman(x, y) == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
    else:
        assert np.isnan(spearman(x, y))
