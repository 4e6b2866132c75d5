"""The simulation behind the claim that the intervals hold the truth: its truths, and a small run of
it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mtbias.stats.resampling import wilson_percent
from scripts import coverage


def test_two_systems_have_the_margins_that_they_are_made_of() -> None:
    pairs = coverage.joint(coverage.BIASED, coverage.UNBIASED)
    assert np.allclose(pairs.sum(axis=-1), coverage.BIASED)
    assert np.allclose(pairs.sum(axis=-2), coverage.UNBIASED)
    assert (pairs >= 0).all()
    # On the same sentence they agree more often than by chance: .9 · .8 for a man whom the
    # stereotype fits.
    assert pairs[0, 0, 0, 0] > 0.9 * 0.8


@pytest.mark.parametrize("corpus", coverage.SENTENCES)
def test_the_shares_of_the_sentences_are_shares(corpus: str) -> None:
    assert coverage.SENTENCES[corpus].sum() == pytest.approx(1)


def test_the_true_consistency_is_that_of_many_quadruples() -> None:
    system = (0.9, 0.5, 0.8)
    status = coverage.draw_quadruples(200_000, *system, np.random.default_rng(1))
    right = status == 0
    across = 100 * ((right[:, 0] != right[:, 2]).mean() + (right[:, 1] != right[:, 3]).mean()) / 2
    within = 100 * ((right[:, 0] != right[:, 1]).mean() + (right[:, 2] != right[:, 3]).mean()) / 2
    # 400,000 pairs: a standard error below 0.08 points.
    assert coverage.true_consistency(*system) == pytest.approx([across, across - within], abs=0.4)


def test_intervals_hold_the_truth_most_of_the_time() -> None:
    found = coverage.numbers_coverage("WinoMT's 3,888", coverage.BIASED, "biased", 100, 300, 0)
    found += coverage.differences_coverage("the demo's 512", 100, 300, 1)
    found += coverage.consistency_coverage(100, 300, 2)
    # Of 100 intervals that hold with 95 %, 87 or fewer do with probability 0.0015; 100 runs say no
    # more than that.
    assert min(c.share for c in found) > 87
    assert all(c.none == 0 for c in found)


def test_no_interval_holds_another_truth() -> None:
    wrong = coverage.tally(
        "x", ("a", "b"), np.array([1.0, 2.0]), [[True, None], [False, None], [True, False]]
    )
    assert [(c.held, c.none) for c in wrong] == [(2, 0), (0, 2)]
    assert wrong[0].share == pytest.approx(200 / 3)


def test_small_p_values_that_come_too_often_are_seen() -> None:
    uniform = (np.arange(1000) + 0.5) / 1000
    assert coverage.uniformity(uniform)["one_sided_p"] > 0.9
    assert coverage.uniformity(uniform**2)["one_sided_p"] < 1e-6  # p ≤ 0.05 in 22 % of the runs
    conservative = coverage.uniformity(np.sqrt(uniform))
    assert conservative["ks_p"] < 1e-6
    assert conservative["one_sided_p"] > 0.9


def test_how_often_intervals_of_a_share_hold_is_counted_exactly() -> None:
    # Five rows, 5 %. Wilson holds with none right, [0, 43.4], and one, [3.6, 62.4], not with two,
    # [11.8, 76.9]:
    # 0.95⁵ + 5·0.05·0.95⁴. The bootstrap of none is [0, 0]; of one and two of five it begins at 0,
    # since
    # 0.8⁵ and 0.6⁵ are above 0.025, and of three at 20 %, since 0.4⁵ is below: 5·0.05·0.95⁴ +
    # 10·0.05²·0.95³.
    none, one, two = 0.95**5, 5 * 0.05 * 0.95**4, 10 * 0.05**2 * 0.95**3
    assert coverage.share_coverage(wilson_percent, 5, 0.05)[0] == pytest.approx(100 * (none + one))
    assert coverage.share_coverage(coverage.bootstrap_of_share, 5, 0.05)[0] == pytest.approx(
        100 * (one + two)
    )
    assert coverage.bootstrap_of_share(16, 16) == (100, 100)


def test_the_table_of_shares_is_that_of_the_docs(capsys: pytest.CaptureFixture[str]) -> None:
    coverage.print_shares()
    page = Path(__file__).resolve().parents[2] / "docs" / "metrics" / "intervals.md"
    assert capsys.readouterr().out in page.read_text(encoding="utf-8")
