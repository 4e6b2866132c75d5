"""BUG's balanced part: all quarters as large as the smallest."""

from __future__ import annotations

from collections import Counter

import pytest

from mtbias.errors import DataError
from mtbias.mining.balanced_sample import QUARTERS, balanced_part
from mtbias.types import Gender, Stereotype

M, F, N = Gender.MALE, Gender.FEMALE, Gender.NEUTRAL
PRO, ANTI, NONE = Stereotype.PRO, Stereotype.ANTI, Stereotype.NONE

# The smallest quarter is that of masculine anti, not the feminine pro of which the authors take all.
ROWS = [(F, PRO)] * 4 + [(F, ANTI)] * 5 + [(M, PRO)] * 9 + [(M, ANTI)] * 2 + [(M, NONE), (N, PRO), (None, PRO)] * 3


def test_every_quarter_is_as_large_as_the_smallest() -> None:
    found = balanced_part(ROWS, seed=0)
    assert found.n == 2
    assert Counter(ROWS[n] for n in found.chosen) == dict.fromkeys(QUARTERS, 2)
    assert [found.sizes[quarter] for quarter in QUARTERS] == [4, 5, 9, 2]
    assert found.chosen == tuple(sorted(set(found.chosen)))


def test_the_seed_decides_and_every_row_can_be_drawn() -> None:
    assert balanced_part(ROWS, seed=7) == balanced_part(ROWS, seed=7)
    assert {n for seed in range(50) for n in balanced_part(ROWS, seed).chosen} == set(range(20))


def test_an_empty_quarter_is_an_error_that_counts_all() -> None:
    with pytest.raises(DataError, match="female pro 1, female anti 0, male pro 1, male anti 1: nothing is balanced"):
        balanced_part([(F, PRO), (M, PRO), (M, ANTI)], seed=0)
