"""Consistency over pairs: which rows are pairs, numbers by hand, intervals with a known answer, two
systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from unittest.mock import ANY

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtbias.scoring.consistency import (
    CELLS,
    compare_consistency,
    compute_consistency,
    consistency,
    count_consistency,
    link,
)
from mtbias.stats.results import Estimate
from mtbias.types import Gender, GenderCall, Reason

M, F, N = Gender.MALE, Gender.FEMALE, Gender.NEUTRAL
OTHER = {M: F, F: M}


@dataclass(frozen=True)
class Row:
    id: str
    gold: Gender
    pair: str | None = None
    control: str | None = None


def call(row: Row, status: str) -> GenderCall:
    """``+`` right, ``-`` wrong, ``0`` no call."""
    if status == "0":
        return GenderCall(row.id, None, Reason.UNALIGNED)
    return GenderCall(row.id, row.gold if status == "+" else OTHER[row.gold], None)


def values(numbers: Mapping[str, Estimate]) -> dict[str, float | None]:
    return {name: one.value for name, one in numbers.items()}


def quadruple(name: str) -> list[Row]:
    """Man, his control, woman, her control."""
    m, c, w, d = (f"{name}{part}" for part in "mcwd")
    return [Row(m, M, w, c), Row(c, M, d, m), Row(w, F, m, d), Row(d, F, c, w)]


def pair(name: str) -> list[Row]:
    """Man, woman."""
    return [Row(f"{name}m", M, f"{name}w"), Row(f"{name}w", F, f"{name}m")]


def controls(name: str, gold: Gender) -> list[Row]:
    return [Row(f"{name}1", gold, None, f"{name}2"), Row(f"{name}2", gold, None, f"{name}1")]


def run(*units: tuple[list[Row], str]) -> tuple[list[Row], list[GenderCall]]:
    rows = [row for part, _ in units for row in part]
    calls = [
        call(row, status)
        for part, statuses in units
        for row, status in zip(part, statuses, strict=True)
    ]
    return rows, calls


# What each unit adds. across: pairs / man only / woman only; within: (men / differ), (women /
# differ).
#   q1 ++--  pairs 2, man only 2       men 1, same     women 1, same     quadruple: across 2, within
# 0
#   q2 +-+0  pairs 2, none; one right  men 1, differ   women 1, differ   quadruple: across 0, within
# 2
#   p1 +-    man only       p2 -+  woman only      p3 ++  both right     p4 0+  woman only, one
# without call
#   k1 +-    men 1, differ  k2 ++  women 1, same
MIXED = run(
    (quadruple("q1"), "++--"),
    (quadruple("q2"), "+-+0"),
    (pair("p1"), "+-"),
    (pair("p2"), "-+"),
    (pair("p3"), "++"),
    (pair("p4"), "0+"),
    (controls("k1", M), "+-"),
    (controls("k2", F), "++"),
)


def test_the_numbers_by_hand() -> None:
    rows, calls = MIXED
    numbers = compute_consistency(count_consistency(link(rows), rows, calls))
    value, n = values(numbers), {name: one.n for name, one in numbers.items()}
    assert n["across"] == n["male_only"] == 8  # 2 · 2 + 4
    assert (value["male_only"], value["female_only"]) == (
        37.5,
        25.0,
    )  # q1 twice and p1: 3 of 8; p2 and p4: 2 of 8
    assert value["across"] == 62.5
    assert (value["both_right"], value["neither_right"]) == (
        25.0,
        12.5,
    )  # q2's first pair and p3; q2's second
    assert (n["within"], n["within_male"], n["within_female"]) == (6, 3, 3)
    assert value["within"] == 50.0  # q2 twice and k1: 3 of 6
    assert value["within_male"] == pytest.approx(200 / 3)
    assert value["within_female"] == pytest.approx(100 / 3)
    # 2 quadruples have 4 pairs of each kind: across 2 of 4 (q1), within 2 of 4 (q2).
    assert (n["delta_i"], value["quadruple_across"], value["quadruple_within"]) == (2, 50.0, 50.0)
    assert value["delta_i"] == 0.0
    assert {one.interval for one in numbers.values()} == {None}  # nobody asked for resamples


def test_the_numbers_of_what_has_a_call_by_hand() -> None:
    rows, calls = MIXED
    numbers = compute_consistency(count_consistency(link(rows), rows, calls), decided=True)
    # Without q2's second pair and p4: man only 3 of 6, woman only 1 of 6.
    assert (numbers["across"].n, numbers["male_only"].value) == (6, 50.0)
    assert numbers["female_only"].value == pytest.approx(100 / 6)
    # Without q2's women: q2's men and k1 differ, of 5.
    assert (numbers["within"].n, numbers["within"].value) == (5, 40.0)
    # q1 alone.
    assert (numbers["delta_i"].n, numbers["delta_i"].value) == (1, 100.0)


def test_opposite_biases_do_not_cancel() -> None:
    rows, calls = run((pair("a"), "+-"), (pair("b"), "-+"))
    value = values(compute_consistency(count_consistency(link(rows), rows, calls)))
    assert (value["across"], value["male_only"], value["female_only"]) == (100.0, 50.0, 50.0)


def test_always_male_is_inconsistent_across_genders_and_never_within() -> None:
    rows, calls = run(*((quadruple(f"q{n}"), "++--") for n in range(3)))
    value = values(compute_consistency(count_consistency(link(rows), rows, calls)))
    assert [value[name] for name in ("across", "female_only", "within", "delta_i")] == [
        100.0,
        0.0,
        0.0,
        100.0,
    ]


def test_what_is_not_there_is_undefined() -> None:
    numbers = compute_consistency(np.zeros(CELLS, dtype=np.int64))
    assert set(values(numbers).values()) == {None}
    assert numbers["across"].n == 0
    assert consistency([Row("a", M), Row("b", F)], []) is None


STATUSES = st.text("+-0", min_size=4, max_size=4)


@given(st.lists(STATUSES, min_size=1, max_size=8), st.booleans())
def test_quadruples_against_the_definition(statuses: list[str], decided: bool) -> None:
    rows, calls = run(*((quadruple(f"q{n}."), text) for n, text in enumerate(statuses)))
    value = values(compute_consistency(count_consistency(link(rows), rows, calls), decided=decided))

    def share(places: Sequence[tuple[int, int]], among: Sequence[str]) -> float | None:
        pairs = [(text[i], text[j]) for text in among for i, j in places]
        pairs = [pair for pair in pairs if not (decided and "0" in pair)]
        return 100 * sum((a == "+") != (b == "+") for a, b in pairs) / len(pairs) if pairs else None

    whole = [text for text in statuses if not (decided and "0" in text)]
    across, within = ((0, 2), (1, 3)), ((0, 1), (2, 3))
    assert value["across"] == pytest.approx(share(across, statuses))
    assert value["within"] == pytest.approx(share(within, statuses))
    assert value["quadruple_across"] == pytest.approx(share(across, whole))
    assert value["quadruple_within"] == pytest.approx(share(within, whole))
    if whole:
        assert value["quadruple_across"] is not None
        assert value["quadruple_within"] is not None
        assert value["delta_i"] == pytest.approx(
            value["quadruple_across"] - value["quadruple_within"]
        )


@given(st.lists(STATUSES, min_size=1, max_size=6), st.lists(STATUSES, max_size=6))
def test_tables_add_up_and_do_not_depend_on_the_order(first: list[str], second: list[str]) -> None:
    one = run(*((quadruple(f"a{n}."), text) for n, text in enumerate(first)))
    two = run(*((quadruple(f"b{n}."), text) for n, text in enumerate(second)))
    both = (one[0] + two[0], one[1] + two[1])
    tables = [count_consistency(link(rows), rows, calls) for rows, calls in (one, two, both)]
    assert (tables[0] + tables[1] == tables[2]).all()
    backward = both[0][::-1]
    table = count_consistency(link(backward), backward, both[1][::-1])
    for decided in (False, True):
        assert compute_consistency(table, decided=decided) == compute_consistency(
            tables[2], decided=decided
        )


def test_a_link_counts_whichever_sentence_names_it() -> None:
    rows = [Row("m", M), Row("w", F, "m"), Row("c", M, None, "m"), Row("d", F, "c", "w")]
    assert link(rows).quadruples == (("m", "c", "w", "d"),)
    # The women name no controls of their own: the men's is enough.
    rows = [Row("m", M, "w", "c"), Row("c", M, "d"), Row("w", F), Row("d", F)]
    assert link(rows).quadruples == (("m", "c", "w", "d"),)


def test_controls_that_belong_elsewhere_make_no_quadruple() -> None:
    rows = [
        Row("m", M, "w"),
        Row("w", F, None, "d"),
        Row("d", F, "c"),
        Row("c", M, None, "e"),
        Row("e", M),
    ]
    units = link(rows)
    assert units.quadruples == ()
    assert set(units.pairs) == {("m", "w"), ("c", "d")}
    assert (units.men, units.women) == ((("c", "e"),), (("w", "d"),))


@pytest.mark.parametrize(
    ("rows", "left_out"),
    [
        ([Row("m", M, "w")], {"counterpart not among the sentences": 1}),
        ([Row("m", M, "n"), Row("n", M, "m")], {"counterpart not of the other gender": 1}),
        ([Row("m", M, "n"), Row("n", N, "m")], {"counterpart with gold gender neutral": 1}),
        ([Row("m", M, "w"), Row("n", M, "w"), Row("w", F)], {"more than one counterpart": 2}),
        ([Row("m", M, None, "c"), Row("c", F)], {"control not of the same gender": 1}),
        ([Row("m", N, None, "c"), Row("c", N)], {"control with gold gender neutral": 1}),
        ([Row("m", M, "m")], {"counterpart is the sentence itself": 1}),
    ],
)
def test_links_that_are_no_pairs_are_counted(rows: list[Row], left_out: dict[str, int]) -> None:
    units = link(rows)
    assert (units.pairs, units.men, units.women, units.quadruples) == ((), (), (), ())
    assert units.left_out == left_out


def _interval_of_pairs(inconsistent: int, n: int) -> tuple[float, float] | None:
    rows, calls = run(*((pair(f"{k}"), "+-" if k < inconsistent else "++") for k in range(n)))
    scored = consistency(rows, calls, n_resamples=4000, seed=1)
    assert scored is not None
    ends: tuple[float, float] | None = scored["all"]["across"]["ci"]["inconsistent"]
    return ends


def test_the_interval_of_a_share_of_pairs() -> None:
    # 30 of 100: the normal approximation is 30 ± 1.96 · √(30 · 70 / 100) = 30 ± 8.98.
    interval = _interval_of_pairs(30, 100)
    assert interval == pytest.approx((21.0, 39.0), abs=1.01)  # the share moves in steps of 1


def test_the_interval_of_delta_i_draws_quadruples() -> None:
    # 50 quadruples with ΔI 100 and 50 with 0: mean 50, standard error √(50 · 50 / 100) = 5, so 50 ±
    # 9.8. If its two pairs across genders were drawn apart, the standard error would be 3.5.
    rows, calls = run(*((quadruple(f"{k}."), "++--" if k < 50 else "++++") for k in range(100)))
    counts = count_consistency(link(rows), rows, calls)
    numbers = compute_consistency(
        counts, n_resamples=4000, rng=np.random.Generator(np.random.PCG64(2))
    )
    assert numbers["delta_i"].interval == pytest.approx((40.2, 59.8), abs=1.01)


def test_few_pairs_have_wilsons_interval() -> None:
    # scipy.stats.binomtest(3, 9).proportion_ci(method="wilson"), and of 0 of 9, where a bootstrap
    # has width 0.
    assert _interval_of_pairs(3, 9) == pytest.approx((12.058, 64.579), abs=1e-3)
    assert _interval_of_pairs(0, 9) == pytest.approx((0.0, 29.915), abs=1e-3)


def _of_quadruples(*statuses: str) -> dict[str, Estimate]:
    rows, calls = run(*((quadruple(f"{k}."), text) for k, text in enumerate(statuses)))
    return compute_consistency(count_consistency(link(rows), rows, calls), n_resamples=50)


def test_too_few_quadruples_have_no_interval_of_delta_i() -> None:
    assert _of_quadruples(*["++--", "++++", "+-+-"] * 3)["delta_i"].interval is None
    assert _of_quadruples(*["++--", "++++", "+-+-"] * 4)["delta_i"].interval is not None


def test_pairs_of_a_quadruple_count_for_less_where_they_go_together() -> None:
    # 20 quadruples whose two pairs are alike are 20 independent pairs: 10 of 20 inconsistent is
    # [29.93, 70.07] (scipy.stats.binomtest), and none of 20 [0, 16.11]; 40 independent pairs would
    # have [35.20, 64.80].
    alike = _of_quadruples(*["++--"] * 10, *["++++"] * 10)["across"]
    assert (alike.value, alike.n) == (50.0, 40)
    assert alike.interval == pytest.approx((29.93, 70.07), abs=0.01)
    assert _of_quadruples(*["++++"] * 20)["across"].interval == pytest.approx(
        (0.0, 16.11), abs=0.01
    )
    # Half of each kind in every combination: the two pairs of a quadruple are independent, so 40
    # pairs count.
    apart = _of_quadruples(*["++--", "++++", "++-+", "+++-"] * 5)["across"]
    assert (apart.value, apart.n) == (50.0, 40)
    assert apart.interval == pytest.approx((35.20, 64.80), abs=0.01)


def test_the_same_seed_gives_the_same_bytes_and_the_json_has_every_denominator() -> None:
    rows, calls = MIXED
    first, again = (consistency(rows, calls, n_resamples=100, seed=5) for _ in range(2))
    assert first is not None
    assert first == again
    content = first
    assert list(content) == [
        "all",
        "decided",
        "pairs_without_controls",
        "left_out",
        "interval_methods",
    ]
    shares = ("across", "male_only", "female_only", "both_right", "within")
    methods = dict.fromkeys(shares, "wilson")
    assert content["interval_methods"] == {**methods, "delta_i": "bootstrap"}
    assert content["all"]["across"] == {
        "n": 8, "inconsistent": 62.5, "male_only": 37.5, "female_only": 25.0, "both_right": 25.0, "neither_right": 12.5,
        "ci": ANY,
    }  # fmt: skip
    # q1's two pairs are alike (both for the man only), and q2's (for neither alone); four pairs
    # more. p = 5/8; units with x of m pairs: q1 2/2, q2 0/2, three 1/1, one 0/1. Σ(x − p·m)² =
    # 0.5625 + 1.5625 + 3·0.140625 + 0.390625 =
    # 2.9375, so 5/8 · 3/8 · 64 / 2.9375 = 5.1064 pairs count: Wilson's of 5/8 of these.
    assert content["all"]["across"]["ci"]["inconsistent"] == pytest.approx([24.96, 89.31], abs=0.01)
    # Both right: 1 of q2's 2 pairs and p3 of the single ones, p = 1/4. Σ(x − p·m)² = 0.25 + 0.25 +
    # 3·0.0625 + 0.5625 = 1.25, so 1/4 · 3/4 · 64 / 1.25 = 9.6 pairs, at most the 8 that there are.
    assert content["all"]["across"]["ci"]["both_right"] == pytest.approx([7.15, 59.07], abs=0.01)
    assert content["all"]["within"]["male"] == {"n": 3, "inconsistent": 66.666667}
    assert content["decided"]["delta_i"] == {
        "n": 1, "across": 100.0, "within": 0.0, "delta_i": 100.0, "ci": {"delta_i": None},
    }  # fmt: skip
    assert (content["pairs_without_controls"], content["left_out"]) == (4, {})


def _five_pairs(statuses: str) -> tuple[list[Row], list[GenderCall]]:
    return run(*((pair(f"{n}"), statuses if n < 5 else "++") for n in range(10)))


def test_two_systems_by_hand() -> None:
    # The first is inconsistent on 5 of 10 pairs, for men; the second on none. Of the 2⁵ ways of
    # swapping these five, only none and all give a difference as large: p = 2 / 32.
    found = compare_consistency(*_five_pairs("+-"), _five_pairs("++")[1], n_resamples=100)
    across = found["across"]
    assert (across.first, across.second, across.difference) == (50.0, 0.0, 50.0)
    assert across.p == 2 / 32
    assert across.interval is not None
    assert 0 < across.interval[0] < 50 < across.interval[1]
    assert found["male_only"].difference == 50.0
    assert (found["female_only"].difference, found["female_only"].p) == (0.0, 1.0)
    assert (found["within"].difference, found["within"].interval, found["within"].p) == (
        None,
        None,
        None,
    )


def test_a_system_does_not_differ_from_itself() -> None:
    rows, calls = MIXED
    for name, one in compare_consistency(rows, calls, calls, n_resamples=50).items():
        assert (one.difference, one.p) == (0.0, 1.0), name


def test_too_few_pairs_have_no_interval_of_the_difference() -> None:
    first, second = (
        run(*((pair(f"{n}"), statuses) for n in range(5))) for statuses in ("+-", "++")
    )
    across = compare_consistency(*first, second[1], n_resamples=50)["across"]
    assert (across.difference, across.interval, across.p) == (100.0, None, 2 / 32)


def test_without_pairs_there_is_nothing_to_compare() -> None:
    assert compare_consistency([Row("a", M)], [], []) == {}


def test_every_pattern_of_a_quadruple_has_a_cell_of_its_own() -> None:
    patterns = ["".join(p) for p in product("+-0", repeat=4)]
    rows, calls = run(*((quadruple(f"{n}."), text) for n, text in enumerate(patterns)))
    assert count_consistency(link(rows), rows, calls)[-81:].tolist() == [1] * 81
