"""Correcting for the evaluator's errors: by hand, at the limits, and in a simulation of systems
that are known."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from mtbias.errors import DataError
from mtbias.scoring.bias import compute, count
from mtbias.scoring.correction import CORRECTED, correct, draw_rates, fit_shares
from mtbias.types import Gender, Stereotype

M, F, N = Gender.MALE, Gender.FEMALE, Gender.NEUTRAL
PRO, ANTI = Stereotype.PRO, Stereotype.ANTI
TWO = np.array([True, True, False])


def _labels(*rows: tuple[int, int, int, int]) -> NDArray[np.int64]:
    return np.array([*rows, *[(0, 0, 0, 0)] * (3 - len(rows))], dtype=np.int64)


def _run(male: int = 60, female: int = 40) -> NDArray[np.int64]:
    """100 rows of each gold gender and stereotype; of women `female` are called female where the
    stereotype fits."""
    rows = [(M, s, M) for s in (PRO, ANTI) for _ in range(male)]
    rows += [(M, s, F) for s in (PRO, ANTI) for _ in range(100 - male)]
    rows += [(F, PRO, F)] * female + [(F, PRO, M)] * (100 - female)
    rows += [(F, ANTI, F)] * (female - 20) + [(F, ANTI, M)] * (120 - female)
    return count(rows)


def test_shares_are_rogan_and_gladens() -> None:
    # Of the readings 60 % are male; male is called male in 90 %, female in 80 % female. Called
    # male: 0.6·0.9 + 0.4·0.2 = 0.62. Rogan and Gladen turn it back: (0.62 + 0.8 − 1) / (0.9 + 0.8 −
    # 1) = 0.42 / 0.7 = 0.6.
    rates = np.array([[[0.9, 0.1, 0, 0], [0.2, 0.8, 0, 0], [0.25] * 4]]) + 1e-12
    assert fit_shares(np.array([[62.0, 38, 0, 0]]), rates, TWO)[0] == pytest.approx(
        [0.6, 0.4, 0], abs=1e-5
    )


def test_shares_stay_within_0_and_1() -> None:
    # All are called male, more than the 90 % of an all-male text: the formula has (1 + 0.8 − 1) /
    # 0.7 = 1.14.
    rates = np.array([[[0.9, 0.1, 0, 0], [0.2, 0.8, 0, 0], [0.25] * 4]]) + 1e-12
    assert fit_shares(np.array([[50.0, 0, 0, 0]]), rates, TWO)[0] == pytest.approx(
        [1, 0, 0], abs=1e-5
    )


def test_no_call_says_something_too() -> None:
    # Nobody is called female, but of women 4 in 5 have no call and of men none: 40 without a call
    # are 50 women.
    rates = np.array([[[1, 0, 0, 0], [0.2, 0, 0, 0.8], [0.25] * 4]]) + 1e-12
    assert fit_shares(np.array([[60.0, 0, 0, 40]]), rates, TWO)[0] == pytest.approx(
        [0.5, 0.5, 0], abs=1e-5
    )


def _distance(
    tables: NDArray[np.float64], rates: NDArray[np.float64], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How far the mean log-likelihood may be below its maximum: log max g (the likelihood is
    concave)."""
    x = tables / tables.sum(axis=1, keepdims=True)
    gain = np.einsum("mc,mtc->mt", x / np.einsum("mt,mtc->mc", shares, rates), rates)
    found: NDArray[np.float64] = np.log(gain.max(axis=1))
    return found


