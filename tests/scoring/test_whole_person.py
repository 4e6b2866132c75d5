"""The numbers of whole persons, by hand; and lines of `calls.jsonl`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from mtbias.english.mentions import MentionKind
from mtbias.evaluation.person_calls import WHOLE_PERSON
from mtbias.scoring.finding import run_finding
from mtbias.scoring.metrics_reader import read_metrics
from mtbias.scoring.scores import score_records
from mtbias.scoring.whole_person import (
    COUNTING,
    GOLDS,
    OUTCOMES,
    Outcome,
    PersonRecord,
    PersonWord,
    ReadMention,
    Unjudged,
    outcome_of,
    person_rates,
)
from mtbias.types import Gender, Span

SCHEMA = Path(__file__).parents[2] / "docs" / "schemas" / "whole_person_calls.schema.json"


def word(*, right: bool) -> PersonWord:
    gender = Gender.FEMALE if right else Gender.MALE
    return PersonWord("x", Span(0, 1), gender, right, "masculine_noun", "x", "lexicon")


SHOWN: dict[Outcome | None, list[bool]] = {
    Outcome.RIGHT: [True],
    Outcome.WRONG: [False],
    Outcome.MIXED: [True, False],
}


def record(number: int, gold: Gender | None, found: Outcome | Unjudged) -> PersonRecord:
    outcome = found if isinstance(found, Outcome) else None
    unjudged = found if isinstance(found, Unjudged) else None
    words = tuple(word(right=right) for right in SHOWN.get(outcome, ()))
    reason = None if words else "no morphology"
    mention = ReadMention(MentionKind.ENTITY, "cook", Span(4, 8), (Span(0, 1),), words, reason)
    return PersonRecord(
        id=str(number),
        row=number,
        source="The cook left.",
        translation="x",
        entity="cook",
        gold=gold,
        domain="kitchen",
        outcome=outcome,
        reason=unjudged,
        mentions=(mention,),
    )


@pytest.mark.parametrize(
    ("shown", "outcome"),
    [
        ([True, True], Outcome.RIGHT),
        ([False], Outcome.WRONG),
        ([True, False, True], Outcome.MIXED),
        ([], None),
    ],
)
def test_what_words_show_together(shown: list[bool], outcome: Outcome | None) -> None:
    assert outcome_of(word(right=right) for right in shown) is outcome


def test_the_numbers_by_hand() -> None:
    # Men: 6 right, 1 mixed, 1 wrong, 2 without a call. Women: 1 right, 2 mixed, 1 wrong. Of the
    # others, whose gender no source tells, nothing counts.
    table = np.zeros((len(GOLDS), len(OUTCOMES)), dtype=np.int64)
    table[0, :3], table[0, OUTCOMES.index(Unjudged.NOTHING_SHOWN)] = (6, 1, 1), 2
    table[1, :3] = 1, 2, 1
    table[2, OUTCOMES.index(Unjudged.NO_GENDER)] = 5
    found = {key: float(value) for key, value in person_rates(table).items()}
    assert found == pytest.approx(
        {
            "decided_percent": 100 * 12 / 14,
            "all_right": 100 * 7 / 12,
            "all_right_male": 75.0,
            "all_right_female": 25.0,
            "gap": 50.0,
            "mixed": 25.0,
            "wrong": 100 * 2 / 12,
        }
    )
    assert COUNTING.classes(table) == {
        "n": 19,
        "decided": 12,
        "persons": 14,
        "judged_male": 8,
        "judged_female": 4,
    }


def test_the_finding_says_for_whom_all_words_are_right() -> None:
    table = np.zeros((len(GOLDS), len(OUTCOMES)), dtype=np.int64)
    table[0, :3], table[1, :3] = (38, 1, 1), (10, 5, 25)
    overall = {"confusion": table.tolist(), "all_right_male": 95.0}
    said = next(run_finding(read_metrics({"overall": overall})))
    assert (said.rule, said.text) == (
        "whole_person",
        (
            "All words that show the person's gender are right for 95 % of the men (38 of 40) "
            "but 25 % of the women (10 of 40)."
        ),
    )


def test_numbers_of_nobody_are_undefined() -> None:
    table = np.zeros((len(GOLDS), len(OUTCOMES)), dtype=np.int64)
    assert all(np.isnan(value) for value in person_rates(table).values())


def test_every_record_counts_once() -> None:
    golds = (Gender.MALE, Gender.FEMALE, Gender.NEUTRAL, None)
    records = [
        record(10 * n + m, gold, outcome)
        for n, gold in enumerate(golds)
        for m, outcome in enumerate(OUTCOMES)
    ]
    scores = score_records(records, COUNTING, n_resamples=200)
    # neutral people and those of unknown gender share a place
    assert scores.overall.counts.tolist() == [[1] * 9, [1] * 9, [2] * 9]
    assert scores.overall["all_right"].n == 6
    assert {name: group.n for name, group in scores.by["gold"].items()} == {
        "male": 9,
        "female": 9,
        "other": 18,
    }


def test_a_line_keeps_its_schema_and_is_read_back() -> None:
    validator = Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    for outcome in OUTCOMES:
        written = record(1, Gender.FEMALE, outcome)
        line = json.dumps(written.to_json())
        validator.validate(json.loads(line))
        assert list(json.loads(line)) == list(validator.schema["properties"])
        assert WHOLE_PERSON.read(line.encode()) == written


@pytest.mark.parametrize(
    "change",
    [
        {"row": "7"},
        {"gold": "woman"},
        {"outcome": "good"},
        {"mentions": [{"kind": "entity"}]},
        {"more": 1},
    ],
)
def test_what_the_reader_refuses_the_schema_refuses_too(change: dict[str, Any]) -> None:
    validator = Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    content = {**record(1, Gender.FEMALE, Outcome.RIGHT).to_json(), **change}
    line = json.dumps(content)
    assert not validator.is_valid(json.loads(line))
    with pytest.raises(ValueError, match=r".+"):
        WHOLE_PERSON.read(line.encode())


def test_words_stand_in_the_order_of_the_translation() -> None:
    first, second = (replace(word(right=True), span=Span(n, n + 1)) for n in (0, 5))
    person = record(1, Gender.FEMALE, Outcome.RIGHT)
    mentions = [replace(person.mentions[0], words=(each,)) for each in (second, first)]
    assert replace(person, mentions=tuple(mentions)).words == [first, second]
