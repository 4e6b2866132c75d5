"""Runs compared: pairs of systems, intervals, p and Holm's family, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from scipy.stats import binomtest

from mtbias.errors import DataError
from mtbias.scoring.comparable_runs import differing_rows
from mtbias.scoring.comparison import Comparison, compare_runs
from mtbias.scoring.scores import score
from mtbias.stats.resampling import holm
from mtbias.stats.results import MIN_ROWS
from tests.scoring.compared_runs import (
    ANTI,
    NUMBERS,
    PRO,
    F,
    M,
    Run,
    random_run,
    record_of,
    six_runs,
)


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return six_runs()


@pytest.fixture(scope="module")
def compared(runs: list[Run]) -> Comparison:
    return compare_runs(runs, n_resamples=500)


def test_the_interval_of_a_systems_accuracy_is_wilsons(compared: Comparison) -> None:
    share = compared.systems[0].plain["accuracy"]
    assert share.value is not None
    theirs = binomtest(round(2 * share.value), 200).proportion_ci(method="wilson")
    assert share.interval == pytest.approx((100 * theirs.low, 100 * theirs.high))
    assert compared.to_json()["interval_methods"]["systems"]["accuracy"] == "wilson"
    assert set(compared.to_json()["interval_methods"]["pairs"].values()) == {"bootstrap"}


def test_there_is_no_interval_of_too_few_rows() -> None:
    # pro men, and one anti woman less than an interval needs
    golds = [(M, PRO)] * MIN_ROWS + [(F, ANTI)] * (MIN_ROWS - 1)
    one, other = (
        replace(
            random_run(name, "de"),
            calls=[record_of(n, gold, kind, M) for n, (gold, kind) in enumerate(golds)],
        )
        for name in "ab"
    )
    ends = {
        key: d.interval
        for key, d in compare_runs([one, other], n_resamples=50).pairs[0].plain.items()
    }
    assert ends["accuracy"] is not None
    assert (ends["delta_g"], ends["delta_s"]) == (None, None)


def test_all_pairs_of_a_language_are_compared_and_no_others(compared: Comparison) -> None:
    named = [(pair.lang, pair.first, pair.second) for pair in compared.pairs]
    assert named == [("de", "a", "b"), ("de", "a", "c"), ("de", "b", "c"), ("es", "a", "b")]
    assert [system.lang for system in compared.systems] == ["de", "de", "de", "es", "es", "it"]
    assert compared.rows == {
        "n": 200, "male": 100, "female": 100, "pro": 100, "anti": 100, "pairs": 0, "quadruples": 0,
    }  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS)
def test_holms_family_is_all_tests_of_a_number(compared: Comparison, number: str) -> None:
    found = [pair.plain[number] for pair in compared.pairs]
    raw = [d.p for d in found if d.p is not None]
    assert len(raw) == compared.tests == 4
    assert [d.p_holm for d in found] == holm(raw)
    assert all(d.significant == (d.p_holm is not None and d.p_holm < 0.05) for d in found)


def test_a_difference_is_that_of_the_systems_and_lies_in_its_interval(compared: Comparison) -> None:
    systems = {(s.lang, s.system): s for s in compared.systems}
    for pair in compared.pairs:
        for number, d in pair.plain.items():
            a, b = (
                systems[pair.lang, name].plain[number].value for name in (pair.first, pair.second)
            )
            assert (d.first, d.second) == (a, b)
            assert a is not None
            assert b is not None
            assert d.interval is not None
            assert d.difference == pytest.approx(a - b)
            assert d.interval[0] <= a - b <= d.interval[1]


def test_intervals_over_entities_are_those_of_metrics_json(runs: list[Run]) -> None:
    # The same rows about twenty occupations instead of one.
    def spread(run: Run) -> Run:
        return replace(
            run, calls=[replace(row, entity=f"e{n % 20}") for n, row in enumerate(run.calls)]
        )

    two = [spread(run) for run in runs[:2]]
    compared = compare_runs(two, n_resamples=300)
    scores = score(two[0].calls, n_resamples=300).overall.over_entities
    assert scores is not None
    assert scores.intervals is not None
    assert compared.systems[0].over_entities is not None
    assert compared.systems[0].over_entities.intervals == {
        key: scores.intervals[key] for key in NUMBERS
    }
    over = compared.pairs[0].over_entities
    assert over is not None
    for key, d in compared.pairs[0].plain.items():
        ends = over.interval_of(key)
        assert ends is not None
        assert d.difference is not None
        assert ends[0] <= d.difference <= ends[1]
    # One occupation alone is too few, and nothing else changes.
    alone = compare_runs(runs[:2], n_resamples=300)
    assert alone.over_entities is not None
    assert alone.over_entities.reason == "expected 10 entities or more, got 1"
    assert alone.pairs[0].plain == compared.pairs[0].plain


def test_a_pair_does_not_depend_on_the_others_but_for_holm(
    runs: list[Run], compared: Comparison
) -> None:
    alone = compare_runs(runs[:2], n_resamples=500).pairs[0]
    within = compared.pairs[0]
    for number in NUMBERS:
        assert replace(alone.plain[number], p_holm=None) == replace(
            within.plain[number], p_holm=None
        )
    assert alone.mcnemar == within.mcnemar


def test_calls_are_joined_by_id(runs: list[Run]) -> None:
    turned = replace(runs[1], calls=runs[1].calls[::-1])
    assert (
        compare_runs([runs[0], turned], n_resamples=50).pairs
        == compare_runs(runs[:2], n_resamples=50).pairs
    )


def test_the_same_seed_gives_the_same_bytes(runs: list[Run]) -> None:
    first, again, other = (
        json.dumps(compare_runs(runs[:2], n_resamples=60, seed=seed).to_json(), allow_nan=False)
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_json_and_frame_have_every_number(compared: Comparison) -> None:
    content = compared.to_json()
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert content["pairs"][0]["plain"]["delta_g"]["p"] == round(
        compared.pairs[0].plain["delta_g"].p or 0, 6
    )
    assert content["pairs"][0]["mcnemar"]["both"] == compared.pairs[0].mcnemar.both
    assert content["p"] == {
        "method": "paired randomisation over sentences",
        "correction": "Holm",
        "tests": 4,
    }
    frame = compared.to_frame()
    assert len(frame) == 3 * (6 + 4)
    assert list(frame["minus"].notna()) == [True] * 3 * 4 + [False] * 3 * 6  # differences first
    row = frame[(frame["system"] == "a") & (frame["minus"] == "b") & (frame["lang"] == "es")].iloc[
        0
    ]
    assert row["value"] == round(compared.pairs[3].plain["accuracy"].difference or 0, 6)


def test_without_resamples_there_are_values_alone(runs: list[Run]) -> None:
    (pair,) = compare_runs(runs[:2], n_resamples=0).pairs
    assert all(d.difference is not None for d in pair.plain.values())
    assert [(d.interval, d.p, d.p_holm, d.significant) for d in pair.plain.values()] == [
        (None, None, None, False)
    ] * 3


def test_it_says_when_no_test_can_be_significant(runs: list[Run]) -> None:
    # The smallest p of 39 rearrangements is 1/40, and twice that is 0.05; of 40, 2/41.
    two = [*runs[:2], *runs[3:5]]
    assert compare_runs(two, n_resamples=39).too_few_resamples
    assert not compare_runs(two, n_resamples=40).too_few_resamples


def test_systems_of_one_name_are_told_apart(runs: list[Run]) -> None:
    same = [runs[0], replace(random_run("a", "de", seed=9), fingerprint="feedbeef00000000")]
    assert [s.system for s in compare_runs(same, n_resamples=0).systems][1] == "a#feedbeef"


def test_rows_on_which_calls_differ(runs: list[Run], compared: Comparison) -> None:
    rows = list(differing_rows(runs))
    for pair in compared.pairs:
        here = [
            row
            for row in rows
            if (row["lang"], row["first"], row["second"]) == (pair.lang, pair.first, pair.second)
        ]
        assert len(here) == pair.differing > 0
        assert all(row["first_call"] is not row["second_call"] for row in here)
    assert rows[0]["source"] == f"Sentence {str(rows[0]['id'])[1:]}."


def _changed_evaluator(run: Run) -> Run:
    return replace(run, evaluator={**run.evaluator, "aligner": "agree/2"})


def test_runs_that_cannot_be_compared_are_refused(runs: list[Run]) -> None:
    a, b = runs[:2]
    changed = replace(b.calls[0], gold=F if b.calls[0].gold is M else M)
    cases: list[tuple[list[Run], str]] = [
        ([], "got none"),
        ([a, a], "got a in de with the fingerprint .* twice"),
        ([a, runs[3]], "two runs or more in a language, got one in de, es"),
        (
            [a, replace(b, corpus=("other", a.corpus[1]))],
            r"got own \(a in de\) and other \(b in de\)",
        ),
        (
            [a, replace(b, corpus=("own", {"own.tsv": "bb" * 32}))],
            r"own.tsv has the SHA-256 aaaaaaaaaaaa… in a in de and bbbbbbbbbbbb… in b in de",
        ),
        (
            [a, replace(b, corpus=("own", {**a.corpus[1], "more": "cc"}))],
            r"more has the SHA-256 \(absent\)",
        ),
        ([a, replace(b, calls=b.calls[1:])], "got 'r0' in a in de and not in b in de"),
        (
            [a, replace(b, calls=[*b.calls, record_of(999, M, PRO, M)])],
            "got 'r999' in b in de and not in a in de",
        ),
        (
            [a, replace(b, calls=[changed, *b.calls[1:]])],
            "another source, or other stereotype or gold, in b in de",
        ),
        ([a, _changed_evaluator(b)], "one evaluator, got aligner agree/1 in a and agree/2 in b"),
    ]
    for given_runs, message in cases:
        with pytest.raises(DataError, match=message):
            compare_runs(given_runs, n_resamples=0)


def test_different_evaluators_are_allowed_by_request_and_named(runs: list[Run]) -> None:
    two = [runs[0], _changed_evaluator(runs[1])]
    found = compare_runs(two, n_resamples=0, different_evaluators=True)
    assert found.evaluators == {"de": ("aligner agree/1 in a and agree/2 in b",)}
    assert "different-evaluators:de" in found.signature


def test_evaluators_of_different_languages_may_differ(runs: list[Run]) -> None:
    spanish = [
        replace(run, evaluator={"aligner": "agree/1", "plugin": "es/1"}) for run in runs[3:5]
    ]
    assert compare_runs([*runs[:2], *spanish], n_resamples=0).evaluators == {}


def test_systems_are_compared_in_consistency_where_the_corpus_has_pairs() -> None:
    # 20 pairs of a man's and a woman's sentence. The first system calls everybody male: right for
    # one only in all pairs, 100 %. The second is right in the first 15 pairs and calls everybody
    # male in the last 5: 25 %.
    def paired_run(system: str, right: int) -> Run:
        records = []
        for row in range(40):
            gold = (M, F)[row % 2]
            record = record_of(row, gold, PRO, gold if row < 2 * right else M)
            records.append(replace(record, pair=f"r{row + 1 - 2 * (row % 2)}"))
        return Run(system, "de", records, system.ljust(16, "0"))

    two = [paired_run("all-male", 0), paired_run("better", 15)]
    compared = compare_runs(two, n_resamples=500)
    assert (compared.rows["pairs"], compared.rows["quadruples"]) == (20, 0)
    found = compared.pairs[0].consistency
    assert list(found) == ["across"]  # no quadruples, so no ΔI
    across = found["across"]
    assert (across.first, across.second, across.difference) == (100, 25, 75)
    assert across.interval is not None
    assert across.interval[0] <= 75 <= across.interval[1]
    # 15 pairs differ: of 2**15 exchanges only two are as extreme.
    assert across.p == 1 / 501
    assert across.p_holm == across.p
    assert across.significant
    assert compared.to_json()["pairs"][0]["consistency"]["across"]["difference"] == 75
    assert [row["value"] for row in compared.table() if row["number"] == "across"] == [75]
    without = (
        compare_runs([paired_run("all-male", 0), paired_run("better", 15)], n_resamples=0)
        .pairs[0]
        .consistency["across"]
    )
    assert (without.difference, without.interval, without.p, without.p_holm) == (
        75,
        None,
        None,
        None,
    )
