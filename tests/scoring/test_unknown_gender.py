"""Sentences of unknown gender: shares by hand, apart from those that show a gender, and by share of
women."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from mtbias.report.run_table import render
from mtbias.runs.call_records import CallRecord
from mtbias.scoring.bias import GENDER_COUNTING, UNKNOWN_GENDER
from mtbias.scoring.comparable_runs import differing_rows
from mtbias.scoring.comparison import compare_runs
from mtbias.scoring.counting import Counting
from mtbias.scoring.definitions import Best
from mtbias.scoring.metrics_reader import read_metrics
from mtbias.scoring.scores import counting_of, score
from mtbias.scoring.women_share import WomenShares, correlation
from mtbias.types import Evidence, Gender, GenderCall, Reason, Span, Stereotype, Strategy

M, F, N = Gender.MALE, Gender.FEMALE, Gender.NEUTRAL
BOTH = Evidence("both_nouns", "noun", "Ärzte / Ärztinnen", Span(0, 19), N, "lexicon")
ENDING = Evidence("neutral_ending", "noun", "niñes", Span(0, 5), N, "form")


def _record(
    n: int,
    gender: Gender | None,
    *evidence: Evidence,
    gold: Gender | None = None,
    entity: str = "cook",
) -> CallRecord:
    call = GenderCall(
        f"r{n}", gender, None if gender else Reason.NO_MORPHOLOGY, (Span(0, 3),), evidence
    )
    kind = Stereotype.NONE if gold is None else (Stereotype.PRO, Stereotype.ANTI)[n % 2]
    return CallRecord(n, f"The {entity} left.", "Wer ging.", entity, gold, kind, "own", 0, call)


TEN = [
    *(_record(n, M) for n in range(4)),
    *(_record(n, F) for n in range(4, 6)),
    _record(6, N, BOTH),
    _record(7, N, ENDING),
    *(_record(n, None) for n in range(8, 10)),
]
"""Eight of ten with a call."""


def test_strategies_are_shares_of_all_sentences_apart_for_what_the_source_says() -> None:
    golds = [None, None, N, N, M, F]
    does = [
        Strategy.STAR,
        Strategy.PAIR,
        Strategy.COLLECTIVE,
        None,
        Strategy.MALE,
        Strategy.OMITTED,
    ]
    rows = [_record(n, None, gold=gold) for n, gold in enumerate(golds)]
    scored = score(
        [replace(r, call=replace(r.call, does=d)) for r, d in zip(rows, does, strict=True)],
        n_resamples=0,
    )
    content = scored.to_json()
    found = {
        part: {key: share["n"] for key, share in of.items()}
        for part, of in content["strategies"].items()
    }
    none = {"male": 0, "female": 0, "both": 0, "neutral": 0, "omitted": 0, "unaligned": 0}
    both = {"both": 2, "both:pair": 1, "both:star": 1}
    assert found == {
        "unknown": {**none, **both, "neutral": 1, "neutral:collective": 1},
        "known": {**none, "male": 1, "omitted": 1},
    }
    assert "strategies" not in content["unknown"]
    wilson = binomtest(2, 4).proportion_ci(method="wilson")
    ends = pytest.approx([100 * wilson.low, 100 * wilson.high], abs=1e-6)
    assert content["strategies"]["unknown"]["both"] == {
        "n": 2,
        "of": 4,
        "percent": 50,
        "interval": ends,
    }
    assert "strategies" not in score(rows, n_resamples=0).to_json()
    lines = [
        line.split() for line in render({**content, "signature": None}, full=True).splitlines()
    ]
    assert [line for line in lines if line[:1] == ["both:star"]] == [
        ["both:star", "25.0", "[4.6,", "69.9]", "1"]
    ]


def test_shares_are_of_the_sentences_with_a_call() -> None:
    content = score(TEN, n_resamples=200).to_json()
    overall = content["overall"]
    shares = {
        key: overall[key] for key in ("masculine", "feminine", "both_forms", "neutral", "gap")
    }
    assert shares == {
        "masculine": 50,
        "feminine": 25,
        "both_forms": 12.5,
        "neutral": 12.5,
        "gap": 25,
    }
    assert (overall["n"], overall["decided"], overall["decided_percent"]) == (10, 8, 80)
    assert overall["denominators"] == {
        "called_male": 4,
        "called_female": 2,
        "called_neutral": 1,
        "called_both": 1,
    }
    assert (content["reasons"], content["reasons_percent"]) == (
        {"no morphology": 2},
        {"no morphology": 20},
    )
    wilson = binomtest(4, 8).proportion_ci(method="wilson")
    assert overall["ci"]["masculine"] == pytest.approx([100 * wilson.low, 100 * wilson.high])
    assert overall["ci"]["gap"] is None  # fewer than ten calls
    assert "accuracy" not in overall
    assert json.loads(json.dumps(content)) == content


def test_nothing_with_a_call_has_no_shares() -> None:
    overall = score([_record(n, None) for n in range(3)], n_resamples=50).to_json()["overall"]
    assert [overall[key] for key in ("masculine", "feminine", "both_forms", "neutral", "gap")] == [
        None
    ] * 5
    assert overall["decided_percent"] == 0
    assert overall["ci"]["masculine"] is None


def test_no_share_is_ranked() -> None:
    best = {number.key: number.best for number in UNKNOWN_GENDER.compared}
    assert best == {
        **dict.fromkeys(("masculine", "feminine", "both_forms", "neutral"), Best.OPEN),
        "gap": Best.ZERO,
    }


def test_the_bootstrap_of_the_difference_is_that_of_its_rows() -> None:
    # 15 masculine and 5 feminine of 20: the difference is 50, its standard error √((1 − 0.25) / 20)
    # = 19.4 points.
    records = [_record(n, M if n < 15 else F) for n in range(20)]
    group = score(records, n_resamples=4000).overall
    low, high = group["gap"].interval or (0, 0)
    assert group["gap"].value == 50
    assert (high - low) / 2 == pytest.approx(1.96 * 100 * np.sqrt(0.75 / 20), rel=0.15)


@pytest.mark.parametrize(
    ("rule", "both"),
    [
        ("both_nouns", True),
        ("ending_written_on", True),
        ("both_articles", True),
        ("both_sexes", True),
        ("spelling_for_both", True),
        ("neutral_ending", False),
        ("noun_by_tagger", False),  # Gender=Neut
    ],
)
def test_which_evidence_names_both_genders(rule: str, both: bool) -> None:
    neutral = Evidence(rule, "noun", "word", Span(0, 4), N, "form")
    assert GenderCall("a", N, None, (), (neutral,)).both_forms is both
    male = replace(neutral, gender=M)
    assert not GenderCall("a", M, None, (), (male,)).both_forms


KNOWN = [_record(100 + n, M if n % 3 else F, gold=(M, F)[n // 2 % 2]) for n in range(40)]


def test_sentences_that_show_a_gender_are_scored_as_if_alone() -> None:
    mixed = [record for pair in zip(TEN, KNOWN, strict=False) for record in pair] + KNOWN[
        len(TEN) :
    ]
    found, alone = (score(records, n_resamples=300).to_json() for records in (mixed, KNOWN))
    part = found.pop("unknown")
    assert found == alone
    unknown = score(TEN, n_resamples=300).to_json()
    assert part == {key: value for key, value in unknown.items() if key in part}
    assert unknown.keys() - part.keys() == {"schema", "mtbias", "signature", "fingerprint"}
    assert (counting_of(mixed), counting_of(KNOWN), counting_of(TEN)) == (
        GENDER_COUNTING, GENDER_COUNTING, UNKNOWN_GENDER,
    )  # fmt: skip


@dataclass(frozen=True)
class _Part:
    system: str
    calls: Sequence[CallRecord]
    counting: Counting
    lang: str = "de"
    corpus: tuple[str, dict[str, str]] = ("own", {})
    evaluator: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, Any] = field(default_factory=dict)
    unknown: _Part | None = None
    source_lang: str = "en"

    @property
    def known(self) -> _Part:
        return self

    @property
    def fingerprint(self) -> str:
        return self.system.ljust(16, "0")


def _mixed(system: str, unknown: Sequence[CallRecord]) -> _Part:
    return _Part(system, KNOWN, GENDER_COUNTING, unknown=_Part(system, unknown, UNKNOWN_GENDER))


def test_systems_are_compared_on_both_kinds_apart() -> None:
    first, second = (
        [_record(n, M) for n in range(12)],
        [_record(n, F if n < 6 else M) for n in range(12)],
    )
    runs = [_mixed("a", first), _mixed("b", second)]
    found = compare_runs(runs, n_resamples=300)
    assert found.unknown is not None
    # Six sentences differ, all one way: of 2⁶ ways to swap their calls, two make a difference as
    # large.
    (pair,) = found.unknown.pairs
    masculine = pair.plain["masculine"]
    assert (masculine.first, masculine.second, masculine.difference) == (100, 50, 50)
    assert masculine.p == pytest.approx(2 / 64)
    assert pair.differing == 6
    assert not found.unknown.right_or_wrong
    plain = [_Part(run.system, run.calls, GENDER_COUNTING) for run in runs]
    alone, content = compare_runs(plain, n_resamples=300).to_json(), found.to_json()
    part = content.pop("unknown")
    assert content == alone
    assert part["pairs"][0]["plain"]["masculine"]["difference"] == 50
    assert [row["number"] for row in found.table() if row["minus"]] == [
        "accuracy", "delta_g", "delta_s", "masculine", "feminine", "both_forms", "neutral", "gap",
    ]  # fmt: skip
    rows = list(differing_rows(runs))
    assert [(row["id"], row["first_call"], row["second_call"]) for row in rows] == [
        (f"r{n}", "male", "female") for n in range(6)
    ]


def test_calls_of_both_systems_must_suffice_for_an_interval() -> None:
    every, few = (
        [_record(n, M) for n in range(12)],
        [_record(n, M if n < 9 else None) for n in range(12)],
    )
    for runs in ((every, few), (few, every)):
        given = [_Part(name, calls, UNKNOWN_GENDER) for name, calls in zip("ab", runs, strict=True)]
        found = compare_runs(given, n_resamples=50)
        assert found.pairs[0].plain["gap"].interval is None
        assert found.rows == {"n": 12}  # how many have a call is each system's own


def test_a_pair_of_forms_and_a_neutral_form_are_different_calls() -> None:
    runs = [
        _Part("a", [_record(0, N, BOTH)], UNKNOWN_GENDER),
        _Part("b", [_record(0, N, ENDING)], UNKNOWN_GENDER),
    ]
    (row,) = differing_rows(runs)
    assert (row["first_call"], row["second_call"]) == ("both forms", "neutral")


def test_feminine_forms_against_the_share_of_women() -> None:
    # Of three entities 0, 1 and 2 of 2 calls are feminine, at 10, 20 and 60 % women; of the fourth
    # nothing has a call.
    calls = {
        "mason": (M, M),
        "clerk": (M, F),
        "nurse": (F, F),
        "guard": (None, None),
        "wizard": (F, F),
    }
    records = [
        _record(10 * n + k, call, entity=e)
        for n, (e, two) in enumerate(calls.items())
        for k, call in enumerate(two)
    ]
    groups = read_metrics(score(records, n_resamples=0).to_json()).by["by_entity"]
    shares = WomenShares(
        "women.csv", "share", "00ff", {"mason": 10, "clerk": 20, "nurse": 60, "guard": 30}
    )
    feminine = correlation(shares, groups, "feminine")
    assert (feminine.value, feminine.n) == (1, 3)
    gap = correlation(shares, groups, "recall_female", "recall_male")
    assert (correlation(shares, groups, "accuracy").value, gap.value) == (None, None)
