"""Agreement with human labels: by hand, and against scikit-learn on any table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score, recall_score

from mtbias.scoring.correction import LABELS, LabelAgreement, compute_agreement, count_agreement
from mtbias.types import (
    Evidence,
    Gender,
    GenderCall,
    Reason,
    Span,
)

M, F, N = Gender.MALE, Gender.FEMALE, Gender.NEUTRAL
_NAMES = ("male", "female", "neutral", "undecided")


def _agreement(labels: str, calls: Sequence[Gender | None]) -> LabelAgreement:
    return compute_agreement(
        count_agreement((LABELS[m], call) for m, call in zip(labels, calls, strict=True))
    )


def test_agreement_by_hand() -> None:
    #            called m  f  n  undecided
    # label m           5  1  0  0           6
    # label f           1  2  0  1           4
    labels = "mmmmmmffff"
    calls = [M, M, M, M, M, F, M, F, F, None]
    found = _agreement(labels, calls)
    assert (found.n, found.decided, found.agreed) == (10, 9, 7)
    assert found.labels == {"male": 6, "female": 4, "neutral": 0}
    assert found.agreement == 70.0
    assert found.undecided == 10.0
    assert found.recall == {"male": pytest.approx(100 * 5 / 6), "female": 50.0, "neutral": None}
    assert found.balanced_accuracy == pytest.approx((100 * 5 / 6 + 50) / 2)
    # p_o = 0.7; p_e = 0.6·0.6 (male: 6 labels, 6 calls) + 0.4·0.3 (female: 4 labels, 3 calls) =
    # 0.48; 0.22 / 0.52.
    assert found.kappa == pytest.approx(0.22 / 0.52)
    assert found.agreement_interval is not None
    assert found.agreement_interval[0] < 70 < found.agreement_interval[1]


def test_intervals_are_wilsons_in_per_cent() -> None:
    # Newcombe (1998), Table I: 81 of 263 has 0.2553 to 0.3662.
    counts = np.zeros((3, 4), dtype=np.int64)
    counts[0, 0], counts[0, 3] = 81, 182
    found = compute_agreement(counts)
    assert found.agreement_interval == pytest.approx((25.53, 36.62), abs=5e-3)
    assert found.undecided_interval == pytest.approx((100 - 36.62, 100 - 25.53), abs=5e-3)


def test_always_male_agrees_often_and_says_nothing() -> None:
    found = _agreement("m" * 92 + "f" * 8, [M] * 100)
    assert found.agreement == 92.0
    assert found.balanced_accuracy == 50.0
    assert found.kappa == 0.0


def test_a_call_is_decided_by_the_first_evidence_that_says_it() -> None:
    silent = Evidence("common_noun", "noun", "Star", Span(4, 8), None, "lexicon")
    article = Evidence("article", "determiner", "die", Span(0, 3), F, "form")
    verb = Evidence("predicate_by_ending", "verb", "x", Span(9, 10), F, "form")
    assert GenderCall("a", F, None, (), (silent, article, verb)).decided_by == "determiner"
    assert GenderCall("a", None, Reason.AMBIGUOUS, (), (article,)).decided_by == "ambiguous"
    assert GenderCall("a", M, None).decided_by == "none"


def test_undefined_is_none() -> None:
    nothing = _agreement("", [])
    assert nothing.n == 0
    assert nothing.agreement is nothing.kappa is nothing.balanced_accuracy is None
    assert nothing.agreement_interval is None
    # Both sides say male and nothing else: chance agreement is 1.
    assert _agreement("mm", [M, M]).kappa is None


@given(hnp.arrays(np.int64, (3, 4), elements=st.integers(0, 9)))
def test_kappa_and_balanced_accuracy_agree_with_scikit_learn(counts: NDArray[np.int64]) -> None:
    labels = [_NAMES[i] for i, j in np.ndindex(3, 4) for _ in range(counts[i, j])]
    calls = [_NAMES[j] for i, j in np.ndindex(3, 4) for _ in range(counts[i, j])]
    assume(labels)
    found = compute_agreement(counts)
    occurring = sorted(set(labels))
    assert found.balanced_accuracy == pytest.approx(
        100 * recall_score(labels, calls, labels=occurring, average="macro", zero_division=0)
    )
    if len({*labels, *calls}) == 1:
        assert found.kappa is None
    else:
        assert found.kappa == pytest.approx(cohen_kappa_score(labels, calls), abs=1e-12)


@given(st.lists(st.tuples(st.sampled_from((M, F, N)), st.sampled_from((M, F, N, None)))))
def test_counts_add_up(rows: list[tuple[Gender, Gender | None]]) -> None:
    half = len(rows) // 2
    assert (
        count_agreement(rows) == count_agreement(rows[:half]) + count_agreement(rows[half:])
    ).all()
