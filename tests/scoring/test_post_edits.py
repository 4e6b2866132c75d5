"""What wrong genders cost, by hand."""

from __future__ import annotations

import json

import pytest

from mtbias.report.run_table import render
from mtbias.runs.call_records import CallRecord
from mtbias.scoring.scores import score
from mtbias.types import Gender, GenderCall, GenderedWord, Reason, Span, Stereotype

M, F = Gender.MALE, Gender.FEMALE


def _record(n: int, gold: Gender | None, called: Gender | None, *known: bool) -> CallRecord:
    edits = tuple(GenderedWord("Arzt", Span(0, 4), each) for each in known)
    call = GenderCall(
        f"r{n}", called, None if called else Reason.NO_MORPHOLOGY, (Span(0, 4),), (), edits=edits
    )
    return CallRecord(
        n, "The doctor left.", "Arzt ging.", "doctor", gold, Stereotype.PRO, "own", 0, call
    )


ROWS = [
    _record(0, F, M, True, True, False),
    _record(1, F, M, True),
    _record(2, F, F, True, True),
    _record(3, F, None),
    _record(4, M, F, True, True),
    *(_record(n, M, M, True) for n in range(5, 10)),
    _record(10, Gender.NEUTRAL, M, True),
    _record(11, None, F, True),
]


def test_the_words_of_wrong_calls_are_counted_for_men_and_women() -> None:
    """Women: 4 words in 2 wrong calls of 4 rows; men: 2 words in 1 of 6; right, uncalled and
    neutral rows cost none."""
    content = score(ROWS, n_resamples=500).to_json()
    cost = content["post_edits"]
    counts = {
        name: [part[key] for key in ("n", "wrong", "edits", "unknown")]
        for name, part in cost.items()
    }
    assert counts == {"male": [6, 1, 2, 0], "female": [4, 2, 4, 1], "all": [10, 3, 6, 1]}
    means = {
        name: (part["per_wrong"]["value"], part["per_sentence"]["value"])
        for name, part in cost.items()
    }
    assert means == {"male": (2, pytest.approx(1 / 3, abs=1e-6)), "female": (2, 1), "all": (2, 0.6)}
    low, high = cost["all"]["per_sentence"]["interval"]
    assert 0 <= low < 0.6 < high
    # Fewer than ten wrong calls or rows have no interval.
    few = [(name, mean) for name in ("male", "female") for mean in ("per_wrong", "per_sentence")]
    assert {cost[name][mean]["interval"] for name, mean in (*few, ("all", "per_wrong"))} == {None}
    table = render(json.loads(json.dumps(content)), full=True)
    assert "What wrong genders cost" in table
    assert [line.split()[:6] for line in table.splitlines() if line.startswith("  a woman ")] == [
        ["a", "woman", "4", "2", "4", "1"]
    ]


def test_runs_whose_calls_say_no_words_have_no_cost() -> None:
    assert "post_edits" not in score([_record(0, F, M), _record(1, M, M)], n_resamples=0).to_json()
