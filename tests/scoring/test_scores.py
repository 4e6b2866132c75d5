"""Scores of a corpus: joins, breakdowns, the shape of metrics.json, determinism, speed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from mtbias.errors import DataError
from mtbias.runs.call_records import join_records
from mtbias.scoring.bias import compute, count
from mtbias.scoring.scores import Scores
from mtbias.scoring.scores import score as score_records
from mtbias.stats.results import rounded
from mtbias.types import (
    Evidence,
    Gender,
    GenderCall,
    Instance,
    Reason,
    Span,
    Stereotype,
    Translation,
)

M, F, N = Gender.MALE, Gender.FEMALE, Gender.NEUTRAL
PRO, ANTI, NONE = Stereotype.PRO, Stereotype.ANTI, Stereotype.NONE


def _instance(
    row: int,
    gold: Gender,
    kind: Stereotype,
    *,
    domain: str = "winobias",
    pronouns: int = 1,
    entity: str = "nurse",
) -> Instance:
    return Instance(
        f"i{row}", row, "The nurse slept.", Span(4, 9), entity, gold, kind, domain, pronouns
    )


def _call(
    row: int, gender: Gender | None, *evidence: Evidence, reason: Reason = Reason.UNALIGNED
) -> GenderCall:
    return GenderCall(f"i{row}", gender, None if gender else reason, (), evidence)


def _noun(gender: Gender | None) -> Evidence:
    return Evidence("common_noun", "noun", "word", Span(4, 8), gender, "lexicon")


def score(
    instances: Sequence[Instance],
    calls: Sequence[GenderCall],
    *,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Scores:
    """The scores of instances whose translations do not matter."""
    translations = [Translation(instance.id, None, "empty") for instance in instances]
    return score_records(
        list(join_records(instances, translations, calls)), n_resamples=n_resamples, seed=seed
    )


# Six rows: 4 decided, 3 correct.
INSTANCES = [
    _instance(0, M, PRO, pronouns=1),
    _instance(1, F, ANTI, pronouns=2, entity="clerk"),
    _instance(2, F, PRO, pronouns=10, domain="winogender"),
    _instance(3, M, ANTI, pronouns=2),
    _instance(4, N, NONE, entity="someone"),
    _instance(5, F, PRO),
]
CALLS = [
    _call(0, M, _noun(M)),
    _call(1, M, _noun(None), Evidence("article", "determiner", "der", Span(0, 3), M, "form")),
    _call(
        2,
        F,
        Evidence("noun_by_tagger", "noun", "x", Span(9, 10), M, "tagger"),
        Evidence("attribute_by_tagger", "adjective", "neue", Span(4, 8), F, "tagger"),
        _noun(F),
    ),
    _call(3, None, reason=Reason.NO_MORPHOLOGY),
    _call(4, N),
    _call(5, None, reason=Reason.UNTRANSLATED),
]


def test_overall_and_breakdowns_by_hand() -> None:
    scores = score(INSTANCES, CALLS, n_resamples=0)
    overall = scores.overall
    assert (overall.n, overall.decided, overall["accuracy"].value) == (6, 4, 50.0)
    assert overall.to_json()["accuracy_bounds"] == [50.0, 75.0]
    # pro rows 0, 2, 5: two right of three; anti rows 1, 3: none of two.
    assert overall["delta_s"].value == pytest.approx(200 / 3)
    assert {key: group.n for key, group in scores.by["domain"].items()} == {
        "winobias": 5,
        "winogender": 1,
    }
    assert {key: group["accuracy"].value for key, group in scores.by["pronouns"].items()} == {
        "1": pytest.approx(200 / 3),
        "2": 0.0,
        "10": 100.0,
    }
    assert list(scores.by["pronouns"]) == ["1", "2", "10"]
    assert list(scores.by["stereotype"]) == ["pro", "anti", "none"]
    assert list(scores.by["entity"]) == ["clerk", "nurse", "someone"]
    assert scores.by["stereotype"]["pro"]["delta_s"].value is None


def test_the_corpuss_own_count_of_pronouns_is_a_breakdown_of_its_own() -> None:
    # The file says 2 of row 0, nothing of row 1, 0 of row 2; a corpus that counts nothing has no
    # such groups.
    counted = [
        replace(INSTANCES[0], corpus_pronouns=2),
        INSTANCES[1],
        replace(INSTANCES[2], corpus_pronouns=0),
    ]
    scores = score(counted, CALLS[:3], n_resamples=0)
    assert {key: group.n for key, group in scores.by["corpus_pronouns"].items()} == {
        "0": 1,
        "2": 1,
        "not counted": 1,
    }
    assert list(scores.by["pronouns"]) == ["1", "2", "10"]
    assert "by_corpus_pronouns" in scores.to_json()
    assert "by_corpus_pronouns" not in score(INSTANCES, CALLS, n_resamples=0).to_json()


def test_reasons_are_those_that_occur_in_the_order_of_the_stages() -> None:
    assert score(INSTANCES, CALLS, n_resamples=0).reasons == {
        Reason.UNTRANSLATED: 1,
        Reason.NO_MORPHOLOGY: 1,
    }
    assert list(score(INSTANCES, CALLS, n_resamples=0).reasons) == [
        Reason.UNTRANSLATED,
        Reason.NO_MORPHOLOGY,
    ]


def test_evidence_is_the_first_that_says_what_was_called() -> None:
    # 0 noun; 1 the noun is silent, so the determiner; 2 the first noun says otherwise, so the
    # adjective; 4 has none.
    assert score(INSTANCES, CALLS, n_resamples=0).evidence == {
        "adjective": 1,
        "determiner": 1,
        "none": 1,
        "noun": 1,
    }


@pytest.mark.parametrize("name", ["domain", "pronouns", "stereotype", "entity"])
def test_breakdowns_add_up_to_the_whole(name: str) -> None:
    scores = score(INSTANCES, CALLS, n_resamples=0)
    total = np.sum([group.counts for group in scores.by[name].values()], axis=0)
    assert (total == scores.overall.counts).all()
    assert (
        total
        == count((i.gold, i.stereotype, c.gender) for i, c in zip(INSTANCES, CALLS, strict=True))
    ).all()


def test_calls_are_joined_by_id_not_by_position() -> None:
    forward, backward = (
        score(INSTANCES, CALLS, n_resamples=50),
        score(INSTANCES, CALLS[::-1], n_resamples=50),
    )
    assert json.dumps(forward.to_json()) == json.dumps(backward.to_json())


def test_no_records_are_refused() -> None:
    with pytest.raises(DataError, match="expected instances to score, got none"):
        score([], [])


def test_counts_of_a_group_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        score(INSTANCES, CALLS, n_resamples=0).overall.counts[0, 0, 0] = 7


# ----- metrics.json

# The keys that the contract of metrics.json fixes.
TOP = {"schema", "signature", "fingerprint", "n", "decided", "reasons", "overall"}
TOP |= {"by_domain", "by_pronouns", "by_stereotype", "by_entity", "consistency"}
GROUP = {
    "n",
    "accuracy",
    "f1_male",
    "f1_female",
    "delta_g",
    "delta_s",
    "delta_s_macro_f1",
    "accuracy_bounds",
    "ci",
}


def _corpus(n: int) -> tuple[list[Instance], list[GenderCall]]:
    """A corpus in which every combination occurs, with a plausible share of wrong and missing
    calls."""
    kinds = list(product((M, F, M, F, N), (PRO, ANTI, NONE), (M, F, N, None)))
    instances, calls = [], []
    for row in range(n):
        gold, kind, call = kinds[row * 7 % len(kinds)]
        if row % 3:
            call = gold
        instances.append(
            _instance(
                row,
                gold,
                kind,
                domain=f"d{row % 4}",
                pronouns=1 + row % 5,
                entity=f"entity {row % 11}",
            )
        )
        calls.append(_call(row, call, *([_noun(call)] if call else [])))
    return instances, calls


@pytest.fixture(scope="module")
def large() -> Scores:
    return score(*_corpus(900), n_resamples=200, seed=3)


def _groups(content: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        content["overall"],
        *(
            group
            for key in sorted(content)
            if key.startswith("by_")
            for group in content[key].values()
        ),
    ]


def test_json_has_the_shape_of_the_contract(large: Scores) -> None:
    content = large.to_json(
        signature="dataset:x|fp:0123456789abcdef", fingerprint="0123456789abcdef"
    )
    assert content["schema"] == 1
    assert content["fingerprint"] == "0123456789abcdef"
    assert set(content) >= TOP
    for group in _groups(content):
        assert set(group) >= GROUP
        assert set(group["ci"]) >= {"accuracy", "delta_g", "delta_s"}
        assert len(group["accuracy_bounds"]) == 2
        for interval in group["ci"].values():
            assert interval is None or (len(interval) == 2 and interval[0] <= interval[1])
    assert content["n"] == content["overall"]["n"] == 900
    assert content["decided"] + sum(content["reasons"].values()) == 900
    assert content["decided"] == sum(content["evidence"].values())
    assert sum(content["evidence_percent"].values()) == pytest.approx(100)


def test_json_survives_writing_and_has_no_nan(large: Scores) -> None:
    content = large.to_json()
    assert json.loads(json.dumps(content, allow_nan=False)) == content


def test_json_holds_the_numbers_rounded_to_six_decimals(large: Scores) -> None:
    group = large.to_json()["overall"]
    for name in ("accuracy", "delta_g", "delta_s", "f1_male", "recall_female"):
        value = large.overall[name].value
        assert value is not None
        assert group[name] == round(value, 6)
        assert group[name] == pytest.approx(value, abs=5e-7)


def test_json_lets_a_reader_compute_the_numbers_again(large: Scores) -> None:
    content = large.to_json()
    for group in _groups(content):
        assert np.sum(group["confusion"]) == group["n"]
        numbers = compute(np.array(group["confusion"]))
        assert {key: rounded(value) for key, value in numbers.items()} == {
            key: group[key] for key in numbers
        }
        assert group["denominators"]["male"] == sum(sum(part[0]) for part in group["confusion"])
    assert content["confusion_axes"]["call"] == ["male", "female", "neutral", None]


def test_consistency_is_null_without_pairs_and_there_with_them() -> None:
    assert score(INSTANCES, CALLS, n_resamples=0).to_json()["consistency"] is None
    # i0 is a man and right, i1 a woman and wrong: one pair, right for the man only.
    twins = [replace(INSTANCES[0], pair="i1"), replace(INSTANCES[1], pair="i0"), *INSTANCES[2:]]
    content = score(twins, CALLS, n_resamples=0).to_json()
    assert content["consistency"]["all"]["across"]["n"] == 1
    assert content["consistency"]["all"]["across"]["male_only"] == 100.0
    assert list(content)[-1] == "consistency"


def test_minus_zero_is_written_as_zero() -> None:
    assert (
        str(rounded({"a": (-1e-9, -2.0000004), "b": None, "n": 3}))
        == "{'a': [0.0, -2.0], 'b': None, 'n': 3}"
    )
    # All wrong, so that pro, anti and both F1 are 0 and the differences 0 − 0.
    content = score(
        [_instance(0, M, PRO), _instance(1, F, ANTI)], [_call(0, F), _call(1, M)], n_resamples=0
    ).to_json()
    assert "-0.0" not in json.dumps(content)
    assert content["overall"]["delta_g"] == 0.0


def test_the_same_seed_gives_the_same_bytes_and_another_does_not() -> None:
    corpus = _corpus(300)
    first, again, other = (
        json.dumps(score(*corpus, n_resamples=200, seed=seed).to_json()) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_an_interval_does_not_depend_on_which_other_groups_there_are() -> None:
    instances, calls = _corpus(600)
    only = [row for row in instances if row.domain == "d1"]
    ids = {row.id for row in only}
    part = score(only, [call for call in calls if call.id in ids], n_resamples=200)
    assert (
        part.by["domain"]["d1"].numbers
        == score(instances, calls, n_resamples=200).by["domain"]["d1"].numbers
    )


def test_a_group_that_is_the_whole_has_its_numbers(large: Scores) -> None:
    instances, calls = _corpus(200)
    whole = score([replace(row, domain="one") for row in instances], calls, n_resamples=100)
    overall = whole.overall.to_json()
    del overall["ci_entities"]  # of the whole alone
    assert whole.by["domain"]["one"].to_json() == overall


def test_frame_has_a_row_a_group(large: Scores) -> None:
    frame = large.to_frame()
    assert len(frame) == 1 + 4 + 5 + 3 + 11
    first = frame.iloc[0]
    assert (first["breakdown"], first["group"], first["n"]) == ("overall", "", 900)
    assert first["accuracy"] == large.overall["accuracy"].value
    assert large.overall["delta_g"].interval == (first["delta_g_low"], first["delta_g_high"])
    pro = frame[(frame["breakdown"] == "by_stereotype") & (frame["group"] == "pro")].iloc[0]
    assert np.isnan(pro["delta_s"])


@pytest.mark.slow
def test_bug_with_all_breakdowns() -> None:
    # The size and the shape of full BUG: 105,687 rows, about 230 entities in a long tail, four
    # domains.
    rng = np.random.Generator(np.random.PCG64(1))
    size = 105_687
    weights = 1 / np.arange(1, 231)
    entities = rng.choice(230, size, p=weights / weights.sum())
    female, right = rng.random(size) < 0.3, rng.random(size)
    stereotype: Sequence[Stereotype] = (PRO, ANTI, NONE)
    instances, calls = [], []
    for row in range(size):
        gold = F if female[row] else M
        kind = (
            stereotype[(int(entities[row]) + int(female[row])) % 2] if entities[row] % 3 else NONE
        )
        instances.append(
            _instance(
                row,
                gold,
                kind,
                domain=f"d{row % 4}",
                pronouns=1 + row % 6,
                entity=f"entity {entities[row]}",
            )
        )
        calls.append(_call(row, gold if right[row] < 0.7 else M if right[row] < 0.95 else None))
    translations = [Translation(instance.id, None, "empty") for instance in instances]
    records = list(join_records(instances, translations, calls))
    scores = score_records(records, n_resamples=2000)
    assert scores.overall.n == size
    assert len(scores.by["entity"]) == 230