@given(
    hnp.arrays(np.float64, (5, 4), elements=st.integers(0, 50).map(float)),
    hnp.arrays(np.float64, (5, 3, 4), elements=st.floats(0.01, 1)),
)
@example(  # here EM, even made faster, is 0.001 away after 500 rounds
    np.tile([0.0, 16, 0, 47], (5, 1)),
    np.tile([[[1.0] * 4, [1, 0.96875, 1, 1], [1, 0.5, 1, 1]]], (5, 1, 1)),
)
@settings(max_examples=50, deadline=None)
def test_shares_add_up_and_none_are_likelier(
    tables: NDArray[np.float64], rates: NDArray[np.float64]
) -> None:
    rates = rates / rates.sum(axis=2, keepdims=True)
    shares = fit_shares(tables, rates, np.array([True, True, True]))
    assert (shares >= 0).all()
    assert shares.sum(axis=1) == pytest.approx(np.ones(5))
    rows = tables.sum(axis=1) > 0
    assert (shares[~rows] == 1 / 3).all()
    assert (_distance(tables[rows], rates[rows], shares[rows]) <= 1.1e-7).all()

    def likelihood(pi: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = (tables * np.log(np.einsum("mt,mtc->mc", pi, rates))).sum(
            axis=1
        )
        return found

    for corner in (*np.eye(3), np.full(3, 1 / 3)):
        assert (likelihood(shares) >= likelihood(np.tile(corner, (5, 1))) - 1e-4).all()


@pytest.mark.parametrize("two", [True, False])
@pytest.mark.parametrize("how", ["alike", "nearly alike", "without errors", "rare"])
def test_shares_are_found_where_rates_say_little_or_all(how: str, two: bool) -> None:
    rng = np.random.default_rng(5)
    tables = rng.integers(0, 100, (500, 4)) * (rng.random((500, 4)) < 0.6) + np.array(
        [1.0, 0, 0, 0]
    )
    rates = rng.standard_gamma(0.5, (500, 3, 4)) + 1e-12
    if how == "without errors":
        rates[:] = np.eye(3, 4) + 1e-12
    elif how == "rare":
        rates = rng.standard_gamma(0.02, (500, 3, 4)) + 1e-250
    else:
        rates[:, 1] = rates[:, 0] * (
            1 if how == "alike" else 1 + 1e-9 * rng.standard_normal((500, 4))
        )
    rates /= rates.sum(axis=2, keepdims=True)
    occurring = TWO if two else np.array([True, True, True])
    shares = fit_shares(tables, rates, occurring)
    assert (shares >= 0).all()
    assert (shares[:, ~occurring] == 0).all()
    assert shares.sum(axis=1) == pytest.approx(np.ones(500))
    rates[:, ~occurring] = 0
    assert (_distance(tables, rates, shares) <= 1.1e-7).all()


def test_draws_of_the_rates_have_the_mean_of_the_posterior() -> None:
    # Dirichlet(8.5, 1.5, 0.5, 0.5): means of the shares are these over their sum, 11.
    draws = draw_rates(_labels((8, 1, 0, 0), (0, 5, 0, 0)), 20_000, np.random.default_rng(1))
    assert draws[:, 0].mean(axis=0) == pytest.approx(np.array([8.5, 1.5, 0.5, 0.5]) / 11, abs=0.005)
    assert draws.sum(axis=2) == pytest.approx(np.ones((20_000, 3)))


def test_an_evaluator_without_errors_leaves_the_numbers_as_they_are() -> None:
    counts = _run()
    found = correct(counts, _labels((10**6, 0, 0, 0), (0, 10**6, 0, 0)), n_resamples=500)
    plain = compute(counts)
    for name in CORRECTED:
        corrected = found.corrected[name]
        assert corrected.value == pytest.approx(plain[name], abs=1)
        assert corrected.interval == pytest.approx(found.called[name].interval, abs=1.5)


def test_errors_are_taken_out_again() -> None:
    # What a human reads: of 1,000 men 900 male, of 1,000 women 500 female. The evaluator calls 20 %
    # of what is read as female male. Calls of men: male 900 + 20, female 80; of women: female 400,
    # male 600.
    counts = count(
        [(M, PRO, M)] * 920 + [(M, PRO, F)] * 80 + [(F, ANTI, F)] * 400 + [(F, ANTI, M)] * 600
    )
    found = correct(
        counts, _labels((10**6, 0, 0, 0), (2 * 10**5, 8 * 10**5, 0, 0)), n_resamples=500
    )
    # Of 2,000 rows 900 + 500 are read right, and 920 + 400 called right.
    assert found.called["accuracy"].value == pytest.approx(66)
    assert found.corrected["accuracy"].value == pytest.approx(70, abs=0.5)
    # F1 male 2·900 / (1,400 + 1,000) = 75, female 2·500 / (600 + 1,000) = 62.5.
    assert found.corrected["delta_g"].value == pytest.approx(12.5, abs=0.7)
    assert found.corrected["delta_s"].value == pytest.approx(90 - 50, abs=0.7)
    assert found.readings == pytest.approx({"male": 1400, "female": 600, "neutral": 0}, abs=12)


def test_few_labels_make_wide_intervals() -> None:
    widths = []
    for scale in (1, 10, 100):
        interval = (
            correct(_run(), scale * _labels((20, 1, 0, 1), (1, 5, 0, 0)), n_resamples=500)
            .corrected["delta_g"]
            .interval
        )
        assert interval is not None
        widths.append(interval[1] - interval[0])
    plain = correct(_run(), _labels((20, 1, 0, 1), (1, 5, 0, 0))).called["delta_g"].interval
    assert plain is not None
    assert widths[0] > widths[1] > widths[2] > plain[1] - plain[0]


def test_rows_without_a_translation_stay_wrong() -> None:
    # 50 of 100 men have no call. Where people read male half the calls fail: then all 100 are male.
    # But if the 50 have no translation, nobody can read them.
    counts = count([(M, PRO, M)] * 50 + [(M, PRO, None)] * 50)
    labels = _labels((10**6, 0, 0, 10**6), (0, 10**6, 0, 0))
    assert correct(counts, labels, n_resamples=200).corrected["accuracy"].value == pytest.approx(
        100, abs=0.5
    )
    untranslated = np.zeros((3, 3), dtype=np.int64)
    untranslated[0, 0] = 50
    found = correct(counts, labels, untranslated=untranslated, n_resamples=200)
    assert found.corrected["accuracy"].value == pytest.approx(50, abs=1.5)
    assert found.untranslated == 50


def test_a_gender_without_labels_is_named_and_never_read() -> None:
    found = correct(_run(), _labels((20, 0, 0, 1), (1, 5, 0, 0)), n_resamples=200)
    assert found.absent == (N,)
    assert found.few == (F,)
    assert found.readings["neutral"] == 0
    full = np.array([[20, 0, 0, 1], [1, 5, 0, 0], [1, 0, 3, 2]])
    assert correct(_run(), full, n_resamples=200).absent == ()


def test_without_labels_of_men_or_women_there_is_no_correction() -> None:
    with pytest.raises(
        DataError,
        match="expected human labels of both genders to correct with, got none that is female",
    ):
        correct(_run(), _labels((20, 0, 0, 1)))


def test_what_is_undefined_stays_so() -> None:
    counts = count([(M, Stereotype.NONE, M)] * 5)
    found = correct(counts, _labels((9, 1, 0, 0), (1, 9, 0, 0)), n_resamples=100).to_json()
    assert (
        found["corrected"]["delta_g"]
        == found["corrected"]["delta_s"]
        == {"value": None, "interval": None}
    )
    # As called: Wilson's, 5 of 5 (scipy.stats.binomtest). Corrected: none with fewer than 10 rows,
    # as of any bootstrap.
    assert found["plain"]["accuracy"]["value"] == 100
    assert found["plain"]["accuracy"]["interval"] == pytest.approx([56.552, 100.0], abs=1e-3)
    assert found["corrected"]["accuracy"]["interval"] is None
    none = correct(_run(), _labels((9, 1, 0, 0), (1, 9, 0, 0)), n_resamples=0).to_json()
    assert none["corrected"]["accuracy"] == {"value": None, "interval": None}


def test_the_same_seed_gives_the_same_numbers_in_plain_json() -> None:
    labels = _labels((20, 1, 0, 1), (1, 5, 0, 0))
    first, second, other = (
        correct(_run(), labels, n_resamples=100, seed=s).to_json() for s in (3, 3, 4)
    )
    assert first == second
    assert first["corrected"] != other["corrected"]
    assert json.loads(json.dumps(first, allow_nan=False)) == first


def test_corrected_intervals_hold_the_truth_where_plain_ones_do_not() -> None:
    # 60 runs of a system whose readings are known: right in 90 % of men and 40 % of women. The
    # evaluator misses one in five feminine readings. With 95 % intervals 57 of 60 are expected; 51
    # or fewer have a chance below 2 %.
    rng = np.random.default_rng(7)
    readings = np.array([[0.9, 0.1, 0], [0.6, 0.4, 0]])
    errors = np.array([[0.95, 0.01, 0, 0.04], [0.15, 0.8, 0, 0.05], [0.25, 0.25, 0.25, 0.25]])
    # F1 male 2·0.9 / (1.5 + 1), female 2·0.4 / (0.5 + 1).
    truth = {"accuracy": 65.0, "delta_g": 100 * (1.8 / 2.5 - 0.8 / 1.5), "delta_s": 0.0}
    held = dict.fromkeys(truth, 0)
    plain_held = dict.fromkeys(truth, 0)
    for run in range(60):
        counts = np.zeros((3, 3, 4), dtype=np.int64)
        counts[:2, :2] = rng.multinomial(800, readings @ errors, size=(2, 2))
        labels = np.stack(
            [rng.multinomial(n, row) for n, row in zip((60, 30, 0), errors, strict=True)]
        )
        found = correct(counts, labels, n_resamples=300, seed=run)
        for name, value in truth.items():
            corrected, plain = found.corrected[name].interval, found.called[name].interval
            assert corrected is not None
            assert plain is not None
            held[name] += corrected[0] <= value <= corrected[1]
            plain_held[name] += plain[0] <= value <= plain[1]
    assert min(held.values()) >= 52, held
    assert plain_held["accuracy"] < 6, plain_held
    assert plain_held["delta_g"] < 30, plain_held
