"""Quadruples: their patterns, and ΔI by hand and against the definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtbias.stats.resampling import (
    CROSSED,
    FIRST,
    MATCHED,
    SECOND,
    Pairs,
    all_patterns,
    inconsistency,
    inconsistent,
    pattern_number,
)


@pytest.mark.parametrize(("statuses", "places"), [(2, 4), (3, 2), (3, 4)])
def test_a_pattern_has_the_row_of_its_number(statuses: int, places: int) -> None:
    patterns = all_patterns(statuses, places)
    assert patterns.shape == (statuses**places, places)
    assert [pattern_number(pattern, statuses) for pattern in patterns.tolist()] == list(
        range(statuses**places)
    )
    # 1 · 3 + 2, and in base 2 1011 = 11.
    assert pattern_number((1, 2), 3) == 5
    assert all_patterns(2)[11].tolist() == [1, 0, 1, 1]


def test_inconsistent_pairs_by_hand() -> None:
    right = np.array(
        [[True, True, False, False], [True, False, False, True], [True, True, True, True]]
    )
    assert inconsistent(right, (FIRST, SECOND)).tolist() == [0, 2, 0]
    # Places 0-2 and 1-3; and 0-3, 1-2 too.
    assert inconsistent(right, MATCHED).tolist() == [2, 2, 0]
    assert CROSSED == ((0, 2), (0, 3), (1, 2), (1, 3))
    assert inconsistent(right, CROSSED).tolist() == [4, 2, 0]


QUADRUPLES = st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=12)


@given(QUADRUPLES, st.sampled_from([MATCHED, CROSSED]))
def test_delta_i_against_the_definition(rows: list[list[bool]], pairs: Pairs) -> None:
    right = np.array(rows)
    across, within = (
        inconsistent(right, p).sum()[None].astype(np.float64) for p in (pairs, (FIRST, SECOND))
    )
    found = inconsistency(across, within, np.array([float(len(rows))]), pairs)

    def share(of: Pairs) -> Fraction:
        return Fraction(
            100 * sum(row[i] != row[j] for row in rows for i, j in of), len(of) * len(rows)
        )

    i_across, i_within = share(pairs), share((FIRST, SECOND))
    assert [float(value[0]) for value in found] == pytest.approx(
        [float(i_across), float(i_within), float(i_across - i_within)]
    )
    # Exactly 0 where the definition is, and never of the wrong sign.
    assert np.sign(found[2][0]) == (i_across > i_within) - (i_across < i_within)


def test_delta_i_of_balanced_sums_is_exactly_0() -> None:
    # 10 quadruples with 6 of 40 pairs across and 3 of 20 within: 15 % both. As 6/40 − (1/10 +
    # 2/10)/2, which adds the shares of the two genders, it is −2.8e-17: by such a hair a resample
    # would count for one side.
    assert 6 / 40 - (1 / 10 + 2 / 10) / 2 != 0
    across, within, delta = inconsistency(
        np.array([6.0]), np.array([3.0]), np.array([10.0]), CROSSED
    )
    assert (across[0], within[0], delta[0]) == (15.0, 15.0, 0.0)
    nothing = inconsistency(np.zeros(1), np.zeros(1), np.zeros(1), MATCHED)
    assert np.isnan(nothing).all()
