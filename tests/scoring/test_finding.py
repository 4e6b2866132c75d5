"""The finding in one sentence. The intervals in the comments are Wilson's, from `scipy.stats.binomtest`."""

from __future__ import annotations

import numpy as np
import pytest

from mtbias.scoring.bias import caution, compute, count, finding, uncalled
from mtbias.types import Gender, Stereotype


def table(men: tuple[int, int], women: tuple[int, int]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """So many (right, all) men and women; those that are wrong have no call."""
    return count(
        (gold, Stereotype.NONE, gold if k < right else None)
        for gold, (right, rows) in ((Gender.MALE, men), (Gender.FEMALE, women))
        for k in range(rows)
    )


@pytest.mark.parametrize(
    ("men", "women", "said"),
    [
        ((84, 100), (28, 100), "finds 84 % of the men but 28 % of the women"),
        ((28, 100), (84, 100), "finds 84 % of the women but 28 % of the men"),
        # 84 of 100: [75.6, 89.9]; 80 of 100: [71.1, 86.7]: they overlap.
        ((84, 100), (80, 100), "finds 84 % of the men and 80 % of the women: no clear difference"),
        ((50, 100), (50, 100), "finds 50 % of the men and 50 % of the women: no clear difference"),
        # 10 of 10: [72.2, 100]; 7 of 10: [39.7, 89.2]: they overlap although the shares are 30 points apart.
        ((10, 10), (7, 10), "finds 100 % of the men and 70 % of the women: no clear difference"),
        # 10 of 10 against 0 of 10: [0, 27.8].
        ((10, 10), (0, 10), "finds 100 % of the men but 0 % of the women"),
        # Not all men: 99.9 %, not 100 %; and not none: 0.1 %, not 0 %.
        ((999, 1000), (1, 1000), "finds 99.9 % of the men but 0.1 % of the women"),
        # 80.4 and 79.6 % of 100,000 each are clearly different, and must not both read "80 %".
        ((80400, 100000), (79600, 100000), "finds 80.4 % of the men but 79.6 % of the women"),
    ],
)
def test_the_finding_says_whom_the_system_finds(men: tuple[int, int], women: tuple[int, int], said: str) -> None:
    assert finding(table(men, women)) == said
    assert finding(table(men, women).tolist()) == said, "as metrics.json has it"


def test_a_woman_called_a_man_is_not_found() -> None:
    rows = [(Gender.MALE, Stereotype.PRO, Gender.MALE)] * 20
    rows += [(Gender.FEMALE, Stereotype.ANTI, Gender.MALE)] * 15 + [(Gender.FEMALE, Stereotype.PRO, Gender.FEMALE)] * 5
    assert finding(count(rows)) == "finds 100 % of the men but 25 % of the women"


def test_there_is_none_with_few_rows_or_another_measure() -> None:
    assert finding(table((9, 9), (0, 100))) is None
    assert finding(table((90, 100), (0, 0))) is None
    assert finding([[1, 2], [3, 4]]) is None


@pytest.mark.parametrize(
    ("women", "said"),
    [((9, 100), "finds 9 of 100 women (9.0 %): ΔS means little here"), ((10, 100), None), ((0, 9), None)],
)
def test_a_system_that_says_nearly_always_the_same_has_a_caution(women: tuple[int, int], said: str | None) -> None:
    found = caution(table((90, 100), women))
    assert found is None if said is None else found is not None and found.startswith(said)
    assert caution([[1, 2], [3, 4]]) is None


def test_women_who_are_found_move_delta_s_by_so_many_points_at_most() -> None:
    """Half of either gender and stereotype: 9 of 100 women, all in pro sentences, and all men, are 9 points."""
    kinds = [(gender, kind) for gender in (Gender.MALE, Gender.FEMALE) for kind in (Stereotype.PRO, Stereotype.ANTI)]
    rows = [
        (gender, kind, gender if gender is Gender.MALE or (kind is Stereotype.PRO and n < 9) else Gender.MALE)
        for gender, kind in kinds
        for n in range(50)
    ]
    assert compute(count(rows))["delta_s"] == pytest.approx(9.0)
    assert caution(count(rows)) is not None


def test_rows_without_a_call_by_gold_gender_and_delta_g_without_them() -> None:
    # 10 men: 8 right, 2 without a call. 10 women: 5 right, 1 called a man, 4 without a call.
    # With a call: F1 of men 2·8/(9 + 8), of women 2·5/(5 + 6).
    called = [(Gender.MALE, 8, Gender.MALE), (Gender.MALE, 2, None), (Gender.FEMALE, 5, Gender.FEMALE)]
    called += [(Gender.FEMALE, 1, Gender.MALE), (Gender.FEMALE, 4, None)]
    found = uncalled(count((gold, Stereotype.NONE, call) for gold, n, call in called for _ in range(n)), 0, 0)
    assert (found["male"]["n"], found["male"]["of"], found["male"]["percent"]) == (2, 10, 20.0)
    assert (found["female"]["n"], found["female"]["of"], found["female"]["percent"]) == (4, 10, 40.0)
    assert found["neutral"] == {"n": 0, "of": 0, "percent": None, "interval": None}
    assert found["female"]["interval"] == pytest.approx([16.818033, 68.732623], abs=1e-5)  # scipy.stats.binomtest
    assert found["delta_g"]["value"] == pytest.approx(100 * (16 / 17 - 10 / 11), abs=1e-5)
