"""Weighted ΔG and ΔS: a planted confounder, classes of properties, edge cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from mtbias.errors import DataError
from mtbias.runs.call_records import CallRecord
from mtbias.scoring.comparison import Comparison, compare_runs
from mtbias.scoring.weighted import properties_of, weigh
from mtbias.types import Gender, GenderCall, Reason, Stereotype
from tests.scoring.compared_runs import Run

M, F, N = Gender.MALE, Gender.FEMALE, Gender.NEUTRAL
PRO, ANTI, NONE = Stereotype.PRO, Stereotype.ANTI, Stereotype.NONE
OTHER = {M: F, F: M}
FIRST = "0123456789abcdef"
"""The fingerprint of the first run."""


def _record(
    n: int,
    gold: Gender | None,
    call: Gender | None,
    *,
    kind: Stereotype = NONE,
    pronouns: int = 1,
    domain: str = "d",
    words: int = 3,
    distance: int | None = None,
) -> CallRecord:
    made = GenderCall(f"r{n}", call, None if call else Reason.UNALIGNED)
    return CallRecord(n, "w " * words, None, "cook", gold, kind, domain, pronouns, made, distance)


def _compare(
    records: Sequence[CallRecord], *properties: str, n_resamples: int = 1000
) -> Comparison:
    return compare_runs(
        [Run("planted", "de", records, FIRST)], weighted=properties or True, n_resamples=n_resamples
    )


# The planted confounder: the system is right in 90 % of the sentences with one pronoun and 60 % of
# those with two, men and women alike. Men have one pronoun in 800 of 1,100 sentences, women in 200
# of 900.
#   men:   720 of 800 and 180 of 300 are right: 900 of 1,100
#   women: 180 of 200 and 420 of 700 are right: 600 of   900
PLANTED = {(M, 1): (800, 720), (M, 2): (300, 180), (F, 1): (200, 180), (F, 2): (700, 420)}


def _planted(*, silent: bool) -> list[CallRecord]:
    """Where the system is wrong, it shows no gender (`silent`), or the other one."""
    records: list[CallRecord] = []
    for (gold, pronouns), (size, right) in PLANTED.items():
        for n in range(size):
            call = gold if n < right else None if silent else OTHER[gold]
            records.append(_record(len(records), gold, call, pronouns=pronouns))
    return records


@pytest.mark.parametrize(
    ("silent", "plain"),
    [
        # Wrong calls are silent: F1 = 2·TP / (called + gold) is 2·900/(900 + 1,100) = 0.9 for men
        # and 2·600/(600 + 900) = 0.8 for women. ΔG = 10, all of it by the pronouns.
        (True, 10.0),
        # Wrong calls are the other gender: men 2·900/(900 + 300 + 1,100), women 2·600/(600 + 200 +
        # 900).
        (False, 100 * (1800 / 2300 - 1200 / 1700)),
    ],
)
def test_a_planted_confounder_is_gone_when_weighted(silent: bool, plain: float) -> None:
    (system,) = _compare(_planted(silent=silent), "pronouns").systems
    unweighted, weighted = system.plain["delta_g"], system.weighted["delta_g"]
    assert unweighted.value == pytest.approx(plain)
    assert unweighted.interval is not None
    assert unweighted.interval[0] > 0
    # In either class both genders have the same recall; with equal weights in the classes F1 is the
    # same.
    assert weighted.value == pytest.approx(0, abs=1e-6)
    assert weighted.interval is not None
    assert weighted.interval[0] < 0 < weighted.interval[1]


def test_a_planted_confounder_is_gone_in_random_samples_too() -> None:
    # The same system and the same sentences, but each sentence is right with its probability. The
    # weighted ΔG is then 0 on average. Standard error of each: recall has about √(0.75·0.25/1000) =
    # 1.4 points, so F1 (silent: 2r/(1 + r), slope 2/(1 + r)² = 0.65) 0.9 and the difference about
    # 1.3, more with weights. The mean of 20 samples is within ±1.2 (four standard errors of 0.3);
    # of 20 intervals of 95 %, 16 or more hold 0 with probability 0.997.
    rng = np.random.default_rng(1)
    values, held = [], 0
    for _ in range(20):
        records: list[CallRecord] = []
        for (gold, pronouns), (size, _) in PLANTED.items():
            right = rng.random(size) < (0.9 if pronouns == 1 else 0.6)
            records += [
                _record(len(records) + n, gold, gold if is_right else None, pronouns=pronouns)
                for n, is_right in enumerate(right)
            ]
        weighted = _compare(records, "pronouns", n_resamples=300).systems[0].weighted["delta_g"]
        assert weighted.value is not None
        assert weighted.interval is not None
        values.append(weighted.value)
        held += weighted.interval[0] <= 0 <= weighted.interval[1]
    assert np.mean(values) == pytest.approx(0, abs=1.2)
    assert held >= 16


def test_a_true_bias_stays_when_weighted() -> None:
    # 100 sentences in each class of gender and pronouns but for women with one pronoun: 50. Men are
    # right in 80 % and 60 %, women in 60 % and 40 %, wrong calls are silent. Men's weights within
    # the classes are equal (a) and (b) with a + b = 175/100 of the total, women's c and d; balance:
    # 100·a = 50·c, 100·b = 100·d. Whatever share s of the mass is in one pronoun, recall is 0.6 +
    # 0.2·s for men and 0.4 + 0.2·s for women, so weighted ΔG is 2(0.6 + 0.2s)/(1.6 + 0.2s) − 2(0.4
    # + 0.2s)/(1.4 + 0.2s): 16.1 to 17.9 points for s from 1 to 0, never near 0.
    spec = {(M, 1): (100, 80), (M, 2): (100, 60), (F, 1): (50, 30), (F, 2): (100, 40)}
    records: list[CallRecord] = []
    for (gold, pronouns), (size, right) in spec.items():
        records += [
            _record(len(records) + n, gold, gold if n < right else None, pronouns=pronouns)
            for n in range(size)
        ]
    value = _compare(records, "pronouns", n_resamples=0).systems[0].weighted["delta_g"].value
    assert value is not None
    weighting = weigh(records, "delta_g", ["pronouns"])
    assert weighting is not None
    s = weighting.weights[:100].sum() / weighting.weights[:200].sum()
    expected = 2 * (0.6 + 0.2 * s) / (1.6 + 0.2 * s) - 2 * (0.4 + 0.2 * s) / (1.4 + 0.2 * s)
    assert value == pytest.approx(100 * expected)


def test_delta_s_is_weighted_over_pro_and_anti() -> None:
    # Pro sentences: 80 with one word, all right, 20 with two, none right; anti the other way round.
    # ΔS = 80 − 20 = 60 by length alone; weighted, the shares are equal and ΔS is 0.
    records: list[CallRecord] = []
    for kind, sizes in ((PRO, (80, 20)), (ANTI, (20, 80))):
        for words, size in enumerate(sizes, start=1):
            for n in range(size):
                gold = (M, F)[n % 2]
                call = gold if words == 1 else None
                records.append(_record(len(records), gold, call, kind=kind, words=words))
    (system,) = _compare(records, "length", n_resamples=0).systems
    assert system.plain["delta_s"].value == pytest.approx(60)
    assert system.weighted["delta_s"].value == pytest.approx(0, abs=1e-6)


def test_a_pair_has_weighted_differences() -> None:
    records = _planted(silent=True)
    right = [
        _record(r.row, r.gold, r.gold, pronouns=r.pronouns) if r.pronouns == 2 else r
        for r in records
    ]  # the second system is right wherever there are two pronouns
    second = Run("second", "de", right, "fedcba9876543210")
    (pair,) = compare_runs(
        [Run("planted", "de", records, FIRST), second], weighted=["pronouns"], n_resamples=400
    ).pairs
    plain, weighted = pair.plain["delta_g"], pair.weighted["delta_g"]
    # Second, plain: men 1,020 of 1,100 right, women 880 of 900: F1 2040/2120 and 1760/1780. First:
    # 10 (above).
    assert plain.difference == pytest.approx(10 - 100 * (2040 / 2120 - 1760 / 1780))
    assert plain.p_holm is not None
    assert plain.p_holm < 0.05
    assert weighted.difference == pytest.approx(0, abs=1e-6)
    assert weighted.p is not None
    assert weighted.p > 0.5
    assert weighted.interval is not None
    assert weighted.interval[0] < 0 < weighted.interval[1]


def test_balanced_rows_keep_their_numbers() -> None:
    records = [
        _record(
            n,
            (M, F)[n % 2],
            (M, F, None)[n % 3],
            pronouns=1 + n // 2 % 2,
            kind=(PRO, ANTI)[n // 4 % 2],
        )
        for n in range(240)
    ]
    records += [_record(240 + n, N, M, pronouns=0) for n in range(30)]  # in neither group: weight 1
    (system,) = _compare(records, n_resamples=0).systems
    for number in ("delta_g", "delta_s"):
        assert system.weighted[number].value == pytest.approx(system.plain[number].value)
    weighting = weigh(records, "delta_g")
    assert weighting is not None
    assert weighting.weights == pytest.approx(np.ones(270))
    assert weighting.balance.effective_sizes == pytest.approx((120, 120))
    assert weighting.properties == ("pronouns",)
    assert weighting.constant == ("distance", "length", "domain")


def test_what_only_one_group_has_is_named_and_left_out() -> None:
    records = [_record(n, (M, F)[n % 2], M, domain="both") for n in range(40)]
    records += [_record(40 + n, M, M, domain="men's") for n in range(5)]
    weighting = weigh(records, "delta_g", ["domain"])
    assert weighting is not None
    assert weighting.balance.one_sided == ("domain=men's",)
    assert weighting.balance.n_zero == 5
    assert list(weighting.weights[40:]) == [0] * 5
    # All 45 units of weight are on 40 sentences: 45/40 each.
    id_, weight = weighting.largest[0]
    assert (id_, weight) == ("r0", weighting.weights.max())
    assert weight == pytest.approx(45 / 40)


def test_properties_in_conflict_are_an_error_that_names_them() -> None:
    # Of domain h, two words and two pronouns every man has exactly one and every woman exactly two:
    # the three shares add up to 1 among men and to 2 among women, whatever the weights, though
    # every class has men and women.
    records: list[CallRecord] = []
    for place in range(3):
        for gold in (M, F):
            domain, words, pronouns = ((place == n) == (gold is M) for n in range(3))
            one = _record(
                0, gold, gold, domain="h" if domain else "g", words=1 + words, pronouns=1 + pronouns
            )
            records += [
                replace(one, call=replace(one.call, id=f"r{len(records) + n}")) for n in range(20)
            ]
    with pytest.raises(
        DataError, match=r"cannot be balanced by gold gender over .*: .*in conflict .*Leave one out"
    ):
        weigh(records, "delta_g")
    assert weigh(records, "delta_g", ["domain", "length"]) is not None


def test_a_number_without_groups_has_no_weights() -> None:
    records = [_record(n, (M, F)[n % 2], M) for n in range(40)]  # no stereotypes
    compared = _compare(records, n_resamples=0)
    assert list(compared.weightings) == ["delta_g"]
    assert list(compared.systems[0].weighted) == ["delta_g"]


def test_a_property_that_is_not_known_or_not_there_is_refused() -> None:
    records = [_record(n, (M, F)[n % 2], M) for n in range(40)]
    with pytest.raises(
        DataError, match="pronouns, distance, length, domain, stereotype, got 'colour'"
    ):
        weigh(records, "delta_g", ["colour"])
    with pytest.raises(DataError, match="sentences with a distance, got none"):
        weigh(records, "delta_g", ["distance"])


def test_classes_of_properties() -> None:
    records = [
        _record(n, M, M, pronouns=n, words=w, distance=d, domain="x")
        for n, (w, d) in enumerate(
            [(1, None), (2, 5), (3, 5), (4, 7), (5, 9), (6, None), (7, 9), (8, 9)]
        )
    ]
    found = properties_of(records)
    assert found["pronouns"] == ["0", "1", "2", "3", *["4 or more"] * 4]
    # Eight lengths: two are at most 2 (25 %), four at most 4, six at most 6.
    assert found["length"] == ["1 to 2"] * 2 + ["3 to 4"] * 2 + ["5 to 6"] * 2 + ["7 to 8"] * 2
    assert found["distance"] == [None, "5", "5", "7", "9", None, "9", "9"]
    assert found["domain"] == ["x"] * 8


def test_quartiles_that_coincide_make_fewer_classes() -> None:
    records = [_record(n, M, M, distance=d) for n, d in enumerate([1] * 7 + [2, 3, 4, 9])]
    # Of 11, 1 is reached at 25 and 50 per cent, 2 at 75 (9th of 11 is 3: 8/11 = 72.7 %, 9/11 = 81.8
    # %, so 3).
    assert (
        properties_of(records, ["distance"])["distance"]
        == ["1"] * 7 + ["2 to 3"] * 2 + ["4 to 9"] * 2
    )
